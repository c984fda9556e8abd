//! Which images a builder's version offers.

use std::collections::{BTreeMap, BTreeSet};

use oci_artifacts::{SCHEME, is_oci};

use crate::decide::successor::successor;
use crate::model::name::{NameFacts, key_of};
use crate::model::version::Version;

/// The number of a registry's other versions that are reported: the last ones.
const OTHERS: usize = 5;

/// What an address has that holds a builder's snapshots.
pub(super) const SNAPSHOTS: &str = "/snapshots/";

/// What a text offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The images of the requested version: the names that they are offered under, by key.
    pub images: BTreeMap<String, BTreeSet<String>>,
    /// The SHA-256 that the text gives of an image of the version, by key.
    pub checksums: BTreeMap<String, String>,
    /// Other versions that the text names images of.
    pub other_versions: BTreeSet<String>,
    /// What was left out, because it is not read as an image: repositories of a registry by their names, and references of the version
    /// at addresses without images.
    pub unread: BTreeSet<String>,
    /// References below the builder's own address that say neither that they are of the version nor that they are not.
    pub unreadable: BTreeSet<String>,
    /// Whether this is what registries have, and no list that somebody wrote: what they do not show may be offered all the same.
    pub is_listed: bool,
    /// Images that the text names, and of which it may say somewhere else that they are of the version: by key, each as it is there.
    pub doubtful: BTreeMap<String, String>,
}

impl Offer {
    /// Adds an image of the version.
    pub(super) fn add(&mut self, key: &str, name: &str) {
        let names = self.images.entry(key.to_owned()).or_default();
        names.insert(name.to_owned());
    }

    /// What the text names that may be an image, or the one that follows it, and does not clearly offer.
    pub fn find_doubt(&self, name: &str) -> Option<&str> {
        let key = name.replace('.', "-");
        let mut doubtful = self.doubtful.iter();
        let is_it = |named: &str| named == key || successor(&key, [named]).is_some();
        doubtful.find_map(|(named, word)| is_it(named).then_some(&**word))
    }

    /// The name that an image is offered under: of several, the one that is spelled as a known one is, with dots or without.
    pub fn name<'o>(&'o self, key: &'o str, known: &str) -> &'o str {
        let names = || self.images.get(key).into_iter().flatten();
        let alike = names().find(|name| name.contains('.') == known.contains('.'));
        alike.or_else(|| names().next()).map_or(key, String::as_str)
    }
}

/// Whether a repository of a registry may hold an image: the catalog lists it, or its name says so.
pub fn is_image(repository: &str, listed: &BTreeSet<String>) -> bool {
    !repository.contains('/')
        && (listed.contains(&repository.replace('.', "-"))
            || name_and_tag(repository).is_some_and(|(_, tag)| tag.is_none()))
}

/// Some of the repositories that were not read, in words; none where all were.
pub fn describe_gaps(offer: &Offer) -> Option<String> {
    const SHOWN: usize = 3;
    let names = offer.unread.iter().take(SHOWN);
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let more = match offer.unread.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (ies, s) = match offer.unread.len() {
        0 => return None,
        1 => ("y", "its name is"),
        _ => ("ies", "their names are"),
    };
    Some(format!(
        "{} repositor{ies} left out, because {s} not read as an image's: {}{more}",
        offer.unread.len(),
        names.join(", ")
    ))
}

/// The images of a version among repositories, by the tags that each has.
pub fn offer_from_tags<'a>(
    repositories: impl Iterator<Item = (&'a str, Vec<String>)>,
    version: &str,
) -> Offer {
    let mut offer = Offer::default();
    for (name, tags) in repositories {
        if let (Ok(key), true) = (key_of(name), tags.iter().any(|tag| tag == version)) {
            offer.add(&key, name);
        }
        let others = tags.into_iter().filter(|tag| tag != version);
        let releases = others.filter(|tag| Version::parse(tag).is_some());
        offer.other_versions.extend(releases);
    }
    let mut others: Vec<String> = std::mem::take(&mut offer.other_versions)
        .into_iter()
        .collect();
    others.sort_by_key(|tag| Version::parse(tag));
    let first = others.len().saturating_sub(OTHERS);
    offer.other_versions = others.split_off(first).into_iter().collect();
    offer
}

/// The name and tag that a word is, if it names an image of the builder.
pub(super) fn name_and_tag(word: &str) -> Option<(&str, Option<&str>)> {
    let is_reference = is_oci(word);
    let path = if is_reference {
        &word[SCHEME.len()..]
    } else {
        word
    };
    if path.contains("://") || path.contains(SNAPSHOTS) {
        return None;
    }
    let path = path.split_once('@').map_or(path, |(path, _)| path);
    let last = path.rsplit('/').next()?;
    let (name, tag) = match last.split_once(':') {
        Some((name, tag)) => (name, Some(tag)),
        None => (last, None),
    };
    let is_builder_artifact = is_reference && tag.is_some() && path.contains('/');
    (is_image_name(name) || is_builder_artifact).then_some((name, tag))
}

/// Whether a name is an image's, and not that of its file.
pub(super) fn is_image_name(name: &str) -> bool {
    NameFacts::parse(name).is_some_and(|facts| {
        facts.k8s_version.is_some() && facts.image_format.is_none() && facts.compression.is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::{is_image, offer_from_tags};

    #[test]
    fn repositories_offer_what_their_tags_say() {
        let has = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let repositories = [
            (
                "ubuntu-noble-plain-rke2-1.31.9",
                has(&["0.4.13", "sha256-00.sig"]),
            ),
            (
                "ubuntu-noble-plain-rke2-1-31-8",
                has(&["0.4.9", "0.4.12", "latest"]),
            ),
        ];
        let offer = offer_from_tags(repositories.into_iter(), "0.4.13");
        assert_eq!(
            offer.images.keys().collect::<Vec<_>>(),
            ["ubuntu-noble-plain-rke2-1-31-9"]
        );
        // The repository's own name is what a reference needs.
        let known = "ubuntu-noble-plain-rke2-1-31-8";
        assert_eq!(
            offer.name("ubuntu-noble-plain-rke2-1-31-9", known),
            "ubuntu-noble-plain-rke2-1.31.9"
        );
        assert_eq!(
            offer.other_versions.into_iter().collect::<Vec<_>>(),
            ["0.4.12", "0.4.9"]
        );
    }

    #[test]
    fn repositories_that_hold_no_image_are_not_queried() {
        let listed = ["own-image".to_owned()].into();
        assert!(is_image("own-image", &listed) && is_image("own.image", &listed));
        assert!(is_image("ubuntu-noble-plain-rke2-1.31.9", &listed));
        for other in ["cache", "snapshots/ubuntu-noble-plain-rke2-1-31-9", "a:b"] {
            assert!(!is_image(other, &listed), "{other}");
        }
    }
}
