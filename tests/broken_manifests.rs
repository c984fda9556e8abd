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
    for broken in [
        "- apiVersion: cluster.x-k8s.io/v1beta1\n  metadata: {name: paris\n",
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}\n",
        "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\"\n",
    ] {
        is_reported(broken);
    }
}

/// That a file is an error at its place, beside a good one.
fn is_reported(broken: &str) {
    let good = cluster("v1.31.8", GOOD);
    let files = [
        ("clusters/edge.yaml", &*good),
        ("clusters/paris.yaml", broken),
    ];
    let (screen, status) = check(&files);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("--> clusters/paris.yaml:"), "{screen}");
}

/// kubectl reads a text that begins with a brace as JSON alone.
#[test]
fn a_manifest_in_braces_that_is_no_json_is_reported() {
    for broken in [
        "{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: paris}}\n",
        "{\"apiVersion\": \"cluster.x-k8s.io/v1beta1\"}\n---\n{\"apiVersion\": \"v1\"}\n",
    ] {
        is_reported(broken);
    }
}

/// Double quotes may spell any word with escapes.
#[test]
fn a_manifest_whose_words_are_escaped_is_read() {
    let good = cluster("v1.31.8", GOOD);
    let paris = cluster("v1.30.1", GOOD).replace("edge", "paris");
    let escaped = paris
        .replace(
            "cluster.x-k8s.io/v1beta1",
            "\"cluster.x\\x2dk8s.io/v1beta1\"",
        )
        .replace("infrastructure.\"cluster", "\"infrastructure.cluster")
        .replace("controlplane.\"cluster", "\"controlplane.cluster");
    let in_two_lines = escaped.replace("x\\x2dk8s", "x-\\\n    k8s");
    for text in [&paris, &escaped, &in_two_lines] {
        let files = [("edge.yaml", &*good), ("paris.yaml", &**text)];
        let (screen, status) = check(&files);
        assert_eq!(status, 1, "{text}\n{screen}");
        assert!(screen.contains("error[k8s-version-mismatch]"), "{screen}");
    }
}

/// A list that anybody can write hides nothing but what metalmark wrote.
#[test]
fn an_ownership_file_hides_no_manifest_that_metalmark_has_not_written() {
    let good = cluster("v1.31.8", GOOD);
    let paris = cluster("v1.30.1", GOOD).replace("edge", "paris");
    let written = oci_artifacts::Digest::compute(paris.as_bytes()).to_string();
    let other = oci_artifacts::Digest::compute(b"other").to_string();
    for (list, expected) in [
        (String::new(), 1),
        (format!("md.yaml\t{other}\tmanifests/paris\n"), 1),
        (format!("other.yaml\t{written}\tmanifests/paris\n"), 1),
        (format!("md.yaml\t{written}\tmanifests/paris\n"), 0),
    ] {
        let files = [
            ("edge.yaml", &*good),
            ("w/md.yaml", &*paris),
            ("w/.metalmark-owned", &*list),
        ];
        let (screen, status) = check(&files);
        assert_eq!(status, expected, "{list}\n{screen}");
    }
}

/// Several `**` lead to one folder in many ways, each of which was walked.
#[test]
fn a_pattern_of_several_stars_ends() {
    let deep = format!("{}values.yaml", "d/".repeat(40));
    let project = "version: 1\nclusters: [{each: '**/**/**/**/**/**/**/**/nope.yaml'}]\n";
    let (screen, status) = check(&[("metalmark.yaml", project), (&deep, "a: 1\n")]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("matches no file"), "{screen}");
}
