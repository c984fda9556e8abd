//! The files that Helm does not load: what a chart's `.helmignore` names.
//!
//! Source: Helm's pkg/ignore. Patterns are those of Go's `path/filepath`; they are compared as they are written, for those of a
//! stranger may be long and many.

use std::path::Path;

use crate::error::Error;
use crate::files::{Files, Found};

/// The rules of a chart's `.helmignore`, which hold for the charts below it too.
pub(super) struct Ignored(Vec<Rule>);

struct Rule {
    pattern: String,
    is_negated: bool,
    is_for_folders: bool,
    /// Whether it is compared with the whole path, and not with the name alone.
    is_for_paths: bool,
}

impl Ignored {
    /// The rules in a chart's folder.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub(super) fn read(files: &dyn Files, folder: &Path) -> Result<Self, Error> {
        let text = match files.file(&folder.join(".helmignore"))? {
            Found::File(rules) => {
                String::from_utf8_lossy(rules.plain().unwrap_or_default()).into_owned()
            }
            Found::Nothing | Found::Outside => String::new(),
        };
        // What Helm adds itself.
        let lines = text.lines().chain(["templates/.?*"]);
        Ok(Self(lines.filter_map(Rule::parse).collect()))
    }

    /// Whether a file is left out, by its path below the folder of the rules: by itself, or with a folder that it is in.
    pub(super) fn has(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        { folders }.any(|folder| self.leaves_out(folder, true)) || self.leaves_out(path, false)
    }

    /// Whether a rule matches, or one with `!` does not.
    fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut rules = self.0.iter();
        rules.any(|rule| rule.matches(path, name, is_folder) != rule.is_negated)
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.contains("**") {
            return None;
        }
        let (is_negated, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (is_for_folders, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let pattern = line.strip_prefix('/').unwrap_or(line);
        is_pattern(pattern).then(|| Self {
            pattern: pattern.to_owned(),
            is_negated,
            is_for_folders,
            is_for_paths: line.contains('/'),
        })
    }

    fn matches(&self, path: &str, name: &str, is_folder: bool) -> bool {
        let subject = if self.is_for_paths { path } else { name };
        (!self.is_for_folders || is_folder) && is_match(&self.pattern, subject)
    }
}

/// What a pattern says of one letter.
enum Unit<'p> {
    /// `?`
    NoSlash,
    Letter(char),
    /// `[a-z]`, and `[^a-z]`: what is written behind the bracket.
    Class(&'p str),
}

impl<'p> Unit<'p> {
    /// What a pattern begins with, and what follows; none at its end, and where it is none of Go's.
    fn split(pattern: &'p str) -> Option<(Self, &'p str)> {
        let (first, rest) = split_letter(pattern)?;
        Some(match first {
            '?' => (Self::NoSlash, rest),
            '\\' => {
                let (letter, rest) = split_letter(rest)?;
                (Self::Letter(letter), rest)
            }
            '[' => {
                let mut behind = rest.strip_prefix('^').unwrap_or(rest);
                while let Some((_, next)) = split_range(behind) {
                    behind = next;
                    if let Some(end) = behind.strip_prefix(']') {
                        return Some((Self::Class(rest), end));
                    }
                }
                return None;
            }
            letter => (Self::Letter(letter), rest),
        })
    }

    fn has(&self, letter: char) -> bool {
        match self {
            Self::NoSlash => letter != '/',
            Self::Letter(own) => *own == letter,
            Self::Class(written) => {
                let ranges = written.strip_prefix('^');
                let mut next = ranges.unwrap_or(written);
                let mut is_inside = false;
                while let Some((range, behind)) = split_range(next) {
                    is_inside |= range.contains(&letter);
                    next = behind;
                }
                is_inside != ranges.is_some()
            }
        }
    }
}

