//! Helm charts that make Cluster API objects: what is rendered, with which values, and where findings point.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::files::Disk;
use metalmark::read;
use snapbox::{Data, str};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use super::helm;
use crate::support::repository;
use crate::support::stage::{Checked, Is, Stage, assert_cases, assert_text, project, table};

const OWN: &str = "fixtures/helm-charts";

/// The charts of a folder.
fn charts(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    let paths = files
        .into_iter()
        .filter_map(|entry| Some(entry.ok()?.into_path()));
    let metadata = paths.filter(|path| path.ends_with("Chart.yaml"));
    metadata
        .filter_map(|path| Some(path.parent()?.to_owned()))
        .collect()
}

/// The values that a chart is rendered with: none, and each of its values for tests.
fn test_values(folder: &Path) -> Vec<Option<PathBuf>> {
    let tests = std::fs::read_dir(folder.join("ci")).into_iter().flatten();
    let tests = tests.map(|file| Some(file.expect("a file").path()));
    [None].into_iter().chain(tests).collect()
}

/// The objects in a text, as JSON.
fn objects(text: &str) -> BTreeSet<String> {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("YAML");
    let documents = read.documents.iter();
    let documents = documents.filter(|node| node.get_path(&["kind"]).is_some());
    documents
        .map(|node| to_json(&node.value, Html::Plain))
        .collect()
}

/// What our engine makes of a chart, file by file; none where it makes no objects of Cluster API.
fn render(
    folder: &Path,
    values: Option<&Path>,
    engine: Engine,
) -> Option<Vec<(String, Result<String, String>)>> {
    let disk = Disk::new(folder.parent().expect("a folder")).expect("a folder");
    let user = values.map(|values| std::fs::read_to_string(values).expect("readable"));
    let user = user.unwrap_or("{}".to_owned());
    let user = yaml_tree::values(&user, FileId(0), engine).expect("values");
    let name = Path::new(folder.file_name().expect("a name"));
    let rendered = read::render_chart(&disk, name, &user, engine).expect("readable")?;
    let files = rendered.into_iter();
    let files = files.map(|(name, text)| (name.to_string(), text.map_err(|it| it.to_string())));
    Some(files.collect())
}

