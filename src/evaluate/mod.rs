//! Evaluates the expressions in values, on demand, and with the types that Sylva gives to their results.
//!
//! There are two orders of evaluation. In lazy evaluation, an expression that reads another value gets its result; each value is
//! evaluated once, and a value that depends on itself is reported with its path. In exact evaluation, which is that of Helm with
//! Sylva's helpers, the expression gets the text of the other value, and that text is evaluated after it was printed.
//! [`Evaluator::order_differences`] reports expressions with different results (docs/sylva.md#values-and-their-order).
//!
//! `session` is the evaluator, and reads from top to bottom: texts, the values that they see, the values that they pass to
//! `helpers`. `exact` holds the stages of `_internal`, which only exact evaluation has. `branch` walks the values from outside, and
//! `complete` evaluates what a branch holds. `trace` says what was read. `chart` and
//! `dependencies` render whole charts, without a session.
//!
//! Source of the rules: docs/expressions.md, and `_interpret-values.tpl` of sylva-core.

mod branch;
mod chart;
mod complete;
mod convert;
mod dependencies;
mod exact;
mod failure;
mod files;
mod helpers;
mod order;
mod path;
mod session;
mod short_form;
mod text;
mod trace;

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, RwLock};

use go_template::{Budget, Engine, Error, Limits, Template};
use yaml_tree::place::Place;
use yaml_tree::value as tree;
use yaml_tree::value::Node;

use order::OrderCandidate;
use session::Session;
use trace::Trace;

pub use branch::{Branch, BranchEntry};
pub use chart::{ChartTemplate, ChartTree, Dependency, Import, RenderedFile};
pub use dependencies::ChartRelease;
pub use failure::{Failure, FailureStep};
pub use files::Texts;
pub use go_template::root::{Chart, Release, Served};
pub use order::OrderDifference;
pub use trace::Reading;

/// The order in which values are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluation {
    /// On demand: an expression that reads a value gets its result.
    #[default]
    Lazy,
    /// As in Helm: an expression that reads a value gets its text.
    Exact,
}

/// The inputs of an evaluation besides the values.
#[derive(Clone, Debug)]
pub struct Options {
    /// The order of evaluation.
    pub evaluation: Evaluation,
    /// The engine whose behavior applies where engines differ.
    pub engine: Engine,
    /// `.Release`
    pub release: Release,
    /// `.Chart`
    pub chart: Chart,
    /// The named templates of the chart; none if the chart is not in the repository.
    pub templates: Option<Arc<dyn Templates>>,
    /// The limits of the evaluation of one cluster.
    pub limits: Limits,
}

/// A chart's named templates, and its files.
pub trait Templates: fmt::Debug + Send + Sync {
    /// The template of this name.
    fn find_template(&self, name: &str) -> Option<Template>;

    /// One sentence for each file that cannot be read or parsed, which may be why a template is missing.
    fn faults(&self) -> &[String];

    /// `.Files`
    ///
    /// # Errors
    /// One sentence on a file that cannot be read.
    fn files(&self) -> Result<Arc<Texts>, String>;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            evaluation: Evaluation::default(),
            engine: Engine::default(),
            release: Release {
                name: "sylva-units".into(),
                namespace: "sylva-system".into(),
                revision: 1,
                is_live: false,
                cluster: Served::default(),
            },
            chart: Chart {
                name: "sylva-units".into(),
                version: "0.0.0".into(),
                metadata: Node::from_value(tree::Value::empty_map()),
                is_root: true,
            },
            templates: None,
            limits: Limits::default(),
        }
    }
}

/// Evaluates the merged values of one cluster.
///
/// An evaluator belongs to one thread. Threads share the [`TemplateCache`].
pub struct Evaluator {
    session: Rc<Session>,
}

impl Evaluator {
    /// An evaluator in which nothing is evaluated yet.
    pub fn new(root: &Node, options: &Options, cache: &TemplateCache) -> Self {
        Self::with_readings(root, options, cache, None)
    }

    /// An evaluator that records what each expression reads.
    pub fn with_trace(root: &Node, options: &Options, cache: &TemplateCache) -> Self {
        Self::with_readings(root, options, cache, Some(Rc::default()))
    }

    fn with_readings(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        trace: Option<Rc<Trace>>,
    ) -> Self {
        let budget = Rc::new(Budget::new(options.limits));
        Self {
            session: Session::new(root, options, cache, budget, trace),
        }
    }

    /// What the expression at a place read, in order. In exact evaluation this includes what the expressions in its output read.
    /// None if a [traced](Self::with_trace) evaluator has not evaluated an expression at this place.
    pub fn readings(&self, place: Place) -> Option<Rc<Vec<Reading>>> {
        self.session.trace()?.readings(place)
    }

    /// The root of the values.
    pub fn root(&self) -> Branch {
        Branch::root(&self.session)
    }

    /// The value at a path of keys, evaluated completely. None if it does not exist, or an expression leaves it out.
    ///
    /// # Errors
    /// An expression at the path or below it fails, or one that they depend on.
    pub fn get(&self, path: &[&str]) -> Result<Option<Node>, Failure> {
        match self.root().get_path(path)? {
            Some(branch) => branch.node(),
            None => Ok(None),
        }
    }

    /// The expressions executed since the last call whose result in Helm differs, in the order of execution.
    ///
    /// Without an expression that does more than print another expression's result, this costs nothing.
    pub fn order_differences(&self) -> Vec<OrderDifference> {
        let candidates = self.session.order_candidates();
        if candidates.is_empty() || self.session.is_exact() {
            return Vec::new();
        }
        let exact = self.session.exact();
        let difference =
            |candidate: &OrderCandidate| candidate.difference(exact.result(&candidate.expression));
        candidates.iter().filter_map(difference).collect()
    }

    /// The number of expressions executed so far, for tests of laziness.
    pub fn expressions_run(&self) -> usize {
        self.session.executions()
    }
}

/// The maximum size of all cached templates, in bytes. It bounds the memory in large fleets.
const CAPACITY: usize = 16 << 20;

#[derive(Debug, Default)]
struct Parsed {
    templates: HashMap<Arc<str>, Result<Template, Error>>,
    /// The approximate size of the templates.
    bytes: usize,
}

/// A cache of parsed templates by their text. Clones share the same cache, also between threads.
#[derive(Clone, Debug, Default)]
pub struct TemplateCache {
    parsed: Arc<RwLock<Parsed>>,
}

impl TemplateCache {
    /// Parses a text, or returns the cached result.
    fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        if let Ok(parsed) = self.parsed.read()
            && let Some(known) = parsed.templates.get(text)
        {
            return known.clone();
        }
        let fresh = go_template::parse("gotpl", text);
        let size = fresh.as_ref().map_or(text.len(), Template::size);
        if let Ok(mut parsed) = self.parsed.write()
            && parsed.bytes + size <= CAPACITY
        {
            parsed.bytes += size;
            parsed.templates.insert(Arc::clone(text), fresh.clone());
        }
        fresh
    }
}