/// The first range of a class, such as `a-z` or `a`, and what follows; none at the end of the class, and where there is none.
fn split_range(class: &str) -> Option<(std::ops::RangeInclusive<char>, &str)> {
    let end = |text| {
        let (letter, rest) = split_letter(text)?;
        match letter {
            '-' | ']' => None,
            '\\' => split_letter(rest),
            _ => Some((letter, rest)),
        }
    };
    let (low, rest) = end(class)?;
    let Some(rest) = rest.strip_prefix('-') else {
        return Some((low..=low, rest));
    };
    let (high, rest) = end(rest)?;
    Some((low..=high, rest))
}

fn split_letter(text: &str) -> Option<(char, &str)> {
    let mut letters = text.chars();
    Some((letters.next()?, letters.as_str()))
}

/// Whether a text is a pattern of Go's.
fn is_pattern(mut text: &str) -> bool {
    while !text.is_empty() {
        let rest = text.strip_prefix('*');
        match rest.or_else(|| Some(Unit::split(text)?.1)) {
            Some(rest) => text = rest,
            None => return false,
        }
    }
    true
}

/// Whether a pattern matches the whole text. `*` matches no slash, so that only the last one before a difference may match more.
fn is_match(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut star = None;
    loop {
        if let Some(behind) = pattern.strip_prefix('*') {
            pattern = behind;
            star = Some((behind, text));
            continue;
        }
        match (Unit::split(pattern), split_letter(text)) {
            (None, None) => return true,
            (Some((unit, behind)), Some((letter, rest))) if unit.has(letter) => {
                (pattern, text) = (behind, rest);
            }
            _ => {
                let more = star.and_then(|(behind, from)| Some((behind, split_letter(from)?)));
                let Some((behind, (_, rest))) = more.filter(|(_, (letter, _))| *letter != '/')
                else {
                    return false;
                };
                (pattern, text) = (behind, rest);
                star = Some((behind, rest));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rule, is_match, is_pattern};

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, text, expected) in [
            ("one.txt", "one.txt", true),
            ("one.txt", "one.txt2", false),
            ("one.txt2", "one.txt", false),
            ("*", "", true),
            ("*.md", "read.md", true),
            ("*.md", "notes/read.md", false),
            ("notes/*.md", "notes/read.md", true),
            ("d*/read.md", "d/x/read.md", false),
            ("v*-*-rc", "v1-2-3-rc", true),
            ("v*-*-rc", "v1-2-3-rd", false),
            ("*?", "é", true),
            ("?", "é", true),
            ("notes?read", "notes/read", false),
            ("notes[^x]read", "notes/read", true),
            ("[a-cx]", "b", true),
            ("[a-cx]", "x", true),
            ("[a-cx]", "d", false),
            ("[^a-cx]", "b", false),
            ("[^a-cx]", "d", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("[\\]x]", "]", true),
            ("[\\-x]", "-", true),
            ("[\\-x]", "y", false),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
        ] {
            assert!(is_pattern(pattern), "{pattern}");
            assert_eq!(is_match(pattern, text), expected, "{pattern} {text}");
        }
        for none in [
            "[]x]", "[-x]", "[x-]", "[a-c-e]", "[", "[^", "[^xy", "x[", "x\\",
        ] {
            assert!(!is_pattern(none), "{none}");
            assert!(Rule::parse(none).is_none(), "{none}");
        }
    }

    #[test]
    fn a_rule_with_a_sign_leaves_out_what_it_does_not_match() {
        let rules = |lines: &[&str]| {
            let rules = lines.iter().filter_map(|line| Rule::parse(line));
            super::Ignored(rules.collect())
        };
        assert!(rules(&["!*.yaml"]).has("a.txt"));
        assert!(!rules(&["!*.yaml"]).has("a.yaml"));
        assert!(rules(&["!a/"]).has("a"));
        assert!(!rules(&["b/", "# a", "", "a**"]).has("a"));
        assert!(rules(&["b/"]).has("b/a") && !rules(&["b/"]).has("b"));
        assert!(rules(&["/x/y"]).has("x/y/z") && !rules(&["/x/y"]).has("a/x/y"));
    }
}
