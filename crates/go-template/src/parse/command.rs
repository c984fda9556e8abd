//! Parses commands: a function, method or value with its arguments, and the piped value.

use super::super::code::{Constant, Operation};
use super::super::function::{Body, Function};
use super::super::lexer::{Token, TokenKind};
use super::super::{Error, ErrorClass};
use super::pipeline::{Command, Head, Open};
use super::{Parser, join};

impl Parser<'_> {
    pub(super) fn begin_command(&mut self, open: &mut Open, token: Token) {
        open.command = Some(Command {
            head: Head::Missing,
            token,
            begin: self.builder().len(),
            arguments: 0,
            has_final: open.stages > 0,
            short_circuits: Vec::new(),
        });
    }

    /// Parses the next operand of the open command, or ends the command. Returns an opening parenthesis.
    pub(super) fn command_step(&mut self, open: &mut Open) -> Result<Option<Token>, Error> {
        let token = self.peek_word();
        if token.kind.begins_operand() {
            self.next_token();
            self.begin_operand(open);
            if token.kind == TokenKind::LeftParenthesis {
                return Ok(Some(token));
            }
            self.operand(open, token)?;
        }
        self.end_operand(open)?;
        Ok(None)
    }

    /// Completes an operand of the open command that was a pipeline in parentheses.
    pub(super) fn end_parentheses(&mut self, open: &mut Open, token: Token) -> Result<(), Error> {
        self.fields_and_check(open, token, Head::Other)?;
        self.end_operand(open)
    }

    fn end_operand(&mut self, open: &mut Open) -> Result<(), Error> {
        let token = self.next_token();
        match token.kind {
            TokenKind::Space => return Ok(()),
            TokenKind::RightDelimiter | TokenKind::RightParenthesis => self.position -= 1,
            TokenKind::Pipe => {}
            _ => return Err(self.syntax_error(token, "an operand")),
        }
        if let Some(command) = open.command.take() {
            self.end_command(open, command);
        }
        Ok(())
    }

    fn end_command(&mut self, open: &mut Open, command: Command) {
        open.stages += 1;
        let has_arguments = command.arguments > 0 || command.has_final;
        let span = join(command.token, self.last_operand());
        match command.head {
            Head::Function(function) => self.end_call(function, &command, span),
            Head::Method(place, name) => {
                let count = command.arguments as u32 + u32::from(command.has_final);
                let begin = Operation::Method(name, count);
                self.builder().replace(place, begin);
                if command.has_final {
                    self.emit(Operation::Roll(command.arguments as u32 + 1), span);
                }
                self.emit(Operation::CallMethod(name, count), span);
            }
            Head::Field(place, name) if command.has_final => {
                self.builder().replace(place, Operation::Method(name, 1));
                self.emit(Operation::Roll(1), span);
                self.emit(Operation::CallMethod(name, 1), span);
            }
            Head::Field(..) | Head::Missing => {}
            Head::Variable | Head::Nil | Head::Other if has_arguments => {
                self.not_a_function(&command)
            }
            Head::Nil => self.fail(
                ErrorClass::Other,
                "`nil` alone is not a value".to_owned(),
                command.token,
            ),
            Head::Variable | Head::Other => {}
        }
        if !matches!(command.head, Head::Function(_)) {
            self.emit(Operation::Unbox, span);
        }
    }

    fn not_a_function(&mut self, command: &Command) {
        let is_variable = matches!(command.head, Head::Variable);
        self.builder()
            .truncate(command.begin + usize::from(is_variable));
        let message = format!(
            "`{}` is not a function and takes no arguments",
            self.source(command.token)
        );
        self.fail(ErrorClass::WrongType, message, command.token);
    }

    fn end_call(&mut self, function: &'static Function, command: &Command, span: Token) {
        let count = command.arguments + usize::from(command.has_final);
        if self.refuse_count(function, count, command.begin, span) {
            return;
        }
        let stops_at = match function.body {
            Body::And => Some(false),
            Body::Or => Some(true),
            _ => None,
        };
        if stops_at.is_some() {
            return self.end_short_circuits(command, span);
        }
        if command.has_final {
            self.emit(Operation::Roll(command.arguments as u32), span);
            let parameter = function.signature.parameter(command.arguments);
            self.convert(parameter, span);
        }
        self.emit(Operation::Call(function, count as u32), span);
    }

    /// Ends a call of `and` or `or`. As in Go, a piped value is the last argument, and its truth is not evaluated.
    fn end_short_circuits(&mut self, command: &Command, span: Token) {
        let mut jumps = &command.short_circuits[..];
        if !command.has_final {
            let last = self.builder().len() - 1;
            self.builder().truncate(last);
            jumps = &jumps[..jumps.len().saturating_sub(1)];
        }
        let end = command
            .has_final
            .then(|| self.emit(Operation::Jump(0), span));
        for jump in jumps {
            self.builder().patch(*jump);
        }
        if let Some(end) = end {
            self.emit(Operation::DropBelow, span);
            self.builder().patch(end);
        }
    }

    /// Replaces a call that has a wrong number of arguments with an error, before any argument is evaluated.
    pub(super) fn refuse_count(
        &mut self,
        function: &Function,
        count: usize,
        begin: usize,
        span: Token,
    ) -> bool {
        let Some(message) = function.signature.count_error(function.name, count) else {
            return false;
        };
        self.builder().truncate(begin);
        self.fail(ErrorClass::WrongArgCount, message, span);
        true
    }

    /// Emits the jump after an argument of `and` or `or`.
    pub(super) fn short_circuit(&mut self, command: &mut Command, stops_at: bool, span: Token) {
        let jump = self.emit(Operation::ShortCircuit(stops_at, 0), span);
        command.short_circuits.push(jump);
    }

    pub(super) fn fail(&mut self, class: ErrorClass, message: String, span: Token) {
        let fault = self.tables.fault(class, message);
        self.emit(Operation::Fail(fault), span);
    }

    pub(super) fn constant(&mut self, constant: Constant, span: Token) {
        let constant = self.tables.constant(constant);
        self.emit(Operation::Constant(constant), span);
    }

    /// Records an operand that cannot be called: it may only start a pipeline.
    pub(super) fn note_stage(&mut self, open: &mut Open, token: Token) {
        let is_first = open.command.as_ref().is_none_or(|c| !c.has_final);
        if !is_first && open.bad_stage.is_none() {
            open.bad_stage = Some(token);
        }
    }
}
