//! The output of the parser: the instructions of each template, and tables that the templates share.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::ErrorClass;
use super::super::code::{Code, Constant, Index, Operation};
use super::control::Control;

/// The tables that the templates of a text share.
pub(super) struct Tables {
    pub(super) constants: Vec<Constant>,
    pub(super) names: Vec<Arc<str>>,
    pub(super) faults: Vec<(ErrorClass, String)>,
    indexes: HashMap<Arc<str>, Index>,
}

impl Default for Tables {
    fn default() -> Self {
        let mut tables = Self {
            constants: Vec::new(),
            names: Vec::new(),
            faults: Vec::new(),
            indexes: HashMap::new(),
        };
        tables.name("$");
        tables
    }
}

impl Tables {
    pub(super) fn name(&mut self, name: &str) -> Index {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = self.names.len() as Index;
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.indexes.insert(name, index);
        index
    }

    pub(super) fn constant(&mut self, constant: Constant) -> Index {
        self.constants.push(constant);
        self.constants.len() as Index - 1
    }

    pub(super) fn nil(&mut self) -> Index {
        self.constant(Constant::Nil)
    }

    pub(super) fn fault(&mut self, class: ErrorClass, message: impl Into<String>) -> Index {
        self.faults.push((class, message.into()));
        self.faults.len() as Index - 1
    }
}

/// A template whose instructions are being written.
pub(super) struct Builder {
    pub(super) name: Arc<str>,
    /// Where its text begins.
    pub(super) start: u32,
    pub(super) is_empty: bool,
    pub(super) controls: Vec<Control>,
    /// The variables in scope, innermost last.
    pub(super) variables: Vec<Index>,
    operations: Vec<Operation>,
    spans: Vec<(u32, u32)>,
}

impl Builder {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            start: 0,
            is_empty: true,
            controls: Vec::new(),
            variables: Vec::new(),
            operations: Vec::new(),
            spans: Vec::new(),
        }
    }

    pub(super) fn emit(&mut self, operation: Operation, span: (u32, u32)) -> usize {
        self.operations.push(operation);
        self.spans.push(span);
        self.operations.len() - 1
    }

    /// The number of instructions, which is the index of the next one.
    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    /// Removes the instructions from an index on.
    pub(super) fn truncate(&mut self, length: usize) {
        self.operations.truncate(length);
        self.spans.truncate(length);
    }

    pub(super) fn replace(&mut self, place: usize, operation: Operation) {
        self.operations[place] = operation;
    }

    /// Sets the target of a jump to the next instruction.
    pub(super) fn patch(&mut self, jump: usize) {
        self.patch_to(jump, self.operations.len());
    }

    pub(super) fn patch_to(&mut self, jump: usize, target: usize) {
        let place = target as Index;
        match &mut self.operations[jump] {
            Operation::Jump(target)
            | Operation::JumpIfFalse(target)
            | Operation::With(target)
            | Operation::Range(_, target)
            | Operation::Next(target)
            | Operation::ShortCircuit(_, target) => *target = place,
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Code {
        let end = self.spans.last().map_or(0, |(_, end)| *end);
        self.emit(Operation::Return, (end, end));
        Code {
            name: self.name,
            is_empty: self.is_empty,
            operations: self.operations,
            spans: self.spans,
        }
    }
}
