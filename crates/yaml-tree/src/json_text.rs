//! Parses a sequence of JSON values, without any other YAML.

use std::ops::Range;
use std::sync::Arc;

use crate::place::{FileId, Located, Place};
use crate::value::{Entry, Node, Number, Value};

use super::Documents;
use super::compose::Values;
use super::json_reader::{Builder, Fault, JsonReader, Scalar};
use super::mapping::{Pair, unique};
use super::notice::Notices;
use super::opaque::{Opaque, OpaqueKind, is_opaque};

/// The text is no JSON, or JSON that is refused: it is read as YAML, which says why.
#[derive(Debug)]
pub(super) struct NotJson;

type Result<T> = std::result::Result<T, NotJson>;

/// Parses JSON with the span of every value.
pub(super) fn read(text: &str, file: FileId, has_labels: bool) -> Result<Documents> {
    let nodes = Nodes {
        file,
        has_labels,
        notices: Notices::default(),
        values: Values::default(),
    };
    let mut reader = JsonReader::new(text, nodes);
    let mut documents = Vec::new();
    while !reader.is_at_end() {
        documents.push(reader.value()?);
    }
    Ok(Documents {
        documents,
        notices: reader.builder.notices.finish(),
    })
}

/// Makes nodes, and counts them.
struct Nodes {
    file: FileId,
    has_labels: bool,
    notices: Notices,
    values: Values,
}

impl Builder for Nodes {
    type Key = Located<Arc<str>>;
    type Value = Node;
    type Error = NotJson;

    fn scalar(&mut self, scalar: Scalar<'_>, span: Range<usize>) -> Result<Node> {
        self.open(span.start)?;
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Text(text) if self.has_labels && is_opaque(&text) => Opaque {
                text: text.into(),
                kind: OpaqueKind::String,
            }
            .into(),
            Scalar::Text(text) => Value::from(text),
            Scalar::Number(text) => match (text.parse(), text.parse::<f64>()) {
                (Ok(number), _) => Value::Number(Number::Int(number)),
                (_, Ok(number)) if number.is_finite() => Value::Number(Number::Float(number)),
                _ => return Err(NotJson),
            },
        };
        Ok(self.node(value, span))
    }

    /// Counts a key or value.
    fn open(&mut self, _at: usize) -> Result<()> {
        if self.values.count(1) {
            Ok(())
        } else {
            Err(NotJson)
        }
    }

    fn key(&mut self, key: String, span: Range<usize>) -> Result<Located<Arc<str>>> {
        self.open(span.start)?;
        if self.has_labels && is_opaque(&key) {
            return Err(NotJson);
        }
        Ok(Located {
            value: key.into(),
            place: self.place(span),
        })
    }

    fn list(&mut self, mut items: Vec<Node>, span: Range<usize>) -> Node {
        items.shrink_to_fit();
        self.node(Value::from(items), span)
    }

    fn map(&mut self, entries: Vec<(Located<Arc<str>>, Node)>, span: Range<usize>) -> Node {
        let pairs = entries.into_iter().map(|(key, node)| Pair {
            entry: Entry {
                key: key.value,
                key_place: key.place,
                node,
            },
            is_merged: false,
        });
        let map = unique(&mut pairs.collect(), 0, &mut self.notices);
        self.node(Value::from(map), span)
    }

    fn error(&self, _: Fault) -> NotJson {
        NotJson
    }
}

impl Nodes {
    fn node(&self, value: Value, span: Range<usize>) -> Node {
        Node {
            value,
            place: self.place(span),
        }
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place {
            file: self.file,
            start: span.start as u32,
            end: span.end as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use crate::opaque::{OpaqueKind, label};
    use crate::place::FileId;
    use crate::value::Value;

    #[test]
    fn a_label_is_a_secret_where_it_is_a_text_and_refused_where_it_is_a_key() {
        let secret = label("a.yaml", "b");
        let read = |text: &str| crate::values(text, FileId(0), Engine::Kubectl);
        let tree = read(&format!("{{\"a\": \"{secret}\", \"b\": \"x\"}}")).expect("JSON");
        let value = |key: &str| tree.get_path(&[key]).map(|node| node.value.clone());
        let is_label = |value: &Value| matches!(value, Value::Opaque(opaque) if opaque.kind == OpaqueKind::String);
        assert!(value("a").is_some_and(|value| is_label(&value)));
        assert_eq!(value("b"), Some("x".into()));
        let error = read(&format!("{{\"{secret}\": 1, \"b\": \"{secret}\"}}"));
        assert_eq!(
            &*error.expect_err("a key").message,
            "a key depends on a secret"
        );
    }
}
