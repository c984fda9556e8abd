//! YAML: writing it as Helm's `toYaml` does, and reading it as Helm reads values, errors as values.

use super::super::convert::{from_model, to_model};
use super::super::function::{Call, Function, Type};
use super::super::{Error, ErrorClass, Value, format};
use super::json::{error_list, error_map, unmarshal_error};
use crate::model::engine::Engine;
use crate::model::place::Place;
use crate::model::value as model;
use crate::yaml::{self, Lists, SyntaxError};

const ANY: &[Type] = &[Type::Any];
const TEXT: &[Type] = &[Type::String];

/// The family's table.
pub(super) const TABLE: &[Function] = &[
    Function::new("toYaml", ANY, |call| to_yaml(call, Lists::AtKey)),
    Function::new("mustToYaml", ANY, |call| to_yaml(call, Lists::AtKey)),
    Function::new("toYamlPretty", ANY, |call| to_yaml(call, Lists::Indented)),
    Function::new("fromYaml", TEXT, from_yaml),
    Function::new("fromYamlArray", TEXT, from_yaml_array),
];

fn to_yaml(call: &Call<'_>, lists: Lists) -> Result<Value, Error> {
    let written = match to_model(&call.value(0), call.budget) {
        // What JSON cannot hold is written as nothing.
        Err(error) if error.class == ErrorClass::Other && call.name == "toYaml" => {
            return Ok("".into());
        }
        written => written?,
    };
    let text = yaml::as_helm(&written, lists);
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}

/// What a byte of YAML takes as a tree and as values, if the text is dense: a list of empty lists is `[],[],[]`.
const DENSEST: usize = 48;

/// What a node of the tree takes, with its key.
const NODE: usize = 96;

/// What a tree takes, until its maps are looked at and it is dropped.
fn bytes(value: &model::Value) -> usize {
    NODE + match value {
        model::Value::String(text) => text.len(),
        model::Value::List(items) => items.iter().map(|item| bytes(&item.value)).sum(),
        model::Value::Map(map) => {
            let entries = map.iter();
            entries
                .map(|entry| entry.key.len() + bytes(&entry.node.value))
                .sum()
        }
        _ => 0,
    }
}

/// The first document of a text, or Go's words for what is wrong with it.
fn read(call: &Call<'_>) -> Result<Result<Value, String>, Error> {
    let text = call.string(0)?;
    call.work(text.len())?;
    call.room(DENSEST * text.len())?;
    let read = yaml::read(&text, Place::NONE.file, Engine::Helm3);
    Ok(match read {
        Ok(documents) => {
            let first = documents.documents.first();
            call.charge(first.map_or(0, |node| bytes(&node.value)))?;
            Ok(first.map_or(Value::Nil, |node| from_model(&node.value)))
        }
        Err(error) => Err(in_words_of_go(&error, &text)),
    })
}

/// How messages of our reader begin, and go-yaml's words for them.
const WORDS: &[(&str, &str)] = &[
    (
        "a second `:` cannot stand here",
        "mapping values are not allowed in this context",
    ),
    (
        "a tab cannot indent",
        "found character that cannot start any token",
    ),
    (
        "no value can start with",
        "found character that cannot start any token",
    ),
    (
        "this quote is never closed",
        "found unexpected end of stream",
    ),
    ("expected a value", "did not find expected node content"),
];

/// The error as go-yaml words it, where its words are known: templates see them as a value.
fn in_words_of_go(error: &SyntaxError, text: &str) -> String {
    let before = text.get(..error.place.start as usize).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    if error.message == "null cannot be a key" {
        return null_key(text.get(error.place.end as usize..).unwrap_or_default());
    }
    let prefix = "error converting YAML to JSON: yaml:";
    if let Some((_, words)) = WORDS
        .iter()
        .find(|(ours, _)| error.message.starts_with(ours))
    {
        // Its scanner does not mention the first line.
        return match line {
            1 => format!("{prefix} {words}"),
            _ => format!("{prefix} line {line}: {words}"),
        };
    }
    let message = match error.message.strip_prefix("expected ") {
        Some(expected) => {
            let expected = expected.split(", found").next().unwrap_or(expected);
            format!("did not find expected {}", expected.replace('`', "'"))
        }
        None => error.message.clone(),
    };
    format!("{prefix} line {line}: {message}")
}

/// Go's words for a key that is null, with what follows it on its line.
fn null_key(behind: &str) -> String {
    let line = behind.lines().next().unwrap_or_default();
    let value = line.trim_start().trim_start_matches(':').trim();
    let written = match yaml::read(value, Place::NONE.file, Engine::Helm3) {
        Ok(documents) => match documents.documents.first().map(|node| &node.value) {
            Some(model::Value::String(text)) => format::quote(text),
            _ => value.to_owned(),
        },
        Err(_) => value.to_owned(),
    };
    format!(
        "error converting YAML to JSON: unsupported map key of type: %!s(<nil>), key: <nil>, value: {written}"
    )
}

/// Only a map, or nothing; what goes wrong is the value of a key `Error`.
fn from_yaml(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match read(call)? {
        Ok(value @ Value::Map(_)) => value,
        Ok(Value::Nil) => Value::map(Default::default()),
        Ok(other) => error_map(decoding_error(&other, "map[string]interface {}")),
        Err(message) => error_map(message),
    })
}

/// Only a list, or nothing; what goes wrong is its only item.
fn from_yaml_array(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match read(call)? {
        Ok(value @ Value::List(_)) => value,
        Ok(Value::Nil) => Value::list(Vec::new()),
        Ok(other) => error_list(decoding_error(&other, "[]interface {}")),
        Err(message) => error_list(message),
    })
}

fn decoding_error(value: &Value, wanted: &str) -> String {
    let cause = unmarshal_error(value, wanted);
    format!("error unmarshaling JSON: while decoding JSON: {cause}")
}
