//! The entries of `stamps:` in the project file, found by the objects that they are about.

use std::collections::BTreeSet;

use capi::objects::ManifestObject;
use yaml_tree::suggest::did_you_mean;

use crate::model::finding::Finding;
use crate::model::pattern::{Pattern, Starts};
use crate::model::rule::{Level, RuleId};
use crate::model::stamping::StampEntry;

use super::past::base;

/// The entries. An object is compared only with those that may be about it.
pub(super) struct Entries<'e> {
    all: &'e [StampEntry],
    /// By what says most of an entry: its name, else a label, else its kind.
    by_name: Starts,
    by_label: Starts,
    by_kind: Starts,
}

impl<'e> Entries<'e> {
    pub(super) fn new(all: &'e [StampEntry]) -> Self {
        let mut entries = Self {
            all,
            by_name: Starts::default(),
            by_label: Starts::default(),
            by_kind: Starts::default(),
        };
        for (number, entry) in all.iter().enumerate() {
            if let Some(name) = has_start(&entry.name) {
                entries.by_name.add(name, number);
            } else if let Some((name, value)) = entry.labels.first_key_value() {
                entries.by_label.add_text(&label(name, value), number);
            } else {
                // Of any kind, if it says none.
                let kind = entry.kind.as_ref().map_or("", Pattern::start);
                entries.by_kind.add_text(kind, number);
            }
        }
        entries
    }

    /// The entries that are about an object, with their numbers, in the order written.
    pub(super) fn find(
        &self,
        object: &ManifestObject,
    ) -> impl Iterator<Item = (usize, &'e StampEntry)> {
        let labels = object.labels();
        let labels: Vec<String> = { labels.iter() }
            .map(|(name, value)| label(name, value))
            .collect();
        let labels = labels.iter().flat_map(|label| self.by_label.find(label));
        let names = names(object).into_iter();
        let near = { names.flat_map(|name| self.by_name.find(name)) }
            .chain(labels)
            .chain(self.by_kind.find(&object.kind));
        let mut near: Vec<usize> = near.collect();
        near.sort_unstable();
        near.dedup();
        let near = near.into_iter().map(|number| (number, &self.all[number]));
        near.filter(|(_, entry)| fits(entry, object))
    }
}

/// That an entry is about none of these objects, all that are stamped: a slip in it leaves them without an image.
pub fn find_unused_entries(objects: &[ManifestObject], all: &[StampEntry]) -> Vec<Finding> {
    let entries = Entries::new(all);
    let found = objects.iter().flat_map(|object| entries.find(object));
    let used: BTreeSet<usize> = found.map(|(number, _)| number).collect();
    let unused = { all.iter().enumerate() }.filter(|(number, _)| !used.contains(number));
    let finding = |(_, entry): (usize, &StampEntry)| {
        let message = "no object among the manifests fits this entry of `stamps`";
        let finding = Finding::new(RuleId::ProjectFile, message)
            .with_label(entry.request.spot.clone(), "")
            .help(match find_near_word(entry, objects) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "compare its `kind`, `name`, `namespace` and `labels` with the objects, and `manifests` with their folders".to_owned(),
            });
        finding.unless_set(Level::Warning)
    };
    unused.map(finding).collect()
}

/// The kind of an object that an entry almost has; the name of one, if it has the kind.
fn find_near_word<'o>(entry: &StampEntry, objects: &'o [ManifestObject]) -> Option<&'o str> {
    let is_of_kind = |object: &&ManifestObject| {
        let kind = entry.kind.as_ref();
        kind.is_none_or(|kind| kind.is_match(&*object.kind))
    };
    let same = || objects.iter().filter(is_of_kind);
    if same().next().is_none() {
        let kinds = objects.iter().map(|object| &*object.kind);
        return did_you_mean(entry.kind.as_ref()?.text(), kinds);
    }
    did_you_mean(
        entry.name.as_ref()?.text(),
        same().map(|object| &*object.name),
    )
}

/// A pattern that not everything may match.
fn has_start(pattern: &Option<Pattern>) -> Option<&Pattern> {
    pattern.as_ref().filter(|pattern| pattern.has_start())
}

fn label(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// The names of an object: its own, and the one that it had before `stamp --rotate` put a hash behind it.
fn names(object: &ManifestObject) -> [&str; 2] {
    [&object.name, base(&object.name)]
}

/// Whether an entry is about an object.
fn fits(entry: &StampEntry, object: &ManifestObject) -> bool {
    let matches = |pattern: &Option<Pattern>, text: &str| {
        let pattern = pattern.as_ref();
        pattern.is_none_or(|pattern| pattern.is_match(text))
    };
    let has = |(name, wanted): (&String, &String)| {
        object.label(name).is_some_and(|label| **label == **wanted)
    };
    matches(&entry.kind, &object.kind)
        && names(object).iter().any(|name| matches(&entry.name, name))
        && matches(&entry.namespace, &object.namespace)
        && entry.labels.iter().all(has)
}
