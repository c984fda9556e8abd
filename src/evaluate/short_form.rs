//! The proposal's short form: `{{ k8s_version }}` means the cluster's own `k8s_version`.

use std::ops::Range;
use std::sync::Arc;

use crate::helm::{Error, ErrorClass};
use crate::model::value::Node;

const CLUSTER: &str = "$.Values.cluster.";

/// Where a text was made longer, in bytes of the longer text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insertion(usize);

/// Writes out the name that an error stumbled over, if it is no function, stands alone as a command, and is a key of
/// `cluster`.
pub(super) fn expand(
    text: &Arc<str>,
    error: &Error,
    values: &Node,
) -> Option<(Arc<str>, Insertion)> {
    if error.class != ErrorClass::MissingFunction {
        return None;
    }
    let at = error.span.start;
    let name_length = text
        .get(at..)?
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    let name = text.get(at..at + name_length)?;
    values.at(&["cluster", name])?;
    let before = text[..at].trim_end();
    let after = text[at + name_length..].trim_start();
    let begins = before.ends_with("{{") || before.ends_with("{{-") || before.ends_with('(');
    let ends = ["}}", "-}}", ")", "|"]
        .iter()
        .any(|end| after.starts_with(end));
    if !begins || !ends {
        return None;
    }
    let expanded = format!("{}{CLUSTER}{}", &text[..at], &text[at..]);
    Some((expanded.into(), Insertion(at)))
}

/// A range of the longer text as a range of the text that the file has.
pub(super) fn restore(span: Range<usize>, insertions: &[Insertion]) -> Range<usize> {
    let restored = |offset: usize| {
        insertions.iter().rev().fold(offset, |offset, insertion| {
            if offset >= insertion.0 + CLUSTER.len() {
                offset - CLUSTER.len()
            } else {
                offset.min(insertion.0)
            }
        })
    };
    restored(span.start)..restored(span.end)
}

#[cfg(test)]
mod tests {
    use super::{Insertion, restore};

    #[test]
    fn places_are_those_of_the_shorter_text() {
        // `{{ k8s_version | fail }}`, the name written out at byte 3.
        let insertions = [Insertion(3)];
        assert_eq!(restore(3..31, &insertions), 3..14);
        assert_eq!(restore(34..38, &insertions), 17..21);
    }
}
