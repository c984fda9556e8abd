//! Fields of objects: their paths, and the changes that write an image into them.

use std::fmt;
use std::sync::Arc;

use yaml_tree::value::{Entry, Map, Node, Value};

/// A step of a path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldStep {
    /// The value of a key.
    Key(&'static str),
    /// In a list, the item that has this key: `containerDisk`. Indexes are not used: people insert and move items.
    Having(&'static str),
    /// In a list, the item with this `name` or `metadata.name`.
    Named(Arc<str>),
}

/// A change of one field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The path from the object's root.
    pub path: Vec<FieldStep>,
    /// The new value; none removes the field.
    pub value: Option<Value>,
}

impl Edit {
    /// Sets a field below a machine's spec.
    pub(super) fn set(path: &[&'static str], value: impl Into<Value>) -> Self {
        Self {
            path: path.iter().map(|key| FieldStep::Key(key)).collect(),
            value: Some(value.into()),
        }
    }

    /// Removes a field below a machine's spec.
    pub(super) fn remove(path: &[&'static str]) -> Self {
        Self {
            path: path.iter().map(|key| FieldStep::Key(key)).collect(),
            value: None,
        }
    }

    /// Sets a field to a text, or removes it.
    pub(super) fn text(path: &[&'static str], text: Option<&str>) -> Self {
        text.map_or_else(|| Self::remove(path), |text| Self::set(path, text))
    }

    /// The same change, with a path from the object's root.
    pub(super) fn with_prefix(mut self, machine: &[&'static str]) -> Self {
        let mut path: Vec<FieldStep> = machine.iter().map(|key| FieldStep::Key(key)).collect();
        path.append(&mut self.path);
        Self { path, ..self }
    }
}

/// `spec.template.spec.volumes[containerDisk].containerDisk.image`
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.path.iter().enumerate() {
            match step {
                FieldStep::Key(key) if index == 0 => f.write_str(key)?,
                FieldStep::Key(key) => write!(f, ".{key}")?,
                FieldStep::Having(key) => write!(f, "[{key}]")?,
                FieldStep::Named(name) => write!(f, "[name={name}]")?,
            }
        }
        Ok(())
    }
}

/// The tree after the changes. Missing maps of a path are created, missing items of lists are not.
///
/// # Errors
/// A list has no such item; the message is one clause.
pub fn apply_edits(root: Map, edits: &[Edit]) -> Result<Map, String> {
    let mut value = Value::from(root);
    for edit in edits {
        value = apply_edit(value, &edit.path, edit)?;
    }
    Ok(match value {
        Value::Map(map) => Arc::unwrap_or_clone(map),
        _ => Map::default(),
    })
}

fn apply_edit(value: Value, path: &[FieldStep], edit: &Edit) -> Result<Value, String> {
    let Some((step, rest)) = path.split_first() else {
        return Ok(edit.value.clone().unwrap_or(value));
    };
    match step {
        FieldStep::Key(key) => {
            let mut map = match value {
                Value::Map(map) => Arc::unwrap_or_clone(map),
                _ => Map::default(),
            };
            let existing = map.remove(key).map(|entry| entry.node);
            match (existing, &edit.value) {
                // A field to remove that is reached or absent needs no map.
                (_, None) if rest.is_empty() => {}
                (None, None) => {}
                (existing, _) => {
                    let below = existing.map_or(Value::Null, |node| node.value);
                    map.insert(Entry::from_value(*key, apply_edit(below, rest, edit)?));
                }
            }
            Ok(map.into())
        }
        FieldStep::Having(_) | FieldStep::Named(_) => {
            let mut items = match value {
                Value::List(items) => Arc::unwrap_or_clone(items),
                _ => Vec::new(),
            };
            let Some(item) = items.iter_mut().find(|item| is_meant(item, step)) else {
                return match edit.value {
                    Some(_) => Err(format!("there is no list item for `{edit}`")),
                    None => Ok(items.into()),
                };
            };
            item.value = apply_edit(item.value.clone(), rest, edit)?;
            Ok(items.into())
        }
    }
}

/// Whether a step leads to an item of a list.
pub fn is_meant(item: &Node, step: &FieldStep) -> bool {
    match step {
        FieldStep::Key(_) => false,
        FieldStep::Having(key) => item
            .get_path(&[key])
            .is_some_and(|node| !node.value.is_null()),
        FieldStep::Named(name) => [&["name"][..], &["metadata", "name"]]
            .iter()
            .filter_map(|path| item.get_path(path)?.value.as_str())
            .any(|text| text == name),
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, FieldStep, apply_edits};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Node, Value};

    fn volumes() -> Map {
        let volume = |name: &str, kind: &str| {
            let below = Map::from_iter([Entry::from_value("image", "old")]);
            Node::from_value(Map::from_iter([
                Entry::from_value("name", name),
                Entry::from_value(kind, below),
            ]))
        };
        let items = vec![volume("a", "cloudInit"), volume("b", "containerDisk")];
        Map::from_iter([Entry::from_value("volumes", items)])
    }

    fn disk(step: FieldStep) -> Edit {
        let mut path = vec![FieldStep::Key("volumes"), step];
        path.extend([FieldStep::Key("containerDisk"), FieldStep::Key("image")]);
        Edit {
            path,
            value: Some("new".into()),
        }
    }

    fn json(map: Map) -> String {
        to_json(&Value::from(map), Html::Plain)
    }

    #[test]
    fn an_item_is_found_by_a_key_or_by_its_name() {
        for step in [
            FieldStep::Having("containerDisk"),
            FieldStep::Named("b".into()),
        ] {
            let map = apply_edits(volumes(), &[disk(step)]).expect("the item is there");
            assert_eq!(
                json(map),
                r#"{"volumes":[{"cloudInit":{"image":"old"},"name":"a"},{"containerDisk":{"image":"new"},"name":"b"}]}"#
            );
        }
        let missing = apply_edits(volumes(), &[disk(FieldStep::Named("c".into()))]);
        assert_eq!(
            missing,
            Err("there is no list item for `volumes[name=c].containerDisk.image`".to_owned())
        );
    }

    #[test]
    fn maps_are_created_for_fields_that_are_set_but_not_for_removed_ones() {
        let edits = [
            Edit::set(&["image", "filter", "name"], "n"),
            Edit::remove(&["image", "id"]),
            Edit::remove(&["other", "deep"]),
        ];
        let map = apply_edits(Map::default(), &edits).expect("no lists");
        assert_eq!(json(map), r#"{"image":{"filter":{"name":"n"}}}"#);
    }
}
