//! Calls of functions, methods, and templates (`include`, `template`, `tpl`).

use std::rc::Rc;
use std::sync::Arc;

use super::super::code::{Index, Template};
use super::super::function::{Body, Call, Function, Signature};
use super::super::host::Definition;
use super::super::{Error, ErrorClass, Value, labels, secret};
use super::operands::{Operand, nil_pointer, no_field};
use super::{Caller, Machine, Scope, scope_of};

/// The maximum nesting of an `include` of the same name, as in Helm.
const INCLUDES: u32 = 1000;

/// The maximum nesting of `tpl`. Helm has no such limit and crashes instead.
const TPLS: u32 = 1000;

/// As many bytes of a text that a function returns are a step, and as many items of a list: a loop that doubles one ends.
const MADE_BYTES: usize = 16;
const MADE_ITEMS: usize = 4;

impl<'h> Machine<'h> {
    pub(super) fn field(&mut self, name: Index) -> Result<(), Error> {
        let receiver = self.pop();
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let name = &frame.template.text.names[name as usize];
        if self.host.needs_keys() && receiver.lacks(name)? {
            let message = format!("the map has no entry for key `{name}`");
            return Err(Error::new(ErrorClass::Other, message));
        }
        let field = receiver.field(name)?;
        self.operands.push(field);
        Ok(())
    }

    pub(super) fn call(&mut self, function: &'static Function, count: usize) -> Result<(), Error> {
        match function.body {
            Body::Include => return self.include(),
            Body::Tpl => return self.tpl(),
            Body::Plain(body) => {
                let arguments = self.arguments(count);
                let mut call = Call {
                    name: function.name,
                    arguments: &arguments,
                    engine: self.host.engine(),
                    has_cluster: self.host.has_cluster(),
                };
                let value = if self.budget.has_labels() {
                    labels::run(call, body, function.labels)?
                } else {
                    body(&mut call)?
                };
                self.budget.step(match &value {
                    Value::String(text) => text.len() / MADE_BYTES,
                    Value::List(list) => list.items.len() / MADE_ITEMS,
                    _ => 0,
                } as u64)?;
                self.operands.push(Operand::plain(value));
            }
            Body::And | Body::Or => {}
        }
        Ok(())
    }

    fn arguments(&mut self, count: usize) -> Vec<Value> {
        let begin = self.operands.len().saturating_sub(count);
        self.operands
            .drain(begin..)
            .map(|operand| operand.value)
            .collect()
    }

    /// Fails unless the top has this method and the method accepts this number of arguments.
    pub(super) fn check_method(&mut self, name: Index, count: usize) -> Result<(), Error> {
        let name = self.name(name);
        let receiver = self.top();
        match method(&receiver, &name)? {
            Some(signature) => match signature.count_error(&name, count) {
                Some(message) => Err(Error::new(ErrorClass::WrongArgCount, message)),
                None => Ok(()),
            },
            None if matches!(receiver.value, Value::Nil) => Ok(()),
            None => Err(Error::new(
                ErrorClass::Other,
                format!("`.{name}` is not a method and takes no arguments"),
            )),
        }
    }

    pub(super) fn call_method(&mut self, name: Index, count: usize) -> Result<(), Error> {
        let name = self.name(name);
        let begin = self.operands.len().saturating_sub(count);
        let given: Vec<Operand> = self.operands.drain(begin..).collect();
        let receiver = self.pop();
        let mut result = Operand::default();
        if let (Value::Object(object), Some(signature)) =
            (&receiver.value, method(&receiver, &name)?)
        {
            let mut arguments = Vec::with_capacity(given.len());
            for (index, operand) in given.into_iter().enumerate() {
                let converted = match signature.parameter(index) {
                    Some(parameter) => operand.convert(parameter)?,
                    None => operand,
                };
                arguments.push(converted.value);
            }
            if self.budget.has_labels() {
                labels::refuse(&arguments)?;
            }
            let value = object.call(&name, &arguments)?;
            result = Operand::plain(value);
        }
        self.operands.push(result);
        Ok(())
    }

    pub(super) fn check_defined(&mut self, name: Index) -> Result<(), Error> {
        let name = self.name(name);
        if self.own_template(&name)?.is_some() || self.host.find_definition(&name).is_some() {
            return Ok(());
        }
        Err(self.host.missing(&name))
    }

