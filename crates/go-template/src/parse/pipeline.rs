//! Parses pipelines: declarations, and commands joined by `|`, including those in parentheses.

use super::super::Error;
use super::super::code::{Index, Operation};
use super::super::function::Function;
use super::super::lexer::{Token, TokenKind};
use super::{Parser, join};

/// The maximum number of variables in scope, because they are searched one by one, as in Go.
const VARIABLES: usize = 1000;

/// The construct that a pipeline belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Command,
    If,
    With,
    Range,
    Template,
    Block,
    Parentheses,
}

impl Context {
    fn name(self) -> &'static str {
        match self {
            Self::Command => "an action",
            Self::If => "`if`",
            Self::With => "`with`",
            Self::Range => "`range`",
            Self::Template => "`template`",
            Self::Block => "`block`",
            Self::Parentheses => "parentheses",
        }
    }

    fn closes(self) -> TokenKind {
        if self == Self::Parentheses {
            TokenKind::RightParenthesis
        } else {
            TokenKind::RightDelimiter
        }
    }
}

/// The variables that a pipeline declares or assigns.
pub(super) struct Declarations {
    pub(super) variables: Vec<Index>,
    pub(super) assigns: bool,
    start: u32,
    end: u32,
}

impl Declarations {
    /// The span of the pipeline, as a token.
    pub(super) fn span(&self, token: Token) -> Token {
        Token {
            start: self.start,
            end: self.end,
            ..token
        }
    }
}

/// A pipeline that is being parsed.
pub(super) struct Open {
    context: Context,
    declarations: Declarations,
    opened: Token,
    pub(super) stages: usize,
    /// The first stage after a `|` that starts with an operand that cannot be called.
    pub(super) bad_stage: Option<Token>,
    /// The current command.
    pub(super) command: Option<Command>,
}

/// A command that is being parsed.
pub(super) struct Command {
    pub(super) head: Head,
    /// The first operand with its fields.
    pub(super) token: Token,
    /// The index of its first instruction.
    pub(super) begin: usize,
    pub(super) arguments: usize,
    /// Whether the command receives a piped value, which is its last argument.
    pub(super) has_final: bool,
    /// The jumps of `and` or `or`.
    pub(super) short_circuits: Vec<usize>,
}

/// What a command starts with.
#[derive(Clone, Copy)]
pub(super) enum Head {
    /// The command has no operand yet.
    Missing,
    Function(&'static Function),
    /// A chain of fields, of which the last one may be a method; with the index and name of its instruction.
    Field(usize, Index),
    /// A chain of fields, of which the last one has arguments and must be a method.
    Method(usize, Index),
    /// A variable without fields.
    Variable,
    Nil,
    /// A literal, a dot or parentheses.
    Other,
}

impl Parser<'_> {
    /// Parses a pipeline and its closing delimiter. Its instructions leave one operand on the stack.
    pub(super) fn pipeline(&mut self, context: Context) -> Result<Declarations, Error> {
        let mut stack = vec![self.open_pipeline(context)?];
        loop {
            let depth = stack.len() - 1;
            let open = &mut stack[depth];
            if open.command.is_some() {
                if let Some(parenthesis) = self.command_step(open)? {
                    stack.push(self.open_parentheses(parenthesis)?);
                }
                continue;
            }
            let token = self.next_word();
            if token.kind == open.context.closes() {
                self.close_pipeline(open, token)?;
                let Some(closed) = stack.pop() else {
                    continue;
                };
                let Some(outer) = stack.last_mut() else {
                    return Ok(closed.declarations);
                };
                self.end_parentheses(outer, join(closed.opened, token))?;
            } else if token.kind.begins_operand() {
                self.position -= 1;
                self.begin_command(open, token);
            } else {
                return Err(self.syntax_error(token, open.context.name()));
            }
        }
    }

    fn open_parentheses(&mut self, parenthesis: Token) -> Result<Open, Error> {
        let mut open = self.open_pipeline(Context::Parentheses)?;
        open.opened = parenthesis;
        Ok(open)
    }

    fn open_pipeline(&mut self, context: Context) -> Result<Open, Error> {
        let first = self.peek_word();
        let mut declarations = Declarations {
            variables: Vec::new(),
            assigns: false,
            start: first.start,
            end: first.end,
        };
        while self.peek_word().kind == TokenKind::Variable {
            if !self.declaration(context, &mut declarations)? {
                break;
            }
        }
        Ok(Open {
            context,
            declarations,
            opened: first,
            stages: 0,
            bad_stage: None,
            command: None,
        })
    }

    /// Parses `$x :=`, `$x =` or, in a range, `$x,`. Returns whether another variable follows.
    fn declaration(
        &mut self,
        context: Context,
        declarations: &mut Declarations,
    ) -> Result<bool, Error> {
        let before = self.position;
        let variable = self.next_token();
        let next = self.next_word();
        let is_comma = next.kind == TokenKind::Character && self.source(next) == ",";
        if !is_comma && !matches!(next.kind, TokenKind::Assign | TokenKind::Declare) {
            self.position = before;
            return Ok(false);
        }
        let name = self.source(variable).to_owned();
        let name = self.tables.name(&name);
        self.builder().variables.push(name);
        if self.builder().variables.len() > VARIABLES {
            let message = format!("more than {VARIABLES} variables are declared");
            return Err(self.error(variable, message));
        }
        declarations.variables.push(name);
        if !is_comma {
            declarations.assigns = next.kind == TokenKind::Assign;
            return Ok(false);
        }
        if context != Context::Range || declarations.variables.len() >= 2 {
            return Err(self.error(variable, "too many variables are declared here"));
        }
        match self.peek_word().kind {
            TokenKind::Variable => Ok(true),
            TokenKind::RightDelimiter | TokenKind::RightParenthesis => Ok(false),
            _ => Err(self.error(variable, "`range` can declare variables only")),
        }
    }

    /// Checks a complete pipeline, and declares or assigns its variables.
    fn close_pipeline(&mut self, open: &mut Open, token: Token) -> Result<(), Error> {
        if open.stages == 0 {
            let message = format!("{} needs a value", open.context.name());
            return Err(self.error(join(open.opened, token), message));
        }
        if let Some(stage) = open.bad_stage {
            let message = format!("`{}` cannot be given a value", self.source(stage));
            return Err(self.error(stage, message));
        }
        let declarations = &mut open.declarations;
        declarations.end = declarations.end.max(token.start);
        let source = &self.text[declarations.start as usize..declarations.end as usize];
        declarations.end = declarations.start + source.trim_end().len() as u32;
        let span = declarations.span(token);
        for variable in &declarations.variables {
            let operation = if declarations.assigns {
                Operation::Assign(*variable)
            } else {
                Operation::Declare(*variable)
            };
            self.emit(operation, span);
        }
        Ok(())
    }

    /// The last token that is neither blank nor a delimiter.
    pub(super) fn last_operand(&self) -> Token {
        let mut position = self.position.min(self.tokens.len()) - 1;
        while position > 0
            && matches!(
                self.tokens[position].kind,
                TokenKind::Space | TokenKind::Pipe | TokenKind::RightDelimiter
            )
        {
            position -= 1;
        }
        self.tokens[position]
    }
}
