//! One cluster's evaluation in progress: what was computed so far, what is being computed, and what it may still spend.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::exact;
use super::failure::Fault;
use super::guard::Guard;
use super::helpers::{self, Helper};
use super::path::Path;
use super::trace::Trace;
use super::view::{self, View};
use super::{Evaluation, Options, TemplateCache, root};
use crate::helm::value::{Map, PLAIN_MAP};
use crate::helm::{self, Budget, Definition, Engine, Error, Host, Template, Value};
use crate::model::place::Place;
use crate::model::value::Node;

/// What all parts of one evaluation share.
pub(super) struct Session {
    this: Weak<Session>,
    pub(super) options: Options,
    pub(super) root: Node,
    pub(super) cache: TemplateCache,
    /// Shared by all sessions over the same values.
    pub(super) budget: Rc<Budget>,
    dot: OnceCell<Value>,
    helpers: OnceCell<Vec<Helper>>,
    /// The texts evaluated so far, by text and by whether they stand under `_internal`: a text means the same wherever it
    /// stands.
    pub(super) memo: RefCell<HashMap<(Arc<str>, bool), Memo>>,
    pub(super) key_tables: RefCell<HashMap<usize, Rc<view::KeyTable>>>,
    /// Whether maps have keys that are expressions, by their addresses.
    pub(super) template_keys: RefCell<HashMap<usize, bool>>,
    pub(super) frames: RefCell<Vec<Frame>>,
    /// The fault behind the error that the engine is handing up.
    pending: RefCell<Option<Rc<Fault>>>,
    /// The expressions that used another expression's value as more than text.
    pub(super) suspects: RefCell<Vec<Suspect>>,
    /// The same by text, and by whether it is below `_internal`.
    pub(super) suspected: RefCell<HashSet<(Arc<str>, bool)>>,
    suspects_given: Cell<usize>,
    /// Whether maps may hold values of expressions by now, which are fetched from there without a word.
    pub(super) holds_evaluated: Cell<bool>,
    /// Likewise, of another type than a string.
    pub(super) holds_typed: Cell<bool>,
    pub(super) executions: Cell<usize>,
    /// `_internal` at its stages, where evaluation is by name.
    pub(super) internal: OnceCell<exact::Internal>,
    /// What each expression read, where that is asked for.
    pub(super) trace: Option<Rc<Trace>>,
    /// Which values are secret, where any is.
    pub(super) guard: Option<Rc<Guard>>,
}

/// A text's evaluation, finished or not.
#[derive(Clone)]
pub(super) enum Memo {
    Running,
    Done(Done),
    Failed(Rc<Fault>, Option<Range<usize>>),
}

/// What a text came to.
#[derive(Clone)]
pub(super) struct Done {
    pub(super) value: Value,
    pub(super) suspect: bool,
}

/// An expression being evaluated.
pub(super) struct Frame {
    pub(super) text: Arc<str>,
    pub(super) path: Option<Path>,
    pub(super) internal: bool,
    pub(super) only_prints: bool,
    /// It names one other value, and has that one's type.
    pub(super) is_alias: bool,
    pub(super) suspect: bool,
    /// The root that this expression alone sees, where its readings are noted: a value that another one fetched from a
    /// common root would not be seen to be read again.
    pub(super) dot: Option<Value>,
    /// Sylva's helpers on the way: they evaluate what they are given themselves.
    pub(super) helpers: u32,
}

/// An expression whose result may depend on the order of evaluation (docs/sylva.md#values-and-their-order).
#[derive(Clone)]
pub(super) struct Suspect {
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) text: Arc<str>,
    pub(super) internal: bool,
    pub(super) value: Value,
}

/// A fault, and the bytes of the text that it stands at; none for text that no file holds.
pub(super) type TextFault = (Rc<Fault>, Option<Range<usize>>);

