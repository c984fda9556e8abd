//! Equality of values as JSON Schema defines it.

use super::check::Check;
use yaml_tree::json::{Html, format_number, to_json};
use yaml_tree::value::{Number, Value};

impl Check<'_> {
    /// Whether two values are equal: `1` and `1.0` are one number in JSON Schema.
    pub(super) fn is_equal(&mut self, one: &Value, other: &Value) -> Result<bool, String> {
        Ok(match (one, other) {
            (Value::Number(one), Value::Number(other)) => as_float(*one) == as_float(*other),
            (Value::String(one), Value::String(other)) => one == other,
            (Value::List(_), Value::List(_)) | (Value::Map(_), Value::Map(_)) => {
                self.comparable(one)? == self.comparable(other)?
            }
            _ => one.same(other),
        })
    }

    /// A text that is the same for equal values.
    pub(super) fn comparable(&mut self, value: &Value) -> Result<String, String> {
        self.step(1)?;
        Ok(match value {
            Value::Number(number) => format_number(Number::Float(as_float(*number))),
            Value::List(items) => {
                let items = items.iter().map(|item| self.comparable(&item.value));
                format!("[{}]", items.collect::<Result<Vec<_>, _>>()?.join(","))
            }
            Value::Map(map) => {
                let entries = map.iter().map(|entry| {
                    let key = &entry.key;
                    self.step_text(key)?;
                    Ok(format!("{key:?}:{}", self.comparable(&entry.node.value)?))
                });
                let entries: Result<Vec<String>, String> = entries.collect();
                format!("{{{}}}", entries?.join(","))
            }
            Value::String(text) => {
                self.step_text(text)?;
                to_json(value, Html::Plain)
            }
            Value::Null | Value::Bool(_) => to_json(value, Html::Plain),
        })
    }
}

pub(super) fn as_float(number: Number) -> f64 {
    match number {
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    }
}
