//! Which image or version may replace another one: the one law for every fix, help, `update --fix` and `stamp --set-version`.
//!
//! A replacement never lowers the Kubernetes version and never skips a minor, and it keeps the distribution with its kind of
//! build, the operating system with its release, hardening, architecture and everything else that decides which machines can
//! boot an image. What is known of one side only counts as different: it is not proven to be kept.

use std::fmt;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Origin, fact};

use crate::model::name::same_value;
use crate::model::version::Version;

/// The facts that a replacement keeps.
pub const KEPT: [&str; 10] = [
    fact::K8S_FLAVOR,
    fact::OS,
    fact::OS_RELEASE,
    fact::OS_CHANNEL,
    fact::HARDENED,
    fact::FLAVOR,
    fact::ARCH,
    fact::FIRMWARE,
    fact::PLATFORM,
    fact::VARIANT,
];

/// Why one thing must not replace another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The Kubernetes version.
    Version(VersionObstacle),
    /// A fact that would change.
    Fact {
        /// Its name.
        name: &'static str,
        /// What it is now.
        was: Option<String>,
        /// What it would be.
        is: Option<String>,
    },
    /// A fact that the replaced one has in some form, and the other one lacks.
    Missing(&'static str),
}

/// Why one Kubernetes version must not follow another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionObstacle {
    /// It is older.
    Older,
    /// It is more than one minor newer.
    Skips,
    /// It is a prerelease, and the other version is not.
    Prerelease,
    /// It is the build of another distribution, or leaves the build out.
    OtherBuild,
    /// It is not a complete version.
    Partial,
}

/// In words that follow "it" or the version's name: `is older`.
impl fmt::Display for VersionObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Older => "is older",
            Self::Skips => "skips a minor version",
            Self::Prerelease => "is a prerelease",
            Self::OtherBuild => "has not the same kind of build",
            Self::Partial => "is not a whole version",
        })
    }
}

