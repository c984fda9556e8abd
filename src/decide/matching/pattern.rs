//! A selector's patterns, compiled once for all clusters.

use std::collections::HashMap;
use std::sync::Arc;

use go_template::regexp::Regexp;
use parking_lot::RwLock;

/// Compiled patterns by their text, shared by every cluster and thread.
///
/// It is bounded: patterns beyond the limit are compiled where they are met, so that memory does not grow with the fleet.
#[derive(Debug, Default)]
pub struct PatternCache {
    compiled: RwLock<HashMap<Arc<str>, Option<Arc<Regexp>>>>,
}

/// The memory limit of one compiled pattern, in bytes: a file may contain thousands of patterns.
const COMPILED_LIMIT: usize = 128 << 10;

/// How many patterns the cache holds.
const CACHED: usize = 256;

/// A pattern as Sylva's library applies it: `^(` and `)$` are put around its text, then Go compiles it (docs/sylva.md#patterns).
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// A text without special characters.
    Literal(Arc<str>),
    /// Plain and escaped characters and dots only: what finalizing makes of a version. Walked, not compiled.
    Dotted(Arc<str>),
    /// `.*`
    Anything,
    /// Everything else.
    Regexp(Arc<Regexp>),
    /// Go would not compile it, or it is too large: it matches nothing, and upstream says nothing (docs/sylva.md#patterns).
    Invalid,
}

impl PatternCache {
    /// The pattern of that text.
    pub(super) fn get(&self, text: &Arc<str>) -> Pattern {
        Pattern::plain(text)
            .unwrap_or_else(|| self.compile(text).map_or(Pattern::Invalid, Pattern::Regexp))
    }

    /// The compiled pattern; none where Go refuses it.
    fn compile(&self, text: &Arc<str>) -> Option<Arc<Regexp>> {
        let compiled = self.compiled.read();
        if let Some(known) = compiled.get(text) {
            return known.clone();
        }
        drop(compiled);
        let spliced = compile_anchored(text).map(Arc::new);
        let mut compiled = self.compiled.write();
        if compiled.len() < CACHED {
            compiled.insert(Arc::clone(text), spliced.clone());
        }
        spliced
    }
}

impl Pattern {
    /// A pattern that is matched without a compiler.
    fn plain(text: &Arc<str>) -> Option<Self> {
        if text.chars().all(|c| !is_special(c)) {
            return Some(Self::Literal(Arc::clone(text)));
        }
        if &**text == ".*" {
            return Some(Self::Anything);
        }
        let is_dotted = units(text).all(|unit| unit.is_some());
        is_dotted.then(|| Self::Dotted(Arc::clone(text)))
    }

    /// Whether the whole text matches.
    pub(super) fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => **literal == *text,
            Self::Dotted(pattern) => {
                let mut chars = text.chars();
                let fits = |unit| match (unit, chars.next()) {
                    (Some(Unit::Char(wanted)), Some(c)) => wanted == c,
                    (Some(Unit::AnyChar), Some(c)) => c != '\n',
                    _ => false,
                };
                units(pattern).all(fits) && chars.next().is_none()
            }
            Self::Anything => !text.contains('\n'),
            Self::Regexp(spliced) => spliced.is_match(text),
            Self::Invalid => false,
        }
    }
}

/// Whether a selector's pattern compiles. One that does not matches nothing.
pub fn is_pattern(text: &Arc<str>) -> bool {
    Pattern::plain(text).is_some() || compile_anchored(text).is_some()
}

/// The regular expression that Sylva's library makes of a pattern; none where Go refuses it, or where it is too large.
fn compile_anchored(text: &str) -> Option<Regexp> {
    Regexp::with_limit(COMPILED_LIMIT, &format!("^({text})$")).ok()
}

/// What matches one character of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// That character.
    Char(char),
    /// A dot: any character but a newline.
    AnyChar,
}

/// A pattern's units, none for one that is neither a plain character, an escaped one nor a dot.
pub(super) fn units(pattern: &str) -> impl Iterator<Item = Option<Unit>> {
    let mut chars = pattern.chars();
    std::iter::from_fn(move || {
        let c = chars.next()?;
        Some(match c {
            '.' => Some(Unit::AnyChar),
            // Go: an escaped ASCII character that is neither letter nor digit matches itself.
            '\\' => chars
                .next()
                .filter(|escaped| escaped.is_ascii() && !escaped.is_ascii_alphanumeric())
                .map(Unit::Char),
            c if is_special(c) => None,
            c => Some(Unit::Char(c)),
        })
    })
}

