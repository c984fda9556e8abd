//! Evaluates the expressions of one cluster's values: the texts, the values as expressions see them, and the values that
//! expressions pass to helpers.
//!
//! Everything is evaluated on demand. The root `.` of an expression holds a [`View`] of the values, a lazy map. When the template
//! engine reads an entry of it, [`Session::value`] evaluates the entry: a text that is an expression is executed by the engine
//! with such a root ([`Session::text`], rules 1 to 4 of docs/expressions.md#the-evaluator), which may read more entries. In exact
//! evaluation a view shows texts as they are written, and the text that an expression prints is executed again.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use go_template::root::{self, Root};
use go_template::value::{Lazy, Map, PLAIN_MAP};
use go_template::{Budget, Error, ErrorClass, Value};
use yaml_tree::place::Place;
use yaml_tree::value::{self as tree, Node};

use super::convert::{self, DEEPEST};
use super::exact::{Evaluate, Internal};
use super::failure::{FailureStep, keep_message, with_step};
use super::files::Files;
use super::order::{OrderCandidate, OrderLog};
use super::path::Path;
use super::short_form;
use super::text::{self, Expression, RAW, SKIP, Zone};
use super::text::{is_encapsulated, is_special, is_template, shield};
use super::trace::Trace;
use super::{Evaluation, Options, TemplateCache};

/// The maximum number of times that the result of an expression may be an expression again. Helm's limit on nested `include`s
/// has the same effect.
const MOST_ROUNDS: usize = 1000;

/// The key that Sylva removes while it evaluates the values, because its content is evaluated once for each unit.
pub(super) const UNIT_TEMPLATES: &str = "unit_templates";
/// The key whose content Sylva evaluates with the rest, and then restores to the original text.
pub(super) const UNIT_DEFAULTS: &str = "unit_definition_defaults";

/// The evaluation of one cluster's values.
pub(super) struct Session {
    /// This session, for the views of its values.
    this: Weak<Session>,
    /// The order of evaluation, the engine, and what the root shows besides the values.
    pub(super) options: Options,
    /// The values as in the files.
    pub(super) root: Node,
    /// The parsed texts of all clusters.
    pub(super) cache: TemplateCache,
    /// The budget, which all sessions over the same values share.
    pub(super) budget: Rc<Budget>,
    /// What each expression read, if readings are traced.
    trace: Option<Rc<Trace>>,
    /// What the expressions in each zone see, from the first one on that is executed.
    scopes: [OnceCell<Scope>; 3],
    /// What the evaluation has found out so far. It is never borrowed while an expression runs.
    progress: RefCell<Progress>,
}

/// What expressions see.
struct Scope {
    /// The root `.`
    dot: Value,
    /// `.Values`
    values: Rc<Map>,
    /// The stages of `.Values._internal`, in exact evaluation.
    internal: Option<Internal>,
}

/// What an evaluation has found out so far, and what is running.
#[derive(Default)]
struct Progress {
    /// The texts that are evaluated.
    memo: HashMap<Expression, Memo>,
    /// The running expressions, innermost last.
    frames: Vec<Frame>,
    /// For maps of the values, by address, the same map with evaluated keys; none if no key is an expression.
    keyed: HashMap<usize, Option<Arc<tree::Map>>>,
    /// The expressions whose result may depend on the order of evaluation.
    order: OrderLog,
    /// The number of executed texts.
    executions: usize,
}

/// The state of a text's evaluation.
enum Memo {
    Running,
    Done(Result<TextResult, TextError>),
}

/// The result of a text.
#[derive(Clone)]
struct TextResult {
    value: Value,
    order_dependent: bool,
}

/// The error of a text.
#[derive(Clone)]
struct TextError {
    error: Error,
    /// Its byte range in the text; none for text that is in no file.
    span: Option<Range<usize>>,
}

impl From<Error> for TextError {
    fn from(error: Error) -> Self {
        Self { error, span: None }
    }
}

