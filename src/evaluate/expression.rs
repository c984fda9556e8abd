//! Evaluates the text of an expression: rules 1 to 4 of docs/expressions.md#the-evaluator.

use std::rc::Rc;
use std::sync::Arc;

use super::candidates::OrderCandidate;
use super::convert;
use super::exact;
use super::failure::{Fault, Step};
use super::path::Path;
use super::session::{Frame, Memo, Session, TextFault, TextResult};
use super::short_form::{self, Insertion};
use super::text::{Expression, SKIP, Zone, alias, is_encapsulated, is_template, only_prints};
use super::view;
use go_template::{Error, ErrorClass, Template, Value};
use yaml_tree::place::Place;
use yaml_tree::value as tree;

/// The maximum number of times that the result of an expression may be an expression again. Helm's limit on nested `include`s
/// has the same effect.
const MOST_ROUNDS: usize = 1000;

impl Session {
    /// Evaluates the string of a value or key. Also records whether the reading expression's result may depend on the order.
    pub(super) fn leaf(
        &self,
        text: &Arc<str>,
        place: Place,
        path: &Path,
    ) -> Result<Value, Rc<Fault>> {
        let expression = Expression {
            text: Arc::clone(text),
            zone: Zone::of(path),
        };
        let result = match self.leaf_text(&expression, place, path) {
            Ok(done) => {
                if done.order_dependent {
                    self.order.record(OrderCandidate {
                        path: path.to_string(),
                        place,
                        expression,
                        value: done.value.clone(),
                    });
                }
                self.note_use(&done.value, path);
                Ok(done.value)
            }
            Err(TextFault { fault, span }) => Err(fault.with_step(Step {
                path: path.to_string(),
                place,
                text: Arc::clone(text),
                span,
            })),
        };
        self.guard(place, result)
    }

    /// Records that the running expression read a value that is the result of another expression. If it does more with the value
    /// than print it, its result may differ in Helm, where it would have got the text of the other expression.
    fn note_use(&self, value: &Value, path: &Path) {
        self.order.note_result(value);
        let mut frames = self.frames.borrow_mut();
        let Some(reader) = frames.last_mut() else {
            return;
        };
        let evaluated_before = Zone::of(path) < reader.expression.zone;
        let is_printed = reader.only_prints && matches!(value, Value::String(_));
        if !evaluated_before && !is_printed && reader.helpers == 0 {
            reader.order_dependent = true;
        }
    }

    fn leaf_text(
        &self,
        expression: &Expression,
        place: Place,
        path: &Path,
    ) -> Result<TextResult, TextFault> {
        let Some(trace) = self.trace() else {
            return self.text(expression, Some(path));
        };
        let result = if self.is_exact() {
            // A fresh session: values that an earlier expression fetched would not be recorded as read again.
            self.fresh().text(expression, Some(path))
        } else {
            self.text(expression, Some(path))
        };
        trace.assign_place(expression, place);
        result
    }

    /// Evaluates a text by rules 1 to 4 of docs/expressions.md#the-evaluator.
    pub(super) fn text(
        &self,
        expression: &Expression,
        path: Option<&Path>,
    ) -> Result<TextResult, TextFault> {
        let Some(trace) = self.trace() else {
            return self.untraced(expression, path);
        };
        trace.start();
        let result = self.untraced(expression, path);
        trace.finish(expression, path.is_some());
        result
    }

    fn untraced(
        &self,
        expression: &Expression,
        path: Option<&Path>,
    ) -> Result<TextResult, TextFault> {
        if self.is_exact() {
            return self.text_exactly(expression);
        }
        match self.memo.borrow().get(expression) {
            Some(Memo::Done(done)) => return Ok(done.clone()),
            Some(Memo::Failed(fault)) => return Err(fault.clone()),
            Some(Memo::Running) => return Err(self.cycle(expression, path).into()),
            None => {}
        }
        let remember = |memo| self.memo.borrow_mut().insert(expression.clone(), memo);
        remember(Memo::Running);
        let result = self.enter(expression, path);
        remember(match &result {
            Ok(done) => Memo::Done(done.clone()),
            Err(fault) => Memo::Failed(fault.clone()),
        });
        result
    }

