//! The user's values in their order, including single values that are set by path.
//!
//! A value that is set by path cannot be a layer by itself, because an index may refer to a list of an earlier layer. So the
//! values are composed as the engine does, and the final value of each such path becomes a layer on top.

use std::sync::Arc;

use yaml_tree::Step;
use yaml_tree::merge::{self, Layer, LayerKind};
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Node, Value};

use super::reader::PlacedError;
use super::set::{self, Style};

/// One source of the user's values.
pub(super) enum Override {
    /// A whole tree.
    Values(Node),
    /// Values by path, as `--set` takes them.
    Set {
        /// `path=value`.
        text: String,
        style: Style,
        /// The value's place.
        place: Place,
    },
}

/// The layers, lowest first; `inline` is Flux's `spec.values`, above all trees.
///
/// Flux merges `inline` before it sets a path and again at the end
/// (<https://github.com/fluxcd/helm-controller/pull/1060>): a set value overrides an inline one only if both are in the same map
/// or list in the controller's memory. `holds_too` models this.
///
/// # Errors
/// Helm's error for a path or value, with its place.
pub(super) fn layers(
    overrides: Vec<Override>,
    inline: Option<Node>,
) -> Result<Vec<Layer>, PlacedError> {
    let written = inline.unwrap_or_else(|| Node::from_value(Value::empty_map()));
    let mut inline = written.clone();
    let mut result = Node::from_value(Value::empty_map());
    let (mut trees, mut paths) = (Vec::new(), Vec::new());
    for one in overrides {
        match one {
            Override::Values(tree) => {
                result = merge::merge(&result, &tree);
                trees.push(tree);
            }
            Override::Set { text, style, place } => {
                let before = result.clone();
                result = merge::merge(&before, &inline);
                for assignment in set::parse(&text, style, place)
                    .map_err(|message| PlacedError { place, message })?
                {
                    let is_inline_too = holds_too(&assignment.path, &before, &inline);
                    let put = |tree: &mut Node| {
                        set::assign(tree, &assignment.path, &assignment.value)
                            .map_err(|message| PlacedError { place, message })
                    };
                    put(&mut result)?;
                    if is_inline_too {
                        put(&mut inline)?;
                    }
                    paths.push(keys(&assignment.path));
                }
            }
        }
    }
    result = merge::merge(&result, &inline);
    trees.push(written);
    trees.extend(paths.iter().filter_map(|path| branch(&result, path)));
    let again = trees
        .iter()
        .fold(Node::from_value(Value::empty_map()), |below, tree| {
            merge::merge(&below, tree)
        });
    if !paths.is_empty() && !again.value.same(&result.value) {
        trees = vec![result];
    }
    let has_values = |tree: &Node| tree.value.as_map().is_none_or(|map| !map.is_empty());
    let layer = |tree| Layer {
        tree,
        kind: LayerKind::Override,
    };
    Ok(trees.into_iter().filter(has_values).map(layer).collect())
}

/// Whether the map or list that a path changes is, after merging, shared with the inline values.
fn holds_too(path: &[Step], result: &Node, inline: &Node) -> bool {
    let Some((last, parents)) = path.split_last() else {
        return false;
    };
    let (mut below, mut above) = (Some(result), inline);
    let (mut is_shared, mut outer) = (false, false);
    for step in parents {
        let next = match (step, &above.value) {
            (Step::Key(key), Value::Map(map)) => map.get(key),
            (Step::Index(index), Value::List(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { return false };
        below = match step {
            Step::Key(key) => below.and_then(|node| node.value.as_map()?.get(key)),
            Step::Index(_) => None,
        };
        outer = is_shared;
        let is_merged = next.value.as_map().is_some()
            && below.is_some_and(|node| node.value.as_map().is_some());
        is_shared = is_shared || !is_merged;
        above = next;
    }
    match (last, &above.value) {
        (Step::Key(_), Value::Map(_)) => is_shared,
        // Growing a list creates a new one.
        (Step::Index(index), Value::List(items)) if *index < items.len() => is_shared,
        (Step::Index(_), Value::List(_)) => outer,
        _ => false,
    }
}

/// The keys of a path up to its first index.
fn keys(path: &[Step]) -> Vec<Arc<str>> {
    path.iter()
        .map_while(|step| match step {
            Step::Key(key) => Some(Arc::from(key.as_str())),
            Step::Index(_) => None,
        })
        .collect()
}

/// A tree with only the value at a path.
fn branch(tree: &Node, path: &[Arc<str>]) -> Option<Node> {
    let names: Vec<&str> = path.iter().map(|key| &**key).collect();
    let node = tree.get_path(&names)?.clone();
    Some(path.iter().rev().fold(node, |below, key| {
        let place = below.place;
        let entry = Entry {
            key: Arc::clone(key),
            key_place: place,
            node: below,
        };
        let value = Value::Map(Arc::new([entry].into_iter().collect()));
        Node { value, place }
    }))
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::merge;
    use yaml_tree::place::{FileId, Place};
    use yaml_tree::value::{Node, Value};

    use super::{Override, Style, layers};

    fn tree(text: &str) -> Node {
        yaml_tree::values(text, FileId(0), Engine::Helm3).expect("values")
    }

    fn composed(below: &str, set: &str, inline: &str) -> Node {
        let set = Override::Set {
            text: set.to_owned(),
            style: Style::Typed,
            place: Place::NONE,
        };
        let layers =
            layers(vec![Override::Values(tree(below)), set], Some(tree(inline))).expect("composes");
        merge::layers(&layers, Engine::Helm3).tree
    }

    #[test]
    fn a_set_value_changes_an_item_of_an_inline_list() {
        let composed = composed("a: 1", "m.list[0].url=x", "m: {list: [{name: n}]}");
        assert!(
            composed
                .value
                .same(&tree("{a: 1, m: {list: [{name: n, url: x}]}}").value)
        );
    }

    #[test]
    fn an_inline_value_wins_where_flux_merges_it_again() {
        let at = |node: Node| node.get_path(&["a", "b"]).map(|node| node.value.clone());
        assert_eq!(
            at(composed("{}", "a.b=set", "a: {b: inline}")),
            Some(Value::from("set"))
        );
        assert_eq!(
            at(composed("a: {c: 1}", "a.b=set", "a: {b: inline}")),
            Some(Value::from("inline"))
        );
    }

    #[test]
    fn a_set_value_overrides_lower_trees() {
        let composed = composed("a: {b: 1, c: 2}", "a.b=null,d={}", "{}");
        assert_eq!(
            composed.get_path(&["a", "b"]).map(|node| &node.value),
            Some(&Value::Null)
        );
        assert_eq!(
            composed.get_path(&["d"]).map(|node| &node.value),
            Some(&Value::from(vec![Node::from_value("")]))
        );
    }
}
