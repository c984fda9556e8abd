//! Kubernetes versions in any text of any machine template: which are found, and which numbers are something else.

use snapbox::str;

use crate::support::manifests::{cluster, manifest};
use crate::support::stage::{Is, Stage, assert_cases, assert_text, project};

use super::checked;
use super::providers::{eks, pool};

/// The rules that find another version in what names an image.
const RULES: [&str; 2] = ["k8s-version-suspected", "k8s-version-mismatch"];

/// A pool of v1.31.8 with a machine template `KIND SPEC`, or one of vSphere with a template of that name.
fn pool_of_case(case: &str) -> String {
    match case.split_once(" {") {
        Some((kind, spec)) => pool(kind, &format!("{{{spec}")),
        None => pool("VSphereMachineTemplate", &format!("{{template: '{case}'}}")),
    }
}

/// What is found in the machine template of a case.
fn version_findings(case: &str) -> Vec<String> {
    let found = manifest(pool_of_case(case)).check();
    let found = RULES.iter().flat_map(|rule| found.of_rule(rule));
    found
        .map(|line| {
            let line = line.split(" edge.yaml:5:").next().unwrap_or_default();
            line.replace(&format!("`'{case}'`"), "its name")
        })
        .collect()
}

/// Images of public repositories, of builders and of providers' documentation, each of another version than 1.33.9.
const OTHER_VERSIONS: &str = r#"
quay.io/capk/ubuntu-2404-container-disk:v1.32.1
ubuntu-2404-node-k8s-v1.35.4
AzureMachineTemplate {image: {computeGallery: {gallery: ClusterAPI-f72ceb4f, name: capi-ubun2-2404, version: 1.31.4}}}
kind/node:v1.21.2-eks-d-1-21-4-eks-a-1
GCPMachineTemplate {image: 'projects/p/global/images/cluster-api-ubuntu-2004-v1-23-10-1670054207 '}
rocky-9-kube-v1.31.2
Ubuntu-2204-Kube-v1.31.2
flatcar-stable-4152.2.3-kube-1.30.11-tooling-1.26.0-gs
oci://r.example.org/os/ubuntu-2404-kube:v1.31.2
OpenStackMachineTemplate {image: {imageRef: {name: ubuntu-2204-kube-v1-31-2}}}
ubuntu-22.04-k8s-1.31.2
ubuntu-jammy-kubernetes-1.31.2
capi-ubuntu-22.04-v1.31.2
/DC/vm/Templates/ubuntu-2204-1-27
VCDMachineTemplate {catalog: c, template: 'ubuntu-2004-kube-v1.25.7+vmware.2-tkg.1-8795debf8031d8e671660af83b673daa'}
OscMachineTemplate {node: {image: {name: ubuntu-2204-kubernetes-v1.31.13-2026-03-06}}}
OscMachineTemplate {node: {image: {name: ubuntu-2204-2204-kubernetes-v1.22.11-2022-08-22}}}
ElementalMachineTemplate {osVersionManagement: {osVersion: {imageUri: 'oci://r.example.org/elemental-ubuntu:v1.32.2'}}}
ProxmoxMachineTemplate {templateSelector: {matchTags: [kube-v1.31.4]}}
DOMachineTemplate {image: Cluster API Kubernetes v1.28.9 on Ubuntu 24.04}
ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64
photon-3-k8s-v1.25.7---vmware.3-fips.1-tkg.1
Metal3MachineTemplate {image: {url: 'http://i.example.org/ubuntu-2404-kube-v1.34.1.raw', checksum: 'http://i.example.org/ubuntu-2404-kube-v1.34.1.raw.sha256sum', format: raw}}
ubuntu-jammy-plain-rke2-1-31-4
ubuntu-noble-hardened-rke2-1.34.1.qcow2
opensuse-15-6-plain-kubeadm-1-32-5
UBUNTU_22.04_NODE_IMAGE_K8S_v1.29.0
CENTOS_10_NODE_IMAGE_K8S_v1.34.1.qcow2
capa-ami-ubuntu-22.04-v1.35.2-1773582653
cluster-api-ubuntu-2404-v1-34-3-1770640807
cluster-api-ubuntu-2204-v1-27-3-nightly
capi-ubuntu-2404-k8s-v1-32
capibm-powervs-centos-streams9-1-32-3
capibm-powervs-centos-streams10-1-34-7.ova.gz
ubuntu-2204-kube-v1.31.4
rockylinux-9-kube-v1.32.4
ubuntu-2404-arm64-kube-v1.32.4
ubuntu-capi-image-v1.32.5
ubuntu-capi-image v1.32
ubuntu-22.04-v1.32.1.qcow2
rockylinux-9-v1.31.4.raw.gz
Cluster API Kubernetes v1.32.4 on Ubuntu 22.04
kairos-ubuntu-24.04-standard-amd64-generic-v3.5.0-k3sv1.31.4+k3s1
kubernetes-v1.31.2-x86-64.raw
nkp-rocky-9.6-release-cis-1.34.1-20251219225533.qcow2
nkp-rocky-9.4-1.29.5-20240618222417
bottlerocket-v1.30.4-eks-d-1-30-12-eks-a-98-amd64
bottlerocket-aws-k8s-1.32-x86_64-v1.26.2-360b7a38
amazon-eks-node-1.32-v20250519
AWSMachineTemplate {ami: {id: 'resolve:ssm:/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id'}}
docker.io/kindest/node:v1.32.2
DockerMachineTemplate {customImage: 'kindest/node:v1.31.4'}
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {image: 'quay.io/capk/ubuntu-2204-container-disk:v1.32.1'}}]}}}}}
AzureMachineTemplate {image: {marketplace: {publisher: cncf-upstream, offer: capi, sku: k8s-1dot25dot4-ubuntu-2204-gen1, version: latest}}}
UnknownMachineTemplate {source: {registry: {url: 'docker://linkinghack/capch-disk-cdi-1.31.4:jammy-0802'}}}
MaasMachineTemplate {image: custom/u2204-k1-32-4}
ubuntu2404k8s1.31.7
capc-ubuntu24-1.35
u-2204-0-k-1335-0
OCIMachineTemplate {imageId: ocid1.image.oc1, kubernetesVersion: v1.32.1}
k3s-v1.31.4+k3s1-ubuntu-22.04
SLE-Micro-5.5-rke2-1.31.4
golden_1_31_2
golden-1.25.3.qcow2
node-1.25.3
noble-plain-1.25.3
ubuntu-lts-1.25.3
flatcar-stable-1.25.3
rhel-uefi-1.29.3
http://i/1.33.x/golden-v1.29.3.qcow2
ubuntu-containerd-1.7.x-kube-v1.28.3
kubeadm/v1.32.0/ubuntu/24.04/kvm
kube-v1.32/ubuntu-2404-custom
tpl-ubuntu-2204-rke2-v1.26.9+rke2r1
/DC/vm/Templates/ubuntu-v1.32.6-kubernetes-1-32-eks-4-amd64-b7b3eb5
DockerMachineTemplate {customImage: 'registry.example.org/rke2-in-docker:0.2.1-v1.31.9rke2r1'}
ghcr.io/acme/capk-images/ubuntu:noble-1.32.3
release-cis-1.25.4-20221208010000
noble-gpu-550-1.31.4.raw
ubuntu-2204-kube-v1-32-2
ubuntu-2004-kube-v1.25.7+vmware.2-tkg.1-8795debf8031d8e671660af83b673daa
ubuntu-2204-kubernetes-v1.32.13-2026-03-06
kube_v1_32_2
k8s-1dot25dot4-ubuntu-2204
golden-1.32.2
golden-image-v1.32.2.qcow2
images/1.32.2/node.raw
worker_1_32_2_20250101
rke2-1.32.2-sles-15
k3sv1.33.1+k3s1-image
ubuntu-noble-rke2-v1.32.2-rke2r1
r.example.org/os/node:1.32.2@sha256:0a0a
[datastore] templates/rhel9-k8s-v1.32.2
Kubernetes 1.32.2 on Rocky 9.4
kubernetes-node-1.32
k8s-worker-ubuntu-22.04-20250101-1.32.2
almalinux-9.4-1.32.2-gen2
microos.x86_64-16.0.0-kubeadm-1.32.2
my-image-kubeadm1.32.2
debian-12-genericcloud-amd64-v1.32.2-20240717-1811
linux-6.8.0-45-k8s-1.32.2
ubuntu-24-04-1-32-2
sles15sp6-v1.32.2-build.7
capi-node-1.32.2-rc.1
node-image-1-32-2-arm64
windows-2022-1.32.2
ghcr.io/acme/cluster-api-node:v1.32.2
ghcr.io/image-builder/ubuntu:v1.32.2
http://i/cluster-api/v1.32.2/ubuntu.raw
talos-v1.10.3-k8s-1.32.2
"#;

