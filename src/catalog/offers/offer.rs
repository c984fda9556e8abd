//! Which images a builder's version offers, read from any text that names them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::name::{NameFacts, key_of};
use crate::model::version::Version;

/// The number of a registry's other versions that are reported: the last ones.
const OTHERS: usize = 5;

/// What a text offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The images of the requested version: the names that they are offered under, by key.
    pub images: BTreeMap<String, BTreeSet<String>>,
    /// Other versions that the text names images of.
    pub other_versions: BTreeSet<String>,
    /// Repositories of a registry whose tags were not listed, because their names are not read as images.
    pub unread: BTreeSet<String>,
}

impl Offer {
    fn add(&mut self, key: &str, name: &str) {
        let names = self.images.entry(key.to_owned()).or_default();
        names.insert(name.to_owned());
    }

    /// The name that an image is offered under: of several, the one that is spelled as a known one is, with dots or without.
    pub fn name<'o>(&'o self, key: &'o str, known: &str) -> &'o str {
        let names = || self.images.get(key).into_iter().flatten();
        let alike = names().find(|name| name.contains('.') == known.contains('.'));
        alike.or_else(|| names().next()).map_or(key, String::as_str)
    }
}

/// The images of a version that a text names: release notes with `oci://REGISTRY/…/NAME:VERSION` lines, or a list of
/// references or names. A reference of another version is left out; so are snapshots and names of files.
pub fn parse_offer(text: &str, version: &str) -> Offer {
    let mut offer = Offer::default();
    for word in text.split(is_between) {
        let word = word.trim_end_matches(['.', ':']);
        let Some((name, tag)) = name_and_tag(word) else {
            continue;
        };
        let Ok(key) = key_of(name) else { continue };
        match tag {
            Some(tag) if tag != version => {
                offer.other_versions.insert(tag.to_owned());
            }
            _ => {
                offer.add(&key, name);
            }
        }
    }
    offer
}

/// The notes within the description of a release: GitLab's `description`, GitHub's `body`; any other text is notes itself.
/// (<https://docs.gitlab.com/api/releases/#get-a-release-by-a-tag-name>,
/// <https://docs.github.com/en/rest/releases/releases#get-a-release-by-tag-name>)
pub fn notes(text: String) -> String {
    #[derive(serde::Deserialize)]
    struct Release {
        description: Option<String>,
        body: Option<String>,
    }
    match serde_json::from_str(&text) {
        Ok(Release { description, body }) => description.or(body).unwrap_or_default(),
        Err(_) => text,
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
        let Ok(key) = key_of(name) else { continue };
        if tags.iter().any(|tag| tag == version) {
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

/// The characters around names in prose, Markdown, YAML and JSON.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "()<>[]{}\"'`,;|*".contains(letter)
}

/// The name and tag that a word is, if it names an image of the builder.
fn name_and_tag(word: &str) -> Option<(&str, Option<&str>)> {
    let (path, is_reference) = match word.strip_prefix("oci://") {
        Some(path) => (path, true),
        None => (word, false),
    };
    if path.contains("://") || path.contains("/snapshots/") {
        return None;
    }
    let path = path.split_once('@').map_or(path, |(path, _)| path);
    let last = path.rsplit('/').next()?;
    let (name, tag) = match last.split_once(':') {
        Some((name, tag)) => (name, Some(tag)),
        None => (last, None),
    };
    let facts = NameFacts::parse(name);
    let is_image = facts.is_some_and(|facts| {
        facts.k8s_version.is_some() && facts.image_format.is_none() && facts.compression.is_none()
    });
    let is_builder_artifact = is_reference && tag.is_some() && path.contains('/');
    (is_image || is_builder_artifact).then_some((name, tag))
}

#[cfg(test)]
mod tests {
    use super::{is_image, notes, offer_from_tags, parse_offer};

    fn images(text: &str) -> Vec<String> {
        parse_offer(text, "0.4.13").images.into_keys().collect()
    }

    #[test]
    fn release_notes_are_read() {
        let notes = "\
## Images
* `oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-9:0.4.13`
  sha256: 5a3f, file ubuntu-noble-plain-rke2-1-31-9-0.4.13.raw
| [hardened](oci://r.example/d/ubuntu-noble-hardened-rke2-1-31-9:0.4.13) |
* oci://r.example/d/ubuntu-noble-plain-rke2-1-30-12:0.4.12
* oci://r.example/d/snapshots/ubuntu-noble-plain-rke2-1-29-1:0.4.13
See https://r.example/d/ubuntu-noble-plain-rke2-1-28-1.
";
        assert_eq!(
            images(notes),
            [
                "ubuntu-noble-hardened-rke2-1-31-9",
                "ubuntu-noble-plain-rke2-1-31-9"
            ]
        );
        let others = parse_offer(notes, "0.4.13").other_versions;
        assert_eq!(others.into_iter().collect::<Vec<_>>(), ["0.4.12"]);
    }

    #[test]
    fn a_release_holds_its_notes() {
        let read = |text: &str| notes(text.to_owned());
        assert_eq!(read(r#"{"tag_name": "1", "description": "a\nb"}"#), "a\nb");
        assert_eq!(read(r#"{"tag_name": "1", "body": "a"}"#), "a");
        assert_eq!(read(r#"{"tag_name": "1", "body": null}"#), "");
        assert_eq!(read("* a"), "* a");
    }

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

    #[test]
    fn a_list_of_names_is_read() {
        assert_eq!(
            images(
                "ubuntu-noble-plain-rke2-1.31.9\n# opensuse-15-6-plain-kubeadm-1-31-9\nword\n1.31.9\n"
            ),
            [
                "opensuse-15-6-plain-kubeadm-1-31-9",
                "ubuntu-noble-plain-rke2-1-31-9"
            ]
        );
        assert!(images("").is_empty());
    }

    #[test]
    fn a_reference_with_a_tag_names_an_image_whatever_its_name_says() {
        assert_eq!(images("* oci://r.example/d/gateway:0.4.13"), ["gateway"]);
        for prose in [
            "r.example/d/gateway:0.4.13",
            "oci://r.example/d/gateway",
            "oci://gateway:0.4.13",
        ] {
            assert!(images(prose).is_empty(), "{prose}");
        }
    }
}
