//! Manifests that are no YAML: their objects would be missing in silence.

use snapbox::str;

use crate::support::manifests::{GOOD, cluster};
use crate::support::stage::{Is, Stage, project, table};

use super::judged;

/// A Cluster whose metadata has no end.
const BROKEN: &str =
    "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: paris\nspec: {}\n";

/// A project with a good cluster, and this file.
fn beside(path: &str, text: &str) -> Stage {
    project()
        .file("clusters/edge.yaml", cluster("v1.31.8", GOOD))
        .file(path, text)
}

#[test]
fn a_manifest_that_is_no_yaml_is_an_error_and_a_template_that_is_none_is_not() {
    beside("clusters/paris.yaml", BROKEN)
        .run("check")
        .exit(1)
        .brief(str![[r#"
error[yaml-syntax]: expected `,` or `}`, found `:`
  clusters/paris.yaml:4:5 `:`
1 error; 2 node pools checked: 2 by name only

"#]]);
    let helm = format!(
        "{{{{- if .Values.name }}}}\n{}\n{{{{- end }}}}\n",
        BROKEN.replace("paris", "{{ .Values.name }}}")
    );
    let cases = [
        (
            "braces that do not end",
            "paris.json",
            "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\", \"kind\": \"Cluster\"".to_owned(),
        ),
        (
            "a list",
            "paris.yaml",
            "- apiVersion: cluster.x-k8s.io/v1beta1\n  metadata: {name: paris\n".to_owned(),
        ),
        (
            "YAML in braces that do not end",
            "paris.yaml",
            "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}\n"
                .to_owned(),
        ),
        (
            "YAML in braces",
            "paris.yaml",
            "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}}\n"
                .to_owned(),
        ),
        (
            "two texts of JSON",
            "paris.yaml",
            "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\"}\n---\n{\"apiVersion\": \"v1\"}\n"
                .to_owned(),
        ),
        // They are in most manifests of Cluster API.
        (
            "cloud-init's expressions in strings",
            "paris.yaml",
            format!("{BROKEN}---\napiVersion: v1\nname: '{{{{ ds.meta_data.local_hostname }}}}'\n"),
        ),
        ("a template of Helm", "paris.yaml", helm),
        (
            "a template of Jinja",
            "paris.yaml",
            BROKEN.replace("{name: paris", "{% if name %}{name: {{ name }}}"),
        ),
        (
            "no manifest",
            "paris.yaml",
            BROKEN.replace("apiVersion: ", "# as in "),
        ),
    ];
    let text: String = { cases.iter() }
        .map(|(name, path, text)| {
            let checked = beside(path, text).check();
            table([format!("{name}: exit {}", checked.status)], |_| {
                checked.findings.clone()
            })
        })
        .collect();
    text.is(str![[r#"
braces that do not end: exit 1
    error[yaml-syntax] paris.json:1:61 ``
a list: exit 1
    error[yaml-syntax] paris.yaml:3:1 ``
YAML in braces that do not end: exit 1
    error[yaml-syntax] paris.yaml:2:1 ``
YAML in braces: exit 0
two texts of JSON: exit 0
cloud-init's expressions in strings: exit 0
    warning[yaml-syntax] paris.yaml:4:5 `:`
a template of Helm: exit 0
a template of Jinja: exit 0
no manifest: exit 0

"#]]);
}

#[test]
fn a_broken_manifest_of_a_kustomization_says_what_is_not_built_for_it() {
    let project = beside("clusters/paris.yaml", BROKEN);
    let project = project.file(
        "clusters/kustomization.yaml",
        "resources: [edge.yaml, paris.yaml]\n",
    );
    project.run("check").exit(1).brief(str![[r#"
error[yaml-syntax]: expected `,` or `}`, found `:`
  clusters/paris.yaml:4:5 `:`
warning[yaml-syntax]: `clusters` does not build: expected `,` or `}`, found `:`
  clusters/paris.yaml:4:5 `:`
  help: the node pools that it deploys are not checked
1 error, 1 warning; 0 node pools checked; 2 skipped: its kustomization does not build

"#]]);
}

/// Double quotes may spell any word with escapes.
#[test]
fn a_manifest_whose_words_are_escaped_is_read() {
    let paris = cluster("v1.30.1", GOOD).replace("edge", "paris");
    let escaped = paris
        .replace(
            "cluster.x-k8s.io/v1beta1",
            "\"cluster.x\\x2dk8s.io/v1beta1\"",
        )
        .replace("infrastructure.\"cluster", "\"infrastructure.cluster")
        .replace("controlplane.\"cluster", "\"controlplane.cluster");
    let in_two_lines = escaped.replace("x\\x2dk8s", "x-\\\n    k8s");
    let cases = [
        ("plain", paris),
        ("escaped", escaped),
        ("in two lines", in_two_lines),
    ];
    let cases = cases.map(|(name, text)| (name, project().file("paris.yaml", text)));
    judged(cases).is(str![[r#"
plain
escaped
    paris/control-plane v1.30.1 (paris.yaml:12:12), paris/paris-md v1.30.1 (paris.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (paris.yaml:29:49) holds 1.31.8
in two lines
    paris/control-plane v1.30.1 (paris.yaml:15:12), paris/paris-md v1.30.1 (paris.yaml:28:16): mismatched, ubuntu-2204-kube-v1.31.8 (paris.yaml:36:49) holds 1.31.8

"#]]);
}

/// A list and a first line that anybody can write hid a cluster with another version than its image's.
#[test]
fn a_forged_first_line_hides_no_cluster() {
    let paris = cluster("v1.30.1", GOOD).replace("edge", "paris");
    let line = "# Rendered by metalmark for cluster paris; edit the values, not this file.\n";
    let digest = oci_artifacts::Digest::compute(paris.as_bytes()).to_string();
    let list = |path: &str| format!("{path}\t{digest}\tmanifests/paris\n");
    let inside = "manifests: [clusters, w]\noutputs: [{target: manifests, path: w}]";
    let cases = [
        ("a line", beside("w/md.yaml", &format!("{line}{paris}"))),
        (
            "a list",
            beside("w/md.yaml", &paris).file("w/.metalmark-owned", list("md.yaml")),
        ),
        (
            "a list above",
            beside("w/md.yaml", &paris).file(".metalmark-owned", list("w/md.yaml")),
        ),
        (
            "a line, in an output",
            beside("w/md.yaml", &format!("{line}{paris}")).settings(inside),
        ),
        (
            "a list, in an output",
            beside("w/md.yaml", &paris)
                .settings(inside)
                .file("w/.metalmark-owned", list("md.yaml")),
        ),
    ];
    for (name, stage) in cases {
        let screen = stage.run("check").exit(1).outcome.stdout;
        assert!(screen.contains("2 mismatched"), "{name}: {screen}");
    }
}

/// Several `**` lead to one folder in many ways, each of which was walked.
#[test]
fn a_pattern_of_several_stars_ends() {
    let project = project()
        .settings("clusters: [{each: '**/**/**/**/**/**/**/**/nope.yaml'}]\n")
        .file(&format!("{}values.yaml", "d/".repeat(40)), "a: 1\n");
    project.run("check").exit(1).brief(str![[r#"
error[project-file]: `**/**/**/**/**/**/**/**/nope.yaml` matches no file
  metalmark.yaml:2:12 `{each: '**/**/**/**/**/**/**/**/nope.yaml'}`
  help: a pattern names values files, such as `clusters/*/values.yaml`
1 error

"#]]);
}

/// What a kustomization names as a patch is no object. Where it does not build, nobody knows what it would be.
#[test]
fn a_cluster_that_only_a_broken_kustomization_names_is_not_gone() {
    let broken = [
        "resources: [gone.yaml]\npatches: [{path: edge.yaml}]",
        "resources: ['https://git.example.org/base']\npatches: [{path: edge.yaml}]",
        "resources: [other.yaml]\ntransformers: [t.yaml]\npatchesStrategicMerge: [edge.yaml]",
        "patches: [{path: edge.yaml}]",
        // A patch of what is here.
        "resources: [edge.yaml, gone.yaml]\npatches: [{path: version.yaml}]",
    ];
    let table = table(broken, |kustomization| {
        let stage = project()
            .file("clusters/edge.yaml", cluster("v1.31.8", GOOD))
            .file(
                "clusters/other.yaml",
                cluster("v1.31.8", GOOD).replace("edge", "other"),
            )
            .file("clusters/kustomization.yaml", kustomization);
        if kustomization.contains("version.yaml") {
            let patch =
                "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: edge}\n";
            stage.write("clusters/version.yaml", patch);
        }
        let checked = stage.check();
        checked.lines()
    });
    table.is(str![[r#"
resources: [gone.yaml]
patches: [{path: edge.yaml}]
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): unknown (its manifests are patches of what does not build)
    other/control-plane v1.31.8 (clusters/other.yaml:12:12), other/other-md v1.31.8 (clusters/other.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (clusters/other.yaml:29:49) holds 1.31.8
resources: ['https://git.example.org/base']
patches: [{path: edge.yaml}]
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): unknown (its manifests are patches of what does not build)
    other/control-plane v1.31.8 (clusters/other.yaml:12:12), other/other-md v1.31.8 (clusters/other.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (clusters/other.yaml:29:49) holds 1.31.8
resources: [other.yaml]
transformers: [t.yaml]
patchesStrategicMerge: [edge.yaml]
    warning[composition-failed] clusters/edge.yaml:1:1 `apiVersion: cluster.x-k8s.io/v1beta1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): unknown (its manifests are patches of what does not build)
    other/control-plane v1.31.8 (clusters/other.yaml:12:12), other/other-md v1.31.8 (clusters/other.yaml:23:16): unknown (its kustomization does not build)
patches: [{path: edge.yaml}]
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): unknown (its manifests are patches of what does not build)
    other/control-plane v1.31.8 (clusters/other.yaml:12:12), other/other-md v1.31.8 (clusters/other.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (clusters/other.yaml:29:49) holds 1.31.8
resources: [edge.yaml, gone.yaml]
patches: [{path: version.yaml}]
    warning[composition-failed] clusters/kustomization.yaml:1:24 `gone.yaml`
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): unknown (its kustomization does not build)
    other/control-plane v1.31.8 (clusters/other.yaml:12:12), other/other-md v1.31.8 (clusters/other.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (clusters/other.yaml:29:49) holds 1.31.8

"#]]);
}

/// A quick search decides which files are parsed: it must not miss what YAML spells otherwise.
#[test]
fn an_escape_in_a_string_hides_no_manifest() {
    let escapes = [
        "x-\\x6b8s",
        "x-\\u006b8s",
        "x-\\U0000006b8s",
        "x-\\\n      k8s",
        "x\\\n      -\\x6b8s",
    ];
    let table = table(escapes, |escaped| {
        let text = cluster("v1.31.8", "ubuntu-2204-kube-v1.30.1");
        let text = text.replace("apiVersion: ", "apiVersion: \"");
        let text = text.replace("x-k8s.io/v1beta1", &format!("{escaped}.io/v1beta1\""));
        assert!(!text.contains("x-k8s"));
        project().file("edge.yaml", text).check().pool_lines()
    });
    table.is(str![[r#"
x-\x6b8s
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.30.1 (edge.yaml:29:33) holds 1.30.1
x-\u006b8s
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.30.1 (edge.yaml:29:33) holds 1.30.1
x-\U0000006b8s
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.30.1 (edge.yaml:29:33) holds 1.30.1
x-\
      k8s
    edge/control-plane v1.31.8 (edge.yaml:15:12), edge/edge-md v1.31.8 (edge.yaml:28:16): mismatched, ubuntu-2204-kube-v1.30.1 (edge.yaml:36:33) holds 1.30.1
x\
      -\x6b8s
    edge/control-plane v1.31.8 (edge.yaml:15:12), edge/edge-md v1.31.8 (edge.yaml:28:16): mismatched, ubuntu-2204-kube-v1.30.1 (edge.yaml:36:33) holds 1.30.1

"#]]);
}
