//! The pools of a Cluster whose topology names a ClusterClass: which template, which variables, and which patches.

use snapbox::str;

use crate::support::manifests::manifest;
use crate::support::stage::{Is, Stage, assert_cases, assert_text, brief};

use super::{assert_groups, checked, judged};

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
spec: {template: {spec: {image: {url: 'http://h/ubuntu-2204-kube-v1.30.2.qcow2', checksum: 9f86d081884c7d659a2feaa0c55ad015}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: md}
spec: {template: {spec: {image: {url: 'http://h/ubuntu-2204-kube-v1.31.8.qcow2', checksum: 9f86d081884c7d659a2feaa0c55ad015}}}}
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
        .replace(
            "    - class: worker\n      template:\n        infrastructure",
            "    - class: worker\n      infrastructure",
        )
        .replace("{ref: {", "{templateRef: {")
        .replace(" cluster.x-k8s.io/v1beta1\n", " cluster.x-k8s.io/v1beta2\n");
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
    checked(cases).is(str![[r#"
v1beta1
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
v1beta2
    error[k8s-version-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:30:39) holds 1.31.8
a hosted control plane has no machines
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
a class that is not there
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its ClusterClass is not among the manifests)

"#]]);
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
                .pool_lines()
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
            let text = CLASS.replace(old, &workers.replace("KEY", key));
            if version == "v1beta1" {
                return text;
            }
            let text = text.replace("class: quick", "classRef: {name: quick}");
            let text = text.replace(" cluster.x-k8s.io/v1beta1\n", " cluster.x-k8s.io/v1beta2\n");
            text.replace("{ref: {", "{templateRef: {")
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
    checked(cases).is(str![[r#"
v1beta1, md
    error[k8s-version-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:30:39) holds 1.31.8
v1beta1, cp
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
v1beta1, another distribution
    warning[k8s-version-incomplete] edge/md-0 edge.yaml:7:14 `v1.30.2` => …+rke2r1
    error[k8s-flavor-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-noble-plain-kubeadm-1-30-2.qcow2'` edge.yaml:19:106 `RKE2ConfigTemplate`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unproven, ubuntu-noble-plain-kubeadm-1-30-2.qcow2 (edge.yaml:30:39)
v1beta2, md
    error[k8s-version-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:30:39) holds 1.31.8
v1beta2, cp
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
v1beta2, another distribution
    warning[k8s-version-incomplete] edge/md-0 edge.yaml:7:14 `v1.30.2` => …+rke2r1
    error[k8s-flavor-mismatch] edge/md-0 edge.yaml:30:39 `'http://h/ubuntu-noble-plain-kubeadm-1-30-2.qcow2'` edge.yaml:19:103 `RKE2ConfigTemplate`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:25:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unproven, ubuntu-noble-plain-kubeadm-1-30-2.qcow2 (edge.yaml:30:39)

"#]]);
}

#[test]
fn a_patch_counts_for_the_machines_that_it_selects() {
    assert_groups(
        str![[r#"
{machineDeploymentClass: {names: [worker]}}
{machineDeploymentClass: {names: [work*]}}
{machineDeploymentClass: {names: ['*ker']}}
{machineDeploymentClass: {names: ['*']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machineDeploymentClass: {names: [work]}}
{machineDeploymentClass: {names: [ker]}}
{machineDeploymentClass: {names: ['ker*']}}
{machineDeploymentClass: {names: ['*work']}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: true}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: 'true'}
{controlPlane: false}
{controlPlane: false, machineDeploymentClass: {names: [other]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8
{controlPlane: true, machineDeploymentClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
{machinePoolClass: {names: [worker]}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]],
        |machines| {
            with(&patch(machines, PATCHED), VERSION)
                .check()
                .pool_lines()
        },
    );
}

/// Its class may have the name of a class of machine deployments.
#[test]
fn a_patch_of_machine_pools_means_their_own_class() {
    let pools = CLASS.replace("machineDeployments", "machinePools");
    assert_groups(
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
                .pool_lines()
        },
    );
}

/// The provider for vSphere has one kind in two groups. A version is compared with the one that the class names.
#[test]
fn a_patch_selects_templates_of_its_group_and_kind() {
    let own = "infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate";
    assert_groups(
        str![[r#"
infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
infrastructure.cluster.x-k8s.io/v9, kind: Metal3MachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
vmware.infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate
infrastructure.cluster.x-k8s.io/v1beta1, kind: VSphereMachineTemplate
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]],
        |selector| {
            with(&patch(WORKERS, PATCHED).replace(own, selector), VERSION)
                .check()
                .pool_lines()
        },
    );
}

/// The output of the condition is read as YAML 1.1.
#[test]
fn a_patch_is_switched_on_by_true_and_by_nothing_else() {
    assert_groups(
        str![[r#"
'true'
' true '
'{{ not false }}'
'{{ eq .builtin.cluster.name "edge" }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'{{ ne .builtin.cluster.name "edge" }}'
'false'
'"true"'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'yes'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
'1'
'null'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8

"#]],
        |condition| {
            let of_class = format!("{}    enabledIf: {condition}\n", patch(WORKERS, PATCHED));
            with(&of_class, VERSION).check().pool_lines()
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
    assert_groups(
        str![[r#"
op: replace
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
op: add
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2

"#]],
        |operation| {
            let patch = patch(WORKERS, PATCHED).replace("op: replace", operation);
            manifest(without.replace(NO_PATCHES, &patch))
                .check()
                .pool_lines()
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
    checked(cases).is(str![[r#"
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

"#]]);
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
    assert_groups(
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
            with(&of_class, &set).check().pool_lines()
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
    judged(cases).is(str![[r#"
nothing is set
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:36:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2004-kube-v1.29.9.qcow2 (edge.yaml:22:69) holds 1.29.9
the Cluster sets it
the pool overrides another
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:37:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2110-kube-v1.30.2.qcow2 (edge.yaml:8:38) holds 1.30.2
the pool overrides it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:37:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2310-kube-v1.28.1.qcow2 (edge.yaml:9:109) holds 1.28.1

"#]]);
}

#[test]
fn an_image_that_only_a_controller_can_compute_is_unknown() {
    assert_groups(
        str![[r#"
valueFrom: {variable: missing}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
valueFrom: {variable: builtin.machineDeployment.name}
valueFrom: {template: 'http://h/{{ .builtin.machineDeployment.name }}-v1.30.2.qcow2'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its image depends on a name that is made at run time)
valueFrom: {template: '{{ fail "no" }}'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
valueFrom: {template: '{{ now }}'}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)

"#]],
        |value| with(&patch(WORKERS, value), VERSION).check().pool_lines(),
    );
    let external = "  patches: [{name: x, external: {generateExtension: e}}]\n";
    with(external, VERSION).check().pools(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a runtime extension may change the image of its ClusterClass)

"#]]);
}

/// [`patch`] with a condition.
fn conditional(condition: &str) -> String {
    let image = patch(WORKERS, PATCHED);
    image.replace(
        "- name: image",
        &format!("- name: image\n    enabledIf: {condition}"),
    )
}

/// Whatever looks at a name that is made at run time has no known result, in texts and in conditions.
#[test]
fn what_looks_at_a_name_of_run_time_is_unknown() {
    let template = |text: &str| patch(WORKERS, &format!("valueFrom: {{template: '{text}'}}"));
    let name = ".builtin.machineDeployment.name";
    let image = |condition: &str| {
        template(&format!(
            "http://h/ubuntu-2204-kube-{{{{ if {condition} }}}}v1.30.2{{{{ else }}}}v1.31.8{{{{ end }}}}.qcow2"
        ))
    };
    let cases = [
        ("contains", image(&format!("contains \"md\" {name}"))),
        ("eq", image(&format!("eq {name} \"edge-md-0\""))),
        (
            "a part",
            image(".builtin.machineDeployment.metadata.labels"),
        ),
        ("ipFamily", image(".builtin.cluster.network.ipFamily")),
        ("there is a name", image(name)),
        (
            "what is made of a name",
            image(&format!("trimPrefix \"edge\" {name}")),
        ),
        (
            "beside it",
            template(&format!(
                "{{{{ $x := {name} }}}}http://h/ubuntu-2204-kube-v1.30.2.qcow2"
            )),
        ),
        (
            "a condition",
            conditional(&format!("'{{{{ hasPrefix \"edge-md\" {name} }}}}'")),
        ),
        (
            "a condition that is a name",
            conditional(&format!("'{{{{ {name} }}}}'")),
        ),
        (
            "below it",
            patch(
                WORKERS,
                "valueFrom: {variable: builtin.machineDeployment.metadata.labels.x}",
            ),
        ),
        (
            "around it",
            patch(WORKERS, "valueFrom: {variable: builtin.machineDeployment}"),
        ),
    ];
    let cases = cases.map(|(name, of_class)| (name, with(&of_class, VERSION)));
    checked(cases).is(str![[r#"
contains
eq
a part
ipFamily
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its image depends on a name that is made at run time)
there is a name
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:28:31) holds 1.30.2
what is made of a name
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its image depends on a name that is made at run time)
beside it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:28:31) holds 1.30.2
a condition
a condition that is a name
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its image depends on a name that is made at run time)
below it
around it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (its image depends on a name that is made at run time)

"#]]);
}

/// What decides is the YAML that a condition makes: of nothing it is null.
#[test]
fn a_patch_is_on_where_its_condition_makes_true() {
    assert_groups(
        str![[r#"
'{{ if .builtin.cluster.metadata.labels }}true{{ end }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8
'{{ if .builtin.cluster.name }}true{{ end }}'
''
'true'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:29:16) holds 1.30.2
'"true"'
'false'
'{{ .missing }}'
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:39:39) holds 1.31.8

"#]],
        |condition| with(&conditional(condition), VERSION).check().pool_lines(),
    );
}

/// In an image's name, as Go prints it.
#[test]
fn a_variable_that_is_missing_is_no_value() {
    let value = "valueFrom: {template: 'http://h/ubuntu-{{ .release }}-kube-v1.30.2.qcow2'}";
    with(&patch(WORKERS, value), VERSION).check().pools(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-<no value>-kube-v1.30.2.qcow2 (edge.yaml:28:31) holds 1.30.2 (edge.yaml:28:31)

"#]]);
}

/// The patches of a class that Cluster API does not make, in its words, and where.
#[test]
fn a_patch_that_cluster_api_refuses_leaves_its_machines_unknown() {
    let operation = |of: &str| {
        let image = patch(WORKERS, PATCHED);
        format!("{image}      - {of}\n")
    };
    let template = |text: &str| patch(WORKERS, &format!("valueFrom: {{template: '{text}'}}"));
    let newer = patch(WORKERS, PATCHED).replace(
        "cluster.x-k8s.io/v1beta1, kind",
        "cluster.x-k8s.io/v1beta2, kind",
    );
    let other = patch(WORKERS, PATCHED).replace(
        "infrastructure.cluster.x-k8s.io/v1beta1, kind",
        "other.x-k8s.io/v1beta2, kind",
    );
    let cases = [
        (
            "required",
            template("{{ required \"a\" .builtin.cluster.name }}"),
        ),
        ("now", template("{{ if false }}{{ now }}{{ end }}x")),
        ("no template", template("{{ if")),
        ("no YAML", template("a: b: c")),
        (
            "replace",
            operation("{op: replace, path: /spec/template/spec/none, value: 1}"),
        ),
        (
            "remove",
            operation("{op: remove, path: /spec/template/spec/none}"),
        ),
        (
            "add",
            operation("{op: add, path: /spec/template/spec/none/of, value: 1}"),
        ),
        (
            "test",
            operation("{op: test, path: /spec/template/spec/image/url, value: 1}"),
        ),
        (
            "no value",
            operation("{op: add, path: /spec/template/spec/none}"),
        ),
        (
            "two values",
            operation(
                "{op: add, path: /spec/template/spec/none, value: 1, valueFrom: {variable: a}}",
            ),
        ),
        (
            "no variable",
            operation("{op: add, path: /spec/template/spec/none, valueFrom: {variable: none}}"),
        ),
        (
            "no path",
            operation("{op: add, path: /spec/template/spec/none, valueFrom: {variable: '['}}"),
        ),
        ("a condition", conditional("'{{ tpl \"a\" . }}'")),
        ("another version", newer),
        ("another group", other),
    ];
    let cases = cases.map(|(name, of_class)| (name, with(&of_class, VERSION)));
    checked(cases).is(str![[r#"
required
    warning[composition-failed] edge edge.yaml:28:31 `'{{ required "a" .builtin.cluster.name }}'`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
now
    warning[composition-failed] edge edge.yaml:28:31 `'{{ if false }}{{ now }}{{ end }}x'`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
no template
    warning[composition-failed] edge edge.yaml:28:31 `'{{ if'`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
no YAML
    warning[composition-failed] edge edge.yaml:28:31 `'a: b: c'`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
replace
    warning[composition-failed] edge edge.yaml:29:9 `{op: replace, path: /spec/template/spec/none, value: 1}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
remove
    warning[composition-failed] edge edge.yaml:29:9 `{op: remove, path: /spec/template/spec/none}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
add
    warning[composition-failed] edge edge.yaml:29:9 `{op: add, path: /spec/template/spec/none/of, value: 1}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
test
    warning[composition-failed] edge edge.yaml:29:9 `{op: test, path: /spec/template/spec/image/url, value: 1}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
no value
    warning[composition-failed] edge edge.yaml:29:9 `{op: add, path: /spec/template/spec/none}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
two values
    warning[composition-failed] edge edge.yaml:29:9 `{op: add, path: /spec/template/spec/none, value: 1, valueFrom: {variable: a}}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
no variable
    warning[composition-failed] edge edge.yaml:29:73 `none`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
no path
    warning[composition-failed] edge edge.yaml:29:73 `'['`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
a condition
    warning[composition-failed] edge edge.yaml:23:16 `'{{ tpl "a" . }}'`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
another version
    warning[composition-failed] edge edge.yaml:24:7 `selector: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: Metal3MachineTemplate, matchResources: {machineDeploymentClass: {names: [work*]}}}`
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)
another group
    error[k8s-version-mismatch] edge/md-0 edge.yaml:38:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:33:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:38:39) holds 1.31.8

"#]]);
    with(
        &operation("{op: remove, path: /spec/template/spec/none}"),
        VERSION,
    )
    .run("check")
    .brief(str![[r#"
warning[composition-failed]: Cluster API refuses a patch of the ClusterClass `quick`: there is no `/spec/template/spec/none` in the object
  edge.yaml:29:9 `{op: remove, path: /spec/template/spec/none}`
  cluster: edge
  help: fix the patch: as long as it is refused, no Cluster of the class changes
1 warning in 1 cluster; 1 node pool checked: 1 by name only; 1 skipped: Cluster API refuses a patch of its ClusterClass

"#]]);
}

/// It may be unknown what becomes of other fields.
#[test]
fn what_a_patch_does_beside_the_image_does_not_make_it_unknown() {
    let name = "'{{ .builtin.machineDeployment.name }}'";
    let image = patch(WORKERS, PATCHED);
    let beside = |of: &str| format!("{image}      - {of}\n");
    let other = |condition: &str| {
        let second = conditional(condition)
            .replace("image/url", "none")
            .replace("op: replace", "op: add");
        image.clone() + second.trim_start_matches("  patches:\n")
    };
    let cases = [
        (
            "known",
            beside("{op: add, path: /spec/template/spec/none, value: 1}"),
        ),
        (
            "a value",
            beside(&format!(
                "{{op: add, path: /spec/template/spec/none, valueFrom: {{template: {name}}}}}"
            )),
        ),
        (
            "below it",
            beside(&format!(
                "{{op: add, path: /spec/template/spec/none, valueFrom: {{template: {name}}}}}"
            )) + "      - {op: add, path: /spec/template/spec/none/of, value: 1}\n",
        ),
        (
            "a condition",
            other(&format!(
                "'{{{{ eq \"a\" {} }}}}'",
                ".builtin.machineDeployment.name"
            )),
        ),
        ("a condition of nothing", other("'{{ fail \"no\" }}'")),
        ("a condition that is refused", other("'{{ tpl \"a\" . }}'")),
    ];
    let cases = cases.map(|(name, of_class)| (name, with(&of_class, VERSION)));
    judged(cases).is(str![[r#"
known
a value
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:34:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
below it
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:35:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (the patches of its ClusterClass cannot be evaluated)
a condition
a condition of nothing
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:28:16) holds 1.30.2
a condition that is refused
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses a patch of its ClusterClass)

"#]]);
}

/// What no table has may change the image, and so may what a table says is not known.
#[test]
fn a_field_that_is_not_carried_out_makes_pools_unknown() {
    let (cluster, class) = ("spec:\n  topology:\n", "metadata: {name: quick}\nspec:\n");
    let in_cluster =
        |field: &str| manifest(CLASS.replacen(cluster, &format!("{cluster}    {field}\n"), 1));
    let in_class = |field: &str| manifest(CLASS.replacen(class, &format!("{class}  {field}\n"), 1));
    let cases = [
        (
            "rolloutAfter",
            in_cluster("rolloutAfter: '2026-01-01T00:00:00Z'"),
        ),
        ("a later field", in_cluster("later: {a: 1}")),
        (
            "a definition",
            in_cluster("variables: [{name: a, value: 1, definitionFrom: b}]"),
        ),
        ("no value", in_cluster("later:")),
        ("of the class", in_class("later: [1]")),
        (
            "of a patch",
            with(
                "  patches: [{name: a, definitions: [{selector: {kind: A}, later: 1}]}]\n",
                VERSION,
            ),
        ),
        (
            "that validates",
            with(
                "  patches: [{name: a, external: {validateExtension: b}}]\n",
                VERSION,
            ),
        ),
        (
            "variables of an extension",
            with(
                "  patches: [{name: a, external: {discoverVariablesExtension: b}}]\n",
                VERSION,
            ),
        ),
    ];
    checked(cases).is(str![[r#"
rolloutAfter
    error[k8s-version-mismatch] edge/md-0 edge.yaml:32:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:8:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:8:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:27:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:8:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:32:39) holds 1.31.8
a later field
    warning[composition-unsupported] edge edge.yaml:6:12 `{a: 1}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:8:14), edge/md-0 v1.30.2 (edge.yaml:8:14): unknown (a field of its manifests is not carried out here)
a definition
    error[composition-failed] edge edge.yaml:6:24 `a`
    warning[composition-unsupported] edge edge.yaml:6:53 `b`
    edge/control-plane v1.30.2 (edge.yaml:8:14), edge/md-0 v1.30.2 (edge.yaml:8:14): unknown (a field of its manifests is not carried out here)
no value
    error[k8s-version-mismatch] edge/md-0 edge.yaml:32:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:8:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:8:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:27:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:8:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:32:39) holds 1.31.8
of the class
    warning[composition-unsupported] edge edge.yaml:14:10 `[1]`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a field of its manifests is not carried out here)
of a patch
    warning[composition-unsupported] edge edge.yaml:21:66 `1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a field of its manifests is not carried out here)
that validates
    error[k8s-version-mismatch] edge/md-0 edge.yaml:31:39 `'http://h/ubuntu-2204-kube-v1.31.8.qcow2'` edge.yaml:7:14 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.31.8.qcow2 (edge.yaml:31:39) holds 1.31.8
variables of an extension
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a runtime extension may change the image of its ClusterClass)

"#]]);
}

#[test]
fn each_value_of_a_map_has_the_defaults_of_other_properties() {
    let of_class = "  variables:
  - name: images
    schema:
      openAPIV3Schema:
        type: object
        properties: {own: {type: object, properties: {url: {type: string, default: 'http://h/ubuntu-2004-kube-v1.28.8.qcow2'}}}}
        additionalProperties: {type: object, properties: {url: {type: string, default: 'http://h/ubuntu-2004-kube-v1.29.9.qcow2'}}}
".to_owned() + &patch(WORKERS, "valueFrom: {template: '{{ (index .images .builtin.cluster.namespace).url }}'}");
    assert_cases(
        str![[r#"
{default: {}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2004-kube-v1.29.9.qcow2 (edge.yaml:36:31) holds 1.29.9
{default: {url: 'http://h/ubuntu-2110-kube-v1.30.2.qcow2'}}
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:41:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2110-kube-v1.30.2.qcow2 (edge.yaml:36:31) holds 1.30.2

"#]],
        |images| {
            let set = format!("{VERSION}    variables: [{{name: images, value: {images}}}]\n");
            let project = with(&of_class, &set);
            project.edit(
                "edge.yaml",
                "kind: Cluster\nmetadata: {name: edge}",
                "kind: Cluster\nmetadata: {name: edge, namespace: default}",
            );
            project.edit(
                "edge.yaml",
                "metadata: {name: quick}",
                "metadata: {name: quick, namespace: default}",
            );
            project.check().pool_lines()
        },
    );
}

/// Cluster API goes through the versions of the class by itself, or as an extension plans.
#[test]
fn a_class_with_chained_versions_may_pass_minors() {
    assert_cases(
        str![[r#"
spec: {}
    error[version-skip]: the control plane would go from Kubernetes `v1.28.1` to `v1.30.2`, past 1.29
spec: {kubernetesVersions: [v1.28.1, v1.30.2]}
    error[version-skip]: the control plane would go from Kubernetes `v1.28.1` to `v1.30.2`, past 1.29
spec: {kubernetesVersions: [v1.28.1, v1.29.3, v1.30.2]}
spec: {upgrade: {external: {generateUpgradePlanExtension: a}}}

"#]],
        |spec| {
            let more = spec.trim_start_matches("spec: ").trim_matches(['{', '}']);
            let more = match more {
                "" => String::new(),
                more if more.starts_with("upgrade") => format!("  {more}}}}}\n"),
                more => format!("  {more}\n"),
            };
            let images = CLASS.replace("1.31.8", "1.30.2");
            let text = images.replace(NO_PATCHES, &more);
            let before = text.replace("v1.30.2", "v1.28.1");
            let Some(project) = manifest(before).commit("before") else {
                return Vec::new();
            };
            project.write("edge.yaml", text);
            let run = project.run("impact --against HEAD");
            let lines = run.outcome.stderr.lines().chain(run.outcome.stdout.lines());
            let is_skip = |line: &&str| line.contains("version-skip");
            lines.filter(is_skip).map(str::to_owned).collect()
        },
    );
}

/// The image of the class's template holds one version, unless a patch selects it by the version on the way.
#[test]
fn each_minor_on_the_way_needs_an_image() {
    let by_version = "valueFrom: {template: 'http://h/ubuntu-2204-kube-{{ .builtin.controlPlane.version }}.qcow2'}";
    let steps = |case: &str| {
        let listed = "  kubernetesVersions: [v1.28.1, v1.29.1, v1.29.3, v1.30.2]\n";
        let more = match case {
            "a patch" => listed.to_owned() + &patch("{controlPlane: true}", by_version),
            "an extension" => {
                listed.to_owned() + "  upgrade: {external: {generateUpgradePlanExtension: a}}\n"
            }
            _ => listed.to_owned(),
        };
        let text = CLASS.replace("1.31.8", "1.30.2").replace(NO_PATCHES, &more);
        let before = text.replacen("version: v1.30.2", "version: v1.28.1", 1);
        let Some(project) = manifest(before).commit("before") else {
            return String::new();
        };
        project.write("edge.yaml", text);
        let stderr = project.run("impact --against HEAD").outcome.stderr;
        let found = stderr.find("error[k8s-version-mismatch]");
        found.map_or(String::new(), |at| brief(&stderr[at..]))
    };
    let cases = ["the template's own", "a patch", "an extension"];
    let shown = cases.map(|case| format!("{case}\n{}", steps(case)));
    assert_text(
        &shown.concat(),
        str![[r#"
the template's own
error[k8s-version-mismatch]: Cluster API takes the control plane through Kubernetes `v1.29.3`, and its image `ubuntu-2204-kube-v1.30.2.qcow2` then holds `1.30.2`
  edge.yaml:26:39 `'http://h/ubuntu-2204-kube-v1.30.2.qcow2'` this image is selected here
  edge.yaml:21:42 `v1.29.3` this version is on the way
  cluster: edge, pool control-plane
  help: let a patch of the ClusterClass select the image by `builtin.controlPlane.version`
1 error in 1 cluster
a patch
an extension

"#]],
    );
}

/// Cluster API's webhooks refuse a Cluster whose version its class does not list, and a list that leaves out a minor. The
/// Cluster's gets a `v` before that; what a variable fills in is not known.
#[test]
fn a_version_that_the_class_does_not_list_is_refused() {
    assert_cases(
        str![[r#"
v1.30.2 []
v1.30.2 [v1.29.1, v1.30.2, v1.31.0]
1.30.2 [v1.30.2]
v1.30.2 [1.30.2]
    error[version-not-in-class] edge edge.yaml:7:14 `v1.30.2` edge.yaml:21:24 `1.30.2`
v1.30.2 [v1.29.1, v1.30.1]
    error[version-not-in-class] edge edge.yaml:7:14 `v1.30.2` edge.yaml:21:24 `v1.29.1`
v1.30.2+rke2r1 [v1.30.2+rke2r2]
    error[version-not-in-class] edge edge.yaml:7:14 `v1.30.2+rke2r1` edge.yaml:21:24 `v1.30.2+rke2r2`
v1.30.2 [v1.28.1, v1.30.2]
    error[version-not-in-class] edge edge.yaml:21:33 `v1.30.2`
v1.30.2 [v1.30.2, v1.30.1]
    error[version-not-in-class] edge edge.yaml:21:33 `v1.30.1`
v1.30.2 [v1.30.2, v1.30.2]
    error[version-not-in-class] edge edge.yaml:21:33 `v1.30.2`
v1.30.2+rke2r1 [v1.30.2+rke2r2, v1.30.2+rke2r1]
v1.30.2 ['${OLD}', v1.30.1]
${NEW} [v1.30.1]

"#]],
        |case| {
            let (version, listed) = case.split_once(' ').expect("a version and a list");
            let text = CLASS.replace(NO_PATCHES, &format!("  kubernetesVersions: {listed}\n"));
            let text = text.replace("v1.30.2\n    workers", &format!("{version}\n    workers"));
            let found = manifest(text).check().findings.into_iter();
            let is_own = |line: &String| line.contains("version-not-in-class");
            found.filter(is_own).collect()
        },
    );
}

/// The API server refuses it; nobody else says so.
#[test]
fn a_worker_whose_name_is_no_text_is_counted() {
    let text = CLASS.replace("name: md-0}", "name: 1}");
    assert_ne!(text, CLASS);
    checked([("a number", manifest(text))]).is(str![[r#"
a number
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:26:39) holds 1.30.2
    edge/ v1.30.2 (edge.yaml:7:14): unknown (its name is not text)

"#]]);
}

/// The webhook of Cluster API refuses each of these, and nothing of the Cluster changes.
#[test]
fn what_a_topology_names_and_its_class_lacks_is_an_error_at_the_cluster() {
    let of_class = "  variables:
  - {name: imageName, required: true, schema: {openAPIV3Schema: {type: string}}}
  - {name: flavor, schema: {openAPIV3Schema: {type: string}}}
"
    .to_owned()
        + &patch(WORKERS, "valueFrom: {variable: imageName}");
    let set = |names: &[&str]| {
        let lines = names.iter().map(|name| {
            format!("    - {{name: {name}, value: 'http://h/ubuntu-2404-kube-v1.30.2.qcow2'}}\n")
        });
        format!("{VERSION}    variables:\n{}", lines.collect::<String>())
    };
    let right = with(&of_class, &set(&["imageName"])).read("edge.yaml");
    let overridden = "name: md-0, variables: {overrides: [{name: flavour, value: big}]}}";
    let extension =
        "  patches:\n  - {name: more, external: {discoverVariablesExtension: more.example}}\n";
    let cases = [
        ("right", manifest(&right)),
        ("misspelled", with(&of_class, &set(&["imagName"]))),
        ("missing", with(&of_class, VERSION)),
        ("unknown", with(&of_class, &set(&["imageName", "region"]))),
        (
            "of a class whose name is filled in",
            manifest(
                with(&of_class, &set(&["imageName", "region"]))
                    .read("edge.yaml")
                    .replace("quick", "${CLASS}"),
            ),
        ),
        (
            "of workers",
            manifest(right.replace("name: md-0}", overridden)),
        ),
        (
            "a class of workers",
            manifest(right.replace("[{class: worker,", "[{class: workr,")),
        ),
        (
            "of an extension",
            with(
                &of_class.replace("  patches:\n", extension),
                &set(&["imageName", "region"]),
            ),
        ),
    ];
    checked(cases).is(str![[r#"
right
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:38:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:9:32) holds 1.30.2
misspelled
    error[composition-failed] edge edge.yaml:9:14 `imagName` => imageName
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses its topology)
missing
    error[composition-failed] edge edge.yaml:6:5 `class: quick` => spec.topology.variables
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses its topology)
unknown
    error[composition-failed] edge edge.yaml:10:14 `region` => imageName | flavor
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:39:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:9:32) holds 1.30.2
of a class whose name is filled in
    error[nothing-checked] => edge.yaml | --allow-empty
of workers
    error[composition-failed] edge edge.yaml:10:95 `flavour` => flavor
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:38:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:9:32) holds 1.30.2
a class of workers
    error[composition-failed] edge edge.yaml:10:44 `workr` => worker
    edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:38:39) holds 1.30.2
    edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (Cluster API refuses its topology)
of an extension
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (edge.yaml:7:14), edge/md-0 v1.30.2 (edge.yaml:7:14): unknown (a runtime extension may change the image of its ClusterClass)

"#]]);
}

#[test]
fn a_version_that_a_variable_of_the_topology_gives_is_at_the_variable() {
    let value = "valueFrom: {template: 'http://h/ubuntu-2204-kube-{{ .image }}.qcow2'}";
    let topology = format!("{VERSION}    variables: [{{name: image, value: v1.29.1}}]\n");
    let class = "  variables: [{name: image, schema: {openAPIV3Schema: {type: string}}}]\n";
    let class = class.to_owned() + &patch(WORKERS, value);
    with(&class, &topology).check().is(str![[r#"
error[k8s-version-mismatch] edge/md-0 edge.yaml:8:38 `v1.29.1` edge.yaml:7:14 `v1.30.2` => v1.30.2
edge/control-plane v1.30.2 (edge.yaml:7:14): by_name, ubuntu-2204-kube-v1.30.2.qcow2 (edge.yaml:35:39) holds 1.30.2
edge/md-0 v1.30.2 (edge.yaml:7:14): mismatched, ubuntu-2204-kube-v1.29.1.qcow2 (edge.yaml:8:38) holds 1.29.1

"#]]);
}

/// A class that is misspelled is not one that is kept elsewhere.
#[test]
fn a_misspelled_class_of_a_topology_is_reported_with_the_near_one() {
    let project = |named: &str| manifest(CLASS.replacen("class: quick", named, 1));
    project("class: quik").run("check").exit(1).brief(str![[r#"
warning[reference-dangling]: Cluster `edge` refers to ClusterClass `quik`, which is not there
  edge.yaml:6:12 `quik`
  help: did you mean `quick`?
error[nothing-checked]: 0 node pools checked; 2 skipped: its ClusterClass is not among the manifests
  help: `metalmark clusters` says of each node pool why it is not known
  help: or type `--allow-empty`
1 error, 1 warning in 1 cluster; 0 node pools checked; 2 skipped: its ClusterClass is not among the manifests

"#]]);
    project("classRef: {name: quickk}")
        .run("check")
        .exit(1)
        .brief(str![[r#"
error[field-not-in-version]: Cluster `edge` has `spec.topology.classRef.name`, which `cluster.x-k8s.io/v1beta1` lacks
  edge.yaml:6:16 `name`
  help: write `spec.topology.class`
warning[reference-dangling]: Cluster `edge` refers to ClusterClass `quickk`, which is not there
  edge.yaml:6:22 `quickk`
  help: did you mean `quick`?
1 error, 1 warning in 1 cluster; 0 node pools checked; 2 skipped: its ClusterClass is not among the manifests

"#]]);
    for other in ["class: quick-2", "class: elsewhere", "class: '${quik}'"] {
        assert_eq!(
            project(other).check().of_rule("reference-dangling"),
            [""; 0],
            "{other}"
        );
    }
}

/// Cluster API gives workers no variable of the control plane, and the template of a patch then fails.
#[test]
fn a_patch_of_workers_that_reads_the_control_plane_is_refused() {
    let value = "valueFrom: {template: 'http://h/ubuntu-2404-kube-{{ .builtin.controlPlane.version }}.qcow2'}";
    with(&patch(WORKERS, value), VERSION)
        .run("check")
        .exit(0)
        .brief(str![[r#"
warning[composition-failed]: Cluster API refuses a patch of the ClusterClass `quick`: cannot read `.version` of nil; for these machines there are `builtin.cluster` and `builtin.machineDeployment`
  edge.yaml:28:31 `'http://h/ubuntu-2404-kube-{{ .builtin.controlPlane.version }}.qcow2'`
  cluster: edge
  help: fix the patch: as long as it is refused, no Cluster of the class changes
1 warning in 1 cluster; 1 node pool checked: 1 by name only; 1 skipped: Cluster API refuses a patch of its ClusterClass

"#]]);
}
