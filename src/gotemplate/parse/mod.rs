//! From a template's text to its instructions: actions, control structures, definitions.
//!
//! Refuses at once whatever Go refuses when it parses: also in branches that would never run. Nothing here recurses:
//! open blocks and parentheses stand on lists.

mod build;
mod operand;
mod pipeline;

use std::collections::HashMap;
use std::sync::Arc;

use super::code::{Index, Operation, Template, Text, Variables};
use super::lexer::{self, Kind, Token};
use super::literal;
use super::{Error, ErrorClass};
use build::{Builder, Tables};
use pipeline::{Context, Declarations};

/// Parses a template.
///
/// # Errors
/// Class [`ErrorClass::Parse`], or [`ErrorClass::MissingFunction`] for a function that does not exist.
pub fn parse(name: &str, text: &str) -> Result<Template, Error> {
    if u32::try_from(text.len()).is_err() {
        let message = "a template must be shorter than 4 GiB";
        return Err(Error::new(ErrorClass::Limit, message));
    }
    let tokens = lexer::tokens(text);
    let mut parser = Parser {
        text,
        tokens: tokens.list,
        fault: tokens.fault,
        position: 0,
        tables: Tables::default(),
        builders: vec![Builder::new(name.into())],
        finished: Vec::new(),
        defined: HashMap::new(),
    };
    parser.statements()?;
    parser.finish()
}

/// A parse in progress.
struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    fault: String,
    position: usize,
    tables: Tables,
    /// The templates begun and not ended, innermost last: the text itself, a `define`, `block`s.
    builders: Vec<Builder>,
    finished: Vec<Builder>,
    defined: HashMap<Arc<str>, usize>,
}

/// A control structure that waits for its `end`.
enum Control {
    If(Branches),
    With(Branches),
    Range(Loop),
}

/// The branches of `if` or `with`, each `else if` being one level more.
struct Branches {
    levels: Vec<Level>,
    in_else: bool,
    variables: usize,
}

struct Level {
    /// Where to jump on if the condition is false, until the `else` is met.
    otherwise: Option<usize>,
    /// The jump from the end of the branch to the end of the level.
    end: Option<usize>,
}

struct Loop {
    begin: usize,
    next: usize,
    breaks: Vec<usize>,
    in_else: bool,
    variables: usize,
}

