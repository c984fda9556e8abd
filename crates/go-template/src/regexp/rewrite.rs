//! Rewrites a pattern of Go so that `regex-syntax` reads it as Go does.
//!
//! Both know the language of Perl, with other corners: `{{` is literal in Go, `[` in brackets too, `\d` is ASCII. What both read
//! alike is copied, what only `regex-syntax` knows is refused here, and what neither knows is refused there.

use std::fmt::Write;

use regex_syntax::ast::ClassAsciiKind;
use regex_syntax::is_meta_character;

use super::{Error, error, unicode};

/// The maximum number of character ranges in all classes of a pattern.
const RANGES_LIMIT: usize = 200_000;

/// At least as many ranges as a Unicode class has. One `\pL` has over 600.
const RANGES_OF_A_CLASS: usize = 750;

/// At least as many ranges as a range has together with the other cases of its letters.
const RANGES_OF_A_RANGE: usize = 100;

/// The length of what is refused in a message, in characters.
const SHOWN: usize = 20;

/// A pattern as `regex-syntax` reads it.
pub(super) struct Rewritten {
    pub(super) text: String,
    /// The names of the groups, which are not in the text. The first one is the whole match, which has no name.
    pub(super) names: Vec<Option<String>>,
}

/// Rewrites a pattern. Not all that is wrong with it is noticed.
pub(super) fn rewrite(pattern: &str) -> Result<Rewritten, Error> {
    let mut rewriter = Rewriter {
        rest: pattern,
        text: String::new(),
        names: vec![None],
        flags: String::new(),
        is_ungreedy: false,
        outer: Vec::new(),
        ranges: 0,
        length: pattern.len(),
        last_class: pattern.rfind(":]").unwrap_or(0),
    };
    let mut is_repeated = false;
    while !rewriter.rest.is_empty() {
        let start = rewriter.rest;
        let repetition = repetition(start);
        let understood = match repetition {
            // Go does not repeat a repetition.
            Some(written) => (!is_repeated).then(|| rewriter.repeat(written)),
            None => rewriter.item(),
        };
        understood.ok_or_else(|| {
            let shown: String = start.chars().take(SHOWN).collect();
            error(format!("Go does not understand it from here: `{shown}`"))
        })?;
        if rewriter.ranges > RANGES_LIMIT {
            let message = format!("character classes have more than {RANGES_LIMIT} ranges");
            return Err(error(message));
        }
        is_repeated = repetition.is_some();
    }
    Ok(Rewritten {
        text: rewriter.text,
        names: rewriter.names,
    })
}

/// The repetition at the start of a text; none if it is an item, as the `{` of `{{` or of `{,2}` is.
fn repetition(text: &str) -> Option<&str> {
    let Some(inside) = text.strip_prefix('{') else {
        return text.starts_with(['*', '+', '?']).then(|| &text[..1]);
    };
    let end = inside.find(|c: char| c != ',' && !c.is_ascii_digit())?;
    let bounds = inside[end..].starts_with('}').then(|| &inside[..end])?;
    let (min, max) = bounds.split_once(',').unwrap_or((bounds, bounds));
    let is_count = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits && (text == "0" || !text.starts_with('0'))
    };
    (is_count(min) && (max.is_empty() || is_count(max))).then(|| &text[..end + 2])
}

/// Each method rewrites one element; none if Go does not understand it.
struct Rewriter<'p> {
    rest: &'p str,
    text: String,
    names: Vec<Option<String>>,
    /// Flags to be written before the next item: in `a(?i)*`, Go repeats the `a`.
    flags: String,
    /// Whether `(?U)` applies, which is written as `?` at each repetition.
    is_ungreedy: bool,
    /// The same, of the enclosing groups.
    outer: Vec<bool>,
    ranges: usize,
    length: usize,
    /// Where the pattern has its last `:]`.
    last_class: usize,
}

/// What a class has between its brackets.
#[derive(PartialEq, Eq)]
enum Member {
    Character,
    Class,
}

