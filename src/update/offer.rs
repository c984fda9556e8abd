//! Which images a builder's version offers, read from any text that names them.

use std::collections::BTreeSet;

use crate::model::name::{NameFacts, key_of};

/// What a text offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The keys of the images of the version asked for.
    pub images: BTreeSet<String>,
    /// Other versions that the text names images of.
    pub other_versions: BTreeSet<String>,
}

/// The images of a version that a text names: release notes with `oci://REGISTRY/…/NAME:VERSION` lines, or a list of
/// references or names. A reference of another version is left out; so are snapshots and names of files.
pub fn offered(text: &str, version: &str) -> Offer {
    let mut offer = Offer::default();
    for word in text.split(is_between) {
        let word = word.trim_end_matches(['.', ':']);
        let Some((name, tag)) = named(word) else {
            continue;
        };
        let Ok(key) = key_of(name) else { continue };
        match tag {
            Some(tag) if tag != version => {
                offer.other_versions.insert(tag.to_owned());
            }
            _ => {
                offer.images.insert(key.to_string());
            }
        }
    }
    offer
}

/// What stands around names in prose, Markdown, YAML and JSON.
fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "()<>[]{}\"'`,;|*".contains(letter)
}

/// The name and tag that a word is, if it names an image of the builder.
fn named(word: &str) -> Option<(&str, Option<&str>)> {
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
    use super::offered;

    fn images(text: &str) -> Vec<String> {
        offered(text, "0.4.13").images.into_iter().collect()
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
        let others = offered(notes, "0.4.13").other_versions;
        assert_eq!(others.into_iter().collect::<Vec<_>>(), ["0.4.12"]);
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
}
