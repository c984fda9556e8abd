//! The pools of a Cluster whose topology names a ClusterClass: which template, which variables, and which patches.

use snapbox::str;

use crate::support::manifests::manifest;
use crate::support::stage::{Stage, assert_cases, assert_text};

use super::{checked, judged};

const CLASS: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: edge}
spec:
  topology:
    class: quick
    version: v1.30.2
    workers: {machineDeployments: [{class: worker, name: md-0}]}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane:
    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}
  workers:
    machineDeployments:
    - class: worker
      template:
        infrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: md}}
  patches: []
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: cp}
spec: {template: {spec: {image: {url: 'http://h/ubuntu-2204-kube-v1.30.2.qcow2', checksum: 'http://h/sum'}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: md}
spec: {template: {spec: {image: {url: 'http://h/ubuntu-2204-kube-v1.31.8.qcow2', checksum: 'http://h/sum'}}}}
";

/// The image that patches write.
const PATCHED: &str = "value: http://h/ubuntu-2404-kube-v1.30.2.qcow2";
/// The lines of [`CLASS`] that tests replace.
const NO_PATCHES: &str = "  patches: []\n";
const VERSION: &str = "    version: v1.30.2\n";
const WORKERS: &str = "{machineDeploymentClass: {names: [work*]}}";

/// [`CLASS`] with these lines of the class, and these of the Cluster's topology.
fn with(of_class: &str, of_topology: &str) -> Stage {
    let text = CLASS.replace(NO_PATCHES, of_class);
    manifest(text.replace(VERSION, of_topology))
}

/// The class's patches: one of the image of some machines.
fn patch(machines: &str, value: &str) -> String {
    format!(
        "  patches:
  - name: image
    definitions:
    - selector: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, matchResources: {machines}}}
      jsonPatches:
      - op: replace
        path: /spec/template/spec/image/url
        {value}
"
    )
}

#[test]
fn the_pools_of_a_topology_boot_the_images_of_its_class() {
    // The names and references of v1beta2.
    let newer = CLASS
        .replace("class: quick", "classRef: {name: quick}")
        .replace("{ref: {", "{templateRef: {");
    let own = "    machineInfrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}";
    let hosted = "    ref: {apiVersion: controlplane.cluster.x-k8s.io/v1alpha1, kind: KamajiControlPlaneTemplate, name: cp}";
    let (alone, _) = CLASS.split_once("---\n").expect("documents");
    let cases = [
        ("v1beta1", manifest(CLASS)),
        ("v1beta2", manifest(newer)),
        (
            "a hosted control plane has no machines",
            manifest(CLASS.replace(own, hosted)),
        ),
        ("a class that is not there", manifest(alone)),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
v1beta1
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
v1beta2
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
a hosted control plane has no machines
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
a class that is not there
    error[nothing-checked] => --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14): unknown (its ClusterClass is not among the manifests)
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its ClusterClass is not among the manifests)

"#]],
    );
}

#[test]
fn a_class_may_be_in_another_namespace() {
    let (cluster, class) = CLASS.split_once("---\n").expect("documents");
    let class = |namespace: &str| {
        class.replace(
            "metadata: {name",
            &format!("metadata: {{namespace: {namespace}, name"),
        )
    };
    let (right, own) = (
        class("shared").replace("v1.31.8", "v1.30.2"),
        class("fleet"),
    );
    assert_cases(
        str![[r#"
classRef: {name: quick, namespace: shared}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:31:39) holds 1.30.2
{class: quick, classNamespace: shared}
    edge/control-plane v1.30.2 (edge.yaml:8:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:27:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:8:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:32:39) holds 1.30.2
classRef: {name: quick}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:49:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:54:39) holds 1.31.8
class: quick
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:49:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:54:39) holds 1.31.8

"#]],
        |reference| {
            let reference = reference
                .trim_matches(['{', '}'])
                .replace(", classN", "\n    classN");
            let reference = if reference.starts_with("classRef") {
                reference + "}"
            } else {
                reference
            };
            let cluster = cluster.replace("{name: edge}", "{name: edge, namespace: fleet}");
            let cluster = cluster.replace("class: quick", &reference);
            manifest(format!("{cluster}---\n{right}---\n{own}"))
                .check()
                .pools
        },
    );
}