/// A running expression.
struct Frame {
    expression: Expression,
    /// None for a text that is in no file.
    path: Option<Path>,
    /// Whether each action in it is a reference.
    only_prints: bool,
    /// Whether the expression is only a reference to another value, and has the type of that value.
    is_alias: bool,
    /// Whether its result may depend on the order of evaluation.
    order_dependent: bool,
    /// A root for this expression alone, if readings are traced: in a shared root, a value that another expression fetched
    /// already would not be recorded as read.
    dot: Option<Value>,
    /// The number of running helpers, which evaluate their arguments themselves.
    helpers: u32,
}

/// The result of a text that consists of a reference.
enum Aliased {
    Text(String),
    Typed(Value),
}

/// The session, and what its expressions see.
impl Session {
    pub(super) fn new(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        budget: Rc<Budget>,
        trace: Option<Rc<Trace>>,
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            options: options.clone(),
            root: root.clone(),
            cache: cache.clone(),
            budget,
            trace,
            scopes: Default::default(),
            progress: RefCell::default(),
        })
    }

    /// A session over the same values in exact evaluation.
    pub(super) fn exact(&self) -> Rc<Self> {
        let mut options = self.options.clone();
        options.evaluation = Evaluation::Exact;
        Self::new(&self.root, &options, &self.cache, self.budget.clone(), None)
    }

    /// A session with the same order of evaluation in which nothing is evaluated yet.
    fn fresh(&self) -> Rc<Self> {
        let (budget, trace) = (Rc::clone(&self.budget), self.trace.clone());
        let fresh = Self::new(&self.root, &self.options, &self.cache, budget, trace);
        fresh.scope(Zone::Values);
        fresh
    }

    pub(super) fn is_exact(&self) -> bool {
        self.options.evaluation == Evaluation::Exact
    }

    /// The number of executed texts.
    pub(super) fn executions(&self) -> usize {
        self.progress.borrow().executions
    }

    /// The expressions since the last call whose result may depend on the order of evaluation.
    pub(super) fn order_candidates(&self) -> Vec<OrderCandidate> {
        self.progress.borrow_mut().order.take_candidates()
    }

    /// The root `.` of the running expression.
    pub(super) fn dot(&self) -> Value {
        let frame = |frame: &Frame| frame.dot.clone();
        let own = self.progress.borrow().frames.last().and_then(frame);
        own.unwrap_or_else(|| self.scope(self.zone()).dot.clone())
    }

    /// Whether a value is the root of the running expression.
    pub(super) fn is_root(&self, dot: &Value) -> bool {
        match (dot, self.dot()) {
            (Value::Map(left), Value::Map(right)) => Rc::ptr_eq(left, &right),
            _ => false,
        }
    }

    /// The zone of the running expression. Exact evaluation has one root, whose `_internal` it replaces.
    pub(super) fn zone(&self) -> Zone {
        let progress = self.progress.borrow();
        let frame = progress.frames.last();
        frame.map_or(Zone::Values, |frame| frame.expression.zone)
    }

    /// What all expressions in a zone see.
    fn scope(&self, zone: Zone) -> &Scope {
        self.scopes[zone as usize].get_or_init(|| self.new_scope(zone))
    }

    fn new_scope(&self, zone: Zone) -> Scope {
        let (options, engine) = (&self.options, self.options.engine);
        let map = self.root.value.as_map();
        let values = Rc::new(match map {
            Some(map) => Map::lazy(
                root::values_type(engine),
                Rc::new(self.view(map, &Path::default(), zone)),
            ),
            None => Map::new(BTreeMap::new()),
        });
        if map.is_some_and(|map| map.get(UNIT_TEMPLATES).is_some()) {
            values.set(UNIT_TEMPLATES, Value::map(BTreeMap::new()));
        }
        let this: Weak<dyn Evaluate> = self.this.clone();
        let internal = { self.is_exact() }.then(|| Internal::new(&values, &this));
        let chart = &options.chart;
        let root = Root {
            engine,
            budget: &self.budget,
            release: &options.release,
            chart,
            files: Files::for_chart(options.templates.as_ref(), &self.budget),
            values: Value::Map(Rc::clone(&values)),
            subcharts: Value::map(BTreeMap::new()),
        };
        let dot = root.dot();
        let base = format!("{}/templates", chart.name);
        let template = format!("{base}/values.yaml");
        root::set_template(&dot, base.into(), template.into());
        Scope {
            dot: Value::Map(dot),
            values,
            internal: internal.flatten(),
        }
    }

    /// Calls a function of the template language.
    pub(super) fn function(&self, name: &'static str, arguments: &[Value]) -> Result<Value, Error> {
        go_template::call(name, arguments, self.options.engine)
    }

    /// Runs the body of a helper. What it reads does not make the calling expression order-dependent, because it evaluates that.
    pub(super) fn run_helper<T>(&self, body: impl FnOnce() -> T) -> T {
        let count = |change: i32| {
            if let Some(frame) = self.progress.borrow_mut().frames.last_mut() {
                frame.helpers = frame.helpers.saturating_add_signed(change);
            }
        };
        count(1);
        let result = body();
        count(-1);
        result
    }
}

