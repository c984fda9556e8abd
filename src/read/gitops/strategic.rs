//! Strategic merge patches for objects whose lists have no merge keys: maps are merged, lists are replaced.
//!
//! HelmReleases, ConfigMaps and Secrets have no list that merges by key, so no schema is needed
//! (<https://github.com/kubernetes-sigs/kustomize/blob/master/examples/inlinePatch.md>).

use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

/// Why a patch does not apply.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::read) struct PatchError {
    /// The value in the patch.
    pub(super) place: Place,
    pub(in crate::read) message: String,
}

/// `node` after applying `patch`; none if the patch deletes it.
pub(super) fn apply(node: &Node, patch: &Node) -> Result<Option<Node>, PatchError> {
    merge(Some(node), Some(patch))
}

fn merge(below: Option<&Node>, patch: Option<&Node>) -> Result<Option<Node>, PatchError> {
    let Some(patch) = patch else {
        return Ok(below.and_then(drop_empty_keys));
    };
    if patch.value.is_null() {
        return Ok(None);
    }
    let present = below.filter(|node| !node.value.is_null());
    if let Some(node) = present {
        check_kinds(node, patch)?;
    }
    let Value::Map(upper) = &patch.value else {
        return Ok(Some(patch.clone()));
    };
    let lower = present.and_then(|node| node.value.as_map());
    let lower = match directive(upper)? {
        Directive::Delete => return Ok(None),
        Directive::Replace => None,
        Directive::Merge => lower,
    };
    let map = maps(lower.map(|map| &**map), upper)?;
    Ok(Some(Node {
        value: map.into(),
        place: patch.place,
    }))
}

fn maps(lower: Option<&Map>, upper: &Map) -> Result<Map, PatchError> {
    let empty = Map::default();
    let lower = lower.unwrap_or(&empty);
    let mut entries = Vec::with_capacity(lower.len() + upper.len());
    for entry in lower {
        let patch = upper.entry(&entry.key);
        let node = merge(Some(&entry.node), patch.map(|patch| &patch.node))?;
        entries.extend(node.map(|node| Entry {
            node,
            ..patch.unwrap_or(entry).clone()
        }));
    }
    for entry in upper.iter().filter(|entry| lower.get(&entry.key).is_none()) {
        if *entry.key == *DIRECTIVE {
            continue;
        }
        let node = merge(None, Some(&entry.node))?;
        entries.extend(node.map(|node| Entry {
            node,
            ..entry.clone()
        }));
    }
    Ok(entries.into_iter().collect())
}

/// The value after a patch that does not mention it: kustomize removes keys without a value.
fn drop_empty_keys(node: &Node) -> Option<Node> {
    match &node.value {
        Value::Null if node.place.is_known() && node.place.start == node.place.end => None,
        Value::Map(map) => {
            let kept = map.iter().filter_map(|entry| {
                let node = drop_empty_keys(&entry.node)?;
                Some(Entry {
                    node,
                    ..entry.clone()
                })
            });
            let value = kept.collect::<Map>().into();
            Some(Node {
                value,
                place: node.place,
            })
        }
        _ => Some(node.clone()),
    }
}

/// The key of a map with a directive.
const DIRECTIVE: &str = "$patch";

enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Map) -> Result<Directive, PatchError> {
    let Some(node) = patch.get(DIRECTIVE) else {
        return Ok(Directive::Merge);
    };
    match node.value.as_str().map(|text| &**text) {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        _ => Err(PatchError {
            place: node.place,
            message: "`$patch` is `merge`, `replace` or `delete`".to_owned(),
        }),
    }
}

fn check_kinds(node: &Node, patch: &Node) -> Result<(), PatchError> {
    let shape = |value: &Value| match value {
        Value::Map(_) => 0,
        Value::List(_) => 1,
        _ => 2,
    };
    if shape(&node.value) == shape(&patch.value) {
        return Ok(());
    }
    Err(PatchError {
        place: patch.place,
        message: format!(
            "the patch has {} where the object has {}",
            patch.value.kind(),
            node.value.kind()
        ),
    })
}