/// The text that a pattern of plain characters, escapes and dots is meant to match: dots read as dots.
pub(super) fn meaning(pattern: &str) -> Option<String> {
    units(pattern)
        .map(|unit| {
            unit.map(|unit| match unit {
                Unit::Char(c) => c,
                Unit::AnyChar => '.',
            })
        })
        .collect()
}

fn is_special(c: char) -> bool {
    matches!(
        c,
        '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$'
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Pattern, PatternCache, is_pattern, meaning};
    use crate::testing::seen::Seen;
    use go_template::regexp::Regexp;

    fn pattern(text: &str) -> Pattern {
        PatternCache::default().get(&text.into())
    }

    #[test]
    fn patterns_are_anchored() {
        assert!(pattern("foo[12]").is_match("foo1"));
        assert!(!pattern("foo[12]").is_match("afoo14"));
        assert!(pattern("a|b").is_match("b"));
        assert!(!pattern("a|b").is_match("ab"));
    }

    #[test]
    fn dots_of_a_version_match_any_character() {
        assert!(pattern("1.31.8").is_match("1x31y8"));
        assert!(pattern(r"1.31.8\+rke2r1").is_match("1.31.8+rke2r1"));
        assert!(!pattern(r"1.31.8\+rke2r1").is_match("1.31.8-rke2r1"));
        assert!(!pattern("1.31.8").is_match("1.31.80"));
    }

    #[test]
    fn a_pattern_that_breaks_out_of_its_group_matches_everything() {
        assert!(pattern("ubuntu)|(.*").is_match("opensuse"));
    }

    #[test]
    fn what_go_refuses_matches_nothing() {
        for text in ["(?!x)", r"\1", "(", "u**", r"\Z", r"a\"] {
            assert!(!pattern(text).is_match(text), "{text}");
            assert!(matches!(pattern(text), Pattern::Invalid), "{text}");
        }
    }

    #[test]
    fn what_a_pattern_means_is_its_text_without_escapes() {
        assert_eq!(
            meaning(r"1\.31.8\+rke2r1").as_deref(),
            Some("1.31.8+rke2r1")
        );
        assert_eq!(meaning("1.31.*"), None);
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = PatternCache::default();
        for number in 0..super::CACHED + 10 {
            let pattern = cache.get(&format!("a{number}[x]").into());
            assert!(pattern.is_match(&format!("a{number}x")));
        }
        assert_eq!(cache.compiled.read().len(), super::CACHED);
    }

    #[test]
    fn no_pattern_breaks_matching_and_shortcuts_answer_as_regular_expressions_do() {
        let texts = r"([ab1é]|[ab1.é]|[+*?()|\[\]{}^$]|\\[.+_aZ1-]|\n){0,5}";
        let seen = Seen::new(&["a match", "none", "refused", "a shortcut", "compiled"]);
        seen.property(2_000, 20, &(texts, "[ab1+.é\n-]{0,3}"), |(text, value)| {
            let spliced = Regexp::new(&format!("^({text})$"));
            seen.note_if(spliced.is_err(), "refused");
            let expected = spliced.is_ok_and(|regexp| regexp.is_match(&value));
            let pattern = pattern(&text);
            assert_eq!(pattern.is_match(&value), expected, "{text:?} on {value:?}");
            seen.note(if expected { "a match" } else { "none" });
            let is_compiled = matches!(pattern, Pattern::Regexp(_) | Pattern::Invalid);
            seen.note(if is_compiled {
                "compiled"
            } else {
                "a shortcut"
            });
        });
    }

    #[test]
    fn a_pattern_of_dots_needs_no_compiler_however_long_it_is() {
        let text = "a.".repeat(50_000);
        assert!(pattern(&text).is_match(&"ab".repeat(50_000)));
        assert!(is_pattern(&text.into()));
    }

    #[test]
    fn a_pattern_is_compiled_once() {
        let cache = PatternCache::default();
        let compiled = || match cache.get(&"a[x]".into()) {
            Pattern::Regexp(regexp) => regexp,
            other => panic!("{other:?}"),
        };
        assert!(Arc::ptr_eq(&compiled(), &compiled()));
    }
}
