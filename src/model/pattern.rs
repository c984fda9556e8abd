//! Patterns over names and paths, as every input writes them: `*` and `?` match letters of one name, `**` crosses the slash.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::OnceLock;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// The longest pattern, in bytes: no name and no path is longer. A longer one may not compile.
const PATTERN_LIMIT: usize = 4 << 10;

/// How many bytes of a pattern's beginning are compared to find it.
const START: usize = 100;

/// A pattern. It is compiled once something is compared with it that begins as it does.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<str>,
    /// None of a text without wildcards, which matches itself.
    wild: Option<(Glob, OnceLock<GlobMatcher>)>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is none, or too long; in one clause.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::new(text, true)
    }

    /// Reads a pattern whose `*` and `?` match slashes too.
    ///
    /// # Errors
    /// As those of [`Pattern::parse`].
    pub fn parse_across(text: &str) -> Result<Self, String> {
        Self::new(text, false)
    }

    fn new(text: &str, is_within: bool) -> Result<Self, String> {
        if text.len() > PATTERN_LIMIT {
            return Err(format!("it has more than {PATTERN_LIMIT} bytes"));
        }
        let glob = GlobBuilder::new(text).literal_separator(is_within).build();
        let glob = glob.map_err(|error| error.kind().to_string())?;
        let is_wild = literal(text).len() < text.len();
        Ok(Self {
            text: text.into(),
            wild: is_wild.then(|| (glob, OnceLock::new())),
        })
    }

    /// Whether a name or a path matches.
    pub fn is_match(&self, name: impl AsRef<Path>) -> bool {
        let name = name.as_ref();
        match &self.wild {
            None => name.as_os_str() == &*self.text,
            Some((glob, matcher)) => {
                let compiled = matcher.get_or_init(|| glob.compile_matcher());
                compiled.is_match(name)
            }
        }
    }

    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether all that matches begins alike.
    pub fn has_start(&self) -> bool {
        !self.start().is_empty()
    }

    /// What everything that matches begins with.
    pub fn start(&self) -> &str {
        start(literal(&self.text))
    }
}

/// A pattern up to its first wildcard.
fn literal(text: &str) -> &str {
    let end = text.find(['*', '?', '[', '{', '\\']);
    &text[..end.unwrap_or(text.len())]
}

fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(START)]
}

/// Numbers by the beginning of their patterns, so that a name is compared only with patterns that begin as it does.
#[derive(Clone, Debug, Default)]
pub struct Starts(BTreeMap<Box<str>, Vec<usize>>);

impl Starts {
    /// Adds the number of a pattern.
    pub fn add(&mut self, pattern: &Pattern, number: usize) {
        self.add_text(pattern.start(), number);
    }

    /// Adds the number of a text that names begin with.
    pub fn add_text(&mut self, text: &str, number: usize) {
        self.0.entry(start(text).into()).or_default().push(number);
    }

    /// The numbers of those that a name may match.
    pub fn find(&self, name: &str) -> impl Iterator<Item = usize> {
        let ends = (0..=start(name).len()).filter(|end| name.is_char_boundary(*end));
        let numbers = ends.filter_map(|end| self.0.get(&name[..end]));
        numbers.flatten().copied()
    }
}

/// Items with a pattern each, in the order written.
#[derive(Clone, Debug)]
pub struct PatternList<T> {
    all: Vec<T>,
    starts: Starts,
}

impl<T: AsRef<Pattern>> PatternList<T> {
    /// The numbers of the items that match one of these names, in their order.
    pub fn matches(&self, names: &[String]) -> impl DoubleEndedIterator<Item = usize> {
        let mut near: Vec<usize> = names
            .iter()
            .flat_map(|name| self.starts.find(name))
            .collect();
        near.sort_unstable();
        near.dedup();
        let is_match = |number: &usize| {
            let pattern = self.all[*number].as_ref();
            names.iter().any(|name| pattern.is_match(name))
        };
        near.into_iter().filter(is_match)
    }
}

impl<T> Default for PatternList<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            starts: Starts::default(),
        }
    }
}

impl<T: AsRef<Pattern>> FromIterator<T> for PatternList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let all: Vec<T> = items.into_iter().collect();
        let mut starts = Starts::default();
        for (number, item) in all.iter().enumerate() {
            starts.add(item.as_ref(), number);
        }
        Self { all, starts }
    }
}

impl<T> Deref for PatternList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{PATTERN_LIMIT, Pattern, PatternList};

    impl AsRef<Pattern> for Pattern {
        fn as_ref(&self) -> &Pattern {
            self
        }
    }

    #[test]
    fn the_longest_pattern_is_compiled_and_a_longer_one_is_not() {
        for part in ["?", "*a", "[!a-c]", "{a,b}", "[é-ü]"] {
            let longest = part.repeat(PATTERN_LIMIT / part.len());
            let pattern = Pattern::parse(&longest).expect("a pattern");
            assert!(!pattern.is_match("x"), "{part}");
            assert!(Pattern::parse(&part.repeat(PATTERN_LIMIT)).is_err() || part.len() == 1);
        }
        assert!(Pattern::parse(&"?".repeat(PATTERN_LIMIT + 1)).is_err());
    }

    proptest! {
        /// Patterns and names of few letters, so that many match.
        #[test]
        fn a_list_finds_what_each_pattern_matches(
            patterns in proptest::collection::vec(r"[ab/]{0,3}(\*|\?|\[a-b\]|\{a,b\}|\\a|\*\*/)?[ab]{0,2}", 0..8),
            names in proptest::collection::vec("[ab/é]{0,5}", 0..3),
        ) {
            let read = patterns.iter().filter_map(|text| Pattern::parse(text).ok());
            let list: PatternList<Pattern> = read.collect();
            let found: Vec<usize> = list.matches(&names).collect();
            for (number, pattern) in list.iter().enumerate() {
                let glob = globset::GlobBuilder::new(&pattern.text).literal_separator(true).build();
                let matcher = glob.expect("a glob").compile_matcher();
                let is_match = names.iter().any(|name| matcher.is_match(name));
                prop_assert!(found.contains(&number) == is_match, "{}", pattern.text);
            }
        }
    }
}
