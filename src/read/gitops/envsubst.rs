//! What a shell makes of `${NAME}` and its forms, as far as Flux and clusterctl know them: defaults, parts of a value, other letters,
//! replaced and removed text (<https://github.com/fluxcd/pkg/tree/main/envsubst>).
//!
//! A variable without a value stays as it is written, and so does a function whose result is not known: of a secret, of a long value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::opaque::OPEN;
use yaml_tree::place::{Located, Place};

use crate::model::name::SeenVersion;

/// The variables that texts are filled in with.
#[derive(Clone, Debug, Default)]
pub(in crate::read) struct Variables {
    /// Values by name, each with the place that sets it, if that is known.
    pub(in crate::read) known: BTreeMap<Arc<str>, Located<Arc<str>>>,
    /// Whether more variables are set than these: then no default is known to apply.
    pub(in crate::read) has_more: bool,
}

/// The deepest nesting of variables in one another.
const DEEPEST: usize = 10;

/// The longest value of a function and its arguments, together and in bytes. Patterns take the square of it.
const LONGEST: usize = 1_000;

/// A text with its variables filled in, and the place of the variable that it is, or that gives it its version; none if nothing changes.
pub(super) fn fill(text: &str, variables: &Variables) -> Option<Located<String>> {
    if !text.contains("${") {
        return None;
    }
    let parts = Parser::new(text).text()?;
    let filled: Vec<Filled<'_>> = parts.iter().map(|part| part.fill(variables)).collect();
    let place = match &filled[..] {
        [one] => one.place,
        // A text of several words is more than a name: another value may be in it.
        _ if text.contains(char::is_whitespace) => Place::NONE,
        several => {
            let placed = several.iter().filter(|part| part.place.is_known());
            let mut versions = placed.filter(|part| SeenVersion::find(&part.value, true).is_some());
            let only = versions.next().filter(|_| versions.next().is_none());
            only.map_or(Place::NONE, |part| part.place)
        }
    };
    let filled: String = filled.into_iter().map(|part| part.value).collect();
    (filled != text).then(|| Located::new(filled, place))
}

/// A piece of a text.
enum Part<'t> {
    Text(Cow<'t, str>),
    Variable(Variable<'t>),
}

/// A variable with what is made of its value.
struct Variable<'t> {
    /// As it is written.
    whole: &'t str,
    name: &'t str,
    /// Such as `:-` or `##`; empty for the value itself.
    function: &'t str,
    arguments: Vec<Part<'t>>,
}

struct Filled<'t> {
    value: Cow<'t, str>,
    place: Place,
    is_known: bool,
}

impl Part<'_> {
    fn fill(&self, variables: &Variables) -> Filled<'_> {
        match self {
            Self::Text(text) => Filled {
                value: Cow::Borrowed(text),
                place: Place::NONE,
                is_known: true,
            },
            Self::Variable(variable) => match variable.value(variables) {
                Some(found) => Filled {
                    value: Cow::Owned(found.value.to_string()),
                    place: found.place,
                    is_known: true,
                },
                None => Filled {
                    value: Cow::Borrowed(variable.whole),
                    place: Place::NONE,
                    is_known: false,
                },
            },
        }
    }
}

impl Variable<'_> {
    fn value(&self, variables: &Variables) -> Option<Located<Arc<str>>> {
        let set = variables.known.get(self.name).cloned();
        let arguments = self.arguments.iter().map(|part| part.fill(variables));
        let arguments: Vec<Filled<'_>> = arguments.collect();
        let unplaced = |text: String| Located::new(text.into(), Place::NONE);
        if DEFAULTS.contains(&self.function) {
            if let Some(set) = set.filter(|set| !set.value.is_empty()) {
                return Some(set);
            }
            if variables.has_more {
                return Some(unplaced(format!("${{{}}}", self.name)));
            }
            let texts = arguments.iter().map(|argument| &*argument.value);
            return Some(unplaced(texts.collect()));
        }
        if self.function.is_empty() {
            return set;
        }
        let value = set?.value;
        let texts: Vec<&str> = arguments.iter().map(|argument| &*argument.value).collect();
        let length = value.len() + texts.iter().map(|text| text.len()).sum::<usize>();
        let is_secret = value.contains(OPEN) || texts.iter().any(|text| text.contains(OPEN));
        let is_known = arguments.iter().all(|argument| argument.is_known);
        if is_secret || !is_known || length > LONGEST {
            return None;
        }
        apply(self.function, &value, &texts).map(unplaced)
    }
}

