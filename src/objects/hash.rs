//! Short content hashes, for names that change when their content does.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::model::value::{Node, Number, Value};

/// How many hex digits of SHA-256 a name carries: 40 bits, enough for the objects of one namespace.
const DIGITS: usize = 10;

/// The first hex digits of the SHA-256 of a text.
pub fn of_text(text: &str) -> String {
    let mut digits = String::with_capacity(DIGITS);
    for byte in Sha256::digest(text.as_bytes()).iter().take(DIGITS / 2) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// The tree as canonical JSON: keys sorted, no spaces, whole numbers without a fraction. Equal trees give equal text,
/// wherever they were written and however their numbers were spelt.
pub fn canonical_json(node: &Node) -> String {
    let mut text = String::with_capacity(256);
    write_json(node, &mut text);
    text
}

fn write_json(node: &Node, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(*number, out),
        Value::String(text) => write_string(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_string(&entry.key, out);
                out.push(':');
                write_json(&entry.node, out);
            }
            out.push('}');
        }
    }
}

fn write_number(number: Number, out: &mut String) {
    let _ = match number {
        Number::Int(int) => write!(out, "{int}"),
        Number::Float(float) => write!(out, "{float}"),
    };
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::{canonical_json, of_text};
    use crate::model::value::{Entry, Map, Node, Number, Value};

    #[test]
    fn the_hash_is_the_start_of_sha256() {
        assert_eq!(of_text(""), "e3b0c44298");
        assert_eq!(of_text("abc"), "ba7816bf8f");
    }

    #[test]
    fn canonical_json_is_json_and_ignores_how_a_number_was_spelt() {
        let tree = |number| {
            Node::computed(Map::from_iter([
                Entry::computed(
                    "b\n\"",
                    vec![Node::computed(number), Node::computed(Value::Null)],
                ),
                Entry::computed("a", true),
            ]))
        };
        let float = canonical_json(&tree(Value::Number(Number::Float(1.0))));
        assert_eq!(float, canonical_json(&tree(Value::from(1))));
        let parsed: serde_json::Value = serde_json::from_str(&float).unwrap();
        assert_eq!(parsed, serde_json::json!({"a": true, "b\n\"": [1, null]}));
    }
}
