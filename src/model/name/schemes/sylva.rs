//! The names of Sylva's builders.

use super::Scheme;

/// sylva-projects/sylva-elements/diskimage-builder: dots up to 0.1.7, dashes from 0.1.8, file names with the release from
/// 0.4.5, minor only from 0.5. sylva-projects/sylva-elements/kiwi-imagebuilder names its images alike.
pub(super) const SYLVA_DIB: Scheme = Scheme {
    id: "sylva-dib",
    forms: &["{os}-{release}-{flavor}-{k8s_flavor}-{k8s}[-{builder}]{file}"],
    parts: &[
        // Any system: what follows it is the builder's own.
        ("os", "[a-z]+(?:-[a-z]+)?"),
        ("release", r"[a-z]+|\d+(?:[.-]\d+)?"),
        ("flavor", "plain|hardened"),
        ("k8s_flavor", "rke2|kubeadm|ck8s"),
        (
            "k8s",
            r"1[.-]\d{1,2}(?:[.-]\d{1,2})?(?:-(?:rc|alpha|beta)\d+)?",
        ),
        ("builder", r"\d+\.\d+\.\d+"),
    ],
    examples: &[
        (
            "ubuntu-jammy-plain-rke2-1.26.9",
            "os=ubuntu os-release=jammy flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.26.9",
        ),
        (
            "ubuntu-jammy-hardened-rke2-1.26.9",
            "os=ubuntu os-release=jammy flavor=hardened hardened=true k8s-flavor=rke2 k8s-version=1.26.9",
        ),
        (
            "ubuntu-jammy-plain-kubeadm-1.25.14",
            "os=ubuntu os-release=jammy flavor=plain hardened=false k8s-flavor=kubeadm k8s-version=1.25.14",
        ),
        (
            "opensuse-15.5-plain-rke2-1.26.9",
            "os=opensuse os-release=15.5 flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.26.9",
        ),
        (
            "ubuntu-jammy-plain-rke2-1-26-9",
            "os=ubuntu os-release=jammy flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.26.9",
        ),
        (
            "opensuse-15-5-hardened-rke2-1-27-6",
            "os=opensuse os-release=15.5 flavor=hardened hardened=true k8s-flavor=rke2 k8s-version=1.27.6",
        ),
        (
            "opensuse-15-6-plain-kubeadm-1-31-8",
            "os=opensuse os-release=15.6 flavor=plain hardened=false k8s-flavor=kubeadm k8s-version=1.31.8",
        ),
        (
            "sles-15-6-hardened-rke2-1-31-8",
            "os=sles os-release=15.6 flavor=hardened hardened=true k8s-flavor=rke2 k8s-version=1.31.8",
        ),
        (
            "rhel-9.4-plain-kubeadm-1-31-8",
            "os=rhel os-release=9.4 flavor=plain hardened=false k8s-flavor=kubeadm k8s-version=1.31.8",
        ),
        (
            "rocky-9-plain-rke2-1-31-8",
            "os=rocky os-release=9 flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.31.8",
        ),
        (
            "ubuntu-noble-plain-ck8s-1-31-6",
            "os=ubuntu os-release=noble flavor=plain hardened=false k8s-flavor=ck8s k8s-version=1.31.6",
        ),
        (
            "ubuntu-jammy-plain-rke2-1-28-11-rc3",
            "os=ubuntu os-release=jammy flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.28.11-rc.3",
        ),
        (
            "ubuntu-noble-hardened-rke2-1-35",
            "os=ubuntu os-release=noble flavor=hardened hardened=true k8s-flavor=rke2 k8s-version=1.35",
        ),
        (
            "leapmicro-6-0-plain-rke2-1-35",
            "os=leapmicro os-release=6.0 flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.35",
        ),
        (
            "leapmicro-5-5-plain-rke2-1-28-12",
            "os=leapmicro os-release=5.5 flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.28.12",
        ),
        (
            "ubuntu-noble-hardened-rke2-1-31-8-0.4.12.raw",
            "os=ubuntu os-release=noble flavor=hardened hardened=true k8s-flavor=rke2 k8s-version=1.31.8 commit-tag=0.4.12 image-format=raw",
        ),
        (
            "ubuntu-jammy-plain-rke2-1-29-8.raw.gz",
            "os=ubuntu os-release=jammy flavor=plain hardened=false k8s-flavor=rke2 k8s-version=1.29.8 image-format=raw compression=gz",
        ),
    ],
};

/// The images that Sylva's builder made before it built one per Kubernetes version.
pub(super) const SYLVA_LEGACY: Scheme = Scheme {
    id: "sylva-legacy",
    forms: &[
        "{os}-{release}-{flavor}{file}",
        "diskimage-builder-{flavor}",
    ],
    parts: &[
        ("os", "ubuntu"),
        ("release", r"\d\d\.\d\d"),
        ("flavor", "plain|hardened"),
    ],
    examples: &[
        (
            "ubuntu-20.04-hardened.qcow2",
            "os=ubuntu os-release=focal flavor=hardened hardened=true image-format=qcow2",
        ),
        (
            "ubuntu-22.04-plain.qcow2",
            "os=ubuntu os-release=jammy flavor=plain hardened=false image-format=qcow2",
        ),
        ("diskimage-builder-plain", "flavor=plain hardened=false"),
        (
            "diskimage-builder-hardened",
            "flavor=hardened hardened=true",
        ),
    ],
};
