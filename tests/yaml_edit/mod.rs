//! YAML edited in place: only the bytes of the change change.

mod bytes;
mod corners;
mod properties;
mod shapes;
mod within;

use yaml_tree::edit::{Edit, EditError, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::value::Value;

fn at(path: &str) -> Target {
    let steps = path.split('.').filter(|step| !step.is_empty());
    let steps = steps.map(|step| match step.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::from(step),
    });
    Target::Path(0, steps.collect())
}

fn set(path: &str, value: impl Into<Value>) -> Edit {
    Edit::Set {
        at: at(path),
        value: value.into(),
    }
}

fn insert(path: &str, key: &str, value: impl Into<Value>, position: Position) -> Edit {
    Edit::Insert {
        map: at(path),
        key: key.to_owned(),
        value: value.into(),
        position,
    }
}

fn item(path: &str, value: impl Into<Value>, position: Position) -> Edit {
    Edit::InsertItem {
        list: at(path),
        value: value.into(),
        position,
    }
}

fn remove(path: &str) -> Edit {
    Edit::Remove { at: at(path) }
}

fn rename(path: &str, key: &str) -> Edit {
    Edit::Rename {
        at: at(path),
        key: key.to_owned(),
    }
}

fn after(key: &str) -> Position {
    Position::After(Step::from(key))
}

/// The text after edits, for Helm 3.
fn edited(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    edit(text, Engine::Helm3, edits)
}
