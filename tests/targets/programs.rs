//! Rendered output against the definitions and the program that Kubernetes users have, where they are found.

use std::process::Command;

use super::{KEYS, edge, lines_with};
use crate::programs::{crds, find};

/// Every target, with the options that change the shape of what it writes.
const OUTPUTS: &[&str] = &[
    "target: manifests",
    "target: manifests, api-version: v1beta2",
    "target: configmap, scope: cluster, name-suffix-hash: true",
    "target: helm-values",
    "target: flux, values-from: [{kind: Secret, name: v, optional: true}]",
    "target: flux, source-kind: OCIRepository",
    "target: flux-artifact, project-path: deploy, source-namespace: s",
    "target: flux-resourceset",
    "target: flux, source-kind: HelmRepository, chart: c, chart-version: 1.2.3, source-namespace: s",
    "target: argocd, repo-url: 'https://git.example.org/charts.git', value-files: [a.yaml]",
    "target: argocd, repo-url: 'https://git.example.org/charts.git', chart: c, revision: 1.2.3",
    "target: argocd, repo-url: 'https://git.example.org/charts.git', applicationset: true, rendered-repo-url: 'https://git.example.org/charts.git'",
];

#[test]
fn everything_that_is_rendered_fits_the_definitions() {
    let Some(crds) = crds() else { return };
    let line = format!("render --schemas {}", crds.display());
    for output in OUTPUTS {
        let edge = edge(KEYS, output);
        let stderr = edge.run(&line).exit(0).outcome.stderr;
        assert_eq!(stderr, "", "{output}");
        assert_ne!(edge.list("out"), [""; 0], "{output}");
    }
}

#[test]
fn a_field_that_the_definitions_refuse_is_reported() {
    let Some(crds) = crds() else { return };
    let edge = edge(
        &KEYS.replace("matchLabels", "matchLabel"),
        "target: manifests",
    );
    let run = edge.run(&format!("render --schemas {}", crds.display()));
    let errors = lines_with(&run.exit(1).outcome.stderr, &["error["]);
    let told = "`spec.template.spec.hostSelector.matchLabel` the schema has no field `matchLabel`, only matchExpressions, matchLabels";
    assert!(errors.len() == 1 && errors[0].ends_with(told), "{errors:?}");
}

#[test]
fn kubectl_builds_the_flux_folders() {
    let Some(kubectl) = find("kubectl") else {
        return;
    };
    for output in [
        "target: flux",
        "target: flux, patch: cluster",
        "target: flux-artifact",
        "target: flux-resourceset",
    ] {
        let edge = edge(KEYS, output);
        edge.run("render").exit(0);
        let files = edge.list("out").into_iter();
        let roots = files.filter(|file| file.ends_with("kustomization.yaml"));
        for root in roots {
            let root = edge.path().join("out").join(root);
            let built = Command::new(&kubectl)
                .arg("kustomize")
                .arg(root.parent().expect("a folder"))
                .output()
                .expect("kubectl runs");
            let errors = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "{output}: {errors}");
            assert!(!built.stdout.is_empty(), "{output}");
        }
    }
}