/// The evaluation of texts.
impl Session {
    /// Evaluates the string of a value or key. Also records whether the reading expression's result may depend on the order.
    pub(super) fn leaf(&self, text: &Arc<str>, place: Place, path: &Path) -> Result<Value, Error> {
        let expression = Expression {
            text: Arc::clone(text),
            zone: Zone::from_path(path),
        };
        match self.leaf_text(&expression, place, path) {
            Ok(done) => {
                self.note_use(&done, expression, place, path);
                Ok(done.value)
            }
            Err(TextError { error, span }) => Err(with_step(
                error,
                FailureStep {
                    path: path.to_string(),
                    place,
                    text: Arc::clone(text),
                    span,
                },
            )),
        }
    }

    /// Records that the running expression read a value that is the result of another expression. If it does more with the value
    /// than print it, its result may differ in Helm, where it would have got the text of the other expression.
    fn note_use(&self, done: &TextResult, expression: Expression, place: Place, path: &Path) {
        let Progress { order, frames, .. } = &mut *self.progress.borrow_mut();
        let zone = expression.zone;
        if done.order_dependent {
            order.record(OrderCandidate {
                path: path.to_string(),
                place,
                expression,
                value: done.value.clone(),
            });
        }
        order.note_result(&done.value);
        let Some(reader) = frames.last_mut() else {
            return;
        };
        let is_printed = reader.only_prints && matches!(done.value, Value::String(_));
        if zone >= reader.expression.zone && !is_printed && reader.helpers == 0 {
            reader.order_dependent = true;
        }
    }