/// Names with numbers that are no other version of Kubernetes than 1.33.9: of systems, programs, networks, dates.
const TRAPS: &str = r#"
nginx-1.25.3
nginx-1.25.3-ubuntu-2204
ubuntu-2204-nginx-1.26.2
library/nginx:1.25.3
ubuntu-24.04-glibc-1.23.4
glibc-1.23.4-base
ubuntu-2204-consul-1.19.2
ubuntu-2204-vault-1.18.2
terraform-1.13.3-runner
golden-openssl-1.11.1
ubuntu-22.04-python-1.12.3
rust-1.28.0-builder
ubuntu-22.04
ubuntu-24.04.1-live-server
rocky-9.4
flatcar-stable-4152.2.3
debian-12-genericcloud-amd64-20240717-1811
windows-2022
talos-v1.32.0
talos-1.12.0-metal-amd64
ghcr.io/siderolabs/installer:v1.31.5
bottlerocket-v1.26.2
ubuntu-2204-containerd-1.32.2
ubuntu-2404-cri-o-1.30.2
ubuntu-cni-v1.32.0
node-kube-proxy-v1.30.1
kube-vip:v1.30.0
cilium-1.32.3
istio-1.32.3
calico-v1.31.0
ubuntu-etcd-1.31.0
ubuntu-2404-image-builder-v1.32.0
packer-1.30.2-ubuntu-2404
diskimage-builder-1.32.0-noble
golden-2404-build-1.32.3
helm-chart-1.34.2
gpu-operator-1.30.1
nvidia-container-toolkit-1.32.4
registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.1
registry.k8s.io/autoscaling/cluster-autoscaler:v1.30.0
golden-2024-12-11
golden-2024-1-12
golden-2025.1.12
golden-20250112
node-10.1.31.3
node-1.31.30.4
m6i.1xlarge-1
ami-0a1b2c3d4e5f60718
8f1b2c3d-0000-4000-8000-000000000001
eks-a-1.31.0
ubuntu-eks-d-1-31-9
ubuntu-2404-go1.31.3
golden-1.32
golden-1.0.7
golden-3.14.159
node-kube-v1.31.x
golden-1.30.1-and-1.29.2
ubuntu-2404-kube-v1.33.9
http://img-1-31-2.lab/golden.raw
AWSMachineTemplate {ami: {id: ami-1}, instanceType: m6i.large, sshKeyName: key-k8s-1.30, iamInstanceProfile: nodes-k8s-1.30}
OpenStackMachineTemplate {flavor: m1.31.13, image: {id: x}, tags: [release-1.31.2, 'cni=1.31.0']}
VSphereMachineTemplate {template: golden, server: 10.1.31.3, network: {devices: [{gatewayV4: 10.1.31.1}]}}
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {image: golden}}, {cloudInitNoCloud: {userData: 'curl https://h/cilium/v1.31.3/x; CNI_VERSION=v1.31.0'}}]}}}}}
rust-1.31.0-builder
ubuntu-24.04-cri-o-v1.32.1
HarvesterMachineTemplate {volumes: [{imageName: default/harvester-v1.4.2-amd64}], networks: [rack-1.31]}
OpenStackMachineTemplate {image: {id: x}, serverMetadata: {ccm: v1.32.0}, sshKeyName: ops-1.32.1}
UnknownMachineTemplate {osVersion: 1.31.3, chart: 1.31.2, agentVersion: 1.31.0, release: v1.31.0}
"#;

/// The cases that are an error beside machines of v1.33.9, a warning, and those that are not found: each is a cluster of its own, in one
/// run.
fn split_by_finding(cases: &str) -> [Vec<&str>; 3] {
    let cases: Vec<&str> = cases.lines().filter(|case| !case.is_empty()).collect();
    let stage = cases
        .iter()
        .enumerate()
        .fold(project(), |stage, (index, case)| {
            let text = pool_of_case(case).replace("v1.31.8", "v1.33.9");
            let name = format!("c{index}");
            stage.file(&format!("{name}.yaml"), text.replace("edge", &name))
        });
    let found = stage.check();
    let of_rule = RULES.map(|rule| found.of_rule(rule));
    let level = |index: usize| {
        let mark = format!(" c{index}/");
        let is_its = |lines: &&Vec<&str>| lines.iter().any(|line| line.contains(&mark));
        let [suspected, mismatched] = of_rule.each_ref().map(|lines| is_its(&lines));
        [mismatched, suspected, true].into_iter().position(|is| is)
    };
    [0, 1, 2].map(|wanted| {
        let cases = cases.iter().enumerate();
        let cases = cases.filter(|(index, _)| level(*index) == Some(wanted));
        cases.map(|(_, case)| *case).collect()
    })
}

/// What is missed is a minor alone behind no word for Kubernetes, or has no separators.
#[test]
fn names_with_another_version_are_found_but_for_three() {
    let [errors, warnings, missed] = split_by_finding(OTHER_VERSIONS);
    assert_eq!(
        missed,
        [
            "/DC/vm/Templates/ubuntu-2204-1-27",
            "capc-ubuntu24-1.35",
            "u-2204-0-k-1335-0"
        ]
    );
    assert_eq!([errors.len(), warnings.len()], [31, 76]);
}

#[test]
fn names_with_other_numbers_are_not_suspected() {
    let [errors, warnings, silent] = split_by_finding(TRAPS);
    assert_eq!([errors, warnings].concat(), Vec::<&str>::new());
    assert_eq!(silent.len(), 68);
}

