//! The names that distributions and vendors give the images they publish.

use super::{ARCH, Scheme};

/// Sovereign Cloud Stack's standard images. (SovereignCloudStack/standards, scs-0104-v2-standard-images.)
pub(super) const SCS: Scheme = Scheme {
    id: "scs",
    forms: &["{os}-capi-image{gap}v{k8s}[-{builder}]"],
    parts: &[
        ("os", "ubuntu"),
        ("gap", "[ -]"),
        ("k8s", r"1\.\d+(?:\.\d+)?"),
        ("builder", r"v\d+"),
    ],
    examples: &[
        ("ubuntu-capi-image-v1.32.5", "os=ubuntu k8s-version=1.32.5"),
        ("ubuntu-capi-image v1.32", "os=ubuntu k8s-version=1.32"),
    ],
};

/// vexxhost/capo-image-elements.
pub(super) const VEXXHOST: Scheme = Scheme {
    id: "vexxhost",
    forms: &["{os}-{release}-v{k8s}{file}"],
    parts: &[
        ("os", "ubuntu|rockylinux|debian"),
        ("release", r"\d+(?:\.\d+)?"),
        ("k8s", r"1\.\d+\.\d+"),
    ],
    examples: &[
        (
            "ubuntu-22.04-v1.33.13.qcow2",
            "os=ubuntu os-release=jammy k8s-version=1.33.13 image-format=qcow2",
        ),
        (
            "debian-13-v1.35.6.raw.gz",
            "os=debian os-release=trixie k8s-version=1.35.6 image-format=raw compression=gz",
        ),
        (
            "ubuntu-22.04-v1.34.8",
            "os=ubuntu os-release=jammy k8s-version=1.34.8",
        ),
    ],
};

/// EKS Anywhere's images, with the releases of EKS Distro and EKS Anywhere. (aws/eks-anywhere, docs on operating system images.)
pub(super) const EKS_ANYWHERE: Scheme = Scheme {
    id: "eks-anywhere",
    forms: &[
        "{os}-v{k8s}-{builder}-{arch}{file}",
        "{registry}kind/node:v{k8s}-{builder}",
    ],
    parts: &[
        ("os", "ubuntu|bottlerocket|redhat|rhel"),
        ("k8s", r"1\.\d+\.\d+-eks-d-1-\d+-\d+"),
        ("builder", r"eks-a-[0-9a-z.-]+?"),
        ("arch", ARCH),
        ("registry", "(?:[A-Za-z0-9.:_-]+/)*"),
    ],
    examples: &[
        (
            "ubuntu-v1.21.2-eks-d-1-21-4-eks-a-0.4.0-amd64.ova",
            "os=ubuntu k8s-version=1.21.2+eks-1-21-4 commit-tag=eks-a-0.4.0 image-format=ova arch=amd64",
        ),
        (
            "bottlerocket-v1.22.10-eks-d-1-22-8-eks-a-11-amd64.img.gz",
            "os=bottlerocket k8s-version=1.22.10+eks-1-22-8 commit-tag=eks-a-11 compression=gz arch=amd64",
        ),
        (
            "ubuntu-v1.19.8-eks-d-1-19-4-eks-a-0.0.1.build.38-amd64",
            "os=ubuntu k8s-version=1.19.8+eks-1-19-4 commit-tag=eks-a-0.0.1.build.38 arch=amd64",
        ),
        (
            "public.ecr.aws/eks-anywhere/kubernetes-sigs/kind/node:v1.21.2-eks-d-1-21-4-eks-a-1",
            "k8s-version=1.21.2+eks-1-21-4 commit-tag=eks-a-1",
        ),
    ],
};

/// Kairos: the build of K3s or k0s follows `+` or `-`.
pub(super) const KAIROS: Scheme = Scheme {
    id: "kairos",
    forms: &[
        "kairos-{os}-[{channel}-]{release}-{variant}-{arch}-{platform}-{builder}[-{k8s_flavor}v{k8s}][-{firmware}]{file}",
    ],
    parts: &[
        ("os", "[a-z]+"),
        ("channel", "leap"),
        ("release", r"\d[\d.]*|tumbleweed"),
        ("variant", "core|standard"),
        ("arch", ARCH),
        ("platform", "[a-z0-9-]+?"),
        ("builder", r"v\d+\.\d+\.\d+(?:-\d+-g[0-9a-f]+)?"),
        ("k8s_flavor", "k3s|k0s"),
        ("k8s", r"1\.\d+\.\d+[+-](?:k3s|k0s)[.\d]+"),
        // A unified kernel image boots from UEFI alone.
        ("firmware", "uki"),
    ],
    examples: &[
        (
            "kairos-ubuntu-24.04-standard-amd64-generic-v3.4.2-k3sv1.33.1+k3s1.iso",
            "os=ubuntu os-release=noble k8s-flavor=k3s k8s-version=1.33.1+k3s1 commit-tag=v3.4.2 image-format=iso arch=amd64 platform=generic variant=standard",
        ),
        (
            "kairos-opensuse-leap-15.6-standard-amd64-generic-v3.2.4-36-g24ca209-k3sv1.32.0+k3s1",
            "os=opensuse os-release=15.6 os-channel=leap k8s-flavor=k3s k8s-version=1.32.0+k3s1 commit-tag=v3.2.4-36-g24ca209 arch=amd64 platform=generic variant=standard",
        ),
        (
            "kairos-ubuntu-24.04-standard-arm64-generic-v3.3.0-k3sv1.32.0-k3s1.raw",
            "os=ubuntu os-release=noble k8s-flavor=k3s k8s-version=1.32.0+k3s1 commit-tag=v3.3.0 image-format=raw arch=arm64 platform=generic variant=standard",
        ),
        (
            "kairos-rocky-9.6-core-amd64-generic-v3.5.3.iso",
            "os=rocky os-release=9.6 commit-tag=v3.5.3 image-format=iso arch=amd64 platform=generic variant=core",
        ),
    ],
};