/// The functions whose result is their arguments where the variable has no value. Alternatives (`:+`) and errors (`:?`) are defaults
/// too for Flux and clusterctl.
const DEFAULTS: [&str; 6] = ["=", "-", ":=", ":-", ":+", ":?"];

/// The result of a function; none if the value would be split within a character, or of a pattern with a set of characters.
fn apply(function: &str, value: &str, arguments: &[&str]) -> Option<String> {
    let [first, second] = [0, 1].map(|index| arguments.get(index).copied().unwrap_or_default());
    Some(match function {
        "#" if arguments.is_empty() => value.len().to_string(),
        "," | "^" => {
            let mut letters = value.chars();
            let first = letters.next().map(|letter| {
                if function == "," {
                    letter.to_lowercase().to_string()
                } else {
                    letter.to_uppercase().to_string()
                }
            });
            first.unwrap_or_default() + letters.as_str()
        }
        ",," => value.to_lowercase(),
        "^^" => value.to_uppercase(),
        ":" => part(value, first, arguments.get(1).copied())?.to_owned(),
        "/" => value.replacen(first, second, 1),
        "//" => value.replace(first, second),
        "/#" if arguments.len() == 2 && value.starts_with(first) => {
            value.replacen(first, second, 1)
        }
        "/%" if arguments.len() == 2 => match value.strip_suffix(first) {
            Some(kept) => format!("{kept}{second}"),
            None => value.to_owned(),
        },
        "#" | "##" => trim(value, first, function == "##")?,
        "%" | "%%" => {
            let reverse = |text: &str| text.chars().rev().collect::<String>();
            reverse(&trim(&reverse(value), &reverse(first), function == "%%")?)
        }
        _ => value.to_owned(),
    })
}

/// The part of a value from a byte on, of some bytes or up to some before the end.
fn part<'v>(value: &'v str, from: &str, length: Option<&str>) -> Option<&'v str> {
    let size = value.len() as i64;
    let (Ok(from), Ok(length)) = (
        from.parse::<i64>(),
        length.map(str::parse::<i64>).transpose(),
    ) else {
        return Some(value);
    };
    let from = if from < 0 { (size + from).max(0) } else { from };
    let end = match length {
        None => size,
        Some(length) if length < 0 => size + length,
        Some(length) => from.saturating_add(length).min(size),
    };
    if end < from {
        return Some("");
    }
    value.get(from as usize..end as usize)
}

/// A value without its longest or shortest beginning that a pattern matches and that is not empty.
fn trim(value: &str, pattern: &str, is_longest: bool) -> Option<String> {
    if pattern.contains(['[', ']']) {
        return None;
    }
    let ends = value
        .char_indices()
        .map(|(at, letter)| at + letter.len_utf8());
    let mut ends = ends.filter(|end| matches(pattern, &value[..*end]));
    let end = if is_longest {
        ends.next_back()
    } else {
        ends.next()
    };
    Some(value[end.unwrap_or(0)..].to_owned())
}

/// Whether a pattern matches a whole text: `*` any characters, `?` one of them, `\` the next one.
fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where the last `*` ends, and where the text behind it begins.
    let mut again = None;
    loop {
        let left = text.clone();
        let is_same = match (pattern.next(), text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                text = left;
                again = Some((pattern.clone(), text.clone()));
                true
            }
            (Some('?'), Some(_)) => true,
            (Some('\\'), found) => found.is_some() && pattern.next() == found,
            (wanted, found) => wanted == found,
        };
        if is_same {
            continue;
        }
        let Some((behind, begin)) = &mut again else {
            return false;
        };
        if begin.next().is_none() {
            return false;
        }
        (pattern, text) = (behind.clone(), begin.clone());
    }
}

