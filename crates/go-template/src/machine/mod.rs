//! Executes a parsed template.
//!
//! The machine is one loop over instructions with stacks of its own, so the thread's stack does not grow with the nesting of
//! templates. Only native templates and lazily evaluated values start evaluations inside this one; [`super::Limits::nested`]
//! limits them.

mod calls;
mod operands;
mod output;
mod range;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::code::{Constant, Index, Operation, Template};
use super::rendered::{Part, Rendered};
use super::value::Complex;
use super::{Budget, Error, ErrorClass, Host, Value};
use operands::Operand;
use output::remove_no_value;
use range::Loop;

/// Executes a template as Helm's `tpl` does, and returns its output without `<no value>`.
///
/// # Errors
/// Every error of Go, by class, and an exhausted budget. The span is in this template's text, even if the error occurs in a
/// template that it includes.
pub fn execute(
    template: &Template,
    dot: &Value,
    host: &dyn Host,
    budget: &Budget,
) -> Result<String, Error> {
    execute_plain(template, dot, host, budget).map(remove_no_value)
}

/// Executes a template as Go does: with `<no value>` where a value is missing.
///
/// # Errors
/// As [`execute`].
pub fn execute_plain(
    template: &Template,
    dot: &Value,
    host: &dyn Host,
    budget: &Budget,
) -> Result<String, Error> {
    let _nested = budget.enter_evaluation()?;
    let mut machine = Machine::new(host, budget);
    let result = machine.run(template, dot);
    budget.leave(machine.frames.len() as u32);
    result
}

/// Executes a template file of a chart as Helm does, and records where the output comes from.
///
/// # Errors
/// As [`execute`].
pub fn render(
    template: &Template,
    dot: &Value,
    host: &dyn Host,
    budget: &Budget,
) -> Result<Rendered, Error> {
    let _nested = budget.enter_evaluation()?;
    let mut machine = Machine::new(host, budget);
    machine.parts = Some(Vec::new());
    let result = machine.run(template, dot);
    budget.leave(machine.frames.len() as u32);
    let parts = machine.parts.take().unwrap_or_default();
    result.map(|text| Rendered::new(text, parts))
}

struct Machine<'h> {
    host: &'h dyn Host,
    budget: &'h Budget,
    operands: Vec<Operand>,
    variables: Vec<(Index, Operand)>,
    dots: Vec<Operand>,
    marks: Vec<usize>,
    loops: Vec<Loop>,
    frames: Vec<Frame>,
    outputs: Vec<String>,
    /// Where the parts of the outermost output were written, if that is recorded.
    parts: Option<Vec<Part>>,
    /// The number of active includes of each name, as Helm counts them.
    included: HashMap<Arc<str>, u32>,
    tpl_depth: u32,
}

/// An active template.
struct Frame {
    template: Template,
    next: usize,
    /// The templates that the evaluated texts define, innermost text first.
    scope: Option<Rc<Scope>>,
    /// The length of the stack of variables when the template started.
    variables: usize,
    caller: Caller,
}

/// What started a template, which decides what happens to its output.
enum Caller {
    /// [`execute`]: the output is the result.
    Execute,
    /// `template`: the output is appended to that of the caller.
    Template,
    /// `include`: the output is the value of the call.
    Include(Arc<str>),
    /// `tpl`: the output is the value of the call.
    Tpl,
}

/// The templates that a text defines, and those of the texts around it.
struct Scope {
    template: Template,
    outer: Option<Rc<Scope>>,
}

impl<'h> Machine<'h> {
    fn new(host: &'h dyn Host, budget: &'h Budget) -> Self {
        Self {
            host,
            budget,
            operands: Vec::with_capacity(8),
            variables: Vec::with_capacity(4),
            dots: Vec::with_capacity(4),
            marks: Vec::new(),
            loops: Vec::new(),
            frames: Vec::with_capacity(1),
            outputs: Vec::with_capacity(1),
            parts: None,
            included: HashMap::new(),
            tpl_depth: 0,
        }
    }

    fn run(&mut self, template: &Template, dot: &Value) -> Result<String, Error> {
        let scope = scope_of(template, None);
        self.outputs.push(String::new());
        self.enter(template.clone(), dot.clone(), scope, Caller::Execute)?;
        loop {
            match self.step() {
                Ok(None) => {}
                Ok(Some(text)) => return Ok(text),
                Err(error) => return Err(self.locate(error)),
            }
        }
    }

