//! Go's regular expressions: the syntax of RE2 and the results of the `regexp` package, on the `regex-automata` engine.
//!
//! Helm compiles the patterns in values with Go. This module refuses the patterns that Go refuses, and gives all others the same
//! meaning (<https://github.com/google/re2/wiki/Syntax>). The engine has no unbounded backtracking.

mod expand;
mod parse;
mod rewrite;
mod two_readings;
mod unicode;

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::util::captures::Captures;
use regex_automata::{Input, meta};

use parse::Parsed;
pub use two_readings::{TwoReadings, find_two_readings};

/// A compiled pattern with Go's meaning.
#[derive(Clone, Debug)]
pub struct Regexp {
    regex: meta::Regex,
    /// The name of each group. The first one is the whole match.
    names: Vec<Option<String>>,
    /// Whether the pattern is empty: it splits an empty text into nothing.
    pattern_is_empty: bool,
}

/// An error in a pattern, or a pattern that is too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong with the pattern.
    pub message: String,
}

fn error(message: impl Into<String>) -> Error {
    Error {
        message: message.into(),
    }
}

/// The maximum size of a compiled pattern, in bytes.
const COMPILED_LIMIT: usize = 4 << 20;

/// The limit for patterns with many groups, in bytes times groups: a search stores a position for each group in each state.
const GROUPS_LIMIT: usize = 64 << 20;

impl Regexp {
    /// Compiles a pattern as `regexp.Compile` does.
    ///
    /// # Errors
    /// The pattern is invalid in Go, or compiles to more than 4 MiB.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        Self::with_limit(COMPILED_LIMIT, pattern)
    }

    /// Compiles a pattern with a limit on its compiled size, in bytes.
    ///
    /// # Errors
    /// The pattern is invalid in Go, or exceeds the limit.
    pub fn with_limit(limit: usize, pattern: &str) -> Result<Self, Error> {
        let Parsed { hir, names } = parse::pattern(pattern)?;
        let limit = limit.min(GROUPS_LIMIT / names.len());
        // A table of all states takes longer to make than any search here takes without one.
        let config = meta::Config::new().nfa_size_limit(Some(limit)).dfa(false);
        let regex = meta::Builder::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| Error {
                message: format!("pattern compiles to more than the limit of {limit} bytes"),
            })?;
        Ok(Self {
            regex,
            names,
            pattern_is_empty: pattern.is_empty(),
        })
    }

    /// The memory that it takes, in bytes.
    pub fn size(&self) -> usize {
        self.regex.memory_usage()
    }

    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The leftmost match, as by `FindString`.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.regex.find(text).map(|found| &text[found.range()])
    }

    /// The named groups of the leftmost match that matched, with their texts; none without a match.
    pub fn groups_by_name<'r, 't>(&'r self, text: &'t str) -> Option<Vec<(&'r str, &'t str)>> {
        let mut captures = self.regex.create_captures();
        self.regex.captures(text, &mut captures);
        captures.pattern()?;
        let group = |(index, name): (usize, &'r Option<String>)| {
            let span = captures.get_group(index)?;
            Some((name.as_deref()?, &text[span.range()]))
        };
        Some(self.names.iter().enumerate().filter_map(group).collect())
    }

    /// The names of its groups that have one.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(String::as_str)
    }

    /// The non-overlapping matches, at most `limit`, as by `FindAllString`. A negative limit means all.
    pub fn find_all<'t>(&self, text: &'t str, limit: i64) -> Vec<&'t str> {
        let ranges = self.ranges(text, limit);
        ranges.map(|range| &text[range]).collect()
    }

    /// Replaces each match, as by `ReplaceAllString`, until the text has more than `most` bytes: `$1`, `$name` and `${name}` refer to
    /// groups, `$$` is `$`.
    pub fn replace_all(&self, text: &str, replacement: &str, most: usize) -> String {
        self.replace(text, most, |captures, out| {
            expand::template(replacement, &self.names, captures, text, out, most);
        })
    }

    /// The same with a literal text, as by `ReplaceAllLiteralString`.
    pub fn replace_all_literal(&self, text: &str, replacement: &str, most: usize) -> String {
        self.replace(text, most, |_, out| out.push_str(replacement))
    }

    /// The texts between the matches, at most `limit`, as by `Split`. A negative limit means all, zero means none.
    pub fn split<'t>(&self, text: &'t str, limit: i64) -> Vec<&'t str> {
        if limit == 0 {
            return Vec::new();
        }
        if text.is_empty() && !self.pattern_is_empty {
            return vec![""];
        }
        let mut pieces = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for range in self.ranges(text, limit) {
            if limit > 0 && pieces.len() as i64 == limit - 1 {
                break;
            }
            end = range.start;
            if range.end != 0 {
                pieces.push(&text[begin..end]);
            }
            begin = range.end;
        }
        if end != text.len() {
            pieces.push(&text[begin..]);
        }
        pieces
    }

    /// The ranges of the matches, at most `limit`.
    fn ranges(&self, text: &str, limit: i64) -> impl Iterator<Item = Range<usize>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        { self.regex.find_iter(text) }
            .map(|found| found.range())
            .take(limit)
    }

    /// Replaces matches as Go does: an empty match directly after another match is not replaced.
    fn replace(
        &self,
        text: &str,
        most: usize,
        mut write: impl FnMut(&Captures, &mut String),
    ) -> String {
        let mut captures = self.regex.create_captures();
        let mut out = String::new();
        let (mut written, mut from) = (0, 0);
        while from <= text.len() && out.len() <= most {
            self.regex
                .search_captures(&Input::new(text).range(from..), &mut captures);
            let Some(found) = captures.get_match() else {
                break;
            };
            out.push_str(&text[written..found.start()]);
            if found.end() > written || found.start() == 0 {
                write(&captures, &mut out);
            }
            written = found.end();
            let next = text[from..].chars().next().map_or(1, char::len_utf8);
            from = (from + next).max(found.end());
        }
        out.push_str(&text[written..]);
        out
    }
}