    fn leaf_text(
        &self,
        expression: &Expression,
        place: Place,
        path: &Path,
    ) -> Result<TextResult, TextError> {
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

    /// The result of a text that is in no file.
    pub(super) fn result(&self, expression: &Expression) -> Result<Value, Error> {
        let result = self.text(expression, None);
        result
            .map(|done| done.value)
            .map_err(|TextError { error, .. }| error)
    }

    /// Evaluates a text by rules 1 to 4 of docs/expressions.md#the-evaluator.
    fn text(&self, expression: &Expression, path: Option<&Path>) -> Result<TextResult, TextError> {
        if let Some(trace) = self.trace() {
            trace.start();
        }
        let result = if self.is_exact() {
            self.text_exactly(expression)
        } else {
            self.text_once(expression, path)
        };
        if let Some(trace) = self.trace() {
            trace.finish(expression, path.is_some());
        }
        result
    }

    /// Evaluates a text as Helm does, without a cache.
    fn text_exactly(&self, expression: &Expression) -> Result<TextResult, TextError> {
        let evaluate = || self.rounds(&self.dot(), &expression.text);
        let value = match &self.scope(Zone::Values).internal {
            Some(internal) => internal.run_in_zone(expression.zone, evaluate),
            None => evaluate(),
        };
        value.map(|value| TextResult {
            value,
            order_dependent: false,
        })
    }

    fn text_once(
        &self,
        expression: &Expression,
        path: Option<&Path>,
    ) -> Result<TextResult, TextError> {
        match self.progress.borrow().memo.get(expression) {
            Some(Memo::Done(result)) => return result.clone(),
            Some(Memo::Running) => return Err(self.cycle(expression, path).into()),
            None => {}
        }
        let remember = |memo| {
            let mut progress = self.progress.borrow_mut();
            progress.memo.insert(expression.clone(), memo);
        };
        remember(Memo::Running);
        let result = self.enter(expression, path);
        remember(Memo::Done(result.clone()));
        result
    }

    fn enter(&self, expression: &Expression, path: Option<&Path>) -> Result<TextResult, TextError> {
        let deepest = self.options.limits.nested;
        if self.progress.borrow().frames.len() >= deepest as usize {
            let message = format!("values depend on each other more than {deepest} deep");
            return Err(Error::new(ErrorClass::Depth, message).into());
        }
        let frame = Frame {
            expression: expression.clone(),
            path: path.cloned(),
            only_prints: text::only_prints(&expression.text),
            is_alias: false,
            order_dependent: false,
            dot: self.trace().map(|_| self.new_scope(expression.zone).dot),
            helpers: 0,
        };
        self.progress.borrow_mut().frames.push(frame);
        let result = self.run(expression);
        let Progress { order, frames, .. } = &mut *self.progress.borrow_mut();
        let order_dependent = frames.pop().is_some_and(|frame| {
            frame.order_dependent || (order.may_be_read(frame.only_prints) && !frame.is_alias)
        });
        result.map(|value| TextResult {
            value,
            order_dependent,
        })
    }

    fn run(&self, expression: &Expression) -> Result<Value, TextError> {
        let output = match self.resolve_alias(expression)? {
            Some(Aliased::Typed(value)) => return Ok(value),
            Some(Aliased::Text(output)) => output,
            None => self.execute(&self.dot(), &expression.text)?,
        };
        let result = if is_encapsulated(&output) {
            convert::decapsulate(&output).and_then(|value| self.interpret(&self.dot(), &value, 0))
        } else if is_template(&output) {
            let (text, zone) = (output.into(), expression.zone);
            self.result(&Expression { text, zone })
        } else {
            Ok(Value::from(output))
        };
        result.map_err(TextError::from)
    }

    /// The value of a text that consists of a reference to another value. Helm prints the text of the other value's expression
    /// and evaluates that, which keeps the type of the result; except for values under `_internal`, which are evaluated earlier.
    fn resolve_alias(&self, expression: &Expression) -> Result<Option<Aliased>, TextError> {
        let text = &*expression.text;
        let Some(alias) = text::alias(text) else {
            return Ok(None);
        };
        let Some((node, path)) = self.raw(&alias.keys) else {
            return Ok(None);
        };
        let Some(target) = node
            .value
            .text_with_labels()
            .filter(|target| is_template(target))
        else {
            return Ok(None);
        };
        let open = text.find("{{");
        let span = open.map(|open| open..text.len() - alias.after.len());
        let value = self.leaf(target, node.place, &path);
        self.note_reading(&path, &node, value.as_ref().ok());
        let value = value.map_err(|error| TextError { error, span })?;
        let evaluated_before = Zone::from_path(&path) < expression.zone;
        Ok(match value {
            Value::String(value) => {
                let is_missing = evaluated_before && *value == *SKIP;
                let value = if is_missing { "" } else { &value };
                let text = format!("{}{value}{}", alias.before, alias.after);
                Some(Aliased::Text(text))
            }
            typed
                if !evaluated_before
                    && alias.before.trim_matches([' ', '\n']).is_empty()
                    && alias.after.trim_matches([' ', '\n', '\t', '\r']).is_empty() =>
            {
                if let Some(frame) = self.progress.borrow_mut().frames.last_mut() {
                    frame.order_dependent = false;
                    frame.is_alias = true;
                }
                Some(Aliased::Typed(typed))
            }
            _ => None,
        })
    }

    /// Evaluates a text as Helm does: while the output is an expression again, it is evaluated again.
    fn rounds(&self, dot: &Value, text: &Arc<str>) -> Result<Value, TextError> {
        let mut output = self.execute(dot, text)?;
        for _ in 0..MOST_ROUNDS {
            if is_encapsulated(&output) {
                let value = convert::decapsulate(&output)?;
                return Ok(self.interpret(dot, &value, 0)?);
            }
            if !is_template(&output) {
                return Ok(Value::from(output));
            }
            output = self
                .execute(dot, &output.into())
                .map_err(|TextError { error, .. }| error)?;
        }
        let message = format!(
            "the result of the expression is an expression again, {MOST_ROUNDS} times over"
        );
        Err(Error::new(ErrorClass::Depth, message).into())
    }

    fn execute(&self, dot: &Value, text: &Arc<str>) -> Result<String, TextError> {
        self.progress.borrow_mut().executions += 1;
        let mut insertions = Vec::new();
        let parse = |text: &Arc<str>| self.cache.parse(text);
        short_form::parse(text, &self.root, parse, &mut insertions)
            .and_then(|template| go_template::execute(&template, dot, self, &self.budget))
            .map_err(|error| TextError {
                span: Some(short_form::restore(error.span.clone(), &insertions)),
                error,
            })
    }

    fn cycle(&self, expression: &Expression, path: Option<&Path>) -> Error {
        let frames = &self.progress.borrow().frames;
        let is_start = |frame: &Frame| frame.expression == *expression;
        let start = frames.iter().position(is_start).unwrap_or_default();
        let paths = { frames[start..].iter() }.filter_map(|frame| frame.path.as_ref());
        let mut names: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
        let first = names.first().cloned();
        names.extend(path.map(|path| format!("`{path}`")).or(first));
        names.dedup();
        let mut error = Error::new(ErrorClass::Cycle, "");
        // However long it is: the last value explains the cycle.
        error.message = format!("the value depends on itself: {}", names.join(" → "));
        error
    }
}

/// The values as expressions see them.
impl Session {
    fn view(&self, map: &Arc<tree::Map>, path: &Path, reader: Zone) -> View {
        View {
            session: Weak::clone(&self.this),
            map: Arc::clone(map),
            path: path.clone(),
            reader,
        }
    }

