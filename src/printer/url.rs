//! What nobody may see of a URL: `user:password`, and what follows `?`, which signs requests; of what follows `#` too, where it has
//! the form of a query. People forget schemes, and passwords hold blanks, quotes and slashes, so nobody knows where one ends: in a
//! line, all is hidden from the first word that may be `user:password` to the last `@`. That is a law about the form of a text,
//! and needs to know no secret.

use std::borrow::Cow;

use yaml_tree::place::HIDDEN;

const SCHEME_END: &str = "://";

/// A text whose URLs show neither users nor queries.
pub(super) fn hide_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains('@') && !text.contains(SCHEME_END) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let user = last_sign(line).and_then(|end| Some(user_start(&line[..=end])?..end));
        if let Some(user) = user {
            hide_in_urls(&line[..user.start], &mut shown);
            shown += HIDDEN;
            hide_in_urls(&line[user.end..], &mut shown);
        } else {
            hide_in_urls(line, &mut shown);
        }
    }
    Cow::Owned(shown)
}

/// Whether a text has an `@` that a user may be before.
pub fn may_name_user(text: &str) -> bool {
    last_sign(text).is_some()
}

/// Where the last `@` is that a user may be before. `git` is everybody's user.
fn last_sign(text: &str) -> Option<usize> {
    let mut signs = text.rmatch_indices('@').map(|(at, _)| at);
    signs.find(|at| {
        let (before, behind) = (&text[..*at], &text[at + 1..]);
        let is_start = |before: &str| before.is_empty() || before.ends_with(['/', ' ', '`']);
        let is_git = before.strip_suffix("git").is_some_and(is_start);
        let is_digest = behind.starts_with("sha256:") || behind.starts_with("sha512:");
        !is_git && !is_digest && !before.ends_with(HIDDEN)
    })
}

/// Where the first `user:password` starts in a text that ends with an `@`.
fn user_start(text: &str) -> Option<usize> {
    let mut start = 0;
    for word in text.split_inclusive(is_end) {
        let sign = start + last_sign(word).unwrap_or(0);
        for part in word.split_inclusive("//") {
            if has_password(part, sign.saturating_sub(start)) {
                return Some(start);
            }
            start += part.len();
        }
    }
    None
}

/// Whether a part of a word has a password. Behind the `@` of the word, if it has one, there is none after a slash, a digest's name or
/// a second colon, and a number is a port, a line or a tag.
fn has_password(part: &str, sign: usize) -> bool {
    let part = part.trim_end_matches('/');
    let slash = part.find('/').unwrap_or(part.len());
    part.match_indices(':').any(|(at, _)| {
        let (user, password) = (&part[..at], &part[at + 1..]);
        let is_other = || {
            at > slash
                || ["sha256", "sha512", ":"]
                    .iter()
                    .any(|end| user.ends_with(end))
                || user.starts_with("git@")
                || password.starts_with(':')
                || is_number(password)
        };
        !user.is_empty()
            && !password.is_empty()
            && !password.starts_with(char::is_whitespace)
            && (at < sign || !is_other())
    })
}

fn is_number(text: &str) -> bool {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < text.len() && !rest.starts_with(char::is_alphanumeric)
}

/// Whether a letter ends a URL in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>|\\".contains(letter)
}

/// Adds a text without the queries of its URLs, and without users that have no password. The first URL may begin with the `@` behind
/// its user.
fn hide_in_urls(text: &str, shown: &mut String) {
    for (index, part) in text.split(SCHEME_END).enumerate() {
        let has_scheme = index > 0;
        if has_scheme {
            *shown += SCHEME_END;
        }
        let url = &part[..part.find(is_end).unwrap_or(part.len())];
        let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
        let user = last_sign(authority).filter(|length| has_scheme && *length > 0);
        if user.is_some() {
            *shown += HIDDEN;
        }
        let (host, is_url) = (user.unwrap_or(0), has_scheme || part.starts_with('@'));
        let Some(query) = query_start(url).filter(|_| is_url) else {
            *shown += &part[host..];
            continue;
        };
        *shown += &part[host..query];
        *shown += HIDDEN;
        // A stop or bracket behind a URL belongs to the sentence.
        let end = url.trim_end_matches(['.', ',', ';', ':', ')']).len();
        *shown += &part[end.max(query)..];
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::hide_secrets;

    #[test]
    fn users_and_queries_are_not_shown() {
        for (text, expected) in [
            ("at https://me:pass@host/x", "at https://…@host/x"),
            ("at https://me:pass@host/x@y", "at https://…@y"),
            ("`oci://token@host/x`", "`oci://…@host/x`"),
            ("http://me:pa/ss@host/x", "http://…@host/x"),
            ("http://me:p@ss@host/x", "http://…@host/x"),
            (
                "ssh://git@host/x oci://h:5000/x@sha256:0",
                "ssh://git@host/x oci://h:5000/x@sha256:0",
            ),
            ("oci://[::1]:5000/x@sha256:0", "oci://[::1]:5000/x@sha256:0"),
            ("https:// @", "https:// @"),
            ("x: user:pw@host/x?a=b", "x: …@host/x?…"),
            ("- //user:pw@host", "- //…@host"),
            ("https://u:p@a/x and https://v:q@b/y", "https://…@b/y"),
            ("oci://a@h/x, oci://b@h/y", "oci://…@h/x, oci://…@h/y"),
            ("https:/u:p@host", "…@host"),
            ("oci//u:p@host/x:1", "oci//…@host/x:1"),
            ("u:p//w@host", "…@host"),
            ("u:p$/w@host", "…@host"),
            ("u:hun'ter2@host", "…@host"),
            ("//u:hun\"ter 2@host", "//…@host"),
            ("\"u:hun`ter2@host\"", "\"…@host\""),
            ("u: me, v:w x@host\nu:p x@host", "u: me, …@host\n…@host"),
            ("D/u:p@host", "…@host"),
            ("oci://u:p'w@host/x:1", "oci://…@host/x:1"),
            ("oci://u:p<w|v@host/x:1", "oci://…@host/x:1"),
            ("oci://u:'p'@host/x:1", "oci://…@host/x:1"),
            ("https://u:p @host", "https://…@host"),
            ("https://u:p q/r @host/x", "https://…@host/x"),
            (
                "https://h: gone, `https://h:1` @x me@x",
                "https://h: gone, `https://h:1` @x me@x",
            ),
            ("http://a/,http://u:p@b", "http://a/,http://…@b"),
            ("user:p/w@host", "…@host"),
            ("é:ü@x", "…@x"),
            (
                "r:5000/x:1@sha256:0 a/b:v1@sha512:ab me@x git@h:x a::b a/b@c.yaml:1:2 me@x",
                "r:5000/x:1@sha256:0 a/b:v1@sha512:ab me@x git@h:x a::b a/b@c.yaml:1:2 me@x",
            ),
            ("u:p@h/x@sha256:0", "…@h/x@sha256:0"),
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
