//! Nothing is passed over in silence: what mentions clusters and is not read is counted, by the reason.

use snapbox::str;

use crate::support::manifests::{GOOD, cluster, infrastructure};
use crate::support::stage::{Is, Stage, assert_text, project};

use super::checked;

/// A whole cluster, and beside it this file.
fn stage_beside(path: &str, text: impl AsRef<[u8]>) -> Stage {
    let whole = cluster("v1.31.8", GOOD).replace("edge", "whole");
    project().file("whole.yaml", whole).file(path, text)
}

#[test]
fn a_file_that_is_not_read_is_counted_by_its_reason() {
    let jinja = cluster("{{ k8s_version }}", GOOD);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
    let chart = stage_beside(
        "charts/a/Chart.yaml",
        "apiVersion: v2\nname: a\nversion: 1.0.0\n",
    );
    let chart = chart.file("charts/a/templates/_helpers.tpl", "# cluster.x-k8s.io\n");
    let all = stage_beside("a.yaml.j2", &jinja)
        .file("b.yaml.tpl", &jinja)
        .file("c.yml", pointer)
        .file("d.yaml", b"\0GITCRYPT\0\xff\xfe\xfd");
    let cases = [
        ("Jinja", stage_beside("a.yaml", &jinja)),
        ("the end of a name", stage_beside("a.yml.gotmpl", &jinja)),
        ("jsonnet", stage_beside("main.jsonnet", &jinja)),
        ("another template", stage_beside("notes.tpl", "{{ x }}")),
        ("a chart's template", chart),
        ("LFS", stage_beside("a.yml", pointer)),
        (
            "git-crypt",
            stage_beside("a.yaml", b"\0GITCRYPT\0\xff\xfe\xfd"),
        ),
        (
            "named after secrets",
            stage_beside("cluster-secretless.yaml", cluster("v1.31.8", GOOD)),
        ),
        ("other secrets", stage_beside("secrets.yaml", "a: b\n")),
        ("all of them", all),
        ("another program's end", stage_beside("a.yaml.in", &jinja)),
        (
            "variables",
            stage_beside(
                "a.yml.dist",
                "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: [${A}]}\n",
            ),
        ),
        (
            "an end of one's own",
            stage_beside("a.yaml.disabled", cluster("v1.31.8", GOOD)),
        ),
        ("capitals", stage_beside("a.YAML", cluster("v1.31.8", GOOD))),
        ("other capitals", stage_beside("a.YAML", "a: b\n")),
        (
            "age",
            stage_beside("a.yaml.age", "age-encryption.org/v1\n-> X25519 a\n"),
        ),
        (
            "age in YAML's name",
            stage_beside("a.yaml", "age-encryption.org/v1\n-> X25519 a\n"),
        ),
        ("OpenPGP", stage_beside("a.yaml.gpg", b"\x85\x02\x0c\x03")),
        (
            "armor",
            stage_beside("a.yaml.asc", "-----BEGIN PGP MESSAGE-----\n\nhQ==\n"),
        ),
        (
            "a template that a kustomization names",
            stage_beside("a.yaml.j2", &jinja)
                .file("kustomization.yaml", "resources: [a.yaml.j2]\n"),
        ),
        (
            "named by a kustomization",
            stage_beside("a.yaml.in", cluster("v1.31.8", GOOD))
                .file("kustomization.yaml", "resources: [a.yaml.in]\n"),
        ),
    ];
    let summary = |stage: Stage| {
        let run = stage.run("check").exit(0);
        run.outcome
            .stdout
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    let lines = cases.map(|(name, stage)| format!("{name}: {}\n", summary(stage)));
    lines.concat().is(str![[r#"
Jinja: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
the end of a name: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
jsonnet: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
another template: no findings in 1 cluster; 2 node pools checked: 2 by name only
a chart's template: no findings in 1 cluster; 2 node pools checked: 2 by name only
LFS: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a pointer of Git LFS
git-crypt: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: encrypted
named after secrets: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: named after secrets
other secrets: no findings in 1 cluster; 2 node pools checked: 2 by name only
all of them: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a pointer of Git LFS; 2 files not read: a template of another program; 1 file not read: encrypted
another program's end: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
variables: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
an end of one's own: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a name that ends in none of .yaml, .yml and .json
capitals: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a name that ends in none of .yaml, .yml and .json
other capitals: no findings in 1 cluster; 2 node pools checked: 2 by name only
age: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: encrypted
age in YAML's name: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: encrypted
OpenPGP: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: not text
armor: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: encrypted
a template that a kustomization names: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a template of another program
named by a kustomization: no findings in 2 clusters; 4 node pools checked: 4 by name only

"#]]);
}

/// A link that leads to a manifest which is read is none that is passed over.
#[test]
fn a_link_is_counted_where_nothing_reads_what_it_leads_to() {
    let named = "resources: [link.yaml]\n";
    let cases = [
        ("to another name", "link.yaml", "../texts/a.txt", None),
        ("to a hidden folder", "link.yml", "../.hidden/a.yaml", None),
        ("of a template", "link.yaml.j2", "../texts/a.txt", None),
        ("to nothing", "link.yaml", "none.yaml", None),
        (
            "of a kustomization, to nothing",
            "kustomization.yaml",
            "none.yaml",
            None,
        ),
        (
            "of a kustomization, to itself",
            "kustomization.yaml",
            "kustomization.yaml",
            None,
        ),
        (
            "of a kustomization, to a folder",
            "kustomization.yaml",
            "../texts",
            None,
        ),
        ("of a chart, to nothing", "Chart.yaml", "none.yaml", None),
        ("out of the repository", "link.yaml", "/etc/hostname", None),
        ("to a file that is read", "link.yaml", "../whole.yaml", None),
        (
            "to a text of something else",
            "link.yaml",
            "../texts/b.txt",
            None,
        ),
        ("to a folder", "link.yaml", "../texts", None),
        ("of another name", "link.txt", "../texts/a.txt", None),
        ("of a hidden name", ".link.yaml", "../texts/a.txt", None),
        ("that is named", "link.yaml", "../texts/a.txt", Some(named)),
    ];
    let edge = cluster("v1.30.2", GOOD);
    let lines = cases.map(|(name, link, target, kustomization)| {
        let stage = stage_beside("texts/a.txt", &edge)
            .file("texts/b.txt", "a: b\n")
            .file(".hidden/a.yaml", &edge)
            .file("in/a.yaml", "a: b\n");
        if let Some(text) = kustomization {
            stage.write("in/kustomization.yaml", text);
        }
        let link = stage.path().join("in").join(link);
        std::os::unix::fs::symlink(target, link).expect("linked");
        let shown = stage.run("check").outcome.stdout;
        format!("{name}: {}\n", shown.lines().last().unwrap_or_default())
    });
    lines.concat().is(str![[r#"
to another name: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
to a hidden folder: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
of a template: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
to nothing: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
of a kustomization, to nothing: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
of a kustomization, to itself: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
of a kustomization, to a folder: no findings in 1 cluster; 2 node pools checked: 2 by name only
of a chart, to nothing: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
out of the repository: no findings in 1 cluster; 2 node pools checked: 2 by name only; 1 file not read: a link to a file that metalmark does not read
to a file that is read: no findings in 1 cluster; 2 node pools checked: 2 by name only
to a text of something else: no findings in 1 cluster; 2 node pools checked: 2 by name only
to a folder: no findings in 1 cluster; 2 node pools checked: 2 by name only
of another name: no findings in 1 cluster; 2 node pools checked: 2 by name only
of a hidden name: no findings in 1 cluster; 2 node pools checked: 2 by name only
that is named: 1 error in 1 cluster; 4 node pools checked: 2 by name only, 2 mismatched

"#]]);
}

/// Kustomize and Helm read it where the link is.
#[test]
fn a_kustomization_that_is_a_link_is_built() {
    let patch = "- {op: replace, path: /spec/version, value: v1.30.2}";
    let text = format!(
        "resources: [all.yaml]\npatches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{patch}'}}]\n"
    );
    let stage =
        stage_beside("shared/overlay.txt", text).file("over/all.yaml", cluster("v1.31.8", GOOD));
    let link = stage.path().join("over/kustomization.yaml");
    std::os::unix::fs::symlink("../shared/overlay.txt", link).expect("linked");
    let expected = str![[r#"
edge/control-plane v1.30.2 (over/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (over/all.yaml:29:49) holds 1.31.8
edge/edge-md v1.31.8 (over/all.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (over/all.yaml:29:49) holds 1.31.8
whole/control-plane v1.31.8 (whole.yaml:12:12), whole/whole-md v1.31.8 (whole.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (whole.yaml:29:49) holds 1.31.8

"#]];
    stage.check().pools(expected);
    let stage = stage.commit("Link");
    if let Some(stage) = stage {
        stage.remove("over/kustomization.yaml");
        let shown = stage.run("impact --against HEAD").outcome.stdout;
        shown.is(str![[r#"
Against c2ddce40b4, `HEAD`

edge
  control-plane  3 machines re-provisioned, by roll
                   kubernetes  v1.30.2 → v1.31.8
  whole cluster  not known: its objects are deployed by something else, or by nothing
                   deployed by  a kustomization → nothing

3 machines in 1 cluster re-provisioned, not known of 1 whole cluster, 1 cluster as before

"#]]);
    }
}

/// Also where nothing else is there.
#[test]
fn a_repository_of_files_that_are_not_read_says_so() {
    let project = project().file("a.yaml.j2", cluster("{{ v }}", GOOD));
    project.run("check").exit(1).screen(str![[r#"
error[nothing-checked]: 0 node pools checked; 1 file not read: a template of another program
 |
 = help: commit the manifests of `a.yaml.j2` as plain YAML
 = help: or type `--allow-empty`

1 error; 0 node pools checked; 1 file not read: a template of another program

"#]]);
    let json = project
        .run("check --output json --allow-empty")
        .exit(0)
        .outcome
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_text(
        &json["summary"]["pools"].to_string(),
        str![[
            r#"{"by_name":0,"checked":0,"files_not_read":{"a template of another program":1},"mismatched":0,"proven":0,"skipped":{},"unproven":0}"#
        ]],
    );
}

#[test]
fn a_name_that_is_no_text_is_counted() {
    let number = infrastructure("OpenStackMachineTemplate", "123");
    let text = infrastructure("OpenStackMachineTemplate", "edge");
    let whole = cluster("v1.31.8", GOOD);
    let cases = [
        (
            "a reference",
            project().file("a.yaml", whole.replace(&text, &number)),
        ),
        (
            "an object",
            project().file("a.yaml", whole.replace("{name: edge-md}", "{name: 123}")),
        ),
        (
            "a flag",
            project().file("a.yaml", whole.replace("{name: edge-md}", "{name: true}")),
        ),
        (
            "text",
            project().file("a.yaml", whole.replace("{name: edge-md}", "{name: '123'}")),
        ),
    ];
    let lines = cases.map(|(name, stage)| {
        let stdout = stage.run("check").outcome.stdout;
        format!("{name}: {}\n", stdout.lines().last().unwrap_or_default())
    });
    lines.concat().is(str![[r#"
a reference: 2 errors; 0 node pools checked; 1 skipped: no reference to a machine template
an object: 1 error; 2 node pools checked: 2 by name only
a flag: 1 error; 2 node pools checked: 2 by name only
text: no findings in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
}

#[test]
fn a_key_that_a_manifest_has_twice_is_found() {
    let cases = ["v1.30.2", "v1.31.8"].map(|version| {
        let text = cluster("v1.31.8", GOOD);
        let twice = format!("  version: {version}\n  version: v1.31.8\n  machineTemplate");
        let text = text.replace("  version: v1.31.8\n  machineTemplate", &twice);
        (version, project().file("a.yaml", text))
    });
    checked(cases).is(str![[r#"
v1.30.2
    error[duplicate-key] a.yaml:13:3 `version` a.yaml:12:3 `version`
    edge/control-plane v1.31.8 (a.yaml:13:12), edge/edge-md v1.31.8 (a.yaml:24:16): by_name, ubuntu-2204-kube-v1.31.8 (a.yaml:30:49) holds 1.31.8
v1.31.8
    warning[duplicate-key] a.yaml:13:3 `version` a.yaml:12:3 `version`
    edge/control-plane v1.31.8 (a.yaml:13:12), edge/edge-md v1.31.8 (a.yaml:24:16): by_name, ubuntu-2204-kube-v1.31.8 (a.yaml:30:49) holds 1.31.8

"#]]);
}

/// Variables that clusterctl fills in before it reads YAML; and a pointer whatever it is called.
#[test]
fn a_file_that_is_yaml_once_it_is_filled_in_is_no_error() {
    let open = cluster("v1.31.8", GOOD).replace(
        "spec:\n  controlPlaneRef",
        "spec:\n  keys: [${KEYS}]\n  controlPlaneRef",
    );
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
    let broken = cluster("v1.31.8", GOOD).replace(
        "spec:\n  controlPlaneRef",
        "spec: {${KEYS}\n  controlPlaneRef",
    );
    let whole = cluster("v1.31.8", GOOD);
    let switched_off = format!("{whole}${{OFF}}  # a note\n${{OFF}}  - [b\n");
    // As clusterctl fills them in: a block, and a default with others in it.
    let block = cluster("v1.31.8", GOOD).replace(
        "{name: edge}\nspec:\n",
        "\n  name: edge\n  labels:\n${LABELS}\n    ${KEY}: b\n    ${ONE}\nspec:\n${MORE:-  more:\n    name: ${NAME}\n    }\n",
    );
    let templates = "1 file not read: a template of another program";
    for (stage, status, said) in [
        (stage_beside("a.yaml", open), 0, templates),
        (stage_beside("a.yaml", block), 0, templates),
        (stage_beside("a.yaml", switched_off), 0, templates),
        (
            stage_beside("secrets.yaml", pointer),
            0,
            "1 file not read: a pointer of Git LFS",
        ),
        (
            stage_beside("a.tpl", pointer),
            0,
            "1 file not read: a pointer of Git LFS",
        ),
        (stage_beside("a.yaml", broken), 1, "1 error"),
    ] {
        let shown = stage.run("check").exit(status).outcome.stdout;
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

/// A file of another program may hold passwords.
#[test]
fn nothing_is_said_of_a_file_without_objects_of_clusters() {
    for text in [
        &b"greeting: \"x\\u00e9\"\ndb:\n  password: hunter2\n  password: other\n"[..],
        b"# x\xe9\na: hunter2\na: other\n",
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: \"\\x41hunter2\"\n  a: other\n",
    ] {
        let stage = stage_beside("a.yaml", text);
        let outcome = stage.run("check").exit(0).outcome;
        assert!(!outcome.stdout.contains("hunter2"), "{}", outcome.stdout);
        assert!(outcome.stdout.starts_with("no findings"), "{}", outcome.stdout);
    }
    let key = stage_beside("key.json", b"0\x82\x04\xa4 x");
    key.run("check").exit(0).screen(str![[r#"
no findings in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
}

/// A run in a folder says what is not read there.
#[test]
fn what_is_not_read_is_counted_where_it_is_looked_for() {
    let jinja = cluster("{{ k8s_version }}", GOOD);
    let stage = stage_beside("a.yaml", &jinja)
        .file(
            "in/c.yaml",
            cluster("v1.31.8", GOOD).replace("edge", "inner"),
        )
        .file("in/b.yaml", &jinja);
    for (line, count) in [("check", "2 files"), ("-C in check", "1 file ")] {
        let shown = stage.run(line).exit(0).outcome.stdout;
        assert!(
            shown.contains(&format!("{count} not read").replace("  ", " ")),
            "{line}: {shown}"
        );
    }
}

/// A release of a chart in another repository, whatever deploys it, where its values name nodes; and no other.
#[test]
fn a_release_of_a_chart_elsewhere_is_counted_if_its_values_name_nodes() {
    let flux = |chart: &str, values: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r, namespace: a}}\nspec: {{{chart}, values: {values}}}\n"
        )
    };
    let pulled = "chart: {spec: {chart: cl, sourceRef: {kind: HelmRepository, name: g}}}";
    let argo = |helm: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: r, namespace: argocd}}\nspec: {{destination: {{namespace: a}}, source: {{repoURL: https://charts.example.org, chart: cl, helm: {helm}}}}}\n"
        )
    };
    let inflated = |more: &str| format!("helmCharts: [{{name: cl, version: 1.0.0, {more}}}]\n");
    let repo = "repo: https://charts.example.org";
    let version = "{kubernetesVersion: v1.33.5}";
    let one = |text: String| stage_beside("r/r.yaml", text);
    let kustomize = |text: String| {
        stage_beside("r/kustomization.yaml", text).file("r/v.yaml", "image: ubuntu-kube-v1.31.2\n")
    };
    let umbrella = |values: &str| {
        stage_beside(
            "charts/u/Chart.yaml",
            "apiVersion: v2\nname: u\nversion: 1.0.0\ndependencies: [{name: cl, version: 1.0.0, repository: 'https://charts.example.org'}]\n",
        )
        .file("charts/u/values.yaml", values)
        .file("charts/u/templates/c.yaml", "{{ include \"cl.all\" . }}\n")
    };
    let set = argo("{valuesObject: {k8sVersion: '{{ .v }}'}}")
        .replace("Application\n", "ApplicationSet\n")
        .replace("spec: {destination", "spec: {template: {spec: {destination")
        .replace("'}}}}", "'}}}}}}");
    let here = format!(
        "{}---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmChart\nmetadata: {{name: hc, namespace: a}}\nspec: {{chart: ./charts/u, sourceRef: {{kind: GitRepository, name: g}}}}\n",
        flux("chartRef: {kind: HelmChart, name: hc}", version)
    );
    let whole = argo("{valuesObject: {kubernetesVersion: v1.33.5}}");
    let sources = whole.replace("source: {", "sources: [{");
    let sources = sources.replace("}}\n", "}]}\n");
    let from = |path: &str| whole.replace("chart: cl", path);
    let cases = [
        ("HelmRelease", one(flux(pulled, version))),
        (
            "an image",
            one(flux(pulled, "{a: [{i: ubuntu-2204-kube-v1.31.2}]}")),
        ),
        (
            "a key below another",
            one(flux(pulled, "{kubernetes: {version: '1.33'}}")),
        ),
        ("a variable", one(flux(pulled, "{kubeletVersion: '${V}'}"))),
        (
            "OCIRepository",
            one(flux("chartRef: {kind: OCIRepository, name: g}", version)),
        ),
        (
            "HelmChart",
            one(flux("chartRef: {kind: HelmChart, name: hc}", version)),
        ),
        (
            "another git repository",
            one(flux(
                "chart: {spec: {chart: ./cl, sourceRef: {kind: GitRepository, name: g}}}",
                version,
            )),
        ),
        ("Application", one(argo("{values: 'k8s_version: v1.33.5'}"))),
        (
            "its parameters",
            one(argo(
                "{parameters: [{name: a.kubernetes.version, value: v1.33.5}]}",
            )),
        ),
        (
            "its files",
            one(argo("{valueFiles: [$here/r/v.yaml]}")).file("r/v.yaml", "k8sVersion: v1.33.5\n"),
        ),
        ("ApplicationSet", one(set)),
        (
            "kustomize",
            kustomize(inflated(&format!("{repo}, valuesInline: {version}"))),
        ),
        (
            "its file",
            kustomize(inflated(&format!(
                "{repo}, releaseName: n, valuesFile: v.yaml"
            ))),
        ),
        (
            "its further file",
            kustomize(inflated(&format!(
                "{repo}, additionalValuesFiles: [v.yaml]"
            ))),
        ),
        ("one of several sources", one(sources)),
        (
            "an umbrella",
            umbrella("cl: {kubernetesVersion: v1.33.5}\n"),
        ),
    ];
    let others = [
        (
            "a version of no Kubernetes",
            one(flux(
                pulled,
                "{kubernetesVersion: latest, version: v1.33.5}",
            )),
        ),
        (
            "ingress",
            one(flux(
                pulled,
                "{image: {repository: r/k8s-sidecar, tag: v1.31.2-k3s1}}",
            )),
        ),
        (
            "a container",
            one(flux(pulled, "{image: 'rancher/k3s:v1.31.2-k3s1'}")),
        ),
        (
            "prose",
            one(argo("{valuesObject: {note: for kubernetes 1.33}}")),
        ),
        (
            "no repository",
            kustomize(inflated(&format!("valuesInline: {version}"))),
        ),
        ("a chart here", umbrella("a: b\n").file("r/r.yaml", here)),
        (
            "a chart here by its path",
            umbrella("a: b\n").file("r/r.yaml", from("path: charts/u")),
        ),
        (
            "a path that a template computes",
            one(from("path: 'charts/{{ .p }}'")),
        ),
        ("an umbrella of others", umbrella("cl: {replicas: 1}\n")),
    ];
    let lines = cases.into_iter().chain(others).map(|(name, stage)| {
        let shown = stage.run("check --color never").outcome.stdout;
        let last = shown.lines().last().unwrap_or_default().to_owned();
        let last = last.replace("2 node pools checked: 2 by name only", "2 checked");
        format!("{name}: {last}\n")
    });
    let lines: String = lines.collect();
    lines.is(str![[r#"
HelmRelease: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
an image: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
a key below another: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
a variable: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
OCIRepository: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
HelmChart: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
another git repository: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
Application: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
its parameters: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
its files: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
ApplicationSet: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
kustomize: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
its file: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
its further file: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
one of several sources: no findings in 2 clusters; 2 checked; 1 skipped: its chart is in another repository
an umbrella: 1 warning; 2 checked; 1 skipped: a dependency of its chart is not in the repository
a version of no Kubernetes: no findings in 1 cluster; 2 checked
ingress: no findings in 1 cluster; 2 checked
a container: no findings in 1 cluster; 2 checked
prose: no findings in 1 cluster; 2 checked
no repository: no findings in 1 cluster; 2 checked
a chart here: no findings in 1 cluster; 2 checked
a chart here by its path: no findings in 1 cluster; 2 checked
a path that a template computes: no findings in 1 cluster; 2 checked
an umbrella of others: no findings in 1 cluster; 2 checked

"#]]);
}