    fn enter(&self, expression: &Expression, path: Option<&Path>) -> Result<TextResult, TextFault> {
        let deepest = self.options.limits.nested;
        if self.frames.borrow().len() >= deepest as usize {
            let message = format!("values depend on each other more than {deepest} deep");
            return Err(Fault::new(ErrorClass::Depth, message).into());
        }
        self.frames.borrow_mut().push(Frame {
            expression: expression.clone(),
            path: path.cloned(),
            only_prints: only_prints(&expression.text),
            is_alias: false,
            order_dependent: false,
            dot: self.trace().map(|_| self.new_dot(expression.zone)),
            helpers: 0,
        });
        let result = self.run(expression);
        let frame = self.frames.borrow_mut().pop();
        result.map(|value| TextResult {
            value,
            order_dependent: frame.is_some_and(|frame| self.is_order_dependent(&frame)),
        })
    }

    fn is_order_dependent(&self, frame: &Frame) -> bool {
        let may_have_read_results = self.order.may_be_read(frame.only_prints);
        frame.order_dependent || (may_have_read_results && !frame.is_alias)
    }

    fn run(&self, expression: &Expression) -> Result<Value, TextFault> {
        let output = match self.aliased(expression)? {
            Some(Aliased::Typed(value)) => return Ok(value),
            Some(Aliased::Text(output)) => output,
            None => self.execute(&self.dot(), &expression.text)?,
        };
        if is_encapsulated(&output) {
            convert::decapsulate(&output, &self.budget)
                .and_then(|value| self.interpret(&self.dot(), &value, 0))
                .map_err(|error| self.fault(error).into())
        } else if is_template(&output) {
            let text = output.into();
            let zone = expression.zone;
            match self.text(&Expression { text, zone }, None) {
                Ok(done) => Ok(done.value),
                Err(TextFault { fault, .. }) => Err(fault.into()),
            }
        } else {
            Ok(Value::from(output))
        }
    }

    /// The value of a text that consists of a reference to another value. Helm prints the text of the other value's expression
    /// and evaluates that, which keeps the type of the result; except for values under `_internal`, which are evaluated earlier.
    fn aliased(&self, expression: &Expression) -> Result<Option<Aliased>, TextFault> {
        let text = &*expression.text;
        let Some(alias) = alias(text) else {
            return Ok(None);
        };
        let Some((node, path)) = view::raw(self, &alias.keys) else {
            return Ok(None);
        };
        let tree::Value::String(target) = &node.value else {
            return Ok(None);
        };
        if !is_template(target) {
            return Ok(None);
        }
        let span = text
            .find("{{")
            .map(|open| open..text.len() - alias.after.len());
        let value = self.leaf(target, node.place, &path);
        self.note_reading(&path, &node, value.as_ref().ok());
        let value = value.map_err(|fault| TextFault { fault, span })?;
        let evaluated_before = Zone::of(&path) < expression.zone;
        Ok(match value {
            Value::String(value) => {
                let is_missing = evaluated_before && *value == *SKIP;
                let value = if is_missing { "" } else { &value };
                let length = alias.before.len() + value.len() + alias.after.len();
                self.budget
                    .charge(length)
                    .map_err(|error| self.fault(error))?;
                let text = format!("{}{value}{}", alias.before, alias.after);
                Some(Aliased::Text(text))
            }
            typed
                if !evaluated_before
                    && alias.before.trim_matches([' ', '\n']).is_empty()
                    && alias.after.trim_matches([' ', '\n', '\t', '\r']).is_empty() =>
            {
                if let Some(frame) = self.frames.borrow_mut().last_mut() {
                    frame.order_dependent = false;
                    frame.is_alias = true;
                }
                Some(Aliased::Typed(typed))
            }
            _ => None,
        })
    }

