//! Quoting for a POSIX shell.

/// A text as one word.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
