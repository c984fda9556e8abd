//! Sprig's `snakecase`, `kebabcase` and `camelcase`: splits a text into words and joins them, with the quirks of Sprig's library.

use super::convert::{lower, upper};
use crate::regexp::CharClass;

/// Lowercase words joined by a connector: `snakecase` and `kebabcase`.
pub(super) fn join_words(text: &str, connector: char) -> String {
    let mut out = Output {
        text: String::with_capacity(text.len() + 8),
        connector,
    };
    let mut next = Word::first(text);
    while !next.rest.is_empty() {
        let word = next;
        if word.kind != CharacterKind::Connector {
            out.word(word);
        }
        next = Word::first(word.rest);
        match word.kind {
            CharacterKind::Number => {
                next = out.run(next);
                out.connect(next.kind);
            }
            CharacterKind::Connector => out.word(word),
            CharacterKind::Punctuation => {}
            _ if next.kind != CharacterKind::Number => out.connect(next.kind),
            _ if next.rest.is_empty() => {}
            _ => next = out.number_after_word(next),
        }
    }
    out.word(next);
    out.text
}

struct Output {
    text: String,
    connector: char,
}

impl Output {
    fn word(&mut self, word: Word<'_>) {
        if !matches!(word.kind, CharacterKind::Upper | CharacterKind::Connector) {
            self.text.push_str(word.text);
            return;
        }
        let connector = self.connector;
        let mapped = word.text.chars();
        self.text
            .extend(mapped.map(|c| if is_connector(c) { connector } else { lower(c) }));
    }

    /// Writes a connector, unless the next word is a connector, punctuation, or missing.
    fn connect(&mut self, next: CharacterKind) {
        if !matches!(
            next,
            CharacterKind::None | CharacterKind::Connector | CharacterKind::Punctuation
        ) {
            self.text.push(self.connector);
        }
    }

    /// Writes a run of lowercase words and numbers, which count as one word.
    fn run<'t>(&mut self, mut next: Word<'t>) -> Word<'t> {
        while matches!(next.kind, CharacterKind::Lower | CharacterKind::Number) {
            self.word(next);
            next = Word::first(next.rest);
        }
        next
    }

    /// Writes a number after a word. It belongs to the letters after it if they are lowercase, else to the word before it:
    /// `HTTP2xx` becomes `http_2xx`, and `Bld4Floor` becomes `bld4_floor`.
    fn number_after_word<'t>(&mut self, number: Word<'t>) -> Word<'t> {
        let mut next = Word::first(number.rest);
        if next.kind == CharacterKind::Lower {
            self.text.push(self.connector);
            self.word(number);
            next = self.run(next);
        } else {
            self.word(number);
        }
        self.connect(next.kind);
        next
    }
}

/// Capitalized words without connectors: `camelcase`.
pub(super) fn pascal(text: &str) -> String {
    let start = text.find(|c| !is_connector(c)).unwrap_or(text.len());
    let (leading, rest) = text.split_at(start);
    let mut out = leading.to_owned();
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        // The library writes the last connector twice.
        out.extend(leading.chars().next_back());
        return out;
    };
    let mut after_capital = first.is_uppercase();
    let mut pending = upper(first);
    for c in chars {
        let mut next = c;
        if is_connector(pending) {
            if is_connector(c) {
                out.push(pending);
                pending = c;
                continue;
            }
            after_capital = c.is_uppercase();
            next = upper(c);
        } else {
            if after_capital && !is_connector(c) && c.is_uppercase() {
                next = lower(c);
            } else {
                after_capital = false;
            }
            out.push(pending);
        }
        pending = next;
    }
    out.push(pending);
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterKind {
    None,
    Number,
    /// Uppercase letters, or one uppercase letter with the lowercase letters after it.
    Upper,
    Lower,
    Connector,
    Punctuation,
    Other,
}

#[derive(Clone, Copy)]
struct Word<'t> {
    kind: CharacterKind,
    text: &'t str,
    rest: &'t str,
}

impl<'t> Word<'t> {
    fn first(text: &'t str) -> Self {
        let Some(first) = text.chars().next() else {
            return Self {
                kind: CharacterKind::None,
                text,
                rest: text,
            };
        };
        let kind = kind(first);
        let start = first.len_utf8();
        let length = match kind {
            CharacterKind::Upper => capital_word_end(text, start),
            CharacterKind::Lower => run_end(text, start, is_lower),
            CharacterKind::Other => run_end(text, start, |c| self::kind(c) == CharacterKind::Other),
            _ => run_end(text, start, |c| self::kind(c) == kind),
        };
        let (word, rest) = text.split_at(length);
        Self {
            kind,
            text: word,
            rest,
        }
    }
}

/// The length of the first word of a text that starts with an uppercase letter: `HTTP` in `HTTPStatus`, all of `Status`.
fn capital_word_end(text: &str, first: usize) -> usize {
    let end = run_end(text, first, char::is_uppercase);
    if end == first {
        return run_end(text, first, is_lower);
    }
    if text[end..].starts_with(is_letter) {
        let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
        return end - last;
    }
    end
}

/// The end of the run of matching characters that starts at a position.
fn run_end(text: &str, from: usize, matches: impl Fn(char) -> bool) -> usize {
    text[from..]
        .find(|c| !matches(c))
        .map_or(text.len(), |index| from + index)
}

fn kind(c: char) -> CharacterKind {
    if is_connector(c) {
        CharacterKind::Connector
    } else if is_punctuation(c) {
        CharacterKind::Punctuation
    } else if c.is_uppercase() {
        CharacterKind::Upper
    } else if is_letter(c) {
        CharacterKind::Lower
    } else if c.is_numeric() {
        CharacterKind::Number
    } else {
        CharacterKind::Other
    }
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

fn is_lower(c: char) -> bool {
    is_letter(c) && !c.is_uppercase()
}

/// Whether the library counts the character as a letter: alphabetic, but not a CJK ideograph.
fn is_letter(c: char) -> bool {
    c.is_alphabetic()
        && !c.is_numeric()
        && !matches!(c, '\u{3400}'..='\u{4d85}' | '\u{4e00}'..='\u{9fcc}' | '\u{20000}'..='\u{2b81d}')
}

fn is_punctuation(c: char) -> bool {
    static PUNCTUATION: CharClass = CharClass::new(r"\pP");
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c);
    }
    PUNCTUATION.contains(c)
}
