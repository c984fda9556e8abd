//! The subset of the engine's language that output templates may use, so that no template needs more memory than
//! docs/limits.md states.
//!
//! Templates place values and do not compute them. Refused are operators that make a text longer, tags that capture output, and
//! lists and maps of variables: sharing in these makes a small value large when it is printed. They are refused before the
//! template is compiled, because the compiler evaluates constants. The available filters return nothing larger than their
//! argument, except `join` and `replace`, which are charged before they build their result.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters, functions, tests};

/// The most bytes that the filters of one rendering may read and return.
const FILTERED_LIMIT: u64 = 16 << 20;
/// The most bytes that one rendering may write.
const WRITTEN_LIMIT: usize = 16 << 20;
/// The bytes that an item of a list counts as.
const ITEM: u64 = 24;

const TAGS: &[&str] = &[
    "if", "elif", "else", "endif", "for", "endfor", "set", "with", "endwith", "include",
];

const CONSTANTS: &[&str] = &["true", "True", "false", "False", "none", "None"];
/// Keywords that are followed by a value.
const KEYWORDS: &[&str] = &[
    "and", "elif", "else", "if", "in", "include", "is", "not", "or", "with",
];

/// An engine with only the filters, tests and functions of the language.
pub(super) fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    for (name, filter) in [
        ("abs", Value::from_function(filters::abs)),
        ("attr", Value::from_function(filters::attr)),
        ("bool", Value::from_function(filters::bool)),
        ("capitalize", Value::from_function(filters::capitalize)),
        ("count", Value::from_function(filters::length)),
        ("d", Value::from_function(filters::default)),
        ("default", Value::from_function(filters::default)),
        ("dictsort", Value::from_function(filters::dictsort)),
        ("first", Value::from_function(filters::first)),
        ("float", Value::from_function(filters::float)),
        ("int", Value::from_function(filters::int)),
        ("items", Value::from_function(filters::items)),
        ("last", Value::from_function(filters::last)),
        ("length", Value::from_function(filters::length)),
        ("lines", Value::from_function(filters::lines)),
        ("list", Value::from_function(filters::list)),
        ("lower", Value::from_function(filters::lower)),
        ("max", Value::from_function(filters::max)),
        ("min", Value::from_function(filters::min)),
        ("reject", Value::from_function(filters::reject)),
        ("rejectattr", Value::from_function(filters::rejectattr)),
        ("reverse", Value::from_function(filters::reverse)),
        ("round", Value::from_function(filters::round)),
        ("safe", Value::from_function(filters::safe)),
        ("select", Value::from_function(filters::select)),
        ("selectattr", Value::from_function(filters::selectattr)),
        ("sort", Value::from_function(filters::sort)),
        ("split", Value::from_function(filters::split)),
        ("title", Value::from_function(filters::title)),
        ("trim", Value::from_function(filters::trim)),
        ("unique", Value::from_function(filters::unique)),
        ("upper", Value::from_function(filters::upper)),
    ] {
        environment.add_filter(
            name,
            move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
                let arguments = arguments.into_values();
                charge(state, arguments.iter().map(size).sum())?;
                let made = filter.call(state, &arguments)?;
                charge(state, size(&made))?;
                Ok::<Value, Error>(made)
            },
        );
    }
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("number", tests::is_number);
    environment.add_test("integer", tests::is_integer);
    environment.add_test("float", tests::is_float);
    environment.add_test("string", tests::is_string);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("in", tests::is_in);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("endingwith", tests::is_endingwith);
    environment.add_function("range", functions::range);
    environment
}

/// The first token of a template that is not allowed, with its bytes and a message. Invalid syntax is left to the compiler.
pub(super) fn first_refusal(text: &str, syntax: SyntaxConfig) -> Option<(Range<u32>, String)> {
    let mut reader = TemplateReader::default();
    tokenize(text, false, syntax)
        .map_while(Result::ok)
        .find_map(|(token, span)| {
            let words = reader.refusal(&token)?;
            Some((span.start_offset..span.end_offset, words))
        })
}

/// The kind of an open bracket.
#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Call,
    Group,
    Index,
    List,
    Map,
}

/// The syntactic context of the next token.
#[derive(Default)]
struct TemplateReader<'t> {
    /// The open tag, once its name was read.
    tag: Option<&'t str>,
    starts_tag: bool,
    is_assigned: bool,
    /// Whether a bracket would be an index or a call.
    follows_value: bool,
    open: Vec<Bracket>,
}

