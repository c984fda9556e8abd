//! The names of the Metal3 project's own node images.

use super::Scheme;

/// metal3-io/metal3-docs and the project's artifactory.
pub(super) const METAL3: Scheme = Scheme {
    id: "metal3",
    forms: &["{os}_{release}_NODE_IMAGE[_K8S_v{k8s}[_{timestamp}_{commit}]]{file}"],
    parts: &[
        ("os", "[A-Z]+"),
        ("release", r"\d+(?:\.\d+)?"),
        ("k8s", r"1\.\d+\.\d+"),
        ("timestamp", r"\d{8}T\d{4}Z"),
        ("commit", "[0-9a-f]{7,}"),
    ],
    examples: &[
        (
            "UBUNTU_22.04_NODE_IMAGE_K8S_v1.29.0-raw.img",
            "os=ubuntu os-release=jammy k8s-version=1.29.0 image-format=raw",
        ),
        (
            "CENTOS_10_NODE_IMAGE_K8S_v1.34.1.qcow2",
            "os=centos os-release=10 k8s-version=1.34.1 image-format=qcow2",
        ),
        ("CENTOS_9_NODE_IMAGE.img", "os=centos os-release=9"),
        (
            "UBUNTU_24.04_NODE_IMAGE_K8S_v1.35.0.qcow2",
            "os=ubuntu os-release=noble k8s-version=1.35.0 image-format=qcow2",
        ),
        (
            "CENTOS_9_NODE_IMAGE_K8S_v1.27.1_20230607T1319Z_22101ef.qcow2",
            "os=centos os-release=9 k8s-version=1.27.1 image-format=qcow2 build-timestamp=20230607T1319Z commit-id=22101ef",
        ),
    ],
};
