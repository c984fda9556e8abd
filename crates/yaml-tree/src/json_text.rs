//! Parses a text that starts with `{` as kubectl does: as a sequence of JSON values, without any other YAML.

use std::ops::Range;
use std::sync::Arc;

use crate::place::{FileId, Located, Place};
use crate::value::{Entry, Node, Number, Value};

use super::compose::Values;
use super::json_reader::{Builder, Fault, FaultKind, JsonReader, Scalar};
use super::mapping::{Pair, unique};
use super::notice::Notices;
use super::opaque::{Opaque, OpaqueKind, is_opaque};
use super::scan::too_deep;
use super::{Documents, SyntaxError};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Parses JSON with the span of every value.
pub(super) fn read(text: &str, file: FileId, has_labels: bool) -> Result<Documents> {
    let nodes = Nodes {
        text,
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
struct Nodes<'t> {
    text: &'t str,
    file: FileId,
    has_labels: bool,
    notices: Notices,
    values: Values,
}

impl Builder for Nodes<'_> {
    type Key = Located<Arc<str>>;
    type Value = Node;
    type Error = SyntaxError;

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
                _ => return Err(self.no_number(span)),
            },
        };
        Ok(self.node(value, span))
    }

    /// Counts a key or value.
    fn open(&mut self, at: usize) -> Result<()> {
        if self.values.count(1) {
            Ok(())
        } else {
            Err(self.error_in(at..at + 1, Values::too_many()))
        }
    }

    fn key(&mut self, key: String, span: Range<usize>) -> Result<Located<Arc<str>>> {
        self.open(span.start)?;
        if self.has_labels && is_opaque(&key) {
            return Err(self.error_in(span, "a key depends on a secret".to_owned()));
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

    fn error(&self, Fault { at, token, kind }: Fault) -> SyntaxError {
        let number = token..self.end_of(token, is_of_number);
        let word = token..self.end_of(token, |byte| byte.is_ascii_alphabetic());
        let expected = match kind {
            FaultKind::Depth => return self.error_in(at..at + 1, too_deep()),
            FaultKind::Text => {
                let message = "this quote is not closed on its line".to_owned();
                return self.error_in(token..token + 1, message);
            }
            FaultKind::Escape => {
                let message = "JSON has no such escape".to_owned();
                return self.error_in(token..token + 1, message);
            }
            FaultKind::Hexadecimal => {
                let message = "`\\u` must be followed by four hexadecimal digits".to_owned();
                return self.error_in(token..token + 2, message);
            }
            FaultKind::Number | FaultKind::Fraction | FaultKind::Exponent => {
                return self.no_number(number);
            }
            FaultKind::Value | FaultKind::Word { .. } | FaultKind::AfterDocument => {
                return self.syntax_error(token, "a value");
            }
            // What is glued to a number or a word.
            _ if number.contains(&at) => return self.no_number(number),
            _ if word.contains(&at) => return self.syntax_error(token, "a value"),
            FaultKind::Key => "a key in double quotes",
            FaultKind::Colon => "`:`",
            FaultKind::AfterEntry => "`,` or `}`",
            FaultKind::AfterItem => "`,` or `]`",
        };
        self.syntax_error(at, expected)
    }
}

impl Nodes<'_> {
    /// The end of the bytes of a kind from there on.
    fn end_of(&self, start: usize, is_of_kind: fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes()[start..].iter();
        start + rest.take_while(|byte| is_of_kind(**byte)).count()
    }

    fn no_number(&self, span: Range<usize>) -> SyntaxError {
        let message = format!("`{}` is not a JSON number", &self.text[span.clone()]);
        self.error_in(span, message)
    }

    fn syntax_error(&self, at: usize, expected: &str) -> SyntaxError {
        let found = match self.text[at..].chars().next() {
            Some(character) => format!("`{character}`"),
            None => "the end of the file".to_owned(),
        };
        let message = format!(
            "a text that starts with `{{` is read as JSON: expected {expected}, found {found}"
        );
        self.error_in(at..at + 1, message)
    }

    fn error_in(&self, range: Range<usize>, message: String) -> SyntaxError {
        SyntaxError::from_range(self.text, self.file, range, message)
    }

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

fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9')
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
            error.expect_err("a key").message,
            "a key depends on a secret"
        );
    }
}
