//! The failure of an evaluation, with the chain of values that depend on the failed expression.
//!
//! While it is propagated, also through the engine, it is an [`Error`] whose cause is the chain so far.

use std::ops::Range;
use std::sync::Arc;

use go_template::{Error, ErrorClass};
use yaml_tree::place::Place;

/// An expression that could not be evaluated.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The values that led to the failure, from the requested one to the one with the failed expression.
    pub chain: Vec<FailureStep>,
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
pub struct FailureStep {
    /// The path of the value.
    pub path: String,
    /// The span of the value, or of the key if the key is the expression.
    pub place: Place,
    /// The unfolded text of the value or key.
    pub text: Arc<str>,
    /// The byte range of the text that reads the value of the next step.
    pub span: Option<Range<usize>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let steps = steps(&error);
        let innermost = steps.first();
        Self {
            chain: steps.iter().rev().cloned().collect(),
            place: innermost.map_or(Place::NONE, |step| step.place),
            span: innermost.and_then(|step| step.span.clone()),
            class: error.class,
            message: error.message,
        }
    }
}

/// The chain so far, innermost value first.
fn steps(error: &Error) -> &[FailureStep] {
    let cause = error.cause.as_deref();
    let steps = cause.and_then(|cause| cause.downcast_ref::<Vec<FailureStep>>());
    steps.map_or(&[], Vec::as_slice)
}

/// The error with one more step, the value that depends on the failed one.
pub(super) fn with_step(error: Error, step: FailureStep) -> Error {
    let steps = [steps(&error), &[step]].concat();
    error.with_cause(steps)
}

/// The error for an expression that passed on the text that failed. The engine adds nothing to an error with a cause.
pub(super) fn keep_message(error: Error) -> Error {
    if error.cause.is_some() {
        return error;
    }
    error.with_cause(Vec::<FailureStep>::new())
}
