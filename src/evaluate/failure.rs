//! What went wrong while a value was evaluated, and the chain of values that needed it.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::helm::ErrorClass;
use crate::model::place::Place;

/// An expression that could not be evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The values that led here: the one that was asked for first, the one whose expression is at fault last.
    pub chain: Vec<Step>,
    /// The YAML value that holds the faulty expression; [`Place::NONE`] where no file holds it.
    pub place: Place,
    /// The bytes of that value, after YAML has unfolded it, that the fault stands at. None where the fault is in text that
    /// an expression produced.
    pub span: Option<Range<usize>>,
    /// The kind of fault.
    pub class: ErrorClass,
    /// What is wrong, in one clause.
    pub message: String,
}

/// One value of a [`Failure::chain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its path, as people write it.
    pub path: String,
    /// Where the value stands, or the key if the key holds the expression.
    pub place: Place,
    /// The value, or the key, as YAML has unfolded it.
    pub text: Arc<str>,
    /// The bytes of the value that need the next step's value.
    pub span: Option<Range<usize>>,
}

/// A failure on its way up: the steps so far, the innermost first.
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

    /// The same fault, seen from one value further up.
    pub(super) fn seen_from(&self, step: Step) -> Rc<Self> {
        let mut steps = self.steps.clone();
        steps.push(step);
        Rc::new(Self {
            class: self.class,
            message: self.message.clone(),
            steps,
        })
    }

    /// The same fault without what an expression said, which may be a secret.
    pub(super) fn without_reason(&self) -> Rc<Self> {
        Rc::new(Self {
            class: self.class,
            message:
                "the expression fails, and the reason is not shown, because it may be a secret"
                    .to_owned(),
            steps: self.steps.clone(),
        })
    }

    /// The failure as callers see it.
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
