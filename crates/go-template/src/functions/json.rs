//! The JSON functions: written as by Go's `encoding/json`, and parsed as by Helm, whose errors are values.

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::json::{Html, format_float_go, write_string};

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value, print};
use super::convert::deeper;
use super::json_text::{self, SyntaxError};

const ANY: &[Type] = &[Type::Any];
const TEXT: &[Type] = &[Type::String];

/// The functions of this module. Those without `must` return an empty string for a value that JSON cannot represent.
pub(super) const TABLE: &[Function] = &[
    Function::new("toJson", ANY, |call| {
        lenient(call, Html::Escaped, Layout::Compact)
    })
    .makes_text(),
    Function::new("mustToJson", ANY, |call| {
        strict(call, Html::Escaped, Layout::Compact)
    })
    .makes_text(),
    Function::new("toPrettyJson", ANY, |call| {
        lenient(call, Html::Escaped, Layout::Indented)
    })
    .makes_text(),
    Function::new("mustToPrettyJson", ANY, |call| {
        strict(call, Html::Escaped, Layout::Indented)
    })
    .makes_text(),
    Function::new("toRawJson", ANY, |call| {
        strict(call, Html::Plain, Layout::Compact)
    })
    .makes_text(),
    Function::new("mustToRawJson", ANY, |call| {
        strict(call, Html::Plain, Layout::Compact)
    })
    .makes_text(),
    Function::new("fromJson", TEXT, from_json).parses(),
    Function::new("fromJsonArray", TEXT, from_json_array).parses(),
    Function::new("mustFromJson", TEXT, must_from_json).parses(),
];

/// The layout of the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Compact,
    /// Indented by two blanks per level (`json.MarshalIndent`).
    Indented,
}

fn lenient(call: &Call<'_>, html: Html, layout: Layout) -> Result<Value, Error> {
    let written = write(call, html, layout)?;
    Ok(written.unwrap_or_default().into())
}

fn strict(call: &Call<'_>, html: Html, layout: Layout) -> Result<Value, Error> {
    let written = write(call, html, layout)?;
    let text = written
        .ok_or_else(|| call.error(format!("`{}` of a number that JSON cannot hold", call.name)))?;
    Ok(text.into())
}

/// The first argument as JSON; none if it contains a number that JSON cannot represent.
fn write(call: &Call<'_>, html: Html, layout: Layout) -> Result<Option<String>, Error> {
    let mut writer = Writer {
        out: String::new(),
        html,
        layout,
        unwritable: false,
    };
    writer.value(&call.value(0), 0)?;
    Ok((!writer.unwritable).then_some(writer.out))
}

struct Writer {
    out: String,
    html: Html,
    layout: Layout,
    /// Whether the value contains an infinity, NaN or a complex number.
    unwritable: bool,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let inner = deeper(depth)?;
        match value {
            Value::Nil => self.out.push_str("null"),
            Value::List(list) if list.element.is_nil() => self.out.push_str("null"),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Int64(_)
            | Value::Uint8(_)
            | Value::Uint64(_) => {
                self.out.push_str(&print::value(value)?);
            }
            Value::Float(number) => {
                self.unwritable |= !number.is_finite();
                self.out.push_str(&format_float_go(*number));
            }
            Value::String(text) => self.string(text),
            Value::List(list) => self.list(&list.items, depth)?,
            Value::Map(map) => self.map(&map.entries()?, depth)?,
            Value::Object(object) if object.complex().is_some() => self.unwritable = true,
            Value::Object(object) => self.value(&object.plain(), inner)?,
        }
        Ok(())
    }

    fn string(&mut self, text: &str) {
        write_string(&mut self.out, text, self.html);
    }

    fn list(&mut self, items: &[Value], depth: usize) -> Result<(), Error> {
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index, depth + 1);
            self.value(item, depth + 1)?;
        }
        self.close(']', items.len(), depth);
        Ok(())
    }

    fn map(&mut self, entries: &BTreeMap<Arc<str>, Value>, depth: usize) -> Result<(), Error> {
        self.out.push('{');
        for (index, (key, item)) in entries.iter().enumerate() {
            self.separate(index, depth + 1);
            self.string(key);
            let colon = if self.layout == Layout::Indented {
                ": "
            } else {
                ":"
            };
            self.out.push_str(colon);
            self.value(item, depth + 1)?;
        }
        self.close('}', entries.len(), depth);
        Ok(())
    }

    fn separate(&mut self, index: usize, depth: usize) {
        if index > 0 {
            self.out.push(',');
        }
        self.line(depth);
    }

    fn close(&mut self, bracket: char, items: usize, depth: usize) {
        if items > 0 {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if self.layout == Layout::Indented {
            self.out.push('\n');
            self.out.extend((0..depth).map(|_| "  "));
        }
    }
}

fn read(call: &Call<'_>) -> Result<Result<Value, SyntaxError>, Error> {
    Ok(json_text::read(&call.string(0)?))
}

/// Helm's `fromJson`: accepts an object only. The result for invalid input is a map with the message under the key `Error`.
fn from_json(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match read(call)? {
        Ok(value @ (Value::Map(_) | Value::Nil)) => value,
        Ok(other) => error_map(unmarshal_error(&other, "map[string]interface {}")),
        Err(SyntaxError { message, read }) => match read {
            Some(Value::Map(map)) => {
                let mut entries = map.entries()?;
                entries.insert("Error".into(), message.into());
                Value::map(entries)
            }
            _ => error_map(message),
        },
    })
}

/// Helm's `fromJsonArray`: accepts an array only. The result for invalid input is a list with the message as its only item.
fn from_json_array(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(match read(call)? {
        Ok(value @ Value::List(_)) => value,
        Ok(Value::Nil) => super::convert::nil_list(),
        Ok(other) => error_list(unmarshal_error(&other, "[]interface {}")),
        Err(error) => error_list(error.message),
    })
}

/// Sprig's `mustFromJson`: accepts any value, and fails for invalid input.
fn must_from_json(call: &mut Call<'_>) -> Result<Value, Error> {
    read(call)?.map_err(|error| call.error(format!("not JSON: {}", error.message)))
}

/// Go's message for a value of the wrong type.
pub(super) fn unmarshal_error(value: &Value, expected: &str) -> String {
    let found = match value {
        Value::Bool(_) => "bool",
        Value::String(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        _ => "number",
    };
    format!("json: cannot unmarshal {found} into Go value of type {expected}")
}

pub(super) fn error_map(message: String) -> Value {
    Value::map(BTreeMap::from([("Error".into(), message.into())]))
}

pub(super) fn error_list(message: String) -> Value {
    Value::list(vec![message.into()])
}
