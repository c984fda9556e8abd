//! The names of kubernetes-sigs/image-builder, where no cloud has rules of its own (images/capi/packer).

use super::{ARCH, Scheme};

/// `cluster-api-{build_name}-{semver}-{timestamp}`: Google, Oracle, Scaleway and Hetzner clouds; Google has no dots.
pub(super) const CLUSTER_API: Scheme = Scheme {
    id: "ib-cluster-api",
    forms: &["cluster-api-{os}-{release}[-{firmware}]-{v}{k8s}[-{timestamp}]"],
    parts: &[
        ("os", "[a-z]+(?:-linux)?"),
        ("release", r"\d+"),
        ("firmware", "efi"),
        ("v", "v?"),
        ("k8s", r"1[.-]\d+[.-]\d+"),
        ("timestamp", r"\d{9,10}|nightly"),
    ],
    examples: &[
        (
            "cluster-api-ubuntu-2404-v1-34-3-1770640807",
            "os=ubuntu os-release=noble k8s-version=1.34.3 build-timestamp=1770640807",
        ),
        (
            "cluster-api-ubuntu-2204-v1-27-3-nightly",
            "os=ubuntu os-release=jammy k8s-version=1.27.3 build-timestamp=nightly",
        ),
        (
            "cluster-api-ubuntu-2404-v1-17-11-1603233313",
            "os=ubuntu os-release=noble k8s-version=1.17.11 build-timestamp=1603233313",
        ),
    ],
};

/// `{build_name}-kube-{kubernetes_semver}`: qemu, raw, OVA, OpenStack, Nutanix, CloudStack and MAAS, with what people put
/// before and behind it.
pub(super) const KUBE: Scheme = Scheme {
    id: "ib-kube",
    forms: &[
        "{prefix}{os}{dash}{release}[-{arch}][-{firmware}][-{variant}]-kube-v{k8s}{suffix}{file}",
        "{prefix}{os}-{channel}-{release}[-{arch}][-{variant}]-kube-v{k8s}{suffix}{file}",
    ],
    parts: &[
        ("prefix", "(?:[a-z]+[-/])?"),
        (
            "os",
            "ubuntu|rockylinux|rhel|centos|almalinux|photon|flatcar|debian|windows|azurelinux|mariner|oracle|amazon|opensuse",
        ),
        ("dash", "-?"),
        (
            "release",
            r"\d+(?:\.\d+){0,2}|bionic|focal|jammy|noble|resolute|buster|bullseye|bookworm|trixie",
        ),
        ("channel", "stable|beta|alpha|lts"),
        ("arch", ARCH),
        ("firmware", "efi"),
        ("variant", "immutable|gen2|cvm"),
        (
            "k8s",
            r"1\.\d+(?:\.\d+)?(?:-(?:rc|alpha|beta)\.?\d+)?(?:(?:\+|---)(?:[a-z]+\.\d+(?:-[a-z]+\.\d+)*|[a-z0-9]+)|-(?:rke2r\d+|k3s\d+|k0s\.\d+|eks-(?:d-)?1-\d+-\d+))?",
        ),
        // Dates, registries' and builders' own words: they distinguish images and state no fact.
        ("suffix", r"(?:-[A-Za-z0-9.]+?)*?"),
    ],
    examples: &[
        (
            "ubuntu-2204-kube-v1.30.14.qcow2",
            "os=ubuntu os-release=jammy k8s-version=1.30.14 image-format=qcow2",
        ),
        (
            "ubuntu-2204-kube-v1.26",
            "os=ubuntu os-release=jammy k8s-version=1.26",
        ),
        (
            "ubuntu-2204-efi-kube-v1.30.5.tar.gz",
            "os=ubuntu os-release=jammy k8s-version=1.30.5 compression=gz firmware=efi",
        ),
        (
            "ubuntu-2204-arm64-kube-v1.32.4.qcow2",
            "os=ubuntu os-release=jammy k8s-version=1.32.4 image-format=qcow2 arch=arm64",
        ),
        (
            "rockylinux-9-kube-v1.32.3-kvm.qcow2.bz2",
            "os=rockylinux os-release=9 k8s-version=1.32.3 image-format=qcow2 compression=bz2",
        ),
        (
            "rockylinux-8-kube-v1.30.4",
            "os=rockylinux os-release=8 k8s-version=1.30.4",
        ),
        (
            "ubuntu-2404-kube-v1.32.4.gz",
            "os=ubuntu os-release=noble k8s-version=1.32.4 compression=gz",
        ),
        (
            "capi-ubuntu-2204-kube-v1.32.4-2025-05-02",
            "os=ubuntu os-release=jammy k8s-version=1.32.4",
        ),
        (
            "capc-ubuntu-2404-kube-v1.32.3",
            "os=ubuntu os-release=noble k8s-version=1.32.3",
        ),
        (
            "linode/debian12-kube-v1.30.3",
            "os=debian os-release=bookworm k8s-version=1.30.3",
        ),
        (
            "ubuntu-jammy-kube-v1.30.4-240828-1653",
            "os=ubuntu os-release=jammy k8s-version=1.30.4",
        ),
        (
            "flatcar-stable-3815.2.0-kube-v1.28.5.img",
            "os=flatcar os-release=3815.2.0 os-channel=stable k8s-version=1.28.5",
        ),
        (
            "photon-5-kube-v1.28.11+vmware.2-tkg.2-bc1be576772547364c88bf37cd99c838.ova",
            "os=photon os-release=5 k8s-version=1.28.11+vmware.2-tkg.2 image-format=ova",
        ),
        (
            "photon-5-kube-v1.33.9-SL",
            "os=photon os-release=5 k8s-version=1.33.9",
        ),
        (
            "ubuntu-2204-kube-v1.33.9-rc.1",
            "os=ubuntu os-release=jammy k8s-version=1.33.9-rc.1",
        ),
        (
            "ubuntu-2204-kube-v1.33.9-rke2r1.qcow2",
            "os=ubuntu os-release=jammy k8s-version=1.33.9+rke2r1 image-format=qcow2",
        ),
    ],
};
