//! Texts that hold the label of a secret, and the error of a look at one.

use yaml_tree::opaque::{self, MAYBE, OPEN, is_opaque};

use super::{Error, ErrorClass};

/// The error of a look at a text, if it holds a label.
pub(super) fn error(text: &str) -> Option<Error> {
    is_opaque(text).then(|| secret(text))
}

/// The error of a look at a text that holds a label.
pub fn secret(text: &str) -> Error {
    let labels = opaque::labels(text).unwrap_or_default();
    Error::new(
        ErrorClass::Secret,
        format!("it depends on a secret: {labels}"),
    )
}

/// Whether a text that holds a label may be empty.
pub(super) fn may_be_empty(text: &str) -> bool {
    text.strip_prefix(OPEN)
        .is_some_and(|label| label.starts_with(MAYBE))
}
