//! The instructions that a template is compiled to, which [`super::machine`] executes.
//!
//! The instructions are a flat list, so neither executing nor dropping a template recurses, at any nesting depth.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ErrorClass;
use super::function::{Function, Type};

/// A parsed template, with the templates that its text defines. It is cheap to clone and can be shared between threads.
#[derive(Clone, Debug)]
pub struct Template {
    pub(super) text: Arc<Text>,
    pub(super) index: usize,
}

impl Template {
    /// The template that a `define` or `block` in this text defines under this name.
    pub fn find_definition(&self, name: &str) -> Option<Template> {
        self.text.defined.get(name).map(|index| Template {
            text: Arc::clone(&self.text),
            index: *index,
        })
    }

    /// The approximate size of the compiled text, in bytes.
    pub fn size(&self) -> usize {
        const INSTRUCTION: usize = size_of::<Operation>() + size_of::<(u32, u32)>();
        let instructions: usize = self
            .text
            .codes
            .iter()
            .map(|code| code.operations.len())
            .sum();
        let tables = self.text.constants.len() * size_of::<Constant>();
        self.text.text.len() + instructions * INSTRUCTION + tables
    }

    /// The name: the one passed to `parse`, or the one in the `define` or `block`.
    pub fn name(&self) -> &str {
        &self.code().name
    }

    /// Whether the template consists of blanks and comments only. As in Go, an empty template does not replace another one.
    pub(super) fn is_empty(&self) -> bool {
        self.code().is_empty
    }

    pub(super) fn code(&self) -> &Code {
        &self.text.codes[self.index]
    }
}

/// A template text and all templates in it. `codes[0]` is the text itself.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: Arc<str>,
    pub(super) codes: Vec<Code>,
    pub(super) defined: HashMap<Arc<str>, usize>,
    pub(super) constants: Vec<Constant>,
    /// Whether a constant is the label of a secret.
    pub(super) has_labels: bool,
    pub(super) names: Vec<Arc<str>>,
    pub(super) faults: Vec<(ErrorClass, String)>,
}

/// The instructions of one template.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: Arc<str>,
    pub(super) is_empty: bool,
    pub(super) operations: Vec<Operation>,
    /// For each instruction, the byte range of the source text that it was compiled from.
    pub(super) spans: Vec<(u32, u32)>,
}

impl Code {
    pub(super) fn span(&self, operation: usize) -> Range<usize> {
        let (start, end) = self.spans.get(operation).copied().unwrap_or((0, 0));
        start as usize..end as usize
    }
}

/// A literal, or the zero value that replaces an untyped nil.
#[derive(Clone, Debug)]
pub(super) enum Constant {
    Nil,
    Bool(bool),
    Int(i64),
    Int64(i64),
    Float(f64),
    Complex(f64, f64),
    String(Arc<str>),
    EmptyList,
    EmptyMap,
}

/// An index into one of the tables of a [`Text`], or into the instructions.
pub(super) type Index = u32;

/// An instruction. "Top" means the top of the operand stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// Writes a range of the source text.
    Text(u32, u32),
    /// Pops the top and writes it.
    Print,
    /// Pops the top.
    Drop,
    /// Removes the operand below the top.
    DropBelow,
    /// Pushes a constant.
    Constant(Index),
    /// Pushes the current dot.
    Dot,
    /// Pushes the value of a variable.
    Variable(Index),
    /// Replaces the top with its field, its map entry, or the result of its method without arguments.
    Field(Index),
    /// Fails unless the top has this method, and the method accepts this number of arguments.
    Method(Index, u32),
    /// Calls a method of the operand below the arguments. The number is that of the arguments.
    CallMethod(Index, u32),
    /// Calls a function with this number of arguments.
    Call(&'static Function, u32),
    /// Checks the top against the type of a parameter, and converts it.
    Convert(Type),
    /// Moves the operand below this number of other operands to the top.
    Roll(u32),
    /// Replaces an `interface {}` with the value in it.
    Unbox,
    /// Jumps if the truth of the top equals the flag; otherwise pops the top.
    ShortCircuit(bool, Index),
    /// Declares a variable with the top as its value, and keeps the top.
    Declare(Index),
    /// Assigns the top to a variable, and keeps the top.
    Assign(Index),
    /// Opens a scope of variables.
    Mark,
    /// Closes the scope.
    Release,
    /// Pops the top and jumps if it is false.
    JumpIfFalse(Index),
    /// Jumps.
    Jump(Index),
    /// Pops the top and makes it dot if it is true; otherwise jumps.
    With(Index),
    /// Restores dot.
    EndWith,
    /// Pops the top and starts a loop over it, or jumps if there is nothing to iterate.
    Range(Variables, Index),
    /// Moves to the next item, or ends the loop and jumps.
    Next(Index),
    /// Ends the loop early.
    Break,
    /// Fails unless a template of this name is defined.
    Defined(Index),
    /// Pops the top and executes the template of this name with it as dot.
    Template(Index),
    /// Fails with an entry of [`Text::faults`].
    Fail(Index),
    /// Ends the execution of the template.
    Return,
}

/// How a loop sets variables.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variables {
    /// It sets none.
    None,
    /// It declares this number of variables, which are the topmost ones.
    Declared(u32),
    /// It assigns each item to an existing variable.
    AssignedItem(Index),
    /// It assigns each key and item to existing variables.
    Assigned(Index, Index),
}