/// The characters of a Unicode class, as patterns name it.
pub struct CharClass {
    /// What a pattern has between its brackets.
    class: &'static str,
    regexp: OnceLock<Option<Regexp>>,
}

impl CharClass {
    /// The class of what a pattern has between its brackets: `\p{L}\p{Nd}`.
    pub const fn new(class: &'static str) -> Self {
        Self {
            class,
            regexp: OnceLock::new(),
        }
    }

    /// Whether the character is one of them.
    pub fn contains(&self, character: char) -> bool {
        let regexp = || Regexp::new(&format!("^[{}]$", self.class)).ok();
        let regexp = self.regexp.get_or_init(regexp).as_ref();
        regexp.is_some_and(|regexp| regexp.is_match(character.encode_utf8(&mut [0; 4])))
    }
}

/// A pattern that matches exactly the text, as by `regexp.QuoteMeta`.
pub fn quote_meta(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::{Regexp, quote_meta};

    /// Patterns that Go accepts, each with a text and the result of `FindString`.
    const ACCEPTED: &[(&str, &str, Option<&str>)] = &[
        (r"\Qa.b|c\E+", "xa.b|cc", Some("a.b|cc")),
        (r"\Q\", r"a\b", Some(r"\")),
        (r"\165\x62\x{75}\x{0000006e}", "ubuntu", Some("ubun")),
        (r"\07\081", "\x07\081", Some("\x07\081")),
        (r"\<ubuntu\>", "<ubuntu>", Some("<ubuntu>")),
        (r"a{,2}", "a{,2}", Some("a{,2}")),
        (r"ubuntu{", "ubuntu{1}", Some("ubuntu{")),
        (r"a{01}", "a{01}", Some("a{01}")),
        (r"[a&&b]+", "b&&a", Some("b&&a")),
        (r"[+--c]+", "bc-,", Some("c-,")),
        (r"[[a]]", "a]", Some("a]")),
        (r"[a~~b]+", "~a", Some("~a")),
        (r"[]a]+", "]a]", Some("]a]")),
        (r"[^]a]+", "]b", Some("b")),
        (r"[[:^alpha:][:digit:]]+", "ab12", Some("12")),
        (r"\d+|\w|\s", "\u{661}\u{e9}\u{a0}", None),
        (r"\bx", "\u{e9}x", Some("x")),
        (r"\Bé\B", "é", Some("é")),
        (r"a$", "a\n", None),
        (r"(?m)a$", "a\n", Some("a")),
        (r"a\z", "ba", Some("a")),
        (r"(?i)k\W", "\u{212a}\u{17f}!", None),
        (r"(?i)[^k]", "K\u{212a}k", None),
        (r"(?i:a)b", "aBAb", Some("Ab")),
        (r"a(?i)b|c", "C", Some("C")),
        (r"(?U)a+", "aaa", Some("a")),
        (r"(?U)a+?", "aaa", Some("aaa")),
        (r"(?s).", "\n", Some("\n")),
        (r"a(?i)*", "aa", Some("aa")),
        (r"a*(?i)*", "aa", Some("aa")),
        (r"\p{Greek}\pN\P{^L}", "α1b", Some("α1b")),
        (r"\p{lowercase letter}+", "aB", Some("a")),
        (r"(?P<n>a)(?<n>b)", "ab", Some("ab")),
        (r"((x{500}){0}){900}", "x", Some("")),
        (r"^*$", "", Some("")),
        (r"a|ab", "ab", Some("a")),
        (r".*a|.*b", "1a2b", Some("1a")),
        (r"x[12]?a|x[12]?.*b", "x1a2b", Some("x1a")),
        (r"(?:.*a|.*b)2", "1a2b2", Some("1a2")),
        (r"(?:.*a|.*b)c|(?:.*a|.*b)d", "1ad2bc", Some("1ad2bc")),
        (r"(|a)*", "aa", Some("")),
        (r"[\x{D800}-\x{DFFF}]", "x", None),
        ("", "x", Some("")),
    ];

    /// Patterns that Go refuses.
    const REFUSED: &[&str] = &[
        r"(?!x)",
        r"(?=x)",
        r"(?<=x)",
        r"(?>x)",
        r"\1",
        r"u++",
        r"u**",
        r"u*?*",
        r"u{2}{3}",
        r"u{0,1001}",
        r"u{2,1}",
        r"(u{30}){40}",
        r"(?x)u",
        r"u\Z",
        r"\h",
        r"\C",
        r"\8",
        r"\é",
        r"\x{110000}",
        r"\x{}",
        r"\xg0",
        r"\",
        r"(",
        r")",
        r"a)",
        r"[",
        r"[]",
        r"[z-a]",
        r"[a--c]",
        r"[a--c]",
        r"[a-\d]",
        r"[\b]",
        r"[[:foo:]]",
        r"\p{Grek}",
        r"\p{}",
        r"\pX",
        r"\p",
        r"*",
        r"(*)",
        r"a|*",
        r"(?i)*",
        r"(?",
        r"(?-)",
        r"(?i-)",
        r"(?P<>a)",
        r"(?P=n)",
        r"(?'n'a)",
        r"(?P<a-b>x)",
        r"(?#c)",
    ];

    #[test]
    fn accepted_patterns_match_as_in_go() {
        for (pattern, text, found) in ACCEPTED {
            let regexp = Regexp::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regexp.find(text), *found, "{pattern}");
            assert_eq!(regexp.is_match(text), found.is_some(), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_go_refuses_are_refused() {
        for pattern in REFUSED {
            assert!(Regexp::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn replacements_refer_to_groups_as_in_go() {
        let regexp = Regexp::new(r"(?P<os>[a-z]+)-(\d+)").unwrap();
        let replaced = |replacement| regexp.replace_all("ubuntu-24, suse-15", replacement, 100);
        assert_eq!(replaced("$2.$os"), "24.ubuntu, 15.suse");
        assert_eq!(replaced("$2x|$os1"), "|, |");
        assert_eq!(replaced("${2}x$$ $ ${"), "24x$ $ ${, 15x$ $ ${");
        assert_eq!(replaced("$0$9$01"), "ubuntu-24, suse-15");
        assert_eq!(regexp.replace_all_literal("a-1", "$1", 100), "$1");
    }

    #[test]
    fn empty_matches_are_found_where_go_finds_them() {
        let regexp = Regexp::new("x*").unwrap();
        assert_eq!(regexp.replace_all("axxé", "-", 100), "-a-é-");
        assert_eq!(regexp.find_all("axxé", -1), ["", "xx", ""]);
        assert_eq!(regexp.find_all("axxé", 2), ["", "xx"]);
        assert_eq!(regexp.split("axxb", -1), ["a", "b"]);
    }

    #[test]
    fn texts_are_split_as_in_go() {
        let comma = Regexp::new(",").unwrap();
        assert_eq!(comma.split("a,b,c", 2), ["a", "b,c"]);
        assert_eq!(comma.split("a,", -1), ["a", ""]);
        assert_eq!(comma.split("", -1), [""]);
        assert!(comma.split("a", 0).is_empty());
        let empty = Regexp::new("").unwrap();
        assert_eq!(empty.split("abc", -1), ["a", "b", "c"]);
        assert!(empty.split("", -1).is_empty());
    }

    #[test]
    fn hostile_patterns_are_refused_or_cheap() {
        let nested = |depth: usize| format!("{}a{}", "(b|a".repeat(depth), ")*".repeat(depth));
        assert!(Regexp::new(&nested(62)).unwrap().is_match("a"));
        assert!(Regexp::new(&nested(100_000)).is_err());
        assert!(Regexp::new(&r"\pL".repeat(100_000)).is_err());
        assert!(Regexp::new(r"(\pL{1000}){1}\pL{900}").is_err());
        assert!(Regexp::new(&"(x)".repeat(20_000)).is_err());
    }

    #[test]
    fn a_quoted_text_matches_itself() {
        assert_eq!(quote_meta(r"a.b\c[1]{2}^$"), r"a\.b\\c\[1\]\{2\}\^\$");
    }
}
