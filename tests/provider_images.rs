//! Images of providers that do not name one in each machine template: those that look images up, and EKS Anywhere.

use super::plain_manifests::{check, summary};

/// A MachineDeployment and its machine template with this spec.
fn pool(kind: &str, spec: &str) -> String {
    format!(
        "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: edge-md}}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.31.8
      infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: {kind}, name: edge}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: {kind}
metadata: {{name: edge}}
spec: {{template: {{spec: {spec}}}}}
"
    )
}

#[test]
fn an_image_that_the_provider_looks_up_is_neither_checked_nor_missed() {
    let looked_up = "1 skipped: its provider looks up an image of its version";
    let by_name = "1 node pool checked: 1 by name only";
    let mismatched = "1 node pool checked: 1 mismatched";
    let unproven = "1 node pool checked: 1 unproven";
    let no_image = "1 skipped: its machine template names no image";
    for (kind, spec, end) in [
        ("AWSMachineTemplate", "{}", looked_up),
        (
            "AWSMachineTemplate",
            "{imageLookupFormat: 'capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*'}",
            looked_up,
        ),
        (
            "AWSMachineTemplate",
            "{imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1700000000}",
            mismatched,
        ),
        ("AWSMachineTemplate", "{ami: {id: ami-0123}}", unproven),
        ("AzureMachineTemplate", "{vmSize: large}", looked_up),
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: own, name: ubuntu-2204-kube-v1.31.8, version: 1.0.0}}}",
            by_name,
        ),
        ("GCPMachineTemplate", "{instanceType: large}", looked_up),
        (
            "GCPMachineTemplate",
            "{image: projects/own/global/images/cluster-api-ubuntu-2204-v1-30-2-1700000000}",
            mismatched,
        ),
        ("DockerMachineTemplate", "{}", looked_up),
        (
            "DockerMachineTemplate",
            "{customImage: 'kindest/node:v1.30.2'}",
            mismatched,
        ),
        ("DevMachineTemplate", "{backend: {docker: {}}}", looked_up),
        ("OpenStackMachineTemplate", "{flavor: large}", no_image),
    ] {
        let line = summary(&[("edge.yaml", &pool(kind, spec))]);
        assert!(line.ends_with(end), "{kind} {spec}: {line}");
    }
}

const EKS: &str = "\
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
metadata: {name: edge}
spec:
  kubernetesVersion: '1.31'
  datacenterRef: {kind: VSphereDatacenterConfig, name: edge}
  controlPlaneConfiguration:
    count: 3
    machineGroupRef: {kind: VSphereMachineConfig, name: edge-cp}
  workerNodeGroupConfigurations:
  - name: md-0
    count: 2
    machineGroupRef: {kind: VSphereMachineConfig, name: edge-md}
  - name: md-1
    count: 2
    kubernetesVersion: '1.30'
    machineGroupRef: {kind: VSphereMachineConfig, name: edge-md}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: VSphereMachineConfig
metadata: {name: edge-cp}
spec: {template: /dc/vm/templates/ubuntu-v1.31.2-eks-d-1-31-12-eks-a-98-amd64}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: VSphereMachineConfig
metadata: {name: edge-md}
spec: {template: /dc/vm/templates/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64}
";

#[test]
fn each_group_of_a_cluster_of_eks_anywhere_is_a_pool() {
    let (screen, status) = check(&[("edge.yaml", EKS)]);
    assert_eq!(status, 1, "{screen}");
    assert!(
        screen.contains("holds Kubernetes `1.30.4`, not `1.31`"),
        "{screen}"
    );
    assert!(screen.contains("edge.yaml:27:18"), "{screen}");
    assert!(screen.contains("= cluster: edge, pool md-0"), "{screen}");
    let last = "1 error in 1 cluster; 3 node pools checked: 2 by name only, 1 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
}

#[test]
fn bare_metal_clusters_of_eks_anywhere_may_name_one_image_for_all() {
    let image =
        "https://images.example.org/bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64.img.gz";
    let own = "https://images.example.org/bottlerocket-v1.31.2-eks-d-1-31-12-eks-a-98-amd64.img.gz";
    let cluster = |of_all: &str, of_workers: &str| {
        format!(
            "\
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: Cluster
metadata: {{name: edge}}
spec:
  kubernetesVersion: '1.31'
  datacenterRef: {{kind: TinkerbellDatacenterConfig, name: edge}}
  controlPlaneConfiguration:
    machineGroupRef: {{kind: TinkerbellMachineConfig, name: edge-cp}}
  workerNodeGroupConfigurations:
  - {{name: md-0, machineGroupRef: {{kind: TinkerbellMachineConfig, name: edge-md}}}}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: TinkerbellDatacenterConfig
metadata: {{name: edge}}
spec: {{tinkerbellIP: 192.0.2.1{of_all}}}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: TinkerbellMachineConfig
metadata: {{name: edge-cp}}
spec: {{osFamily: bottlerocket}}
---
apiVersion: anywhere.eks.amazonaws.com/v1alpha1
kind: TinkerbellMachineConfig
metadata: {{name: edge-md}}
spec: {{osFamily: bottlerocket{of_workers}}}
"
        )
    };
    let named = |url: &str| format!(", osImageURL: '{url}'");
    for (of_all, of_workers, end) in [
        (
            "",
            "",
            "2 skipped: its provider looks up an image of its version",
        ),
        (image, "", "2 node pools checked: 2 mismatched"),
        (
            image,
            own,
            "2 node pools checked: 1 by name only, 1 mismatched",
        ),
    ] {
        let [of_all, of_workers] = [of_all, of_workers].map(|url| match url {
            "" => String::new(),
            url => named(url),
        });
        let line = summary(&[("edge.yaml", &cluster(&of_all, &of_workers))]);
        assert!(line.ends_with(end), "{line}");
    }
}

#[test]
fn a_record_without_a_version_leaves_the_one_in_the_name() {
    let pool = pool(
        "OpenStackMachineTemplate",
        "{image: {filter: {name: ubuntu-2204-kube-v1.30.2}}}",
    );
    let record = "\
version: 1
manifests: [edge.yaml]
images: {records: {noble: {locations: {glance: {name: ubuntu-2204-kube-v1.30.2}}}}}
";
    for (project, end) in [
        ("version: 1\nmanifests: [edge.yaml]\n", "1 mismatched"),
        (record, "1 mismatched"),
    ] {
        let line = summary(&[("edge.yaml", &pool), ("metalmark.yaml", project)]);
        assert!(line.ends_with(end), "{line}");
    }
}
