//! The ResourceList: read once, changed in place.

use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use capi::secrets;

use super::result::Outcome;

/// What was read.
pub(super) struct List<'a> {
    pub(super) text: &'a str,
    pub(super) items: Vec<Node>,
    /// Whether `items` is there at all.
    pub(super) has_items: bool,
    pub(super) config: Option<Node>,
    pub(super) has_results: bool,
}

impl<'a> List<'a> {
    /// Reads a list of either version that is in use.
    pub(super) fn read(text: &'a str) -> Result<Self, Error> {
        let source = secrets::source("stdin", text);
        let read = secrets::documents(&source, FileId(0), Engine::Kubectl).map_err(|error| {
            let (line, column) = source.line_column(error.place.start);
            Error::usage(format!("stdin:{line}:{column}: {error}"))
        })?;
        let [root] = &read.documents[..] else {
            return Err(Error::usage(
                "stdin must hold one document: a KRM function reads a ResourceList",
            ));
        };
        let group = root.text(&["apiVersion"]);
        let group = group.and_then(|version| version.split_once('/'));
        if root.text(&["kind"]) != Some("ResourceList")
            || group.is_none_or(|(group, _)| group != "config.kubernetes.io")
        {
            return Err(Error::usage(
                "stdin is not a ResourceList of config.kubernetes.io: kustomize and kpt run this command",
            ));
        }
        let items = root.get_path(&["items"]);
        let listed = items.and_then(|items| items.value.as_list());
        if items.is_some_and(|items| listed.is_none() && !items.value.is_null()) {
            return Err(Error::usage("`items` of the ResourceList is not a list"));
        }
        Ok(Self {
            text,
            items: listed.unwrap_or_default().to_vec(),
            has_items: items.is_some(),
            config: root.get_path(&["functionConfig"]).cloned(),
            has_results: root.get_path(&["results"]).is_some(),
        })
    }
}

/// The place of something below an item.
pub(super) fn item_target(index: usize, path: &[&str]) -> Target {
    let start = [Step::from("items"), Step::from(index)];
    let steps = start
        .into_iter()
        .chain(path.iter().map(|key| Step::from(*key)));
    Target::Path(0, steps.collect())
}

/// Sets a key of the list, which may be there, to a value as this text spells it.
pub(super) fn set_key(key: &str, is_there: bool, value: Value, text: impl Into<String>) -> Edit {
    let edit = if is_there {
        let at = Target::keys(&[key]);
        Edit::Set { at, value }
    } else {
        Edit::Insert {
            map: Target::keys(&[]),
            key: key.to_owned(),
            value,
            position: Position::Last,
        }
    };
    edit.verbatim(text)
}

/// The list's text with the results in it, one below the other however the list is written.
pub(super) fn with_results(outcome: &Outcome) -> Result<String, Error> {
    if outcome.results.is_empty() && !outcome.has_results {
        return Ok(outcome.text.clone());
    }
    let results = outcome.results.iter();
    let results: Vec<Node> = results
        .map(|result| Node::from_value(result.value()))
        .collect();
    let value = Value::from(results);
    let text = yaml_tree::emit(&value);
    let change = set_key("results", outcome.has_results, value, text);
    edit(&outcome.text, Engine::Kubectl, &[change]).map_err(|error| {
        Error::usage(format!(
            "the results find no place in the ResourceList: {error}"
        ))
    })
}
