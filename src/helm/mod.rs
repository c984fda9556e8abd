//! The Go-template expressions inside values: parse, evaluate, functions. Pure, and knows nothing of the project.

mod builtins;
mod code;
mod compare;
pub mod convert;
mod escape;
pub mod format;
pub mod function;
mod functions;
mod host;
mod lexer;
mod limits;
mod literal;
mod machine;
pub mod object;
mod parse;
pub mod print;
mod refused;
pub mod value;

pub use crate::model::engine::Engine;
pub use code::Template;
pub use host::{Host, Named, Native, NoHost};
pub use limits::{Budget, Limits};
pub use machine::execute;
pub use parse::parse;
pub use value::Value;

/// The error of a template that there is not.
pub(crate) fn missing_template(name: &str) -> Error {
    let message = format!("there is no template `{name}`");
    Error::new(ErrorClass::MissingTemplate, message)
}

/// JSON as `fromJson` reads it; none where the text is not JSON.
pub(crate) fn from_json(text: &str, budget: &Budget) -> Result<Option<Value>, Error> {
    functions::from_json(text, budget)
}

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

/// How many characters of a message are printed: more than the author of a `fail` writes.
const MESSAGE_LIMIT: usize = 2_000;

impl Error {
    /// An error whose place is not known yet: the engine sets it to the call that met the error.
    ///
    /// A message is cut: what it quotes of the input may be long.
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
        }
    }

    /// The same error at a place.
    pub fn at(mut self, span: std::ops::Range<usize>) -> Self {
        self.span = span;
        self
    }
}

/// The kinds of error that the engines tell apart (fixtures/oracle/README.md), and our own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The text is not a template.
    Parse,
    /// No such function.
    MissingFunction,
    /// A function whose answer is another one on each run, or comes from outside: random text, the clock, the network.
    Refused,
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

/// The function of that name; where Sprig has one of the same name as Go (`slice`), it is Sprig's.
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

/// Calls a function by its name, for templates that are written in Rust. Arguments are taken as they are: they must be of
/// the types that the function's signature names.
///
/// # Errors
/// No such function, a wrong number of arguments, and whatever the function itself refuses.
pub fn call(
    name: &'static str,
    arguments: &[Value],
    engine: Engine,
    budget: &Budget,
) -> Result<Value, Error> {
    let missing = || {
        Error::new(
            ErrorClass::MissingFunction,
            format!("there is no function `{name}`"),
        )
    };
    let function = lookup(name).ok_or_else(missing)?;
    if let Some(message) = function.signature.refuses(name, arguments.len()) {
        return Err(Error::new(ErrorClass::WrongArgCount, message));
    }
    match function.body {
        function::Body::Plain(body) => {
            let call = function::Call {
                name,
                arguments,
                engine,
                budget,
            };
            call.run(body)
        }
        _ => Err(missing()),
    }
}
