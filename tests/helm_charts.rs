//! Helm charts that make Cluster API objects: what is rendered, with which values, and where findings point.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::files::Disk;
use metalmark::read;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::helm::helm;
use super::support::Metalmark;
use super::support::manifests::{GOOD, check, cluster, repository};
use yaml_tree::json::{Html, to_json};

/// The charts of this repository, and those below the folder in `METALMARK_CHARTS`.
fn charts() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/helm-charts");
    let more = std::env::var_os("METALMARK_CHARTS").map(PathBuf::from);
    let files = [own]
        .into_iter()
        .chain(more)
        .flat_map(walkdir::WalkDir::new);
    let paths = files.filter_map(|entry| Some(entry.ok()?.into_path()));
    let is_metadata = |path: &PathBuf| path.ends_with("Chart.yaml");
    let folders = paths
        .filter(is_metadata)
        .filter_map(|path| Some(path.parent()?.to_owned()));
    folders.collect()
}

/// The chart in a folder with nothing, and with each of its values for tests.
fn with_values(folder: PathBuf) -> Vec<(PathBuf, Option<PathBuf>)> {
    let tests = std::fs::read_dir(folder.join("ci")).into_iter().flatten();
    let tests = tests.map(|file| Some(file.expect("a file").path()));
    let all = [None].into_iter().chain(tests);
    all.map(|values| (folder.clone(), values)).collect()
}

/// The objects in a text, as JSON.
fn objects(text: &str) -> BTreeSet<String> {
    let documents = yaml_tree::read(text, FileId(0), Engine::Kubectl)
        .expect("YAML")
        .documents;
    let documents = documents
        .iter()
        .filter(|node| node.get_path(&["kind"]).is_some());
    documents
        .map(|node| to_json(&node.value, Html::Plain))
        .collect()
}

#[test]
fn charts_are_rendered_as_helm_renders_them() {
    let Some((helm, engine)) = helm() else {
        return;
    };
    let mut compared = 0;
    for (folder, values) in charts().into_iter().flat_map(with_values) {
        let root = folder.parent().expect("a folder");
        let name = folder.file_name().expect("a name");
        let disk = Disk::new(root).expect("a folder");
        let user = { values.as_ref() }.map_or_else(
            || "{}".to_owned(),
            |values| std::fs::read_to_string(values).expect("readable"),
        );
        let user = yaml_tree::values(&user, FileId(0), engine).expect("values");
        let rendered = read::render_chart(&disk, Path::new(name), &user, engine);
        let rendered = rendered.expect("readable");
        let Some(rendered) = rendered else { continue };
        let chart = std::fs::read_to_string(folder.join("Chart.yaml")).expect("readable");
        let chart = chart.lines().find_map(|line| line.strip_prefix("name:"));
        let release = chart.expect("a name").trim().trim_matches('"');
        let output = Command::new(&helm)
            .args(["template", release])
            .arg(&folder)
            .args({ values.iter() }.flat_map(|values| [Path::new("-f"), values]))
            .output()
            .expect("helm starts");
        // What differs from run to run is refused, file by file.
        let refused: BTreeSet<&str> = { rendered.iter() }
            .filter(|(_, text)| {
                text.as_ref()
                    .is_err_and(|error| error.message.contains("is refused"))
            })
            .map(|(name, _)| &**name)
            .collect();
        let errors: Vec<String> = { rendered.iter() }
            .filter(|(name, _)| !refused.contains(&**name))
            .filter_map(|(name, text)| Some(format!("{name}: {}", text.as_ref().err()?)))
            .collect();
        let message = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let of_chart = ["missing in charts/", "release name check failed"];
            let is_known = !errors.is_empty() || of_chart.iter().any(|why| message.contains(why));
            assert!(
                is_known,
                "{}: only helm refuses it: {message}",
                folder.display()
            );
            println!("{}: both refuse it: {errors:?}", folder.display());
            continue;
        }
        assert!(
            errors.is_empty(),
            "{}: only we refuse it: {errors:?}",
            folder.display()
        );
        let theirs = String::from_utf8_lossy(&output.stdout).into_owned();
        let theirs = theirs
            .split("---\n# Source: ")
            .skip(1)
            .filter_map(|document| {
                let (source, text) = document.split_once('\n')?;
                (!refused.contains(source)).then(|| objects(text))
            });
        let theirs: BTreeSet<String> = theirs.flatten().collect();
        let ours = { rendered.iter() }
            .filter_map(|(_, text)| Some(objects(text.as_ref().ok()?)))
            .flatten()
            .collect::<BTreeSet<_>>();
        let only_ours: Vec<_> = ours.difference(&theirs).collect();
        let only_theirs: Vec<_> = theirs.difference(&ours).collect();
        assert!(
            only_ours.is_empty() && only_theirs.is_empty(),
            "{}\nours {only_ours:#?}\nhelm {only_theirs:#?}",
            folder.display()
        );
        compared += 1;
    }
    assert!(compared > 0, "no chart was compared");
}

