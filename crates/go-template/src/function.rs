//! Describes the functions that expressions may call: the name, the Go types of the parameters, and the body.
//!
//! Before the body runs, the engine checks the number and types of the arguments against the signature, with Go's conversions
//! and errors.

use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;

pub use super::signature::{Signature, Type};
use super::value::Map;
use super::{Engine, Error, ErrorClass, Role, Value, secret};

/// A function that templates may call.
#[derive(Debug)]
pub struct Function {
    /// The name in templates.
    pub name: &'static str,
    /// The parameters.
    pub signature: Signature,
    /// The implementation.
    pub body: Body,
    /// What it does with the labels of secrets.
    pub(super) labels: Labels,
}

impl Function {
    /// A function with a fixed number of parameters.
    pub const fn new(
        name: &'static str,
        parameters: &'static [Type],
        call: fn(&mut Call<'_>) -> Result<Value, Error>,
    ) -> Self {
        Self {
            name,
            signature: Signature::new(parameters),
            body: Body::Plain(call),
            labels: Labels::Refused,
        }
    }

    /// A function whose last parameter, of type `rest`, may be repeated any number of times or left out.
    pub const fn variadic(
        name: &'static str,
        parameters: &'static [Type],
        rest: Type,
        call: fn(&mut Call<'_>) -> Result<Value, Error>,
    ) -> Self {
        let mut function = Self::new(name, parameters, call);
        function.signature.rest = Some(rest);
        function
    }
}

/// What a function does with labels of secrets in its arguments. Whatever it is, it cannot see the secrets: their texts are not
/// there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Labels {
    /// It looks at them, which fails.
    Refused,
    /// It passes values along, or looks at whether they are empty.
    Carried,
    /// It looks at texts, but not at those in maps and lists.
    InStructure,
    /// Its result is a text that holds them.
    InText,
    /// The same, and the result may be empty.
    InTextOrNothing,
    /// It parses a text, in which they are parts.
    Parsed,
    /// It looks at them, unless it compares one with an empty text.
    ComparedWithNothing,
}

impl Function {
    /// The function passes values along, and looks at nothing but whether they are empty.
    pub(super) const fn carries(self) -> Self {
        self.with_labels(Labels::Carried)
    }

    /// The function looks at maps and lists, and passes what is in them along.
    pub(super) const fn reads_structure(self) -> Self {
        self.with_labels(Labels::InStructure)
    }

    /// The function makes a text of its arguments, which is not empty unless they are.
    pub(super) const fn makes_text(self) -> Self {
        self.with_labels(Labels::InText)
    }

    /// The function makes a text or number of its arguments, which may be empty or zero.
    pub(super) const fn may_make_nothing(self) -> Self {
        self.with_labels(Labels::InTextOrNothing)
    }

    /// The function parses a text.
    pub(super) const fn parses(self) -> Self {
        self.with_labels(Labels::Parsed)
    }

    /// The function compares: with an empty text, that is a test for emptiness.
    pub(super) const fn compares_with_nothing(self) -> Self {
        self.with_labels(Labels::ComparedWithNothing)
    }

    /// What becomes of the argument of this number, where it is a string that nothing looks at.
    pub(super) fn role(&self, argument: usize) -> Option<Role> {
        match (self.name, self.labels) {
            ("include", _) => (argument == 0).then_some(Role::Included),
            ("dict", _) if argument.is_multiple_of(2) => Some(Role::Key),
            ("set", _) if argument == 1 => Some(Role::Key),
            (_, Labels::Carried | Labels::InText | Labels::InTextOrNothing) => Some(Role::Passed),
            _ => None,
        }
    }

    const fn with_labels(self, labels: Labels) -> Self {
        Self { labels, ..self }
    }
}

/// The implementation of a function.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Computes a value from its arguments.
    Plain(fn(&mut Call<'_>) -> Result<Value, Error>),
    /// `and`: stops at the first false argument.
    And,
    /// `or`: stops at the first true argument.
    Or,
    /// Helm's `include`.
    Include,
    /// Helm's `tpl`.
    Tpl,
}

/// The most bytes that a function makes of less: because a number says so, as for `repeat` and `until`, or of one text for each part
/// of another, as `join` does.
pub(super) const MADE_LIMIT: usize = 32 << 20;

/// Fails if this many bytes are more than what is called so makes.
pub(super) fn ensure_size(name: impl Display, bytes: usize) -> Result<(), Error> {
    if bytes <= MADE_LIMIT {
        return Ok(());
    }
    let message = format!("`{name}` makes more than {MADE_LIMIT} bytes");
    Err(Error::new(ErrorClass::Limit, message))
}

/// A call of a function.
#[derive(Debug)]
pub struct Call<'a> {
    /// The name of the called function.
    pub name: &'static str,
    /// The arguments, which match the signature in number and type.
    pub arguments: &'a [Value],
    /// The engine whose behavior applies where engines differ.
    pub engine: Engine,
    /// Whether `lookup` reads a cluster.
    pub has_cluster: bool,
}

impl Call<'_> {
    /// An argument of any type; nil if it is optional and missing.
    pub fn value(&self, index: usize) -> Value {
        self.arguments.get(index).cloned().unwrap_or(Value::Nil)
    }

