#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod builtins;
mod code;
mod compare;
pub mod convert;
pub mod format;
pub mod function;
mod functions;
mod host;
mod labels;
mod lexer;
mod limits;
mod literal;
mod machine;
pub mod object;
mod parse;
pub mod print;
mod refused;
pub mod regexp;
mod rendered;
pub mod root;
mod secret;
mod signature;
pub mod value;

use std::any::Any;
use std::sync::Arc;

pub use code::Template;
pub use functions::from_json;
pub use host::{Definition, Host, NativeTemplate, NoHost};
pub use limits::{Budget, Limits, Reads};
pub use machine::{execute, execute_plain, render};
pub use parse::{
    DefinedTemplate, Outline, Role, Sealed, Written, outline, parse, parse_sealed, parse_with,
    parse_without,
};
pub use rendered::Rendered;
pub use secret::secret as secret_error;
pub use value::Value;
pub use yaml_tree::engine::Engine;

/// The error for a template that is not defined.
pub fn missing_template(name: &str) -> Error {
    let message = format!("there is no template `{name}`");
    Error::new(ErrorClass::MissingTemplate, message)
}

/// An error in an expression, with its position in the text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The kind of error, with the classes of fixtures/oracle/README.md.
    pub class: ErrorClass,
    /// What is wrong. For `fail` and `required`, this is the text of the expression's author.
    pub message: String,
    /// The byte range of the error in the outermost template text.
    pub span: std::ops::Range<usize>,
    /// What a host or a lazily evaluated value knows about the error, if it happened in another text: the engine passes it on,
    /// and adds only the position to such an error.
    pub cause: Option<Arc<dyn Any + Send + Sync>>,
}

/// The maximum length of a message, in characters: more than the author of a `fail` writes.
const MESSAGE_LIMIT: usize = 2_000;

impl Error {
    /// An error without a position: the engine sets it to the call in which the error occurs.
    ///
    /// A long message is truncated, because it may quote long input.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MESSAGE_LIMIT) {
            message.truncate(end);
            message.push('…');
            message.shrink_to_fit();
        }
        Self {
            class,
            message,
            span: 0..0,
            cause: None,
        }
    }

    /// Sets the cause.
    pub fn with_cause(mut self, cause: impl Any + Send + Sync) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// Sets the position.
    pub fn with_span(mut self, span: std::ops::Range<usize>) -> Self {
        self.span = span;
        self
    }
}

/// The classes of errors that are compared with Helm's (fixtures/oracle/README.md), and those of our own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The text is not a valid template.
    Parse,
    /// A function that does not exist.
    MissingFunction,
    /// A function whose result differs from run to run, or comes from outside: random text, the clock, the network.
    Refused,
    /// A look at objects of the cluster, which is not there.
    Cluster,
    /// A template that is not defined, in `include` or `template`.
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
    /// Nesting beyond a limit.
    Depth,
    /// One of our limits on steps or size.
    Limit,
    /// Values that depend on themselves.
    Cycle,
    /// A look at a secret, whose text is not there.
    Secret,
    /// Anything else: division by zero, a bad regular expression, a bad version.
    Other,
}

/// The function of this name. Where Go and Sprig have functions of the same name (`slice`), the result is Sprig's.
fn lookup(name: &str) -> Option<&'static function::Function> {
    type Functions = std::collections::HashMap<&'static str, &'static function::Function>;
    static BY_NAME: std::sync::LazyLock<Functions> = std::sync::LazyLock::new(|| {
        let mut by_name = Functions::new();
        for table in [builtins::TABLE, refused::TABLE]
            .iter()
            .chain(functions::TABLES)
        {
            by_name.extend(table.iter().map(|function| (function.name, function)));
        }
        by_name
    });
    BY_NAME.get(name).copied()
}

/// The names of all functions, sorted.
pub fn functions() -> Vec<&'static str> {
    let tables = [builtins::TABLE, refused::TABLE];
    let tables = tables.iter().chain(functions::TABLES).copied();
    let mut names: Vec<&str> = tables.flatten().map(|function| function.name).collect();
    names.sort_unstable();
    names
}

/// Calls a function by its name, for templates written in Rust. The arguments are not converted: they must have the types of
/// the function's signature.
///
/// # Errors
/// No such function, a wrong number of arguments, and any error of the function itself.
pub fn call(name: &'static str, arguments: &[Value], engine: Engine) -> Result<Value, Error> {
    let missing = || {
        Error::new(
            ErrorClass::MissingFunction,
            format!("there is no function `{name}`"),
        )
    };
    let function = lookup(name).ok_or_else(missing)?;
    if let Some(message) = function.signature.count_error(name, arguments.len()) {
        return Err(Error::new(ErrorClass::WrongArgCount, message));
    }
    match function.body {
        function::Body::Plain(body) => {
            let call = function::Call {
                name,
                arguments,
                engine,
                has_cluster: false,
            };
            labels::run(call, body, function.labels)
        }
        _ => Err(missing()),
    }
}
