//! Parses Go's pattern syntax into the engine's representation. The parser has a stack of its own and does not recurse.

use regex_syntax::hir::{Capture, Class, ClassUnicode, Dot, Hir, Look, Repetition};

use super::Error;
use super::class::{self, Case};
use super::token::{Bounds, Cursor, REPEAT_LIMIT, error, escape, repetition, too_often};

/// A parsed pattern.
pub(super) struct Parsed {
    /// The expression in the engine's representation.
    pub(super) hir: Hir,
    /// The names of the groups. The first one is the whole match, which has no name.
    pub(super) names: Vec<Option<String>>,
}

/// The maximum nesting of expressions, because the engine's compiler recurses. Go's limit is 1000.
const DEPTH_LIMIT: usize = 250;

/// The maximum number of character ranges in all classes of a pattern. One `\pL` has over 600.
const RANGES_LIMIT: usize = 200_000;

/// Parses a pattern.
pub(super) fn pattern(text: &str) -> Result<Parsed, Error> {
    let mut parser = Parser {
        cursor: Cursor { rest: text },
        flags: Flags::default(),
        outer: Vec::new(),
        group: Group::default(),
        names: vec![None],
        ranges: 0,
    };
    let mut repeated = false;
    while let Some(c) = parser.cursor.rest.chars().next() {
        repeated = parser.step(c, repeated)?;
    }
    if !parser.outer.is_empty() {
        return Err(error(format!("missing closing `)` in `{text}`")));
    }
    Ok(Parsed {
        hir: parser.group.close()?.hir,
        names: parser.names,
    })
}

struct Parser<'p> {
    cursor: Cursor<'p>,
    flags: Flags,
    /// The enclosing groups, each with the flags to restore when the inner group ends.
    outer: Vec<(Group, Flags)>,
    group: Group,
    names: Vec<Option<String>>,
    ranges: usize,
}

/// The flags of `(?imsU)`.
#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    multi_line: bool,
    dot_matches_newline: bool,
    ungreedy: bool,
}

/// A group that is being parsed: the alternatives before the last `|`, and the items after it.
#[derive(Default)]
struct Group {
    capture: Option<u32>,
    alternatives: Vec<Item>,
    items: Vec<Item>,
}

struct Item {
    hir: Hir,
    depth: usize,
    /// The product of the nested repetitions inside.
    repeats: u32,
}

impl Group {
    fn end_alternative(&mut self) -> Result<(), Error> {
        let items = std::mem::take(&mut self.items);
        self.alternatives.push(join(items, Hir::concat)?);
        Ok(())
    }

    fn close(mut self) -> Result<Item, Error> {
        self.end_alternative()?;
        let mut item = join(self.alternatives, alternation)?;
        if let Some(index) = self.capture {
            item.hir = Hir::capture(Capture {
                index,
                name: None,
                sub: Box::new(item.hir),
            });
            item.depth = deeper(item.depth)?;
        }
        Ok(item)
    }
}

/// An alternation without the factoring of `Hir::alternation`, which would turn `.*a|.*b` into `.*(?:a|b)`, and thereby prefer
/// the longest `.*` to the first alternative. If the length of an alternative varies, one that never matches prevents the
/// factoring.
fn alternation(mut alternatives: Vec<Hir>) -> Hir {
    let is_fixed = |hir: &Hir| {
        let properties = hir.properties();
        properties.minimum_len().is_some() && properties.minimum_len() == properties.maximum_len()
    };
    if !alternatives.iter().all(is_fixed) {
        alternatives.push(Hir::fail());
    }
    Hir::alternation(alternatives)
}

fn join(mut items: Vec<Item>, with: fn(Vec<Hir>) -> Hir) -> Result<Item, Error> {
    if items.len() == 1
        && let Some(only) = items.pop()
    {
        return Ok(only);
    }
    let depth = items.iter().map(|item| item.depth).max().unwrap_or(0);
    let repeats = items.iter().map(|item| item.repeats).max().unwrap_or(1);
    Ok(Item {
        depth: deeper(depth)?,
        repeats,
        hir: with(items.into_iter().map(|item| item.hir).collect()),
    })
}

fn deeper(depth: usize) -> Result<usize, Error> {
    if depth < DEPTH_LIMIT {
        Ok(depth + 1)
    } else {
        Err(error(format!("pattern nests deeper than {DEPTH_LIMIT}")))
    }
}

