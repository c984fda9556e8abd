//! Scalars whose text is not there, because it is a secret.
//!
//! A label stands for the text: the place of the secret, between two characters that no other text needs. What joins, quotes or
//! indents texts passes the label along, so a text that was made of a secret says so. Nothing can print what is not there.

use std::borrow::Cow;
use std::sync::Arc;

use crate::value::{Node, Value};

/// The character before a label. Whoever writes it into a file makes a text unknown, and reveals nothing.
pub const OPEN: char = '\u{fdd0}';

/// The character behind a label.
pub const CLOSE: char = '\u{fdd1}';

/// Behind [`OPEN`] in a text that may be empty, although it holds a label.
pub const MAYBE: char = '?';

/// A scalar whose text is not known, or not all of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// A label instead of each secret; the rest as it is.
    pub text: Arc<str>,
    /// What the scalar is.
    pub kind: OpaqueKind,
}

/// What a scalar without its text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueKind {
    /// A string.
    String,
    /// A number.
    Number,
    /// Either: it was printed without quotes.
    Scalar,
}

impl From<Opaque> for Value {
    fn from(opaque: Opaque) -> Self {
        Self::Opaque(Arc::new(opaque))
    }
}

/// Whether a text holds a label.
pub fn is_opaque(text: &str) -> bool {
    text.contains(OPEN)
}

/// The label of a secret: its file and the keys to it. It needs no quotes in YAML, JSON or HTML.
pub fn label(file: &str, keys: &str) -> String {
    let mut label = String::with_capacity(file.len() + keys.len() + 7);
    label.push(OPEN);
    clean(&mut label, file);
    label.push('#');
    clean(&mut label, keys);
    label.push(CLOSE);
    label
}

fn clean(label: &mut String, text: &str) {
    let is_kept = |letter: char| letter.is_alphanumeric() || "-_./".contains(letter);
    label.extend(text.chars().map(|letter| if is_kept(letter) { letter } else { '_' }));
}

/// The labels of a text, without what is around them. None where it has none.
pub fn labels(text: &str) -> Option<String> {
    let mut parts = text.split(OPEN);
    parts.next();
    let mut labels: Vec<&str> = parts
        .map(|part| part.split(CLOSE).next().unwrap_or(part))
        .collect();
    labels.dedup();
    let marked = labels.iter().flat_map(|label| [OPEN.into(), (*label).to_owned(), CLOSE.into()]);
    (!labels.is_empty()).then(|| marked.collect())
}

/// A text for people, where each label is `<secret FILE: KEYS>`.
pub fn show_labels(text: &str) -> Cow<'_, str> {
    if !text.contains([OPEN, CLOSE]) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut parts = text.split(OPEN);
    shown.extend(parts.next().unwrap_or_default().chars().filter(|letter| *letter != CLOSE));
    for part in parts {
        let (label, rest) = part.split_once(CLOSE).unwrap_or((part, ""));
        let label = label.trim_start_matches(MAYBE);
        let (file, keys) = label.split_once('#').unwrap_or((label, ""));
        shown.push_str("<secret ");
        shown.push_str(file);
        if !keys.is_empty() {
            shown.push_str(": ");
            shown.push_str(keys);
        }
        shown.push('>');
        shown.extend(rest.chars().filter(|letter| *letter != CLOSE));
    }
    Cow::Owned(shown)
}

/// Replaces each text and number of a tree by a label. Maps, lists, booleans, and what is empty or zero stay.
pub fn seal(node: &mut Node, file: &str, keys: &str) {
    match &mut node.value {
        Value::Map(map) => {
            let entries = map.iter().cloned().map(|mut entry| {
                seal(&mut entry.node, file, &join(keys, &entry.key));
                entry
            });
            *map = Arc::new(entries.collect());
        }
        Value::List(items) => {
            for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
                seal(item, file, &join(keys, &index.to_string()));
            }
        }
        value => seal_scalar(value, file, keys),
    }
}

/// Replaces a text or number by a label.
pub fn seal_scalar(value: &mut Value, file: &str, keys: &str) {
    let kind = match value {
        Value::String(text) if !text.trim().is_empty() => OpaqueKind::String,
        Value::Number(number) if !number.is_zero() => OpaqueKind::Number,
        _ => return,
    };
    let text = label(file, keys).into();
    *value = Opaque { text, kind }.into();
}

/// The keys to an entry.
pub fn join(keys: &str, key: &str) -> String {
    if keys.is_empty() {
        key.to_owned()
    } else {
        format!("{keys}.{key}")
    }
}

impl Node {
    /// The first opaque scalar at or below this node, in the order of keys.
    pub fn opaque(&self) -> Option<(&Self, &Arc<Opaque>)> {
        match &self.value {
            Value::Opaque(opaque) => Some((self, opaque)),
            Value::Map(_) | Value::List(_) => self.children().find_map(Self::opaque),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_opaque, label, labels, show_labels};

    #[test]
    fn a_label_is_shown_as_the_place_of_the_secret() {
        let text = format!("v{}-{}", label("a b/c.yaml", "x.y"), label("d", ""));
        assert!(is_opaque(&text));
        assert_eq!(show_labels(&text), "v<secret a_b/c.yaml: x.y>-<secret d>");
        assert_eq!(show_labels(&labels(&text).expect("two labels")), "<secret a_b/c.yaml: x.y><secret d>");
        assert_eq!(show_labels("\u{fdd1}a\u{fdd0}b"), "a<secret b>");
        assert_eq!(labels("a"), None);
    }
}
