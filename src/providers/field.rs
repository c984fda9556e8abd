//! Fields of objects: where one stands, and what becomes of it when an image is stamped.

use std::fmt;
use std::sync::Arc;

use crate::model::value::{Entry, Map, Node, Value};

/// A step on the way to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(&'static str),
    /// Of a list, the item that has this key: `containerDisk`. Items are never counted: people add and move them.
    Having(&'static str),
    /// Of a list, the item that is called so, in its `name` or in its metadata's.
    Named(Arc<str>),
}

/// One field of an object and what is to stand in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The way to it, from the object's root.
    pub path: Vec<Step>,
    /// What is to stand there; none takes the field away if it stands.
    pub value: Option<Value>,
}

impl Edit {
    /// Sets a field below a machine's spec.
    pub(super) fn set(path: &[&'static str], value: impl Into<Value>) -> Self {
        Self {
            path: path.iter().map(|key| Step::Key(key)).collect(),
            value: Some(value.into()),
        }
    }

    /// Takes a field away.
    pub(super) fn remove(path: &[&'static str]) -> Self {
        Self {
            path: path.iter().map(|key| Step::Key(key)).collect(),
            value: None,
        }
    }

    /// Sets a text or takes the field away.
    pub(super) fn text(path: &[&'static str], text: Option<&str>) -> Self {
        text.map_or_else(|| Self::remove(path), |text| Self::set(path, text))
    }

    /// The same field, seen from further up.
    pub(super) fn below(mut self, machine: &[&'static str]) -> Self {
        let mut path: Vec<Step> = machine.iter().map(|key| Step::Key(key)).collect();
        path.append(&mut self.path);
        Self { path, ..self }
    }
}

/// `spec.template.spec.volumes[containerDisk].containerDisk.image`
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.path.iter().enumerate() {
            match step {
                Step::Key(key) if index == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Having(key) => write!(f, "[{key}]")?,
                Step::Named(name) => write!(f, "[name={name}]")?,
            }
        }
        Ok(())
    }
}

/// A tree with the edits made. Maps on the way are made where they are missing; items of lists are not.
///
/// # Errors
/// The list on the way has no such item; in one clause.
pub fn edited(root: Map, edits: &[Edit]) -> Result<Map, String> {
    let mut value = Value::from(root);
    for edit in edits {
        value = changed(value, &edit.path, edit)?;
    }
    Ok(match value {
        Value::Map(map) => Arc::unwrap_or_clone(map),
        _ => Map::default(),
    })
}

fn changed(value: Value, path: &[Step], edit: &Edit) -> Result<Value, String> {
    let Some((step, rest)) = path.split_first() else {
        return Ok(edit.value.clone().unwrap_or(value));
    };
    match step {
        Step::Key(key) => {
            let mut map = match value {
                Value::Map(map) => Arc::unwrap_or_clone(map),
                _ => Map::default(),
            };
            let standing = map.remove(key).map(|entry| entry.node);
            match (standing, &edit.value) {
                // What is to go stands nowhere below.
                (_, None) if rest.is_empty() => {}
                (None, None) => {}
                (standing, _) => {
                    let below = standing.map_or(Value::Null, |node| node.value);
                    map.insert(Entry::computed(*key, changed(below, rest, edit)?));
                }
            }
            Ok(map.into())
        }
        Step::Having(_) | Step::Named(_) => {
            let mut items = match value {
                Value::List(items) => Arc::unwrap_or_clone(items),
                _ => Vec::new(),
            };
            let Some(item) = items.iter_mut().find(|item| step.means(item)) else {
                return match edit.value {
                    Some(_) => Err(format!("there is no list item for `{edit}`")),
                    None => Ok(items.into()),
                };
            };
            item.value = changed(item.value.clone(), rest, edit)?;
            Ok(items.into())
        }
    }
}

impl Step {
    /// Whether an item of a list is the one that is meant.
    pub fn means(&self, item: &Node) -> bool {
        match self {
            Self::Key(_) => false,
            Self::Having(key) => item.at(&[key]).is_some_and(|node| !node.value.is_null()),
            Self::Named(name) => [&["name"][..], &["metadata", "name"]]
                .iter()
                .filter_map(|path| item.at(path)?.value.as_str())
                .any(|text| text == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Edit, Step, edited};
    use crate::model::json::{Html, to_json};
    use crate::model::value::{Entry, Map, Node, Value};

    fn volumes() -> Map {
        let volume = |name: &str, kind: &str| {
            let below = Map::from_iter([Entry::computed("image", "old")]);
            Node::computed(Map::from_iter([
                Entry::computed("name", name),
                Entry::computed(kind, below),
            ]))
        };
        let items = vec![volume("a", "cloudInit"), volume("b", "containerDisk")];
        Map::from_iter([Entry::computed("volumes", items)])
    }

    fn disk(step: Step) -> Edit {
        let mut path = vec![Step::Key("volumes"), step];
        path.extend([Step::Key("containerDisk"), Step::Key("image")]);
        Edit {
            path,
            value: Some("new".into()),
        }
    }

    fn json(map: Map) -> String {
        to_json(&Value::from(map), Html::Plain)
    }

    #[test]
    fn an_item_is_found_by_what_it_is_or_by_its_name() {
        for step in [Step::Having("containerDisk"), Step::Named("b".into())] {
            let map = edited(volumes(), &[disk(step)]).expect("the item is there");
            assert_eq!(
                json(map),
                r#"{"volumes":[{"cloudInit":{"image":"old"},"name":"a"},{"containerDisk":{"image":"new"},"name":"b"}]}"#
            );
        }
        let missing = edited(volumes(), &[disk(Step::Named("c".into()))]);
        assert_eq!(
            missing,
            Err("there is no list item for `volumes[name=c].containerDisk.image`".to_owned())
        );
    }

    #[test]
    fn maps_are_made_for_what_is_set_and_not_for_what_goes() {
        let edits = [
            Edit::set(&["image", "filter", "name"], "n"),
            Edit::remove(&["image", "id"]),
            Edit::remove(&["other", "deep"]),
        ];
        let map = edited(Map::default(), &edits).expect("no lists");
        assert_eq!(json(map), r#"{"image":{"filter":{"name":"n"}}}"#);
    }
}