/// What helm prints of a chart, or why not.
pub(super) fn template(
    helm: &Path,
    folder: &Path,
    values: Option<&Path>,
) -> Result<String, String> {
    let metadata = std::fs::read_to_string(folder.join("Chart.yaml")).expect("readable");
    let name = metadata.lines().find_map(|line| line.strip_prefix("name:"));
    let release = name.expect("a name").trim().trim_matches('"');
    let output = Command::new(helm)
        .args(["template", release])
        .arg(folder)
        .args(values.iter().flat_map(|values| [Path::new("-f"), values]))
        .output()
        .expect("helm starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

/// Our objects of a chart are those that helm printed. `None` where both refuse it.
fn compare(
    folder: &Path,
    values: Option<&Path>,
    theirs: &Result<String, String>,
    engine: Engine,
) -> Option<usize> {
    let rendered = render(folder, values, engine)?;
    let at = folder.display();
    // What differs from run to run is refused, file by file.
    let is_refused = |text: &Result<String, String>| {
        text.as_ref()
            .is_err_and(|error| error.contains("is refused"))
    };
    let refused = rendered.iter().filter(|(_, text)| is_refused(text));
    let refused: BTreeSet<&str> = refused.map(|(name, _)| &**name).collect();
    let errors = rendered
        .iter()
        .filter(|(_, text)| text.is_err() && !is_refused(text));
    let errors: Vec<_> = errors.collect();
    let theirs = match theirs {
        Ok(theirs) => theirs,
        Err(message) => {
            let of_chart = ["missing in charts/", "release name check failed"];
            let is_known = of_chart.iter().any(|why| message.contains(why));
            assert!(
                is_known || !errors.is_empty(),
                "{at}: only helm refuses it: {message}"
            );
            return None;
        }
    };
    assert!(errors.is_empty(), "{at}: only we refuse it: {errors:?}");
    let documents = theirs.split("---\n# Source: ").skip(1);
    let documents = documents.filter_map(|document| document.split_once('\n'));
    let documents = documents.filter(|(source, _)| !refused.contains(source));
    let theirs: BTreeSet<String> = documents.flat_map(|(_, text)| objects(text)).collect();
    let ours = rendered.iter().filter_map(|(_, text)| text.as_ref().ok());
    let ours: BTreeSet<String> = ours.flat_map(|text| objects(text)).collect();
    let only_ours: Vec<_> = ours.difference(&theirs).collect();
    let only_theirs: Vec<_> = theirs.difference(&ours).collect();
    assert!(
        only_ours.is_empty() && only_theirs.is_empty(),
        "{at}\nours {only_ours:#?}\nhelm {only_theirs:#?}"
    );
    Some(ours.len())
}

/// Helm's own answers are recorded beside the chart; `SNAPSHOTS=overwrite` with `METALMARK_HELM` asks again.
#[test]
fn charts_are_rendered_as_helm_rendered_them() {
    let live = helm();
    let charts = charts(&repository().join(OWN));
    let charts = charts
        .iter()
        .filter(|folder| !folder.parent().is_some_and(|it| it.ends_with("charts")));
    let mut compared = Vec::new();
    for folder in charts {
        for values in test_values(folder) {
            let name = values.as_ref().map_or("rendered".into(), |values| {
                values.file_stem().expect("a name").to_string_lossy()
            });
            let record = folder.with_extension(format!("{name}.txt"));
            if let Some((helm, _)) = &live {
                let theirs = template(helm, folder, values.as_deref()).expect("rendered");
                assert_text(&theirs, Data::read_from(&record, None));
            }
            let theirs = std::fs::read_to_string(&record).expect("a record");
            compared.extend(compare(
                folder,
                values.as_deref(),
                &Ok(theirs),
                Engine::Helm4,
            ));
        }
    }
    assert_eq!(compared, [8]);
    // The charts below the folder in `METALMARK_CHARTS`, with the helm at hand.
    let (Some(more), Some((helm, engine))) = (std::env::var_os("METALMARK_CHARTS"), live) else {
        return;
    };
    let mut count = 0;
    for folder in self::charts(Path::new(&more)) {
        for values in test_values(&folder) {
            let theirs = template(&helm, &folder, values.as_deref());
            count += usize::from(compare(&folder, values.as_deref(), &theirs, engine).is_some());
        }
    }
    assert!(count > 0, "no chart was compared");
}

pub(super) const METADATA: &str =
    "apiVersion: v2\nname: edge\nversion: 1.0.0\nappVersion: v1.31.8\n";

pub(super) const VALUES: &str = "\
version: v1.31.8
image: {name: ubuntu-2204-kube-v1.30.2}
";

pub(super) const TEMPLATE: &str = "\
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata:
  name: {{ .Release.Name }}
  labels: {cluster.x-k8s.io/cluster-name: {{ .Release.Name }}}
spec:
  version: {{ .Values.version | quote }}
  machineTemplate:
    infrastructureRef:
      apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
      kind: OpenStackMachineTemplate
      name: {{ .Release.Name }}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: {{ .Release.Name }}}
spec:
  template:
    spec:
      image: {filter: {name: {{ required \"an image\" .Values.image.name | quote }}}}
";

pub(super) const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: paris, namespace: clusters}
spec:
  chart: {spec: {chart: charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}
  values:
    version: v1.30.4
    image: {name: ubuntu-2204-kube-v1.30.2}
";

pub(super) const RIGHT: &str = "version: v1.30.2\nimage: {name: ubuntu-2204-kube-v1.30.2}\n";

/// The objects of the chart as somebody else would write them, of a cluster of that name.
pub(super) fn plain(name: &str, version: &str) -> String {
    TEMPLATE
        .replace("{{ .Release.Name }}", name)
        .replace("{{ .Values.version | quote }}", version)
        .replace(
            "{{ required \"an image\" .Values.image.name | quote }}",
            "ubuntu-2204-kube-v1.31.8",
        )
}

/// A chart, and more files.
pub(super) fn with_chart(values: &str, more: &[(&str, &str)]) -> Stage {
    let chart = [
        ("charts/edge/Chart.yaml", METADATA),
        ("charts/edge/values.yaml", values),
        ("charts/edge/templates/cluster.yaml", TEMPLATE),
    ];
    project().files(&chart).files(more)
}

fn check(values: &str, more: &[(&str, &str)]) -> Checked {
    with_chart(values, more).check()
}

/// What `check` prints.
fn screen(values: &str, more: &[(&str, &str)]) -> String {
    let outcome = with_chart(values, more).run("check").outcome;
    outcome.stdout + &outcome.stderr
}

#[test]
fn nothing_that_a_template_makes_of_a_secret_is_shown() {
    let secret = "pw: aSEKRETqwertyuiop99b\npin: 7340127\n";
    let files = "valuesFiles: [charts/edge/values.yaml, charts/edge/secrets.yaml], sourceRef:";
    let release = RELEASE.replace("sourceRef:", files);
    let image = "{{ required \"an image\" .Values.image.name | quote }}";
    let version = "{{ .Values.version | quote }}";
    let name = "cluster-name: {{ .Release.Name }}";
    let cases = [
        (image, "{{ fail (.Values.pw | lower) }}"),
        (image, "ubuntu-kube-v1.30.1-{{ .Values.pw | trunc 14 }}"),
        (image, "ubuntu-kube-v1.30.1-{{ .Values.pin | add 1 }}"),
        (
            image,
            "ubuntu-kube-v1.30.1-{{ .Files.Get \"secrets/pw.txt\" | trunc 14 }}",
        ),
        (
            image,
            "ubuntu-kube-v1.30.1-{{ .Files.Get \"made.yaml\" | upper | replace \"\\n\" \"\" | trunc 90 }}",
        ),
        (version, "v1.34.1+{{ .Values.pw | lower }}"),
        (name, "cluster-name: {{ .Values.pw | lower }}"),
    ];
    let mut shown = 0;
    for (from, to) in cases {
        let deployed = [
            ("charts/edge/secrets.yaml", secret),
            ("paris.yaml", &*release),
        ];
        let tested = [("charts/edge/ci/secret-values.yaml", secret)];
        for more in [&deployed[..], &tested] {
            let stage = with_chart(VALUES, more);
            stage.edit("charts/edge/templates/cluster.yaml", from, to);
            stage.write("charts/edge/secrets/pw.txt", "aSEKRETqwertyuiop99b");
            let made = "apiVersion: v1\nkind: Secret\nstringData: {pw: aSEKRETqwertyuiop99b}\n";
            stage.write("charts/edge/made.yaml", made);
            for command in [
                "check",
                "check --output json",
                "images",
                "explain edge",
                "explain paris",
                "explain edge control-plane",
                "explain paris control-plane",
            ] {
                let outcome = stage.run(command).outcome;
                let text = (outcome.stdout + &outcome.stderr).to_lowercase();
                let is_shown = text.contains("sekret") || text.contains("7340128");
                assert!(!is_shown, "{to} {command}: {text}");
                shown += usize::from(text.contains("ubuntu") || text.contains("v1.3"));
            }
        }
    }
    assert!(shown > 10, "{shown} of 98 runs show what is not a secret");
}

/// What these commands show of a project, which is nothing of its secrets.
fn text_without_secrets(stage: &Stage) -> String {
    let mut all = String::new();
    for line in ["check", "check --output json", "explain paris"] {
        let outcome = stage.run(line).outcome;
        all += &(outcome.stdout + &outcome.stderr);
    }
    assert!(!all.contains("SEKRET"), "{all}");
    all
}

/// Whatever makes its message: `fail`, `required`, a function that is given the wrong thing.
#[test]
fn what_a_template_of_a_secret_fails_with_is_not_shown() {
    for pw in [
        "{{ $p := \"SEKRET-1\" }}{{ fail $p }}",
        "{{ printf \"%s\" \"SEKRET-1\" | fail }}",
        "{{ dict \"a\" \"SEKRET-1\" | toJson | fail }}",
        "{{ required \"SEKRET-1\" .Values.nothing }}",
    ] {
        let secret = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  pw: {pw}\n"
        );
        let stage = with_chart(
            VALUES,
            &[
                ("paris.yaml", RELEASE),
                ("charts/edge/templates/s.yaml", &secret),
            ],
        );
        let shown = text_without_secrets(&stage);
        assert!(
            shown.contains("a template that makes a Secret fails"),
            "{pw}: {shown}"
        );
    }
}

/// What it is made of is the variable of another action.
#[test]
fn what_a_template_fails_with_that_makes_a_secret_of_a_variable_is_not_shown() {
    let secret = "{{ $d := dict \"pw\" \"SEKRET\" }}{{ dict \"apiVersion\" \"v1\" \"kind\" \"Secret\" \"data\" $d | toYaml }}\n\
                  {{ fail (get $d \"pw\") }}\n";
    let stage = with_chart(
        VALUES,
        &[
            ("paris.yaml", RELEASE),
            ("charts/edge/templates/s.yaml", secret),
        ],
    );
    let shown = text_without_secrets(&stage);
    assert!(
        shown.contains("a template that makes a Secret fails"),
        "{shown}"
    );
}

/// Nobody knows of what it is one.
#[test]
fn a_patch_of_a_release_that_cannot_be_read_is_not_quoted() {
    for patch in [
        "patch: 'a: *SEKRET-1'",
        "target: {kind: KubeadmControlPlane}, patch: 'a: *SEKRET-1'",
        "target: {kind: Sec.*}, patch: 'a: *SEKRET-1 {{ x }}'",
    ] {
        let release =
            format!("{RELEASE}  postRenderers: [{{kustomize: {{patches: [{{{patch}}}]}}}}]\n");
        let stage = with_chart(VALUES, &[("paris.yaml", &release)]);
        let shown = text_without_secrets(&stage);
        assert!(
            shown.contains("is not checked as `paris` deploys it"),
            "{patch}: {shown}"
        );
    }
}

#[test]
fn findings_are_on_the_lines_of_the_values_or_of_the_template() {
    check(VALUES, &[]).is(str![[r#"
error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
    let stage = with_chart(VALUES, &[]);
    let (value, text) = (".Values.version", "printf \"v1.%d.8\" 31");
    stage.edit("charts/edge/templates/cluster.yaml", value, text);
    stage.check().is(str![[r#"
error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/templates/cluster.yaml:7:15 `printf "v1.%d.8" 31 | quote` => v1.31.8
edge/control-plane v1.31.8 (charts/edge/templates/cluster.yaml:7:15): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

#[test]
fn a_chart_is_checked_as_releases_deploy_it() {
    check(VALUES, &[("paris.yaml", RELEASE)]).is(str![[r#"
error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]]);
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lyon}
spec:
  source:
    repoURL: https://example.org/fleet.git
    path: charts/edge
    helm: {valueFiles: [../../lyon/values.yaml]}
";
    let more = [
        ("lyon/values.yaml", RIGHT),
        ("lyon/application.yaml", application),
    ];
    check(VALUES, &more).is(str![[r#"
lyon/control-plane v1.30.2 (lyon/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (lyon/values.yaml:2:15) holds 1.30.2

"#]]);
}

#[test]
fn each_overlay_of_a_release_is_a_cluster() {
    let patch = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: paris, namespace: clusters}
spec: {values: {version: v1.30.2}}
";
    let base = "resources: [../../base]\n";
    let more = [
        ("base/kustomization.yaml", "resources: [release.yaml]\n"),
        ("base/release.yaml", RELEASE),
        ("overlays/one/kustomization.yaml", base),
        (
            "overlays/two/kustomization.yaml",
            &format!("{base}patches: [{{path: release.yaml}}]\n"),
        ),
        ("overlays/two/release.yaml", patch),
    ];
    check(VALUES, &more).is(str![[r#"
error[k8s-version-mismatch] base/paris/control-plane base/release.yaml:8:19 `ubuntu-2204-kube-v1.30.2` base/release.yaml:7:14 `v1.30.4` => v1.30.4
base/paris/control-plane v1.30.4 (base/release.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (base/release.yaml:8:19) holds 1.30.2
overlays/two/paris/control-plane v1.30.2 (overlays/two/release.yaml:4:26): by_name, ubuntu-2204-kube-v1.30.2 (base/release.yaml:8:19) holds 1.30.2

"#]]);
}

#[test]
fn a_chart_that_nothing_deploys_is_checked_with_its_test_values() {
    let more = [
        ("charts/edge/ci/one-values.yaml", "version: v1.30.2\n"),
        ("charts/edge/ci/two-values.yaml", "version: v1.29.1\n"),
    ];
    check(VALUES, &more).is(str![[r#"
error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/ci/two-values.yaml:1:10 `v1.29.1` => v1.29.1
edge/control-plane v1.30.2 (charts/edge/ci/one-values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
edge/control-plane v1.29.1 (charts/edge/ci/two-values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

#[test]
fn a_release_whose_values_or_objects_are_not_known_is_not_guessed() {
    assert_cases(
        str![[r#"
postRenderers: [{kustomize: {patchesStrategicMerge: []}}]
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: of `postRenderers`, only `patches` and `images` are carried out here
    warning[composition-unsupported] paris.yaml:1:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
    error[nothing-checked] => metalmark clusters | --allow-empty
    paris/edge: unknown (the values of its chart are not known)
postRenderers: [{kustomize: {patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: none}}'}]}}]
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: there is no ConfigMap `none` to patch
    warning[composition-unsupported] paris.yaml:1:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
    error[nothing-checked] => metalmark clusters | --allow-empty
    paris/edge: unknown (the values of its chart are not known)
valuesFrom: [{kind: Secret, name: paris}]
    warning[composition-unsupported]: the chart `charts/edge` is not checked as `paris` deploys it: `values.yaml` of the Secret `paris` is not in the repository
    warning[composition-unsupported] paris.yaml:1:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
    error[nothing-checked] => metalmark clusters | --allow-empty
    paris/edge: unknown (the values of its chart are not known)

"#]],
        release_lines,
    );
}

/// What a release with a further field deploys.
fn release_lines(field: &str) -> Vec<String> {
    let release = format!("{RELEASE}  {field}\n");
    let stage = with_chart(VALUES, &[("paris.yaml", &release)]);
    let more = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: more}\n";
    stage.write("charts/edge/templates/more.yaml", more);
    let Checked {
        findings, pools, ..
    } = stage.check();
    let said = stage.run("check").outcome.stdout;
    let warnings = said.lines().filter(|line| line.starts_with("warning"));
    let warnings = warnings.map(str::to_owned);
    warnings.chain(findings).chain(pools).collect()
}

/// Flux builds what a chart renders with kustomize.
#[test]
fn post_renderers_change_what_a_chart_renders() {
    assert_cases(
        str![[r#"
postRenderers: [{kustomize: {patches: [{target: {kind: KubeadmControlPlane}, patch: '- {op: replace, path: /spec/version, value: v1.30.2}'}]}}]
    paris/control-plane v1.30.2 (paris.yaml:9:132): by_name, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2
postRenderers: [{kustomize: {patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: more}, data: {a: b}}'}], images: [{name: a, newTag: b}]}}, {}]
    error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
    paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]],
        release_lines,
    );
}

#[test]
fn a_chart_that_needs_values_is_named_once() {
    screen("version: v1.31.8\nimage: {}\n", &[]).is(str![[r#"
warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: an image
  --> charts/edge/templates/cluster.yaml:20:33
   |
20 |       image: {filter: {name: {{ required "an image" .Values.image.name | quote }}}}
   |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: add `ci/NAME-values.yaml` beside Chart.yaml, with values to check it with

error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
 |
 = help: `metalmark clusters` says of each node pool why it is not known
 = help: or type `--allow-empty`

1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render

"#]]);
}

/// Helm installs nothing of a chart where one file fails, whatever that file would make.
#[test]
fn nothing_is_known_of_a_chart_that_helm_refuses() {
    let cases = [
        r#"templates/z.yaml x: {{ fail "this chart refuses these values" }}"#,
        r#"templates/z.yaml x: {{ required "a value" .Values.nothing }}"#,
        r#"templates/z.yaml {{ include "z" . }}{{ define "z" }}{{ include "z" . }}{{ end }}"#,
        r#"templates/z.yaml {{ include "nobody" . }}"#,
        r#"templates/z.yaml a: ["#,
        r#"templates/z.yaml a text"#,
        r#"templates/z.yaml [a, list]"#,
        r#"templates/z.yaml {kind: ConfigMap}"#,
        r#"templates/_z.tpl {{ define "z" }"#,
        r#"templates/NOTES.txt {{ fail "this chart refuses these values" }}"#,
        r#"values.schema.json {"required": ["nothing"]}"#,
        // Helm takes these.
        r#"templates/z.yaml # {{ .Values.version }}"#,
        r#"templates/z.yaml {kind: A, apiVersion: b}"#,
        r#"templates/z.yaml {kind: A, apiVersion: b, c: '{{ randAlpha 5 }}'}"#,
        r#"templates/NOTES.txt a text"#,
    ];
    let table = table(cases, |case| {
        let (file, text) = case.split_once(' ').expect("a file and its text");
        let stage = with_chart(VALUES, &[(&format!("charts/edge/{file}"), text)]);
        let Checked {
            findings, pools, ..
        } = stage.check();
        let said = stage.run("check").outcome;
        let lines = said.stdout.lines().chain(said.stderr.lines());
        let lines =
            lines.filter(|line| line.contains("is not checked") || line.contains("skipped:"));
        { lines.map(str::to_owned) }
            .chain(findings)
            .chain(pools)
            .collect()
    });
    table.is(str![[r#"
templates/z.yaml x: {{ fail "this chart refuses these values" }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: this chart refuses these values
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:7 `fail "this chart refuses these values"` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml x: {{ required "a value" .Values.nothing }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: a value
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:7 `required "a value" .Values.nothing` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml {{ include "z" . }}{{ define "z" }}{{ include "z" . }}{{ end }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: `include` of `z` is nested more than 1000 deep (in template `z`)
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:4 `include "z" .` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml {{ include "nobody" . }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: there is no template `nobody`
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:4 `include "nobody" .` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml a: [
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: expected a value, found the end of the file
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:1 `` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml a text
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: it makes YAML that is not an object
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:1 `a text` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml [a, list]
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: it makes YAML that is not an object
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:1 `[a, list]` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml {kind: ConfigMap}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: it makes YAML that is not an object
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/z.yaml:1:1 `{kind: ConfigMap}` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/_z.tpl {{ define "z" }
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: unexpected `}` in `define`
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/_z.tpl:1:15 `}` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/NOTES.txt {{ fail "this chart refuses these values" }}
    warning[composition-unsupported]: the chart `charts/edge` is not checked with its own values: this chart refuses these values
    error[nothing-checked]: 0 node pools checked; 1 skipped: its chart does not render
    1 error, 1 warning; 0 node pools checked; 1 skipped: its chart does not render
    warning[composition-unsupported] charts/edge/templates/NOTES.txt:1:4 `fail "this chart refuses these values"` => ci/NAME-values.yaml
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
values.schema.json {"required": ["nothing"]}
    1 error; 0 node pools checked; 1 skipped: its chart does not render
    error[values-schema] charts/edge/values.yaml:1:1 `version: v1.31.8` => charts/edge/values.schema.json
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): unknown (its chart does not render)
templates/z.yaml # {{ .Values.version }}
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
templates/z.yaml {kind: A, apiVersion: b}
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
templates/z.yaml {kind: A, apiVersion: b, c: '{{ randAlpha 5 }}'}
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
templates/NOTES.txt a text
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}

#[test]
fn dependencies_have_the_values_below_their_key() {
    let metadata = "\
apiVersion: v2
name: fleet
version: 1.0.0
dependencies:
- {name: edge, version: 1.0.0, repository: 'file://../edge', alias: paris, condition: paris.enabled}
- {name: common, version: 1.0.0, repository: 'https://example.org'}
";
    // A chart that is a part of another one is not rendered with its own values.
    let table = table([true, false], |enabled| {
        let values = format!("paris: {{enabled: {enabled}, version: v1.29.1}}\n");
        let more = [
            ("charts/fleet/Chart.yaml", metadata),
            ("charts/fleet/values.yaml", &*values),
            (
                "charts/fleet/templates/map.yaml",
                "kind: ConfigMap\napiVersion: v1\n",
            ),
            ("other.yaml", &plain("other", "v1.31.8")),
        ];
        let Checked {
            findings, pools, ..
        } = check(VALUES, &more);
        [findings, pools].concat()
    });
    table.is(str![[r#"
true
    warning[composition-unsupported] charts/fleet/Chart.yaml:1:1 `` => helm dependency build
    fleet/control-plane v1.29.1 (charts/fleet/values.yaml:1:33): unknown (a dependency of its chart is not in the repository)
    other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8
false
    warning[composition-unsupported] charts/fleet/Chart.yaml:1:1 `` => helm dependency build
    fleet/fleet: unknown (a dependency of its chart is not in the repository)
    other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8

"#]]);
}

#[test]
fn what_a_template_says_as_it_is_written_is_no_object() {
    let template = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: \"{{ .Release.Name }}\"}
";
    let more = [("charts/edge/templates/more.yaml", template)];
    check(RIGHT, &more).is(str![[r#"
edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
edge/edge: unknown (no reference to a machine template)

"#]]);
}

#[test]
fn as_many_values_are_tried_as_is_stated() {
    let table = table([30, 31], |others| {
        let same = |index: usize| format!("a{index}: v1.31.8\n");
        let values: String = (0..*others).map(same).collect();
        let image = "image: {name: ubuntu-2204-kube-v1.30.2}";
        check(&format!("{values}{image}\nversion: v1.31.8\n"), &[]).findings
    });
    table.is(str![[r#"
30
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:31:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:32:10 `v1.31.8` => v1.31.8
31
    error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:32:15 `ubuntu-2204-kube-v1.30.2` charts/edge/templates/cluster.yaml:7:15 `.Values.version | quote` => v1.31.8

"#]]);
}

#[test]
fn charts_depend_on_each_other_as_deep_as_is_stated() {
    let table = table([8, 9], |depth| {
        let stage = project().file("other.yaml", plain("other", "v1.31.8"));
        for level in 0..=*depth {
            let at = format!("deep/{}", "charts/edge/".repeat(level));
            stage.write(&format!("{at}Chart.yaml"), METADATA);
            if level == *depth {
                stage.write(&format!("{at}values.yaml"), VALUES);
                stage.write(&format!("{at}templates/cluster.yaml"), TEMPLATE);
            }
        }
        let said = stage.run("check").outcome.stdout;
        let Checked { pools, .. } = stage.check();
        let headlines = said.lines().filter(|line| line.contains("]: "));
        headlines.map(str::to_owned).chain(pools).collect()
    });
    table.is(str![[r#"
8
    error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.30.2` holds Kubernetes `1.30.2`, not `v1.31.8`
    edge/control-plane v1.31.8 (deep/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (deep/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/charts/edge/values.yaml:2:15) holds 1.30.2
    other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8
9
    warning[composition-unsupported]: the chart `deep` is not checked: charts are more than 8 deep in one another
    deep/deep: unknown (its chart does not render)
    other/control-plane v1.31.8 (other.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:20:30) holds 1.31.8

"#]]);
}

/// A release of another chart that cannot be composed: its ConfigMap has no such key.
const BROKEN: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: cni, namespace: clusters}
data: {other: '{}'}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cni, namespace: clusters}
spec:
  chart: {spec: {chart: charts/CHART, sourceRef: {kind: GitRepository, name: fleet}}}
  valuesFrom: [{kind: ConfigMap, name: cni, valuesKey: values.yaml}]
";

#[test]
fn a_release_of_another_chart_is_not_looked_at() {
    let other = BROKEN.replace("CHART", "cni");
    let kustomization = "resources: [cluster.yaml, cni.yaml]\n";
    let files = [
        ("paris/kustomization.yaml", kustomization),
        ("paris/cluster.yaml", &*plain("paris", "v1.31.8")),
        ("paris/cni.yaml", &*other),
    ];
    project().files(&files).check().is(str![[r#"
paris/control-plane v1.31.8 (paris/cluster.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (paris/cluster.yaml:20:30) holds 1.31.8

"#]]);
    check(RIGHT, &files).is(str![[r#"
edge/control-plane v1.30.2 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2
paris/control-plane v1.31.8 (paris/cluster.yaml:7:12): by_name, ubuntu-2204-kube-v1.31.8 (paris/cluster.yaml:20:30) holds 1.31.8

"#]]);
}

#[test]
fn a_release_that_does_not_compose_leaves_the_others_checked() {
    let broken = BROKEN.replace("CHART", "edge");
    let more = [("cni.yaml", &*broken), ("paris.yaml", RELEASE)];
    check(VALUES, &more).is(str![[r#"
warning[composition-unsupported] cni.yaml:6:1 `apiVersion: helm.toolkit.fluxcd.io/v2`
error[k8s-version-mismatch] paris/control-plane paris.yaml:8:19 `ubuntu-2204-kube-v1.30.2` paris.yaml:7:14 `v1.30.4` => v1.30.4
cni/edge: unknown (the values of its chart are not known)
paris/control-plane v1.30.4 (paris.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2 (paris.yaml:8:19) holds 1.30.2

"#]]);
    let said = screen(VALUES, &more);
    let message = "the chart `charts/edge` is not checked as `cni` deploys it:";
    assert_eq!(said.matches(message).count(), 1, "{said}");
}

#[test]
fn what_is_beside_a_chart_and_cannot_be_read_is_named() {
    let values = [("charts/edge/ci/one-values.yaml", "a: [\n")];
    check(VALUES, &values).is(str![[r#"
error[yaml-syntax] charts/edge/ci/one-values.yaml:2:1 ``
error[k8s-version-mismatch] edge/control-plane charts/edge/values.yaml:2:15 `ubuntu-2204-kube-v1.30.2` charts/edge/values.yaml:1:10 `v1.31.8` => v1.31.8
edge/control-plane v1.31.8 (charts/edge/values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
    let archive = [("charts/edge/charts/common.tgz", "no archive")];
    let said = screen("image: {}\n", &archive);
    let help = "`charts/edge/charts/common.tgz` cannot be read";
    assert!(said.contains(help), "{said}");
}

#[test]
fn the_values_of_a_release_are_compared_with_the_schema_of_its_chart() {
    let schema = r#"{"properties": {"version": {"type": "string", "maxLength": 6}}}"#;
    let file = ("charts/edge/values.schema.json", schema);
    check(RIGHT, &[file]).findings(str![[r#"
error[values-schema] charts/edge/values.yaml:1:10 `v1.30.2` => charts/edge/values.schema.json

"#]]);
    check(RIGHT, &[file, ("paris.yaml", RELEASE)]).findings(str![[r#"
error[values-schema] paris.yaml:7:14 `v1.30.4` => charts/edge/values.schema.json

"#]]);
}

#[test]
fn an_object_that_one_expression_makes_has_its_references() {
    let objects = plain("edge", "v1.30.2");
    let item = |object: &str| format!("- {}\n", object.trim_end().replace('\n', "\n  "));
    let values: String = objects.split("---\n").map(item).collect();
    let cases = [
        "{{ .Files.Get \"objects.txt\" }}",
        "{{ range .Values.objects }}\n---\n{{ toYaml . }}\n{{ end }}",
        "{{ range .Values.objects }}\n---\n{{ tpl (toYaml .) $ }}\n{{ end }}",
        "{{ range .Values.objects }}\n---\n{{ toYaml . | b64enc | b64dec }}\n{{ end }}",
    ];
    for template in cases {
        let stage = project().files(&[
            ("edge/Chart.yaml", METADATA),
            ("edge/values.yaml", &format!("objects:\n{values}")),
            ("edge/objects.txt", &objects),
            ("edge/templates/o.yaml", template),
        ]);
        let pools = stage.check().pools;
        let is_mismatched = pools.iter().all(|pool| {
            pool.contains("v1.30.2") && pool.contains(": mismatched, ubuntu-2204-kube-v1.31.8")
        });
        assert!(pools.len() == 1 && is_mismatched, "{template}: {pools:#?}");
    }
}

/// Writes a chart, and renders its template `t.yaml` with nothing else than its own values. Where a helm is at hand, it agrees.
pub(super) fn version_in(files: &[(&str, &str)]) -> String {
    let stage = project();
    for (name, text) in files {
        stage.write(&format!("chart/{name}"), text);
    }
    let printed = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("version: "));
        line.unwrap_or("nothing").to_owned()
    };
    let live = helm();
    let engine = live.as_ref().map_or(Engine::Helm4, |(_, engine)| *engine);
    let folder = stage.path().join("chart");
    let rendered = render(&folder, None, engine)
        .expect("of Cluster API")
        .into_iter();
    let texts = rendered.map(|(_, text)| text.unwrap_or_default());
    let ours = printed(&texts.collect::<String>());
    if let Some((helm, _)) = live {
        assert_eq!(
            template(&helm, &folder, None).map(|it| printed(&it)),
            Ok(ours.clone())
        );
    }
    ours
}

pub(super) const OF_CLUSTER_API: &str =
    "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nversion: ";

/// A chart `top` that depends on `sub`, which one of them renders.
fn version_with_sub(top: [&str; 3], sub: [&str; 2]) -> String {
    let metadata = format!("apiVersion: v2\nname: top\nversion: 1.0.0\n{}", top[0]);
    let template = |text: &str| match text {
        "" => String::new(),
        text => format!("{OF_CLUSTER_API}{text}\n"),
    };
    version_in(&[
        ("Chart.yaml", &metadata),
        ("values.yaml", top[1]),
        ("templates/t.yaml", &template(top[2])),
        (
            "charts/sub/Chart.yaml",
            "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        ),
        ("charts/sub/values.yaml", sub[0]),
        ("charts/sub/templates/t.yaml", &template(sub[1])),
    ])
}

#[test]
fn values_of_dependencies_are_those_of_helm() {
    let depends = |more: &str| format!("dependencies: [{{name: sub, version: 1.0.0{more}}}]\n");
    let default = "{{ .Values.sub.k8s | default \"v2\" }}";
    let imported = "{{ dig \"k8s\" \"version\" \"v2\" (.Values | merge dict) }}";
    let exports = "exports: {data: {k8s: {version: v1}}}";
    let child = ", import-values: [{child: exports.data.k8s, parent: k8s}]";
    let pinned = "{{ if hasKey .Values \"pin\" }}v2{{ else }}v1{{ end }}";
    let shared = "{{ .Values.global.k8s | default \"v1\" }}";
    let both = "{{ .Values.global.k8s }}";
    let cases = [
        (", import-values: [data]", "", imported, exports, ""),
        (child, "", imported, exports, ""),
        // What a chart sets itself is over what it imports.
        (
            ", import-values: [data]",
            "k8s: {version: v1}",
            imported,
            exports,
            "",
        ),
        ("", "sub: {pin: null}", "", "pin: x", pinned),
        // The values of a dependency that is switched off are not there.
        (
            ", condition: sub.enabled",
            "sub: {enabled: false}",
            "{{ .Values.sub.k8s | default \"v1\" }}",
            "k8s: v2",
            "",
        ),
        (
            ", condition: sub.enabled",
            "sub: {enabled: true}",
            default,
            "k8s: v1",
            "",
        ),
        (", tags: [lab]", "tags: {lab: false}", "v1", "", "v2"),
        (
            ", tags: [lab, prod]",
            "tags: {lab: false, prod: true}",
            default,
            "k8s: v1",
            "",
        ),
        // A condition decides before tags.
        (
            ", tags: [lab], condition: sub.enabled",
            "{tags: {lab: false}, sub: {enabled: true}}",
            default,
            "k8s: v1",
            "",
        ),
        (", alias: v1", "", "", "", "{{ .Chart.Name }}"),
        ("", "", "", "", shared),
        (
            "",
            "{global: {k8s: v1}, sub: {global: {k8s: v2}}}",
            "",
            "global: {k8s: v2}",
            both,
        ),
    ];
    for (declared, values, template, own, below) in cases {
        let found = version_with_sub([&depends(declared), values, template], [own, below]);
        assert_eq!(found, "v1", "{declared} {values} {own}");
    }
}

#[test]
fn dependencies_of_an_older_chart_are_in_requirements_yaml() {
    let found = version_in(&[
        ("Chart.yaml", "apiVersion: v1\nname: top\nversion: 1.0.0\n"),
        (
            "requirements.yaml",
            "dependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]\n",
        ),
        ("values.yaml", "sub: {enabled: false}\n"),
        ("templates/t.yaml", &format!("{OF_CLUSTER_API}v1\n")),
        (
            "charts/sub/Chart.yaml",
            "apiVersion: v1\nname: sub\nversion: 1.0.0\n",
        ),
        (
            "charts/sub/templates/t.yaml",
            &format!("{OF_CLUSTER_API}v2\n"),
        ),
    ]);
    assert_eq!(found, "v1");
}

#[test]
fn files_that_helm_ignores_are_not_rendered() {
    let version = |ignored: &str| {
        version_in(&[
            ("Chart.yaml", "apiVersion: v2\nname: top\nversion: 1.0.0\n"),
            (".helmignore", ignored),
            ("templates/old.yaml", &format!("{OF_CLUSTER_API}old\n")),
            (
                "templates/new/t.yaml",
                &format!("---\n{OF_CLUSTER_API}{{{{ .Files.Get \"a.txt\" | default \"new\" }}}}\n"),
            ),
            ("a.txt", "file"),
        ])
    };
    // The template that is deeper comes first in what is compared.
    assert_eq!(version("# nothing"), "file");
    assert_eq!(version("templates/new/t.yaml"), "old");
    assert_eq!(version("a.*"), "new");
    assert_eq!(version("new/"), "old");
    assert_eq!(version("/new"), "file");
    assert_eq!(version("/templates/new/\n"), "old");
    assert_eq!(version("t.y?ml\n"), "old");
}

#[test]
fn the_metadata_of_a_chart_is_what_its_templates_see() {
    let metadata = "apiVersion: v2\nname: top\nversion: 1.0.0\ndescription: v1\nkeywords: [a, b]\n";
    for (template, expected) in [
        ("{{ .Chart.Description | default \"v2\" }}", "v1"),
        ("{{ .Chart.Type | default \"v1\" }}", "v1"),
        ("{{ .Chart.Keywords | join \"-\" }}", "a-b"),
        ("{{ .Chart.Annotations.a }}{{ .Chart.IsRoot }}", "true"),
        ("{{ len (.Chart | toJson) | lt 20 }}", "true"),
    ] {
        let template = format!("{OF_CLUSTER_API}{template}\n");
        let found = version_in(&[("Chart.yaml", metadata), ("templates/t.yaml", &template)]);
        assert_eq!(found, expected, "{template}");
    }
}

/// Whatever composes it.
#[test]
fn what_is_wrong_with_a_file_of_values_is_reported_in_that_file() {
    let generated = RELEASE.replace(
        "  values:\n    version: v1.30.4\n    image: {name: ubuntu-2204-kube-v1.30.2}\n",
        "  valuesFrom: [{kind: ConfigMap, name: values}]\n",
    );
    let kustomization = "namespace: clusters\nresources: [release.yaml]\nconfigMapGenerator:\n- {name: values, files: [values.yaml], options: {disableNameSuffixHash: true}}\n";
    let set = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: lyon}
spec:
  generators: [{git: {repoURL: https://example.org/fleet.git, files: [{path: lyon/*.values.yaml}]}}]
  template:
    metadata: {name: '{{name}}'}
    spec: {source: {repoURL: https://example.org/fleet.git, path: charts/edge}}
";
    let release = |values: &str| {
        let more = [
            ("paris/kustomization.yaml", kustomization),
            ("paris/release.yaml", &generated),
            ("paris/values.yaml", values),
        ];
        check(VALUES, &more)
    };
    let tab = "version: v1.30.2\n\timage: a\n";
    release(tab).findings(str![[r#"
error[yaml-syntax] paris/values.yaml:2:1 ``

"#]]);
    let more = [("lyon/set.yaml", set), ("lyon/one.values.yaml", tab)];
    check(VALUES, &more).findings(str![[r#"
error[yaml-syntax] lyon/one.values.yaml:2:1 ``

"#]]);
    release("version: v1.30.4\nversion: v1.30.2\n").findings(str![[r#"
error[duplicate-key] paris/values.yaml:2:1 `version` paris/values.yaml:1:1 `version`

"#]]);
}

#[test]
fn a_key_that_is_twice_in_the_values_of_a_chart_is_an_error() {
    check(&format!("version: v1.30.4\n{RIGHT}"), &[]).findings(str![[r#"
error[duplicate-key] charts/edge/values.yaml:2:1 `version` charts/edge/values.yaml:1:1 `version`

"#]]);
}

#[test]
fn a_version_that_is_a_number_is_quoted_in_the_values() {
    let template = TEMPLATE.replace(" | quote", "");
    let stage = with_chart(
        "version: 1.30\nimage: {name: ubuntu-2204-kube-v1.30.2}\n",
        &[],
    );
    stage.write("charts/edge/templates/cluster.yaml", template);
    stage.check().is(str![[r#"
error[k8s-version-incomplete] edge/control-plane charts/edge/values.yaml:1:10 `1.30` => 1.30.N
error[value-type] edge charts/edge/values.yaml:1:10 `1.30` => "1.30"
edge/control-plane 1.30 (charts/edge/values.yaml:1:10): by_name, ubuntu-2204-kube-v1.30.2 (charts/edge/values.yaml:2:15) holds 1.30.2

"#]]);
}
