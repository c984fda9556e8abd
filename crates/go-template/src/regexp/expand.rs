//! Expands `$1`, `$name`, `${name}` and `$$` in a replacement (Go's `regexp.Expand`).

use regex_automata::util::captures::Captures;

/// Writes the replacement of a match, until the text has more than `most` bytes. A group that does not exist, or did not match, is
/// empty.
pub(super) fn template(
    template: &str,
    names: &[Option<String>],
    captures: &Captures,
    text: &str,
    out: &mut String,
    most: usize,
) {
    let mut rest = template;
    while out.len() <= most
        && let Some((before, after)) = rest.split_once('$')
    {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = reference(rest) {
            if let Some(span) = group(name, names, captures) {
                out.push_str(&text[span]);
            }
            rest = after;
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
}

/// The longest reference at the start of a text, with or without braces, and the rest of the text: `$1x` refers to group `1x`.
fn reference(text: &str) -> Option<(&str, &str)> {
    let bare = text.strip_prefix('{').unwrap_or(text);
    let end = bare
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(bare.len());
    let (name, rest) = bare.split_at(end);
    if name.is_empty() {
        None
    } else if bare.len() == text.len() {
        Some((name, rest))
    } else {
        Some((name, rest.strip_prefix('}')?))
    }
}

/// The span of a group. A number without a leading zero is an index; anything else is a name, which may have several groups: the
/// first one that matched is used.
fn group(
    name: &str,
    names: &[Option<String>],
    captures: &Captures,
) -> Option<std::ops::Range<usize>> {
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    if digits && (name == "0" || !name.starts_with('0')) && name.len() <= 9 {
        return captures
            .get_group(name.parse().ok()?)
            .map(|span| span.range());
    }
    let named = |index: &usize| names[*index].as_deref() == Some(name);
    (0..names.len())
        .filter(named)
        .find_map(|index| captures.get_group(index).map(|span| span.range()))
}
