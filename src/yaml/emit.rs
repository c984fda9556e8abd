//! Writes a values tree as YAML.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::model::value::{Entry, Map, Node, Number, Value};

/// The tree as a YAML document.
pub fn document(node: &Node) -> String {
    serde_saphyr::to_string(&Tree(node)).unwrap_or_default()
}

struct Tree<'a>(&'a Node);

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Number(Number::Int(int)) => serializer.serialize_i64(*int),
            Value::Number(Number::Float(float)) if float.fract() == 0.0 && float.abs() < 9e15 => {
                serializer.serialize_i64(*float as i64)
            }
            Value::Number(Number::Float(float)) => serializer.serialize_f64(*float),
            Value::String(text) => serializer.serialize_str(text),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    list.serialize_element(&Tree(item))?;
                }
                list.end()
            }
            Value::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries.iter() {
                    map.serialize_entry(&*entry.key, &Tree(&entry.node))?;
                }
                map.end()
            }
        }
    }
}

/// One scalar on one line.
pub fn scalar(node: &Node) -> String {
    if let Value::String(text) = &node.value
        && text.contains(|letter: char| letter.is_control())
    {
        return serde_json::to_string(&**text).unwrap_or_default();
    }
    document(node).trim_end_matches('\n').to_owned()
}

/// A value in block style, lines after the first `columns` in; without the last newline.
pub fn block(node: &Node, columns: usize) -> String {
    let (text, columns) = match &node.value {
        Value::String(text) if text.contains('\n') => {
            let map = Map::from_iter([Entry::computed("k", &**text)]);
            let text = document(&Node::computed(map));
            (
                text.strip_prefix("k: ").unwrap_or_default().to_owned(),
                columns.saturating_sub(2),
            )
        }
        _ => (document(node), columns),
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let mut block = String::with_capacity(text.len() * 2);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            block.push('\n');
            if !line.is_empty() {
                block.extend(std::iter::repeat_n(' ', columns));
            }
        }
        block.push_str(line);
    }
    block
}
