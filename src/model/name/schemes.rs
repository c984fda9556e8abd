//! The naming schemes of published machine images: one entry each, with the real names that it was written from.
//!
//! Groups of a pattern: `os`, `release`, `flavor` (plain or hardened), `k8s_flavor`, `k8s`, `builder`, and those of the file
//! extension. A new scheme is one more entry.

use std::sync::LazyLock;

use crate::regexp::{Error, Regexp};

/// One way to name images.
#[derive(Debug)]
pub struct Scheme {
    /// A short name for messages.
    pub id: &'static str,
    /// The whole name, without the file extension; `{ext}` is added behind it.
    pattern: &'static str,
    /// Real names and everything that is read from them.
    pub examples: &'static [Example],
}

/// A real name and its facts, as [`super::NameFacts::facts`] gives them.
pub type Example = (&'static str, &'static [(&'static str, &'static str)]);

/// Every scheme; no name fits two.
pub const SCHEMES: &[Scheme] = &[SYLVA, SYLVA_LEGACY, METAL3];

/// What the named groups of a scheme's pattern matched.
pub(super) type Groups<'t> = Vec<(&'static str, &'t str)>;

/// The scheme that a name follows, with its groups.
pub(super) fn matching(name: &str) -> Option<(&'static Scheme, Groups<'_>)> {
    SCHEMES
        .iter()
        .zip(COMPILED.iter())
        .find_map(|(scheme, regexp)| Some((scheme, regexp.named_groups(name)?)))
}

static COMPILED: LazyLock<Vec<Regexp>> = LazyLock::new(|| {
    let compile = |scheme: &Scheme| Regexp::new(&format!("^(?:{}){EXTENSION}$", scheme.pattern));
    let compiled: Result<Vec<Regexp>, Error> = SCHEMES.iter().map(compile).collect();
    compiled.expect("every scheme's pattern compiles: checked by tests")
});

const EXTENSION: &str = r"(?:(?:\.(?<format>qcow2|raw|img|iso|ova|ovf|vmdk|vhd|tar|vdi))?(?<suffixes>(?:\.(?:gz|bz2|xz|zst|sha256sum|md5sum))*)|(?<raw>-raw\.img)(?:\.(?:md5sum|sha256sum))?)";

/// sylva-projects/sylva-elements/diskimage-builder: dots up to 0.1.7, dashes from 0.1.8, file names with the release from
/// 0.4.5, minor only at 0.11.
const SYLVA: Scheme = Scheme {
    id: "sylva-dib",
    pattern: r"(?<os>ubuntu|opensuse)-(?<release>[a-z]+|\d+[.-]\d+)-(?<flavor>plain|hardened)-(?<k8s_flavor>rke2|kubeadm|ck8s)-(?<k8s>1[.-]\d{1,2}(?:[.-]\d{1,2})?(?:-(?:rc|alpha|beta)\d+)?)(?:-(?<builder>\d+\.\d+\.\d+))?",
    examples: &[
        (
            "ubuntu-jammy-plain-rke2-1.26.9",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.26.9"),
            ],
        ),
        (
            "ubuntu-jammy-hardened-rke2-1.26.9",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "hardened"),
                ("hardened", "true"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.26.9"),
            ],
        ),
        (
            "ubuntu-jammy-plain-kubeadm-1.25.14",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "kubeadm"),
                ("k8s-version", "1.25.14"),
            ],
        ),
        (
            "opensuse-15.5-plain-rke2-1.26.9",
            &[
                ("os", "opensuse"),
                ("os-release", "15.5"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.26.9"),
            ],
        ),
        (
            "ubuntu-jammy-plain-rke2-1-26-9",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.26.9"),
            ],
        ),
        (
            "opensuse-15-5-hardened-rke2-1-27-6",
            &[
                ("os", "opensuse"),
                ("os-release", "15.5"),
                ("flavor", "hardened"),
                ("hardened", "true"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.27.6"),
            ],
        ),
        (
            "opensuse-15-6-plain-kubeadm-1-31-8",
            &[
                ("os", "opensuse"),
                ("os-release", "15.6"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "kubeadm"),
                ("k8s-version", "1.31.8"),
            ],
        ),
        (
            "ubuntu-noble-plain-ck8s-1-31-6",
            &[
                ("os", "ubuntu"),
                ("os-release", "noble"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "ck8s"),
                ("k8s-version", "1.31.6"),
            ],
        ),
        (
            "ubuntu-jammy-plain-rke2-1-28-11-rc3",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.28.11-rc.3"),
            ],
        ),
        (
            "ubuntu-noble-hardened-rke2-1-35",
            &[
                ("os", "ubuntu"),
                ("os-release", "noble"),
                ("flavor", "hardened"),
                ("hardened", "true"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.35"),
            ],
        ),
        (
            "ubuntu-noble-hardened-rke2-1-31-8-0.4.12.raw",
            &[
                ("os", "ubuntu"),
                ("os-release", "noble"),
                ("flavor", "hardened"),
                ("hardened", "true"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.31.8"),
                ("commit-tag", "0.4.12"),
                ("image-format", "raw"),
            ],
        ),
        (
            "ubuntu-jammy-plain-rke2-1-29-8.raw.gz",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.29.8"),
                ("image-format", "raw"),
                ("compression", "gz"),
            ],
        ),
    ],
};