    /// The value of a node as the expressions of a zone see it.
    pub(super) fn value(&self, node: &Node, path: &Path, reader: Zone) -> Result<Value, Error> {
        if path.depth() > DEEPEST {
            return Err(convert::too_deep());
        }
        if let tree::Value::Opaque(_) = &node.value {
            self.budget.note_label();
        }
        match &node.value {
            tree::Value::String(text) if !self.is_exact() && is_template(text) => {
                self.leaf(text, node.place, path)
            }
            tree::Value::Opaque(opaque) if !self.is_exact() && is_template(&opaque.text) => {
                self.leaf(&opaque.text, node.place, path)
            }
            tree::Value::List(items) => {
                let items: Result<Vec<Value>, Error> = { items.iter().enumerate() }
                    .filter_map(|(index, item)| {
                        self.visible_value(item, &path.index(index), reader)
                            .transpose()
                    })
                    .collect();
                items.map(Value::list)
            }
            tree::Value::Map(map) => {
                if !self.is_exact()
                    && let Some(text) = raw_text(map)?
                {
                    return Ok(Value::from(shield(&text)));
                }
                let view = self.view(map, path, reader);
                Ok(Value::Map(Rc::new(Map::lazy(PLAIN_MAP, Rc::new(view)))))
            }
            other => Ok(convert::scalar(other).unwrap_or(Value::Nil)),
        }
    }