impl<'t> TemplateReader<'t> {
    /// The message for a token that is not allowed; otherwise the token is read.
    fn refusal(&mut self, token: &Token<'t>) -> Option<String> {
        let words = match token {
            Token::Ident(tag) if self.starts_tag && !TAGS.contains(tag) => {
                format!("the tag `{tag}` is not available")
            }
            Token::Ident("recursive") if self.tag == Some("for") => {
                "`recursive` is not available".to_owned()
            }
            Token::Ident(name) if self.is_in_literal() && !CONSTANTS.contains(name) => {
                "a literal list or map may contain constants only".to_owned()
            }
            Token::Tilde | Token::Plus | Token::Mul | Token::Pow | Token::Mod => {
                format!("{token} is not available")
            }
            Token::Colon if self.open.last() == Some(&Bracket::Index) => {
                "slices are not available".to_owned()
            }
            Token::Comma if self.is_tuple() => "tuples are not available".to_owned(),
            _ => {
                self.read(token);
                return None;
            }
        };
        Some(words)
    }

    fn is_in_literal(&self) -> bool {
        let literals = [Bracket::List, Bracket::Map];
        self.open.iter().any(|bracket| literals.contains(bracket))
    }

    fn is_tuple(&self) -> bool {
        match self.open.last() {
            None => self.tag == Some("set") && self.is_assigned,
            Some(innermost) => *innermost == Bracket::Group,
        }
    }

    fn read(&mut self, token: &Token<'t>) {
        match token {
            Token::BracketOpen if self.follows_value => self.open.push(Bracket::Index),
            Token::BracketOpen => self.open.push(Bracket::List),
            Token::ParenOpen if self.follows_value => self.open.push(Bracket::Call),
            Token::ParenOpen => self.open.push(Bracket::Group),
            Token::BraceOpen => self.open.push(Bracket::Map),
            Token::BracketClose | Token::ParenClose | Token::BraceClose => {
                self.open.pop();
            }
            Token::Ident(tag) if self.starts_tag => self.tag = Some(*tag),
            Token::Assign => self.is_assigned = true,
            Token::BlockStart | Token::VariableStart => *self = Self::default(),
            _ => {}
        }
        self.follows_value = match token {
            Token::Ident(word) => !self.starts_tag && !KEYWORDS.contains(word),
            Token::Str(_) | Token::String(_) => true,
            Token::BracketClose | Token::ParenClose | Token::BraceClose => true,
            _ => false,
        };
        self.starts_tag = matches!(token, Token::BlockStart);
    }
}

/// The bytes that a value counts as: those of a text, or those of a list's or map's items.
fn size(value: &Value) -> u64 {
    value.as_str().map_or_else(
        || ITEM * value.len().unwrap_or(1) as u64,
        |text| text.len() as u64,
    )
}

/// The bytes that the filters of a rendering have read and returned.
struct Filtered(u64);

fn charge(state: &mut State<'_, '_>, bytes: u64) -> Result<(), Error> {
    let filtered = state.get_or_insert_extension(Filtered(0));
    filtered.0 = filtered.0.saturating_add(bytes);
    if filtered.0 > FILTERED_LIMIT {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            format!(
                "its filters read and make more than {} MiB",
                FILTERED_LIMIT >> 20
            ),
        ));
    }
    Ok(())
}

/// The filter `join`: concatenates texts, numbers and booleans.
fn join(state: &mut State<'_, '_>, list: &Value, between: Option<&str>) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    let mut joined = String::new();
    for (index, item) in list.try_iter()?.enumerate() {
        let text = match item.as_str() {
            Some(text) => Cow::Borrowed(text),
            None if matches!(item.kind(), ValueKind::Number | ValueKind::Bool) => {
                Cow::Owned(item.to_string())
            }
            None => {
                return Err(Error::new(
                    ErrorKind::InvalidOperation,
                    format!("a {} cannot be joined", item.kind()),
                ));
            }
        };
        charge(state, ITEM + (between.len() + text.len()) as u64)?;
        if index > 0 {
            joined.push_str(between);
        }
        joined.push_str(&text);
    }
    Ok(joined)
}

/// The filter `replace`: replaces each occurrence of a text.
fn replace(state: &mut State<'_, '_>, text: &str, from: &str, to: &str) -> Result<String, Error> {
    charge(state, text.len() as u64)?;
    let found = text.matches(from).count();
    charge(state, (text.len() + found.saturating_mul(to.len())) as u64)?;
    Ok(text.replace(from, to))
}

pub(super) fn too_long() -> String {
    format!("it writes more than {} MiB", WRITTEN_LIMIT >> 20)
}

/// The output of one rendering, up to the limit.
pub(super) struct Written(Vec<u8>);

impl Default for Written {
    /// Nothing yet, with room for most files: a text that grows piece by piece is moved often.
    fn default() -> Self {
        Self(Vec::with_capacity(4096))
    }
}

impl Written {
    pub(super) fn into_text(self) -> String {
        String::from_utf8(self.0).unwrap_or_default()
    }
}

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > WRITTEN_LIMIT {
            return Err(io::Error::other(too_long()));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
