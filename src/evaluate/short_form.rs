//! The short form of references in Sylva's proposal: `{{ k8s_version }}` is the cluster's `k8s_version`.

use std::ops::Range;
use std::sync::Arc;

use go_template::{Error, ErrorClass, Template};
use yaml_tree::value::Node;

const CLUSTER: &str = "$.Values.cluster.";

/// A byte offset in an expanded text at which [`CLUSTER`] was inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Insertion(usize);

/// Parses a text. Each name that is not a function but a key of `cluster` is expanded to that key, and added to the insertions.
pub(super) fn parse(
    text: &Arc<str>,
    values: &Node,
    parse: impl Fn(&Arc<str>) -> Result<Template, Error>,
    insertions: &mut Vec<Insertion>,
) -> Result<Template, Error> {
    let mut text = Arc::clone(text);
    loop {
        let error = match parse(&text) {
            Ok(template) => return Ok(template),
            Err(error) => error,
        };
        let Some((expanded, insertion)) = expand(&text, &error, values) else {
            return Err(error);
        };
        insertions.push(insertion);
        text = expanded;
    }
}

/// Expands the name at which an error occurred, if it is not a function, is a complete command, and is a key of `cluster`.
fn expand(text: &Arc<str>, error: &Error, values: &Node) -> Option<(Arc<str>, Insertion)> {
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
    values.get_path(&["cluster", name])?;
    let before = text[..at].trim_end();
    let after = text[at + name_length..].trim_start();
    let starts_command = before.ends_with("{{") || before.ends_with("{{-") || before.ends_with('(');
    let ends_command = ["}}", "-}}", ")", "|"]
        .iter()
        .any(|end| after.starts_with(end));
    if !starts_command || !ends_command {
        return None;
    }
    let expanded = format!("{}{CLUSTER}{}", &text[..at], &text[at..]);
    Some((expanded.into(), Insertion(at)))
}

/// Converts a range of the expanded text to a range of the original text.
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
    fn ranges_are_converted_to_the_original_text() {
        // `{{ k8s_version | fail }}`, expanded at byte 3.
        let insertions = [Insertion(3)];
        assert_eq!(restore(3..31, &insertions), 3..14);
        assert_eq!(restore(34..38, &insertions), 17..21);
    }
}
