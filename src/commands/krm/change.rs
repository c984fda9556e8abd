//! What of a machine template's image is not as it is to be, and the edits that mend it.

use std::sync::Arc;

use crate::model::value::{Entry, Map, Node};
use crate::providers::{Provider, Stamp};
use crate::yaml::edit::{Edit, Position};

use super::list::below_item;
use super::result::Field;

/// Where a machine template holds its image.
const IMAGE: [&str; 4] = ["spec", "template", "spec", "image"];

/// Why an image cannot be stamped, whoever chose it.
pub(super) fn problems(stamp: &Stamp, provider: &dyn Provider, version: &str) -> Vec<String> {
    let key = stamp.key.as_deref().unwrap_or(&stamp.url);
    let mut problems = provider.problems(Some(stamp), &Node::computed(Map::default()), version);
    match stamp.format.as_deref() {
        None => problems.push(format!("nothing says the format of image `{key}`")),
        Some(format) if !provider.formats().contains(&format) => problems.push(format!(
            "{} cannot boot image `{key}`, whose format is `{format}`",
            provider.name()
        )),
        Some(_) => {}
    }
    if stamp.checksum.is_none() && !stamp.is_oci() {
        problems.push(format!("nothing says the checksum of image `{key}`"));
    }
    problems
}

/// One field that is not as it is to be.
pub(super) struct Change {
    pub(super) field: Field,
    /// None where the change is part of another one.
    pub(super) edit: Option<Edit>,
}

pub(super) fn changes(
    item: &Node,
    index: usize,
    stamp: &Stamp,
    (provider, version): (&dyn Provider, &str),
) -> Vec<Change> {
    let wanted = provider.image_fields(stamp, version);
    let image = item.at(&IMAGE).and_then(|node| node.value.as_map());
    let Some(image) = image else {
        return with_image(item, index, wanted);
    };
    let at = |key: &str| {
        let path: Vec<&str> = IMAGE.into_iter().chain([key]).collect();
        (path.join("."), below_item(index, &path))
    };
    let mut changes = Vec::new();
    for entry in &wanted {
        let (path, at) = at(&entry.key);
        let value = entry.node.value.clone();
        let current = image.get(&entry.key).map(|node| node.value.clone());
        let change = match &current {
            Some(current) if current.same(&value) => continue,
            Some(_) => Edit::Set {
                at,
                value: value.clone(),
            },
            None => Edit::Insert {
                map: below_item(index, &IMAGE),
                key: entry.key.to_string(),
                value: value.clone(),
                position: Position::Last,
            },
        };
        let field = Field {
            path,
            current,
            proposed: Some(value),
        };
        let edit = Some(change);
        changes.push(Change { field, edit });
    }
    for key in fields(provider) {
        if let (Some(node), None) = (image.get(&key), wanted.get(&key)) {
            let (path, at) = at(&key);
            let field = Field {
                path,
                current: Some(node.value.clone()),
                proposed: None,
            };
            let edit = Some(Edit::Remove { at });
            changes.push(Change { field, edit });
        }
    }
    changes
}

/// A template that has no image gets a whole one.
fn with_image(item: &Node, index: usize, wanted: Map) -> Vec<Change> {
    let depth = (0..IMAGE.len()).find(|depth| {
        let node = item.at(&IMAGE[..=*depth]);
        node.is_none_or(|node| node.value.as_map().is_none())
    });
    let depth = depth.unwrap_or(IMAGE.len() - 1);
    let value = IMAGE[depth + 1..]
        .iter()
        .rev()
        .fold(wanted.clone(), |inner, key| {
            Map::from_iter([Entry::computed(*key, inner)])
        });
    let is_there = item.at(&IMAGE[..=depth]).is_some();
    let whole = match is_there {
        true => Edit::Set {
            at: below_item(index, &IMAGE[..=depth]),
            value: value.into(),
        },
        false => Edit::Insert {
            map: below_item(index, &IMAGE[..depth]),
            key: IMAGE[depth].to_owned(),
            value: value.into(),
            position: Position::Last,
        },
    };
    let mut whole = Some(whole);
    let change = |entry: &Entry| Change {
        field: Field {
            path: format!("{}.{}", IMAGE.join("."), entry.key),
            current: None,
            proposed: Some(entry.node.value.clone()),
        },
        edit: whole.take(),
    };
    wanted.iter().map(change).collect()
}

/// Every field of an image that the provider writes, in any version.
fn fields(provider: &dyn Provider) -> Vec<String> {
    let word = || Some(Arc::from("x"));
    let full = Stamp {
        key: word(),
        url: "https://x/x".into(),
        format: word(),
        checksum: word(),
        checksum_type: word(),
    };
    let versions = provider.versions().iter();
    let all = versions.flat_map(|version| {
        let fields = provider.image_fields(&full, version);
        fields
            .iter()
            .map(|entry| entry.key.to_string())
            .collect::<Vec<_>>()
    });
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.dedup();
    all
}
