//! The image of each infrastructure provider's machines: where it is named, where it is looked up, and which record applies.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use capi::providers::PROVIDERS;
use capi::schema::Schemas;
use snapbox::{Data, str};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};

use crate::programs::crds;
use crate::support::manifests::{INFRASTRUCTURE, infrastructure, manifest, object};
use crate::support::repository;
use crate::support::stage::{Is, assert_cases, project};
use crate::workspaces::{Tree, trees};

use super::checked;

/// An object of an infrastructure provider.
fn provided(kind: &str, spec: &str) -> String {
    object(
        &format!("{INFRASTRUCTURE} {kind} edge"),
        &format!("spec: {spec}"),
    )
}

/// A MachineDeployment, or another kind, whose machines another object makes.
fn workers(kind: &str, made_by: &str) -> String {
    let template = infrastructure(made_by, "edge");
    let template = format!("{{spec: {{version: v1.31.8, infrastructureRef: {template}}}}}");
    let spec = format!("spec: {{clusterName: edge, template: {template}}}");
    object(&format!("cluster.x-k8s.io/v1beta1 {kind} edge-md"), &spec)
}

/// A MachineDeployment and its machine template with this spec.
pub(super) fn pool(kind: &str, spec: &str) -> String {
    workers("MachineDeployment", kind) + &provided(kind, &format!("{{template: {{spec: {spec}}}}}"))
}

/// A MachinePool whose machines `kind` makes.
fn machine_pool(kind: &str, spec: &str) -> String {
    workers("MachinePool", kind) + &provided(kind, spec)
}

/// A Cluster whose only pool is made from a class's template of a machine pool.
fn class(kind: &str, spec: &str) -> String {
    let kind = format!("{kind}Template");
    let topology = "spec: {topology: {class: quick, version: v1.31.8, workers: {machinePools: [{class: workers, name: p0}]}}}";
    let template = format!(
        "{{infrastructure: {{ref: {}}}}}",
        infrastructure(&kind, "edge")
    );
    let workers =
        format!("spec: {{workers: {{machinePools: [{{class: workers, template: {template}}}]}}}}");
    object("cluster.x-k8s.io/v1beta1 Cluster edge", topology)
        + &object("cluster.x-k8s.io/v1beta1 ClusterClass quick", &workers)
        + &provided(&kind, &format!("{{template: {{spec: {spec}}}}}"))
}

/// A control plane with a Docker image.
fn control_plane(kind: &str, version: &str, image: &str) -> String {
    let plane = format!("controlplane.cluster.x-k8s.io/v1beta1 {kind} edge");
    let reference =
        format!("{{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: {kind}, name: edge}}");
    let template = infrastructure("DockerMachineTemplate", "edge");
    let spec =
        format!("spec: {{version: {version}, machineTemplate: {{infrastructureRef: {template}}}}}");
    object(
        "cluster.x-k8s.io/v1beta1 Cluster edge",
        &format!("spec: {{controlPlaneRef: {reference}}}"),
    ) + &object(&plane, &spec)
        + &provided(
            "DockerMachineTemplate",
            &format!("{{template: {{spec: {{customImage: '{image}'}}}}}}"),
        )
}

/// Settings of a project with a record of that image.
fn record(k8s: &str, locations: &str) -> String {
    format!(
        "manifests: [edge.yaml]\nimages: {{records: {{img: {{k8s: {k8s}, locations: {locations}}}}}}}\n"
    )
}

