//! Parses operands (literals, names, fields), and checks each one against the parameter that it is passed to.

use std::sync::Arc;

use super::super::code::{Constant, Operation};
use super::super::function::{Body, Function, Type};
use super::super::lexer::{Token, TokenKind};
use super::super::literal::{self, Number};
use super::super::{Error, ErrorClass, lookup};
use super::pipeline::{Head, Open};
use super::{Parser, Role, join};

/// A literal whose type is not determined yet.
enum Literal {
    Nil,
    Bool(bool),
    Number(Number),
    String(Arc<str>),
}

impl Parser<'_> {
    /// Marks a field as a method, because an argument follows. Must be called before each operand.
    pub(super) fn begin_operand(&mut self, open: &mut Open) {
        if let Some(command) = &mut open.command
            && let Head::Field(place, name) = command.head
        {
            command.head = Head::Method(place, name);
        }
    }

    /// Parses an operand that is not in parentheses, after its first token.
    pub(super) fn operand(&mut self, open: &mut Open, token: Token) -> Result<(), Error> {
        match token.kind {
            TokenKind::Identifier => self.function_operand(open, token),
            TokenKind::Variable => {
                let name = self.variable(token)?;
                self.emit(Operation::Variable(name), token);
                self.fields_and_check(open, token, Head::Variable)
            }
            TokenKind::Field => {
                self.emit(Operation::Dot, token);
                self.position -= 1;
                self.fields_and_check(open, token, Head::Other)
            }
            TokenKind::Dot => {
                self.no_fields(token)?;
                self.note_head(open, token);
                self.emit(Operation::Dot, token);
                self.fields_and_check(open, token, Head::Other)
            }
            _ => self.literal_operand(open, token),
        }
    }

    fn function_operand(&mut self, open: &mut Open, token: Token) -> Result<(), Error> {
        let name = self.source(token);
        let mut own = self.own.iter();
        let own = own.find(|function| function.name == name);
        let function = own.or_else(|| lookup(name).filter(|_| !self.missing.contains(&name)));
        let Some(function) = function else {
            let message = format!("there is no function `{name}`");
            let span = token.start as usize..token.end as usize;
            return Err(Error::new(ErrorClass::MissingFunction, message).with_span(span));
        };
        if let Some(command) = &mut open.command
            && matches!(command.head, Head::Missing)
            && self.peek_token().kind != TokenKind::Field
        {
            command.head = Head::Function(function);
            command.token = token;
            return Ok(());
        }
        let begin = self.builder().len();
        if !self.refuse_count(function, 0, begin, token) {
            self.emit(Operation::Call(function, 0), token);
        }
        self.fields_and_check(open, token, Head::Other)
    }

    fn variable(&mut self, token: Token) -> Result<u32, Error> {
        let name = self.source(token).to_owned();
        let index = self.tables.name(&name);
        if name != "$" && !self.builder().variables.contains(&index) {
            let message = format!("there is no variable `{name}` here");
            return Err(self.error(token, message));
        }
        Ok(index)
    }

    /// Parses the fields after an operand, and completes the operand.
    pub(super) fn fields_and_check(
        &mut self,
        open: &mut Open,
        token: Token,
        base: Head,
    ) -> Result<(), Error> {
        let mut token = token;
        let mut head = base;
        while self.peek_token().kind == TokenKind::Field {
            let field = self.next_token();
            token = join(token, field);
            let name = self.source(field)[1..].to_owned();
            let name = self.tables.name(&name);
            let place = self.emit(Operation::Field(name), token);
            head = Head::Field(place, name);
        }
        let Some(command) = &mut open.command else {
            return Ok(());
        };
        if matches!(command.head, Head::Missing) {
            command.head = head;
            command.token = token;
            return Ok(());
        }
        if let Head::Function(function) = command.head {
            let parameter = function.signature.parameter(command.arguments);
            self.convert(parameter, token);
        }
        self.argument_complete(open, token);
        Ok(())
    }

    fn argument_complete(&mut self, open: &mut Open, token: Token) {
        let Some(command) = &mut open.command else {
            return;
        };
        command.arguments += 1;
        if let Head::Function(Function { body, .. }) = command.head {
            match body {
                Body::And => self.short_circuit(command, false, token),
                Body::Or => self.short_circuit(command, true, token),
                _ => {}
            }
        }
    }

    /// Emits the check of the last operand against a parameter.
    pub(super) fn convert(&mut self, parameter: Option<Type>, token: Token) {
        if let Some(kind) = parameter
            && kind != Type::Any
        {
            self.emit(Operation::Convert(kind), token);
        }
    }

    fn literal_operand(&mut self, open: &mut Open, token: Token) -> Result<(), Error> {
        let literal = self.literal(token)?;
        self.no_fields(token)?;
        let Some(command) = &mut open.command else {
            return Ok(());
        };
        let mut parameter = Type::Any;
        if let Head::Function(function) = command.head {
            let index = command.arguments;
            parameter = function.signature.parameter(index).unwrap_or(Type::Any);
        }
        let is_head = matches!(command.head, Head::Missing);
        if matches!(token.kind, TokenKind::String | TokenKind::RawString) {
            let role = match command.head {
                Head::Function(function) => function.role(command.arguments),
                Head::Missing => Some(Role::Passed),
                _ => None,
            };
            role.into_iter()
                .for_each(|role| self.outline.note(token, role));
        }
        if is_head {
            let is_nil = matches!(literal, Literal::Nil);
            command.head = if is_nil { Head::Nil } else { Head::Other };
            command.token = token;
            self.note_stage(open, token);
        }
        match self.convert_literal(&literal, parameter, token) {
            Ok(constant) => self.constant(constant, token),
            Err((class, message)) => self.fail(class, message, token),
        }
        if !is_head {
            self.argument_complete(open, token);
        }
        Ok(())
    }

    fn note_head(&mut self, open: &mut Open, token: Token) {
        let is_head = |open: &Open| {
            let command = open.command.as_ref();
            command.is_some_and(|command| matches!(command.head, Head::Missing))
        };
        if is_head(open) {
            self.note_stage(open, token);
        }
    }

    fn no_fields(&self, token: Token) -> Result<(), Error> {
        if self.peek_token().kind != TokenKind::Field {
            return Ok(());
        }
        let message = format!("`{}` has no fields", self.source(token));
        Err(self.error(join(token, self.peek_token()), message))
    }

    fn literal(&self, token: Token) -> Result<Literal, Error> {
        let source = self.source(token);
        let parsed = match token.kind {
            TokenKind::Nil => Ok(Literal::Nil),
            TokenKind::Bool => Ok(Literal::Bool(source == "true")),
            TokenKind::Number => literal::number(source).map(Literal::Number),
            TokenKind::Complex => literal::complex(source).map(Literal::Number),
            TokenKind::CharacterConstant => literal::character(source).map(Literal::Number),
            _ if self.sealed.parts(token).next().is_some() => {
                Ok(Literal::String(self.sealed.label.into()))
            }
            _ => literal::string(source).map(|text| Literal::String(text.into())),
        };
        parsed.map_err(|message| self.error(token, message))
    }

    /// Converts a literal to the type of a parameter.
    fn convert_literal(
        &self,
        literal: &Literal,
        parameter: Type,
        token: Token,
    ) -> Result<Constant, (ErrorClass, String)> {
        let source = self.source(token);
        let expected = |what: &str| {
            let message = format!("expected {what}, found `{source}`");
            (ErrorClass::WrongType, message)
        };
        match (parameter, literal) {
            (Type::Any, literal) => default_typed(literal, source),
            (Type::List, Literal::Nil) => Ok(Constant::EmptyList),
            (Type::Map, Literal::Nil) => Ok(Constant::EmptyMap),
            (_, Literal::Nil) => {
                let message = format!("`nil` cannot be given for {}", parameter.phrase());
                Err((ErrorClass::Other, message))
            }
            (Type::Bool, Literal::Bool(flag)) => Ok(Constant::Bool(*flag)),
            (Type::Bool, _) => Err(expected("a bool")),
            (Type::String, Literal::String(text)) => Ok(Constant::String(Arc::clone(text))),
            (Type::String, _) => Err(expected("a string")),
            (Type::Int, Literal::Number(Number { int: Some(int), .. })) => {
                Ok(if parameter == Type::Int {
                    Constant::Int(*int)
                } else {
                    Constant::Int64(*int)
                })
            }
            (Type::Int, _) => Err(expected("an integer")),
            (
                Type::Float,
                Literal::Number(Number {
                    float: Some(float), ..
                }),
            ) => Ok(Constant::Float(*float)),
            (Type::Float, _) => Err(expected("a float")),
            (Type::List | Type::Map | Type::Named(_), _) => Err((
                ErrorClass::Other,
                format!("`{source}` cannot be given for {}", parameter.phrase()),
            )),
        }
    }
}

/// Converts a literal to its default type, which its form decides.
fn default_typed(literal: &Literal, source: &str) -> Result<Constant, (ErrorClass, String)> {
    match literal {
        Literal::Nil => Ok(Constant::Nil),
        Literal::Bool(flag) => Ok(Constant::Bool(*flag)),
        Literal::String(text) => Ok(Constant::String(Arc::clone(text))),
        Literal::Number(number) => match (number.complex, number.float, number.int) {
            (Some((real, imaginary)), ..) => Ok(Constant::Complex(real, imaginary)),
            (_, Some(float), _) if number.is_float_form => Ok(Constant::Float(float)),
            (_, _, Some(int)) => Ok(Constant::Int(int)),
            _ => Err((
                ErrorClass::Other,
                format!("`{source}` overflows an integer"),
            )),
        },
    }
}