/// Reads a text from its beginning.
struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            rest: text,
            depth: 0,
        }
    }

    /// The parts of the whole text; none if a variable in it is wrong.
    fn text(mut self) -> Option<Vec<Part<'t>>> {
        let mut parts = Vec::new();
        while !self.rest.is_empty() {
            if self.rest.starts_with("${") {
                parts.push(Part::Variable(self.variable()?));
                continue;
            }
            let mut end = 0;
            while !self.rest[end..].is_empty() && !self.rest[end..].starts_with("${") {
                let is_escape = self.rest[end..].starts_with("$$");
                if is_escape {
                    parts.push(Part::Text(self.rest[..end].into()));
                    self.rest = &self.rest[end + 1..];
                    end = 0;
                }
                let letter = self.rest[end..].chars().next();
                end += letter.map_or(0, char::len_utf8);
            }
            parts.push(Part::Text(self.take(end).into()));
        }
        Some(parts)
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn take_one(&mut self, options: &[&'static str]) -> Option<&'static str> {
        let found = options.iter().find(|one| self.rest.starts_with(**one))?;
        self.take(found.len());
        Some(found)
    }

    fn name(&mut self) -> Option<&'t str> {
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_of_name(letter));
        Some(self.take(end.unwrap_or(self.rest.len()))).filter(|name| !name.is_empty())
    }

    fn variable(&mut self) -> Option<Variable<'t>> {
        self.depth += 1;
        if self.depth > DEEPEST + 1 {
            return None;
        }
        let from = self.rest;
        self.take_one(&["${"])?;
        let mut variable = match self.take_one(&["#"]) {
            Some(function) => Variable {
                whole: from,
                name: self.name()?,
                function,
                arguments: Vec::new(),
            },
            None => {
                let name = self.name()?;
                let function = self.take_one(&FUNCTIONS).unwrap_or_default();
                Variable {
                    whole: from,
                    name,
                    function,
                    arguments: self.arguments(function)?,
                }
            }
        };
        self.take_one(&["}"])?;
        variable.whole = &from[..from.len() - self.rest.len()];
        self.depth -= 1;
        Some(variable)
    }

    fn arguments(&mut self, function: &str) -> Option<Vec<Part<'t>>> {
        let mut arguments = Vec::new();
        match function {
            "" | "," | ",," | "^" | "^^" => {}
            _ if DEFAULTS.contains(&function) => {
                while !self.rest.starts_with('}') {
                    arguments.push(self.argument(&['}'], false)?);
                }
            }
            ":" => {
                arguments.push(self.argument(&[':', '}'], false)?);
                if self.take_one(&[":"]).is_some() {
                    arguments.push(self.argument(&['}'], false)?);
                }
            }
            "/" | "//" | "/#" | "/%" => {
                let is_empty = self.rest.starts_with('/');
                arguments.push(if is_empty {
                    Part::Text("".into())
                } else {
                    self.argument(&['/'], true)?
                });
                self.take_one(&["/"])?;
                while self.take_one(&["/"]).is_some() {}
                if !self.rest.starts_with('}') {
                    arguments.push(self.argument(&['}'], true)?);
                }
            }
            _ => arguments.push(self.argument(&['}'], false)?),
        }
        Some(arguments)
    }

    /// A variable, or the text up to one of these characters or a variable.
    fn argument(&mut self, ends: &[char], has_escapes: bool) -> Option<Part<'t>> {
        if self.rest.starts_with("${") {
            return self.variable().map(Part::Variable);
        }
        let (mut text, mut end) = (String::new(), 0);
        while !self.rest[end..].starts_with(ends) && !self.rest[end..].starts_with("${") {
            let mut letters = self.rest[end..].chars();
            let letter = letters.next()?;
            end += letter.len_utf8();
            let is_escaped = |next: &char| match letter {
                '\\' => matches!(next, '/' | '\\'),
                '$' => *next == '$',
                _ => false,
            };
            match letters
                .next()
                .filter(|next| has_escapes && is_escaped(next))
            {
                Some(next) => {
                    text.push(next);
                    end += next.len_utf8();
                }
                None => text.push(letter),
            }
        }
        self.take(end);
        Some(Part::Text(text.into())).filter(|_| end > 0)
    }
}

/// The functions, each before the one that it begins with.
const FUNCTIONS: [&str; 19] = [
    ":=", ":-", ":+", ":?", ":", "=", "-", ",,", ",", "^^", "^", "//", "/#", "/%", "/", "##", "#",
    "%%", "%",
];

#[cfg(test)]
mod tests {
    use yaml_tree::place::{FileId, Located, Place};

    use super::{DEEPEST, LONGEST, Variables, fill};

    const PLACE: Place = Place {
        file: FileId(3),
        start: 1,
        end: 2,
    };

    fn variables(set: &[(&str, &str)]) -> Variables {
        let known = { set.iter() }
            .map(|(name, value)| ((*name).into(), Located::new((*value).into(), PLACE)))
            .collect();
        Variables {
            known,
            has_more: false,
        }
    }

