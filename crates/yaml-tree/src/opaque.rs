//! Scalars whose text is not there, because it is a secret.
//!
//! A label is in place of the text: the place of the secret, between two characters that no other text needs. What joins, quotes or
//! indents texts passes the label along, so a text that was made of a secret says so. Nothing can print what is not there.

use std::borrow::Cow;
use std::sync::Arc;

/// The character before a label. A file that holds it makes a text unknown, and reveals nothing.
pub const OPEN: char = '\u{fdd0}';

/// The character behind a label.
pub const CLOSE: char = '\u{fdd1}';

/// Behind [`OPEN`] in a text that may be empty, although it holds a label. It means nothing in YAML.
pub const MAYBE: char = '\u{fdd2}';

/// The label of what only a running program knows. No secret has it.
pub const RUN_TIME: &str = "\u{fdd0}!\u{fdd1}";

/// As [`RUN_TIME`], of what may be empty.
pub const MAYBE_RUN_TIME: &str = "\u{fdd0}\u{fdd2}!\u{fdd1}";

/// The most characters of the keys in a label: of longer ones, the first and the last are there.
const LONGEST: usize = 120;

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

/// Whether a text holds a label.
pub fn is_opaque(text: &str) -> bool {
    text.contains(OPEN)
}

/// Whether a text holds what only a running program knows.
pub fn is_of_run_time(text: &str) -> bool {
    text.contains("!\u{fdd1}")
}

/// The label of a secret: its file and the keys to it. It needs no quotes in YAML, JSON or HTML.
pub fn label(file: &str, keys: &str) -> String {
    let mut label = String::with_capacity(file.len() + keys.len() + 7);
    label.push(OPEN);
    clean(&mut label, file);
    label.push('#');
    let ends = [
        keys.floor_char_boundary(LONGEST / 2),
        keys.ceil_char_boundary(keys.len().saturating_sub(LONGEST / 2)),
    ];
    if ends[0] < ends[1] {
        clean(&mut label, &keys[..ends[0]]);
        label.push_str("..");
        clean(&mut label, &keys[ends[1]..]);
    } else {
        clean(&mut label, keys);
    }
    label.push(CLOSE);
    label
}

fn clean(label: &mut String, text: &str) {
    let is_kept = |letter: char| letter.is_alphanumeric() || "-_./".contains(letter);
    label.extend(
        text.chars()
            .map(|letter| if is_kept(letter) { letter } else { '_' }),
    );
}

/// The labels of a text, without what is around them. None where it has none.
pub fn labels(text: &str) -> Option<String> {
    let mut parts = text.split(OPEN);
    parts.next();
    let mut labels: Vec<&str> = parts
        .map(|part| part.split(CLOSE).next().unwrap_or(part))
        .collect();
    labels.dedup();
    let marked = labels
        .iter()
        .flat_map(|label| [OPEN.into(), (*label).to_owned(), CLOSE.into()]);
    (!labels.is_empty()).then(|| marked.collect())
}

/// A text for people, where each label is `<secret FILE: KEYS>`.
pub fn show_labels(text: &str) -> Cow<'_, str> {
    if !text.contains([OPEN, CLOSE]) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut parts = text.split(OPEN);
    shown.extend(
        parts
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|letter| *letter != CLOSE),
    );
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

#[cfg(test)]
mod tests {
    use super::{is_opaque, label, labels, show_labels};

    #[test]
    fn a_label_is_shown_as_the_place_of_the_secret() {
        let text = format!("v{}-{}", label("a b/c.yaml", "x.y"), label("d", ""));
        assert!(is_opaque(&text));
        assert_eq!(show_labels(&text), "v<secret a_b/c.yaml: x.y>-<secret d>");
        assert_eq!(
            show_labels(&labels(&text).expect("two labels")),
            "<secret a_b/c.yaml: x.y><secret d>"
        );
        assert_eq!(show_labels("\u{fdd1}a\u{fdd0}b"), "a<secret b>");
        assert_eq!(labels("a"), None);
        let deep = format!("first.{}.last", "x".repeat(500));
        let shown = show_labels(&label("f", &deep)).into_owned();
        assert!(shown.starts_with("<secret f: first.x") && shown.ends_with("x.last>"));
        assert!(shown.contains("x..x") && shown.len() < 150, "{shown}");
    }
}
