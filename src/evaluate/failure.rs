//! The failure of an evaluation, with the chain of values that depend on the failed expression.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use go_template::ErrorClass;
use yaml_tree::place::Place;

/// An expression that could not be evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The values that led to the failure, from the requested one to the one with the failed expression.
    pub chain: Vec<Step>,
    /// The span of the YAML value with the failed expression; [`Place::NONE`] if it is in no file.
    pub place: Place,
    /// The byte range of the error in the unfolded text of that value; none if the error is in text that an expression
    /// produced.
    pub span: Option<Range<usize>>,
    /// The class of the error.
    pub class: ErrorClass,
    /// What is wrong, in one clause.
    pub message: String,
}

/// One value of a [`Failure::chain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The path of the value.
    pub path: String,
    /// The span of the value, or of the key if the key is the expression.
    pub place: Place,
    /// The unfolded text of the value or key.
    pub text: Arc<str>,
    /// The byte range of the text that reads the value of the next step.
    pub span: Option<Range<usize>>,
}

/// A failure while it is propagated. The first step is the innermost one.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) class: ErrorClass,
    pub(super) message: String,
    pub(super) steps: Vec<Step>,
}

impl Fault {
    pub(super) fn new(class: ErrorClass, message: impl Into<String>) -> Rc<Self> {
        Rc::new(Self {
            class,
            message: message.into(),
            steps: Vec::new(),
        })
    }

    /// The fault with one more step, the value that depends on the failed one.
    pub(super) fn with_step(&self, step: Step) -> Rc<Self> {
        let mut steps = self.steps.clone();
        steps.push(step);
        Rc::new(Self {
            class: self.class,
            message: self.message.clone(),
            steps,
        })
    }

    /// The fault without its message, which may contain a secret.
    pub(super) fn without_message(&self) -> Rc<Self> {
        Rc::new(Self {
            class: self.class,
            message:
                "the expression fails, and the reason is not shown, because it may be a secret"
                    .to_owned(),
            steps: self.steps.clone(),
        })
    }

    /// Converts the fault for callers.
    pub(super) fn failure(&self) -> Failure {
        let innermost = self.steps.first();
        Failure {
            chain: self.steps.iter().rev().cloned().collect(),
            place: innermost.map_or(Place::NONE, |step| step.place),
            span: innermost.and_then(|step| step.span.clone()),
            class: self.class,
            message: self.message.clone(),
        }
    }
}
