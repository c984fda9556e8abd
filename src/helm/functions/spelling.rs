//! `camelCase` taken apart into `words_with_connectors`, and put together again, word for word as Sprig's library does it.

use std::sync::LazyLock;

use super::convert::{lower, upper};
use crate::regexp::Regexp;

/// Small letters with a connector between words: `snakecase` and `kebabcase`.
pub(super) fn separated(text: &str, connector: char) -> String {
    let mut out = Output {
        text: String::with_capacity(text.len() + 8),
        connector,
    };
    let mut next = Word::first_of(text);
    while !next.rest.is_empty() {
        let word = next;
        if word.kind != Kind::Connector {
            out.word(word);
        }
        next = Word::first_of(word.rest);
        match word.kind {
            Kind::Number => {
                next = out.run(next);
                out.between(next.kind);
            }
            Kind::Connector => out.word(word),
            Kind::Punctuation => {}
            _ if next.kind != Kind::Number => out.between(next.kind),
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
        if !matches!(word.kind, Kind::Upper | Kind::Connector) {
            self.text.push_str(word.text);
            return;
        }
        let connector = self.connector;
        let mapped = word.text.chars();
        self.text
            .extend(mapped.map(|c| if is_connector(c) { connector } else { lower(c) }));
    }

    /// A connector, unless what follows connects or ends by itself.
    fn between(&mut self, next: Kind) {
        if !matches!(next, Kind::None | Kind::Connector | Kind::Punctuation) {
            self.text.push(self.connector);
        }
    }

    /// Small letters and numbers that follow each other are one word.
    fn run<'t>(&mut self, mut next: Word<'t>) -> Word<'t> {
        while matches!(next.kind, Kind::Lower | Kind::Number) {
            self.word(next);
            next = Word::first_of(next.rest);
        }
        next
    }

    /// `Bld4Floor` is `bld4_floor`, but `HTTP2xx` is `http_2xx`: a number goes with the small letters behind it.
    fn number_after_word<'t>(&mut self, number: Word<'t>) -> Word<'t> {
        let mut next = Word::first_of(number.rest);
        if next.kind == Kind::Lower {
            self.text.push(self.connector);
            self.word(number);
            next = self.run(next);
        } else {
            self.word(number);
        }
        self.between(next.kind);
        next
    }
}

/// Capitals at the start of each word, no connectors: `camelcase`.
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
    let mut held = upper(first);
    for c in chars {
        let mut next = c;
        if is_connector(held) {
            if is_connector(c) {
                out.push(held);
                held = c;
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
            out.push(held);
        }
        held = next;
    }
    out.push(held);
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    Number,
    /// Capitals, or one capital with the small letters behind it.
    Upper,
    Lower,
    Connector,
    Punctuation,
    Other,
}

#[derive(Clone, Copy)]
struct Word<'t> {
    kind: Kind,
    text: &'t str,
    rest: &'t str,
}

impl<'t> Word<'t> {
    fn first_of(text: &'t str) -> Self {
        let Some(first) = text.chars().next() else {
            return Self {
                kind: Kind::None,
                text,
                rest: text,
            };
        };
        let kind = kind(first);
        let behind = first.len_utf8();
        let length = match kind {
            Kind::Upper => capitals(text, behind),
            Kind::Lower => span(text, behind, is_small),
            Kind::Other => span(text, behind, |c| self::kind(c) == Kind::Other),
            _ => span(text, behind, |c| self::kind(c) == kind),
        };
        let (word, rest) = text.split_at(length);
        Self {
            kind,
            text: word,
            rest,
        }
    }
}

/// Of `HTTPStatus`, `HTTP`; of `Status`, all.
fn capitals(text: &str, first: usize) -> usize {
    let end = span(text, first, char::is_uppercase);
    if end == first {
        return span(text, first, is_small);
    }
    if text[end..].starts_with(is_letter) {
        let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
        return end - last;
    }
    end
}

/// Where the characters that fit, from a position on, end.
fn span(text: &str, from: usize, fits: impl Fn(char) -> bool) -> usize {
    text[from..]
        .find(|c| !fits(c))
        .map_or(text.len(), |index| from + index)
}

fn kind(c: char) -> Kind {
    if is_connector(c) {
        Kind::Connector
    } else if is_punctuation(c) {
        Kind::Punctuation
    } else if c.is_uppercase() {
        Kind::Upper
    } else if is_letter(c) {
        Kind::Lower
    } else if c.is_numeric() {
        Kind::Number
    } else {
        Kind::Other
    }
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

fn is_small(c: char) -> bool {
    is_letter(c) && !c.is_uppercase()
}

/// A letter of an alphabet; Chinese characters are not.
fn is_letter(c: char) -> bool {
    c.is_alphabetic()
        && !c.is_numeric()
        && !matches!(c, '\u{3400}'..='\u{4d85}' | '\u{4e00}'..='\u{9fcc}' | '\u{20000}'..='\u{2b81d}')
}

fn is_punctuation(c: char) -> bool {
    static PUNCTUATION: LazyLock<Option<Regexp>> = LazyLock::new(|| Regexp::new(r"^\pP$").ok());
    if c.is_ascii() {
        return c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c);
    }
    PUNCTUATION
        .as_ref()
        .is_some_and(|regexp| regexp.is_match(c.encode_utf8(&mut [0; 4])))
}
