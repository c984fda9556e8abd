//! How Go prints values: `%v` and its kin.

use super::{Error, Value};

/// What `%v` prints.
pub fn value(value: &Value) -> Result<String, Error> {
    Ok(match value {
        Value::Nil => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) | Value::Int64(number) => number.to_string(),
        Value::Uint8(number) => number.to_string(),
        Value::Uint64(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::String(text) => text.to_string(),
        Value::List(list) => {
            let items: Result<Vec<String>, Error> = list.items.iter().map(self::value).collect();
            format!("[{}]", items?.join(" "))
        }
        Value::Map(map) => {
            let mut parts = Vec::new();
            for (key, item) in map.entries()? {
                parts.push(format!("{key}:{}", self::value(&item)?));
            }
            format!("map[{}]", parts.join(" "))
        }
        Value::Object(object) => object.text(),
    })
}