impl Rewriter<'_> {
    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn literal(&mut self, c: char) {
        if is_meta_character(c) {
            self.text.push('\\');
        }
        self.text.push(c);
    }

    fn repeat(&mut self, written: &str) {
        self.rest = &self.rest[written.len()..];
        // `?` behind another repetition would be read as a part of it.
        self.text += if written == "?" { "{0,1}" } else { written };
        if self.take("?") != self.is_ungreedy {
            self.text.push('?');
        }
    }

    fn item(&mut self) -> Option<()> {
        if self.take("(?") {
            return self.flags_or_group();
        }
        if self.take(r"\Q") {
            self.literal_text();
            return Some(());
        }
        self.write_flags();
        if let Some(look) = [r"\A", r"\z"].into_iter().find(|look| self.take(look)) {
            self.text += look;
        } else if let Some(look) = [r"\b", r"\B"].into_iter().find(|look| self.take(look)) {
            // Of ASCII words.
            let _ = write!(self.text, "(?-u:{look})");
        } else if self.rest.starts_with('\\') {
            self.escape()?;
        } else if self.take("[") {
            self.parse_brackets()?;
        } else if self.take("(") {
            self.names.push(None);
            self.open("(");
        } else if self.take(")") {
            self.is_ungreedy = self.outer.pop()?;
            self.text.push(')');
        } else {
            match self.next()? {
                c @ ('|' | '^' | '$' | '.') => self.text.push(c),
                c => self.literal(c),
            }
        }
        Some(())
    }

    /// Rewrites `\Q…\E`, of which the `\Q` is taken. The end of the pattern also ends it.
    fn literal_text(&mut self) {
        let (text, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
        if !text.is_empty() {
            self.write_flags();
        }
        text.chars().for_each(|c| self.literal(c));
        self.rest = rest;
    }

    fn write_flags(&mut self) {
        self.text += &self.flags;
        self.flags.clear();
    }

    fn open(&mut self, bracket: &str) {
        self.write_flags();
        self.text += bracket;
        self.outer.push(self.is_ungreedy);
    }

    /// Rewrites `(?P<name>`, `(?<name>`, `(?flags)` or `(?flags:`, of which the `(?` is taken.
    fn flags_or_group(&mut self) -> Option<()> {
        if self.take("P<") || self.take("<") {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let (name, rest) = self.rest.split_once('>')?;
            self.rest = rest;
            self.names.push(Some(name.to_owned()));
            self.open("(");
            return (!name.is_empty() && name.chars().all(word)).then_some(());
        }
        let mut flags = String::new();
        let mut is_ungreedy = self.is_ungreedy;
        let (mut minus, mut is_complete) = ("", true);
        loop {
            let c = self.next()?;
            match c {
                'i' | 'm' | 's' => {
                    let _ = write!(flags, "(?{minus}{c})");
                }
                'U' => is_ungreedy = minus.is_empty(),
                '-' if minus.is_empty() => minus = "-",
                ':' | ')' if is_complete => {
                    if c == ':' {
                        self.open("(?:");
                    }
                    self.flags += &flags;
                    self.is_ungreedy = is_ungreedy;
                    return Some(());
                }
                _ => return None,
            }
            is_complete = c != '-';
        }
    }

    /// Rewrites a class in brackets, of which the `[` is taken.
    fn parse_brackets(&mut self) -> Option<()> {
        self.text.push('[');
        if self.take("^") {
            self.text.push('^');
        }
        let mut is_first = true;
        while is_first || !self.take("]") {
            is_first = false;
            if self.member()? == Member::Class {
                continue;
            }
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.take("-");
                self.text.push('-');
                self.ranges += RANGES_OF_A_RANGE;
                if self.escape_or_character()? == Member::Class {
                    return None;
                }
            }
        }
        self.text.push(']');
        Some(())
    }

    /// Rewrites a member of a class. `[:` without a closing `:]` are ordinary characters.
    fn member(&mut self) -> Option<Member> {
        let has_end = self.length - self.rest.len() < self.last_class;
        let inside = self.rest.strip_prefix("[:").filter(|_| has_end);
        let Some((name, rest)) = inside.and_then(|inside| inside.split_once(":]")) else {
            return self.escape_or_character();
        };
        ClassAsciiKind::from_name(name.strip_prefix('^').unwrap_or(name))?;
        let _ = write!(self.text, "[:{name}:]");
        self.rest = rest;
        Some(Member::Class)
    }

    fn escape_or_character(&mut self) -> Option<Member> {
        self.ranges += 1;
        if self.rest.starts_with('\\') {
            return self.escape();
        }
        let c = self.next()?;
        self.literal(c);
        Some(Member::Character)
    }

    /// Rewrites a backslash and what belongs to it, within a class or outside.
    fn escape(&mut self) -> Option<Member> {
        self.take("\\");
        let letter = self.next()?;
        let class = match letter.to_ascii_lowercase() {
            'd' => "0-9",
            's' => r"\t\n\f\r ",
            'w' => "0-9A-Za-z_",
            'p' => return self.property(letter == 'P'),
            _ => return self.character(letter),
        };
        let not = if letter.is_ascii_uppercase() { "^" } else { "" };
        let _ = write!(self.text, "[{not}{class}]");
        Some(Member::Class)
    }

    /// Rewrites the escape of one character, of which the backslash and this letter are taken.
    fn character(&mut self, letter: char) -> Option<Member> {
        let octal = self.rest.bytes().take(2);
        let octal = octal.take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let length = match letter {
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => 0,
            'x' if self.rest.starts_with('{') => self.rest.find('}')? + 1,
            'x' => 2,
            '0' => octal,
            // A single digit would refer to a group.
            '1'..='7' if octal > 0 => octal,
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => {
                self.literal(letter);
                return Some(Member::Character);
            }
            _ => return None,
        };
        let mut code = self.rest.get(..length)?;
        self.rest = &self.rest[length..];
        if is_surrogate(code) {
            // Go allows surrogates, which are in no text; nor is this character, which is not assigned.
            code = "{d7ff}";
        }
        let _ = write!(self.text, "\\{letter}{code}");
        Some(Member::Character)
    }

    /// Rewrites a class such as `\pN` or `\P{Greek}`, of which the `\p` is taken.
    fn property(&mut self, is_negated: bool) -> Option<Member> {
        let start = self.rest;
        let mut name = &start[..self.next()?.len_utf8()];
        if name == "{" {
            (name, self.rest) = self.rest.split_once('}')?;
        }
        self.text += &unicode::property(name, is_negated)?;
        self.ranges += RANGES_OF_A_CLASS;
        Some(Member::Class)
    }
}

/// Whether this is the code of a surrogate in braces.
fn is_surrogate(code: &str) -> bool {
    let digits = code.trim_matches(['{', '}']).trim_start_matches('0');
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16);
    is_hexadecimal && code.is_ok_and(|code| (0xd800..0xe000).contains(&code))
}