impl Parser<'_> {
    fn statements(&mut self) -> Result<(), Error> {
        loop {
            let token = self.next_word();
            match token.kind {
                Kind::Text => self.plain_text(token),
                Kind::LeftDelimiter => self.action()?,
                Kind::Eof if self.builders.len() == 1 && self.builder().controls.is_empty() => {
                    return Ok(());
                }
                Kind::Eof => return Err(self.error(token, "an `{{ end }}` is missing")),
                _ => return Err(self.unexpected(token, "text")),
            }
        }
    }

    fn plain_text(&mut self, token: Token) {
        let is_blank = self.source(token).trim().is_empty();
        self.emit(Operation::Text(token.start, token.end), token);
        self.builder().is_empty &= is_blank;
    }

    fn action(&mut self) -> Result<(), Error> {
        let at_top = self.builders.len() == 1 && self.builder().controls.is_empty();
        let token = self.next_word();
        match token.kind {
            Kind::Define if at_top => return self.define(),
            Kind::End => return self.end(token),
            Kind::Else => return self.otherwise(token),
            _ => self.builder().is_empty = false,
        }
        match token.kind {
            Kind::Block => self.block(),
            Kind::Break | Kind::Continue => self.leave_loop(token),
            Kind::If => self.begin_if(token),
            Kind::With => self.begin_with(token),
            Kind::Range => self.begin_range(token),
            Kind::Template => self.template(token),
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
        let name = self.quoted_name("`define`")?;
        self.expect_close("`define`")?;
        self.builders.push(Builder::new(name.into()));
        Ok(())
    }

    fn block(&mut self) -> Result<(), Error> {
        let token = self.peek_word();
        let name: Arc<str> = self.quoted_name("`block`")?.into();
        let index = self.tables.name(&name);
        self.emit(Operation::Defined(index), token);
        self.pipeline(Context::Block)?;
        self.emit(Operation::Template(index), token);
        self.builders.push(Builder::new(name));
        Ok(())
    }

    fn template(&mut self, token: Token) -> Result<(), Error> {
        let name = self.quoted_name("`template`")?;
        let index = self.tables.name(&name);
        self.emit(Operation::Defined(index), join(token, self.last_token()));
        if self.peek_word().kind == Kind::RightDelimiter {
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

    fn quoted_name(&mut self, context: &str) -> Result<String, Error> {
        let token = self.next_word();
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return Err(self.unexpected(token, context));
        }
        literal::string(self.source(token)).map_err(|message| self.error(token, message))
    }

    fn leave_loop(&mut self, token: Token) -> Result<(), Error> {
        self.expect_close(if token.kind == Kind::Break {
            "`break`"
        } else {
            "`continue`"
        })?;
        let found = self
            .builder()
            .controls
            .iter()
            .rposition(|control| matches!(control, Control::Range(range) if !range.in_else));
        let Some(index) = found else {
            return Err(self.error(token, "`break` and `continue` need a `range` around them"));
        };
        if token.kind == Kind::Break {
            self.emit(Operation::Break, token);
        }
        let jump = self.emit(Operation::Jump(0), token);
        let Control::Range(range) = &mut self.builder().controls[index] else {
            return Ok(());
        };
        if token.kind == Kind::Break {
            range.breaks.push(jump);
        } else {
            let next = range.next;
            self.builder().patch_to(jump, next);
        }
        Ok(())
    }

    fn begin_if(&mut self, token: Token) -> Result<(), Error> {
        let variables = self.builder().variables.len();
        let level = self.if_level(token)?;
        self.open(Control::If(Branches {
            levels: vec![level],
            in_else: false,
            variables,
        }));
        Ok(())
    }

    fn if_level(&mut self, token: Token) -> Result<Level, Error> {
        self.emit(Operation::Mark, token);
        let declarations = self.pipeline(Context::If)?;
        let jump = self.emit(Operation::JumpIfFalse(0), declarations.span(token));
        Ok(Level {
            otherwise: Some(jump),
            end: None,
        })
    }

    fn begin_with(&mut self, token: Token) -> Result<(), Error> {
        let variables = self.builder().variables.len();
        let level = self.with_level(token)?;
        self.open(Control::With(Branches {
            levels: vec![level],
            in_else: false,
            variables,
        }));
        Ok(())
    }

    fn with_level(&mut self, token: Token) -> Result<Level, Error> {
        self.emit(Operation::Mark, token);
        let declarations = self.pipeline(Context::With)?;
        let jump = self.emit(Operation::With(0), declarations.span(token));
        Ok(Level {
            otherwise: Some(jump),
            end: None,
        })
    }

    fn begin_range(&mut self, token: Token) -> Result<(), Error> {
        let variables = self.builder().variables.len();
        self.emit(Operation::Mark, token);
        let declarations = self.pipeline(Context::Range)?;
        let span = declarations.span(token);
        let begin = self.emit(Operation::Range(loop_variables(&declarations), 0), span);
        let next = self.emit(Operation::Next(0), span);
        self.open(Control::Range(Loop {
            begin,
            next,
            breaks: Vec::new(),
            in_else: false,
            variables,
        }));
        Ok(())
    }

    fn open(&mut self, control: Control) {
        self.builder().controls.push(control);
    }

    fn otherwise(&mut self, token: Token) -> Result<(), Error> {
        let next = self.peek_word();
        if !matches!(next.kind, Kind::If | Kind::With) {
            self.expect_close("`else`")?;
        }
        match self.builder().controls.pop() {
            Some(Control::If(branches)) if !branches.in_else => {
                self.else_branch(token, branches, Kind::If)
            }
            Some(Control::With(branches)) if !branches.in_else => {
                self.emit(Operation::EndWith, token);
                self.else_branch(token, branches, Kind::With)
            }
            Some(Control::Range(range)) if !range.in_else => {
                self.check_plain_else(next)?;
                let range = self.end_loop_body(token, range);
                self.open(Control::Range(range));
                Ok(())
            }
            _ => Err(self.error(token, "unexpected `{{ else }}`")),
        }
    }

    fn else_branch(&mut self, token: Token, branches: Branches, kind: Kind) -> Result<(), Error> {
        let mut branches = branches;
        let end = self.emit(Operation::Jump(0), token);
        if let Some(level) = branches.levels.last_mut() {
            level.end = Some(end);
            if let Some(jump) = level.otherwise.take() {
                self.builder().patch(jump);
            }
        }
        let next = self.peek_word();
        if next.kind == kind {
            self.next_word();
            let level = if kind == Kind::If {
                self.if_level(next)?
            } else {
                self.with_level(next)?
            };
            branches.levels.push(level);
        } else {
            self.check_plain_else(next)?;
            branches.in_else = true;
        }
        self.open(if kind == Kind::If {
            Control::If(branches)
        } else {
            Control::With(branches)
        });
        Ok(())
    }

    /// `else if` and `else with` continue only their own kind.
    fn check_plain_else(&self, next: Token) -> Result<(), Error> {
        if matches!(self.last_token().kind, Kind::RightDelimiter) {
            return Ok(());
        }
        Err(self.unexpected(next, "`else`"))
    }

    fn end_loop_body(&mut self, token: Token, mut range: Loop) -> Loop {
        let next = range.next;
        let jump = self.emit(Operation::Jump(0), token);
        self.builder().patch_to(jump, next);
        let end = self.emit(Operation::Jump(0), token);
        range.breaks.push(end);
        self.builder().patch_to(next, end);
        self.builder().patch(range.begin);
        range.in_else = true;
        range
    }

    fn end(&mut self, token: Token) -> Result<(), Error> {
        self.expect_close("`end`")?;
        let Some(control) = self.builder().controls.pop() else {
            return self.end_definition(token);
        };
        match control {
            Control::If(branches) => self.end_branches(token, branches),
            Control::With(branches) => {
                if !branches.in_else {
                    self.emit(Operation::EndWith, token);
                }
                self.end_branches(token, branches);
            }
            Control::Range(range) => {
                let range = if range.in_else {
                    range
                } else {
                    self.end_loop_body(token, range)
                };
                for jump in range.breaks {
                    self.builder().patch(jump);
                }
                self.emit(Operation::Release, token);
                self.builder().variables.truncate(range.variables);
            }
        }
        Ok(())
    }

    fn end_branches(&mut self, token: Token, branches: Branches) {
        for level in branches.levels.into_iter().rev() {
            for jump in [level.otherwise, level.end].into_iter().flatten() {
                self.builder().patch(jump);
            }
            self.emit(Operation::Release, token);
        }
        self.builder().variables.truncate(branches.variables);
    }

    /// Ends a `define` or a `block`.
    fn end_definition(&mut self, token: Token) -> Result<(), Error> {
        if self.builders.len() == 1 {
            return Err(self.error(token, "unexpected `{{ end }}`"));
        }
        if let Some(builder) = self.builders.pop() {
            self.add(builder, token)?;
        }
        Ok(())
    }

    /// Go lets a definition be repeated only where one of the two is empty.
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
            constants: self.tables.constants,
            names: self.tables.names,
            faults: self.tables.faults,
        });
        Ok(Template { text, index: 0 })
    }

    fn expect_close(&mut self, context: &str) -> Result<(), Error> {
        let token = self.next_word();
        if token.kind == Kind::RightDelimiter {
            return Ok(());
        }
        Err(self.unexpected(token, context))
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

    /// The next token, blanks included. The last one, which ends the text, never runs out.
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
        while self.peek_token().kind == Kind::Space {
            self.position += 1;
        }
    }

    fn unexpected(&self, token: Token, context: &str) -> Error {
        match token.kind {
            Kind::Fault => self.error(token, self.fault.clone()),
            Kind::Eof => self.error(token, format!("the text ends in {context}")),
            _ => {
                let word = self.source(token);
                self.error(token, format!("unexpected `{word}` in {context}"))
            }
        }
    }

    fn error(&self, token: Token, message: impl Into<String>) -> Error {
        Error::new(ErrorClass::Parse, message).at(token.start as usize..token.end as usize)
    }
}

fn loop_variables(declarations: &Declarations) -> Variables {
    match (&declarations.variables[..], declarations.assigns) {
        ([], _) => Variables::None,
        (variables, false) => Variables::Declared(variables.len() as Index),
        ([item], true) => Variables::AssignedItem(*item),
        ([key, item, ..], true) => Variables::Assigned(*key, *item),
    }
}

/// One token that spans both.
fn join(first: Token, last: Token) -> Token {
    Token {
        end: last.end.max(first.end),
        ..first
    }
}
