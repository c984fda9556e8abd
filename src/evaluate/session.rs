//! The state of one cluster's evaluation: results, running expressions, and the budget.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::candidates::OrderLog;
use super::convert;
use super::exact;
use super::failure::Fault;
use super::files::Files;
use super::guard::Guard;
use super::helpers::{self, Helper};
use super::path::Path;
use super::root::{self, Root};
use super::text::{Expression, Zone};
use super::trace::Trace;
use super::view::{self, View};
use super::{Evaluation, Options, TemplateCache};
use go_template::value::Map;
use go_template::{Budget, Definition, Engine, Error, Host, Template, Value};
use yaml_tree::place::Place;
use yaml_tree::value::Node;

/// The state that all parts of an evaluation share.
pub(super) struct Session {
    this: Weak<Session>,
    pub(super) options: Options,
    pub(super) root: Node,
    pub(super) cache: TemplateCache,
    /// The budget, which all sessions over the same values share.
    pub(super) budget: Rc<Budget>,
    /// The root `.` of the expressions in each zone.
    dots: [OnceCell<Value>; 3],
    helpers: OnceCell<Vec<Helper>>,
    pub(super) memo: RefCell<HashMap<Expression, Memo>>,
    pub(super) key_tables: RefCell<HashMap<usize, Rc<view::KeyTable>>>,
    /// For each map, by address, whether a key of it is an expression.
    pub(super) template_keys: RefCell<HashMap<usize, bool>>,
    pub(super) frames: RefCell<Vec<Frame>>,
    /// The fault that belongs to the error that the engine is propagating.
    pending: RefCell<Option<Rc<Fault>>>,
    /// The expressions whose result may depend on the order of evaluation.
    pub(super) order: OrderLog,
    pub(super) executions: Cell<usize>,
    /// The stages of `_internal`, in exact evaluation.
    pub(super) internal: OnceCell<exact::Internal>,
    /// What each expression read, and which values are secret, if this is traced.
    pub(super) guard: Option<Rc<Guard>>,
}

/// The state of a text's evaluation.
#[derive(Clone)]
pub(super) enum Memo {
    Running,
    Done(TextResult),
    Failed(TextFault),
}

/// The result of a text.
#[derive(Clone)]
pub(super) struct TextResult {
    pub(super) value: Value,
    pub(super) order_dependent: bool,
}

/// A running expression.
pub(super) struct Frame {
    pub(super) expression: Expression,
    pub(super) path: Option<Path>,
    pub(super) only_prints: bool,
    /// Whether the expression is only a reference to another value, and has the type of that value.
    pub(super) is_alias: bool,
    pub(super) order_dependent: bool,
    /// A root for this expression alone, if readings are traced: in a shared root, a value that another expression fetched
    /// already would not be recorded as read.
    pub(super) dot: Option<Value>,
    /// The number of running helpers, which evaluate their arguments themselves.
    pub(super) helpers: u32,
}

/// A fault of a text.
#[derive(Clone)]
pub(super) struct TextFault {
    pub(super) fault: Rc<Fault>,
    /// Its byte range in the text; none for text that is in no file.
    pub(super) span: Option<Range<usize>>,
}

impl From<Rc<Fault>> for TextFault {
    fn from(fault: Rc<Fault>) -> Self {
        Self { fault, span: None }
    }
}

