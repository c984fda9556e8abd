//! An image of the page: its facts with their origins, what the lock proves of it, who is served it, what follows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use capi::image::{Image, ImageKey, fact};
use oci_artifacts::Reference;
use parking_lot::Mutex;
use serde::Serialize;

use super::tables::Tables;
use crate::decide::proof::BootedImage;
use crate::decide::successor::successors;
use crate::model::cluster_view::ClusterView;
use crate::model::version::Version;
use crate::report::Lines;
use crate::report::explain;

/// What makes two images one: key and reference. Clusters may mean two images by one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Identity {
    key: ImageKey,
    uri: Option<Arc<str>>,
    /// Whether it is in a catalog; a file elsewhere may have the name of one that is.
    is_listed: bool,
}

impl Identity {
    /// An image that is in no catalog.
    pub(super) fn from_name(name: &str) -> Self {
        Self {
            key: name.into(),
            uri: None,
            is_listed: false,
        }
    }
}

/// An image as it was gathered.
pub(super) struct ImagePart {
    artifact: Arc<str>,
    digest: Option<String>,
    builder: Option<String>,
    facts: Vec<Fact>,
    /// The keys under which the lock has a good signature, with the signature's form.
    verified: Vec<(Arc<str>, Arc<str>)>,
}

struct Fact {
    name: String,
    value: String,
    origin: String,
    at: Option<(Arc<str>, usize, usize)>,
}

/// What makes an image of a catalog one.
pub(super) fn identity(image: &Image) -> Identity {
    let uri = image.uri.as_ref();
    Identity {
        key: Arc::clone(&image.key),
        uri: uri.map(|uri| Arc::clone(uri.value.text())),
        is_listed: true,
    }
}

/// An image of a catalog.
pub(super) fn part(view: &ClusterView, image: &Image, lines: &Mutex<Lines>) -> ImagePart {
    let mut lines = lines.lock();
    let facts = explain::facts(&image.facts, &view.sources).into_iter();
    let facts = facts.map(|(name, fact)| Fact {
        name,
        value: fact.value,
        origin: fact.origin,
        at: fact.at.map(|spot| {
            let (line, column) = lines.line_column(&spot);
            (Arc::clone(&spot.source.path), line, column)
        }),
    });
    let uri = image.uri.as_ref();
    let entry = || view.lock.as_ref()?.get(&image.key, &uri?.value);
    let verified = entry().map(|entry| &entry.verified[..]).unwrap_or_default();
    let verified = verified.iter();
    let identity = identity(image);
    let builder = image.facts.get(fact::COMMIT_TAG);
    let builder = builder.map(|fact| fact.value.to_string());
    ImagePart {
        artifact: Arc::clone(&image.artifact),
        digest: image.digest.as_ref().map(|digest| digest.value.to_string()),
        builder: builder.or_else(|| tag(identity.uri.as_deref()?)),
        facts: facts.collect(),
        verified: verified
            .map(|verified| (Arc::clone(&verified.key), Arc::clone(&verified.form)))
            .collect(),
    }
}

/// An image that no catalog and no record describes: its name says what is known.
pub(super) fn part_from_name(booted: &BootedImage<'_>) -> ImagePart {
    let facts = booted.facts.iter().map(|(name, fact)| Fact {
        name: name.to_string(),
        value: fact.value.to_string(),
        origin: fact.origin.to_string(),
        at: None,
    });
    ImagePart {
        artifact: booted.name.into(),
        digest: None,
        builder: booted.facts.text(fact::COMMIT_TAG).map(str::to_owned),
        facts: facts.collect(),
        verified: Vec::new(),
    }
}

/// The tag of a reference; none where the text, which may hold a password or a query, is no reference.
fn tag(uri: &str) -> Option<String> {
    let tag = Reference::parse(uri).ok()?.tag?;
    Some(tag.to_string())
}

/// An image as a row of numbers.
#[derive(Serialize)]
pub(super) struct ImageRow {
    key: u32,
    uri: u32,
    digest: u32,
    builder: u32,
    /// The number of the image that follows it, from 1.
    successor: u32,
    is_listed: bool,
    served: u32,
    verified: Vec<(u32, u32)>,
    /// Name, value, origin, file, line, column.
    facts: Vec<(u32, u32, u32, u32, usize, usize)>,
}

/// All images of a page.
pub(super) struct Catalog {
    numbers: HashMap<Identity, u32>,
    rows: Vec<ImageRow>,
    builders: BTreeSet<(String, u32)>,
}

impl Catalog {
    /// The images as rows, in their order.
    pub(super) fn new(images: BTreeMap<Identity, ImagePart>, tables: &mut Tables) -> Self {
        let names: Vec<&str> = images.values().map(|part| &*part.artifact).collect();
        let successors = successors(&names);
        let mut builders = BTreeSet::new();
        let mut rows = Vec::with_capacity(images.len());
        for ((identity, part), successor) in images.iter().zip(successors) {
            let builder = tables.optional(part.builder.as_deref());
            builders.extend(part.builder.iter().map(|text| (text.clone(), builder)));
            let facts = part.facts.iter().map(|fact| {
                let (name, value) = (tables.text(&fact.name), tables.text(&fact.value));
                let origin = tables.text(&fact.origin);
                match &fact.at {
                    Some((file, line, column)) => {
                        (name, value, origin, tables.text(file), *line, *column)
                    }
                    None => (name, value, origin, 0, 0, 0),
                }
            });
            let facts = facts.collect();
            let verified = part.verified.iter();
            let verified = verified.map(|(key, form)| (tables.text(key), tables.text(form)));
            rows.push(ImageRow {
                verified: verified.collect(),
                key: tables.text(&identity.key),
                uri: tables.optional(identity.uri.as_deref()),
                digest: tables.optional(part.digest.as_deref()),
                builder,
                successor: successor.map_or(0, |index| index as u32 + 1),
                is_listed: identity.is_listed,
                served: 0,
                facts,
            });
        }
        Self {
            numbers: images.into_keys().zip(1..).collect(),
            rows,
            builders,
        }
    }

    /// The number of an image, from 1.
    pub(super) fn number(&self, identity: &Identity) -> u32 {
        self.numbers.get(identity).copied().unwrap_or(0)
    }

    /// Counts the images that are served for a cluster.
    pub(super) fn serve(&mut self, served: &[Identity]) {
        for identity in served {
            let index = self.number(identity).wrapping_sub(1) as usize;
            if let Some(row) = self.rows.get_mut(index) {
                row.served += 1;
            }
        }
    }

    /// The versions of the builder, the newest first.
    pub(super) fn builders(&self) -> Vec<u32> {
        let mut builders: Vec<&(String, u32)> = self.builders.iter().collect();
        builders.sort_by_cached_key(|(text, _)| Reverse((Version::parse(text), text.clone())));
        builders.into_iter().map(|(_, id)| *id).collect()
    }

    /// The rows.
    pub(super) fn into_rows(self) -> Vec<ImageRow> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_tag_is_no_password_no_query_and_no_port() {
        for (uri, expected) in [
            ("oci://r.example:5000/os/noble:1.2", Some("1.2")),
            ("oci://r.example/noble:1.31.8?sig=secret", None),
            ("oci://user:secret@r.example/noble:1", None),
            ("oci://user:secret@r.example", None),
            ("https://r.example:5000/noble:secret?a", None),
        ] {
            assert_eq!(tag(uri).as_deref(), expected, "{uri}");
        }
    }
}