    /// What a text becomes; itself if nothing changes.
    fn filled(text: &str, set: &[(&str, &str)]) -> String {
        fill(text, &variables(set)).map_or(text.to_owned(), |filled| filled.value)
    }

    #[test]
    fn variables_have_values_or_defaults_or_stay() {
        let set = [("A", "one"), ("EMPTY", "")];
        for (text, expected) in [
            ("${A}", "one"),
            ("x-${A}-${B}", "x-one-${B}"),
            ("${B:=v1.34.1}", "v1.34.1"),
            ("${B:-${A}}", "one"),
            ("${B=x}${A-y}", "xone"),
            ("${EMPTY:=x}", "x"),
            ("${EMPTY}", ""),
            ("${B}", "${B}"),
            ("$${A}", "${A}"),
            ("${A", "${A"),
            ("${}", "${}"),
            ("${#}", "${#}"),
            ("${A.}", "${A.}"),
            ("${A:}", "${A:}"),
            ("${B^^}-${A}", "${B^^}-one"),
            ("A", "A"),
        ] {
            assert_eq!(filled(text, &set), expected, "{text}");
        }
        let place_of = |text: &str| fill(text, &variables(&set)).map(|filled| filled.place);
        assert_eq!(place_of("${A}"), Some(PLACE));
        assert_eq!(place_of("a${A}"), Some(Place::NONE));
        assert_eq!(place_of("A"), None);
    }

    /// The inputs and answers of Flux's own tests of envsubst, and those that it refuses.
    #[test]
    fn functions_are_those_of_flux() {
        let cases = [
            ("abcdEFGH28ij", "", "abcdEFGH28ij"),
            ("${#v}", "abcdEFGH28ij", "12"),
            ("${v^}", "abcdEFGH28ij", "AbcdEFGH28ij"),
            ("${v^^}", "abcdEFGH28ij", "ABCDEFGH28IJ"),
            ("${v,}", "ABCDEFGH28IJ", "aBCDEFGH28IJ"),
            ("${v,,}", "ABCDEFGH28IJ", "abcdefgh28ij"),
            (
                "${v:11}",
                "/home/bozo/ideas/thoughts.for.today",
                "ideas/thoughts.for.today",
            ),
            ("${v:11:5}", "/home/bozo/ideas/thoughts.for.today", "ideas"),
            ("${v=xyz}", "abc", "abc"),
            ("${v=xyz}", "", "xyz"),
            ("something ${w=${v}}", "foo", "something foo"),
            ("foo: ${w=${v}-suffix}", "foo1", "foo: foo1-suffix"),
            (
                "foo: ${w=prefix${v}-suffix}",
                "foo1",
                "foo: prefixfoo1-suffix",
            ),
            ("${v:=xyz}", "", "xyz"),
            ("${v/%abc/XYZ}", "abcABC123ABCabc", "abcABC123ABCXYZ"),
            ("${v/#abc/XYZ}", "abcABC123ABCabc", "XYZABC123ABCabc"),
            ("${v/#/prefix-}", "somevalue", "prefix-somevalue"),
            ("${v/%/-suffix}", "somevalue", "somevalue-suffix"),
            ("${v//abc/xyz}", "abcABC123ABCabc", "xyzABC123ABCxyz"),
            ("${v/abc/xyz}", "abcABC123ABCabc", "xyzABC123ABCabc"),
            ("${v#*.}", "bash.string.txt", "string.txt"),
            ("${v#*/}", "path/to/file", "to/file"),
            ("${v#*/}", "/path/to/file", "path/to/file"),
            ("${v##*.}", "bash.string.txt", "txt"),
            ("${v##*/}", "path/to/file", "file"),
            ("${v##*/}", "/path/to/file", "file"),
            ("${v%.*}", "bash.string.txt", "bash.string"),
            ("${v%%.*}", "bash.string.txt", "bash"),
            ("${w=${v^^}}", "abcdEFGH28ij", "ABCDEFGH28IJ"),
            ("$${v}", "abcdEFGH28ij", "${v}"),
            (
                "some text ${v}$${var$${v}$v${v}",
                "abcd",
                "some text abcd${var${v}$vabcd",
            ),
            ("something $${var=${v}}", "foo", "something ${var=foo}"),
            ("${v/\\//-}", "foo/bar", "foo-bar"),
            ("${v//\\//-}", "foo/bar/baz", "foo-bar-baz"),
            (
                "\\\\\\\\something ${w=${v}}",
                "foo",
                "\\\\\\\\something foo",
            ),
            ("${v/./}", "foo.bar", "foobar"),
            ("${v:-fallback}", "", "fallback"),
            ("${v:+set}", "", "set"),
        ];
        for (text, value, expected) in cases {
            assert_eq!(filled(text, &[("v", value)]), expected, "{text}");
        }
        for text in [
            "${#w}",
            "${w^}",
            "${w^^}",
            "${w,}",
            "${w,,}",
            "${w:0}",
            "${w:0:10}",
            "${w/a/b}",
            "${w//a/b}",
            "${w/#a/b}",
            "${w/%a/b}",
            "${w#a}",
            "${w##a}",
            "${w%a}",
            "${w%%a}",
            "${v#${w}}",
        ] {
            assert_eq!(filled(text, &[("v", "a")]), text);
        }
    }

