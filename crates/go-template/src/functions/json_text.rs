//! Parses JSON with Go's error messages, because Helm returns them to templates as values.

use std::ops::Range;
use std::sync::Arc;

use yaml_tree::json_reader::{Builder, Fault, FaultKind, JsonReader, Scalar};

use super::super::{Value, format};

/// Go's message for an invalid text.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) message: String,
    /// What Go reads all the same, where only a number is out of range: that number is nil.
    pub(super) read: Option<Value>,
}

/// Parses a text that holds one value. All numbers become `float64`; the last of several equal keys wins.
///
/// # Errors
/// It is not JSON.
pub(super) fn read(text: &str) -> Result<Value, SyntaxError> {
    let values = Values {
        text,
        out_of_range: None,
    };
    let mut reader = JsonReader::new(text, values);
    let read = reader.value().and_then(|value| {
        reader.end()?;
        Ok(value)
    });
    let (message, read) = match (read, reader.builder.out_of_range) {
        (Err(Syntax(message)), _) => (message, None),
        (Ok(value), Some(message)) => (message, Some(value)),
        (Ok(value), None) => return Ok(value),
    };
    Err(SyntaxError { message, read })
}

/// Why the text is not read to its end.
struct Syntax(String);

/// Makes Go's values.
struct Values<'t> {
    text: &'t str,
    /// The message for the first number that no float holds. Go reports it only where the whole text is JSON.
    out_of_range: Option<String>,
}

impl Values<'_> {
    fn number(&mut self, text: &str) -> Value {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => {
                self.out_of_range.get_or_insert_with(|| {
                    format!("json: cannot unmarshal number {text} into Go value of type float64")
                });
                Value::Nil
            }
        }
    }
}

impl Builder for Values<'_> {
    type Key = Arc<str>;
    type Value = Value;
    type Error = Syntax;

    fn scalar(&mut self, scalar: Scalar<'_>, span: Range<usize>) -> Result<Value, Syntax> {
        Ok(match scalar {
            Scalar::Null => Value::Nil,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Number(text) => self.number(text),
            Scalar::Text(text) => Value::String(self.key(text, span)?),
        })
    }

    fn open(&mut self, _at: usize) -> Result<(), Syntax> {
        Ok(())
    }

    fn key(&mut self, key: String, _span: Range<usize>) -> Result<Arc<str>, Syntax> {
        Ok(key.into())
    }

    fn list(&mut self, items: Vec<Value>, _span: Range<usize>) -> Value {
        Value::list(items)
    }

    fn map(&mut self, entries: Vec<(Arc<str>, Value)>, _span: Range<usize>) -> Value {
        Value::map(entries.into_iter().collect())
    }

    fn error(&self, fault: Fault) -> Syntax {
        let context = match fault.kind {
            FaultKind::Depth => return Syntax("exceeded max depth".to_owned()),
            FaultKind::Value => "looking for beginning of value",
            FaultKind::Key => "looking for beginning of object key string",
            FaultKind::Colon => "after object key",
            FaultKind::AfterEntry => "after object key:value pair",
            FaultKind::AfterItem => "after array element",
            FaultKind::AfterDocument => "after top-level value",
            FaultKind::Text => "in string literal",
            FaultKind::Escape => "in string escape code",
            FaultKind::Hexadecimal => r"in \u hexadecimal character escape",
            FaultKind::Word { word, letter } => {
                &format!("in literal {word} (expecting '{letter}')")
            }
            FaultKind::Number => "in numeric literal",
            FaultKind::Fraction => "after decimal point in numeric literal",
            FaultKind::Exponent => "in exponent of numeric literal",
        };
        let next = self.text.as_bytes().get(fault.at).copied().map(char::from);
        let character = match next {
            // Inside an escape, a word or a number, Go treats the end as a blank.
            None if is_in_token(fault.kind) => " ".to_owned(),
            None => return Syntax("unexpected end of JSON input".to_owned()),
            Some('\'') => r"\'".to_owned(),
            Some('"') => "\"".to_owned(),
            Some(other) => {
                let quoted = format::quote(&other.to_string());
                quoted.trim_matches('"').to_owned()
            }
        };
        Syntax(format!("invalid character '{character}' {context}"))
    }
}

/// Whether an escape, a word or a number is not complete.
fn is_in_token(kind: FaultKind) -> bool {
    use FaultKind::{Escape, Exponent, Fraction, Hexadecimal, Number, Word};
    matches!(
        kind,
        Escape | Hexadecimal | Word { .. } | Number | Fraction | Exponent
    )
}
