//! Parses control structures: `if`, `with` and `range`, with `else` and `end`.

use super::super::Error;
use super::super::code::{Index, Operation, Variables};
use super::super::lexer::{Token, TokenKind};
use super::Parser;
use super::pipeline::{Context, Declarations};

/// A control structure without its `end` yet.
pub(super) enum Control {
    If(Branches),
    With(Branches),
    Range(Loop),
}

/// The branches of an `if` or `with`. Each `else if` is one more level.
pub(super) struct Branches {
    levels: Vec<Level>,
    in_else: bool,
    variables: usize,
}

struct Level {
    /// The jump for a false condition, until its target, the `else`, is known.
    otherwise: Option<usize>,
    /// The jump from the end of the branch to the end of the level.
    end: Option<usize>,
}

pub(super) struct Loop {
    begin: usize,
    next: usize,
    breaks: Vec<usize>,
    in_else: bool,
    variables: usize,
}

impl Parser<'_> {
    pub(super) fn leave_loop(&mut self, token: Token) -> Result<(), Error> {
        self.expect_close(if token.kind == TokenKind::Break {
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
        if token.kind == TokenKind::Break {
            self.emit(Operation::Break, token);
        }
        let jump = self.emit(Operation::Jump(0), token);
        let Control::Range(range) = &mut self.builder().controls[index] else {
            return Ok(());
        };
        if token.kind == TokenKind::Break {
            range.breaks.push(jump);
        } else {
            let next = range.next;
            self.builder().patch_to(jump, next);
        }
        Ok(())
    }

    /// Starts an `if` or `with`.
    pub(super) fn begin_branches(&mut self, token: Token) -> Result<(), Error> {
        let variables = self.builder().variables.len();
        let branches = Branches {
            levels: vec![self.level(token)?],
            in_else: false,
            variables,
        };
        self.open(if token.kind == TokenKind::If {
            Control::If(branches)
        } else {
            Control::With(branches)
        });
        Ok(())
    }

    /// Parses the condition of an `if` or `with`, or of one after an `else`.
    fn level(&mut self, token: Token) -> Result<Level, Error> {
        let (context, jump) = if token.kind == TokenKind::If {
            (Context::If, Operation::JumpIfFalse(0))
        } else {
            (Context::With, Operation::With(0))
        };
        self.emit(Operation::Mark, token);
        let declarations = self.pipeline(context)?;
        let jump = self.emit(jump, declarations.span(token));
        Ok(Level {
            otherwise: Some(jump),
            end: None,
        })
    }

    pub(super) fn begin_range(&mut self, token: Token) -> Result<(), Error> {
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

    pub(super) fn otherwise(&mut self, token: Token) -> Result<(), Error> {
        let next = self.peek_word();
        if !matches!(next.kind, TokenKind::If | TokenKind::With) {
            self.expect_close("`else`")?;
        }
        match self.builder().controls.pop() {
            Some(Control::If(branches)) if !branches.in_else => {
                self.else_branch(token, branches, TokenKind::If)
            }
            Some(Control::With(branches)) if !branches.in_else => {
                self.emit(Operation::EndWith, token);
                self.else_branch(token, branches, TokenKind::With)
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

    fn else_branch(
        &mut self,
        token: Token,
        mut branches: Branches,
        kind: TokenKind,
    ) -> Result<(), Error> {
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
            branches.levels.push(self.level(next)?);
        } else {
            self.check_plain_else(next)?;
            branches.in_else = true;
        }
        self.open(if kind == TokenKind::If {
            Control::If(branches)
        } else {
            Control::With(branches)
        });
        Ok(())
    }

    /// Fails for an `else if` or `else with` that does not match the kind of the structure.
    fn check_plain_else(&self, next: Token) -> Result<(), Error> {
        if matches!(self.last_token().kind, TokenKind::RightDelimiter) {
            return Ok(());
        }
        Err(self.syntax_error(next, "`else`"))
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

    pub(super) fn end(&mut self, token: Token) -> Result<(), Error> {
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
}

fn loop_variables(declarations: &Declarations) -> Variables {
    match (&declarations.variables[..], declarations.assigns) {
        ([], _) => Variables::None,
        (variables, false) => Variables::Declared(variables.len() as Index),
        ([item], true) => Variables::AssignedItem(*item),
        ([key, item, ..], true) => Variables::Assigned(*key, *item),
    }
}
