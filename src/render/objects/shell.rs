//! Quoting for a POSIX shell.

/// A text as one word.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