/// The images that Sylva's builder made before it built one per Kubernetes version.
const SYLVA_LEGACY: Scheme = Scheme {
    id: "sylva-legacy",
    pattern: r"(?<os>ubuntu)-(?<release>\d\d\.\d\d)-(?<flavor>plain|hardened)|diskimage-builder-(?<flavor_only>plain|hardened)",
    examples: &[
        (
            "ubuntu-20.04-hardened.qcow2",
            &[
                ("os", "ubuntu"),
                ("os-release", "focal"),
                ("flavor", "hardened"),
                ("hardened", "true"),
                ("image-format", "qcow2"),
            ],
        ),
        (
            "ubuntu-22.04-plain.qcow2",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("flavor", "plain"),
                ("hardened", "false"),
                ("image-format", "qcow2"),
            ],
        ),
        (
            "diskimage-builder-plain",
            &[("flavor", "plain"), ("hardened", "false")],
        ),
        (
            "diskimage-builder-hardened",
            &[("flavor", "hardened"), ("hardened", "true")],
        ),
    ],
};

/// The Metal3 project's own node images.
const METAL3: Scheme = Scheme {
    id: "metal3",
    pattern: r"(?<os>[A-Z]+)_(?<release>\d+(?:\.\d+)?)_NODE_IMAGE(?:_K8S_(?<k8s>v1\.\d+\.\d+)(?:_\d{8}T\d{4}Z_[0-9a-f]{7,})?)?",
    examples: &[
        (
            "UBUNTU_22.04_NODE_IMAGE_K8S_v1.29.0-raw.img",
            &[
                ("os", "ubuntu"),
                ("os-release", "jammy"),
                ("k8s-version", "1.29.0"),
                ("image-format", "raw"),
            ],
        ),
        (
            "CENTOS_10_NODE_IMAGE_K8S_v1.34.1.qcow2",
            &[
                ("os", "centos"),
                ("os-release", "10"),
                ("k8s-version", "1.34.1"),
                ("image-format", "qcow2"),
            ],
        ),
        (
            "CENTOS_9_NODE_IMAGE.img",
            &[("os", "centos"), ("os-release", "9")],
        ),
        (
            "UBUNTU_24.04_NODE_IMAGE_K8S_v1.35.0.qcow2",
            &[
                ("os", "ubuntu"),
                ("os-release", "noble"),
                ("k8s-version", "1.35.0"),
                ("image-format", "qcow2"),
            ],
        ),
        (
            "CENTOS_9_NODE_IMAGE_K8S_v1.27.1_20230607T1319Z_22101ef.qcow2",
            &[
                ("os", "centos"),
                ("os-release", "9"),
                ("k8s-version", "1.27.1"),
                ("image-format", "qcow2"),
            ],
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::{COMPILED, SCHEMES};
    use crate::model::name::NameFacts;

    #[test]
    fn every_example_says_exactly_its_facts() {
        for scheme in SCHEMES {
            for (name, facts) in scheme.examples {
                let read = NameFacts::parse(name).unwrap_or_else(|| panic!("`{name}` is read"));
                assert_eq!(read.scheme, scheme.id, "{name}");
                let read = read.facts();
                let read: Vec<(&str, &str)> = read
                    .iter()
                    .map(|(fact, value)| (*fact, value.as_str()))
                    .collect();
                assert_eq!(read, *facts, "{name}");
            }
        }
    }

    #[test]
    fn no_example_fits_two_schemes() {
        for (name, _) in SCHEMES.iter().flat_map(|scheme| scheme.examples) {
            let fitting = COMPILED
                .iter()
                .filter(|regexp| regexp.is_match(name))
                .count();
            assert_eq!(fitting, 1, "{name}");
        }
    }

    #[test]
    fn every_scheme_has_examples_and_an_id_of_its_own() {
        let mut ids: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), SCHEMES.len());
        assert!(SCHEMES.iter().all(|scheme| !scheme.examples.is_empty()));
    }
}