/// In the shape until v1beta1, and in the one since, which has no `template`.
#[test]
fn the_workers_of_a_class_are_those_that_the_topology_names() {
    let (_, rest) = CLASS
        .split_once("    machineDeployments:\n")
        .expect("the workers");
    let (old, _) = rest.split_once("  patches").expect("the workers");
    let reference = |group: &str, kind: &str, name: &str| {
        format!("{{apiVersion: {group}.cluster.x-k8s.io/v1beta1, kind: {kind}, name: {name}}}")
    };
    let worker = |shape: &str, name: &str, config: &str, machine: &str| {
        let machine = reference("infrastructure", "Metal3MachineTemplate", machine);
        let config = reference("bootstrap", config, "config");
        let parts = format!("bootstrap: {{KEY: {config}}}, infrastructure: {{KEY: {machine}}}");
        shape.replace("NAME", name).replace("PARTS", &parts)
    };
    let shapes = [
        ("v1beta1", "    - {class: NAME, template: {PARTS}}\n", "ref"),
        ("v1beta2", "    - {class: NAME, PARTS}\n", "templateRef"),
    ];
    let cases = shapes.into_iter().flat_map(|(version, shape, key)| {
        let kubeadm = "KubeadmConfigTemplate";
        let of = |other: &str, config: &str, own: &str| {
            let workers =
                worker(shape, "other", kubeadm, other) + &worker(shape, "worker", config, own);
            CLASS.replace(old, &workers.replace("KEY", key))
        };
        let made = of("cp", "RKE2ConfigTemplate", "md").replace(
            "ubuntu-2204-kube-v1.31.8",
            "ubuntu-noble-plain-kubeadm-1-30-2",
        );
        [
            ("md", of("cp", kubeadm, "md")),
            ("cp", of("md", kubeadm, "cp")),
            ("another distribution", made),
        ]
        .map(|(name, text)| (format!("{version}, {name}"), manifest(text)))
    });
    assert_text(
        &checked(cases),
        str![[r#"
v1beta1, md
    error[k8s-version-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:30:39) holds 1.31.8
v1beta1, cp
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
v1beta1, another distribution
    error[k8s-flavor-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-noble-plain-kubeadm-1-30-2.qcow2'` edge.yaml:19:106 `RKE2ConfigTemplate`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unproven, ubuntu-noble-plain-kubeadm-1-30-2.qcow2 (edge.yaml:30:39)
v1beta2, md
    error[k8s-version-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:30:39) holds 1.31.8
v1beta2, cp
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
v1beta2, another distribution
    error[k8s-flavor-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-noble-plain-kubeadm-1-30-2.qcow2'` edge.yaml:19:103 `RKE2ConfigTemplate`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unproven, ubuntu-noble-plain-kubeadm-1-30-2.qcow2 (edge.yaml:30:39)

"#]],
    );
}

#[test]
fn a_patch_counts_for_the_machines_that_it_selects() {
    assert_cases(
        str![[r#"
{machineDeploymentClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: [work*]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: ['*ker']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: ['*']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: [work]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{machineDeploymentClass: {names: [ker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{machineDeploymentClass: {names: ['ker*']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{machineDeploymentClass: {names: ['*work']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: true}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: 'true'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: false}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: false, machineDeploymentClass: {names: [other]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: true, machineDeploymentClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machinePoolClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]],
        |machines| with(&patch(machines, PATCHED), VERSION).check().pools,
    );
}

/// Its class may have the name of a class of machine deployments.
#[test]
fn a_patch_of_machine_pools_means_their_own_class() {
    let pools = CLASS.replace("machineDeployments", "machinePools");
    assert_cases(
        str![[r#"
{machinePoolClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]],
        |machines| {
            manifest(pools.replace(NO_PATCHES, &patch(machines, PATCHED)))
                .check()
                .pools
        },
    );
}

/// The provider for vSphere has one kind in two groups. Of a group any version is meant.
#[test]
fn a_patch_selects_templates_of_its_group_and_kind() {
    let own = "infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate";
    assert_cases(
        str![[r#"
infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
infrastructure.cluster.x-k8s.io/v9, kind: Metal3MachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
vmware.infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
infrastructure.cluster.x-k8s.io/v1beta1, kind: VSphereMachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]],
        |selector| {
            with(&patch(WORKERS, PATCHED).replace(own, selector), VERSION)
                .check()
                .pools
        },
    );
}

/// The output of the condition is read as YAML 1.1.
#[test]
fn a_patch_is_switched_on_by_true_and_by_nothing_else() {
    assert_cases(
        str![[r#"
'true'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
' true '
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'{{ not false }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'{{ eq .builtin.cluster.name "edge" }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'{{ ne .builtin.cluster.name "edge" }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'false'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'"true"'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'yes'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'1'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'null'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8

"#]],
        |condition| {
            let of_class = format!("{}    enabledIf: {condition}\n", patch(WORKERS, PATCHED));
            with(&of_class, VERSION).check().pools
        },
    );
}

/// Cluster API applies `replace` to what is there alone, unlike kustomize.
#[test]
fn a_patch_that_replaces_what_is_not_there_cannot_be_evaluated() {
    let without = CLASS.replace(
        "{image: {url: 'http://h/ubuntu-2204-kube-v1.31.8.qcow2', ",
        "{image: {",
    );
    assert_cases(
        str![[r#"
op: replace
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
op: add
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2

"#]],
        |operation| {
            let patch = patch(WORKERS, PATCHED).replace("op: replace", operation);
            manifest(without.replace(NO_PATCHES, &patch)).check().pools
        },
    );
}

#[test]
fn the_image_that_a_class_computes_from_the_version_is_the_pools() {
    let value = "valueFrom: {template: 'http://h/ubuntu-2404-kube-{{ .builtin.machineDeployment.version }}.qcow2'}";
    let project = with(&patch(WORKERS, value), VERSION);
    project.check().is(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:31) holds 1.30.2

"#]]);
    // The control plane's is its template's.
    project.edit("edge.yaml", VERSION, &VERSION.replace("30.2", "30.3"));
    project.check().is(str![[r#"
error[k8s-version-mismatch] edge/control-plane edge.yaml:33:39 `'http://h/ubuntu-2204-kube-v1.30.2.qcow2'` edge.yaml:7:14 `v1.30.3` => v1.30.3
edge/control-plane v1.30.3 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
edge/md-0 v1.30.3 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.3.qcow2 (edge.yaml:28:31) holds 1.30.3

"#]]);
}

#[test]
fn a_variable_of_the_topology_names_the_image_and_is_where_the_finding_points() {
    let of_class = "  variables:
  - name: image
    schema:
      openAPIV3Schema:
        type: object
        default: {}
        properties:
          urls: {type: array, items: {type: string}, default: ['http://h/ubuntu-2004-kube-v1.30.2.qcow2']}
".to_owned() + &patch(WORKERS, "valueFrom: {variable: 'image.urls[0]'}");
    let set = format!(
        "{VERSION}    variables:\n    - name: image\n      value:\n        urls: ['http://h/ubuntu-2110-kube-v1.29.9.qcow2']\n"
    );
    let overridden = CLASS.replace(NO_PATCHES, &of_class).replace(
        "name: md-0}",
        "name: md-0, variables: {overrides: [{name: image, value: {urls: ['http://h/ubuntu-2310-kube-v1.28.1.qcow2']}}]}}",
    );
    let cases = [
        ("by default", with(&of_class, VERSION)),
        ("set", with(&of_class, &set)),
        ("overridden", manifest(overridden)),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
by default
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2004-kube-v1.30.2.qcow2 (edge.yaml:28:64) holds 1.30.2
set
    error[k8s-version-mismatch] edge/md-0 edge.yaml:11:16 `'http://h/ubuntu-2110-kube-v1.29.9.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:45:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2110-kube-v1.29.9.qcow2 (edge.yaml:11:16) holds 1.29.9
overridden
    error[k8s-version-mismatch] edge/md-0 edge.yaml:8:117 `'http://h/ubuntu-2310-kube-v1.28.1.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2310-kube-v1.28.1.qcow2 (edge.yaml:8:117) holds 1.28.1

"#]],
    );
}

#[test]
fn each_item_of_a_list_has_the_defaults_of_items() {
    let of_class = "  variables:
  - name: disks
    schema:
      openAPIV3Schema:
        type: array
        items: {type: object, properties: {size: {type: integer}, image: {type: string, default: 'http://h/ubuntu-2004-kube-v1.29.9.qcow2'}}}
".to_owned() + &patch(WORKERS, "valueFrom: {template: '{{ (index .disks 1).image }}'}");
    assert_cases(
        str![[r#"
[{size: 1}, {size: 3}]
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:40:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2004-kube-v1.29.9.qcow2 (edge.yaml:35:31) holds 1.29.9
[{size: 1}, {size: 3, image: 'http://h/ubuntu-2110-kube-v1.30.2.qcow2'}]
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:40:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2110-kube-v1.30.2.qcow2 (edge.yaml:35:31) holds 1.30.2

"#]],
        |disks| {
            let set = format!("{VERSION}    variables: [{{name: disks, value: {disks}}}]\n");
            with(&of_class, &set).check().pools
        },
    );
}

/// The API server sets no defaults in the overrides of a pool: what the Cluster sets stays.
#[test]
fn a_pool_that_overrides_one_variable_has_the_clusters_others() {
    let variable = |name: &str| {
        format!(
            "  - {{name: {name}, schema: {{openAPIV3Schema: {{type: string, default: 'http://h/ubuntu-2004-kube-v1.29.9.qcow2'}}}}}}\n"
        )
    };
    let of_class = format!("  variables:\n{}{}", variable("image"), variable("other"));
    let of_class = of_class + &patch(WORKERS, "valueFrom: {variable: image}");
    let set = format!(
        "{VERSION}    variables: [{{name: image, value: 'http://h/ubuntu-2110-kube-v1.30.2.qcow2'}}]\n"
    );
    let overriding = |name: &str| {
        let project = with(&of_class, &set);
        let value = "http://h/ubuntu-2310-kube-v1.28.1.qcow2";
        let own =
            format!("name: md-0, variables: {{overrides: [{{name: {name}, value: '{value}'}}]}}}}");
        project.edit("edge.yaml", "name: md-0}", &own);
        project
    };
    let cases = [
        ("nothing is set", with(&of_class, VERSION)),
        ("the Cluster sets it", with(&of_class, &set)),
        ("the pool overrides another", overriding("other")),
        ("the pool overrides it", overriding("image")),
    ];
    assert_text(
        &judged(cases),
        str![[r#"
nothing is set
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:36:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2004-kube-v1.29.9.qcow2 (edge.yaml:22:69) holds 1.29.9
the Cluster sets it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:37:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2110-kube-v1.30.2.qcow2 (edge.yaml:8:38) holds 1.30.2
the pool overrides another
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:37:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2110-kube-v1.30.2.qcow2 (edge.yaml:8:38) holds 1.30.2
the pool overrides it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:37:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2310-kube-v1.28.1.qcow2 (edge.yaml:9:109) holds 1.28.1

"#]],
    );
}

#[test]
fn an_image_that_only_a_controller_can_compute_is_unknown() {
    assert_cases(
        str![[r#"
valueFrom: {variable: missing}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
valueFrom: {variable: builtin.machineDeployment.name}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
valueFrom: {template: 'http://h/{{ .builtin.machineDeployment.name }}-v1.30.2.qcow2'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
valueFrom: {template: '{{ fail "no" }}'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
valueFrom: {template: '{{ now }}'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)

"#]],
        |value| with(&patch(WORKERS, value), VERSION).check().pools,
    );
    let external = "  patches: [{name: x, external: {generateExtension: e}}]\n";
    with(external, VERSION).check().pools(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:7:14): unknown (a runtime extension may change the image of its ClusterClass)
edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a runtime extension may change the image of its ClusterClass)

"#]]);
}
