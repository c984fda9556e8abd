//! The objects of a `kind: List` are applied one by one, wherever the list is.

use snapbox::str;

use crate::support::manifests::cluster;
use crate::support::stage::{Is, Stage, project};

use super::judged;

/// The image of a cluster with a version in its name.
const IMAGE: &str = "{filter: {name: ubuntu-2204-kube-v1.31.8}}";

const CHART: &str = "apiVersion: v2\nname: edge\nversion: 1.0.0\n";

/// A list of the objects in a text.
fn list(objects: &str) -> String {
    let items = objects.split("---\n").filter(|item| !item.is_empty());
    let items = items.map(|item| format!("- {}\n", item.trim_end().replace('\n', "\n  ")));
    let items: String = items.collect();
    format!("apiVersion: v1\nkind: List\nitems:\n{items}")
}

fn edge() -> String {
    list(&cluster("v1.30.2", IMAGE))
}

fn chart(template: &str) -> Stage {
    let stage = project().file("charts/edge/Chart.yaml", CHART);
    stage.file("charts/edge/templates/all.yaml", template)
}

/// One object with a `spec`, whose lines are those of a text in braces.
fn object(version: &str, kind: &str, spec: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: one}}\nspec: {{{spec}}}\n")
}

#[test]
fn the_objects_of_a_list_count_wherever_it_is() {
    let versioned = edge().replace("v1.30.2", "{{ .Values.version }}");
    let deployed = chart(&versioned).file("charts/edge/values.yaml", "version: v1.31.8\n");
    let one_line = r#"{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "metadata": {"name": "md"}, "spec": {"clusterName": "edge"}}]}"#;
    let of_one_kind = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeploymentList
items:
- metadata: {name: md}
  spec: {clusterName: edge}
- null
";
    // Kubectl takes from the list what an item says neither of.
    let half = |key: &str| of_one_kind.replace("- metadata", &format!("- {key}\n  metadata"));
    let without_kind = half("apiVersion: cluster.x-k8s.io/v1beta1");
    let without_version = half("kind: MachineDeployment");
    let of_map = of_one_kind
        .replace(
            "- metadata",
            "  a: {apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, metadata",
        )
        .replace(
            "\n  spec: {clusterName: edge}\n- null",
            ", spec: {clusterName: edge}}",
        );
    let git = "sourceRef: {kind: GitRepository, name: flux-system}";
    let release = object(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        &format!("chart: {{spec: {{chart: ./charts/edge, {git}}}}}, values: {{version: v1.30.2}}"),
    );
    let application = object(
        "argoproj.io/v1alpha1",
        "Application",
        "source: {repoURL: 'https://h/own', path: charts/edge, helm: {valuesObject: {version: v1.30.2}}}",
    );
    let element = "generators: [{list: {elements: [{name: one, version: v1.30.2}]}}], template: {metadata: {name: '{{name}}'}, spec: {source: {repoURL: 'https://h/own', path: charts/edge, helm: {parameters: [{name: version, value: '{{version}}'}]}}}}";
    let set = object("argoproj.io/v1alpha1", "ApplicationSet", element);
    let patch = r#"[{"op": "replace", "path": "/spec/version", "value": "v1.29.1"}]"#;
    let flux = object(
        "kustomize.toolkit.fluxcd.io/v1",
        "Kustomization",
        &format!(
            "path: ./over, {git}, patches: [{{target: {{kind: KubeadmControlPlane}}, patch: '{patch}'}}]"
        ),
    );
    let overlay = || {
        let stage = project().file("over/kustomization.yaml", "resources: [all.yaml]\n");
        stage.file("over/all.yaml", edge())
    };
    let none = "apiVersion: v1\nkind: List\nitems:\n";
    let cases = [
        ("as it is", project().file("all.yaml", edge())),
        ("in another", project().file("all.yaml", list(&edge()))),
        ("of one kind", project().file("all.yaml", of_one_kind)),
        ("of one kind, in a map", project().file("all.yaml", of_map)),
        (
            "of one kind, without kind",
            project().file("all.yaml", &without_kind),
        ),
        (
            "of one kind, without version",
            project().file("all.yaml", without_version),
        ),
        ("of one kind, of a chart", chart(of_one_kind)),
        (
            "of one kind, without kind, of a chart",
            chart(&without_kind),
        ),
        ("of a kustomization", overlay()),
        ("of a chart", chart(&edge())),
        ("of a chart, in another", chart(&list(&edge()))),
        ("of a chart, in one line", chart(one_line)),
        (
            "with a HelmRelease",
            deployed.file("release.yaml", list(&release)),
        ),
        (
            "with an Application",
            chart(&versioned).file("application.yaml", list(&application)),
        ),
        (
            "with an ApplicationSet",
            chart(&versioned).file("set.yaml", list(&set)),
        ),
        (
            "with a Kustomization of Flux",
            overlay().file("flux.yaml", list(&flux)),
        ),
        (
            "without content",
            overlay()
                .file("over/none.yaml", format!("{none}---\n{none}"))
                .file(
                    "over/kustomization.yaml",
                    "resources: [all.yaml, none.yaml]\n",
                ),
        ),
    ];
    judged(cases).is(str![[r#"
as it is
    edge/control-plane v1.30.2 (all.yaml:14:14), edge/edge-md v1.30.2 (all.yaml:24:18): mismatched, ubuntu-2204-kube-v1.31.8 (all.yaml:29:51) holds 1.31.8
in another
    edge/control-plane v1.30.2 (all.yaml:17:16), edge/edge-md v1.30.2 (all.yaml:27:20): mismatched, ubuntu-2204-kube-v1.31.8 (all.yaml:32:53) holds 1.31.8
of one kind
of one kind, in a map
    edge/md: unknown (no reference to a machine template)
of one kind, without kind
of one kind, without version
    nothing
of one kind, of a chart
    edge/md: unknown (no reference to a machine template)
of one kind, without kind, of a chart
    edge/edge: unknown (its chart does not render)
of a kustomization
    edge/control-plane v1.30.2 (over/all.yaml:14:14), edge/edge-md v1.30.2 (over/all.yaml:24:18): mismatched, ubuntu-2204-kube-v1.31.8 (over/all.yaml:29:51) holds 1.31.8
of a chart
    edge/control-plane v1.30.2 (charts/edge/templates/all.yaml:14:14), edge/edge-md v1.30.2 (charts/edge/templates/all.yaml:24:18): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/all.yaml:29:51) holds 1.31.8
of a chart, in another
    edge/control-plane v1.30.2 (charts/edge/templates/all.yaml:17:16), edge/edge-md v1.30.2 (charts/edge/templates/all.yaml:27:20): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/all.yaml:32:53) holds 1.31.8
of a chart, in one line
    edge/md: unknown (no reference to a machine template)
with a HelmRelease
    edge/control-plane v1.30.2 (release.yaml:7:120), edge/edge-md v1.30.2 (release.yaml:7:120): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/all.yaml:29:51) holds 1.31.8
with an Application
    edge/control-plane v1.30.2 (application.yaml:7:95), edge/edge-md v1.30.2 (application.yaml:7:95): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/all.yaml:29:51) holds 1.31.8
with an ApplicationSet
    edge/control-plane v1.30.2 (set.yaml:7:222), edge/edge-md v1.30.2 (set.yaml:7:222): mismatched, ubuntu-2204-kube-v1.31.8 (charts/edge/templates/all.yaml:29:51) holds 1.31.8
with a Kustomization of Flux
    edge/control-plane v1.29.1 (flux.yaml:7:186), edge/edge-md v1.30.2 (over/all.yaml:24:18): mismatched, ubuntu-2204-kube-v1.31.8 (over/all.yaml:29:51) holds 1.31.8
without content
    edge/control-plane v1.30.2 (over/all.yaml:14:14), edge/edge-md v1.30.2 (over/all.yaml:24:18): mismatched, ubuntu-2204-kube-v1.31.8 (over/all.yaml:29:51) holds 1.31.8

"#]]);
}
