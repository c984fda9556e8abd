//! What nobody may see of a URL: `user:password` and what follows `?`, which sign requests; of what follows `#` too, where it has
//! the form of a query. That is a law about the form of a URL, and needs to know no secret.

use std::borrow::Cow;

/// What is printed in place of a part that is not shown.
const HIDDEN: &str = "…";

/// A text whose URLs show neither users nor queries.
pub(super) fn hide_secrets(text: &str) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("://") {
        let behind = start + "://".len();
        shown += &rest[..behind];
        rest = &rest[behind..];
        let url = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let user = user_length(url);
        if let Some(length) = user {
            shown += HIDDEN;
            rest = &rest[length..];
        }
        let url = &url[user.unwrap_or(0)..];
        if let Some(start) = query_start(url) {
            shown += &url[..start];
            shown += HIDDEN;
            // A stop or bracket behind a URL belongs to the sentence.
            let end = url.trim_end_matches(['.', ',', ';', ':', ')']).len();
            rest = &rest[end.max(start)..];
        }
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown + rest)
}

/// Whether a letter ends a URL in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>|\\".contains(letter)
}

/// Where the query of a URL starts, behind its `?` or `#`; none if it has none.
fn query_start(url: &str) -> Option<usize> {
    let query = url.find('?').map(|at| at + 1);
    let fragment = url.find('#').map(|at| at + 1);
    let fragment = fragment.filter(|at| url[*at..].contains('='));
    let start = match (query, fragment) {
        (Some(query), Some(fragment)) => query.min(fragment),
        (query, fragment) => query.or(fragment)?,
    };
    (start < url.len()).then_some(start)
}

/// The length of `user:password` in a URL (RFC 3986, section 3.2.1), given what follows `://`. `git` is everybody's user.
fn user_length(url: &str) -> Option<usize> {
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    let end = authority.rfind('@').or_else(|| {
        // People write passwords with a slash: then there is no port behind the colon.
        let (_, port) = authority.split_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = authority.starts_with('[');
        (!is_port && !is_address).then(|| url.rfind('@')).flatten()
    })?;
    (end > 0 && &url[..end] != "git").then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::hide_secrets;

    #[test]
    fn users_and_queries_are_not_shown() {
        for (text, expected) in [
            ("at https://me:pass@host/x@y", "at https://…@host/x@y"),
            ("`oci://token@host/x`", "`oci://…@host/x`"),
            ("http://me:pa/ss@host/x", "http://…@host/x"),
            ("http://me:p@ss@host/x", "http://…@host/x"),
            (
                "ssh://git@host/x oci://h:5000/x@sha256:0",
                "ssh://git@host/x oci://h:5000/x@sha256:0",
            ),
            ("oci://[::1]:5000/x@sha256:0", "oci://[::1]:5000/x@sha256:0"),
            ("https:// @", "https:// @"),
            (
                "`https://h/x?token=a&b=c#d`, https://h/y?z.",
                "`https://h/x?…`, https://h/y?….",
            ),
            (
                "https://u@h/x#t=1 https://h/x#part",
                "https://…@h/x#… https://h/x#part",
            ),
        ] {
            assert_eq!(hide_secrets(text), expected);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c日é:/@?#=.\\[\\] ]{0,40}") {
            let _ = hide_secrets(&text);
        }
    }

    #[test]
    fn what_is_hidden_begins_at_the_query_or_at_a_fragment_with_a_value() {
        for (text, expected) in [
            ("https://host/x?a=1#b=2", "https://host/x?…"),
            ("https://host/x#b=2?a=1", "https://host/x#…"),
            ("https://host/x#b=2", "https://host/x#…"),
            ("https://host/x#b", "https://host/x#b"),
        ] {
            assert_eq!(hide_secrets(text), expected);
        }
    }
}
