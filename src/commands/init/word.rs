//! A text as a scalar of YAML.

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

/// A text as a scalar within `[…]` and `{…}`, quoted where it must be.
pub(super) fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let starts = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if starts && text.chars().all(plain) && !is_keyword(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Whether a plain word would not be read as text.
fn is_keyword(text: &str) -> bool {
    let read = yaml_tree::values(&format!("a: {text}\n"), FileId(0), Engine::Helm3);
    read.is_ok_and(|tree| {
        tree.get_path(&["a"])
            .is_none_or(|node| node.value.as_str().is_none_or(|read| **read != *text))
    })
}