/// In words that follow an image's name: `has hardened: false, not true`.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(obstacle) => write!(f, "{obstacle}"),
            Self::Missing(name) => write!(f, "has no `{name}`"),
            Self::Fact { name, was, is } => {
                match is {
                    Some(is) => write!(f, "has `{name}: {is}`")?,
                    None => write!(f, "has no `{name}`")?,
                }
                match was {
                    Some(was) => write!(f, ", not `{was}`"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Why a version must not replace another one; `None` if it may.
pub fn version_obstacle(from: &str, to: &str) -> Option<VersionObstacle> {
    let (Some(from), Some(to)) = (Version::parse(from), Version::parse(to)) else {
        return Some(VersionObstacle::Partial);
    };
    if from.is_partial() || to.is_partial() {
        return Some(VersionObstacle::Partial);
    }
    let is_other_build = from.build_kind() != to.build_kind();
    age_obstacle(&from, &to).or(is_other_build.then_some(VersionObstacle::OtherBuild))
}

/// The obstacles to replacing an image with the old facts by one with the new facts; empty if it may be replaced.
pub fn fact_obstacles(old: &Facts, new: &Facts) -> Vec<Obstacle> {
    let changed = KEPT.into_iter().filter(|name| !is_same(name, old, new));
    let facts = changed.map(|name| Obstacle::Fact {
        name,
        was: old.text(name).map(str::to_owned),
        is: new.text(name).map(str::to_owned),
    });
    let version = image_version_obstacle(old, new).map(Obstacle::Version);
    version.into_iter().chain(facts).collect()
}

/// The obstacles to replacing an image by another one; empty if it may be replaced. The new image also needs a reference, a format
/// and a checksum if the old one has them.
pub fn obstacles(old: &Image, new: &Image) -> Vec<Obstacle> {
    let mut found = fact_obstacles(&old.facts, &new.facts);
    let has = |image: &Image, name: &str| image.facts.text(name).is_some_and(|it| !it.is_empty());
    let has_checksum = |image: &Image| fact::CHECKSUMS.iter().any(|name| has(image, name));
    let mut lacks = |name, was: bool, is: bool| {
        found.extend((was && !is).then_some(Obstacle::Missing(name)));
    };
    lacks(fact::URI, old.uri.is_some(), new.uri.is_some());
    lacks(fact::SHA256, has_checksum(old), has_checksum(new));
    let format = |image: &Image| image.facts.text(fact::IMAGE_FORMAT).map(str::to_owned);
    let (was, is) = (format(old), format(new));
    if was.is_some() && was != is {
        let name = fact::IMAGE_FORMAT;
        found.push(Obstacle::Fact { name, was, is });
    }
    found
}

/// The facts that a replacement has to keep. An image for another distribution than its cluster's loses its build and its flavor.
pub fn facts_to_keep(old: &Facts, flavor: Option<&str>) -> Facts {
    let flavor =
        flavor.filter(|flavor| old.text(fact::K8S_FLAVOR).is_some_and(|own| own != *flavor));
    let Some(flavor) = flavor else {
        return old.clone();
    };
    let mut facts = Facts::default();
    for (name, known) in old.iter() {
        let (value, origin) = match &**name {
            fact::K8S_FLAVOR => (flavor.into(), known.origin),
            // The build belongs to the other distribution.
            fact::K8S_VERSION => {
                let bare = known.value.split(['+', '-']).next().unwrap_or_default();
                (bare.into(), Origin::Name)
            }
            _ => (Arc::clone(&known.value), known.origin),
        };
        facts.learn(name, Fact::new(value, origin, known.place));
    }
    facts
}

/// Whether two images belong to one line: they differ in their Kubernetes version only.
pub fn is_one_line(one: &Facts, other: &Facts) -> bool {
    KEPT.into_iter().all(|name| is_same(name, one, other))
}

/// Whether two images have the same value of a fact, or neither has one.
fn is_same(name: &str, old: &Facts, new: &Facts) -> bool {
    match (old.text(name), new.text(name)) {
        (Some(one), Some(other)) => same_value(name, old.text(fact::OS), one, other),
        (one, other) => one == other,
    }
}

/// The obstacle between the versions of two images. A name often omits the patch level and the build, which is not a difference.
fn image_version_obstacle(old: &Facts, new: &Facts) -> Option<VersionObstacle> {
    let (from, to) = match (old.get(fact::K8S_VERSION), new.get(fact::K8S_VERSION)) {
        (Some(from), Some(to)) => (from, to),
        (None, _) => return None,
        (Some(_), None) => return Some(VersionObstacle::Partial),
    };
    let parsed = Version::parse(&from.value).zip(Version::parse(&to.value));
    let Some((old, new)) = parsed else {
        return (from.value != to.value).then_some(VersionObstacle::Partial);
    };
    let is_other_build = match (old.build_kind(), new.build_kind()) {
        (Some(one), Some(other)) => one != other,
        (None, None) => false,
        (Some(_), None) => to.origin != Origin::Name,
        (None, Some(_)) => from.origin != Origin::Name,
    };
    age_obstacle(&old, &new).or(is_other_build.then_some(VersionObstacle::OtherBuild))
}

/// What the age of two versions says against the second one, whatever their kinds of build.
fn age_obstacle(from: &Version, to: &Version) -> Option<VersionObstacle> {
    match to.minors_ahead_of(from) {
        Some(0 | 1) => {}
        Some(ahead) if ahead < 0 => return Some(VersionObstacle::Older),
        None if to.major < from.major => return Some(VersionObstacle::Older),
        _ => return Some(VersionObstacle::Skips),
    }
    if to.prerelease.is_some() && from.prerelease.is_none() {
        return Some(VersionObstacle::Prerelease);
    }
    let is_one_minor = (from.major, from.minor) == (to.major, to.minor);
    let are_whole = !from.is_partial() && !to.is_partial();
    // A version without a build is not older than one with a build.
    let order = if from.build.is_some() && to.build.is_some() {
        to.cmp(from)
    } else {
        to.cmp_release(from)
    };
    (is_one_minor && are_whole && order.is_lt()).then_some(VersionObstacle::Older)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{Obstacle, VersionObstacle, fact_obstacles, facts_to_keep, version_obstacle};
    use crate::model::name::NameSchemes;
    use crate::model::version::Version;
    use capi::image::{Fact, Facts, Origin};
    use yaml_tree::place::Place;

    fn facts(facts: &[(&str, &str)]) -> Facts {
        let facts = facts.iter();
        Facts::new(
            Origin::InfoFile,
            facts.map(|(name, value)| (*name, *value, Place::NONE)),
        )
    }

    #[test]
    fn a_version_goes_up_by_at_most_one_minor_and_keeps_its_kind_of_build() {
        let step = |from, to| version_obstacle(from, to);
        assert_eq!(step("v1.30.12+rke2r1", "1.31.8+rke2r2"), None);
        assert_eq!(step("v1.31.8+rke2r1", "v1.31.8+rke2r1"), None);
        assert_eq!(step("v1.31.8", "v1.31.9"), None);
        assert_eq!(step("v1.35.2", "v1.31.1"), Some(VersionObstacle::Older));
        assert_eq!(
            step("v1.31.8+rke2r2", "v1.31.8+rke2r1"),
            Some(VersionObstacle::Older)
        );
        assert_eq!(step("v1.31.4", "v1.34.0"), Some(VersionObstacle::Skips));
        assert_eq!(
            step("v1.28.1+k3s1", "v1.28.4"),
            Some(VersionObstacle::OtherBuild)
        );
        assert_eq!(
            step("v1.28.1", "v1.28.4+k3s1"),
            Some(VersionObstacle::OtherBuild)
        );
        assert_eq!(
            step("v1.28.1+k3s1", "v1.28.4+rke2r1"),
            Some(VersionObstacle::OtherBuild)
        );
        assert_eq!(
            step("v1.31.8", "v1.32.0-rc.1"),
            Some(VersionObstacle::Prerelease)
        );
        assert_eq!(step("v1.31.8", "1.31"), Some(VersionObstacle::Partial));
        assert_eq!(step("latest", "v1.31.8"), Some(VersionObstacle::Partial));
    }

    #[test]
    fn an_image_keeps_what_it_is() {
        let old = [
            ("os", "ubuntu"),
            ("os-release", "noble"),
            ("hardened", "true"),
            ("arch", "x86_64"),
            ("k8s-flavor", "rke2"),
            ("k8s-version", "1.30.12+rke2r1"),
        ];
        let with = |name: &str, value: &str| {
            let mut new: Vec<(&str, &str)> =
                old.into_iter().filter(|known| known.0 != name).collect();
            if !value.is_empty() {
                new.push((name, value));
            }
            fact_obstacles(&facts(&old), &facts(&new))
        };
        for (name, value) in [
            ("k8s-version", "1.31.8+rke2r1"),
            ("os-release", "24.04"),
            ("arch", "amd64"),
        ] {
            assert_eq!(with(name, value), [], "{name}: {value}");
        }
        for (name, value, expected) in [
            ("hardened", "false", "has `hardened: false`, not `true`"),
            ("hardened", "", "has no `hardened`, not `true`"),
            (
                "os-release",
                "jammy",
                "has `os-release: jammy`, not `noble`",
            ),
            ("os", "opensuse", "has `os: opensuse`, not `ubuntu`"),
            ("arch", "arm64", "has `arch: arm64`, not `x86_64`"),
            (
                "k8s-flavor",
                "kubeadm",
                "has `k8s-flavor: kubeadm`, not `rke2`",
            ),
            ("flavor", "plain", "has `flavor: plain`"),
            ("k8s-version", "1.29.1+rke2r1", "is older"),
            ("k8s-version", "1.32.1+rke2r1", "skips a minor version"),
            ("k8s-version", "1.31.8", "has not the same kind of build"),
            ("k8s-version", "", "is not a whole version"),
        ] {
            let found = with(name, value);
            let found: Vec<String> = found.iter().map(Obstacle::to_string).collect();
            assert!(
                found.contains(&expected.to_owned()),
                "{name}: {value}: {found:?}"
            );
        }
    }

    #[test]
    fn names_are_compared_by_what_both_say() {
        let facts = |name| NameSchemes::default().facts(name).expect("a scheme");
        let of = |new| fact_obstacles(&facts("ubuntu-noble-hardened-rke2-1-31-8"), &facts(new));
        assert_eq!(of("ubuntu-noble-hardened-rke2-1-31-9"), []);
        assert_eq!(of("ubuntu-noble-hardened-rke2-1-31"), []);
        assert!(!of("ubuntu-noble-plain-rke2-1-31-9").is_empty());
        // A name without a build is followed by facts with one.
        let name = NameSchemes::default()
            .facts("ubuntu-noble-hardened-rke2-1-31-8")
            .expect("a scheme");
        let mut whole = NameSchemes::default()
            .facts("ubuntu-noble-hardened-rke2-1-31-9")
            .expect("a scheme");
        let fact = Fact::new("1.31.9+rke2r1", Origin::Annotation, Place::NONE);
        whole.learn("k8s-version", fact);
        assert_eq!(fact_obstacles(&name, &whole), []);
    }

    #[test]
    fn an_image_for_another_distribution_is_replaced_by_one_for_its_own() {
        let old = facts(&[
            ("k8s-flavor", "kubeadm"),
            ("k8s-version", "1.31.8"),
            ("hardened", "true"),
        ]);
        let new = |hardened| {
            facts(&[
                ("k8s-flavor", "rke2"),
                ("k8s-version", "1.31.8+rke2r1"),
                ("hardened", hardened),
            ])
        };
        assert!(!fact_obstacles(&old, &new("true")).is_empty());
        let old = facts_to_keep(&old, Some("rke2"));
        assert_eq!(fact_obstacles(&old, &new("true")), []);
        assert!(!fact_obstacles(&old, &new("false")).is_empty());
    }

    proptest! {
        #[test]
        fn what_may_follow_is_never_lower(
            from in "v?1[.](29|3[0-3])[.][0-3](-rc[.][12])?([+](rke2r|k3s)[12])?",
            to in "v?1[.](29|3[0-3])[.][0-3](-rc[.][12])?([+](rke2r|k3s)[12])?",
        ) {
            let parsed = |text: &str| Version::parse(text).expect("a version");
            let (old, new) = (parsed(&from), parsed(&to));
            if version_obstacle(&from, &to).is_none() {
                prop_assert!(new >= old, "{from} -> {to}");
                prop_assert!(new.minor - old.minor <= 1, "{from} -> {to}");
                prop_assert!(new.build.is_some() == old.build.is_some(), "{from} -> {to}");
            } else {
                prop_assert!(old != new, "{from} -> {to}");
            }
        }
    }
}