    fn enter(
        &mut self,
        template: Template,
        dot: Value,
        scope: Option<Rc<Scope>>,
        caller: Caller,
    ) -> Result<(), Error> {
        self.budget.enter()?;
        if template.text.has_labels {
            self.budget.note_label();
        }
        let dot = Operand::plain(dot);
        self.frames.push(Frame {
            template,
            next: 0,
            scope,
            variables: self.variables.len(),
            caller,
        });
        self.variables.push((0, dot.clone()));
        self.dots.push(dot);
        Ok(())
    }

    /// Executes one instruction. Returns the output after the last instruction.
    fn step(&mut self) -> Result<Option<String>, Error> {
        self.budget.step(1)?;
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Some(String::new()));
        };
        let operation = frame.template.code().operations[frame.next];
        frame.next += 1;
        match operation {
            Operation::Text(start, end) => self.text(start, end)?,
            Operation::Print => self.print()?,
            Operation::Drop => drop(self.pop()),
            Operation::DropBelow => {
                let top = self.pop();
                self.pop();
                self.operands.push(top);
            }
            Operation::Constant(index) => self.constant(index),
            Operation::Dot => self.push_dot(),
            Operation::Variable(name) => self.push_variable(name)?,
            Operation::Field(name) => self.field(name)?,
            Operation::Method(name, count) => self.check_method(name, count as usize)?,
            Operation::CallMethod(name, count) => self.call_method(name, count as usize)?,
            Operation::Call(function, count) => self.call(function, count as usize)?,
            Operation::Convert(parameter) => {
                let converted = self.pop().convert(parameter)?;
                self.operands.push(converted);
            }
            Operation::Roll(below) => {
                let place = self.operands.len() - 1 - below as usize;
                let rolled = self.operands.remove(place);
                self.operands.push(rolled);
            }
            Operation::Unbox => {
                if let Some(top) = self.operands.last_mut() {
                    top.boxed = false;
                }
            }
            Operation::Return => return self.leave(),
            _ => self.control(operation)?,
        }
        Ok(None)
    }

    fn control(&mut self, operation: Operation) -> Result<(), Error> {
        match operation {
            Operation::ShortCircuit(stops_at, target) => self.short_circuit(stops_at, target)?,
            Operation::Declare(name) => {
                let value = self.top();
                self.variables.push((name, value));
            }
            Operation::Assign(name) => {
                let value = self.top();
                self.assign(name, value)?;
            }
            Operation::Mark => self.marks.push(self.variables.len()),
            Operation::Release => {
                let length = self.marks.pop().unwrap_or(0);
                self.variables.truncate(length);
            }
            Operation::JumpIfFalse(target) => self.jump_if_false(target)?,
            Operation::Jump(target) => self.jump(target),
            Operation::With(target) => {
                let value = self.pop();
                if value.value.truth()? {
                    self.dots.push(value);
                } else {
                    self.jump(target);
                }
            }
            Operation::EndWith => drop(self.dots.pop()),
            Operation::Range(variables, target) => self.begin_range(variables, target)?,
            Operation::Next(target) => self.next_item(target)?,
            Operation::Break => self.end_loop(),
            Operation::Defined(name) => self.check_defined(name)?,
            Operation::Template(name) => self.template(name)?,
            Operation::Fail(index) => return Err(self.fault(index)),
            _ => {}
        }
        Ok(())
    }

    fn constant(&mut self, index: Index) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let value = match &frame.template.text.constants[index as usize] {
            Constant::Nil => Value::Nil,
            Constant::Bool(flag) => Value::Bool(*flag),
            Constant::Int(number) => Value::Int(*number),
            Constant::Int64(number) => Value::Int64(*number),
            Constant::Float(number) => Value::Float(*number),
            Constant::Complex(real, imaginary) => Value::Object(Rc::new(Complex {
                real: *real,
                imaginary: *imaginary,
            })),
            Constant::String(text) => Value::String(Arc::clone(text)),
            Constant::EmptyList => Value::list(Vec::new()),
            Constant::EmptyMap => Value::map(Default::default()),
        };
        self.operands.push(Operand::plain(value));
    }

    fn short_circuit(&mut self, stops_at: bool, target: Index) -> Result<(), Error> {
        let Some(top) = self.operands.last() else {
            return Ok(());
        };
        if top.value.truth()? == stops_at {
            self.jump(target);
        } else {
            self.pop();
        }
        Ok(())
    }

    fn jump_if_false(&mut self, target: Index) -> Result<(), Error> {
        if !self.pop().value.truth()? {
            self.jump(target);
        }
        Ok(())
    }

    fn jump(&mut self, target: Index) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = target as usize;
        }
    }

    fn push_dot(&mut self) {
        let dot = self.dots.last().cloned();
        self.operands.push(dot.unwrap_or_default());
    }

    fn push_variable(&mut self, name: Index) -> Result<(), Error> {
        let place = self.variable(name)?;
        let value = self.variables[place].1.clone();
        self.operands.push(value);
        Ok(())
    }

    fn assign(&mut self, name: Index, value: Operand) -> Result<(), Error> {
        let place = self.variable(name)?;
        self.variables[place].1 = value;
        Ok(())
    }

    /// The index of the innermost variable of a name.
    fn variable(&self, name: Index) -> Result<usize, Error> {
        let begin = self.frames.last().map_or(0, |frame| frame.variables);
        let own = &self.variables[begin..];
        let found = own.iter().rposition(|(variable, _)| *variable == name);
        found.map(|place| begin + place).ok_or_else(|| {
            let name = self.name(name);
            Error::new(
                ErrorClass::Other,
                format!("the variable `{name}` is not set here"),
            )
        })
    }

    fn name(&self, name: Index) -> Arc<str> {
        self.frames.last().map_or_else(Arc::default, |frame| {
            Arc::clone(&frame.template.text.names[name as usize])
        })
    }

    fn fault(&self, index: Index) -> Error {
        let fault = self
            .frames
            .last()
            .map(|frame| &frame.template.text.faults[index as usize]);
        let (class, message) = fault.cloned().unwrap_or((ErrorClass::Other, String::new()));
        Error::new(class, message)
    }

    /// Ends the innermost template. Returns the output if it was the outermost one.
    fn leave(&mut self) -> Result<Option<String>, Error> {
        let Some(frame) = self.frames.pop() else {
            return Ok(None);
        };
        self.budget.leave(1);
        self.variables.truncate(frame.variables);
        self.dots.pop();
        if matches!(frame.caller, Caller::Template) {
            return Ok(None);
        }
        let text = self.outputs.pop().unwrap_or_default();
        match frame.caller {
            Caller::Execute => return Ok(Some(text)),
            Caller::Tpl => {
                self.tpl_depth -= 1;
                self.push_text(remove_no_value(text));
            }
            Caller::Include(name) => {
                self.count_include(&name, -1);
                self.push_text(text);
            }
            Caller::Template => {}
        }
        Ok(None)
    }

    fn pop(&mut self) -> Operand {
        self.operands.pop().unwrap_or_default()
    }

    fn top(&self) -> Operand {
        self.operands.last().cloned().unwrap_or_default()
    }

    /// Sets the span of an error to the current instruction of the outermost template.
    fn locate(&self, mut error: Error) -> Error {
        let (Some(outermost), Some(innermost)) = (self.frames.first(), self.frames.last()) else {
            return error;
        };
        let span = outermost
            .template
            .code()
            .span(outermost.next.saturating_sub(1));
        let is_ours = error.class != ErrorClass::Fail && error.cause.is_none();
        if self.frames.len() > 1 && is_ours {
            let name = innermost.template.name();
            error.message = match innermost.caller {
                Caller::Tpl => format!("{} (in the text given to `tpl`)", error.message),
                _ => format!("{} (in template `{name}`)", error.message),
            };
        }
        error.with_span(span)
    }
}

/// The scope inside a text, which is a new one only if the text defines templates.
fn scope_of(template: &Template, outer: Option<Rc<Scope>>) -> Option<Rc<Scope>> {
    if template.text.defined.is_empty() {
        return outer;
    }
    Some(Rc::new(Scope {
        template: template.clone(),
        outer,
    }))
}