    /// Evaluates a text as Helm does, without a cache: while the output is an expression again, it is evaluated again.
    fn text_exactly(&self, expression: &Expression) -> Result<TextResult, TextFault> {
        let evaluate = || self.rounds(&self.dot(), &expression.text);
        let value = exact::inside(self, expression.zone, evaluate);
        value.map(|value| TextResult {
            value,
            order_dependent: false,
        })
    }

    fn rounds(&self, dot: &Value, text: &Arc<str>) -> Result<Value, TextFault> {
        let mut output = self.execute(dot, text)?;
        for _ in 0..MOST_ROUNDS {
            if is_encapsulated(&output) {
                return convert::decapsulate(&output, &self.budget)
                    .and_then(|value| self.interpret(dot, &value, 0))
                    .map_err(|error| self.fault(error).into());
            }
            if !is_template(&output) {
                return Ok(Value::from(output));
            }
            output = self
                .execute(dot, &output.into())
                .map_err(|TextFault { fault, .. }| fault)?;
        }
        let message = format!(
            "the result of the expression is an expression again, {MOST_ROUNDS} times over"
        );
        Err(Fault::new(ErrorClass::Depth, message).into())
    }

    /// Evaluates a text that an expression passes to a helper, with the root that it passes.
    pub(super) fn evaluate_passed(&self, dot: &Value, text: &Arc<str>) -> Result<Value, Error> {
        let result = if !self.is_exact() && self.is_root(dot) {
            let (text, zone) = (Arc::clone(text), self.zone());
            let result = self.text(&Expression { text, zone }, None);
            result.map(|done| done.value)
        } else {
            self.rounds(dot, text)
        };
        result.map_err(|TextFault { fault, .. }| self.raise(fault))
    }

    fn execute(&self, dot: &Value, text: &Arc<str>) -> Result<String, TextFault> {
        self.executions.set(self.executions.get() + 1);
        let (template, insertions) = self.template(text).map_err(|(error, insertions)| {
            let span = Some(short_form::restore(error.span.clone(), &insertions));
            let fault = self.fault(error);
            TextFault { fault, span }
        })?;
        go_template::execute(&template, dot, self, &self.budget).map_err(|error| {
            let span = Some(short_form::restore(error.span.clone(), &insertions));
            let fault = self.fault(error);
            TextFault { fault, span }
        })
    }

    /// Parses a text. A name that is not a function but a key of `cluster` is expanded to that key; see [`short_form`].
    fn template(
        &self,
        text: &Arc<str>,
    ) -> Result<(Template, Vec<Insertion>), (Error, Vec<Insertion>)> {
        let mut insertions = Vec::new();
        let mut text = Arc::clone(text);
        loop {
            if let Err(error) = self.budget.charge_parse(&text) {
                return Err((error, insertions));
            }
            let error = match self.cache.parse(&text) {
                Ok(template) => return Ok((template, insertions)),
                Err(error) => error,
            };
            match short_form::expand(&text, &error, &self.root) {
                Some((expanded, insertion)) => {
                    insertions.push(insertion);
                    text = expanded;
                }
                None => return Err((error, insertions)),
            }
        }
    }

    fn cycle(&self, expression: &Expression, path: Option<&Path>) -> Rc<Fault> {
        let frames = self.frames.borrow();
        let start = frames
            .iter()
            .position(|frame| frame.expression == *expression)
            .unwrap_or_default();
        let mut names: Vec<String> = frames[start..]
            .iter()
            .filter_map(|frame| frame.path.as_ref())
            .map(|path| format!("`{path}`"))
            .collect();
        let first = names.first().cloned();
        names.extend(path.map(|path| format!("`{path}`")).or(first));
        names.dedup();
        Fault::new(
            ErrorClass::Cycle,
            format!("the value depends on itself: {}", names.join(" → ")),
        )
    }
}

/// The result of a text that consists of a reference.
enum Aliased {
    Text(String),
    Typed(Value),
}
