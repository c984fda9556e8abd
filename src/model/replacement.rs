//! Which image or version may replace another one: the one law for every fix, help, `update --fix` and `stamp --set-version`.
//!
//! A replacement never lowers the Kubernetes version and never skips a minor, and it keeps the distribution with its kind of
//! build, the operating system with its release, hardening, architecture and everything else that decides which machines can
//! boot an image. What is known of one side only counts as different: it is not proven to be kept.

use std::fmt;
use std::sync::Arc;

use super::cluster_view::ClusterView;
use super::image::{Fact, Facts, Image, Origin, fact};
use super::matching::{Outcome, Selection};
use super::name::{NameFacts, Release, architecture};
use super::place::Place;
use super::version::{Version, distribution_of};

/// The facts that a replacement keeps.
const KEPT: [&str; 10] = [
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
    Version(Step),
    /// A fact that would change.
    Fact {
        /// Its name.
        name: &'static str,
        /// What it is now.
        was: Option<String>,
        /// What it would be.
        is: Option<String>,
    },
}

/// Why one Kubernetes version must not follow another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
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
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Older => "is older",
            Self::Skips => "skips a minor version",
            Self::Prerelease => "is a prerelease",
            Self::OtherBuild => "has not the same kind of build",
            Self::Partial => "is no whole version",
        })
    }
}

/// In words that follow an image's name: `has hardened: false, not true`.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(step) => write!(f, "{step}"),
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
pub fn of_version(from: &str, to: &str) -> Option<Step> {
    let (Some(from), Some(to)) = (Version::parse(from), Version::parse(to)) else {
        return Some(Step::Partial);
    };
    if from.is_partial() || to.is_partial() {
        return Some(Step::Partial);
    }
    let kind = |version: &Version| {
        version
            .build
            .as_deref()
            .map(kind_of_build)
            .map(str::to_owned)
    };
    step(&from, &to).or_else(|| (kind(&from) != kind(&to)).then_some(Step::OtherBuild))
}

/// The obstacles to replacing an image with the old facts by one with the new facts; empty if it may be replaced.
pub fn between(old: &Facts, new: &Facts) -> Vec<Obstacle> {
    let changed = KEPT.into_iter().filter(|name| !is_same(name, old, new));
    let facts = changed.map(|name| Obstacle::Fact {
        name,
        was: old.text(name).map(str::to_owned),
        is: new.text(name).map(str::to_owned),
    });
    let version = between_images(old, new).map(Obstacle::Version);
    version.into_iter().chain(facts).collect()
}