const METADATA: &str = "apiVersion: v2\nname: edge\nversion: 1.0.0\nappVersion: v1.31.8\n";

const VALUES: &str = "\
version: v1.31.8
image: {name: ubuntu-2204-kube-v1.30.2}
";

const TEMPLATE: &str = "\
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

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: paris, namespace: clusters}
spec:
  chart: {spec: {chart: charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}
  values:
    version: v1.30.4
    image: {name: ubuntu-2204-kube-v1.30.2}
";

/// A chart, and more files.
fn with_chart<'f>(values: &'f str, more: &[(&'f str, &'f str)]) -> (String, i32) {
    let chart = [
        ("charts/edge/Chart.yaml", METADATA),
        ("charts/edge/values.yaml", values),
        ("charts/edge/templates/cluster.yaml", TEMPLATE),
    ];
    check(&[&chart, more].concat())
}

#[test]
fn nothing_that_a_template_makes_of_a_secret_is_shown() {
    let secret = "pw: aSEKRETqwertyuiop99b\npin: 7340127\n";
    let release = RELEASE.replace(
        "sourceRef:",
        "valuesFiles: [charts/edge/values.yaml, charts/edge/secrets.yaml], sourceRef:",
    );
    let image = "{{ required \"an image\" .Values.image.name | quote }}";
    let version = "{{ .Values.version | quote }}";
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
        (
            "cluster-name: {{ .Release.Name }}",
            "cluster-name: {{ .Values.pw | lower }}",
        ),
    ];
    for (from, to) in cases {
        let template = TEMPLATE.replace(from, to);
        assert_ne!(template, TEMPLATE);
        let chart = [
            ("charts/edge/Chart.yaml", METADATA),
            ("charts/edge/values.yaml", VALUES),
            ("charts/edge/templates/cluster.yaml", &*template),
            ("charts/edge/secrets/pw.txt", "aSEKRETqwertyuiop99b"),
            (
                "charts/edge/made.yaml",
                "apiVersion: v1\nkind: Secret\nstringData: {pw: aSEKRETqwertyuiop99b}\n",
            ),
        ];
        let deployed = [
            ("charts/edge/secrets.yaml", secret),
            ("paris.yaml", &*release),
        ];
        let tested = [("charts/edge/ci/secret-values.yaml", secret)];
        for more in [&deployed[..], &tested] {
            let folder = repository(&[&chart[..], more].concat());
            for arguments in [
                &["check"][..],
                &["check", "--format", "json"],
                &["images"],
                &["explain", "edge"],
                &["explain", "paris"],
                &["explain", "edge", "control-plane"],
                &["explain", "paris", "control-plane"],
            ] {
                let words = arguments.iter().copied();
                let outcome = Metalmark::within(folder.path()).args(words).run();
                let shown = (outcome.stdout + &outcome.stderr).to_lowercase();
                let is_shown = shown.contains("sekret") || shown.contains("7340128");
                assert!(!is_shown, "{to} {arguments:?}: {shown}");
            }
        }
    }
}

