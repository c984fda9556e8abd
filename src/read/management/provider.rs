//! Writes a value of the management cluster as its object holds it: as a template that a workload cluster evaluates.

use crate::secrets;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::evaluate::{Branch, Failure};
use yaml_tree::place::{FileId, Source};
use yaml_tree::value::{Entry, Node, Value};

/// How far the management cluster's value is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) enum Depth {
    /// Not at all: each expression is replaced by one that fails, which shows whether it is needed.
    Placeholders,
    /// Completely. A value that cannot be evaluated fails where it is needed.
    Evaluated,
}

/// Writes the values of a management cluster.
pub(super) struct Provider<'a> {
    /// The cluster's name.
    pub(super) management: &'a str,
    /// How far the values are evaluated.
    pub(super) depth: Depth,
}

impl Provider<'_> {
    /// The value, evaluated as far as wanted; none where an expression leaves it out.
    pub(super) fn tree(&self, raw: &Node, branch: &Branch) -> Option<Node> {
        if raw.is_literal() {
            return Some(raw.clone());
        }
        if let Value::Map(map) = &raw.value {
            return Some(match branch.entries() {
                Err(failure) => self.failing(raw, &branch.path(), &failure),
                Ok(entries) => {
                    let unknown = Node::from_value(Value::Null);
                    let entries = entries.unwrap_or_default().into_iter();
                    let provided = entries.filter_map(|entry| {
                        let node = match map.get(&entry.key) {
                            Some(raw) => self.tree(raw, &entry.branch),
                            // An expression made the key.
                            None => self.value(&unknown, &entry.branch),
                        };
                        Some(Entry {
                            key: entry.key,
                            key_place: entry.key_place,
                            node: node?,
                        })
                    });
                    Node {
                        value: Value::Map(Arc::new(provided.collect())),
                        place: raw.place,
                    }
                }
            });
        }
        self.value(raw, branch)
    }

    fn value(&self, raw: &Node, branch: &Branch) -> Option<Node> {
        if self.depth == Depth::Placeholders {
            return Some(fails(raw, "it is not evaluated yet"));
        }
        match branch.node() {
            Ok(node) => node,
            Err(failure) => Some(self.failing(raw, &branch.path(), &failure)),
        }
    }

    /// A value that reports why there is none, where it is needed.
    pub(super) fn failing(&self, raw: &Node, path: &str, failure: &Failure) -> Node {
        let management = self.management;
        let message = format!("`{path}` of the management cluster `{management}` fails: {failure}");
        fails(raw, &message)
    }
}

/// A value whose expression fails with this message.
fn fails(raw: &Node, message: &str) -> Node {
    Node {
        value: Value::from(format!("{{{{ fail {message:?} }}}}")),
        place: raw.place,
    }
}

/// Marks the values of a tree as secrets of their files.
pub(super) fn hide(tree: &Node, files: &mut BTreeMap<FileId, Arc<Source>>) {
    let mut found: HashMap<FileId, Vec<Range<u32>>> = HashMap::new();
    secrets::scalars(tree, &mut |place| {
        let ranges = found.entry(place.file).or_default();
        ranges.push(place.start..place.end);
    });
    for (file, ranges) in found {
        if let Some(source) = files.get_mut(&file) {
            *source = Arc::new(source.with_secrets(ranges.into_iter().collect()));
        }
    }
}