    /// The value of an entry or item as the expressions of a zone see it; none if it was left out before. Expressions of its own
    /// zone, to which Helm gives its text, get the skip text: it is true as any text, and leaves out what it is printed to.
    fn visible_value(
        &self,
        node: &Node,
        path: &Path,
        reader: Zone,
    ) -> Result<Option<Value>, Error> {
        let value = self.value(node, path, reader)?;
        match &value {
            Value::String(text) if self.is_before(path, reader) && is_special(text) => {
                convert::item(value)
            }
            _ => Ok(Some(value)),
        }
    }

    /// Whether the value at a path is evaluated before all expressions of a zone: those read its result.
    fn is_before(&self, path: &Path, zone: Zone) -> bool {
        !self.is_exact() && Zone::from_path(path) < zone
    }

    /// A map of the values with its keys evaluated: the map itself if none is an expression. If two keys have the same result,
    /// the last one in the order of their texts wins.
    pub(super) fn evaluate_keys(
        &self,
        map: &Arc<tree::Map>,
        path: &Path,
    ) -> Result<Arc<tree::Map>, Error> {
        if !self.has_template_keys(map) {
            return Ok(Arc::clone(map));
        }
        let address = Arc::as_ptr(map) as usize;
        if let Some(Some(known)) = self.progress.borrow().keyed.get(&address) {
            return Ok(Arc::clone(known));
        }
        let keyed = map.iter().map(|entry| {
            let key = self.key(entry, path)?;
            Ok(tree::Entry {
                key,
                ..entry.clone()
            })
        });
        let keyed = Arc::new(keyed.collect::<Result<tree::Map, Error>>()?);
        let known = Some(Arc::clone(&keyed));
        self.progress.borrow_mut().keyed.insert(address, known);
        Ok(keyed)
    }

    /// Whether a key of a map of the files is an expression. The answer for a large map is cached.
    pub(super) fn has_template_keys(&self, map: &Arc<tree::Map>) -> bool {
        // A small map is searched faster than the cache.
        const SMALL: usize = 16;
        let search = || map.iter().any(|entry| is_template(&entry.key));
        if map.len() <= SMALL {
            return search();
        }
        let address = Arc::as_ptr(map) as usize;
        let known = &mut self.progress.borrow_mut().keyed;
        let has = known.get(&address).map_or_else(search, Option::is_some);
        if !has {
            known.insert(address, None);
        }
        has
    }

    fn key(&self, entry: &tree::Entry, path: &Path) -> Result<Arc<str>, Error> {
        if !is_template(&entry.key) {
            return Ok(Arc::clone(&entry.key));
        }
        let path = path.key(&entry.key);
        let key = match self.leaf(&entry.key, entry.key_place, &path)? {
            Value::String(key) => convert::ensure_known_key(&key).map(|()| key),
            other => Err(convert::wrong_key(&other)),
        };
        key.map_err(|error| {
            let step = FailureStep {
                path: path.to_string(),
                place: entry.key_place,
                text: Arc::clone(&entry.key),
                span: None,
            };
            with_step(error, step)
        })
    }

