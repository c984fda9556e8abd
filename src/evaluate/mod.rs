//! What values come to once their expressions have run: typed as Sylva types them, and only what is asked for.
//!
//! Two ways to evaluate. Lazily, an expression that reads another value gets what that value comes to, each value is
//! evaluated once, and values that need themselves are reported with their path. Exactly, as Helm and Sylva's helpers do
//! it: an expression that reads another value gets its text, which is evaluated after it was printed. Where the two differ
//! (docs/sylva.md#values-and-their-order) [`Evaluator::order_differences`] says so.
//!
//! Source of the rules: docs/expressions.md, and `_interpret-values.tpl` of sylva-core.

mod branch;
mod cache;
mod convert;
mod exact;
mod expression;
mod failure;
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
pub use failure::{Failure, Step};
pub use order::OrderDifference;
pub use trace::Reading;

use crate::helm::{Budget, Engine, Limits, Template};
use crate::model::place::{Place, Sources};
use crate::model::value::Node;
use guard::Guard;
use session::Session;

/// In what order values are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluation {
    /// What is needed first: an expression reads what other values come to.
    #[default]
    Lazy,
    /// As Helm does it: an expression reads other values as they are written.
    Exact,
}

/// What an evaluation depends on beside the values.
#[derive(Clone, Debug)]
pub struct Options {
    /// In what order values are evaluated.
    pub evaluation: Evaluation,
    /// Whose behavior is wanted where engines differ.
    pub engine: Engine,
    /// `.Release`
    pub release: Release,
    /// `.Chart`
    pub chart: Chart,
    /// The named templates of the chart; none where it is not in the repository.
    pub templates: Option<Arc<dyn Templates>>,
    /// What the evaluation of one cluster may spend.
    pub limits: Limits,
}

/// A chart's named templates.
pub trait Templates: fmt::Debug + Send + Sync {
    /// The template of that name.
    fn named(&self, name: &str) -> Option<Template>;

    /// Why the template may be missing: the files that cannot be read or parsed, as one sentence each.
    fn faults(&self) -> &[String];
}

/// `.Release`: as for `helm template`, it is always the first revision of an installation.
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
            },
            templates: None,
            limits: Limits::default(),
        }
    }
}

fn budget(options: &Options) -> Rc<Budget> {
    Rc::new(Budget::new(options.limits))
}

/// The keys of a map, evaluated, sorted, each with its place.
pub type Keys = Vec<(Arc<str>, Place)>;

/// Evaluates one cluster's merged values.
///
/// It belongs to one thread; what may be shared by many is in the [`TemplateCache`].
pub struct Evaluator {
    session: Rc<Session>,
}

impl Evaluator {
    /// An evaluator that has evaluated nothing yet.
    pub fn new(root: &Node, options: &Options, cache: &TemplateCache) -> Self {
        Self {
            session: Session::new(root, options, cache, budget(options), None, None),
        }
    }

    /// An evaluator whose results are [secrets](crate::model::secret) where an expression read one. `sources` are the files
    /// of the values.
    pub fn guarded(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        sources: &Sources,
    ) -> Self {
        match sources.has_secrets() {
            true => Self::noting(root, options, cache, Guard::new(sources, true)),
            false => Self::new(root, options, cache),
        }
    }

    /// An evaluator that notes what each expression reads. Its caller asks which [read a secret](Self::reads_secret).
    pub fn traced(
        root: &Node,
        options: &Options,
        cache: &TemplateCache,
        sources: &Sources,
    ) -> Self {
        Self::noting(root, options, cache, Guard::new(sources, false))
    }

    fn noting(root: &Node, options: &Options, cache: &TemplateCache, guard: Guard) -> Self {
        let (trace, guard) = (Some(Rc::default()), Some(Rc::new(guard)));
        Self {
            session: Session::new(root, options, cache, budget(options), trace, guard),
        }
    }

    /// What the expression at a place read, in order; by name, what the expressions read that it led to as well. None where
    /// no expression stands there that a [traced](Self::traced) evaluator has evaluated.
    pub fn readings(&self, place: Place) -> Option<Rc<Vec<Reading>>> {
        self.session.trace.as_ref()?.readings(place)
    }

    /// The root of the values.
    pub fn root(&self) -> Branch {
        Branch::root(&self.session)
    }

    /// The value at a path of keys, evaluated with everything below it. None where nothing stands, or where an expression
    /// leaves it out.
    ///
    /// # Errors
    /// An expression at the path, below it, or that one of those needs, cannot be evaluated.
    pub fn get(&self, path: &[&str]) -> Result<Option<Node>, Failure> {
        match self.branch(path)? {
            Some(branch) => branch.node(),
            None => Ok(None),
        }
    }

    /// The keys of the map at a path. None where no map stands.
    ///
    /// # Errors
    /// An expression on the way or among the keys cannot be evaluated.
    pub fn keys(&self, path: &[&str]) -> Result<Option<Keys>, Failure> {
        let Some(branch) = self.branch(path)? else {
            return Ok(None);
        };
        let entries = branch.entries()?;
        Ok(entries.map(|entries| {
            entries
                .into_iter()
                .map(|entry| (entry.key, entry.key_place))
                .collect()
        }))
    }

    /// The value at a path as the files have it.
    pub fn raw(&self, path: &[&str]) -> Option<&Node> {
        self.session.root.at(path)
    }

    /// How many expressions were run so far: a measure of laziness.
    pub fn expressions_run(&self) -> usize {
        self.session.executions()
    }

    fn branch(&self, path: &[&str]) -> Result<Option<Branch>, Failure> {
        let mut branch = self.root();
        for key in path {
            match branch.child(key)? {
                Some(child) => branch = child,
                None => return Ok(None),
            }
        }
        Ok(Some(branch))
    }
}
