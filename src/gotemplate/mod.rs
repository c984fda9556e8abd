//! The Go-template expressions inside values: parse, evaluate, functions. Pure, and knows nothing of the project.

pub mod value;

pub use value::Value;

/// What went wrong in an expression, and where in its text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind, as fixtures/oracle/README.md classifies the engines' answers.
    pub class: ErrorClass,
    /// What is wrong, in our words; for `fail` and `required` the author's own text.
    pub message: String,
    /// Byte range in the outermost template text that the fault stands at.
    pub span: std::ops::Range<usize>,
}

/// The kinds of error that the engines tell apart (fixtures/oracle/README.md), and our own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The text is not a template.
    Parse,
    /// No such function; or one that is refused by name (random, clock).
    MissingFunction,
    /// `include` or `template` of a name that is not defined.
    MissingTemplate,
    /// A field of nil.
    NilPointer,
    /// A value of the wrong type.
    WrongType,
    /// Too few or too many arguments.
    WrongArgCount,
    /// An index out of range.
    OutOfRange,
    /// `fail` or `required`.
    Fail,
    /// Nested too deeply.
    Depth,
    /// A limit of ours: steps or size.
    Limit,
    /// Values that need themselves.
    Cycle,
    /// Anything else: division by zero, a bad regular expression, a bad version.
    Other,
}
