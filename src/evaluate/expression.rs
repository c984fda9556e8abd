//! Evaluates the text of an expression: rules 1 to 4 of docs/expressions.md#the-evaluator.

use std::rc::Rc;
use std::sync::Arc;

use super::convert;
use super::exact;
use super::failure::{Fault, Step};
use super::path::Path;
use super::session::{Frame, Memo, OrderCandidate, Session, TextFault, TextResult};
use super::short_form::{self, Insertion};
use super::text::{alias, is_encapsulated, is_template, only_prints};
use super::view;
use crate::helm::{self, Error, ErrorClass, Template, Value};
use crate::model::place::Place;
use crate::model::value as tree;

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
        let internal = path.begins_with("_internal");
        let result = match self.leaf_text(text, internal, place, path) {
            Ok(done) => {
                if done.order_dependent {
                    self.record_candidate(text, place, path, &done.value);
                }
                self.note_use(&done.value, path);
                Ok(done.value)
            }
            Err((fault, span)) => Err(fault.with_step(Step {
                path: path.to_string(),
                place,
                text: Arc::clone(text),
                span,
            })),
        };
        self.guard(place, result)
    }

    fn record_candidate(&self, text: &Arc<str>, place: Place, path: &Path, value: &Value) {
        let internal = path.begins_with("_internal");
        let mut candidates = self.order_candidates.borrow_mut();
        let mut known = self.known_candidates.borrow_mut();
        if known.insert((Arc::clone(text), internal)) {
            candidates.push(OrderCandidate {
                path: path.to_string(),
                place,
                text: Arc::clone(text),
                internal,
                value: value.clone(),
            });
        }
    }

    /// Records that the running expression read a value that is the result of another expression. If it does more with the value
    /// than print it, its result may differ in Helm, where it would have got the text of the other expression.
    fn note_use(&self, value: &Value, path: &Path) {
        self.holds_evaluated.set(true);
        if !matches!(value, Value::String(_)) {
            self.holds_typed.set(true);
        }
        let mut frames = self.frames.borrow_mut();
        let Some(reader) = frames.last_mut() else {
            return;
        };
        let evaluated_before = path.begins_with("_internal") && !reader.internal;
        let is_printed = reader.only_prints && matches!(value, Value::String(_));
        if !evaluated_before && !is_printed && reader.helpers == 0 {
            reader.order_dependent = true;
        }
    }

    fn leaf_text(
        &self,
        text: &Arc<str>,
        internal: bool,
        place: Place,
        path: &Path,
    ) -> Result<TextResult, TextFault> {
        let Some(trace) = self.trace() else {
            return self.text(text, internal, Some(path));
        };
        let result = if self.is_exact() {
            // A fresh session: values that an earlier expression fetched would not be recorded as read again.
            self.fresh().text(text, internal, Some(path))
        } else {
            self.text(text, internal, Some(path))
        };
        trace.assign_place(text, internal, place);
        result
    }

    /// Evaluates a text by rules 1 to 4 of docs/expressions.md#the-evaluator.
    pub(super) fn text(
        &self,
        text: &Arc<str>,
        internal: bool,
        path: Option<&Path>,
    ) -> Result<TextResult, TextFault> {
        let Some(trace) = self.trace() else {
            return self.untraced(text, internal, path);
        };
        trace.start();
        let result = self.untraced(text, internal, path);
        trace.finish(text, internal, path.is_some());
        result
    }

    fn untraced(
        &self,
        text: &Arc<str>,
        internal: bool,
        path: Option<&Path>,
    ) -> Result<TextResult, TextFault> {
        if self.is_exact() {
            return self.text_exactly(text, internal);
        }
        let key = (Arc::clone(text), internal);
        match self.memo.borrow().get(&key) {
            Some(Memo::Done(done)) => return Ok(done.clone()),
            Some(Memo::Failed(fault, span)) => return Err((Rc::clone(fault), span.clone())),
            Some(Memo::Running) => return Err((self.cycle(&key, path), None)),
            None => {}
        }
        self.memo.borrow_mut().insert(key.clone(), Memo::Running);
        let result = self.enter(text, internal, path);
        let memo = match &result {
            Ok(done) => Memo::Done(done.clone()),
            Err((fault, span)) => Memo::Failed(Rc::clone(fault), span.clone()),
        };
        self.memo.borrow_mut().insert(key, memo);
        result
    }

    fn enter(
        &self,
        text: &Arc<str>,
        internal: bool,
        path: Option<&Path>,
    ) -> Result<TextResult, TextFault> {
        let deepest = self.options.limits.nested;
        if self.frames.borrow().len() >= deepest as usize {
            let message = format!("values depend on each other more than {deepest} deep");
            return Err((Fault::new(ErrorClass::Depth, message), None));
        }
        self.frames.borrow_mut().push(Frame {
            text: Arc::clone(text),
            path: path.cloned(),
            internal,
            only_prints: only_prints(text),
            is_alias: false,
            order_dependent: false,
            dot: self.trace().map(|_| self.new_dot()),
            helpers: 0,
        });
        let result = self.run(text, internal);
        let frame = self.frames.borrow_mut().pop();
        result.map(|value| TextResult {
            value,
            order_dependent: frame.is_some_and(|frame| self.is_order_dependent(&frame)),
        })
    }

    fn is_order_dependent(&self, frame: &Frame) -> bool {
        let may_have_read_results = if frame.only_prints {
            self.holds_typed.get()
        } else {
            self.holds_evaluated.get()
        };
        frame.order_dependent || (may_have_read_results && !frame.is_alias)
    }

    fn run(&self, text: &Arc<str>, internal: bool) -> Result<Value, TextFault> {
        let output = match self.aliased(text, internal)? {
            Some(Aliased::Typed(value)) => return Ok(value),
            Some(Aliased::Text(output)) => output,
            None => self.execute(&self.dot(), text)?,
        };
        let without_span = |error| (self.fault(error), None);
        if is_encapsulated(&output) {
            convert::decapsulate(&output, &self.budget)
                .and_then(|value| self.interpret(&self.dot(), &value, 0))
                .map_err(without_span)
        } else if is_template(&output) {
            match self.text(&output.into(), internal, None) {
                Ok(done) => Ok(done.value),
                Err((fault, _)) => Err((fault, None)),
            }
        } else {
            Ok(Value::from(output))
        }
    }

    /// The value of a text that consists of a reference to another value. Helm prints the text of the other value's expression
    /// and evaluates that, which keeps the type of the result; except for values under `_internal`, which are evaluated earlier.
    fn aliased(&self, text: &str, internal: bool) -> Result<Option<Aliased>, TextFault> {
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
        let value = value.map_err(|fault| (fault, span))?;
        let evaluated_before =
            path.begins_with("_internal") && !(internal && alias.keys.get(1) != Some(&"state"));
        Ok(match value {
            Value::String(value) => {
                let length = alias.before.len() + value.len() + alias.after.len();
                self.budget
                    .charge(length)
                    .map_err(|error| (self.fault(error), None))?;
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
    fn text_exactly(&self, text: &Arc<str>, internal: bool) -> Result<TextResult, TextFault> {
        let evaluate = || self.rounds(&self.dot(), text);
        let value = if internal {
            exact::inside_internal(self, evaluate)
        } else {
            evaluate()
        };
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
                    .map_err(|error| (self.fault(error), None));
            }
            if !is_template(&output) {
                return Ok(Value::from(output));
            }
            output = self
                .execute(dot, &output.into())
                .map_err(|(fault, _)| (fault, None))?;
        }
        let message = format!(
            "the result of the expression is an expression again, {MOST_ROUNDS} times over"
        );
        Err((Fault::new(ErrorClass::Depth, message), None))
    }

    /// Evaluates a text that an expression passes to a helper, with the root that it passes.
    pub(super) fn evaluate_passed(&self, dot: &Value, text: &Arc<str>) -> Result<Value, Error> {
        let result = if !self.is_exact() && self.is_root(dot) {
            let internal = self
                .frames
                .borrow()
                .last()
                .is_some_and(|frame| frame.internal);
            self.text(text, internal, None).map(|done| done.value)
        } else {
            self.rounds(dot, text)
        };
        result.map_err(|(fault, _)| self.raise(fault))
    }

    fn execute(&self, dot: &Value, text: &Arc<str>) -> Result<String, TextFault> {
        self.executions.set(self.executions.get() + 1);
        let (template, insertions) = self.template(text).map_err(|(error, insertions)| {
            let span = short_form::restore(error.span.clone(), &insertions);
            (self.fault(error), Some(span))
        })?;
        helm::execute(&template, dot, self, &self.budget).map_err(|error| {
            let span = short_form::restore(error.span.clone(), &insertions);
            (self.fault(error), Some(span))
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

    fn cycle(&self, key: &(Arc<str>, bool), path: Option<&Path>) -> Rc<Fault> {
        let frames = self.frames.borrow();
        let start = frames
            .iter()
            .position(|frame| frame.text == key.0 && frame.internal == key.1)
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
