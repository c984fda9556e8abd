//! What Sylva's evaluation sees in a string: an expression, a typed result, the text that leaves an entry out.
//!
//! Source: sylva-core `charts/sylva-units/templates/_interpret-values.tpl`; docs/expressions.md.

/// An entry whose value evaluates to exactly this is left out of its map or list.
pub(super) const SKIP: &str = "skip-as-set-only-if-result-was-false";
/// The key of a map whose only value is taken as it is.
pub(super) const RAW: &str = "(raw)";
/// What a `{{` of such a value is replaced by, until manifests are written.
const SHIELD: &str = "《";
const ENCAPSULATED: &str = "{\"encapsulated-result\":";

/// Whether a string holds an expression: `{{`, at least one character, `}}`.
///
/// Asked of every key on the way to a value, so it looks at bytes: setting up a search for a text costs more than most keys.
pub(super) fn is_template(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(open) = bytes.windows(2).position(|pair| pair == b"{{") else {
        return false;
    };
    let close = bytes.windows(2).rposition(|pair| pair == b"}}");
    close.is_some_and(|close| close >= open + 3)
}

/// Whether a text is a typed result: blanks and newlines may stand before it, a tab may not.
pub(super) fn is_encapsulated(text: &str) -> bool {
    text.trim_start_matches([' ', '\n'])
        .starts_with(ENCAPSULATED)
}

/// Whether a string as an item of a list or a value of a map is more than itself.
pub(super) fn is_special(text: &str) -> bool {
    is_template(text) || text == SKIP || is_encapsulated(text)
}

/// A raw text, made safe from evaluation.
pub(super) fn shield(text: &str) -> String {
    text.replace("{{", SHIELD)
}

/// Undoes [`shield`], as Sylva does where it writes manifests.
pub(super) fn unshield(text: &str) -> Option<String> {
    text.contains(SHIELD).then(|| text.replace(SHIELD, "{{"))
}

/// The one field chain that a text consists of, such as `{{ .Values.a.b }}`, with what stands before and after it.
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

/// See [`alias`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alias<'a> {
    /// The text before the action, trimmed as the action says.
    pub(super) before: &'a str,
    /// The keys below `.Values`.
    pub(super) keys: Vec<&'a str>,
    /// The text behind the action.
    pub(super) after: &'a str,
}

/// Whether all that a text does is to print values: each of its actions is a field chain below `.Values`.
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
    fn an_expression_needs_something_inside_its_braces() {
        assert!(is_template("a {{ }} b"));
        assert!(is_template("{{\n}}"));
        assert!(is_template("}} {{ x }}"));
        assert!(!is_template("{{}}"));
        assert!(!is_template("}} {{"));
        assert!(!is_template("{{ not closed"));
    }

    #[test]
    fn a_tab_before_a_typed_result_makes_it_a_string() {
        assert!(is_encapsulated(" \n{\"encapsulated-result\":5}"));
        assert!(!is_encapsulated("\t{\"encapsulated-result\":5}"));
    }

    #[test]
    fn an_alias_is_one_field_chain() {
        let found = alias("  {{- .Values.a.b_1 }}/x").expect("an alias");
        assert_eq!((found.before, found.after), ("", "/x"));
        assert_eq!(found.keys, ["a", "b_1"]);
        assert_eq!(alias("{{ .Values.a | upper }}"), None);
        assert_eq!(alias("{{ .Values.a }}{{ .Values.b }}"), None);
        assert_eq!(alias("{{ .Values }}"), None);
    }

    #[test]
    fn printing_is_told_from_computing() {
        assert!(only_prints("{{ .Values.a }}-{{- $.Values.b.c -}}"));
        assert!(!only_prints("{{ .Values.a }}-{{ .Values.b | upper }}"));
    }
}