impl Parser<'_> {
    /// Parses one element. Returns whether it was a repetition, which must not be followed by another one.
    fn step(&mut self, c: char, repeated: bool) -> Result<bool, Error> {
        match c {
            '*' | '+' | '?' | '{' => {
                if let Some((bounds, rest)) = repetition(self.cursor.rest)? {
                    self.repeat(bounds, rest, repeated)?;
                    return Ok(true);
                }
                self.cursor.skip(1);
                self.literal('{'.into())?;
            }
            '\\' => self.backslash()?,
            '(' if self.cursor.rest.starts_with("(?") => self.flags_or_group()?,
            _ => {
                self.cursor.skip(c.len_utf8());
                self.plain(c)?;
            }
        }
        Ok(false)
    }

    fn plain(&mut self, c: char) -> Result<(), Error> {
        match c {
            '(' => self.open(Some(None)),
            ')' => self.close()?,
            '|' => self.group.end_alternative()?,
            '^' if self.flags.multi_line => self.push(Hir::look(Look::StartLF)),
            '^' => self.push(Hir::look(Look::Start)),
            '$' if self.flags.multi_line => self.push(Hir::look(Look::EndLF)),
            '$' => self.push(Hir::look(Look::End)),
            '.' if self.flags.dot_matches_newline => self.push(Hir::dot(Dot::AnyChar)),
            '.' => self.push(Hir::dot(Dot::AnyCharExceptLF)),
            '[' => {
                let case = self.case();
                let class = class::bracketed(&mut self.cursor, case)?;
                self.class(class)?;
            }
            _ => self.literal(c.into())?,
        }
        Ok(())
    }

    fn case(&self) -> Case {
        if self.flags.fold {
            Case::Folded
        } else {
            Case::Exact
        }
    }

    fn push(&mut self, hir: Hir) {
        self.group.items.push(Item {
            hir,
            depth: 1,
            repeats: 1,
        });
    }

    fn literal(&mut self, code: u32) -> Result<(), Error> {
        let class = class::fold(class::code_points(code, code), self.case());
        self.class(class)
    }

    fn class(&mut self, class: ClassUnicode) -> Result<(), Error> {
        self.ranges += class.ranges().len();
        if self.ranges > RANGES_LIMIT {
            let message = format!("character classes have more than {RANGES_LIMIT} ranges");
            return Err(error(message));
        }
        self.push(Hir::class(Class::Unicode(class)));
        Ok(())
    }

    fn backslash(&mut self) -> Result<(), Error> {
        let look = match self.cursor.rest.as_bytes().get(1) {
            Some(b'A') => Look::Start,
            Some(b'z') => Look::End,
            Some(b'b') => Look::WordAscii,
            Some(b'B') => Look::WordAsciiNegate,
            Some(b'Q') => return self.quoted(),
            _ => {
                let case = self.case();
                if let Some(class) = class::escaped(&mut self.cursor, case)? {
                    return self.class(class);
                }
                let code = escape(&mut self.cursor)?;
                return self.literal(code);
            }
        };
        self.cursor.skip(2);
        self.push(Hir::look(look));
        Ok(())
    }

    /// Parses `\Q…\E`, a literal text. The end of the pattern also ends it.
    fn quoted(&mut self) -> Result<(), Error> {
        let inside = &self.cursor.rest[2..];
        let (text, rest) = inside.split_once(r"\E").unwrap_or((inside, ""));
        self.cursor.rest = rest;
        text.chars().try_for_each(|c| self.literal(c.into()))
    }

    fn repeat(&mut self, bounds: Bounds, rest: &str, repeated: bool) -> Result<(), Error> {
        let Bounds { min, max } = bounds;
        let written = &self.cursor.rest[..self.cursor.rest.len() - rest.len()];
        let counted = written.starts_with('{');
        let lazy = rest.starts_with('?');
        if repeated {
            return Err(error(format!(
                "a repetition cannot be repeated: `{written}`"
            )));
        }
        let Some(item) = self.group.items.pop() else {
            return Err(error(format!("nothing to repeat before `{written}`")));
        };
        let times = max.unwrap_or(min);
        let repeats = match (counted, max) {
            (false, _) => item.repeats,
            (true, Some(0)) => 0,
            (true, _) => item.repeats.saturating_mul(times.max(1)).max(times),
        };
        if counted && times >= 2 && repeats > REPEAT_LIMIT {
            return Err(too_often());
        }
        self.group.items.push(Item {
            hir: Hir::repetition(Repetition {
                min,
                max,
                greedy: lazy == self.flags.ungreedy,
                sub: Box::new(item.hir),
            }),
            depth: deeper(item.depth)?,
            repeats,
        });
        let length = written.len() + usize::from(lazy);
        self.cursor.skip(length);
        Ok(())
    }

    fn open(&mut self, capture: Option<Option<String>>) {
        let index = capture.map(|name| {
            self.names.push(name);
            // A pattern with 2^32 groups exceeds other limits first.
            u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
        });
        let group = Group {
            capture: index,
            ..Group::default()
        };
        let outer = std::mem::replace(&mut self.group, group);
        self.outer.push((outer, self.flags));
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some((outer, flags)) = self.outer.pop() else {
            return Err(error("unexpected `)`"));
        };
        let item = std::mem::replace(&mut self.group, outer).close()?;
        self.group.items.push(item);
        self.flags = flags;
        Ok(())
    }

    /// Parses `(?P<name>`, `(?<name>`, `(?flags)` or `(?flags:`.
    fn flags_or_group(&mut self) -> Result<(), Error> {
        let start = self.cursor.rest;
        self.cursor.skip(2);
        if self.cursor.take("P<") || self.cursor.take("<") {
            return self.named_group(start);
        }
        let mut flags = self.flags;
        let mut on = true;
        let mut seen = true;
        while let Some(c) = self.cursor.next() {
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_matches_newline = on,
                'U' => flags.ungreedy = on,
                '-' if on => (on, seen) = (false, false),
                ':' | ')' if seen => {
                    if c == ':' {
                        self.open(None);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            seen |= c != '-';
        }
        let written = &start[..start.len() - self.cursor.rest.len()];
        Err(error(format!("not a flag or group in Go: `{written}`")))
    }

    fn named_group(&mut self, start: &str) -> Result<(), Error> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.cursor.rest.split_once('>') {
            Some((name, rest)) if !name.is_empty() && name.chars().all(word) => {
                self.cursor.rest = rest;
                self.open(Some(Some(name.to_owned())));
                Ok(())
            }
            _ => {
                let written = start.split_inclusive('>').next().unwrap_or(start);
                Err(error(format!("group has no valid name: `{written}`")))
            }
        }
    }
}
