//! What nobody may see of a URL: `user:password`, and what follows `?`, which signs requests; of what follows `#` too, where it has
//! the form of a query. People forget schemes, and passwords hold blanks, quotes and slashes, so nobody knows where one ends: in a
//! line, all is hidden from the first word that may be `user:password` to the last `@`. Each word with a colon may be, but one that
//! is certainly something else. That is a law about the form of a text, and needs to know no secret.

use std::borrow::Cow;
use std::ops::Range;

use yaml_tree::place::HIDDEN;

const SCHEME_END: &str = "://";

const DIGESTS: [&str; 2] = ["@sha256:", "@sha512:"];

/// A stop or bracket behind a URL belongs to the sentence.
const STOPS: [char; 5] = ['.', ',', ';', ':', ')'];

/// A text whose URLs show neither users nor queries.
pub(super) fn hide_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains('@') && !text.contains(SCHEME_END) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let user = user(line).unwrap_or(0..0);
        hide_in_urls(&line[..user.start], &mut shown);
        if !user.is_empty() {
            shown += HIDDEN;
        }
        hide_in_urls(&line[user.end..], &mut shown);
    }
    Cow::Owned(shown)
}

/// Whether a line of a text has an `@` that a user may be before. `git` is everybody's user.
pub fn may_name_user(text: &str) -> bool {
    let is_git = |before: &str| {
        let before = before.strip_suffix("git");
        before.is_some_and(|text| text.is_empty() || text.ends_with("//") || text.ends_with(is_end))
    };
    text.lines()
        .any(|line| user(line).is_some() || signs(line).any(|at| !is_git(&line[..at])))
}

/// Where an `@` is that is not before a digest, from the last to the first.
fn signs(text: &str) -> impl Iterator<Item = usize> {
    let signs = text.rmatch_indices('@').map(|(at, _)| at);
    signs.filter(|at| !DIGESTS.iter().any(|name| text[*at..].starts_with(name)))
}

/// A longer word with a colon may hold anything: to look at each of its colons would take time quadratic in it.
const LONGEST_WORD: usize = 512;

/// From the first `user:password` that may be in a line to the last `@`.
fn user(line: &str) -> Option<Range<usize>> {
    let end = signs(line).next()?;
    let mut start = 0;
    for word in line[..=end].split_inclusive(is_end) {
        if word.len() > LONGEST_WORD && word.contains(':') {
            return Some(start..end);
        }
        for (at, _) in word.match_indices(':') {
            let (user, password) = (&word[..at], &word[at + 1..]);
            let (scheme, user) = user.split_at(user.rfind("//").map_or(0, |at| at + 2));
            let is_place = is_number(password, scheme, &line[..start]);
            if may_be_user(user, password, scheme, is_place) {
                return Some(start + scheme.len()..end);
            }
        }
        start += word.len();
    }
    None
}

/// Whether what a word has around a colon may be a user and a password. It is not where a blank or a URL's host follows the colon; nor,
/// if no `@` follows in the word, where it is a port or a place in a file, an image with a tag or a digest, or an address of SSH.
fn may_be_user(user: &str, password: &str, scheme: &str, is_place: bool) -> bool {
    let text = password.trim_start_matches(':');
    if text.is_empty() || text.starts_with(char::is_whitespace) || password.starts_with("//") {
        return false;
    }
    let is_digest =
        |name: &&str| password.contains(*name) || user.ends_with(name.trim_end_matches(':'));
    let is_quoted = user.is_empty() && password.starts_with(is_end);
    signs(password).next().is_some()
        || !is_place
            && !user.contains('/')
            && !DIGESTS.iter().any(is_digest)
            && !(scheme.is_empty() && (is_quoted || user.starts_with("git@")))
}

/// Whether a word goes on behind a colon with a port or a line, given the text before the word: with digits up to a path, a column, a
/// stop, a blank, or the quote that the word is in.
fn is_number(rest: &str, scheme: &str, text: &str) -> bool {
    let ends = |end: char| end.is_whitespace() || is_end(end) && text.ends_with(end);
    let word = rest.strip_suffix(ends).unwrap_or(rest);
    let behind = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
    behind.len() < word.len()
        && (behind.trim_end_matches(STOPS).is_empty()
            || behind.starts_with(['/', '?', '#'])
            || scheme.is_empty() && behind.starts_with(':'))
}

/// Whether a letter ends a URL in a text.
fn is_end(letter: char) -> bool {
    letter.is_whitespace() || "\"'`<>|\\".contains(letter)
}

