//! JSON patches (<https://www.rfc-editor.org/rfc/rfc6902>), as the versions of Go's library for them apply them
//! (<https://github.com/evanphx/json-patch>). Both allow negative indexes.

use std::sync::Arc;

use yaml_tree::value::{Entry, Node, Value};

use super::depth::check_extent;
use super::reader::PlacedError;

/// The most keys of a path: patches must not build a tree that is too deep to be walked.
pub(super) const DEEPEST: usize = 100;

/// Who applies a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Dialect {
    /// kustomize, with version 4 of the library: `replace` adds a key that is missing, and a missing value is copied as null. An
    /// object always has annotations while kustomize builds it.
    Kustomize,
    /// Cluster API, with version 5.
    ClusterApi,
}

/// Applies all operations of a patch to an object.
pub(in crate::read) fn apply(
    tree: &mut Node,
    operations: &[Node],
    dialect: Dialect,
) -> Result<(), PlacedError> {
    for operation in operations {
        apply_one(tree, operation, dialect).map_err(|message| PlacedError {
            place: operation.place_at(&["path"]),
            message,
        })?;
    }
    Ok(())
}

fn apply_one(tree: &mut Node, operation: &Node, dialect: Dialect) -> Result<(), String> {
    let name = operation
        .text(&["op"])
        .ok_or("an operation lacks its `op`")?;
    let path = pointer(operation, "path")?;
    let value = || {
        let value = operation.get_path(&["value"]).cloned();
        value.unwrap_or(Node::new(Value::Null, operation.place))
    };
    match name {
        "add" => add(tree, &path, value()),
        "replace" if dialect == Dialect::Kustomize && is_missing_key(tree, &path) => {
            add(tree, &path, value())
        }
        "replace" => {
            if !path.is_empty() {
                remove(tree, &path)?;
            }
            add(tree, &path, value())
        }
        "remove" => remove(tree, &path).map(drop),
        "copy" => {
            let from = pointer(operation, "from")?;
            let node = if dialect == Dialect::Kustomize && is_missing_key(tree, &from) {
                Node::from_value(Value::Null)
            } else {
                get(tree, &from)?.clone()
            };
            check_extent(&node, path.len())?;
            add(tree, &path, node)
        }
        "move" => {
            let node = remove(tree, &pointer(operation, "from")?)?;
            check_extent(&node, path.len())?;
            add(tree, &path, node)
        }
        "test" => {
            let found = get(tree, &path).map_or(&Value::Null, |node| &node.value);
            if found.same(&value().value) {
                Ok(())
            } else {
                Err(format!("the test of `{}` fails", display_pointer(&path)))
            }
        }
        other => Err(format!("there is no operation `{other}`")),
    }
}

/// The keys of a pointer (<https://www.rfc-editor.org/rfc/rfc6901>).
fn pointer(operation: &Node, field: &str) -> Result<Vec<String>, String> {
    let path = operation
        .text(&[field])
        .ok_or_else(|| format!("an operation lacks its `{field}`"))?;
    let Some(path) = path.strip_prefix('/') else {
        return match path {
            "" => Ok(Vec::new()),
            _ => Err(format!("`{path}` does not start with `/`")),
        };
    };
    let key = |key: &str| key.replace("~1", "/").replace("~0", "~");
    let keys: Vec<String> = path.split('/').map(key).collect();
    match keys.len() {
        0..=DEEPEST => Ok(keys),
        _ => Err(format!("a path leads deeper than {DEEPEST} keys")),
    }
}

/// Whether the map that a path leads into lacks its last key.
fn is_missing_key(tree: &Node, path: &[String]) -> bool {
    let Some((key, parent)) = path.split_last() else {
        return false;
    };
    let parent = get(tree, parent).ok().and_then(|node| node.value.as_map());
    parent.is_some_and(|map| map.get(key).is_none())
}

fn display_pointer(path: &[String]) -> String {
    format!("/{}", path.join("/"))
}

fn missing(path: &[String]) -> String {
    format!("there is no `{}` in the object", display_pointer(path))
}

fn get<'n>(tree: &'n Node, path: &[String]) -> Result<&'n Node, String> {
    let mut keys = path.iter();
    let found = keys.try_fold(tree, |node, key| match &node.value {
        Value::Map(map) => map.get(key),
        Value::List(items) => items.get(index(key, items.len())?),
        _ => None,
    });
    found.ok_or_else(|| missing(path))
}

/// The container of the last key of a path.
fn parent<'n, 'p>(
    tree: &'n mut Node,
    path: &'p [String],
) -> Result<(&'n mut Node, &'p str), String> {
    let (last, parents) = path.split_last().ok_or("a path is empty")?;
    let mut keys = parents.iter();
    let found = keys.try_fold(tree, |node, key| match &mut node.value {
        Value::Map(map) => Arc::make_mut(map).get_mut(key),
        Value::List(items) => {
            let index = index(key, items.len())?;
            Arc::make_mut(items).get_mut(index)
        }
        _ => None,
    });
    Ok((found.ok_or_else(|| missing(path))?, last))
}

fn add(tree: &mut Node, path: &[String], value: Node) -> Result<(), String> {
    if path.is_empty() {
        *tree = value;
        return Ok(());
    }
    let (container, key) = parent(tree, path)?;
    match &mut container.value {
        Value::Map(map) => {
            Arc::make_mut(map).insert(Entry {
                key: key.into(),
                key_place: value.place,
                node: value,
            });
            Ok(())
        }
        Value::List(items) => {
            let end = items.len();
            let at = if key == "-" {
                Some(end)
            } else {
                index(key, end + 1)
            };
            let at = at.ok_or_else(|| {
                format!(
                    "`{key}` in `{}` is not an index into a list of {end}",
                    display_pointer(path)
                )
            })?;
            Arc::make_mut(items).insert(at, value);
            Ok(())
        }
        _ => Err(missing(path)),
    }
}

fn remove(tree: &mut Node, path: &[String]) -> Result<Node, String> {
    let (container, key) = parent(tree, path)?;
    match &mut container.value {
        Value::Map(map) => {
            let removed = Arc::make_mut(map).remove(key);
            removed.map(|entry| entry.node).ok_or_else(|| missing(path))
        }
        Value::List(items) => {
            let at = index(key, items.len()).ok_or_else(|| missing(path))?;
            Ok(Arc::make_mut(items).remove(at))
        }
        _ => Err(missing(path)),
    }
}

/// An index below `end`; a negative one counts backward from it.
fn index(key: &str, end: usize) -> Option<usize> {
    let index: isize = key.parse().ok()?;
    let index = if index < 0 {
        index.checked_add_unsigned(end)?
    } else {
        index
    };
    usize::try_from(index).ok().filter(|index| *index < end)
}
