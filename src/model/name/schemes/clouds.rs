//! The names that image-builder gives images where a cloud has rules of its own.

use super::{ARCH, Scheme};

/// Amazon: `capa-ami-{build_name}-{semver}-{timestamp}`, looked up by CAPA with or without the `v`.
/// (kubernetes-sigs/cluster-api-provider-aws pkg/cloud/services/ec2/ami.go.)
pub(super) const CAPA_AMI: Scheme = Scheme {
    id: "capa-ami",
    forms: &[
        "{prefix}-ami-{os}-{release}[-{arch}]-{v}{k8s}{rebuild}[-{timestamp}]",
        "{prefix}-ami-{os}-{channel}[-{arch}]-{v}{k8s}{rebuild}[-{timestamp}]",
    ],
    parts: &[
        ("prefix", "cap[ai]"),
        ("os", "[a-z]+"),
        ("release", r"\d+(?:\.\d+)*"),
        ("channel", "stable|beta|alpha|lts"),
        ("arch", ARCH),
        ("v", "v?"),
        ("k8s", r"1\.\d+\.\d+"),
        ("rebuild", "(?:-00)?"),
        ("timestamp", r"\d{10}"),
    ],
    examples: &[(
        "capa-ami-ubuntu-22.04-v1.35.2-1773582653",
        "os=ubuntu os-release=jammy k8s-version=1.35.2 build-timestamp=1773582653",
    )],
};

/// Google's image families: only the minor. (image-builder docs/book/src/capi/providers/gcp.md.)
pub(super) const GCE_FAMILY: Scheme = Scheme {
    id: "gce-family",
    forms: &["capi-{os}-{release}-k8s-v{k8s}"],
    parts: &[("os", "[a-z]+"), ("release", r"\d+"), ("k8s", r"1-\d+")],
    examples: &[(
        "capi-ubuntu-2404-k8s-v1-17",
        "os=ubuntu os-release=noble k8s-version=1.17",
    )],
};

/// IBM Power Virtual Server and VPC.
pub(super) const CAPIBM: Scheme = Scheme {
    id: "capibm",
    forms: &[
        "capibm-{platform}-{os}-[{channel}]{release}-{k8s}[-{timestamp}][.{format}[.{compression}]]",
        "capibm-{platform}-{os}{release}-{k8s}[-{timestamp}][.{format}[.{compression}]]",
    ],
    parts: &[
        ("platform", "powervs|vpc"),
        ("os", "[a-z]+"),
        ("channel", "streams-?"),
        ("release", r"\d+(?:-\d+)??"),
        ("k8s", r"1-\d{1,3}-\d{1,3}"),
        ("timestamp", r"\d{10}"),
        ("format", "ova"),
        ("compression", "gz"),
    ],
    examples: &[
        (
            "capibm-powervs-centos-streams9-1-32-3",
            "os=centos os-release=9 os-channel=stream k8s-version=1.32.3 platform=powervs",
        ),
        (
            "capibm-powervs-centos-streams10-1-34-7.ova.gz",
            "os=centos os-release=10 os-channel=stream k8s-version=1.34.7 image-format=ova compression=gz platform=powervs",
        ),
        (
            "capibm-powervs-centos-streams8-1-28-4-1707287079.ova.gz",
            "os=centos os-release=8 os-channel=stream k8s-version=1.28.4 image-format=ova compression=gz platform=powervs build-timestamp=1707287079",
        ),
        (
            "capibm-powervs-centos-8-1-22-4",
            "os=centos os-release=8 k8s-version=1.22.4 platform=powervs",
        ),
    ],
};

/// DigitalOcean and Vultr name a snapshot with a sentence.
pub(super) const SENTENCE: Scheme = Scheme {
    id: "do-vultr",
    forms: &["Cluster API Kubernetes v{k8s} on {os} {release}"],
    parts: &[
        ("k8s", r"1\.\d+\.\d+"),
        ("os", "[A-Za-z]+"),
        ("release", r"\d+(?:\.\d+)*"),
    ],
    examples: &[
        (
            "Cluster API Kubernetes v1.28.9 on Ubuntu 24.04",
            "os=ubuntu os-release=noble k8s-version=1.28.9",
        ),
        (
            "Cluster API Kubernetes v1.32.4 on Ubuntu 22.04",
            "os=ubuntu os-release=jammy k8s-version=1.32.4",
        ),
    ],
};