    /// The arguments from this index on.
    pub fn rest(&self, index: usize) -> &[Value] {
        self.arguments.get(index..).unwrap_or_default()
    }

    /// An argument declared as [`Type::Bool`].
    pub fn bool(&self, index: usize) -> Result<bool, Error> {
        match self.arguments.get(index) {
            Some(Value::Bool(flag)) => Ok(*flag),
            _ => Err(self.argument_error(index, "bool")),
        }
    }

    /// An argument declared as [`Type::Int`].
    pub fn int(&self, index: usize) -> Result<i64, Error> {
        match self.arguments.get(index) {
            Some(Value::Int(number) | Value::Int64(number)) => Ok(*number),
            _ => Err(self.argument_error(index, "int")),
        }
    }

    /// An argument declared as [`Type::Float`].
    pub fn float(&self, index: usize) -> Result<f64, Error> {
        match self.arguments.get(index) {
            Some(Value::Float(number)) => Ok(*number),
            _ => Err(self.argument_error(index, "float64")),
        }
    }

    /// An argument declared as [`Type::String`].
    pub fn string(&self, index: usize) -> Result<Arc<str>, Error> {
        match self.arguments.get(index) {
            Some(Value::String(text)) => Ok(Arc::clone(text)),
            _ => Err(self.argument_error(index, "string")),
        }
    }

    /// An argument declared as [`Type::Map`].
    pub fn map(&self, index: usize) -> Result<Rc<Map>, Error> {
        match self.arguments.get(index) {
            Some(Value::Map(map)) => Ok(Rc::clone(map)),
            _ => Err(self.argument_error(index, "map[string]interface {}")),
        }
    }

    /// Fails if this many bytes are more than a function makes of less.
    pub fn ensure_size(&self, bytes: usize) -> Result<(), Error> {
        ensure_size(self.name, bytes)
    }

    /// Joins parts, as long as the text is one that a function makes.
    pub fn join<T: AsRef<str>>(
        &self,
        parts: impl IntoIterator<Item = T>,
        separator: &str,
    ) -> Result<String, Error> {
        let mut text = String::new();
        for (index, part) in parts.into_iter().enumerate() {
            let separator = if index > 0 { separator } else { "" };
            self.ensure_size(text.len() + separator.len() + part.as_ref().len())?;
            text += separator;
            text += part.as_ref();
        }
        Ok(text)
    }

    /// Fails if a text that is a key, or decides something, holds the label of a secret.
    pub(super) fn ensure_known(&self, text: &str) -> Result<(), Error> {
        secret::error(text).map_or(Ok(()), Err)
    }

    /// Converts bytes that the function computed to a string.
    ///
    /// # Errors
    /// The bytes are not UTF-8. Go strings hold any bytes; here strings are UTF-8, and replaced bytes would silently change, for
    /// example, a checksum.
    pub fn text(&self, bytes: impl Into<Vec<u8>>) -> Result<Value, Error> {
        let not_text = |_| {
            self.error(format!(
                "`{}` makes bytes that are not UTF-8, with which expressions cannot compute here; set the result in a values file",
                self.name
            ))
        };
        String::from_utf8(bytes.into())
            .map(Value::from)
            .map_err(not_text)
    }

    /// An error of class [`ErrorClass::Other`]; the engine adds its span.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorClass::Other, message)
    }

    /// The error for an argument that the body cannot use.
    pub fn argument_error(&self, index: usize, expected: &str) -> Error {
        let found = self
            .arguments
            .get(index)
            .map_or("nothing", Value::type_name);
        Error::new(
            ErrorClass::WrongType,
            format!("`{}` needs a {expected} and got `{found}`", self.name),
        )
    }
}
