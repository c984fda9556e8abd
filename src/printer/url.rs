//! What nobody may see of a URL: `user:password` and what follows `?`, which sign requests; of what follows `#` too, where it has
//! the form of a query. Where people forget the scheme, or a part of it, `user:password` is not shown either. That is a law about
//! the form of a text, and needs to know no secret.

use std::borrow::Cow;

/// What is printed in place of a part that is not shown.
const HIDDEN: &str = "…";

const SCHEME_END: &str = "://";

/// A text whose URLs show neither users nor queries.
pub(super) fn hide_secrets(text: &str) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = mark(rest) {
        let has_scheme = rest[at..].starts_with(SCHEME_END);
        let begin = if has_scheme {
            at + SCHEME_END.len()
        } else {
            let word = rest[..at].rfind(is_end);
            let word = word.map_or(0, |end| rest.ceil_char_boundary(end + 1));
            word + slashes_end(&rest[word..at])
        };
        shown += &rest[..begin];
        rest = &rest[begin..];
        let word = start(rest, is_end);
        let user = if has_scheme {
            user_length(word).or_else(|| length_with_blanks(rest, word))
        } else {
            user_length(word).filter(|length| word[..*length].contains(':'))
        };
        if let Some(length) = user {
            shown += HIDDEN;
            rest = &rest[length..];
        }
        let url = start(rest, is_end);
        let query = query_start(url).filter(|_| has_scheme || user.is_some());
        if let Some(start) = query {
            shown += &url[..start];
            shown += HIDDEN;
            // A stop or bracket behind a URL belongs to the sentence.
            let end = url.trim_end_matches(['.', ',', ';', ':', ')']).len();
            rest = &rest[end.max(start)..];
        } else {
            shown += url;
            rest = &rest[url.len()..];
        }
    }
    if shown.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shown + rest)
}

/// Where the first `://` or `@` is.
fn mark(text: &str) -> Option<usize> {
    let mut marks = text.match_indices([':', '@']);
    let (at, _) = marks.find(|(at, mark)| *mark == "@" || text[*at..].starts_with(SCHEME_END))?;
    Some(at)
}

/// The start of a text, until a letter ends it, or another URL begins.
fn start(text: &str, is_end: fn(char) -> bool) -> &str {
    let mut letters = text.char_indices();
    let end = letters.find(|(at, letter)| is_end(*letter) || text[*at..].starts_with(SCHEME_END));
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Whether a letter ends a URL in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || is_quote(letter)
}

fn is_quote(letter: char) -> bool {
    "\"'`<>|\\".contains(letter)
}

/// Where what people write of `https://` ends: `https:/`, `https//`, `//`.
fn slashes_end(word: &str) -> usize {
    let is_scheme_end = |at: &usize| {
        let (scheme, slashes) = word.split_at(*at);
        // What has a colon of its own is a user with the beginning of a password.
        !scheme.trim_end_matches(':').contains(':')
            && (slashes.starts_with("//") || !scheme.ends_with(char::is_alphanumeric))
    };
    word.find('/').filter(is_scheme_end).map_or(0, |at| {
        word.len() - word[at..].trim_start_matches('/').len()
    })
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
    const DIGESTS: [&str; 2] = ["sha256:", "sha512:"];
    let last = |text: &str| {
        let mut ends = text.rmatch_indices('@').map(|(at, _)| at);
        ends.find(|at| {
            !DIGESTS
                .iter()
                .any(|digest| url[at + 1..].starts_with(digest))
        })
    };
    let authority = authority(url);
    // People write passwords with a slash.
    let end = last(authority).or_else(|| has_password(authority).then(|| last(url)).flatten())?;
    (end > 0 && &url[..end] != "git").then_some(end)
}

/// The same where a password has a blank, or what else ends a word, given all that follows and the first word of it.
fn length_with_blanks(rest: &str, word: &str) -> Option<usize> {
    let line = start(rest, |letter| "\n`\"".contains(letter));
    let is_quoted = rest[word.len()..].starts_with(is_quote);
    let first = if is_quoted {
        word
    } else {
        word.trim_end_matches([':', ',', ';'])
    };
    has_password(authority(first))
        .then(|| user_length(line))
        .flatten()
}

fn authority(url: &str) -> &str {
    &url[..url.find(['/', '?', '#']).unwrap_or(url.len())]
}

/// Whether what is behind the colon is no port.
fn has_password(authority: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let behind = authority
        .split_once(':')
        .filter(|_| !authority.starts_with('['));
    behind.is_some_and(|(_, port)| !is_port(port))
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
            ("x: user:pw@host/x?a=b", "x: …@host/x?…"),
            ("- //user:pw@host, a:b@c", "- //…@host, …@c"),
            ("https:/u:p@host", "https:/…@host"),
            ("oci//u:p@host/x:1", "oci//…@host/x:1"),
            ("u:p//w@host u:p$/w@host", "…@host …@host"),
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
            ("user:p/w@host é:ü@x", "…@host …@x"),
            (
                "r:5000/x:1@sha256:0 x:1@sha512:0 me@x git@h:x a/b@c.yaml:1:2 h:5000/x@y",
                "r:5000/x:1@sha256:0 x:1@sha512:0 me@x git@h:x a/b@c.yaml:1:2 h:5000/x@y",
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