#[test]
fn a_template_of_any_kind_with_another_version_is_found() {
    assert_cases(
        str![[r#"
AzureMachineTemplate {image: {computeGallery: {gallery: ClusterAPI-f72ceb4f, name: capi-ubun2-2404, version: 1.32.4}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:113 `1.32.4`
AzureMachineTemplate {image: {marketplace: {publisher: cncf-upstream, offer: capi, sku: k8s-1dot25dot4-ubuntu-2204-gen1, version: latest}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:92 `k8s-1dot25dot4-ubuntu-2204-gen1`
OpenStackMachineTemplate {image: {imageRef: {name: ubuntu-2204-kube-v1-32-2}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:51 `ubuntu-2204-kube-v1-32-2`
OpenStackMachineTemplate {image: {filter: {tags: [ubuntu, v1.32.2]}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:58 `v1.32.2`
ProxmoxMachineTemplate {templateSelector: {matchTags: [ubuntu, kube-v1.32.4]}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:65 `kube-v1.32.4`
VCDMachineTemplate {catalog: c, template: 'ubuntu-2004-kube-v1.25.7+vmware.2-tkg.1-8795debf8031d8e671660af83b673daa'}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:48 `'ubuntu-2004-kube-v1.25.7+vmware.2-tkg.1-8795debf8031d8e671660af83b673daa'`
OscMachineTemplate {node: {image: {name: ubuntu-2204-kubernetes-v1.32.13-2026-03-06}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:47 `ubuntu-2204-kubernetes-v1.32.13-2026-03-06`
ElementalMachineTemplate {osVersionManagement: {osVersion: {imageUri: 'oci://r.example.org/elemental-ubuntu:v1.32.2'}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:70 `'oci://r.example.org/elemental-ubuntu:v1.32.2'`
DOMachineTemplate {image: Cluster API Kubernetes v1.28.9 on Ubuntu 24.04}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:33 `Cluster API Kubernetes v1.28.9 on Ubuntu 24.04`
DOMachineTemplate {image: ubuntu-2404-k8s-v1-32-2}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:33 `ubuntu-2404-k8s-v1-32-2`
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {image: 'quay.io/capk/ubuntu-2204-container-disk:v1.32.1'}}]}}}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:110 `'quay.io/capk/ubuntu-2204-container-disk:v1.32.1'`
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {dataVolumeTemplates: [{spec: {source: {pvc: {name: ubuntu-v1-32-1}}}}]}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:109 `ubuntu-v1-32-1`
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {dataVolumeTemplates: [{spec: {sourceRef: {kind: DataSource, name: k8s-1-32-1}}}]}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:124 `k8s-1-32-1`
OCIMachineTemplate {imageId: ocid1.image.oc1, kubernetesVersion: v1.32.1}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:71 `v1.32.1`
VultrMachineTemplate {snapshot_id: k8s-1.32.1}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:39 `k8s-1.32.1`
PacketMachineTemplate {os: custom_ipxe, ipxeURL: 'https://h/kubernetes/v1.32.1/boot.ipxe'}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:52 `'https://h/kubernetes/v1.32.1/boot.ipxe'`
GCPMachineTemplate {image: 'projects/p/global/images/cluster-api-ubuntu-2004-v1-23-10-1670054207 '}
    error[k8s-version-mismatch] edge/edge-md edge.yaml:10:33 `'projects/p/global/images/cluster-api-ubuntu-2004-v1-23-10-1670054207 '`
GCPMachineTemplate {imageFamily: capi-ubuntu-2404-k8s-v1-32}
    error[k8s-version-mismatch] edge/edge-md edge.yaml:10:39 `capi-ubuntu-2404-k8s-v1-32`
AWSMachineTemplate {ami: {id: ami-0123}, additionalTags: {k8s-version: 1.32.2}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:77 `1.32.2`
IonosCloudMachineTemplate {disk: {image: {id: x, name: golden-v1.32.2}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:54 `golden-v1.32.2`
TinkerbellMachineTemplate {templateOverride: "actions: [{image: 'quay.io/tinkerbell-actions/image2disk:v1.0.0', environment: {IMG_URL: 'https://h/raw/1-23/bottlerocket-v1.23.9-eks-d-1-23-5-eks-a-19-amd64.img.gz'}}]"}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:44 `"actions: [{image: 'quay.io/tinkerbell-actions/image2disk:v1.0.0', environment: {IMG_URL: 'https://h/raw/1-23/bottlerocket-v1.23.9-eks-d-1-23-5-eks-a-19-amd64.img.gz'}}]"`
UnknownMachineTemplate {provider: {deep: [{os: {image: {tag: '1.32.2'}}}]}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:63 `'1.32.2'`
UnknownMachineTemplate {source: {registry: {url: 'docker://acme/disk-cdi-1.32.2:jammy'}}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:51 `'docker://acme/disk-cdi-1.32.2:jammy'`
UnknownMachineTemplate {source: {pull: 'oci://acme/disk-1.32.2'}}
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:41 `'oci://acme/disk-1.32.2'`

"#]],
        version_findings,
    );
}

#[test]
fn numbers_of_something_else_are_no_kubernetes_version() {
    assert_cases(
        str![[r#"
ubuntu-22.04
ubuntu-24.04.1-live-server
rocky-9.4
flatcar-stable-4152.2.3
talos-v1.10.3
ghcr.io/siderolabs/installer:v1.11.5
factory.talos.dev/nocloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d614b4ba:v1.11.5
https://factory.talos.dev/image/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d614b4ba/v1.11.5/nocloud-amd64.raw.xz
talos-1.12.0-metal-amd64
bottlerocket-v1.26.2
ubuntu-2204-containerd-1.17.2
ubuntu-cni-v1.14.0
ubuntu-2404-image-builder-v1.12.0
node-kube-proxy-v1.30.1
kube-vip:v1.30.0
cilium-1.16.3
registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.30.1
registry.k8s.io/autoscaling/cluster-autoscaler:v1.30.0
golden-2024-12-11
golden-2024-1-12
golden-2025.1.12
golden-20250112
node-10.1.20.3
node-1.20.30.4
m6i.1xlarge-1
ami-0a1b2c3d4e5f60718
8f1b2c3d-0000-4000-8000-000000000001
infrastructure.cluster.x-k8s.io/v1beta1
eks-a-1.18.0
ubuntu-eks-d-1-28-9
ubuntu-2204-1-27
golden-1.13
golden-1.0.7
golden-3.14.159
node-v1.33.x
node-kube-v1.33.x
node-kube-${VERSION}
golden-1.30.1-and-1.29.2
ubuntu-2204-kube-v1.31.8
golden-v1.31.8
k8s-1.31
go1.22.3-ubuntu
AWSMachineTemplate {ami: {id: ami-1}, instanceType: m6i.large, additionalTags: {talos: v1.10.3, app.kubernetes.io/version: 1.12.3}}
OpenStackMachineTemplate {flavor: m1.12.13, image: {id: x}, tags: [release-1.14.2, 'cni=1.14.0']}
VSphereMachineTemplate {template: golden, server: 10.1.20.3, network: {devices: [{gatewayV4: 10.1.20.1}]}, cloneMode: linkedClone}
KubevirtMachineTemplate {virtualMachineTemplate: {spec: {template: {spec: {volumes: [{containerDisk: {image: golden}}, {cloudInitNoCloud: {userData: "curl https://h/cilium/v1.16.3/x; CNI_VERSION=v1.14.0; apt install cloud-init=24.1.3"}}]}}}}}
Metal3MachineTemplate {image: {url: 'https://h/ubuntu-24.04.qcow2', checksum: 'https://h/24.04/20250112/SHA256SUMS', format: qcow2}, dataTemplate: {name: v1.12.13}}
UnknownMachineTemplate {osVersion: 1.12.3, chart: 1.14.2, agentVersion: 1.15.0, release: v1.19.0}
TalosMachineTemplate {image: 'v1.10.3-talos'}
rhcos-414.92.202310170514-0-vmware
fedora-coreos-40.20240416.3.1
flatcar_production_openstack_image-3815.2.5
openSUSE-Leap-15.6.x86_64-1.12.3-NoCloud-Build1.23
SL-Micro.x86_64-6.0-Default-qcow-GM2
debian-12-genericcloud-amd64-20240717-1811
gardenlinux-1.12.3
kairos-ubuntu-24.04-v1.12.0
vmware-photon-1.12.3
talos-v1.12.0-vmware
factory.talos.dev/metal-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d614b4ba:v1.12.1
harvester-v1.14.1-amd64
quay.io/kubevirt/cirros-container-disk-demo:v1.11.0
elemental-toolkit-1.12.3
cluster-api-v1.11.2-ubuntu
ubuntu-2404-cri-o-1.30.2
cri-tools-1.30.0-ubuntu
ubuntu-22.04-openssl-1.11.1
ubuntu-22.04-python-1.12.3
rust1.35-ubuntu
nvidia-container-toolkit-1.27.4
gpu-operator-1.30.1
cert-manager-v1.35.0
rook-ceph-1.14.2
ubuntu-2204-kube-ovn-1.12.8
antrea-1.15.1
azure-cni-v1.30.2
istio-1.22.3
cloud-provider-azure-v1.30.4
aws-cloud-controller-manager-v1.29.2
helm-chart-1.34.2
diskimage-builder-1.32.0-noble
packer-1.30.2-ubuntu-2404
kiwi-1.12.3
golden-release-1.12.3
golden-r1.30.3
golden-build.1.30.3
golden-1-12-2024
golden-24-1-12
2024-11-12-1.12
golden-2024-01-12T10-11-12
golden-2404-build-1.32.3
http://img-1-30-2.lab/ubuntu-24.04.raw
AWSMachineTemplate {ami: {id: ami-1}, sshKeyName: key-k8s-1.30, iamInstanceProfile: nodes-k8s-1.30, additionalTags: {Name: k8s-1.30-nodes}}
AzureMachineTemplate {image: {id: x}, networkInterfaces: [{subnetName: k8s-1-30-subnet}]}

"#]],
        version_findings,
    );
}

/// The machines of control planes that run another distribution.
#[test]
fn a_number_counts_for_the_distribution_that_machines_run() {
    let plane = |kind: &str, image: &str| {
        let text = cluster("v1.31.8", &format!("{{filter: {{name: '{image}'}}}}"));
        manifest(text.replace("KubeadmControlPlane", kind))
    };
    let cases = [
        ("RKE2ControlPlane", "node-v1.30.2"),
        ("RKE2ControlPlane", "node-rke2-v1.30.2"),
        ("RKE2ControlPlane", "node-rke2-v1.31.8"),
        ("KubeadmControlPlane", "node-rke2-v1.30.2"),
        ("KubeadmControlPlane", "node-v1.30.2"),
        ("KubeadmControlPlane", "node-v1.31.8"),
        ("TalosControlPlane", "node-v1.10.2"),
    ];
    let cases = cases.map(|(kind, image)| (format!("{kind} {image}"), plane(kind, image)));
    checked(cases).is(str![[r#"
RKE2ControlPlane node-v1.30.2
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, node-v1.30.2 (edge.yaml:29:49)
RKE2ControlPlane node-rke2-v1.30.2
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'node-rke2-v1.30.2'` edge.yaml:12:12 `v1.31.8` => v1.31.8 | images.records | names
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, node-rke2-v1.30.2 (edge.yaml:29:49)
RKE2ControlPlane node-rke2-v1.31.8
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `v1.31.8` => …+rke2r1
    warning[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `v1.31.8` => …+rke2r1
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, node-rke2-v1.31.8 (edge.yaml:29:49) holds 1.31.8 (edge.yaml:29:49)
KubeadmControlPlane node-rke2-v1.30.2
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, node-rke2-v1.30.2 (edge.yaml:29:49)
KubeadmControlPlane node-v1.30.2
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'node-v1.30.2'` edge.yaml:12:12 `v1.31.8` => v1.31.8 | images.records | names
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, node-v1.30.2 (edge.yaml:29:49)
KubeadmControlPlane node-v1.31.8
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, node-v1.31.8 (edge.yaml:29:49) holds 1.31.8 (edge.yaml:29:49)
TalosControlPlane node-v1.10.2
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, node-v1.10.2 (edge.yaml:29:49)

"#]]);
}

#[test]
fn builds_and_prereleases_of_numbers_are_compared() {
    let cases = [
        (
            "RKE2ControlPlane",
            "v1.33.9+rke2r1",
            "golden-v1.31.9-rke2r1",
        ),
        ("RKE2ControlPlane", "v1.33.9+rke2r1", "img-v1.31.9+rke2r1"),
        ("RKE2ControlPlane", "v1.33.9+rke2r1", "img-1.31.9_rke2r1"),
        ("RKE2ControlPlane", "v1.33.9+rke2r1", "img-v1.31.9%2Brke2r1"),
        ("RKE2ControlPlane", "v1.33.9+rke2r1", "img-v1.33.9+rke2r2"),
        ("RKE2ControlPlane", "v1.33.9+rke2r1", "img-v1.33.9-rke2r1"),
        ("KThreesControlPlane", "v1.33.9+k3s1", "img-v1.31.9-k3s1"),
        ("K0sControlPlane", "v1.33.9+k0s.0", "img-v1.31.9+k0s.0"),
        ("KubeadmControlPlane", "v1.33.9", "img-v1.31.9-rke2r1"),
        ("KubeadmControlPlane", "v1.33.9", "golden-v1.33.9-rc.1"),
        (
            "KubeadmControlPlane",
            "v1.33.9",
            "kindest/node:v1.33.9-rc.1",
        ),
        (
            "KubeadmControlPlane",
            "v1.33.9",
            "ubuntu-2204-kube-v1.33.9-rc.1",
        ),
        ("KubeadmControlPlane", "v1.33.9-rc.1", "golden-v1.33.9-rc.1"),
        (
            "KubeadmControlPlane",
            "v1.33.9-rc.1",
            "kindest/node:v1.33.9-rc.1",
        ),
        (
            "KubeadmControlPlane",
            "v1.33.9-rc.1",
            "ubuntu-2204-kube-v1.33.9-rc.1",
        ),
        (
            "KubeadmControlPlane",
            "v1.28.4-eks-1-28-10",
            "golden-1.28.4-eks-d-1-28-9",
        ),
        (
            "KubeadmControlPlane",
            "v1.28.5-eks-1-28-9",
            "ubuntu-v1.28.4-kubernetes-1-28-eks-9-amd64-b7b3eb5",
        ),
        (
            "KubeadmControlPlane",
            "v1.33.9---vmware.1-tkg.1",
            "ubuntu-2204-kube-v1.31.2",
        ),
        (
            "KubeadmControlPlane",
            "v1.33.9---vmware.1-tkg.1",
            "photon-5-kube-v1.33.9+vmware.1-tkg.1",
        ),
    ];
    let cases = cases.map(|(kind, version, image)| {
        let text = cluster(version, &format!("{{filter: {{name: '{image}'}}}}"));
        let text = text.replace("KubeadmControlPlane", kind);
        (format!("{version} {image}"), manifest(text))
    });
    checked(cases).is(str![[r#"
v1.33.9+rke2r1 golden-v1.31.9-rke2r1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'golden-v1.31.9-rke2r1'` edge.yaml:12:12 `v1.33.9+rke2r1` => v1.33.9+rke2r1 | images.records | names
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): unproven, golden-v1.31.9-rke2r1 (edge.yaml:29:49)
v1.33.9+rke2r1 img-v1.31.9+rke2r1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-v1.31.9+rke2r1'` edge.yaml:12:12 `v1.33.9+rke2r1` => v1.33.9+rke2r1 | images.records | names
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): unproven, img-v1.31.9+rke2r1 (edge.yaml:29:49)
v1.33.9+rke2r1 img-1.31.9_rke2r1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-1.31.9_rke2r1'` edge.yaml:12:12 `v1.33.9+rke2r1` => v1.33.9+rke2r1 | images.records | names
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): unproven, img-1.31.9_rke2r1 (edge.yaml:29:49)
v1.33.9+rke2r1 img-v1.31.9%2Brke2r1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-v1.31.9%2Brke2r1'` edge.yaml:12:12 `v1.33.9+rke2r1` => v1.33.9+rke2r1 | images.records | names
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): unproven, img-v1.31.9%2Brke2r1 (edge.yaml:29:49)
v1.33.9+rke2r1 img-v1.33.9+rke2r2
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-v1.33.9+rke2r2'` edge.yaml:12:12 `v1.33.9+rke2r1` => v1.33.9+rke2r1 | images.records | names
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): unproven, img-v1.33.9+rke2r2 (edge.yaml:29:49)
v1.33.9+rke2r1 img-v1.33.9-rke2r1
    edge/control-plane v1.33.9+rke2r1 (edge.yaml:12:12), edge/edge-md v1.33.9+rke2r1 (edge.yaml:23:16): by_name, img-v1.33.9-rke2r1 (edge.yaml:29:49) holds 1.33.9+rke2r1 (edge.yaml:29:49)
v1.33.9+k3s1 img-v1.31.9-k3s1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-v1.31.9-k3s1'` edge.yaml:12:12 `v1.33.9+k3s1` => v1.33.9+k3s1 | images.records | names
    edge/control-plane v1.33.9+k3s1 (edge.yaml:12:12), edge/edge-md v1.33.9+k3s1 (edge.yaml:23:16): unproven, img-v1.31.9-k3s1 (edge.yaml:29:49)
v1.33.9+k0s.0 img-v1.31.9+k0s.0
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'img-v1.31.9+k0s.0'` edge.yaml:12:12 `v1.33.9+k0s.0` => v1.33.9+k0s.0 | images.records | names
    edge/control-plane v1.33.9+k0s.0 (edge.yaml:12:12), edge/edge-md v1.33.9+k0s.0 (edge.yaml:23:16): unproven, img-v1.31.9+k0s.0 (edge.yaml:29:49)
v1.33.9 img-v1.31.9-rke2r1
    edge/control-plane v1.33.9 (edge.yaml:12:12), edge/edge-md v1.33.9 (edge.yaml:23:16): unproven, img-v1.31.9-rke2r1 (edge.yaml:29:49)
v1.33.9 golden-v1.33.9-rc.1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'golden-v1.33.9-rc.1'` edge.yaml:12:12 `v1.33.9` => v1.33.9 | images.records | names
    edge/control-plane v1.33.9 (edge.yaml:12:12), edge/edge-md v1.33.9 (edge.yaml:23:16): unproven, golden-v1.33.9-rc.1 (edge.yaml:29:49)
v1.33.9 kindest/node:v1.33.9-rc.1
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'kindest/node:v1.33.9-rc.1'` edge.yaml:12:12 `v1.33.9` => v1.33.9 | images.records | names
    edge/control-plane v1.33.9 (edge.yaml:12:12), edge/edge-md v1.33.9 (edge.yaml:23:16): unproven, kindest/node:v1.33.9-rc.1 (edge.yaml:29:49)
v1.33.9 ubuntu-2204-kube-v1.33.9-rc.1
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `'ubuntu-2204-kube-v1.33.9-rc.1'` edge.yaml:12:12 `v1.33.9` => v1.33.9
    edge/control-plane v1.33.9 (edge.yaml:12:12), edge/edge-md v1.33.9 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.33.9-rc.1 (edge.yaml:29:49) holds 1.33.9-rc.1
v1.33.9-rc.1 golden-v1.33.9-rc.1
    edge/control-plane v1.33.9-rc.1 (edge.yaml:12:12), edge/edge-md v1.33.9-rc.1 (edge.yaml:23:16): by_name, golden-v1.33.9-rc.1 (edge.yaml:29:49) holds 1.33.9-rc.1 (edge.yaml:29:49)
v1.33.9-rc.1 kindest/node:v1.33.9-rc.1
    edge/control-plane v1.33.9-rc.1 (edge.yaml:12:12), edge/edge-md v1.33.9-rc.1 (edge.yaml:23:16): by_name, kindest/node:v1.33.9-rc.1 (edge.yaml:29:49) holds 1.33.9-rc.1 (edge.yaml:29:49)
v1.33.9-rc.1 ubuntu-2204-kube-v1.33.9-rc.1
    edge/control-plane v1.33.9-rc.1 (edge.yaml:12:12), edge/edge-md v1.33.9-rc.1 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.33.9-rc.1 (edge.yaml:29:49) holds 1.33.9-rc.1
v1.28.4-eks-1-28-10 golden-1.28.4-eks-d-1-28-9
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'golden-1.28.4-eks-d-1-28-9'` edge.yaml:12:12 `v1.28.4-eks-1-28-10` => v1.28.4-eks-1-28-10 | images.records | names
    edge/control-plane v1.28.4-eks-1-28-10 (edge.yaml:12:12), edge/edge-md v1.28.4-eks-1-28-10 (edge.yaml:23:16): unproven, golden-1.28.4-eks-d-1-28-9 (edge.yaml:29:49)
v1.28.5-eks-1-28-9 ubuntu-v1.28.4-kubernetes-1-28-eks-9-amd64-b7b3eb5
    warning[k8s-version-suspected] edge/control-plane edge.yaml:29:49 `'ubuntu-v1.28.4-kubernetes-1-28-eks-9-amd64-b7b3eb5'` edge.yaml:12:12 `v1.28.5-eks-1-28-9` => v1.28.5-eks-1-28-9 | images.records | names
    edge/control-plane v1.28.5-eks-1-28-9 (edge.yaml:12:12), edge/edge-md v1.28.5-eks-1-28-9 (edge.yaml:23:16): unproven, ubuntu-v1.28.4-kubernetes-1-28-eks-9-amd64-b7b3eb5 (edge.yaml:29:49)
v1.33.9---vmware.1-tkg.1 ubuntu-2204-kube-v1.31.2
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `'ubuntu-2204-kube-v1.31.2'` edge.yaml:12:12 `v1.33.9---vmware.1-tkg.1` => v1.33.9---vmware.1-tkg.1
    edge/control-plane v1.33.9---vmware.1-tkg.1 (edge.yaml:12:12), edge/edge-md v1.33.9---vmware.1-tkg.1 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.2 (edge.yaml:29:49) holds 1.31.2
v1.33.9---vmware.1-tkg.1 photon-5-kube-v1.33.9+vmware.1-tkg.1
    edge/control-plane v1.33.9---vmware.1-tkg.1 (edge.yaml:12:12), edge/edge-md v1.33.9---vmware.1-tkg.1 (edge.yaml:23:16): by_name, photon-5-kube-v1.33.9+vmware.1-tkg.1 (edge.yaml:29:49) holds 1.33.9+vmware.1-tkg.1

"#]]);
}

#[test]
fn texts_beside_an_image_that_agrees_are_not_suspected() {
    let beside = "folder: /DC/vm/k8s-1-31, resourcePool: k8s-1-31, networkName: kube-1.31, sshKeyName: k8s-1-31";
    let tag = "additionalTags: {kubernetes.io/cluster/k8s-1-27: owned}";
    let cases = [
        (
            "it agrees",
            "VSphereMachineTemplate",
            format!("{{template: golden-v1.31.8, {beside}}}"),
        ),
        (
            "it says nothing",
            "VSphereMachineTemplate",
            "{template: golden, folder: /DC/vm/k8s-1-30-4}".to_owned(),
        ),
        (
            "a tag",
            "AWSMachineTemplate",
            format!("{{ami: {{id: ami-1}}, {tag}}}"),
        ),
    ];
    let cases = cases.map(|(what, kind, spec)| (what, manifest(pool(kind, &spec))));
    checked(cases).is(str![[r#"
it agrees
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, golden-v1.31.8 (edge.yaml:10:36) holds 1.31.8 (edge.yaml:10:36)
it says nothing
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:52 `/DC/vm/k8s-1-30-4` edge.yaml:5:54 `v1.31.8` => v1.31.8 | images.records | names
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, golden (edge.yaml:10:36)
a tag
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, ami-1 (edge.yaml:10:36)

"#]]);
}

#[test]
fn eks_anywhere_quotes_its_version_itself() {
    let spec = "
  kubernetesVersion: 1.20
  controlPlaneConfiguration: {machineGroupRef: {kind: VSphereMachineConfig, name: edge}}";
    let machines = "{template: ubuntu-2204-kube-v1.20.4}";
    let eks = eks("Cluster edge", spec) + &eks("VSphereMachineConfig edge", machines);
    let other = cluster("1.20", "{filter: {name: golden}}");
    let cases = [("EKS Anywhere", eks), ("Cluster API", other)];
    let cases = cases.map(|(what, text)| (what, manifest(text)));
    checked(cases).is(str![[r#"
EKS Anywhere
    warning[value-type] edge edge.yaml:6:22 `1.20` => "1.20"
    edge/control-plane 1.20 (edge.yaml:6:22): by_name, ubuntu-2204-kube-v1.20.4 (edge.yaml:12:18) holds 1.20.4
Cluster API
    error[k8s-version-incomplete] edge/control-plane edge.yaml:12:12 `1.20` => 1.20.N
    error[value-type] edge edge.yaml:12:12 `1.20` => "1.20"
    error[k8s-version-incomplete] edge/edge-md edge.yaml:23:16 `1.20` => 1.20.N
    error[value-type] edge edge.yaml:23:16 `1.20` => "1.20"
    edge/control-plane 1.20 (edge.yaml:12:12), edge/edge-md 1.20 (edge.yaml:23:16): unproven, golden (edge.yaml:29:49)

"#]]);
}

#[test]
fn a_text_that_is_no_version_is_never_another_version() {
    let versions = [
        "'<< inputs.v >>'",
        "$(k8s_version)",
        "KUBERNETES_VERSION",
        "1.33.x",
        "'@@V@@'",
        "'%K8S%'",
        "latest",
        "[v1.31.8]",
        "{v: v1.31.8}",
        "${V}",
    ];
    let image = "{filter: {name: ubuntu-2204-kube-v1.31.8}}";
    let cases = versions.map(|version| (version, manifest(cluster(version, image))));
    checked(cases).is(str![[r#"
'<< inputs.v >>'
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane << inputs.v >> (edge.yaml:12:12), edge/edge-md << inputs.v >> (edge.yaml:23:16): unknown (its image or version is a variable)
$(k8s_version)
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane $(k8s_version) (edge.yaml:12:12), edge/edge-md $(k8s_version) (edge.yaml:23:16): unknown (its image or version is a variable)
KUBERNETES_VERSION
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane KUBERNETES_VERSION (edge.yaml:12:12), edge/edge-md KUBERNETES_VERSION (edge.yaml:23:16): unknown (its Kubernetes version is not a version)
1.33.x
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane 1.33.x (edge.yaml:12:12), edge/edge-md 1.33.x (edge.yaml:23:16): unknown (its Kubernetes version is not a version)
'@@V@@'
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane @@V@@ (edge.yaml:12:12), edge/edge-md @@V@@ (edge.yaml:23:16): unknown (its image or version is a variable)
'%K8S%'
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane %K8S% (edge.yaml:12:12), edge/edge-md %K8S% (edge.yaml:23:16): unknown (its Kubernetes version is not a version)
latest
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane latest (edge.yaml:12:12), edge/edge-md latest (edge.yaml:23:16): unknown (its Kubernetes version is not a version)
[v1.31.8]
    error[value-type] edge edge.yaml:12:12 `[v1.31.8]`
    error[value-type] edge edge.yaml:23:16 `[v1.31.8]`
    edge/control-plane, edge/edge-md: unknown (no Kubernetes version), ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49)
{v: v1.31.8}
    error[value-type] edge edge.yaml:12:12 `{v: v1.31.8}`
    error[value-type] edge edge.yaml:23:16 `{v: v1.31.8}`
    edge/control-plane, edge/edge-md: unknown (no Kubernetes version), ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49)
${V}
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane, edge/edge-md: unknown (its image or version is a variable)

"#]]);
}

#[test]
fn the_builds_of_eks_anywhere_are_compared() {
    let image = "{filter: {name: ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64}}";
    let versions = [
        "v1.28.4-eks-1-28-9",
        "v1.28.4-eks-1-28-10",
        "v1.28.4",
        "v1.28.5-eks-1-28-9",
    ];
    let cases = versions.map(|version| (version, manifest(cluster(version, image))));
    checked(cases).is(str![[r#"
v1.28.4-eks-1-28-9
    edge/control-plane v1.28.4-eks-1-28-9 (edge.yaml:12:12), edge/edge-md v1.28.4-eks-1-28-9 (edge.yaml:23:16): by_name, ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64 (edge.yaml:29:49) holds 1.28.4+eks-1-28-9
v1.28.4-eks-1-28-10
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64` edge.yaml:12:12 `v1.28.4-eks-1-28-10` => v1.28.4-eks-1-28-10
    edge/control-plane v1.28.4-eks-1-28-10 (edge.yaml:12:12), edge/edge-md v1.28.4-eks-1-28-10 (edge.yaml:23:16): mismatched, ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64 (edge.yaml:29:49) holds 1.28.4+eks-1-28-9
v1.28.4
    edge/control-plane v1.28.4 (edge.yaml:12:12), edge/edge-md v1.28.4 (edge.yaml:23:16): by_name, ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64 (edge.yaml:29:49) holds 1.28.4+eks-1-28-9
v1.28.5-eks-1-28-9
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64` edge.yaml:12:12 `v1.28.5-eks-1-28-9` => v1.28.5-eks-1-28-9
    edge/control-plane v1.28.5-eks-1-28-9 (edge.yaml:12:12), edge/edge-md v1.28.5-eks-1-28-9 (edge.yaml:23:16): mismatched, ubuntu-v1.28.4-eks-d-1-28-9-eks-a-0.18.0-amd64 (edge.yaml:29:49) holds 1.28.4+eks-1-28-9

"#]]);
    let spec = "
  kubernetesVersion: '1.28'
  controlPlaneConfiguration: {machineGroupRef: {kind: VSphereMachineConfig, name: edge}}";
    let template = |name: &str| {
        let machines = format!("{{template: /DC/vm/Templates/{name}}}");
        manifest(eks("Cluster edge", spec) + &eks("VSphereMachineConfig edge", &machines))
    };
    let names = [
        "ubuntu-2204-1-27",
        "ubuntu-2204-1-28",
        "ubuntu-2204-kube-v1.28.4",
        "golden",
    ];
    checked(names.map(|name| (name, template(name)))).is(str![[r#"
ubuntu-2204-1-27
    warning[k8s-version-suspected] edge/control-plane edge.yaml:12:18 `/DC/vm/Templates/ubuntu-2204-1-27` edge.yaml:6:22 `'1.28'` => 1.28 | images.records | names
    edge/control-plane 1.28 (edge.yaml:6:22): unproven, /DC/vm/Templates/ubuntu-2204-1-27 (edge.yaml:12:18)
ubuntu-2204-1-28
    edge/control-plane 1.28 (edge.yaml:6:22): unproven, /DC/vm/Templates/ubuntu-2204-1-28 (edge.yaml:12:18) holds 1.28 (edge.yaml:12:18)
ubuntu-2204-kube-v1.28.4
    edge/control-plane 1.28 (edge.yaml:6:22): by_name, /DC/vm/Templates/ubuntu-2204-kube-v1.28.4 (edge.yaml:12:18) holds 1.28.4
golden
    edge/control-plane 1.28 (edge.yaml:6:22): unproven, /DC/vm/Templates/golden (edge.yaml:12:18)

"#]]);
}

/// An image of vSphere with that name, in a project with these settings.
fn project_with_name(name: &str, settings: &str) -> Stage {
    let spec = format!("{{template: {name}}}");
    manifest(pool("VSphereMachineTemplate", &spec))
        .settings(&format!("manifests: [edge.yaml]\n{settings}"))
}

#[test]
fn a_scheme_of_the_project_is_as_good_as_a_built_in_one() {
    let names = "names: ['img_(?P<os>[a-z]+)(?P<release>[0-9]+)_(?P<k8s>[0-9dot_]+)']\n";
    let record = "images: {records: {img: {os: {name: debian}, locations: {vsphere: {template: img_ubuntu2204_1_31_8}}}}}\n";
    let cases = [
        ("another version", "img_ubuntu2204_1dot30dot2.ova", ""),
        ("the version", "img_ubuntu2204_1_31_8", ""),
        ("no version of Kubernetes", "img_ubuntu2204_1", ""),
        ("an image with a record", "img_ubuntu2204_1_31_8", record),
    ];
    let cases =
        cases.map(|(what, name, more)| (what, project_with_name(name, &format!("{names}{more}"))));
    checked(cases).is(str![[r#"
another version
    error[k8s-version-mismatch] edge/edge-md edge.yaml:10:36 `img_ubuntu2204_1dot30dot2.ova` edge.yaml:5:54 `v1.31.8` => v1.31.8
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, img_ubuntu2204_1dot30dot2.ova (edge.yaml:10:36) holds 1.30.2
the version
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, img_ubuntu2204_1_31_8 (edge.yaml:10:36) holds 1.31.8
no version of Kubernetes
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, img_ubuntu2204_1 (edge.yaml:10:36)
an image with a record
    error[image-disagrees] edge/edge-md edge.yaml:10:36 `img_ubuntu2204_1_31_8` metalmark.yaml:4:37 `debian`
    edge/edge-md v1.31.8 (edge.yaml:5:54): mismatched, img (edge.yaml:10:36) holds 1.31.8 (metalmark.yaml:4:78)

"#]]);
}

#[test]
fn a_scheme_that_is_no_pattern_of_names_is_refused() {
    let patterns = [
        "'a('",
        "'(?P<kubernetes>1)'",
        "golden",
        "'(?P<os>.+)-(?P<k8s>.+)'",
        "'{os}{variant}-{k8s}'",
        "'{os}-{kubernetes}'",
        "'{os}[-{k8s}'",
        "'{os}]-{k8s}'",
        "'(?P<os>[a-z]+)-{k8s}'",
    ];
    let cases = patterns.map(|names| {
        let project = project_with_name("a", &format!("names: [{names}]\n"));
        (names, project)
    });
    checked(cases).is(str![[r#"
'a('
    error[project-file] metalmark.yaml:3:9 `'a('` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'(?P<kubernetes>1)'
    error[project-file] metalmark.yaml:3:9 `'(?P<kubernetes>1)'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
golden
    error[project-file] metalmark.yaml:3:9 `golden` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'(?P<os>.+)-(?P<k8s>.+)'
    error[project-file] metalmark.yaml:3:9 `'(?P<os>.+)-(?P<k8s>.+)'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'{os}{variant}-{k8s}'
    error[project-file] metalmark.yaml:3:9 `'{os}{variant}-{k8s}'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'{os}-{kubernetes}'
    error[project-file] metalmark.yaml:3:9 `'{os}-{kubernetes}'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'{os}[-{k8s}'
    error[project-file] metalmark.yaml:3:9 `'{os}[-{k8s}'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'{os}]-{k8s}'
    error[project-file] metalmark.yaml:3:9 `'{os}]-{k8s}'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)
'(?P<os>[a-z]+)-{k8s}'
    error[project-file] metalmark.yaml:3:9 `'(?P<os>[a-z]+)-{k8s}'` => golden-{os}{release}-{k8s} | golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, a (edge.yaml:10:36)

"#]]);
    // What is wrong with each, and its help, followed.
    let all = patterns.map(|names| format!("{names}, "));
    let project = project_with_name(
        "golden-ubuntu2404-1.30.2",
        &format!("names: [{}]\n", all.concat()),
    );
    let screen = project.run("check").exit(1).outcome.stdout;
    let messages = screen
        .lines()
        .filter(|line| line.starts_with("error[project-file]"));
    assert_text(
        &messages.map(|line| format!("{line}\n")).collect::<String>(),
        str![[r#"
error[project-file]: `a(` is not a valid naming scheme: unclosed group
error[project-file]: `(?P<kubernetes>1)` is not a valid naming scheme: a name has no part `kubernetes`, only `arch`, `builder`, `channel`, `commit`, `compression`, `firmware`, `flavor`, `format`, `k8s`, `k8s_flavor`, `os`, `platform`, `release`, `schematic`, `sysext`, `timestamp`, `variant`, `version`
error[project-file]: `golden` is not a valid naming scheme: it has no part such as `{k8s}`
error[project-file]: `(?P<os>.+)-(?P<k8s>.+)` is not a valid naming scheme: its parts are ambiguous: `os` of `a--a` may be `a-` or `a`
error[project-file]: `{os}{variant}-{k8s}` is not a valid naming scheme: its parts are ambiguous: `os` of `Aaa-1-00` may be `Aa` or `A`
error[project-file]: `{os}-{kubernetes}` is not a valid naming scheme: a name has no part `kubernetes`, only `arch`, `builder`, `channel`, `commit`, `compression`, `firmware`, `flavor`, `format`, `k8s`, `k8s_flavor`, `os`, `platform`, `release`, `schematic`, `sysext`, `timestamp`, `variant`, `version`
error[project-file]: `{os}[-{k8s}` is not a valid naming scheme: a `[` is not closed
error[project-file]: `{os}]-{k8s}` is not a valid naming scheme: a `]` closes nothing
error[project-file]: `(?P<os>[a-z]+)-{k8s}` is not a valid naming scheme: it is half a form and half a regular expression

"#]],
    );
    project.write(
        "metalmark.yaml",
        "version: 1\nmanifests: [edge.yaml]\nnames: ['golden-{os}{release}-{k8s}']\n",
    );
    project.run("check").exit(1).brief(str![[r#"
error[k8s-version-mismatch]: image `golden-ubuntu2404-1.30.2` holds Kubernetes `1.30.2`, not `v1.31.8`
  edge.yaml:10:36 `golden-ubuntu2404-1.30.2` this image is selected here
  edge.yaml:5:54 `v1.31.8` this version is required
  cluster: edge, pool edge-md
  help: name an image with Kubernetes `v1.31.8`, in a machine template of a new name
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    project.write(
        "metalmark.yaml",
        "version: 1\nmanifests: [edge.yaml]\nnames: ['(?P<kubernetes>1)']\n",
    );
    project.run("check").exit(1).brief(str![[r#"
error[project-file]: `(?P<kubernetes>1)` is not a valid naming scheme: a name has no part `kubernetes`, only `arch`, `builder`, `channel`, `commit`, `compression`, `firmware`, `flavor`, `format`, `k8s`, `k8s_flavor`, `os`, `platform`, `release`, `schematic`, `sysext`, `timestamp`, `variant`, `version`
  metalmark.yaml:3:9 `'(?P<kubernetes>1)'`
  help: write a form such as `golden-{os}{release}-{k8s}`, or a regular expression whose named groups do not hold what follows them: `golden-(?P<os>[a-z]+)-(?P<k8s>1\.\d+\.\d+)`
warning[k8s-version-suspected]: `golden-ubuntu2404-1.30.2` seems to name Kubernetes `1.30.2`, not `v1.31.8`
  edge.yaml:10:36 `golden-ubuntu2404-1.30.2` this text of its machine template
  edge.yaml:5:54 `v1.31.8` this version is required
  cluster: edge, pool edge-md
  help: if machines boot it, name an image with `v1.31.8` in a machine template of a new name
  help: if such names mean something else, describe the image under `images.records`, or the names under `names`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
}

#[test]
fn only_what_is_not_known_of_an_image_is_suspected() {
    let bare = "images: {records: {img: {k8s: {flavor: none}, locations: {vsphere: {template: golden-v1.30.2}}}}}\n";
    let known = "images: {records: {img: {k8s: {version: 1.31.8}, locations: {vsphere: {template: golden-v1.30.2}}}}}\n";
    let unknown = "images: {records: {img: {os: {name: ubuntu}, locations: {vsphere: {template: golden-v1.30.2}}}}}\n";
    let cases = [
        ("none", bare),
        ("the version", known),
        ("no version", unknown),
    ];
    let cases = cases.map(|(what, record)| (what, project_with_name("golden-v1.30.2", record)));
    checked(cases).is(str![[r#"
none
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image brings no Kubernetes), img (edge.yaml:10:36)
the version
    edge/edge-md v1.31.8 (edge.yaml:5:54): proven, img (edge.yaml:10:36) holds 1.31.8 (metalmark.yaml:3:41)
no version
    error[k8s-version-unproven] edge/edge-md edge.yaml:10:36 `golden-v1.30.2` edge.yaml:5:54 `v1.31.8` => images.records.img.k8s.version: … | images.facts | images.records.img.k8s.flavor: none
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:36 `golden-v1.30.2` edge.yaml:5:54 `v1.31.8` => v1.31.8 | images.records | names
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, img (edge.yaml:10:36)

"#]]);
    let long = format!(
        "{{template: golden, data: 'kube-1.30.2 {}'}}",
        "x".repeat(120)
    );
    let cases = [
        ("a long text", pool("VSphereMachineTemplate", &long)),
        (
            "tags",
            pool(
                "OpenStackMachineTemplate",
                "{image: {filter: {tags: [a, v1.31.8]}}}",
            ),
        ),
        (
            "an empty template of an unknown kind",
            pool("NewMachineTemplate", "{}").replace("spec: {template: {spec: {}}}", "spec: {}"),
        ),
        (
            "an unknown kind",
            pool("NewMachineTemplate", "{image: golden}"),
        ),
        (
            "a variable",
            pool(
                "VSphereMachineTemplate",
                "{template: '${IMAGE}', data: kube-1.30.2}",
            ),
        ),
    ];
    let cases = cases.map(|(what, text)| (what, manifest(text)));
    checked(cases).is(str![[r#"
a long text
    warning[k8s-version-suspected] edge/edge-md edge.yaml:10:50 `'kube-1.30.2 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'` edge.yaml:5:54 `v1.31.8` => v1.31.8 | images.records | names
    edge/edge-md v1.31.8 (edge.yaml:5:54): unproven, golden (edge.yaml:10:36)
tags
    edge/edge-md v1.31.8 (edge.yaml:5:54): by_name, a,v1.31.8 (edge.yaml:10:49) holds 1.31.8 (edge.yaml:10:53)
an empty template of an unknown kind
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its machine template names no image)
an unknown kind
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (the kind of its machine template is not known)
a variable
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/edge-md v1.31.8 (edge.yaml:5:54): unknown (its image or version is a variable)

"#]]);
}

#[test]
fn the_images_of_pairs_are_searched_too() {
    let settings = "pairs: [{version: 'v.yaml#v', image: '#image'}]\n";
    let cases = ["golden-1.30.2", "golden-1.31.8", "golden"].map(|image| {
        let text = format!("v: v1.31.8\nimage: {image}\n");
        (image, project().settings(settings).file("v.yaml", text))
    });
    checked(cases).is(str![[r#"
golden-1.30.2
    warning[k8s-version-suspected] v.yaml/image v.yaml:2:8 `golden-1.30.2` v.yaml:1:4 `v1.31.8` => v1.31.8 | images.records | names
    v.yaml/image v1.31.8 (v.yaml:1:4): unproven, golden-1.30.2 (v.yaml:2:8)
golden-1.31.8
    v.yaml/image v1.31.8 (v.yaml:1:4): by_name, golden-1.31.8 (v.yaml:2:8) holds 1.31.8 (v.yaml:2:8)
golden
    v.yaml/image v1.31.8 (v.yaml:1:4): unproven, golden (v.yaml:2:8)

"#]]);
}
