//! Parses a template into instructions: actions, control structures and definitions.
//!
//! Refuses everything that Go refuses when it parses, including in branches that never run. The parser does not recurse: open
//! blocks and parentheses are kept in lists.

mod build;
mod command;
mod control;
mod operand;
mod outline;
mod pipeline;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::code::{Constant, Operation, Template, Text};
use super::function::Function;
use super::lexer::{self, Token, TokenKind};
use super::literal;
use super::{Error, ErrorClass};
use build::{Builder, Tables};
pub use outline::{DefinedTemplate, Outline, Role, Written, outline};
use pipeline::Context;

/// Parses a template.
///
/// # Errors
/// Class [`ErrorClass::Parse`], or [`ErrorClass::MissingFunction`] for a function that does not exist.
pub fn parse(name: &str, text: &str) -> Result<Template, Error> {
    parse_without(name, text, &[])
}

/// Parses a template of a program that lacks some of the functions.
///
/// # Errors
/// As [`parse`].
pub fn parse_without(
    name: &str,
    text: &str,
    missing: &'static [&'static str],
) -> Result<Template, Error> {
    parse_with(name, text, missing, &[])
}

/// Parses a template of a program that lacks some of the functions, and has some of its own.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    name: &str,
    text: &str,
    missing: &'static [&'static str],
    own: &'static [Function],
) -> Result<Template, Error> {
    parse_as(name, text, missing, own, Sealed::default())
}

/// What of a template's text is secret, and the label that is in its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sealed<'s> {
    /// In order and apart from each other.
    pub ranges: &'s [Range<u32>],
    /// A label of [`yaml_tree::opaque`].
    pub label: &'s str,
}

/// Parses a template of which some text is secret: it prints and passes along a label instead.
///
/// # Errors
/// As [`parse`].
pub fn parse_sealed(name: &str, text: &str, sealed: Sealed<'_>) -> Result<Template, Error> {
    parse_as(name, text, &[], &[], sealed)
}

fn parse_as(
    name: &str,
    text: &str,
    missing: &'static [&'static str],
    own: &'static [Function],
    sealed: Sealed<'_>,
) -> Result<Template, Error> {
    if u32::try_from(text.len()).is_err() {
        let message = "a template must be shorter than 4 GiB";
        return Err(Error::new(ErrorClass::Limit, message));
    }
    let mut parser = Parser::new(name, text);
    (parser.missing, parser.own, parser.sealed) = (missing, own, sealed);
    parser.statements()?;
    parser.finish()
}

impl Sealed<'_> {
    /// What is secret of a token.
    fn parts(self, token: Token) -> impl Iterator<Item = Range<u32>> {
        let first = self
            .ranges
            .partition_point(|range| range.end <= token.start);
        let inside = self.ranges[first..].iter();
        let inside = inside.take_while(move |range| range.start < token.end);
        let part = move |range: &Range<u32>| range.start.max(token.start)..range.end.min(token.end);
        inside.map(part).collect::<Vec<_>>().into_iter()
    }
}

/// The state of a parse.
struct Parser<'t> {
    text: &'t str,
    /// The functions that do not exist.
    missing: &'static [&'static str],
    /// The functions that exist beside all others.
    own: &'static [Function],
    sealed: Sealed<'t>,
    tokens: Vec<Token>,
    fault: String,
    position: usize,
    tables: Tables,
    /// The templates without their `end` yet, innermost last: the text itself, a `define`, and `block`s.
    builders: Vec<Builder>,
    finished: Vec<Builder>,
    defined: HashMap<Arc<str>, usize>,
    outline: Outline,
}

impl<'t> Parser<'t> {
    fn new(name: &str, text: &'t str) -> Self {
        let tokens = lexer::tokens(text);
        Self {
            text,
            missing: &[],
            own: &[],
            sealed: Sealed::default(),
            tokens: tokens.list,
            fault: tokens.fault,
            position: 0,
            tables: Tables::default(),
            builders: vec![Builder::new(name.into())],
            finished: Vec::new(),
            defined: HashMap::new(),
            outline: Outline::default(),
        }
    }
}

