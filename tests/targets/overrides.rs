//! A template of the user's own takes the embedded one's place, and its faults are shown in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use metalmark::model::finding::Finding;
use metalmark::model::manifest::ManifestFile;
use metalmark::model::rule::RuleId;
use metalmark::render::Renderer;
use serde_json::json;
use yaml_tree::place::Source;

use super::given::{output, settings};
use super::keyed;

/// What the manifests target makes of the cluster with one template replaced.
fn with(name: &str, text: &str) -> (Vec<ManifestFile>, Vec<Finding>) {
    let settings = settings(vec![output("manifests", "out", &json!({}))]);
    let source = Arc::new(Source::new(format!("templates/{name}"), text));
    let overrides = BTreeMap::from([(name.to_owned(), source)]);
    let mut findings = Vec::new();
    let renderer = Renderer::new(&settings, &overrides, None, &mut findings);
    let files = renderer.cluster(&keyed(), &mut findings);
    (files, findings)
}

#[test]
fn an_own_template_takes_the_place_of_the_embedded_one() {
    let text = "\
{% for template in templates %}
---
apiVersion: v1
kind: List
metadata: {name: {{ template.name }}}
{% endfor %}
";
    let (files, findings) = with("manifests/cluster.yaml.j2", text);
    assert!(findings.is_empty(), "{findings:?}");
    assert!(
        files[0]
            .text
            .starts_with("---\napiVersion: v1\nkind: List\n"),
        "{}",
        files[0].text
    );
}

#[test]
fn a_template_that_does_not_parse_is_reported_once_and_makes_no_file() {
    let (files, findings) = with("manifests/cluster.yaml.j2", "a: 1\nb: {{ templates\n");
    assert!(files.is_empty(), "{files:?}");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].rule, RuleId::TemplateError);
    let place = findings[0].labels[0].spot.to_string();
    assert!(
        place.starts_with("templates/manifests/cluster.yaml.j2:"),
        "{place}"
    );
}

#[test]
fn a_template_that_makes_no_object_is_reported_at_the_rendered_line() {
    let (_, findings) = with("manifests/cluster.yaml.j2", "apiVersion: v1\nkind: List\n");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(
        findings[0].message,
        "rendered file `out/edge-1.yaml`: List without a name: `metadata.name` must be a text"
    );
    let (_, findings) = with("manifests/cluster.yaml.j2", "a: b: c\n");
    assert_eq!(findings[0].rule, RuleId::ManifestInvalid);
}
