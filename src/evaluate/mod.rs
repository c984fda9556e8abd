//! Evaluates the expressions in values, on demand, and with the types that Sylva gives to their results.
//!
//! There are two orders of evaluation. In lazy evaluation, an expression that reads another value gets its result; each value is
//! evaluated once, and a value that depends on itself is reported with its path. In exact evaluation, which is that of Helm with
//! Sylva's helpers, the expression gets the text of the other value, and that text is evaluated after it was printed.
//! [`Evaluator::order_differences`] reports expressions with different results (docs/sylva.md#values-and-their-order).
//!
//! Source of the rules: docs/expressions.md, and `_interpret-values.tpl` of sylva-core.

mod branch;
mod cache;
mod candidates;
mod chart;
mod convert;
mod dependencies;
mod exact;
mod expression;
mod failure;
mod files;
mod guard;
mod helpers;
mod interpret;
mod order;
mod path;
mod root;
mod session;
mod short_form;
mod text;
mod trace;
mod view;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

pub use branch::{Branch, BranchEntry};
pub use cache::TemplateCache;
pub use chart::{ChartTemplate, ChartTree, Dependency, Import, RenderedFile};
pub use dependencies::ChartRelease;
pub use failure::{Failure, Step};
pub use files::Texts;
pub use order::OrderDifference;
pub use trace::Reading;

use go_template::{Budget, Engine, Limits, Template};
use guard::Guard;
use session::Session;
use yaml_tree::place::{Place, Sources};
use yaml_tree::value::{self as tree, Node};

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
    fn named(&self, name: &str) -> Option<Template>;

    /// One sentence for each file that cannot be read or parsed, which may be why a template is missing.
    fn faults(&self) -> &[String];

    /// `.Files`
    ///
    /// # Errors
    /// One sentence on a file that cannot be read.
    fn files(&self) -> Result<Texts, String>;
}

/// `.Release`: always the first revision of an installation, as for `helm template`.
#[derive(Clone, Debug)]
pub struct Release {
    /// `.Release.Name`
    pub name: Arc<str>,
    /// `.Release.Namespace`
    pub namespace: Arc<str>,
}

/// `.Chart`
#[derive(Clone, Debug)]
pub struct Chart {
    /// `.Chart.Name`
    pub name: Arc<str>,
    /// `.Chart.Version`
    pub version: Arc<str>,
    /// Chart.yaml, which has the other fields.
    pub metadata: Node,
    /// Whether no other chart depends on it.
    pub is_root: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            evaluation: Evaluation::default(),
            engine: Engine::default(),
            release: Release {
                name: "sylva-units".into(),
                namespace: "sylva-system".into(),
            },
            chart: Chart {
                name: "sylva-units".into(),
                version: "0.0.0".into(),
                metadata: Node::computed(tree::Value::empty_map()),
                is_root: true,
            },
            templates: None,
            limits: Limits::default(),
        }
    }
}

fn budget(options: &Options) -> Rc<Budget> {
    Rc::new(Budget::new(options.limits))
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
        Self {
            session: Session::new(root, options, cache, budget(options), None),
        }
    }

    /// An evaluator that registers the results of expressions that read a secret as [secrets](crate::secrets::known). `sources`
    /// are the files of the values.
    pub fn guarded(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        sources: &Sources,
    ) -> Self {
        match sources.has_secrets() {
            true => Self::tracing(root, options, cache, Guard::new(sources, true)),
            false => Self::new(root, options, cache),
        }
    }

    /// An evaluator that records what each expression reads, and which ones [read a secret](Self::reads_secret).
    pub fn traced(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        sources: &Sources,
    ) -> Self {
        Self::tracing(root, options, cache, Guard::new(sources, false))
    }

    fn tracing(root: &Node, options: &Options, cache: &TemplateCache, guard: Guard) -> Self {
        let guard = Some(Rc::new(guard));
        Self {
            session: Session::new(root, options, cache, budget(options), guard),
        }
    }

    /// What the expression at a place read, in order. In exact evaluation this includes what the expressions in its output read.
    /// None if a [traced](Self::traced) evaluator has not evaluated an expression at this place.
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
        match self.root().at(path)? {
            Some(branch) => branch.node(),
            None => Ok(None),
        }
    }

    /// The number of expressions executed so far, for tests of laziness.
    pub fn expressions_run(&self) -> usize {
        self.session.executions()
    }
}