impl Parser<'_> {
    fn statements(&mut self) -> Result<(), Error> {
        loop {
            let token = self.next_word();
            match token.kind {
                TokenKind::Text => self.plain_text(token),
                TokenKind::LeftDelimiter => self.action()?,
                TokenKind::Eof
                    if self.builders.len() == 1 && self.builder().controls.is_empty() =>
                {
                    return Ok(());
                }
                TokenKind::Eof => return Err(self.error(token, "an `{{ end }}` is missing")),
                _ => return Err(self.syntax_error(token, "text")),
            }
        }
    }

    fn plain_text(&mut self, token: Token) {
        let is_blank = self.source(token).trim().is_empty();
        let mut kept = token.start;
        for range in self.sealed.parts(token) {
            self.emit(Operation::Text(kept, range.start), token);
            let label = self
                .tables
                .constant(Constant::String(self.sealed.label.into()));
            let span = Token {
                start: range.start,
                end: range.end,
                ..token
            };
            self.emit(Operation::Constant(label), span);
            self.emit(Operation::Print, span);
            kept = range.end;
        }
        self.emit(Operation::Text(kept, token.end), token);
        self.builder().is_empty &= is_blank;
    }

    fn action(&mut self) -> Result<(), Error> {
        let at_top = self.builders.len() == 1 && self.builder().controls.is_empty();
        let token = self.next_word();
        match token.kind {
            TokenKind::Define if at_top => return self.define(),
            TokenKind::End => return self.end(token),
            TokenKind::Else => return self.otherwise(token),
            _ => self.builder().is_empty = false,
        }
        match token.kind {
            TokenKind::Block => self.block(),
            TokenKind::Break | TokenKind::Continue => self.leave_loop(token),
            TokenKind::If | TokenKind::With => self.begin_branches(token),
            TokenKind::Range => self.begin_range(token),
            TokenKind::Template => self.template(token),
            _ => {
                self.position -= 1;
                let declarations = self.pipeline(Context::Command)?;
                let is_printed = declarations.variables.is_empty();
                let operation = if is_printed {
                    Operation::Print
                } else {
                    Operation::Drop
                };
                self.emit(operation, declarations.span(token));
                Ok(())
            }
        }
    }

    fn define(&mut self) -> Result<(), Error> {
        let name = self.template_name("`define`")?;
        self.expect_close("`define`")?;
        self.begin_definition(name.into());
        Ok(())
    }

    fn block(&mut self) -> Result<(), Error> {
        let token = self.peek_word();
        let name: Arc<str> = self.template_name("`block`")?.into();
        let index = self.tables.name(&name);
        self.emit(Operation::Defined(index), token);
        self.pipeline(Context::Block)?;
        self.emit(Operation::Template(index), token);
        self.begin_definition(name);
        Ok(())
    }

    fn begin_definition(&mut self, name: Arc<str>) {
        let mut builder = Builder::new(name);
        builder.start = self.last_token().end;
        self.builders.push(builder);
    }

    fn template(&mut self, token: Token) -> Result<(), Error> {
        let name = self.template_name("`template`")?;
        self.outline.note(self.last_token(), Role::Included);
        let index = self.tables.name(&name);
        self.emit(Operation::Defined(index), join(token, self.last_token()));
        if self.peek_word().kind == TokenKind::RightDelimiter {
            self.next_word();
            let nil = self.tables.nil();
            self.emit(Operation::Constant(nil), token);
        } else {
            self.pipeline(Context::Template)?;
        }
        let end = self.last_operand();
        self.emit(Operation::Template(index), join(token, end));
        Ok(())
    }

    fn template_name(&mut self, context: &str) -> Result<String, Error> {
        let token = self.next_word();
        if !matches!(token.kind, TokenKind::String | TokenKind::RawString) {
            return Err(self.syntax_error(token, context));
        }
        literal::string(self.source(token)).map_err(|message| self.error(token, message))
    }

    /// Ends a `define` or `block`.
    fn end_definition(&mut self, token: Token) -> Result<(), Error> {
        if self.builders.len() == 1 {
            return Err(self.error(token, "unexpected `{{ end }}`"));
        }
        if let Some(builder) = self.builders.pop() {
            self.outline.definitions.push(DefinedTemplate {
                name: Arc::clone(&builder.name),
                range: builder.start..token.start,
            });
            self.add(builder, token)?;
        }
        Ok(())
    }

    /// Adds a definition. As in Go, a name may be defined again only if one of the two definitions is empty.
    fn add(&mut self, builder: Builder, token: Token) -> Result<(), Error> {
        let earlier = self.defined.get(&builder.name).copied();
        let is_earlier_empty = earlier.is_none_or(|index| self.finished[index].is_empty);
        if !is_earlier_empty && !builder.is_empty {
            let message = format!("`{}` is defined more than once", builder.name);
            return Err(self.error(token, message));
        }
        if is_earlier_empty {
            let name = Arc::clone(&builder.name);
            self.defined.insert(name, self.finished.len());
        }
        self.finished.push(builder);
        Ok(())
    }

    fn finish(mut self) -> Result<Template, Error> {
        let token = self.last_token();
        let Some(main) = self.builders.pop() else {
            return Err(self.error(token, "unexpected `{{ end }}`"));
        };
        let clashes = self.defined.get(&main.name).copied();
        if clashes.is_some_and(|index| !self.finished[index].is_empty) && !main.is_empty {
            let message = format!("`{}` is defined more than once", main.name);
            return Err(self.error(token, message));
        }
        let mut codes = vec![main.finish()];
        codes.extend(self.finished.into_iter().map(Builder::finish));
        for index in self.defined.values_mut() {
            *index += 1;
        }
        let text = Arc::new(Text {
            text: self.text.into(),
            codes,
            defined: self.defined,
            has_labels: !self.sealed.ranges.is_empty(),
            constants: self.tables.constants,
            names: self.tables.names,
            faults: self.tables.faults,
        });
        Ok(Template { text, index: 0 })
    }

    fn expect_close(&mut self, context: &str) -> Result<(), Error> {
        let token = self.next_word();
        if token.kind == TokenKind::RightDelimiter {
            return Ok(());
        }
        Err(self.syntax_error(token, context))
    }

    fn builder(&mut self) -> &mut Builder {
        let last = self.builders.len() - 1;
        &mut self.builders[last]
    }

    fn emit(&mut self, operation: Operation, token: Token) -> usize {
        self.builder().emit(operation, (token.start, token.end))
    }

    fn source(&self, token: Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The next token, including blanks. The last token of the text is repeated forever.
    fn next_token(&mut self) -> Token {
        let token = self.peek_token();
        self.position += 1;
        token
    }

    fn peek_token(&self) -> Token {
        self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    fn last_token(&self) -> Token {
        self.tokens[self.position.saturating_sub(1).min(self.tokens.len() - 1)]
    }

    fn next_word(&mut self) -> Token {
        self.skip_blanks();
        self.next_token()
    }

    fn peek_word(&mut self) -> Token {
        self.skip_blanks();
        self.peek_token()
    }

    fn skip_blanks(&mut self) {
        while self.peek_token().kind == TokenKind::Space {
            self.position += 1;
        }
    }

    fn syntax_error(&self, token: Token, context: &str) -> Error {
        match token.kind {
            TokenKind::Fault => self.error(token, self.fault.clone()),
            TokenKind::Eof => self.error(token, format!("the text ends in {context}")),
            _ => {
                let word = self.source(token);
                self.error(token, format!("unexpected `{word}` in {context}"))
            }
        }
    }

    fn error(&self, token: Token, message: impl Into<String>) -> Error {
        Error::new(ErrorClass::Parse, message).with_span(token.start as usize..token.end as usize)
    }
}

/// A token that spans both tokens.
fn join(first: Token, last: Token) -> Token {
    Token {
        end: last.end.max(first.end),
        ..first
    }
}