    pub(super) fn template(&mut self, name: Index) -> Result<(), Error> {
        let name = self.name(name);
        let dot = self.pop().value;
        match self.find_definition(&name)? {
            Definition::Native(native) => {
                let text = native.call(dot)?;
                self.write(&text)
            }
            Definition::Template(template) => {
                let scope = self.scope();
                self.enter(template, dot, scope, Caller::Template)
            }
        }
    }

    /// Executes `include NAME DOT`.
    fn include(&mut self) -> Result<(), Error> {
        let (name, dot) = self.pop_text_and_dot()?;
        if self.count_include(&name, 0) > INCLUDES {
            let message = format!("`include` of `{name}` is nested more than {INCLUDES} deep");
            return Err(Error::new(ErrorClass::Depth, message));
        }
        match self.find_definition(&name)? {
            Definition::Native(native) => {
                let text = native.call(dot)?;
                self.push_text(text);
                Ok(())
            }
            Definition::Template(template) => {
                self.count_include(&name, 1);
                self.outputs.push(String::new());
                let scope = self.scope();
                self.enter(template, dot, scope, Caller::Include(name))
            }
        }
    }

    /// Executes `tpl TEXT DOT`.
    fn tpl(&mut self) -> Result<(), Error> {
        let (text, dot) = self.pop_text_and_dot()?;
        if self.tpl_depth >= TPLS {
            let message = format!("`tpl` is nested more than {TPLS} deep");
            return Err(Error::new(ErrorClass::Depth, message));
        }
        self.budget.step(text.len() as u64)?;
        let template = self.host.parse(&text).map_err(|error| {
            secret::error(&text).unwrap_or_else(|| {
                Error::new(
                    error.class,
                    format!("{} (in the text given to `tpl`)", error.message),
                )
            })
        })?;
        let scope = scope_of(&template, self.scope());
        self.outputs.push(String::new());
        self.tpl_depth += 1;
        self.enter(template, dot, scope, Caller::Tpl)
    }

    /// Pops the arguments of `include` or `tpl`.
    fn pop_text_and_dot(&mut self) -> Result<(Arc<str>, Value), Error> {
        let dot = self.pop().value;
        match self.pop().value {
            Value::String(text) => Ok((text, dot)),
            _ => Err(Error::new(ErrorClass::WrongType, "expected a string")),
        }
    }

    /// The templates that the current template sees, for one that it calls.
    fn scope(&self) -> Option<Rc<Scope>> {
        self.frames.last().and_then(|frame| frame.scope.clone())
    }

    /// Changes the number of active includes of a name, and returns the new number.
    pub(super) fn count_include(&mut self, name: &Arc<str>, change: i32) -> u32 {
        let count = self.included.entry(Arc::clone(name)).or_default();
        *count = count.saturating_add_signed(change);
        *count
    }

    fn find_definition(&self, name: &str) -> Result<Definition<'h>, Error> {
        if let Some(template) = self.own_template(name)? {
            let outside = template
                .is_empty()
                .then(|| self.host.find_definition(name))
                .flatten();
            return Ok(outside.unwrap_or(Definition::Template(template)));
        }
        self.host
            .find_definition(name)
            .ok_or_else(|| self.host.missing(name))
    }

    /// A template that the evaluated texts define. A text inside another one takes precedence, unless its template is empty.
    fn own_template(&self, name: &str) -> Result<Option<Template>, Error> {
        let mut found = None;
        let mut scope = self.frames.last().and_then(|frame| frame.scope.as_ref());
        while let Some(current) = scope {
            self.budget.step(1)?;
            match current.template.find_definition(name) {
                Some(template) if !template.is_empty() => return Ok(Some(template)),
                Some(template) => found = found.or(Some(template)),
                None => {}
            }
            scope = current.outer.as_ref();
        }
        Ok(found)
    }
}

/// The signature of a method of the operand; none if the name is a field.
fn method(receiver: &Operand, name: &str) -> Result<Option<Signature>, Error> {
    match &receiver.value {
        Value::Object(object) => {
            let signature = object.method(name);
            if signature.is_none() && object.field(name)?.is_none() {
                return Err(no_field(&receiver.value, name));
            }
            Ok(signature)
        }
        Value::Nil if receiver.boxed => Err(nil_pointer(name)),
        Value::Nil | Value::Map(_) => Ok(None),
        other => Err(no_field(other, name)),
    }
}