#[test]
fn findings_are_on_the_lines_of_the_values() {
    let (screen, status) = with_chart(VALUES, &[]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("charts/edge/values.yaml:2:15"), "{screen}");
    assert!(screen.contains("1 | version: v1.31.8\n"), "{screen}");
    assert!(
        screen.contains("= cluster: edge, pool control-plane"),
        "{screen}"
    );
}

#[test]
fn a_text_that_no_value_holds_is_on_the_line_of_the_template() {
    let chart = TEMPLATE.replace(".Values.version", "printf \"v1.%d.8\" 31");
    let (screen, status) = check(&[
        ("chart/Chart.yaml", METADATA),
        ("chart/values.yaml", VALUES),
        ("chart/templates/cluster.yaml", &chart),
    ]);
    assert_eq!(status, 1, "{screen}");
    assert!(
        screen.contains("chart/templates/cluster.yaml:7:15"),
        "{screen}"
    );
}

#[test]
fn a_chart_is_checked_as_releases_deploy_it() {
    let right = "version: v1.30.2\nimage: {name: ubuntu-2204-kube-v1.30.2}\n";
    let (screen, status) = with_chart(VALUES, &[("paris.yaml", RELEASE)]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("paris.yaml:8:19"), "{screen}");
    assert!(screen.contains("= cluster: paris, pool"), "{screen}");
    let last = "1 error in 1 cluster; 1 node pool checked: 1 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
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
        ("lyon/values.yaml", right),
        ("lyon/application.yaml", application),
    ];
    let (screen, status) = with_chart(VALUES, &more);
    assert_eq!(status, 0, "{screen}");
    let last = "no findings in 1 cluster; 1 node pool checked: 1 by name only\n";
    assert!(screen.ends_with(last), "{screen}");
}

#[test]
fn each_overlay_of_a_release_is_a_cluster() {
    let patch = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: paris, namespace: clusters}
spec: {values: {version: v1.30.2}}
";
    let overlay = "resources: [../../base]\npatches: [{path: release.yaml}]\n";
    let more = [
        ("base/kustomization.yaml", "resources: [release.yaml]\n"),
        ("base/release.yaml", RELEASE),
        (
            "overlays/one/kustomization.yaml",
            "resources: [../../base]\n",
        ),
        ("overlays/two/kustomization.yaml", overlay),
        ("overlays/two/release.yaml", patch),
    ];
    let (screen, status) = with_chart(VALUES, &more);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("base/release.yaml:8:19"), "{screen}");
    let last = "1 error in 1 cluster; 2 node pools checked: 1 by name only, 1 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
}

#[test]
fn a_chart_that_nothing_deploys_is_checked_with_its_test_values() {
    let more = [
        ("charts/edge/ci/one-values.yaml", "version: v1.30.2\n"),
        ("charts/edge/ci/two-values.yaml", "version: v1.29.1\n"),
    ];
    let (screen, status) = with_chart(VALUES, &more);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("ci/two-values.yaml:1:10"), "{screen}");
    assert!(!screen.contains("ci/one-values.yaml"), "{screen}");
}

#[test]
fn a_release_whose_values_or_objects_are_not_known_is_not_guessed() {
    let patched = format!("{RELEASE}  postRenderers: [{{kustomize: {{patches: []}}}}]\n");
    let secret = format!("{RELEASE}  valuesFrom: [{{kind: Secret, name: paris}}]\n");
    for (release, why) in [
        (
            &*patched,
            "is not checked as `paris` deploys it: it has `postRenderers`",
        ),
        (
            &*secret,
            "`values.yaml` of the Secret `paris` is not in the repository",
        ),
    ] {
        let (screen, _) = with_chart(VALUES, &[("paris.yaml", release)]);
        assert!(screen.contains(why), "{screen}");
        assert!(
            screen.contains("warning[composition-unsupported]"),
            "{screen}"
        );
        assert!(!screen.contains("mismatched"), "{screen}");
    }
}