    /// The unevaluated node at a path; none if a key on the path is an expression, or a value on it is not a map.
    pub(super) fn raw(&self, keys: &[&str]) -> Option<(Node, Path)> {
        let mut node = &self.root;
        let mut path = Path::default();
        for key in keys {
            let map = node.value.as_map()?;
            if self.has_template_keys(map) {
                return None;
            }
            let entry = map.entry(key)?;
            node = &entry.node;
            path = path.key(&entry.key);
        }
        Some((node.clone(), path))
    }
}

/// A lazy map over a map of the values: entries are evaluated when they are read, except in exact evaluation.
struct View {
    session: Weak<Session>,
    map: Arc<tree::Map>,
    path: Path,
    /// Where the expressions are that see it.
    reader: Zone,
}

impl View {
    fn session(&self) -> Result<Rc<Session>, Error> {
        let over = || Error::new(ErrorClass::Other, "the evaluation is over");
        self.session.upgrade().ok_or_else(over)
    }

    fn map(&self, session: &Session) -> Result<Arc<tree::Map>, Error> {
        if session.is_exact() {
            return Ok(Arc::clone(&self.map));
        }
        session.evaluate_keys(&self.map, &self.path)
    }

    /// Whether an entry is left out where its readers see it. One that fails is there, and fails when it is read.
    fn is_left_out(&self, session: &Session, entry: &tree::Entry) -> bool {
        let text = entry.node.value.text_with_labels();
        text.is_some_and(|text| is_special(text)) && {
            let path = self.path.key(&entry.key);
            session.is_before(&path, self.reader)
                && matches!(
                    session.visible_value(&entry.node, &path, self.reader),
                    Ok(None)
                )
        }
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values at `{}`", self.path)
    }
}

impl Lazy for View {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        let session = self.session()?;
        let map = self.map(&session)?;
        let Some(entry) = map.entry(key) else {
            return Ok(None);
        };
        let path = self.path.key(&entry.key);
        let value = session.visible_value(&entry.node, &path, self.reader);
        let got = value.as_ref().ok().and_then(Option::as_ref);
        session.note_reading(&path, &entry.node, got);
        value
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let session = self.session()?;
        let map = self.map(&session)?;
        let there = { map.iter() }.filter(|entry| !self.is_left_out(&session, entry));
        Ok(there.map(|entry| Arc::clone(&entry.key)).collect())
    }

    fn has(&self, key: &str) -> Result<bool, Error> {
        let session = self.session()?;
        let map = self.map(&session)?;
        Ok({ map.entry(key) }.is_some_and(|entry| !self.is_left_out(&session, entry)))
    }
}

/// The text of a `(raw)` map, which must not be evaluated; none for any other map.
///
/// # Errors
/// The map has other keys, or the value is not a string (docs/expressions.md#the-evaluator).
pub(super) fn raw_text(map: &tree::Map) -> Result<Option<Arc<str>>, Error> {
    let Some(node) = map.get(RAW) else {
        return Ok(None);
    };
    let fail = |message| Err(Error::new(ErrorClass::Fail, message));
    if map.len() != 1 {
        let keys: Vec<&str> = map.iter().map(|entry| &*entry.key).collect();
        return fail(format!(
            "a `{RAW}` key must be the only one of its map, and this map has {}",
            keys.join(", ")
        ));
    }
    match &node.value {
        tree::Value::String(text) => Ok(Some(Arc::clone(text))),
        tree::Value::Opaque(opaque) => Ok(Some(Arc::clone(&opaque.text))),
        other => fail(format!(
            "the value of a `{RAW}` key must be a string, and it is {}",
            other.kind()
        )),
    }
}

/// The values that expressions pass to helpers.
impl Session {
    /// Evaluates a value that an expression passes to a helper, with the root `dot` that it passes.
    ///
    /// # Errors
    /// Any expression in the value fails.
    pub(super) fn interpret(&self, dot: &Value, data: &Value, depth: u32) -> Result<Value, Error> {
        if depth > DEEPEST {
            return Err(convert::too_deep());
        }
        match data {
            Value::String(text) if is_template(text) => self.interpret_text(dot, text),
            Value::List(list) => {
                let mut items = Vec::new();
                for data in &list.items {
                    let item = self.interpret(dot, data, depth + 1)?;
                    items.extend(convert::item(item)?);
                }
                Ok(Value::list(items))
            }
            Value::Map(map) => {
                let entries = map.entries()?;
                if let Some(raw) = entries.get(RAW) {
                    return raw_value(raw, entries.len());
                }
                let mut result = BTreeMap::new();
                for (key, data) in entries {
                    let key = self.interpret_key(dot, key)?;
                    let item = self.interpret(dot, &data, depth + 1)?;
                    if let Some(value) = convert::item(item)? {
                        result.insert(key, value);
                    }
                }
                Ok(Value::map(result))
            }
            other => convert::plain(other, depth),
        }
    }

