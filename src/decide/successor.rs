//! The image that follows another one in the same line: what a cluster moves to when the builder's next version no longer has
//! the one that it boots.

use std::collections::HashMap;

use capi::image::Facts;

use super::replacement;
use crate::model::name::{NameFacts, split_registry};
use crate::model::version::Version;

/// The newest image of the same system, release, hardening, Kubernetes distribution and Kubernetes minor version, by their
/// names. None where there is none newer, and never an older one: a line that ended has no successor.
///
/// A name without a patch version (`…-rke2-1-35`) follows those with one only where no other does: the builder stopped
/// naming patches. A prerelease follows prereleases only.
pub fn successor<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let line = Line::parse(name)?;
    let others = candidates.into_iter().filter(|other| *other != name);
    let others: Vec<(Line<'_>, &str)> = others
        .filter_map(|other| Some((Line::parse(other)?, other)))
        .collect();
    newest(&line, others.iter().map(|(line, other)| (line, *other)))
}

/// The successor of each name among the others, as its index.
pub fn successors(names: &[&str]) -> Vec<Option<usize>> {
    let mut indexes = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        indexes.entry(*name).or_insert(index);
    }
    let read: Vec<(&str, Option<Line<'_>>)> = names
        .iter()
        .map(|name| (*name, Line::parse(name)))
        .collect();
    let follows = |(name, line): &(&str, Option<Line<'_>>)| {
        let others = read.iter().filter(|(other, _)| other != name);
        let others = others.filter_map(|(other, line)| Some((line.as_ref()?, *other)));
        indexes.get(newest(line.as_ref()?, others)?).copied()
    };
    read.iter().map(follows).collect()
}

/// The newest of those that follow a name.
fn newest<'l, 'a>(
    line: &Line<'_>,
    others: impl Iterator<Item = (&'l Line<'l>, &'a str)>,
) -> Option<&'a str> {
    let newest = others
        .filter(|(other, _)| line.is_followed_by(other))
        .max_by(|(a, first), (b, second)| {
            let rank = |line: &Line<'_>| (line.patch().is_some(), line.patch());
            rank(a).cmp(&rank(b)).then(second.cmp(first))
        });
    newest.map(|(_, candidate)| candidate)
}

/// Whether two names belong to one line: they differ in their Kubernetes version only.
pub fn same_line(one: &str, other: &str) -> bool {
    match (Line::parse(one), Line::parse(other)) {
        (Some(one), Some(other)) => one.is_beside(&other),
        _ => false,
    }
}

/// What a name says, where it says enough to be followed.
struct Line<'a> {
    /// The registry before `--`, which Sylva's chart puts before names: another release of the builder is another image.
    registry: Option<&'a str>,
    scheme: &'static str,
    facts: Facts,
    version: Version,
}

impl<'a> Line<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let (registry, name) = split_registry(name);
        let read = NameFacts::parse(name)?;
        let version = read.k8s_version.clone()?;
        read.os.as_ref()?;
        Some(Self {
            registry,
            scheme: read.scheme,
            facts: read.into(),
            version,
        })
    }

    fn patch(&self) -> Option<u32> {
        self.version.patch
    }

    fn is_beside(&self, other: &Self) -> bool {
        let of_one = self.registry == other.registry && self.scheme == other.scheme;
        of_one && replacement::is_one_line(&self.facts, &other.facts)
    }

    /// Within one minor version: the next minor is an upgrade of the cluster.
    fn is_followed_by(&self, other: &Self) -> bool {
        let minor = |line: &Self| (line.version.major, line.version.minor);
        self.registry == other.registry
            && self.scheme == other.scheme
            && minor(self) == minor(other)
            && replacement::fact_obstacles(&self.facts, &other.facts).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{same_line, successor, successors};

    const OFFERED: [&str; 9] = [
        "ubuntu-noble-plain-rke2-1-31-9",
        "ubuntu-noble-plain-rke2-1-31-11",
        "ubuntu-noble-plain-rke2-1-32-6",
        "ubuntu-noble-hardened-rke2-1-31-12",
        "ubuntu-noble-plain-kubeadm-1-31-13",
        "ubuntu-jammy-plain-rke2-1-31-14",
        "opensuse-15-6-plain-rke2-1-31-11",
        "ubuntu-noble-plain-rke2-1-31-12-rc1",
        "ubuntu-noble-hardened-rke2-1-35",
    ];

    fn next(name: &str) -> Option<&str> {
        successor(name, OFFERED)
    }

    #[test]
    fn the_newest_patch_of_the_line_follows() {
        assert_eq!(
            next("ubuntu-noble-plain-rke2-1-31-8"),
            Some("ubuntu-noble-plain-rke2-1-31-11")
        );
        assert_eq!(
            next("opensuse-15-6-plain-rke2-1-31-8"),
            Some("opensuse-15-6-plain-rke2-1-31-11")
        );
        assert_eq!(
            next("ubuntu-noble-plain-rke2-1.31.8"),
            Some("ubuntu-noble-plain-rke2-1-31-11")
        );
    }

    #[test]
    fn nothing_older_and_nothing_of_another_line_follows() {
        assert_eq!(next("ubuntu-noble-plain-rke2-1-31-12"), None);
        assert_eq!(next("ubuntu-noble-plain-rke2-1-30-12"), None);
        assert_eq!(next("ubuntu-noble-plain-ck8s-1-31-6"), None);
        assert_eq!(next("opensuse-15-5-plain-rke2-1-31-8"), None);
        assert_eq!(next("my-own-image"), None);
    }

    #[test]
    fn a_name_without_a_patch_follows_where_no_other_does() {
        assert_eq!(
            next("ubuntu-noble-hardened-rke2-1-35-3"),
            Some("ubuntu-noble-hardened-rke2-1-35")
        );
        let both = [
            "ubuntu-noble-hardened-rke2-1-35",
            "ubuntu-noble-hardened-rke2-1-35-6",
        ];
        assert_eq!(
            successor("ubuntu-noble-hardened-rke2-1-35-3", both),
            Some("ubuntu-noble-hardened-rke2-1-35-6")
        );
    }

    #[test]
    fn an_image_of_one_registry_follows_none_of_another() {
        let keys = [
            "sylva--ubuntu-noble-plain-rke2-1-31-9",
            "ubuntu-noble-plain-rke2-1-31-10",
        ];
        let next = |registry| successor(registry, keys);
        assert_eq!(next("sylva--ubuntu-noble-plain-rke2-1-31-8"), Some(keys[0]));
        assert_eq!(next("sylva-n-1--ubuntu-noble-plain-rke2-1-31-8"), None);
        assert!(!same_line(keys[0], keys[1]));
    }

    #[test]
    fn an_image_does_not_follow_itself() {
        assert_eq!(successor(OFFERED[1], [OFFERED[0], OFFERED[1]]), None);
    }

    #[test]
    fn all_successors_are_those_of_each_name() {
        let each = OFFERED.map(|name| successor(name, OFFERED));
        let all = successors(&OFFERED).into_iter();
        let all: Vec<Option<&str>> = all.map(|index| Some(OFFERED[index?])).collect();
        assert_eq!(all, each);
        assert_eq!(successors(&["a", "a"]), [None, None]);
    }

    #[test]
    fn a_line_goes_over_versions() {
        assert!(same_line(OFFERED[0], OFFERED[2]));
        assert!(!same_line(OFFERED[0], OFFERED[3]));
        assert!(!same_line("x", "x"));
    }
}