/// The obstacles to replacing an image by another one; empty if it may be replaced. The new image also needs a reference, a format
/// and a checksum if the old one has them.
pub fn obstacles(old: &Image, new: &Image) -> Vec<Obstacle> {
    const CHECKSUMS: [&str; 3] = [fact::SHA256, fact::SHA512, fact::MD5];
    let mut found = between(&old.facts, &new.facts);
    let has = |image: &Image, name: &str| image.facts.text(name).is_some_and(|it| !it.is_empty());
    let has_checksum = |image: &Image| CHECKSUMS.iter().any(|name| has(image, name));
    let mut lacks = |name, was: bool, is: bool| {
        found.extend((was && !is).then_some(Obstacle::Fact {
            name,
            was: None,
            is: None,
        }));
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

/// Whether a change of a cluster breaks this law for any pool: its version, or the image that it boots.
pub fn lowers(before: &ClusterView, after: &ClusterView) -> bool {
    let flavor = before.cluster.bootstrap_provider.as_ref();
    let flavor = flavor.and_then(|provider| distribution_of(&provider.value));
    let image = |view: &ClusterView, index: usize| {
        let selection: Option<&Selection> = view.selections.get(index);
        match &selection?.outcome {
            Outcome::Image(key) => view.images.get(key).cloned(),
            _ => None,
        }
    };
    let is_lowered = |index: usize| {
        let version = |view: &ClusterView| {
            let pool = view.cluster.pools.get(index)?;
            Some(Arc::clone(&view.cluster.k8s_version_of(pool)?.value))
        };
        let versions = version(before).zip(version(after));
        let images = image(before, index).zip(image(after, index));
        versions.is_some_and(|(old, new)| old != new && of_version(&old, &new).is_some())
            || images.is_some_and(|(old, new)| {
                let facts = required(&old.facts, flavor);
                let is_other = old.key != new.key;
                is_other && !obstacles(&Image { facts, ..old }, &new).is_empty()
            })
    };
    (0..before.cluster.pools.len()).any(is_lowered)
}

/// The facts that a replacement has to keep. An image for another distribution than its cluster's loses its build and its flavor.
pub fn required(old: &Facts, flavor: Option<&str>) -> Facts {
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

/// Whether a selector's value of a fact may be replaced by another one: another spelling, a version that may follow, or a fact that
/// does not affect what machines boot.
pub fn may_require(name: &str, os: Option<&str>, was: &str, is: &str) -> bool {
    // A pattern that matches one text only, or is intended to.
    let was = was.replace(['\\', '(', ')', '^', '$'], "");
    match name {
        _ if was == is => true,
        fact::K8S_VERSION => of_version(&was, is).is_none(),
        fact::OS_RELEASE => is_same_release(os, &was, is),
        fact::ARCH => architecture(&was) == architecture(is),
        _ => !KEPT.contains(&name),
    }
}

/// Words of image names that a correction of a misspelling must not replace.
const WORDS: [&str; 13] = [
    "amd64",
    "arm64",
    "cis",
    "ck8s",
    "fips",
    "hardened",
    "k0s",
    "k3s",
    "kubeadm",
    "openshift",
    "plain",
    "rke2",
    "stig",
];

/// Whether an unknown name may be a misspelling of a known one: it has no word with a meaning that the known one lacks.
pub fn is_slip(name: &str, meant: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.map(str::to_ascii_lowercase).collect()
    };
    let known = words(meant);
    let means = |word: &String| {
        WORDS.contains(&&**word)
            || Release::read(None, word)
                .version
                .is_some_and(|it| it != *word)
    };
    !words(name)
        .iter()
        .any(|word| means(word) && !known.contains(word))
}

/// The facts in a name.
pub fn facts_of(name: &str) -> Option<Facts> {
    NameFacts::parse(name).map(Facts::from)
}

impl From<NameFacts> for Facts {
    fn from(name: NameFacts) -> Self {
        let facts = name.facts().into_iter();
        Self::of(
            Origin::Name,
            facts.map(|(name, value)| (name, value, Place::NONE)),
        )
    }
}

/// Whether two images belong to one line: they differ in their Kubernetes version only.
pub fn is_one_line(one: &Facts, other: &Facts) -> bool {
    KEPT.into_iter().all(|name| is_same(name, one, other))
}

/// Whether two images have the same value of a fact, or neither has one.
fn is_same(name: &str, old: &Facts, new: &Facts) -> bool {
    match (old.text(name), new.text(name)) {
        (Some(one), Some(other)) => match name {
            fact::OS_RELEASE => is_same_release(old.text(fact::OS), one, other),
            fact::ARCH => architecture(one) == architecture(other),
            _ => one == other,
        },
        (one, other) => one == other,
    }
}

/// Whether two texts name one release of a system.
pub fn is_same_release(os: Option<&str>, one: &str, other: &str) -> bool {
    one == other || Release::read(os, one).is_same(&Release::read(os, other))
}

/// The obstacle between the versions of two images. A name often omits the patch level and the build, which is not a difference.
fn between_images(old: &Facts, new: &Facts) -> Option<Step> {
    let (from, to) = match (old.get(fact::K8S_VERSION), new.get(fact::K8S_VERSION)) {
        (Some(from), Some(to)) => (from, to),
        (None, _) => return None,
        (Some(_), None) => return Some(Step::Partial),
    };
    let parsed = Version::parse(&from.value).zip(Version::parse(&to.value));
    let Some((old, new)) = parsed else {
        return (from.value != to.value).then_some(Step::Partial);
    };
    let is_other_build = match (&old.build, &new.build) {
        (Some(one), Some(other)) => kind_of_build(one) != kind_of_build(other),
        (None, None) => false,
        (Some(_), None) => to.origin != Origin::Name,
        (None, Some(_)) => from.origin != Origin::Name,
    };
    step(&old, &new).or(is_other_build.then_some(Step::OtherBuild))
}

/// The step from one version to another, builds of different kinds apart.
fn step(from: &Version, to: &Version) -> Option<Step> {
    match to.minors_ahead_of(from) {
        Some(0 | 1) => {}
        Some(ahead) if ahead < 0 => return Some(Step::Older),
        None if to.major < from.major => return Some(Step::Older),
        _ => return Some(Step::Skips),
    }
    if to.prerelease.is_some() && from.prerelease.is_none() {
        return Some(Step::Prerelease);
    }
    let is_one_minor = (from.major, from.minor) == (to.major, to.minor);
    let are_whole = !from.is_partial() && !to.is_partial();
    // A version without a build is not older than one with a build.
    let without_build = |version: &Version| Version {
        build: None,
        ..version.clone()
    };
    let is_older = match from.build.is_some() && to.build.is_some() {
        true => to < from,
        false => without_build(to) < without_build(from),
    };
    (is_one_minor && are_whole && is_older).then_some(Step::Older)
}

/// A build without its number: `rke2r` of `rke2r1`, `k3s` of `k3s2`.
fn kind_of_build(build: &str) -> &str {
    build.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{Obstacle, Step, between, facts_of, is_slip, may_require, of_version, required};
    use crate::model::image::{Fact, Facts, Origin};
    use crate::model::place::Place;
    use crate::model::version::Version;

    fn facts(facts: &[(&str, &str)]) -> Facts {
        let facts = facts.iter();
        Facts::of(
            Origin::InfoFile,
            facts.map(|(name, value)| (*name, *value, Place::NONE)),
        )
    }

    #[test]
    fn a_version_goes_up_by_at_most_one_minor_and_keeps_its_kind_of_build() {
        let step = |from, to| of_version(from, to);
        assert_eq!(step("v1.30.12+rke2r1", "1.31.8+rke2r2"), None);
        assert_eq!(step("v1.31.8+rke2r1", "v1.31.8+rke2r1"), None);
        assert_eq!(step("v1.31.8", "v1.31.9"), None);
        assert_eq!(step("v1.35.2", "v1.31.1"), Some(Step::Older));
        assert_eq!(step("v1.31.8+rke2r2", "v1.31.8+rke2r1"), Some(Step::Older));
        assert_eq!(step("v1.31.4", "v1.34.0"), Some(Step::Skips));
        assert_eq!(step("v1.28.1+k3s1", "v1.28.4"), Some(Step::OtherBuild));
        assert_eq!(step("v1.28.1", "v1.28.4+k3s1"), Some(Step::OtherBuild));
        assert_eq!(
            step("v1.28.1+k3s1", "v1.28.4+rke2r1"),
            Some(Step::OtherBuild)
        );
        assert_eq!(step("v1.31.8", "v1.32.0-rc.1"), Some(Step::Prerelease));
        assert_eq!(step("v1.31.8", "1.31"), Some(Step::Partial));
        assert_eq!(step("latest", "v1.31.8"), Some(Step::Partial));
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
            between(&facts(&old), &facts(&new))
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
            ("k8s-version", "", "is no whole version"),
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
        let facts = |name| facts_of(name).expect("a scheme");
        let of = |new| between(&facts("ubuntu-noble-hardened-rke2-1-31-8"), &facts(new));
        assert_eq!(of("ubuntu-noble-hardened-rke2-1-31-9"), []);
        assert_eq!(of("ubuntu-noble-hardened-rke2-1-31"), []);
        assert!(!of("ubuntu-noble-plain-rke2-1-31-9").is_empty());
        // A name without a build is followed by facts with one.
        let name = facts_of("ubuntu-noble-hardened-rke2-1-31-8").expect("a scheme");
        let mut whole = facts_of("ubuntu-noble-hardened-rke2-1-31-9").expect("a scheme");
        let fact = Fact::new("1.31.9+rke2r1", Origin::Annotation, Place::NONE);
        whole.learn("k8s-version", fact);
        assert_eq!(between(&name, &whole), []);
    }

    #[test]
    fn a_slip_changes_no_word_that_means_something() {
        for (name, meant) in [
            (
                "ubuntu-nobel-plain-rke2-1-31-8",
                "ubuntu-noble-plain-rke2-1-31-8",
            ),
            ("ubunto-noble-plane-rke2", "ubuntu-noble-plain-rke2"),
        ] {
            assert!(is_slip(name, meant), "{name}");
        }
        for (name, meant) in [
            ("rocky-cis-1", "rocky-fips-1"),
            ("own-amd64", "own-arm64"),
            ("ubuntu-jammy-1", "ubuntu-gammy-1"),
        ] {
            assert!(!is_slip(name, meant), "{name}");
        }
    }

    #[test]
    fn a_selector_may_change_its_spelling_only() {
        let may = |name, was, is| may_require(name, Some("ubuntu"), was, is);
        assert!(may("os-release", r"24\.04", "noble"));
        assert!(may("arch", "x86_64", "amd64"));
        assert!(may("commit-tag", "0.4.11", "0.4.12"));
        assert!(may("k8s-version", r"1.31.8\+rke2r1", "1.31.9+rke2r1"));
        for (name, was, is) in [
            ("os-release", "noble", "jammy"),
            ("hardened", "true", "false"),
            ("k8s-flavor", "kubeadm", "rke2"),
            ("k8s-version", r"1.31.8\+rke2r1", "1.31.7+rke2r1"),
            ("k8s-version", "1.31.*", "1.31.9"),
        ] {
            assert!(!may(name, was, is), "{name}: {was} -> {is}");
        }
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
        assert!(!between(&old, &new("true")).is_empty());
        let old = required(&old, Some("rke2"));
        assert_eq!(between(&old, &new("true")), []);
        assert!(!between(&old, &new("false")).is_empty());
    }

    proptest! {
        #[test]
        fn what_may_follow_is_never_lower(
            from in "v?1[.](29|3[0-3])[.][0-3](-rc[.][12])?([+](rke2r|k3s)[12])?",
            to in "v?1[.](29|3[0-3])[.][0-3](-rc[.][12])?([+](rke2r|k3s)[12])?",
        ) {
            let parsed = |text: &str| Version::parse(text).expect("a version");
            let (old, new) = (parsed(&from), parsed(&to));
            if of_version(&from, &to).is_none() {
                prop_assert!(new >= old, "{from} -> {to}");
                prop_assert!(new.minor - old.minor <= 1, "{from} -> {to}");
                prop_assert!(new.build.is_some() == old.build.is_some(), "{from} -> {to}");
            } else {
                prop_assert!(old != new, "{from} -> {to}");
            }
        }
    }
}