/// What each provider's template names: in v1.30.2, which is another version than the pool's, where a name can say it.
#[test]
fn an_image_is_read_where_each_providers_template_names_it() {
    let named = Data::from(str![[r#"
AWSMachineTemplate {imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1700000000}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, capa-ami-ubuntu-22.04-v1.30.2-1700000000 (edge.yaml:10:45) holds 1.30.2
AWSMachineTemplate {ami: {id: ami-0123}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ami-0123 (edge.yaml:10:36)
AzureMachineTemplate {image: {computeGallery: {gallery: own, name: ubuntu-2204-kube-v1.30.2, version: 1.0.0}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2204-kube-v1.30.2 (edge.yaml:10:71) holds 1.30.2
AzureMachineTemplate {image: {id: /x/ubuntu-2404-kube-v1.30.2}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, /x/ubuntu-2404-kube-v1.30.2 (edge.yaml:10:38) holds 1.30.2
DevMachineTemplate {backend: {docker: {customImage: 'kindest/node:v1.30.2'}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2 (edge.yaml:10:58) holds 1.30.2
DockerMachineTemplate {customImage: 'kindest/node:v1.30.2'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2 (edge.yaml:10:39) holds 1.30.2
ElementalMachineTemplate {osVersionManagement: {osVersion: {imageUri: 'oci://r/ubuntu-noble-hardened-kubeadm-1-30-2:1'}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-noble-hardened-kubeadm-1-30-2:1 (edge.yaml:10:70) holds 1.30.2
GCPMachineTemplate {image: projects/own/global/images/cluster-api-ubuntu-2204-v1-30-2-1700000000}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, projects/own/global/images/cluster-api-ubuntu-2204-v1-30-2-1700000000 (edge.yaml:10:33) holds 1.30.2
HCloudMachineTemplate {imageName: ubuntu-2404-kube-v1.30.2}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2 (edge.yaml:10:37) holds 1.30.2
HetznerBareMetalMachineTemplate {installImage: {image: {url: 'https://h/ubuntu-2404-kube-v1.30.2.tar.gz'}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2.tar.gz (edge.yaml:10:54) holds 1.30.2
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {image: 'r/ubuntu-2404-kube-v1.30.2:1'}}]}}}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, r/ubuntu-2404-kube-v1.30.2:1 (edge.yaml:10:110) holds 1.30.2
Metal3MachineTemplate {image: {url: 'http://h/ubuntu-2404-kube-v1.30.2.qcow2'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2.qcow2 (edge.yaml:10:39) holds 1.30.2
OpenStackMachineTemplate {image: {filter: {name: ubuntu-2404-kube-v1.30.2}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2 (edge.yaml:10:49) holds 1.30.2
OpenStackMachineTemplate {image: {imageRef: {name: ubuntu-2404-kube-v1.30.2}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2 (edge.yaml:10:51) holds 1.30.2
OpenStackMachineTemplate {image: {id: 8f1b2c3d}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, 8f1b2c3d (edge.yaml:10:38)
OpenStackMachineTemplate {flavor: large}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its machine template names no image)
ProxmoxMachineTemplate {sourceNode: pve, templateID: 100}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, 100 (edge.yaml:10:55)
ProxmoxMachineTemplate {templateSelector: {matchTags: [ubuntu-2404-kube-v1.30.2]}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2 (edge.yaml:10:56) holds 1.30.2
ProxmoxMachineTemplate {templateSelector: {matchTags: [ubuntu, k8s]}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ubuntu,k8s (edge.yaml:10:56)
ProxmoxMachineTemplate {image: {url: 'https://h/ubuntu-2404-kube-v1.30.2.qcow2'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (the kind of its machine template is not known)
ProxmoxMachineTemplate {sourceNode: pve}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its machine template names no image)
TinkerbellMachineTemplate {imageLookupFormat: 'r/ubuntu-2404-kube-v1.30.2.gz'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, r/ubuntu-2404-kube-v1.30.2.gz (edge.yaml:10:45) holds 1.30.2
VSphereMachineTemplate {template: ubuntu-2404-kube-v1.30.2}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2404-kube-v1.30.2 (edge.yaml:10:36) holds 1.30.2
VSphereMachineTemplate {template: '', imageName: ubuntu-2204-kube-v1.30.2}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-2204-kube-v1.30.2 (edge.yaml:10:51) holds 1.30.2

"#]]);
    let text = named.render().expect("a text");
    let text = format!("\n{text}");
    assert_cases(named, pool_lines);
    // A kind without a line is skipped as naming no image, and nobody sees it.
    let kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
    for kind in kinds.filter(|kind| kind.kind.ends_with("MachineTemplate")) {
        let is_read = text.contains(&format!("\n{} {{", kind.kind));
        assert!(is_read, "{} has no line", kind.kind);
    }
}

/// What is judged of a pool whose machine template is `KIND SPEC`.
fn pool_lines(case: &str) -> Vec<String> {
    let (kind, spec) = case.split_once(' ').expect("KIND SPEC");
    manifest(pool(kind, spec)).check().pool_lines()
}

/// A provider is in both tables of its page, where each line is one.
#[test]
fn every_provider_is_on_the_page_of_providers() {
    let page = fs::read_to_string(repository().join("docs/providers.md")).expect("a page");
    for data in PROVIDERS.iter().map(|provider| provider.data()) {
        let rows = page.matches(&format!("\n| `{}` |", data.name)).count();
        assert_eq!(rows, 2, "{}", data.name);
    }
}

#[test]
fn an_image_that_the_provider_looks_up_is_neither_checked_nor_missed() {
    assert_cases(
        str![[r#"
AWSMachineTemplate {}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
AWSMachineTemplate {imageLookupFormat: 'capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
TinkerbellMachineTemplate {imageLookupFormat: '{{.BaseRegistry}}/ubuntu-{{.KubernetesVersion}}.gz'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
TinkerbellMachineTemplate {imageLookupFormat: '{{.BaseRegistry}}/ubuntu-{{.OSVersion}}.gz'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, {{.BaseRegistry}}/ubuntu-{{.OSVersion}}.gz (edge.yaml:10:45)
AzureMachineTemplate {vmSize: large}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
GCPMachineTemplate {instanceType: large}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
DockerMachineTemplate {}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)
DevMachineTemplate {backend: {docker: {}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its provider looks up an image of its version)

"#]],
        pool_lines,
    );
}

#[test]
fn a_version_in_the_pattern_of_a_lookup_is_one_of_the_image() {
    assert_cases(
        str![[r#"
AWSMachineTemplate {imageLookupFormat: 'capa-ami-{{.BaseOS}}-?1.31.8-*'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, capa-ami-{{.BaseOS}}-?1.31.8-* (edge.yaml:10:45) holds 1.31.8 (edge.yaml:10:45)
AWSMachineTemplate {imageLookupFormat: 'capa-ami-{{ .BaseOS }}-?1.30.2-*'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, capa-ami-{{ .BaseOS }}-?1.30.2-* (edge.yaml:10:45)
AWSMachineTemplate {imageLookupFormat: 'capa-ami-{{ .Values.os }}-?1.30.2-*'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image or version is a variable)
AWSMachineTemplate {imageLookupFormat: 'capa-ami-{{.BaseOS'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image or version is a variable)
TinkerbellMachineTemplate {imageLookupFormat: '{{.BaseRegistry}}/{{.OSDistro}}-{{.OSVersion}}:v1.30.2.gz'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, {{.BaseRegistry}}/{{.OSDistro}}-{{.OSVersion}}:v1.30.2.gz (edge.yaml:10:45)

"#]],
        pool_lines,
    );
}

#[test]
fn an_image_that_a_person_is_to_fill_in_is_unknown() {
    assert_cases(
        str![[r#"
Metal3MachineTemplate {image: {url: 'https://h/<IMAGE>.qcow2', checksum: a}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
Metal3MachineTemplate {image: {url: 'https://h/REPLACE_ME', checksum: a}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
Metal3MachineTemplate {image: {url: 'https://h/IMAGE.qcow2', checksum: a}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
DockerMachineTemplate {customImage: '<registry>/node:v1.30.2'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
DockerMachineTemplate {customImage: 'kindest/$(NODE)'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image or version is a variable)
DockerMachineTemplate {customImage: 'kindest/@@NODE@@'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image or version is a variable)
VSphereMachineTemplate {template: YOUR-TEMPLATE}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: '<%= image %>'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: '[[ image ]]'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: ((image))}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: '@image@'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: '%image%'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: '{image}'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: ubuntu-2404-kube-v1.31.x}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: 'oci://h/os:1.30.X.raw'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image is a placeholder)
VSphereMachineTemplate {template: ubuntu-2404-kube-1.31.x86_64}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ubuntu-2404-kube-1.31.x86_64 (edge.yaml:10:36)
VSphereMachineTemplate {template: rhel-9.x-kube-v1.31.8}
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, rhel-9.x-kube-v1.31.8 (edge.yaml:10:36) holds 1.31.8 (edge.yaml:10:36)
VSphereMachineTemplate {template: golden-1.a.x}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, golden-1.a.x (edge.yaml:10:36)
VSphereMachineTemplate {template: '[datastore] golden (copy)'}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, [datastore] golden (copy) (edge.yaml:10:36)
VSphereMachineTemplate {template: UBUNTU_22}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, UBUNTU_22 (edge.yaml:10:36)
VSphereMachineTemplate {template: XL}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, XL (edge.yaml:10:36)
AzureMachineTemplate {image: {id: /subscriptions/s/resourceGroups/RG/images/ubuntu-2404-kube-v1.31.8}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, /subscriptions/s/resourceGroups/RG/images/ubuntu-2404-kube-v1.31.8 (edge.yaml:10:38) holds 1.31.8

"#]],
        pool_lines,
    );
}

#[test]
fn the_image_of_a_machine_pool_is_found_where_stamping_writes_it() {
    assert_cases(
        str![[r#"
AWSMachinePool {awsLaunchTemplate: {ami: {id: capa-ami-ubuntu-22.04-v1.30.2-1773582653}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, capa-ami-ubuntu-22.04-v1.30.2-1773582653 (edge.yaml:10:38) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, capa-ami-ubuntu-22.04-v1.30.2-1773582653 (edge.yaml:15:56) holds 1.30.2
AzureMachinePool {template: {image: {id: /x/ubuntu-2404-kube-v1.30.2}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, /x/ubuntu-2404-kube-v1.30.2 (edge.yaml:10:31) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, /x/ubuntu-2404-kube-v1.30.2 (edge.yaml:15:49) holds 1.30.2
GCPMachinePool {image: projects/p/global/images/ubuntu-2404-kube-v1.30.2}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, projects/p/global/images/ubuntu-2404-kube-v1.30.2 (edge.yaml:10:15) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, projects/p/global/images/ubuntu-2404-kube-v1.30.2 (edge.yaml:15:33) holds 1.30.2
DockerMachinePool {template: {customImage: 'kindest/node:v1.30.2'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2 (edge.yaml:10:32) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, kindest/node:v1.30.2 (edge.yaml:15:50) holds 1.30.2
DevMachinePool {backend: {docker: {customImage: 'kindest/node:v1.30.2'}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2 (edge.yaml:10:40) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, kindest/node:v1.30.2 (edge.yaml:15:58) holds 1.30.2
DevMachinePool {template: {docker: {customImage: 'kindest/node:v1.30.2'}}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2 (edge.yaml:10:41) holds 1.30.2
    edge/p0 v1.31.8 (edge.yaml:5:42): mismatched, kindest/node:v1.30.2 (edge.yaml:15:59) holds 1.30.2

"#]],
        |case| {
            let (kind, spec) = case.split_once(' ').expect("KIND SPEC");
            let made = [machine_pool(kind, spec), class(kind, spec)];
            made.map(|text| manifest(text).check().pools).concat()
        },
    );
}

/// An object of EKS Anywhere.
pub(super) fn eks(named: &str, spec: &str) -> String {
    object(
        &format!("anywhere.eks.amazonaws.com/v1alpha1 {named}"),
        &format!("spec: {spec}"),
    )
}

#[test]
fn each_group_of_a_cluster_of_eks_anywhere_is_a_pool() {
    let spec = "
  kubernetesVersion: '1.31'
  datacenterRef: {kind: VSphereDatacenterConfig, name: edge}
  controlPlaneConfiguration: {count: 3, machineGroupRef: {kind: VSphereMachineConfig, name: edge-cp}}
  workerNodeGroupConfigurations:
  - {name: md-0, count: 2, machineGroupRef: {kind: VSphereMachineConfig, name: edge-md}}
  - {name: md-1, kubernetesVersion: '1.30', machineGroupRef: {kind: VSphereMachineConfig, name: edge-md}}";
    let text = eks("Cluster edge", spec)
        + &eks(
            "VSphereMachineConfig edge-cp",
            "{template: /dc/vm/ubuntu-v1.31.2-eks-d-1-31-12-eks-a-98-amd64}",
        )
        + &eks(
            "VSphereMachineConfig edge-md",
            "{template: /dc/vm/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64}",
        );
    manifest(text).check().is(str![[r#"
error[k8s-version-mismatch] edge/md-0 edge.yaml:21:18 `/dc/vm/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64` edge.yaml:6:22 `'1.31'` => 1.31
edge/control-plane 1.31 (edge.yaml:6:22): by_name, /dc/vm/ubuntu-v1.31.2-eks-d-1-31-12-eks-a-98-amd64 (edge.yaml:16:18) holds 1.31.2+eks-1-31-12
edge/md-0 1.31 (edge.yaml:6:22): mismatched, /dc/vm/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64 (edge.yaml:21:18) holds 1.30.4+eks-1-30-12
edge/md-1 1.30 (edge.yaml:11:37): by_name, /dc/vm/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64 (edge.yaml:21:18) holds 1.30.4+eks-1-30-12

"#]]);
}

#[test]
fn bare_metal_clusters_of_eks_anywhere_may_name_one_image_for_all() {
    let spec = "
  kubernetesVersion: '1.31'
  datacenterRef: {kind: TinkerbellDatacenterConfig, name: edge}
  controlPlaneConfiguration: {machineGroupRef: {kind: TinkerbellMachineConfig, name: edge-cp}}
  workerNodeGroupConfigurations: [{name: md-0, machineGroupRef: {kind: TinkerbellMachineConfig, name: edge-md}}]";
    let text = eks("Cluster edge", spec)
        + &eks(
            "TinkerbellDatacenterConfig edge",
            "{tinkerbellIP: 192.0.2.1}",
        )
        + &eks(
            "TinkerbellMachineConfig edge-cp",
            "{osFamily: bottlerocket}",
        )
        + &eks(
            "TinkerbellMachineConfig edge-md",
            "{osFamily: bottlerocket, hostOSConfiguration: {}}",
        );
    let project = manifest(text);
    project.check().pools(str![[r#"
edge/control-plane 1.31 (edge.yaml:6:22), edge/md-0 1.31 (edge.yaml:6:22): unknown (its provider looks up an image of its version)

"#]]);
    let image = "osImageURL: 'https://h/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64.img.gz'";
    project.edit("edge.yaml", "tinkerbellIP: 192.0.2.1", image);
    project.check().pools(str![[r#"
edge/control-plane 1.31 (edge.yaml:6:22), edge/md-0 1.31 (edge.yaml:6:22): mismatched, bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64.img.gz (edge.yaml:14:20) holds 1.30.4+eks-1-30-12

"#]]);
    let own = image.replace("1.30.4", "1.31.2").replace("1-30", "1-31");
    project.edit("edge.yaml", "hostOSConfiguration: {}", &own);
    project.check().pools(str![[r#"
edge/control-plane 1.31 (edge.yaml:6:22): mismatched, bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64.img.gz (edge.yaml:14:20) holds 1.30.4+eks-1-30-12
edge/md-0 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:24:44) holds 1.31.2+eks-1-31-12

"#]]);
}

/// What no table has, and what may write another image, makes the pools unknown that are made of it.
#[test]
fn a_field_of_eks_anywhere_that_is_not_carried_out_makes_pools_unknown() {
    let spec = "
  kubernetesVersion: '1.31'
  datacenterRef: {kind: TinkerbellDatacenterConfig, name: edge}
  controlPlaneConfiguration: {machineGroupRef: {kind: TinkerbellMachineConfig, name: edge-cp}}
  workerNodeGroupConfigurations: [{name: md-0, machineGroupRef: {kind: TinkerbellMachineConfig, name: edge-md}}]";
    let image = "osImageURL: 'https://h/bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz'";
    let text = eks("Cluster edge", spec)
        + &eks("TinkerbellDatacenterConfig edge", &format!("{{{image}}}"))
        + &eks(
            "TinkerbellMachineConfig edge-cp",
            "{osFamily: bottlerocket}",
        )
        + &eks(
            "TinkerbellMachineConfig edge-md",
            &format!("{{{image}, osFamily: ubuntu}}"),
        );
    let cases = [
        ("none", text.clone()),
        (
            "of the cluster",
            text.replacen("spec: \n", "spec: \n  later: 1\n", 1),
        ),
        ("of a machine", text.replace("osFamily: ubuntu", "later: 1")),
        (
            "of a template",
            text.replace("osFamily: bottlerocket", "templateRef: {name: a}"),
        ),
        (
            "of the datacenter",
            text.replace(
                &format!("edge}}\nspec: {{{image}}}"),
                &format!("edge}}\nspec: {{{image}, later: 1}}"),
            ),
        ),
    ];
    let cases = cases.map(|(name, text)| (name, manifest(text)));
    checked(cases).is(str![[r#"
none
    edge/control-plane 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:14:20) holds 1.31.2+eks-1-31-12
    edge/md-0 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:24:20) holds 1.31.2+eks-1-31-12
of the cluster
    warning[composition-unsupported] edge edge.yaml:6:10 `1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane 1.31 (edge.yaml:7:22), edge/md-0 1.31 (edge.yaml:7:22): unknown (a field of its manifests is not carried out here)
of a machine
    warning[composition-unsupported] edge edge.yaml:24:97 `1`
    edge/control-plane 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:14:20) holds 1.31.2+eks-1-31-12
    edge/md-0 1.31 (edge.yaml:6:22): unknown (a field of its manifests is not carried out here)
of a template
    warning[composition-unsupported] edge edge.yaml:19:21 `{name: a}`
    edge/control-plane 1.31 (edge.yaml:6:22): unknown (a field of its manifests is not carried out here)
    edge/md-0 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:24:20) holds 1.31.2+eks-1-31-12
of the datacenter
    warning[composition-unsupported] edge edge.yaml:14:97 `1`
    edge/control-plane 1.31 (edge.yaml:6:22): unknown (a field of its manifests is not carried out here)
    edge/md-0 1.31 (edge.yaml:6:22): by_name, bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz (edge.yaml:24:20) holds 1.31.2+eks-1-31-12

"#]]);
}

#[test]
fn an_artifact_is_named_before_its_tag_or_digest() {
    // A tag that is no version says nothing, and a name before it that is none neither.
    assert_cases(
        str![[r#"
oci://r.example.org/os/ubuntu-noble-hardened-kubeadm-1-30-2:0.4.12
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-noble-hardened-kubeadm-1-30-2:0.4.12 (edge.yaml:10:39) holds 1.30.2
oci://r.example.org/os/ubuntu-noble-hardened-kubeadm-1-30-2@DIGEST
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-noble-hardened-kubeadm-1-30-2@DIGEST (edge.yaml:10:39) holds 1.30.2
oci://r.example.org/os/ubuntu-noble-hardened-kubeadm-1-30-2:0.4.12@DIGEST
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, ubuntu-noble-hardened-kubeadm-1-30-2:0.4.12@DIGEST (edge.yaml:10:39) holds 1.30.2
r.example.org:5000/os/ubuntu-2404-kube-v1.30.2:1
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, r.example.org:5000/os/ubuntu-2404-kube-v1.30.2:1 (edge.yaml:10:39) holds 1.30.2
r.example.org:5000/os/ubuntu-2404-kube-v1.30.2@DIGEST
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, r.example.org:5000/os/ubuntu-2404-kube-v1.30.2@DIGEST (edge.yaml:10:39) holds 1.30.2
kindest/node:v1.30.2@DIGEST
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, kindest/node:v1.30.2@DIGEST (edge.yaml:10:39) holds 1.30.2
r.example.org/os/ubuntu:1.30.2
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, r.example.org/os/ubuntu:1.30.2 (edge.yaml:10:39)
ubuntu:22.04
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ubuntu:22.04 (edge.yaml:10:39)

"#]],
        |image| {
            let digest = format!("sha256:{}", "0a".repeat(32));
            let own = image.replace("DIGEST", &digest);
            let text = if image.starts_with("oci:") {
                pool(
                    "Metal3MachineTemplate",
                    &format!("{{image: {{url: '{own}'}}}}"),
                )
            } else {
                pool(
                    "DockerMachineTemplate",
                    &format!("{{customImage: '{own}'}}"),
                )
            };
            let lines = manifest(text).check().pools.into_iter();
            lines.map(|line| line.replace(&digest, "DIGEST")).collect()
        },
    );
}

/// As in the documentation of k0smotron, and in the tests of the provider for RKE2. A record that says no distribution means the
/// pool's.
#[test]
fn what_kubeadm_would_run_says_nothing_of_a_distribution_that_is_installed_at_boot() {
    assert_cases(
        str![[r#"
KubeadmControlPlane v1.31.2 kindest/node:v1.31.0
    error[k8s-version-mismatch] edge/control-plane edge.yaml:15:39 `'kindest/node:v1.31.0'` edge.yaml:10:17 `v1.31.2` => v1.31.2
    edge/control-plane v1.31.2 (edge.yaml:10:17): mismatched, kindest/node:v1.31.0 (edge.yaml:15:39) holds 1.31.0
K0sControlPlane v1.31.2+k0s.0 kindest/node:v1.31.0
    edge/control-plane v1.31.2+k0s.0 (edge.yaml:10:17): unproven, kindest/node:v1.31.0 (edge.yaml:15:39)
K0sControlPlane v1.31.0+k0s.0 kindest/node:v1.31.0
    edge/control-plane v1.31.0+k0s.0 (edge.yaml:10:17): unproven, kindest/node:v1.31.0 (edge.yaml:15:39)
RKE2ControlPlane v1.31.2+rke2r1 kindest/node:v1.31.0
    edge/control-plane v1.31.2+rke2r1 (edge.yaml:10:17): unproven, kindest/node:v1.31.0 (edge.yaml:15:39)
KThreesControlPlane v1.31.2+k3s1 kindest/node:v1.31.0
    edge/control-plane v1.31.2+k3s1 (edge.yaml:10:17): unproven, kindest/node:v1.31.0 (edge.yaml:15:39)
RKE2ControlPlane v1.31.2+rke2r1 r.example.org/ubuntu-noble-plain-rke2-1-30-2:1
    error[k8s-version-mismatch] edge/control-plane edge.yaml:15:39 `'r.example.org/ubuntu-noble-plain-rke2-1-30-2:1'` edge.yaml:10:17 `v1.31.2+rke2r1` => v1.31.2+rke2r1
    edge/control-plane v1.31.2+rke2r1 (edge.yaml:10:17): mismatched, r.example.org/ubuntu-noble-plain-rke2-1-30-2:1 (edge.yaml:15:39) holds 1.30.2
RKE2ControlPlane v1.31.2+rke2r1 kindest/node:v1.31.0 {version: 1.31.0}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:15:39 `'kindest/node:v1.31.0'` edge.yaml:10:17 `v1.31.2+rke2r1` metalmark.yaml:3:41 `1.31.0` => v1.31.2+rke2r1
    edge/control-plane v1.31.2+rke2r1 (edge.yaml:10:17): mismatched, img (edge.yaml:15:39) holds 1.31.0 (metalmark.yaml:3:41)
RKE2ControlPlane v1.31.2+rke2r1 kindest/node:v1.31.0 {flavor: rke2, version: 1.31.0}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:15:39 `'kindest/node:v1.31.0'` edge.yaml:10:17 `v1.31.2+rke2r1` metalmark.yaml:3:55 `1.31.0` => v1.31.2+rke2r1
    edge/control-plane v1.31.2+rke2r1 (edge.yaml:10:17): mismatched, img (edge.yaml:15:39) holds 1.31.0 (metalmark.yaml:3:55)
K0sControlPlane v1.31.2+k0s.0 kindest/node:v1.31.0 {flavor: k0s, version: 1.31.0}
    error[k8s-version-mismatch] edge/control-plane edge.yaml:15:39 `'kindest/node:v1.31.0'` edge.yaml:10:17 `v1.31.2+k0s.0` metalmark.yaml:3:54 `1.31.0` => v1.31.2+k0s.0
    edge/control-plane v1.31.2+k0s.0 (edge.yaml:10:17): mismatched, img (edge.yaml:15:39) holds 1.31.0 (metalmark.yaml:3:54)
K0sControlPlane v1.31.2+k0s.0 kindest/node:v1.31.0 {flavor: kubeadm, version: 1.31.0}
    edge/control-plane v1.31.2+k0s.0 (edge.yaml:10:17): unproven, img (edge.yaml:15:39)

"#]],
        |case| {
            let words: Vec<&str> = case.splitn(4, ' ').collect();
            let project = manifest(control_plane(words[0], words[1], words[2]));
            let project = match words.get(3) {
                Some(k8s) => project.settings(&record(
                    k8s,
                    &format!("{{docker: {{image: '{}'}}}}", words[2]),
                )),
                None => project,
            };
            let checked = project.check();
            checked.lines()
        },
    );
}

#[test]
fn a_record_applies_where_no_part_of_its_location_is_another_one() {
    // The last: nor does its key make it that of another version.
    assert_cases(
        str![[r#"
Azure {image: {computeGallery: {gallery: g, name: capi, version: 1.31.8}}} is {azure: {gallery: g, definition: capi, version: '1.31.8'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:69) holds 1.31.8 (metalmark.yaml:3:58)
Azure {image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}} is {azure: {gallery: g, definition: capi, version: '1.31.8'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, capi (edge.yaml:10:69)
Azure {image: {computeGallery: {gallery: h, name: capi, version: 1.31.8}}} is {azure: {gallery: g, definition: capi, version: '1.31.8'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, capi (edge.yaml:10:69)
Azure {image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}} is {azure: {gallery: g, definition: capi}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, capi (edge.yaml:10:69)
Azure {image: {marketplace: {publisher: p, offer: o, sku: s, version: 131.8.1}}} is {azure: {publisher: p, offer: o, sku: s, version: '131.8.1'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:77) holds 1.31.8 (metalmark.yaml:3:58)
Azure {image: {marketplace: {publisher: p, offer: o, sku: s, version: 130.2.1}}} is {azure: {publisher: p, offer: o, sku: s, version: '131.8.1'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, s (edge.yaml:10:77)
VSphere {template: noble, snapshot: k1318} is {vsphere: {template: noble, snapshot: k1318}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:36) holds 1.31.8 (metalmark.yaml:3:58)
VSphere {template: noble} is {vsphere: {template: noble, snapshot: k1318}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:36) holds 1.31.8 (metalmark.yaml:3:58)
VSphere {template: noble, snapshot: k1302} is {vsphere: {template: noble, snapshot: k1318}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, noble (edge.yaml:10:36)
VSphere {template: noble} is {glance: {name: noble}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, noble (edge.yaml:10:36)
AWS {imageLookupFormat: 'noble-*', imageLookupOrg: '1'} is {ami: {name: 'noble-*', org: '1'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:45) holds 1.31.8 (metalmark.yaml:3:58)
AWS {imageLookupFormat: 'noble-*', imageLookupOrg: '2'} is {ami: {name: 'noble-*', org: '1'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, noble-* (edge.yaml:10:45)
Proxmox {templateID: 100, sourceNode: pve} is {proxmox: {template-id: '100', node: pve}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:38) holds 1.31.8 (metalmark.yaml:3:58)
Proxmox {templateID: 100, sourceNode: other} is {proxmox: {template-id: '100', node: pve}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, 100 (edge.yaml:10:38)
Proxmox {templateID: 101, sourceNode: pve} is {proxmox: {template-id: '100', node: pve}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, 101 (edge.yaml:10:38)
Proxmox {templateSelector: {matchTags: [ubuntu, k8s]}} is {proxmox: {tags: 'ubuntu,k8s'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:56) holds 1.31.8 (metalmark.yaml:3:58)
Proxmox {templateSelector: {matchTags: [ubuntu]}} is {proxmox: {tags: 'ubuntu,k8s'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ubuntu (edge.yaml:10:56)
Azure {image: {computeGallery: {gallery: g, name: img, version: 1.30.2}}} is {azure: {gallery: g, definition: img, version: '1.31.8'}}
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, img (edge.yaml:10:69)

"#]],
        |case| {
            let (provider, case) = case.split_once(' ').expect("PROVIDER SPEC is LOCATIONS");
            let (spec, locations) = case.split_once(" is ").expect("SPEC is LOCATIONS");
            let text = pool(&format!("{provider}MachineTemplate"), spec);
            let record = record("{flavor: kubeadm, version: 1.31.8}", locations);
            manifest(text).settings(&record).check().pool_lines()
        },
    );
}

#[test]
fn of_two_records_the_one_of_the_version_counts_and_one_without_any_leaves_that_of_the_name() {
    let spec = "{image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}}";
    let one = |key: &str, version: &str| {
        format!(
            "{key}: {{k8s: {{version: {version}}}, locations: {{azure: {{gallery: g, definition: capi, version: '{version}'}}}}}}"
        )
    };
    let two = format!(
        "images: {{records: {{{}, {}}}}}\n",
        one("old", "1.30.2"),
        one("new", "1.31.8")
    );
    let project = manifest(pool("AzureMachineTemplate", spec)).settings("manifests: [edge.yaml]");
    project.settings(&two).check().pools(str![[r#"
edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, old (edge.yaml:10:69) holds 1.30.2 (metalmark.yaml:3:41)

"#]]);
    let name = "ubuntu-2204-kube-v1.30.2";
    let named = manifest(pool(
        "OpenStackMachineTemplate",
        &format!("{{image: {{filter: {{name: {name}}}}}}}"),
    ));
    named
        .settings(&record("{}", &format!("{{glance: {{name: {name}}}}}")))
        .check()
        .pools(str![[r#"
edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, img (edge.yaml:10:49) holds 1.30.2 (metalmark.yaml:3:62)

"#]]);
}

/// The objects that all workspaces render: apiVersion and kind, with the problems against the CRDs that are given.
fn golden_objects(schemas: &Schemas) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for text in trees().iter().flat_map(Tree::texts) {
        let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
        let documents = read.documents.iter();
        // Values files are no objects.
        for object in documents.filter(|it| it.get_path(&["apiVersion"]).is_some()) {
            let word = |key: &str| object.text(&[key]).expect("an object").to_owned();
            let problems = schemas.check(object).into_iter();
            let problems = problems.map(|it| format!("{}: {}", it.path, it.message));
            found.push((
                format!("{} {}", word("apiVersion"), word("kind")),
                problems.collect(),
            ));
        }
    }
    found
}

#[test]
fn every_template_of_every_provider_is_in_a_golden_tree_in_each_version() {
    let golden = golden_objects(&Schemas::new([]));
    let golden: BTreeSet<&str> = golden.iter().map(|(kind, _)| &**kind).collect();
    let kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
    for kind in kinds.filter(|kind| kind.is_template()) {
        for version in kind.versions {
            let object = format!("{}/{version} {}", kind.group, kind.kind);
            assert!(golden.contains(&*object), "no golden {object}");
        }
    }
}

#[test]
fn what_is_rendered_fits_the_providers_crds() {
    let Some(folder) = crds() else {
        return;
    };
    let ends = [
        "machinetemplates.yaml",
        "clusters.yaml",
        "clustertemplates.yaml",
        "registrations.yaml",
    ];
    let files = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter();
    let files = files.map(|entry| {
        entry
            .expect("readable")
            .into_path()
            .to_string_lossy()
            .into_owned()
    });
    let sources = files
        .filter(|path| ends.iter().any(|end| path.ends_with(end)))
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            Arc::new(Source::new(path, text))
        });
    let schemas = Schemas::new(sources);
    assert!(schemas.len() >= PROVIDERS.len(), "{} CRDs", schemas.len());
    let objects = golden_objects(&schemas);
    assert!(objects.len() >= 40, "{} objects", objects.len());
    for (object, problems) in objects {
        assert_eq!(problems, Vec::<String>::new(), "{object}");
    }
}

/// One record serves every provider: a host pulls the artifact, and Metal3 fetches the file. The proposal's `url` is where an
/// image is served, whatever the template of URLs says.
#[test]
fn an_image_is_fetched_from_the_location_that_its_provider_needs() {
    let sha = "a".repeat(64);
    let facts = |format: &str| {
        format!(
            "images: {{records: {{noble: {{k8s: {{flavor: kubeadm, version: 1.31.8}}, format: {format}, digests: {{uncompressed: {{sha256: '{sha}'}}}}, \
             locations: {{https: 'https://h/noble.raw', oci: 'oci://r.example.org/noble:1'}}}}}}}}\n"
        )
    };
    let info = format!(
        "os_images_info:\n  noble: {{url: 'https://my.server/real-name.qcow2', checksum: '{sha}', checksumType: sha256, format: qcow2, k8s-flavor: kubeadm, k8s-version: 1.31.8}}\n"
    );
    let cases = [
        ("capm3", facts("raw"), "url: https://h/noble.raw"),
        (
            "elemental",
            facts("container"),
            "imageUri: oci://r.example.org/noble:1",
        ),
        (
            "capm3",
            "images: {facts: [info.yaml]}\n".to_owned(),
            "url: https://my.server/real-name.qcow2",
        ),
    ];
    for (provider, images, line) in cases {
        let values = format!(
            "cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: {provider}, bootstrap_provider: cabpk}}, {provider}: {{image_key: noble}}}}\n"
        );
        let project = project().cluster("edge", &values).file("info.yaml", &info);
        let project = project.settings(&format!(
            "outputs: [{{target: manifests, path: out}}]\n{images}"
        ));
        project.run("render").exit(0);
        let files = project
            .list("out")
            .into_iter()
            .filter(|path| path.ends_with(".yaml"));
        let text: String = files
            .map(|path| project.read(&format!("out/{path}")))
            .collect();
        assert!(text.contains(line), "{provider}: {text}");
    }
}