#[test]
fn a_chart_that_needs_values_is_named_once() {
    let (screen, _) = with_chart("version: v1.31.8\nimage: {}\n", &[]);
    let message = "the chart `charts/edge` is not checked with its own values: an image";
    assert_eq!(screen.matches(message).count(), 1, "{screen}");
    assert!(
        screen.contains("charts/edge/templates/cluster.yaml:20:33"),
        "{screen}"
    );
    assert!(screen.contains("ci/NAME-values.yaml"), "{screen}");
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
    let values = |enabled: bool| format!("paris: {{enabled: {enabled}, version: v1.29.1}}\n");
    let template = "kind: ConfigMap\napiVersion: v1\n";
    for (enabled, status) in [(true, 1), (false, 0)] {
        let values = values(enabled);
        let more = [
            ("charts/fleet/Chart.yaml", metadata),
            ("charts/fleet/values.yaml", &*values),
            ("charts/fleet/templates/map.yaml", template),
            ("other.yaml", &cluster("v1.31.8", GOOD)),
        ];
        let (screen, found) = with_chart(VALUES, &more);
        assert_eq!(found, status, "{screen}");
        let place = "charts/fleet/values.yaml:1:33";
        assert_eq!(screen.contains(place), enabled, "{screen}");
        // A chart that is a part of another one is not rendered with its own values.
        assert!(!screen.contains("charts/edge/values.yaml:1:10"), "{screen}");
    }
}

#[test]
fn what_a_template_says_as_it_is_written_is_no_object() {
    let template = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: \"{{ .Release.Name }}\"}
";
    let more = [("charts/edge/templates/more.yaml", template)];
    let right = "version: v1.30.2\nimage: {name: ubuntu-2204-kube-v1.30.2}\n";
    let (screen, status) = with_chart(right, &more);
    assert_eq!(status, 0, "{screen}");
    assert!(!screen.contains("{{"), "{screen}");
}

#[test]
fn as_many_values_are_tried_as_is_stated() {
    for (others, is_found) in [(30, true), (31, false)] {
        let same = |index: usize| format!("a{index}: v1.31.8\n");
        let values: String = (0..others).map(same).collect();
        let values =
            format!("{values}image: {{name: ubuntu-2204-kube-v1.30.2}}\nversion: v1.31.8\n");
        let (screen, status) = with_chart(&values, &[]);
        assert_eq!(status, 1, "{screen}");
        let is_value = screen.contains("| version: v1.31.8\n");
        assert_eq!(is_value, is_found, "{screen}");
    }
}

#[test]
fn charts_depend_on_each_other_as_deep_as_is_stated() {
    for (depth, is_read) in [(8, true), (9, false)] {
        let mut files = vec![("other.yaml".to_owned(), cluster("v1.31.8", GOOD))];
        for level in 0..=depth {
            let at = format!("deep/{}", "charts/edge/".repeat(level));
            files.push((format!("{at}Chart.yaml"), METADATA.to_owned()));
            if level == depth {
                files.push((format!("{at}values.yaml"), VALUES.to_owned()));
                files.push((format!("{at}templates/cluster.yaml"), TEMPLATE.to_owned()));
            }
        }
        let files = { files.iter() }.map(|(path, text)| (&**path, &**text));
        let (screen, _) = check(&files.collect::<Vec<_>>());
        let message = "the chart `deep` is not checked: charts have more than";
        assert_eq!(screen.contains(message), !is_read, "{screen}");
    }
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
    let cluster = cluster("v1.31.8", GOOD).replace("edge", "paris");
    let files = [
        ("paris/kustomization.yaml", kustomization),
        ("paris/cluster.yaml", &*cluster),
        ("paris/cni.yaml", &*other),
    ];
    let last = "no findings in 1 cluster; 2 node pools checked: 2 by name only\n";
    let (screen, _) = check(&files);
    assert_eq!(screen, last);
    let right = "version: v1.30.2\nimage: {name: ubuntu-2204-kube-v1.30.2}\n";
    let (screen, _) = with_chart(right, &files);
    let last = "no findings in 2 clusters; 3 node pools checked: 3 by name only\n";
    assert_eq!(screen, last);
}

