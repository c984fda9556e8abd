//! Manifests that are no YAML: their objects would be missing in silence.

use super::plain_manifests::{GOOD, check, cluster};

/// A Cluster whose metadata has no end.
const BROKEN: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: paris
spec: {}
";

#[test]
fn a_manifest_that_is_no_yaml_is_an_error() {
    let good = cluster("v1.31.8", GOOD);
    let (screen, status) = check(&[
        ("clusters/edge.yaml", &good),
        ("clusters/paris.yaml", BROKEN),
    ]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.starts_with("error[yaml-syntax]: "), "{screen}");
    assert!(screen.contains("--> clusters/paris.yaml:4"), "{screen}");
    assert!(screen.contains("1 error; 2 node pools checked"), "{screen}");
}

#[test]
fn a_manifest_in_json_is_no_less_broken() {
    let good = cluster("v1.31.8", GOOD);
    let json = "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\", \"kind\": \"Cluster\"";
    let (screen, status) = check(&[("clusters/edge.yaml", &good), ("clusters/paris.json", json)]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("--> clusters/paris.json:1"), "{screen}");
}

#[test]
fn a_template_that_is_no_yaml_is_none() {
    let good = cluster("v1.31.8", GOOD);
    let jinja = BROKEN.replace("{name: paris", "{% if name %}{name: {{ name }}}");
    let (screen, status) = check(&[
        ("clusters/edge.yaml", &good),
        ("skeletons/cluster.yaml", &jinja),
    ]);
    assert_eq!(status, 0, "{screen}");
    let no_manifest = BROKEN.replace("apiVersion: ", "# as in ");
    let (screen, status) = check(&[
        ("clusters/edge.yaml", &good),
        ("notes/cluster.yaml", &no_manifest),
    ]);
    assert_eq!(status, 0, "{screen}");
}

#[test]
fn a_broken_manifest_of_a_kustomization_says_what_is_not_built_for_it() {
    let good = cluster("v1.31.8", GOOD);
    let kustomization = "resources: [edge.yaml, paris.yaml]\n";
    let (screen, status) = check(&[
        ("clusters/edge.yaml", &good),
        ("clusters/paris.yaml", BROKEN),
        ("clusters/kustomization.yaml", kustomization),
    ]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("error[yaml-syntax]: expected"), "{screen}");
    let unbuilt = "warning[yaml-syntax]: `clusters` does not build";
    assert!(screen.contains(unbuilt), "{screen}");
    assert!(
        screen.contains("1 error, 1 warning; 2 node pools checked"),
        "{screen}"
    );
}

/// Cloud-init's own expressions are in most manifests of Cluster API.
#[test]
fn a_broken_manifest_with_expressions_in_strings_is_reported() {
    let good = cluster("v1.31.8", GOOD);
    let cloud_init =
        format!("{BROKEN}---\napiVersion: v1\nname: '{{{{ ds.meta_data.local_hostname }}}}'\n");
    let template = format!(
        "{{{{- if .Values.name }}}}\n{}\n{{{{- end }}}}\n",
        BROKEN.replace("paris", "{{ .Values.name }}}")
    );
    for (text, is_reported) in [(cloud_init, true), (template, false)] {
        let files = [
            ("clusters/edge.yaml", &*good),
            ("clusters/paris.yaml", &*text),
        ];
        let (screen, status) = check(&files);
        let warning = screen.starts_with("warning[yaml-syntax]: ");
        assert_eq!(warning, is_reported, "{screen}");
        let at = screen.contains("--> clusters/paris.yaml:4");
        assert_eq!((at, status), (is_reported, 0), "{screen}");
    }
}

#[test]
fn a_broken_manifest_in_a_list_or_in_braces_is_reported() {
    let good = cluster("v1.31.8", GOOD);
    for broken in [
        "- apiVersion: cluster.x-k8s.io/v1beta1\n  metadata: {name: paris\n",
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}\n",
        "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\"\n",
    ] {
        let files = [
            ("clusters/edge.yaml", &*good),
            ("clusters/paris.yaml", broken),
        ];
        let (screen, status) = check(&files);
        assert_eq!(status, 1, "{screen}");
        assert!(screen.contains("--> clusters/paris.yaml:"), "{screen}");
    }
}

/// kubectl reads a text that begins with a brace as JSON alone.
#[test]
fn a_manifest_in_braces_that_is_no_json_is_reported() {
    let good = cluster("v1.31.8", GOOD);
    for broken in [
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}}\n",
        "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\"}\n---\n{\"apiVersion\": \"v1\"}\n",
    ] {
        let files = [
            ("clusters/edge.yaml", &*good),
            ("clusters/paris.yaml", broken),
        ];
        let (screen, status) = check(&files);
        assert_eq!(status, 1, "{screen}");
        assert!(screen.contains("--> clusters/paris.yaml:"), "{screen}");
    }
}
