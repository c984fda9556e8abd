//! Strategic merge patches for objects whose lists have no merge keys: maps are merged, lists are replaced.
//!
//! Lists of objects that a CustomResourceDefinition defines, and those of ConfigMaps and Secrets, do not merge by key, so no schema is needed
//! (<https://github.com/kubernetes-sigs/kustomize/blob/master/examples/inlinePatch.md>).

use yaml_tree::value::{Entry, Map, Node, Value};

use super::object::Object;
use super::reader::{LayerReader, PlacedError};

/// What is known of the quotes around an object's texts.
#[derive(Clone, Copy)]
struct Quotes<'r> {
    reader: &'r LayerReader<'r>,
    is_requoted: bool,
}

impl Quotes<'_> {
    /// Whether a text has quotes.
    fn has(self, node: &Node) -> bool {
        match node.value.as_str() {
            Some(text) if self.is_requoted => yaml_tree::plain(text).as_str().is_none(),
            _ => self.reader.is_quoted(node),
        }
    }
}

/// `object` after applying `patch`; none if the patch deletes it.
pub(super) fn apply(
    object: &Object,
    patch: &Node,
    reader: &LayerReader<'_>,
) -> Result<Option<Node>, PlacedError> {
    let quotes = Some(Quotes {
        reader,
        is_requoted: object.is_requoted,
    });
    // At the top, kustomize leaves the object as it is.
    if patch.text(&[DIRECTIVE]) == Some("replace") {
        return Ok(Some(object.tree.clone()));
    }
    let spelled = reader.spell_object(patch);
    merge(Some(&object.tree), spelled.as_ref().or(Some(patch)), quotes)
}

/// Values with others over them. Of their quotes none stays.
pub(super) fn join(below: &Node, values: &Node) -> Result<Node, PlacedError> {
    let joined = merge(Some(below), Some(values), None)?;
    Ok(joined.unwrap_or_else(|| Node::from_value(Value::empty_map())))
}

fn merge(
    below: Option<&Node>,
    patch: Option<&Node>,
    quotes: Option<Quotes<'_>>,
) -> Result<Option<Node>, PlacedError> {
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
        // What is quoted stays so.
        let of_text = quotes.filter(|quotes| present.is_some_and(|node| quotes.has(node)));
        return Ok(Some(match (&patch.value, of_text) {
            (Value::Bool(_) | Value::Number(_), Some(quotes)) => {
                Node::new(Value::String(quotes.reader.spelling(patch)), patch.place)
            }
            _ => patch.clone(),
        }));
    };
    let lower = present.and_then(|node| node.value.as_map());
    let lower = match directive(upper)? {
        Directive::Delete => return Ok(None),
        Directive::Replace => None,
        Directive::Merge => lower,
    };
    let map = maps(lower.map(|map| &**map), upper, quotes)?;
    Ok(Some(Node::new(map, patch.place)))
}

fn maps(lower: Option<&Map>, upper: &Map, quotes: Option<Quotes<'_>>) -> Result<Map, PlacedError> {
    let empty = Map::default();
    let lower = lower.unwrap_or(&empty);
    let mut entries = Vec::with_capacity(lower.len() + upper.len());
    for entry in lower {
        let patch = upper.entry(&entry.key);
        let node = merge(Some(&entry.node), patch.map(|patch| &patch.node), quotes)?;
        entries.extend(node.map(|node| Entry {
            node,
            ..patch.unwrap_or(entry).clone()
        }));
    }
    for entry in upper.iter().filter(|entry| lower.get(&entry.key).is_none()) {
        if *entry.key == *DIRECTIVE {
            continue;
        }
        let node = merge(None, Some(&entry.node), quotes)?;
        entries.extend(node.map(|node| entry.with_node(node)));
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
                Some(entry.with_node(node))
            });
            Some(Node::new(kept.collect::<Map>(), node.place))
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

fn directive(patch: &Map) -> Result<Directive, PlacedError> {
    let Some(node) = patch.get(DIRECTIVE) else {
        return Ok(Directive::Merge);
    };
    match node.value.as_str().map(|text| &**text) {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        _ => Err(PlacedError {
            place: node.place,
            message: "`$patch` is `merge`, `replace` or `delete`".to_owned(),
        }),
    }
}

fn check_kinds(node: &Node, patch: &Node) -> Result<(), PlacedError> {
    let shape = |value: &Value| match value {
        Value::Map(_) => 0,
        Value::List(_) => 1,
        _ => 2,
    };
    if shape(&node.value) == shape(&patch.value) {
        return Ok(());
    }
    Err(PlacedError {
        place: patch.place,
        message: format!(
            "the patch has {} where the object has {}",
            patch.value.kind(),
            node.value.kind()
        ),
    })
}