/// Talos's image factory. Talos sets the Kubernetes version elsewhere.
pub(super) const TALOS: Scheme = Scheme {
    id: "talos",
    forms: &[
        "{https}factory.{os}.dev/image/{schematic}/v{version}/{platform}-{arch}[-{variant}].{format}[.{compression}]",
    ],
    parts: &[
        ("https", "(?:https://)?"),
        ("os", "talos"),
        ("schematic", "[0-9a-f]{64}"),
        ("version", r"\d+\.\d+\.\d+[^/]*"),
        ("platform", "[a-z]+"),
        ("arch", ARCH),
        ("variant", "secureboot"),
        ("format", "raw|qcow2|iso|ova|vhd|vmdk"),
        ("compression", r"(?:tar\.)?gz|xz|zst|bz2"),
    ],
    examples: &[
        (
            "factory.talos.dev/image/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515/v1.11.5/nocloud-amd64.iso",
            "os=talos os-release=1.11.5 image-format=iso arch=amd64 platform=nocloud schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
        ),
        (
            "factory.talos.dev/image/ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515/v1.11.5/metal-amd64.iso",
            "os=talos os-release=1.11.5 image-format=iso arch=amd64 platform=metal schematic=ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515",
        ),
    ],
};

/// Kubernetes as a system extension for Flatcar. (extensions.flatcar.org.)
pub(super) const FLATCAR_SYSEXT: Scheme = Scheme {
    id: "flatcar-sysext",
    forms: &["{sysext}-v{k8s}-{arch}.{format}"],
    parts: &[
        ("sysext", "kubernetes"),
        ("k8s", r"1\.\d+\.\d+"),
        ("arch", "x86-64|arm64"),
        ("format", "raw"),
    ],
    examples: &[(
        "kubernetes-v1.33.2-x86-64.raw",
        "k8s-version=1.33.2 image-format=raw arch=amd64 sysexts=kubernetes",
    )],
};

/// The node images of kind, which Cluster API's Docker provider boots: the tag is the version of Kubernetes.
/// (<https://kind.sigs.k8s.io/docs/design/node-image/>.)
pub(super) const KIND: Scheme = Scheme {
    id: "kind",
    forms: &["{registry}kindest/node:v{k8s}{digest}"],
    parts: &[
        ("registry", "(?:[A-Za-z0-9.:_-]+/)*"),
        ("k8s", r"1\.\d+\.\d+"),
        ("digest", "(?:@sha256:[0-9a-f]{64})?"),
    ],
    examples: &[
        ("kindest/node:v1.31.6", "k8s-version=1.31.6"),
        (
            "registry.scs.community/docker.io/kindest/node:v1.30.10",
            "k8s-version=1.30.10",
        ),
        (
            "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a",
            "k8s-version=1.34.0",
        ),
    ],
};

/// Nutanix Kubernetes Platform.
pub(super) const NKP: Scheme = Scheme {
    id: "nkp",
    forms: &["nkp-{os}-{release}{kind}[-{flavor}]-{k8s}[-{timestamp}]{file}"],
    parts: &[
        ("os", "rocky|ubuntu"),
        ("release", r"\d+(?:\.\d+)*"),
        ("kind", "(?:-release)?"),
        ("flavor", "cis|fips"),
        ("k8s", r"1\.\d+\.\d+"),
        ("timestamp", r"\d{14}"),
    ],
    examples: &[
        (
            "nkp-rocky-9.6-release-cis-1.34.1-20251219225533.qcow2",
            "os=rocky os-release=9.6 flavor=cis hardened=true k8s-version=1.34.1 image-format=qcow2 build-timestamp=20251219225533",
        ),
        (
            "nkp-rocky-9.4-1.29.5-20240618222417",
            "os=rocky os-release=9.4 k8s-version=1.29.5 build-timestamp=20240618222417",
        ),
    ],
};
