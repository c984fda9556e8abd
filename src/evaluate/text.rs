//! Recognizes the strings with a meaning in Sylva's evaluation: expressions, typed results, and the skip text.
//!
//! Source: sylva-core `charts/sylva-units/templates/_interpret-values.tpl`; docs/expressions.md.

use std::sync::Arc;

use super::path::Path;

/// The skip text: an entry or item with this result is left out of its map or list.
pub(super) const SKIP: &str = "skip-as-set-only-if-result-was-false";
/// The key of a map with a single text that must not be evaluated.
pub(super) const RAW: &str = "(raw)";
/// Replaces `{{` in such a text until manifests are written.
const SHIELD: &str = "《";
const ENCAPSULATED: &str = "{\"encapsulated-result\":";

/// Where a text is. The zones are evaluated one after the other, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Zone {
    /// Under `_internal.state`.
    State,
    /// Elsewhere under `_internal`.
    Internal,
    /// Anywhere else.
    Values,
}

impl Zone {
    /// The zone of the value at a path.
    pub(super) fn from_path(path: &Path) -> Self {
        match path.begins_with(&["_internal"]) {
            true if path.begins_with(&["_internal", "state"]) => Self::State,
            true => Self::Internal,
            false => Self::Values,
        }
    }
}

/// A text that is evaluated. It has the same result at every place of its zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Expression {
    pub(super) text: Arc<str>,
    pub(super) zone: Zone,
}

/// Whether a string contains an expression: `{{`, at least one character, `}}`.
///
/// Compares bytes, because this is called for every key on the path to a value, and the setup of `str::find` takes longer than
/// the search through a short key.
pub(super) fn is_template(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(open) = bytes.windows(2).position(|pair| pair == b"{{") else {
        return false;
    };
    let close = bytes.windows(2).rposition(|pair| pair == b"}}");
    close.is_some_and(|close| close >= open + 3)
}

/// Whether a text is a typed result. Blanks and newlines may precede it, a tab may not.
pub(super) fn is_encapsulated(text: &str) -> bool {
    text.trim_start_matches([' ', '\n'])
        .starts_with(ENCAPSULATED)
}

/// Whether a string is replaced when it is evaluated as an item of a list or a value of a map.
pub(super) fn is_special(text: &str) -> bool {
    is_template(text) || text == SKIP || is_encapsulated(text)
}

/// Escapes the braces of a raw text, so that it is not evaluated.
pub(super) fn shield(text: &str) -> String {
    text.replace("{{", SHIELD)
}

/// Reverts [`shield`], as Sylva does when it writes manifests; none if there is nothing to revert.
pub(super) fn unshield(text: &str) -> Option<String> {
    text.contains(SHIELD).then(|| text.replace(SHIELD, "{{"))
}

/// Parses a text with a single reference, such as `{{ .Values.a.b }}`.
pub(super) fn alias(text: &str) -> Option<Alias<'_>> {
    let open = text.find("{{")?;
    let close = open + text[open..].find("}}")?;
    let (before, mut inner, after) = (&text[..open], &text[open + 2..close], &text[close + 2..]);
    let (mut before_end, mut after_start) = (before, after);
    if let Some(rest) = inner.strip_prefix("- ") {
        inner = rest;
        before_end = before.trim_end_matches([' ', '\t', '\r', '\n']);
    }
    if let Some(rest) = inner.strip_suffix(" -") {
        inner = rest;
        after_start = after.trim_start_matches([' ', '\t', '\r', '\n']);
    }
    let chain = inner.trim_matches([' ', '\t']);
    let chain = chain.strip_prefix('$').unwrap_or(chain);
    let keys: Vec<&str> = chain.strip_prefix(".Values.")?.split('.').collect();
    let is_name = |key: &&str| {
        !key.starts_with(|first: char| first.is_ascii_digit())
            && !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    (keys.iter().all(is_name) && !after.contains("{{")).then_some(Alias {
        before: before_end,
        keys,
        after: after_start,
    })
}

/// A reference to another value, with the text around it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alias<'a> {
    /// The text before the action, trimmed if the action has a trim marker.
    pub(super) before: &'a str,
    /// The keys below `.Values`.
    pub(super) keys: Vec<&'a str>,
    /// The text after the action, trimmed likewise.
    pub(super) after: &'a str,
}

/// Whether a text only prints values: every action in it is a reference.
pub(super) fn only_prints(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let Some(length) = rest[open..].find("}}") else {
            return false;
        };
        let close = open + length + 2;
        if alias(&rest[open..close]).is_none() {
            return false;
        }
        rest = &rest[close..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{alias, is_encapsulated, is_template, only_prints};

    #[test]
    fn an_expression_has_at_least_one_character_between_its_braces() {
        assert!(is_template("a {{ }} b"));
        assert!(is_template("{{\n}}"));
        assert!(is_template("}} {{ x }}"));
        assert!(!is_template("{{}}"));
        assert!(!is_template("}} {{"));
        assert!(!is_template("{{ not closed"));
    }

    #[test]
    fn a_text_with_a_tab_before_a_typed_result_is_a_string() {
        assert!(is_encapsulated(" \n{\"encapsulated-result\":5}"));
        assert!(!is_encapsulated("\t{\"encapsulated-result\":5}"));
    }

    #[test]
    fn an_alias_is_a_single_reference() {
        let found = alias("  {{- .Values.a.b_1 }}/x").expect("an alias");
        assert_eq!((found.before, found.after), ("", "/x"));
        assert_eq!(found.keys, ["a", "b_1"]);
        assert_eq!(alias("{{ .Values.a | upper }}"), None);
        assert_eq!(alias("{{ .Values.a }}{{ .Values.b }}"), None);
        assert_eq!(alias("{{ .Values }}"), None);
    }

    #[test]
    fn texts_that_only_print_values_are_recognized() {
        assert!(only_prints("{{ .Values.a }}-{{- $.Values.b.c -}}"));
        assert!(!only_prints("{{ .Values.a }}-{{ .Values.b | upper }}"));
    }
}
