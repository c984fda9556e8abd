//! What is written in a template: its strings by what becomes of them, and its definitions.

use std::ops::Range;
use std::sync::Arc;

use super::super::Error;
use super::super::lexer::Token;
use super::Parser;

/// What is written in a template.
#[derive(Debug, Default)]
pub struct Outline {
    /// The strings in its actions that are passed along, or name something, in order.
    pub strings: Vec<Written>,
    /// What it defines.
    pub definitions: Vec<DefinedTemplate>,
}

/// A string in an action.
#[derive(Debug)]
pub struct Written {
    /// What is between its quotes.
    pub range: Range<u32>,
    /// What becomes of it.
    pub role: Role,
}

/// What becomes of a string in an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is passed along: nothing looks at it, so a label may be in its place.
    Passed,
    /// It is the key of a map that is made.
    Key,
    /// It names a template that is included.
    Included,
}

/// A template that a text defines.
#[derive(Debug)]
pub struct DefinedTemplate {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is written, without the actions around it.
    pub range: Range<u32>,
}

impl Outline {
    /// Notes a string, by its token.
    pub(super) fn note(&mut self, token: Token, role: Role) {
        let range = token.start + 1..token.end - 1;
        self.strings.push(Written { range, role });
    }
}

/// What is written in a template.
///
/// # Errors
/// As [`super::parse`].
pub fn outline(text: &str) -> Result<Outline, Error> {
    let mut parser = Parser::new("", text);
    parser.statements()?;
    Ok(parser.outline)
}