impl Session {
    pub(super) fn new(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        budget: Rc<Budget>,
        guard: Option<Rc<Guard>>,
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            options: options.clone(),
            root: root.clone(),
            cache: cache.clone(),
            budget,
            dots: Default::default(),
            helpers: OnceCell::new(),
            memo: RefCell::default(),
            key_tables: RefCell::default(),
            template_keys: RefCell::default(),
            frames: RefCell::default(),
            pending: RefCell::default(),
            order: OrderLog::default(),
            executions: Cell::default(),
            internal: OnceCell::new(),
            guard,
        })
    }

    /// A session over the same values in exact evaluation.
    pub(super) fn exact(&self, options: &Options) -> Rc<Self> {
        let budget = Rc::clone(&self.budget);
        Self::new(&self.root, options, &self.cache, budget, None)
    }

    /// A session with the same order of evaluation in which nothing is evaluated yet.
    pub(super) fn fresh(&self) -> Rc<Self> {
        let (budget, guard) = (Rc::clone(&self.budget), self.guard.clone());
        let fresh = Self::new(&self.root, &self.options, &self.cache, budget, guard);
        fresh.dot();
        fresh
    }

    pub(super) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.this)
    }

    pub(super) fn is_exact(&self) -> bool {
        self.options.evaluation == Evaluation::Exact
    }

    /// The number of executed expressions.
    pub(super) fn executions(&self) -> usize {
        self.executions.get()
    }

    /// The root `.` of the running expression.
    pub(super) fn dot(&self) -> Value {
        let own = self
            .frames
            .borrow()
            .last()
            .and_then(|frame| frame.dot.clone());
        let zone = self.zone();
        let shared = || self.dots[zone as usize].get_or_init(|| self.new_dot(zone));
        own.unwrap_or_else(|| shared().clone())
    }

    /// The zone of the running expression. Exact evaluation has one root, whose `_internal` it replaces.
    pub(super) fn zone(&self) -> Zone {
        let frames = self.frames.borrow();
        { frames.last() }.map_or(Zone::Values, |frame| frame.expression.zone)
    }

    /// A root for the expressions in a zone.
    pub(super) fn new_dot(&self, zone: Zone) -> Value {
        let values = match self.root.value.as_map() {
            Some(map) => Map::lazy(
                root::values_type(self.options.engine),
                Rc::new(View::new(self, map, Path::default(), zone)),
            ),
            None => Map::new(Default::default()),
        };
        let values = Rc::new(values);
        exact::prepare(self, &values);
        let chart = &self.options.chart;
        let root = Root {
            engine: self.options.engine,
            release: &self.options.release,
            chart,
            base: format!("{}/templates", chart.name).into(),
            template: format!("{}/templates/values.yaml", chart.name).into(),
            files: Files::of_chart(self.options.templates.as_ref(), &self.budget),
            values: Value::Map(values),
        };
        root.dot()
    }

    /// The fault of an error: the one passed to [`Session::raise`], or a new one.
    pub(super) fn fault(&self, error: Error) -> Rc<Fault> {
        self.pending
            .borrow_mut()
            .take()
            .unwrap_or_else(|| Fault::new(error.class, error.message))
    }

    /// Converts a fault to an error for the engine. [`Session::fault`] finds the fault again.
    pub(super) fn raise(&self, fault: Rc<Fault>) -> Error {
        let error = Error::new(fault.class, fault.message.clone());
        *self.pending.borrow_mut() = Some(fault);
        error
    }

    /// Calls a function of the template language.
    pub(super) fn function(&self, name: &'static str, arguments: &[Value]) -> Result<Value, Error> {
        go_template::call(name, arguments, self.options.engine, &self.budget)
    }

    /// Whether a value is the root that all expressions share.
    pub(super) fn is_root(&self, dot: &Value) -> bool {
        is_same_map(dot, &self.dot())
    }

    /// Runs the body of a helper. What it reads does not make the calling expression order-dependent, because it evaluates that.
    pub(super) fn in_helper<T>(&self, body: impl FnOnce() -> T) -> T {
        let count = |change: i32| {
            if let Some(frame) = self.frames.borrow_mut().last_mut() {
                frame.helpers = frame.helpers.saturating_add_signed(change);
            }
        };
        count(1);
        let result = body();
        count(-1);
        result
    }

    /// What each expression read, if readings are traced.
    pub(super) fn trace(&self) -> Option<&Trace> {
        self.guard.as_deref().map(|guard| &guard.trace)
    }

    /// Records that an expression reads a value, if readings are traced.
    pub(super) fn note_reading(&self, path: &Path, raw: &Node, got: Option<&go_template::Value>) {
        use go_template::Value::{List, Map};
        let Some(trace) = self.trace() else { return };
        let got = got.filter(|got| !matches!(got, Map(_) | List(_)));
        let got = got.and_then(|got| convert::node(got, raw.place, &self.budget).ok());
        trace.read(path, raw, got.map(|node| node.value));
    }

    /// Registers the result of the expression at a place as a secret, if the expression read one.
    pub(super) fn guard(
        &self,
        place: Place,
        result: Result<Value, Rc<Fault>>,
    ) -> Result<Value, Rc<Fault>> {
        let Some(guard) = &self.guard else {
            return result;
        };
        if !guard.is_secret(place) {
            return result;
        }
        match result {
            Ok(value) if !guard.registers => Ok(value),
            Ok(value) => {
                let node = convert::node(&value, place, &self.budget);
                guard.learn(&node.map_err(|error| self.fault(error))?);
                Ok(value)
            }
            Err(fault) => Err(fault.without_message()),
        }
    }

    /// Registers a key in a file of secrets as a secret, unless it is public.
    pub(super) fn guard_key(&self, key: &Arc<str>, place: Place) {
        if let Some(guard) = &self.guard {
            guard.learn_key(key, place);
        }
    }
}

/// Whether two values are the same map in memory.
fn is_same_map(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Map(left), Value::Map(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// Supplies the named templates of the chart, and Sylva's helpers if there is no chart or the helper interprets values.
impl Host for Session {
    fn engine(&self) -> Engine {
        self.options.engine
    }

    fn named(&self, name: &str) -> Option<Definition<'_>> {
        let templates = self.options.templates.as_ref();
        let in_chart = templates.filter(|_| !helpers::is_interpreter(name));
        if let Some(template) = in_chart.and_then(|templates| templates.named(name)) {
            return Some(Definition::Template(template));
        }
        let index = helpers::position(name)?;
        let helpers = self.helpers.get_or_init(|| helpers::all(self));
        helpers.get(index).map(|helper| Definition::Native(helper))
    }

    fn missing(&self, name: &str) -> Error {
        let mut error = go_template::missing_template(name);
        if let Some(templates) = &self.options.templates {
            for fault in templates.faults() {
                error.message = format!("{}; {fault}", error.message);
            }
        }
        error
    }

    fn parsed(&self, text: &Arc<str>) -> Result<Template, Error> {
        self.cache.parse(text)
    }
}