/// Adds a text without the queries of its URLs, and without users that have no password. A URL may begin with the `@` behind its user.
fn hide_in_urls(text: &str, shown: &mut String) {
    for word in text.split_inclusive(is_end) {
        let url = word.trim_end_matches(is_end).trim_end_matches(STOPS);
        let is_url = url.starts_with('@') || url.contains(SCHEME_END);
        let query = query_start(url).filter(|_| is_url);
        let parts = url[..query.unwrap_or(url.len())].split(SCHEME_END);
        for (index, part) in parts.enumerate() {
            let authority = &part[..part.find(['/', '?', '#']).unwrap_or(part.len())];
            let user = signs(authority).next();
            let user = user.filter(|end| index > 0 && &part[..*end] != "git");
            *shown += if index > 0 { SCHEME_END } else { "" };
            *shown += if user.is_some() { HIDDEN } else { "" };
            *shown += &part[user.unwrap_or(0)..];
        }
        *shown += if query.is_some() { HIDDEN } else { "" };
        *shown += &word[url.len()..];
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

    use super::{hide_secrets, may_name_user};

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
            ("https://bob:7-Eleven rocks@host/x", "https://…@host/x"),
            ("https://u:1$ab'cd@host/x", "https://…@host/x"),
            ("https://u:1'ab cd@host/x", "https://…@host/x"),
            ("https://u:p/git@host/x", "https://…@host/x"),
            ("https://u:my git@host/x", "https://…@host/x"),
            (":token@host/x", "…@host/x"),
            ("https://:to ken@host/x", "https://…@host/x"),
            ("https://u::p w@host/x", "https://…@host/x"),
            ("https://u:12:34 w@host/x", "https://…@host/x"),
            ("https://git@u:p w@host", "https://…@host"),
            ("https://u:sha256:p w@host", "https://…@host"),
            ("sha256:p w@host", "…@host"),
            (
                "`oci://h/os/x:1.2` is signed by `ops@example.org`, a/b:v1 by me@x",
                "`oci://h/os/x:1.2` is signed by `ops@example.org`, a/b:v1 by me@x",
            ),
            (
                "at edge.yaml:1:2: `image:noble-31 k8s` of `ops@example.org`",
                "at edge.yaml:1:2: `…@example.org`",
            ),
            (
                "{\"a\":\"b\"} 'http://h:1/x' 'h:1' (h:1?). h:1#a ::: a.yaml:1:2: me@x",
                "{\"a\":\"b\"} 'http://h:1/x' 'h:1' (h:1?). h:1#a ::: a.yaml:1:2: me@x",
            ),
            (
                "https://h/x?redirect=https://b/p&token=t, y",
                "https://h/x?…, y",
            ),
            ("é:ü@x", "…@x"),
            (
                "r:5000/x:1@sha256:0 a/b:v1@sha512:ab me@x git@h:x a/b@c.yaml:1:2 me@x",
                "r:5000/x:1@sha256:0 a/b:v1@sha512:ab me@x git@h:x a/b@c.yaml:1:2 me@x",
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

        /// But where it begins with a blank, or with digits before a blank, a slash or a stop: they read as a port.
        #[test]
        fn no_letter_of_a_password_is_shown(
            before in "([a-z日:/@?'\"`.,]{0,9} )?['\"`]?",
            user in "(https://|//|https:/|oci//)?(|[a-z]{1,4})",
            first in ":?(7[-$_]|[1-9]{0,3}X)",
            password in "([X7日:/?#@'\"`<>|\\\\,$ -]|git@| git@|//git@|://){0,9}",
            behind in "[a-z/:.?@日' ]{0,9}",
        ) {
            let line = format!("{before}{user}:{first}{password}X@host{behind}");
            let shown = hide_secrets(&line);
            assert!(!shown.contains(['X', '7', '$']), "{line}: {shown}");
            assert!(may_name_user(&line));
        }
    }

    #[test]
    fn a_long_word_with_a_colon_is_hidden_with_all_that_follows() {
        let hide = |letters: usize| {
            let line = format!("a {}/b:1 c@host", "x".repeat(letters));
            hide_secrets(&line).replace('x', "")
        };
        assert_eq!(hide(500), "a /b:1 c@host");
        assert_eq!(hide(600), "a …@host");
        // A million colons are looked at once.
        assert_eq!(hide_secrets(&(":".repeat(1_000_000) + "@host")), "…@host");
    }

    #[test]
    fn git_is_everybodys_user_where_no_password_is_before_it() {
        for (text, expected) in [
            ("git@host:x", false),
            ("a `git@host:x`", false),
            ("ssh://git@host/x", false),
            ("x@sha256:0", false),
            ("ssh:/git@host/x", true),
            ("x\ngit@host ops@host", true),
            ("x\nhttps://u:my git@host", true),
        ] {
            assert_eq!(may_name_user(text), expected, "{text}");
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