#[test]
fn a_release_that_does_not_compose_leaves_the_others_checked() {
    let broken = BROKEN.replace("CHART", "edge");
    let more = [("cni.yaml", &*broken), ("paris.yaml", RELEASE)];
    let (screen, status) = with_chart(VALUES, &more);
    assert_eq!(status, 1, "{screen}");
    let message = "the chart `charts/edge` is not checked as `cni` deploys it:";
    assert_eq!(screen.matches(message).count(), 1, "{screen}");
    assert!(screen.contains("paris.yaml:8:19"), "{screen}");
}

#[test]
fn what_is_beside_a_chart_and_cannot_be_read_is_named() {
    let (screen, _) = with_chart(VALUES, &[("charts/edge/ci/one-values.yaml", "a: [\n")]);
    assert!(screen.contains("error[yaml-syntax]"), "{screen}");
    assert!(
        screen.contains("charts/edge/ci/one-values.yaml:"),
        "{screen}"
    );
    let more = [("charts/edge/charts/common.tgz", "no archive")];
    let (screen, _) = with_chart("image: {}\n", &more);
    let help = "`charts/edge/charts/common.tgz` cannot be read";
    assert!(screen.contains(help), "{screen}");
}

#[test]
fn the_values_of_a_release_are_compared_with_the_schema_of_its_chart() {
    let schema = r#"{"properties": {"version": {"type": "string", "maxLength": 6}}}"#;
    let file = ("charts/edge/values.schema.json", schema);
    let right = "version: v1.30.2\nimage: {name: ubuntu-2204-kube-v1.30.2}\n";
    let message = "error[values-schema]: `version` must have at most 6 characters, not 7";
    let (screen, _) = with_chart(right, &[file]);
    assert!(screen.contains(message), "{screen}");
    assert!(
        screen.contains("--> charts/edge/values.yaml:1:10"),
        "{screen}"
    );
    let (screen, _) = with_chart(right, &[file, ("paris.yaml", RELEASE)]);
    assert!(screen.contains(message), "{screen}");
    assert!(screen.contains("--> paris.yaml:8:"), "{screen}");
}

#[test]
fn an_object_that_one_expression_makes_has_its_references() {
    let objects = cluster("v1.30.2", GOOD);
    let values = "objects:\n".to_owned()
        + &{ objects.split("---\n") }
            .map(|object| format!("- {}", object.trim_end().replace('\n', "\n  ") + "\n"))
            .collect::<String>();
    for template in [
        "{{ .Files.Get \"objects.txt\" }}",
        "{{ range .Values.objects }}\n---\n{{ toYaml . }}\n{{ end }}",
        "{{ range .Values.objects }}\n---\n{{ tpl (toYaml .) $ }}\n{{ end }}",
        "{{ range .Values.objects }}\n---\n{{ toYaml . | b64enc | b64dec }}\n{{ end }}",
    ] {
        let (screen, _) = check(&[
            ("edge/Chart.yaml", METADATA),
            ("edge/values.yaml", &values),
            ("edge/objects.txt", &objects),
            ("edge/templates/o.yaml", template),
        ]);
        let last = "2 node pools checked: 2 mismatched\n";
        assert!(screen.ends_with(last), "{template}: {screen}");
    }
}

/// Writes a chart, and renders its template `t.yaml` with nothing else than its own values.
fn version_in(files: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join("chart").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, text).expect("written");
    }
    let printed = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("version: "));
        line.unwrap_or("nothing").to_owned()
    };
    let disk = Disk::new(folder.path()).expect("a folder");
    let user = yaml_tree::values("", FileId(0), Engine::Helm4).expect("values");
    let engine = helm().map_or(Engine::Helm4, |(_, engine)| engine);
    let rendered = read::render_chart(&disk, Path::new("chart"), &user, engine);
    let rendered = rendered.expect("readable").expect("of Cluster API");
    let text = |(_, text): &(_, Result<String, _>)| text.clone().unwrap_or_default();
    let ours = printed(&{ rendered.iter() }.map(text).collect::<String>());
    if let Some((helm, _)) = helm() {
        let output = Command::new(helm)
            .args(["template", "r"])
            .arg(folder.path().join("chart"))
            .output()
            .expect("helm starts");
        let theirs = printed(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(&output.stderr));
    }
    ours
}

const OF_CLUSTER_API: &str = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nversion: ";

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
