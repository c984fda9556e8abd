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

/// The last line of `check` where a record of `locations` is beside a template of `kind` with `spec`.
fn with_record(kind: &str, spec: &str, locations: &str) -> String {
    let project = format!(
        "version: 1\nmanifests: [edge.yaml]\nimages: {{records: {{img: {{k8s: {{flavor: kubeadm, version: 1.31.8}}, locations: {locations}}}}}}}\n"
    );
    summary(&[
        ("edge.yaml", &pool(kind, spec)),
        ("metalmark.yaml", &project),
    ])
}

#[test]
fn a_record_applies_where_no_part_of_its_location_is_another_one() {
    let gallery = "{azure: {gallery: g, definition: capi, version: '1.31.8'}}";
    let offer = "{azure: {publisher: p, offer: o, sku: s, version: '131.8.1'}}";
    let snapshot = "{vsphere: {template: noble, snapshot: k1318}}";
    let lookup = "{ami: {name: 'noble-*', org: '1'}}";
    for (kind, spec, locations, is_it) in [
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: g, name: capi, version: 1.31.8}}}",
            gallery,
            true,
        ),
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}}",
            gallery,
            false,
        ),
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: h, name: capi, version: 1.31.8}}}",
            gallery,
            false,
        ),
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}}",
            "{azure: {gallery: g, definition: capi}}",
            false,
        ),
        (
            "AzureMachineTemplate",
            "{image: {marketplace: {publisher: p, offer: o, sku: s, version: 131.8.1}}}",
            offer,
            true,
        ),
        (
            "AzureMachineTemplate",
            "{image: {marketplace: {publisher: p, offer: o, sku: s, version: 130.2.1}}}",
            offer,
            false,
        ),
        (
            "VSphereMachineTemplate",
            "{template: noble, snapshot: k1318}",
            snapshot,
            true,
        ),
        (
            "VSphereMachineTemplate",
            "{template: noble}",
            snapshot,
            true,
        ),
        (
            "VSphereMachineTemplate",
            "{template: noble, snapshot: k1302}",
            snapshot,
            false,
        ),
        (
            "VSphereMachineTemplate",
            "{template: noble}",
            "{glance: {name: noble}}",
            false,
        ),
        (
            "AWSMachineTemplate",
            "{imageLookupFormat: 'noble-*', imageLookupOrg: '1'}",
            lookup,
            true,
        ),
        (
            "AWSMachineTemplate",
            "{imageLookupFormat: 'noble-*', imageLookupOrg: '2'}",
            lookup,
            false,
        ),
        // Nor does its key make it that of another version.
        (
            "AzureMachineTemplate",
            "{image: {computeGallery: {gallery: g, name: img, version: 1.30.2}}}",
            "{azure: {gallery: g, definition: img, version: '1.31.8'}}",
            false,
        ),
    ] {
        let line = with_record(kind, spec, locations);
        let end = if is_it { "1 proven" } else { "1 unproven" };
        assert!(line.ends_with(end), "{kind} {spec} {locations}: {line}");
    }
}

#[test]
fn of_two_versions_of_a_gallerys_image_the_template_names_one() {
    let spec = "{image: {computeGallery: {gallery: g, name: capi, version: 1.30.2}}}";
    let record = |version: &str| {
        format!(
            "    k-{}: {{k8s: {{version: {version}}}, locations: {{azure: {{gallery: g, definition: capi, version: '{version}'}}}}}}\n",
            version.replace('.', "-")
        )
    };
    let project = format!(
        "version: 1\nmanifests: [edge.yaml]\nimages:\n  records:\n{}{}",
        record("1.30.2"),
        record("1.31.8")
    );
    let line = summary(&[
        ("edge.yaml", &pool("AzureMachineTemplate", spec)),
        ("metalmark.yaml", &project),
    ]);
    assert!(line.ends_with("1 mismatched"), "{line}");
}

/// A MachinePool whose machines `kind` makes.
fn machine_pool(kind: &str, spec: &str) -> String {
    let pool = pool(kind, "").replace("kind: MachineDeployment", "kind: MachinePool");
    pool.replace("spec: {template: {spec: }}", &format!("spec: {spec}"))
}

#[test]
fn the_image_of_a_machine_pool_is_found_where_stamping_writes_it() {
    for (kind, spec) in [
        (
            "AWSMachinePool",
            "{awsLaunchTemplate: {ami: {id: capa-ami-ubuntu-22.04-v1.30.2-1773582653}}}",
        ),
        (
            "AzureMachinePool",
            "{template: {image: {id: /x/ubuntu-2404-kube-v1.30.2}}}",
        ),
        (
            "GCPMachinePool",
            "{image: projects/p/global/images/ubuntu-2404-kube-v1.30.2}",
        ),
        (
            "DockerMachinePool",
            "{template: {customImage: 'kindest/node:v1.30.2'}}",
        ),
        (
            "DevMachinePool",
            "{backend: {docker: {customImage: 'kindest/node:v1.30.2'}}}",
        ),
        (
            "DevMachinePool",
            "{template: {docker: {customImage: 'kindest/node:v1.30.2'}}}",
        ),
    ] {
        let line = summary(&[("edge.yaml", &machine_pool(kind, spec))]);
        assert!(line.ends_with("1 mismatched"), "{kind} {spec}: {line}");
    }
}