impl Session {
    pub(super) fn new(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        budget: Rc<Budget>,
        trace: Option<Rc<Trace>>,
        guard: Option<Rc<Guard>>,
    ) -> Rc<Self> {
        Rc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            options: options.clone(),
            root: root.clone(),
            cache: cache.clone(),
            budget,
            dot: OnceCell::new(),
            helpers: OnceCell::new(),
            memo: RefCell::default(),
            key_tables: RefCell::default(),
            template_keys: RefCell::default(),
            frames: RefCell::default(),
            pending: RefCell::default(),
            suspects: RefCell::default(),
            suspected: RefCell::default(),
            suspects_given: Cell::default(),
            holds_evaluated: Cell::default(),
            holds_typed: Cell::default(),
            executions: Cell::default(),
            internal: OnceCell::new(),
            trace,
            guard,
        })
    }

    /// A session over the same values that evaluates by name.
    pub(super) fn by_name(&self, options: &Options) -> Rc<Self> {
        let budget = Rc::clone(&self.budget);
        Self::new(&self.root, options, &self.cache, budget, None, None)
    }

    /// The same in the same order, with nothing evaluated yet.
    pub(super) fn afresh(&self) -> Rc<Self> {
        let (trace, guard) = (self.trace.clone(), self.guard.clone());
        let budget = Rc::clone(&self.budget);
        let fresh = Self::new(&self.root, &self.options, &self.cache, budget, trace, guard);
        fresh.dot();
        fresh
    }

    pub(super) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.this)
    }

    pub(super) fn is_exact(&self) -> bool {
        self.options.evaluation == Evaluation::Exact
    }

    /// How many expressions were run.
    pub(super) fn executions(&self) -> usize {
        self.executions.get()
    }

    /// The suspects that were not given out before.
    pub(super) fn new_suspects(&self) -> Vec<Suspect> {
        let suspects = self.suspects.borrow();
        let given = self.suspects_given.replace(suspects.len());
        suspects[given..].to_vec()
    }

    /// What expressions see as `.`.
    pub(super) fn dot(&self) -> Value {
        let own = self
            .frames
            .borrow()
            .last()
            .and_then(|frame| frame.dot.clone());
        own.unwrap_or_else(|| self.dot.get_or_init(|| self.new_dot()).clone())
    }

    pub(super) fn new_dot(&self) -> Value {
        let values = match self.root.value.as_map() {
            Some(map) => Map::lazy(
                root::values_type(self.options.engine),
                Rc::new(View::new(self, map, Path::default())),
            ),
            None => Map::lazy(PLAIN_MAP, Rc::new(view::Nothing)),
        };
        let values = Rc::new(values);
        exact::prepare(self, &values);
        root::dot(&self.options, Value::Map(values))
    }

    /// The fault behind an error: the one that was raised further down, or a new one.
    pub(super) fn fault(&self, error: Error) -> Rc<Fault> {
        self.pending
            .borrow_mut()
            .take()
            .unwrap_or_else(|| Fault::new(error.class, error.message))
    }

    /// Hands a fault to the engine, to be found again by [`Session::fault`].
    pub(super) fn raise(&self, fault: Rc<Fault>) -> Error {
        let error = Error::new(fault.class, fault.message.clone());
        *self.pending.borrow_mut() = Some(fault);
        error
    }

    /// Calls one of the template language's functions.
    pub(super) fn function(&self, name: &'static str, arguments: &[Value]) -> Result<Value, Error> {
        helm::call(name, arguments, self.options.engine, &self.budget)
    }

    /// Whether a value is the root that all expressions see.
    pub(super) fn is_root(&self, dot: &Value) -> bool {
        is_same_map(dot, &self.dot())
    }

    /// Runs a helper's body: what it reads it evaluates, so that its user is not suspected for it.
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
}

/// Whether two values are one and the same map.
fn is_same_map(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Map(left), Value::Map(right)) => Rc::ptr_eq(left, right),
        _ => false,
    }
}

/// The chart's named templates, and Sylva's helpers where there is no chart or lazy evaluation needs them.
impl Host for Session {
    fn engine(&self) -> Engine {
        self.options.engine
    }

    fn named(&self, name: &str) -> Option<Definition<'_>> {
        let templates = self.options.templates.as_ref();
        let of_chart = templates.filter(|_| !helpers::is_interpreter(name));
        if let Some(template) = of_chart.and_then(|templates| templates.named(name)) {
            return Some(Definition::Template(template));
        }
        let index = helpers::position(name)?;
        let helpers = self.helpers.get_or_init(|| helpers::all(self));
        helpers.get(index).map(|helper| Definition::Native(helper))
    }

    fn missing(&self, name: &str) -> Error {
        let mut error = helm::missing_template(name);
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
