//! Rendered output against the definitions and the program that Kubernetes users have, where they are found.

use std::process::Command;
use std::sync::Arc;

use capi::schema::Schemas;
use serde_json::{Value, json};
use yaml_tree::place::Source;

use super::given::{output, rendered, settings};
use super::keyed;
use crate::programs::crds;
use crate::programs::{find, missing};

/// The definitions of the folder of CRDs.
fn definitions() -> Option<Schemas> {
    let files = walkdir::WalkDir::new(crds()?)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "yaml"))
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).expect("a CRD file is text");
            Arc::new(Source::new(entry.path().to_string_lossy(), text))
        });
    let schemas = Schemas::new(files);
    if schemas.is_empty() {
        missing("crds");
        return None;
    }
    Some(schemas)
}

/// Every target, with the options that change the shape of what it writes.
fn outputs() -> Vec<(&'static str, Value)> {
    let charts = "https://git.example.org/charts.git";
    vec![
        ("manifests", json!({})),
        ("manifests", json!({"api-version": "v1beta2"})),
        (
            "configmap",
            json!({"scope": "cluster", "name-suffix-hash": true}),
        ),
        ("helm-values", json!({})),
        (
            "flux",
            json!({"values-from": [{"kind": "Secret", "name": "v", "optional": true}]}),
        ),
        ("flux", json!({"source-kind": "OCIRepository"})),
        (
            "flux-artifact",
            json!({"project-path": "deploy", "source-namespace": "s"}),
        ),
        ("flux-resourceset", json!({})),
        (
            "flux",
            json!({"source-kind": "HelmRepository", "chart": "c", "chart-version": "1.2.3", "source-namespace": "s"}),
        ),
        (
            "argocd",
            json!({"repo-url": charts, "value-files": ["a.yaml"]}),
        ),
        (
            "argocd",
            json!({"repo-url": charts, "chart": "c", "revision": "1.2.3"}),
        ),
        (
            "argocd",
            json!({"repo-url": charts, "applicationset": true, "rendered-repo-url": charts}),
        ),
    ]
}

#[test]
fn everything_that_is_rendered_fits_the_definitions() {
    let Some(schemas) = definitions() else { return };
    for (target, options) in outputs() {
        let settings = settings(vec![output(target, "out", &options)]);
        let (files, findings) = rendered(&settings, &[keyed()], Some(&schemas));
        assert!(!files.is_empty(), "{target} {options}");
        assert!(findings.is_empty(), "{target} {options}: {findings:#?}");
    }
}

#[test]
fn a_field_that_the_definitions_refuse_is_reported() {
    let Some(schemas) = definitions() else { return };
    let mut view = keyed();
    view.cluster.pools[0].settings =
        super::given::tree(&json!({"hostSelector": {"matchLabel": {}}}));
    let settings = settings(vec![output("manifests", "out", &json!({}))]);
    let (_, findings) = rendered(&settings, &[view], Some(&schemas));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let told = "`spec.template.spec.hostSelector.matchLabel` the schema has no field `matchLabel`, only matchExpressions, matchLabels";
    assert!(
        findings[0].message.ends_with(told),
        "{}",
        findings[0].message
    );
}

#[test]
fn kubectl_builds_the_flux_folders() {
    let Some(kubectl) = find("kubectl") else {
        return;
    };
    for (target, options) in [
        ("flux", json!({})),
        ("flux", json!({"patch": "cluster"})),
        ("flux-artifact", json!({})),
        ("flux-resourceset", json!({})),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let settings = settings(vec![output(target, ".", &options)]);
        let (files, findings) = rendered(&settings, &[keyed()], None);
        assert!(findings.is_empty(), "{findings:#?}");
        for file in &files {
            let path = folder.path().join(&file.path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            std::fs::write(path, &file.text).expect("it is written");
        }
        for kustomization in files
            .iter()
            .filter(|file| file.path.ends_with("kustomization.yaml"))
        {
            let path = folder.path().join(&kustomization.path);
            let built = Command::new(&kubectl)
                .arg("kustomize")
                .arg(path.parent().expect("a folder"))
                .output()
                .expect("kubectl runs");
            let errors = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "{}: {errors}", kustomization.path);
            assert!(!built.stdout.is_empty(), "{}", kustomization.path);
        }
    }
}