    /// Each answer is that of Flux's library.
    #[test]
    fn parts_of_a_value_are_counted_in_bytes_from_either_end() {
        for (text, value, expected) in [
            ("${v:-1}", "abc", "abc"),
            ("${v: -2}", "abcd", "abcd"),
            ("${v:${n}}", "abcd", "cd"),
            ("${v:${n}:1}", "abcd", "c"),
            ("${v:1:-1}", "abcd", "bc"),
            ("${v:3:-3}", "abcd", ""),
            ("${v:9}", "abcd", ""),
            ("${v:9:2}", "abcd", ""),
            ("${v:2:9}", "abcd", "cd"),
            ("${v:x}", "abcd", "abcd"),
            ("${v:1:x}", "abcd", "abcd"),
            ("${v:1}", "é", "${v:1}"),
            ("${v^}", "", ""),
            ("${v,}", "É", "é"),
            ("${v/%c/x}", "abf", "abf"),
            ("${v/#c/x}", "abc", "abc"),
            ("${v/#a}", "abc", "${v/#a}"),
            ("${v/#a/}", "abc", "abc"),
            ("${v//b/}", "abcb", "ac"),
            ("${v/$$/x}", "a$c", "axc"),
            ("${v#v}", "v1.34.1", "1.34.1"),
            ("${v#x}", "v1.34.1", "v1.34.1"),
            ("${v#?}", "v1", "1"),
            ("${v#\\v}", "v1", "1"),
            ("${v##*.*.}", "v1.34.1", "1"),
            ("${v%.*}", "v1.34.1", "v1.34"),
            ("${v#*}", "abc", "bc"),
            ("${v##*}", "abc", ""),
            ("${v#a*c}", "abcabc", "abc"),
            ("${v##a*c}", "abcabc", ""),
            ("${v#[v]}", "v1", "${v#[v]}"),
            ("${v#}", "v1", "${v#}"),
            ("${v#a${n}}", "v1", "${v#a${n}}"),
        ] {
            let set = [("v", value), ("n", "-2")];
            assert_eq!(filled(text, &set), expected, "{text}");
        }
    }

    #[test]
    fn a_function_of_a_secret_is_not_known() {
        let secret = yaml_tree::opaque::label("s.yaml", "pw");
        let set = [("s", &*secret), ("v", "a")];
        assert_eq!(filled("x${s}", &set), format!("x{secret}"));
        assert_eq!(filled("${s:-x}", &set), secret);
        for text in ["${s#v}", "${#s}", "${v/a/${s}}"] {
            assert_eq!(filled(text, &set), text);
        }
    }

    #[test]
    fn variables_end_at_the_deepest_default() {
        let nested =
            |depth: usize| (0..depth).fold("x".to_owned(), |inner, _| format!("${{B:={inner}}}"));
        let filled = |depth: usize| filled(&nested(depth), &[]);
        assert_eq!(filled(DEEPEST + 1), "x");
        assert_eq!(filled(DEEPEST + 2), nested(DEEPEST + 2));
    }

    #[test]
    fn functions_take_the_longest_value() {
        let filled = |length: usize| filled("${v#a}", &[("v", &"a".repeat(length))]);
        assert_eq!(filled(LONGEST - 1).len(), LONGEST - 2);
        assert_eq!(filled(LONGEST), "${v#a}");
    }
}
