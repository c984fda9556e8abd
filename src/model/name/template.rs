//! The form of a naming scheme as a regular expression: `{part}` is a part of the name, `[…]` may be left out.

use std::fmt::Write;

/// The part of a name that is its file extension; it holds format and compression.
pub(super) const FILE: &str = "file";

/// Any extension that image files and the checksum files beside them have. `.img` and `.tar` say nothing of the format.
pub(super) const EXTENSION: &str = r"(?:(?:\.(?<format>qcow2|raw|img|iso|ova|ovf|vmdk|vhd|tar|vdi))?(?<suffixes>(?:\.(?:gz|bz2|xz|zst|sha256sum|md5sum))*)|(?<raw>-raw\.img)(?:\.(?:md5sum|sha256sum))?)";

/// A token of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text of the name.
    Literal(&'a str),
    /// `{part}`
    Part(&'a str),
    /// `[`, before what may be left out.
    Open,
    /// `]`
    Close,
}

/// The regular expression that matches the whole of a name of this form.
pub(super) fn pattern(form: &str, parts: &[(&str, &str)]) -> String {
    let mut pattern = String::from("^(?:");
    for token in tokens(form) {
        match token {
            Token::Literal(text) => text.chars().for_each(|c| {
                if r"\.+*?()|[]{}^$".contains(c) {
                    pattern.push('\\');
                }
                pattern.push(c);
            }),
            Token::Part(FILE) => pattern.push_str(EXTENSION),
            Token::Part(name) => {
                let part = parts.iter().find(|part| part.0 == name);
                let held = part.map_or("", |part| part.1);
                // A pattern is never longer than memory: writing to a string cannot fail.
                let _ = write!(pattern, "(?<{name}>{held})");
            }
            Token::Open => pattern.push_str("(?:"),
            Token::Close => pattern.push_str(")?"),
        }
    }
    pattern.push_str(")$");
    pattern
}

/// The texts that every name of this form has, in their order: what is looked for before a pattern is compiled at all.
pub(super) fn landmarks(form: &'static str) -> Vec<&'static str> {
    let mut depth = 0;
    let mut found = Vec::new();
    for token in tokens(form) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Literal(text) if depth == 0 => found.push(text),
            _ => {}
        }
    }
    found
}

/// The tokens of a form.
pub(super) fn tokens(form: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '[' => (Token::Open, 1),
            ']' => (Token::Close, 1),
            '{' if let Some(end) = rest.find('}') => (Token::Part(&rest[1..end]), end + 1),
            _ => {
                let start = first.len_utf8();
                let end = rest[start..].find(['[', ']', '{']);
                let end = end.map_or(rest.len(), |end| start + end);
                (Token::Literal(&rest[..end]), end)
            }
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{landmarks, pattern};

    #[test]
    fn a_form_becomes_a_pattern_and_its_landmarks() {
        let form = "a.b-{os}[-{v}{variant}]";
        let parts = [("os", "[a-z]+"), ("v", "v?"), ("variant", "x|y")];
        assert_eq!(
            pattern(form, &parts),
            r"^(?:a\.b-(?<os>[a-z]+)(?:-(?<v>v?)(?<variant>x|y))?)$"
        );
        assert_eq!(landmarks(form), ["a.b-"]);
    }
}
