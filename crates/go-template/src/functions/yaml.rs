//! The YAML functions: written as by Helm's `toYaml`, and parsed as Helm parses values, with errors as values.

use yaml_tree::engine::Engine;
use yaml_tree::place::Place;
use yaml_tree::value as model;
use yaml_tree::{Lists, SyntaxError};

use super::super::convert::{from_model, to_model};
use super::super::function::{Call, Function, Type};
use super::super::{Error, ErrorClass, Value, format};
use super::json::{error_list, error_map, unmarshal_error};

const ANY: &[Type] = &[Type::Any];
const TEXT: &[Type] = &[Type::String];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("toYaml", ANY, |call| to_yaml(call, Lists::AtKey)).makes_text(),
    Function::new("mustToYaml", ANY, |call| to_yaml(call, Lists::AtKey)).makes_text(),
    Function::new("toYamlPretty", ANY, |call| to_yaml(call, Lists::Indented)).makes_text(),
    Function::new("fromYaml", TEXT, from_yaml).parses(),
    Function::new("fromYamlArray", TEXT, from_yaml_array).parses(),
];

fn to_yaml(call: &Call<'_>, lists: Lists) -> Result<Value, Error> {
    let model = match to_model(&call.value(0)) {
        // As in Helm, the result for a value that JSON cannot represent is an empty string.
        Err(error) if error.class == ErrorClass::Other && call.name == "toYaml" => {
            return Ok("".into());
        }
        model => model?,
    };
    let text = yaml_tree::as_helm(&model, lists);
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}

/// Parses the first document of a text. The inner error is Go's message.
fn parse(call: &Call<'_>) -> Result<Result<Value, String>, Error> {
    let text = call.string(0)?;
    Ok(
        match yaml_tree::read(&text, Place::NONE.file, Engine::Helm3) {
            Ok(documents) => {
                let first = documents.documents.first();
                Ok(first.map_or(Value::Nil, |node| from_model(&node.value)))
            }
            Err(error) => Err(go_message(&error, &text)),
        },
    )
}

/// The beginnings of our reader's messages, with the messages of go-yaml.
const GO_MESSAGES: &[(&str, &str)] = &[
    (
        "a second `:` is not allowed here",
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

/// The message of go-yaml for an error, because templates see it as a value. Where go-yaml's message is not known, ours is used.
fn go_message(error: &SyntaxError, text: &str) -> String {
    let before = text.get(..error.place.start as usize).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    if &*error.message == "null cannot be a key" {
        return null_key(text.get(error.place.end as usize..).unwrap_or_default());
    }
    let prefix = "error converting YAML to JSON: yaml:";
    if let Some((_, message)) = GO_MESSAGES
        .iter()
        .find(|(ours, _)| error.message.starts_with(ours))
    {
        // The scanner of go-yaml does not mention the first line.
        return match line {
            1 => format!("{prefix} {message}"),
            _ => format!("{prefix} line {line}: {message}"),
        };
    }
    let message = match error.message.strip_prefix("expected ") {
        Some(expected) => {
            let expected = expected.split(", found").next().unwrap_or(expected);
            format!("did not find expected {}", expected.replace('`', "'"))
        }
        None => error.message.to_string(),
    };
    format!("{prefix} line {line}: {message}")
}

/// Go's message for a null key. `rest` is the text after the key.
fn null_key(rest: &str) -> String {
    let line = rest.lines().next().unwrap_or_default();
    let value = line.trim_start().trim_start_matches(':').trim();
    let written = match yaml_tree::read(value, Place::NONE.file, Engine::Helm3) {
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

/// Accepts a map or an empty document only. The result for invalid input is a map with the message under the key `Error`.
fn from_yaml(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match parse(call)? {
        Ok(value @ Value::Map(_)) => value,
        Ok(Value::Nil) => Value::map(Default::default()),
        Ok(other) => error_map(decoding_error(&other, "map[string]interface {}")),
        Err(message) => error_map(message),
    })
}

/// Accepts a list or an empty document only. The result for invalid input is a list with the message as its only item.
fn from_yaml_array(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match parse(call)? {
        Ok(value @ Value::List(_)) => value,
        Ok(Value::Nil) => Value::list(Vec::new()),
        Ok(other) => error_list(decoding_error(&other, "[]interface {}")),
        Err(message) => error_list(message),
    })
}

fn decoding_error(value: &Value, expected: &str) -> String {
    let cause = unmarshal_error(value, expected);
    format!("error unmarshaling JSON: while decoding JSON: {cause}")
}