    fn interpret_key(&self, dot: &Value, key: Arc<str>) -> Result<Arc<str>, Error> {
        if !is_template(&key) {
            return Ok(key);
        }
        match self.interpret_text(dot, &key)? {
            Value::String(key) => {
                convert::ensure_known_key(&key)?;
                Ok(key)
            }
            other => Err(convert::wrong_key(&other)),
        }
    }

    fn interpret_text(&self, dot: &Value, text: &Arc<str>) -> Result<Value, Error> {
        let result = if !self.is_exact() && self.is_root(dot) {
            let (text, zone) = (Arc::clone(text), self.zone());
            self.result(&Expression { text, zone })
        } else {
            let result = self.rounds(dot, text);
            result.map_err(|TextError { error, .. }| error)
        };
        result.map_err(keep_message)
    }

    /// Evaluates all values in Helm's order, including side effects (exact evaluation).
    pub(super) fn evaluate_all(&self) -> Result<Node, Error> {
        let scope = self.scope(Zone::Values);
        if let Some(internal) = &scope.internal {
            internal.evaluate_all(self)?;
        }
        let values = Value::Map(Rc::clone(&scope.values));
        let result = self.interpret(&scope.dot, &values, 0)?;
        if let Value::Map(result) = &result {
            for key in [UNIT_TEMPLATES, UNIT_DEFAULTS] {
                if let Some(node) = self.root.get_path(&[key]) {
                    result.set(key, convert::whole_value(node, &self.budget));
                }
            }
        }
        convert::node_with_places(&result, Some(&self.root), Place::NONE)
    }

    /// In exact evaluation, an entry of `_internal` as all other expressions see it.
    pub(super) fn internal_entry(&self, key: &str) -> Result<Option<Value>, Error> {
        let internal = self.scope(Zone::Values).internal.as_ref();
        internal.map_or(Ok(None), |internal| internal.entry(key))
    }
}

fn raw_value(raw: &Value, count: usize) -> Result<Value, Error> {
    let fail = |message| Err(Error::new(ErrorClass::Fail, message));
    match raw {
        _ if count != 1 => fail(format!("a `{RAW}` key must be the only one of its map")),
        Value::String(text) => Ok(Value::from(shield(text))),
        other => fail(format!(
            "the value of a `{RAW}` key must be a string, and it is `{}`",
            other.type_name()
        )),
    }
}

impl Evaluate for Session {
    fn evaluate(&self, data: &Value) -> Result<Value, Error> {
        self.interpret(&self.dot(), data, 0)
    }

    fn item(&self, value: Value) -> Result<Option<Value>, Error> {
        convert::item(value)
    }
}

/// What expressions read.
impl Session {
    /// What each expression read, if readings are traced.
    pub(super) fn trace(&self) -> Option<&Trace> {
        self.trace.as_deref()
    }

    /// Records that an expression reads a value, if readings are traced.
    fn note_reading(&self, path: &Path, raw: &Node, got: Option<&Value>) {
        let Some(trace) = self.trace() else { return };
        let got = got
            .filter(|got| !matches!(got, Value::Map(_) | Value::List(_)))
            .and_then(|got| convert::node(got, raw.place).ok());
        trace.read(path, raw, got.map(|node| node.value));
    }
}
