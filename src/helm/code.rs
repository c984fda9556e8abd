//! What a template is translated to: a flat list of instructions for the [`super::machine`].
//!
//! Flat, so that neither running nor dropping a template recurses, however deeply it is nested.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::ErrorClass;
use super::function::{Function, Type};

/// A parsed template, and those defined inside its text. Cheap to clone, and shared by threads.
#[derive(Clone, Debug)]
pub struct Template {
    pub(super) text: Arc<Text>,
    pub(super) index: usize,
}

impl Template {
    /// The template that a `define` or `block` of this text makes.
    pub fn defined(&self, name: &str) -> Option<Template> {
        self.text.defined.get(name).map(|index| Template {
            text: Arc::clone(&self.text),
            index: *index,
        })
    }

    /// About how many bytes the instructions of the text take.
    pub(crate) fn size(&self) -> usize {
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

    /// Its name: the one given to `parse`, or the one it is defined by.
    pub fn name(&self) -> &str {
        &self.code().name
    }

    /// Whether it holds nothing but blanks and comments: Go does not let such a one replace another.
    pub(super) fn is_empty(&self) -> bool {
        self.code().is_empty
    }

    pub(super) fn code(&self) -> &Code {
        &self.text.codes[self.index]
    }
}

/// One text with all its templates; the first is the text itself.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: Arc<str>,
    pub(super) codes: Vec<Code>,
    pub(super) defined: HashMap<Arc<str>, usize>,
    pub(super) constants: Vec<Constant>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) faults: Vec<(ErrorClass, String)>,
}

/// The instructions of one template.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: Arc<str>,
    pub(super) is_empty: bool,
    pub(super) operations: Vec<Operation>,
    /// For each instruction, the bytes of the text that it stands for.
    pub(super) spans: Vec<(u32, u32)>,
}

impl Code {
    pub(super) fn span(&self, operation: usize) -> Range<usize> {
        let (start, end) = self.spans.get(operation).copied().unwrap_or((0, 0));
        start as usize..end as usize
    }
}

/// A literal, or the zero that an untyped nil becomes.
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
    EmptyStrings,
    EmptyMap,
}

/// An index into one of the tables of a [`Text`], or into the instructions.
pub(super) type Index = u32;

/// One instruction. "Top" is the top of the stack of operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// Writes a piece of the text itself.
    Text(u32, u32),
    /// Takes the top and writes it.
    Print,
    /// Drops the top.
    Drop,
    /// Drops the operand below the top.
    DropBelow,
    /// Pushes a constant.
    Constant(Index),
    /// Pushes dot.
    Dot,
    /// Pushes a variable's value.
    Variable(Index),
    /// Replaces the top by its field, map entry or result of a method without arguments.
    Field(Index),
    /// Checks that the top has such a method, and that it takes so many arguments.
    Method(Index, u32),
    /// Calls the method of the operand below the arguments.
    CallMethod(Index, u32),
    /// Calls a function with so many arguments.
    Call(&'static Function, u32),
    /// Checks the top against a parameter's type.
    Convert(Type),
    /// Takes the operand below so many others to the top.
    Roll(u32),
    /// An `interface {}` becomes what it holds.
    Unbox,
    /// Jumps if the top's truth is the given one; else drops it.
    ShortCircuit(bool, Index),
    /// Declares a variable of the top's value, which stays.
    Declare(Index),
    /// Sets a variable to the top's value, which stays.
    Assign(Index),
    /// Begins a scope of variables.
    Mark,
    /// Ends it.
    Release,
    /// Takes the top and jumps if it is false.
    JumpIfFalse(Index),
    /// Jumps.
    Jump(Index),
    /// Takes the top: makes it dot if it is true, else jumps.
    With(Index),
    /// Restores dot.
    EndWith,
    /// Takes the top and begins a loop over it, or jumps if there is nothing to loop over.
    Range(Variables, Index),
    /// Goes to the next item, or ends the loop and jumps.
    Next(Index),
    /// Ends the loop early.
    Break,
    /// Checks that a template of that name is defined.
    Defined(Index),
    /// Takes the top as dot and executes the template of that name.
    Template(Index),
    /// Fails.
    Fail(Index),
    /// Ends the template.
    Return,
}

/// What a loop does with its variables.
#[derive(Clone, Copy, Debug)]
pub(super) enum Variables {
    /// It has none.
    None,
    /// It declares so many: they are the topmost ones.
    Declared(u32),
    /// It assigns the items to an outer variable.
    AssignedItem(Index),
    /// It assigns keys and items to outer variables.
    Assigned(Index, Index),
}