#[test]
fn the_pools_of_a_class_are_made_from_templates_of_pools() {
    for (kind, spec) in [
        (
            "AWSMachinePool",
            "{awsLaunchTemplate: {ami: {id: capa-ami-ubuntu-22.04-v1.30.2-1773582653}}}",
        ),
        (
            "AzureMachinePool",
            "{template: {image: {id: /x/ubuntu-2404-kube-v1.30.2}}}",
        ),
        (
            "DockerMachinePool",
            "{template: {customImage: 'kindest/node:v1.30.2'}}",
        ),
        (
            "DevMachinePool",
            "{backend: {docker: {customImage: 'kindest/node:v1.30.2'}}}",
        ),
    ] {
        let class = format!(
            "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec:
  topology:
    class: quick
    version: v1.31.8
    workers: {{machinePools: [{{class: workers, name: p0}}]}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {{name: quick}}
spec:
  workers:
    machinePools:
    - class: workers
      template:
        infrastructure:
          ref: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: {kind}Template, name: p}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: {kind}Template
metadata: {{name: p}}
spec: {{template: {{spec: {spec}}}}}
"
        );
        let line = summary(&[("edge.yaml", &class)]);
        assert!(line.contains("1 mismatched"), "{kind} {spec}: {line}");
    }
}

/// A control plane with a Docker image.
fn control_plane(kind: &str, version: &str, image: &str) -> String {
    format!(
        "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec: {{controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: {kind}, name: edge}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: {kind}
metadata: {{name: edge}}
spec:
  version: {version}
  machineTemplate:
    infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DockerMachineTemplate, name: edge}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DockerMachineTemplate
metadata: {{name: edge}}
spec: {{template: {{spec: {{customImage: '{image}'}}}}}}
"
    )
}

/// As in the documentation of k0smotron, and in the tests of the provider for RKE2.
#[test]
fn what_kubeadm_would_run_says_nothing_of_a_distribution_that_is_installed_at_boot() {
    let kind = "kindest/node:v1.31.0";
    for (plane, version, image, end) in [
        ("KubeadmControlPlane", "v1.31.2", kind, "1 mismatched"),
        ("K0sControlPlane", "v1.31.2+k0s.0", kind, "1 unproven"),
        ("K0sControlPlane", "v1.31.0+k0s.0", kind, "1 unproven"),
        ("RKE2ControlPlane", "v1.31.2+rke2r1", kind, "1 unproven"),
        ("KThreesControlPlane", "v1.31.2+k3s1", kind, "1 unproven"),
        (
            "RKE2ControlPlane",
            "v1.31.2+rke2r1",
            "r.example.org/ubuntu-noble-plain-rke2-1-30-2:1",
            "1 mismatched",
        ),
    ] {
        let text = control_plane(plane, version, image);
        let line = summary(&[("edge.yaml", &text)]);
        assert!(line.ends_with(end), "{plane} {version} {image}: {line}");
    }
    for (plane, version, flavor, end) in [
        // A record that says no distribution means the pool's.
        ("RKE2ControlPlane", "v1.31.2+rke2r1", "", "1 mismatched"),
        (
            "RKE2ControlPlane",
            "v1.31.2+rke2r1",
            "flavor: rke2, ",
            "1 mismatched",
        ),
        (
            "K0sControlPlane",
            "v1.31.2+k0s.0",
            "flavor: k0s, ",
            "1 mismatched",
        ),
        (
            "K0sControlPlane",
            "v1.31.2+k0s.0",
            "flavor: kubeadm, ",
            "no findings in 1 cluster; 1 node pool checked: 1 unproven",
        ),
    ] {
        let text = control_plane(plane, version, kind);
        let project = format!(
            "version: 1\nmanifests: [edge.yaml]\nimages: {{records: {{img: {{k8s: {{{flavor}version: 1.31.0}}, locations: {{docker: {{image: '{kind}'}}}}}}}}}}\n"
        );
        let line = summary(&[("edge.yaml", &text), ("metalmark.yaml", &project)]);
        assert!(line.ends_with(end), "{plane} {flavor}: {line}");
    }
}

#[test]
fn an_artifact_is_named_before_its_tag_or_digest() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    let disk = |image: &str| {
        format!(
            "{{virtualMachineTemplate: {{spec: {{template: {{spec: {{volumes: [{{containerDisk: {{image: '{image}'}}}}]}}}}}}}}}}"
        )
    };
    let dib = "registry.example.org/os/ubuntu-noble-hardened-kubeadm-1-30-2";
    let kube = "registry.example.org:5000/os/ubuntu-2404-kube-v1.30.2";
    for (kind, spec) in [
        (
            "Metal3MachineTemplate",
            format!("{{image: {{url: 'oci://{dib}:0.4.12'}}}}"),
        ),
        (
            "Metal3MachineTemplate",
            format!("{{image: {{url: 'oci://{dib}@{digest}'}}}}"),
        ),
        (
            "Metal3MachineTemplate",
            format!("{{image: {{url: 'oci://{dib}:0.4.12@{digest}'}}}}"),
        ),
        ("KubevirtMachineTemplate", disk(&format!("{kube}:1"))),
        ("KubevirtMachineTemplate", disk(&format!("{kube}@{digest}"))),
        (
            "DockerMachineTemplate",
            format!("{{customImage: 'kindest/node:v1.30.2@{digest}'}}"),
        ),
    ] {
        let line = summary(&[("edge.yaml", &pool(kind, &spec))]);
        assert!(line.ends_with("1 mismatched"), "{kind} {spec}: {line}");
    }
    // A tag that is no version says nothing, and a name before it that is none neither.
    for image in ["registry.example.org/os/ubuntu:1.30.2", "ubuntu:22.04"] {
        let line = summary(&[(
            "edge.yaml",
            &pool(
                "DockerMachineTemplate",
                &format!("{{customImage: '{image}'}}"),
            ),
        )]);
        assert!(line.ends_with("1 unproven"), "{image}: {line}");
    }
}
