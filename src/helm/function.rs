//! How a function that expressions may call is described: its name, the Go types of its parameters, and its body.
//!
//! The engine checks the number and the types of arguments against the signature, with Go's conversions and errors,
//! before the body runs. A body therefore meets only what its signature admits.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::limits::Budget;
use super::value::{List, Map};
use super::{Engine, Error, ErrorClass, Value};

/// A function, as the tables hold it.
#[derive(Debug)]
pub struct Function {
    /// The name that templates call it by.
    pub name: &'static str,
    /// What it takes.
    pub signature: Signature,
    /// What it does.
    pub body: Body,
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
            signature: Signature {
                parameters,
                rest: None,
            },
            body: Body::Plain(call),
        }
    }

    /// A function whose last parameter, of type `rest`, may be given any number of times: also none.
    pub const fn variadic(
        name: &'static str,
        parameters: &'static [Type],
        rest: Type,
        call: fn(&mut Call<'_>) -> Result<Value, Error>,
    ) -> Self {
        Self {
            name,
            signature: Signature {
                parameters,
                rest: Some(rest),
            },
            body: Body::Plain(call),
        }
    }
}

/// The Go types of a function's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Those that must be given.
    pub parameters: &'static [Type],
    /// The type of those that may follow, if any may.
    pub rest: Option<Type>,
}

impl Signature {
    /// The type that the argument of that index must have.
    pub(super) fn parameter(&self, index: usize) -> Option<Type> {
        self.parameters.get(index).copied().or(self.rest)
    }

    /// Why so many arguments are wrong, if they are.
    pub(super) fn refuses(&self, name: &str, count: usize) -> Option<String> {
        let wanted = self.parameters.len();
        let arguments = if wanted == 1 { "argument" } else { "arguments" };
        if self.rest.is_some() {
            return (count < wanted).then(|| {
                format!("`{name}` takes at least {wanted} {arguments}, and {count} are given")
            });
        }
        (count != wanted)
            .then(|| format!("`{name}` takes {wanted} {arguments}, and {count} are given"))
    }
}

/// The Go type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}` or `reflect.Value`: everything, nil too.
    Any,
    /// `bool`
    Bool,
    /// `int`; a literal is converted, an `int64` or `float64` value is refused, as reflection does.
    Int,
    /// `int64`
    Int64,
    /// `float64`
    Float,
    /// `string`
    String,
    /// `[]interface {}`; nil gives an empty list.
    List,
    /// `[]string`; nil gives an empty list.
    Strings,
    /// `map[string]interface {}`, or a named type of that form; nil gives an empty map.
    Map,
    /// A type with methods, by the name that [`super::object::Object::type_name`] gives.
    Named(&'static str),
}

impl Type {
    /// The type in a message.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a bool",
            Self::Int | Self::Int64 => "an integer",
            Self::Float => "a float",
            Self::String => "a string",
            Self::List => "a list",
            Self::Strings => "a list of strings",
            Self::Map => "a map",
            Self::Named(name) => name,
        }
    }
}

/// What a function does.
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

/// One call of a function.
#[derive(Debug)]
pub struct Call<'a> {
    /// The name that the function was called by.
    pub name: &'static str,
    /// The arguments, as many and of such types as the signature admits.
    pub arguments: &'a [Value],
    /// Whose behavior is wanted where engines differ.
    pub engine: Engine,
    /// What the evaluation may still spend.
    pub budget: &'a Budget,
}

impl Call<'_> {
    /// Runs a function. All calls go this way, so that each pays for what it reads and for what it makes.
    pub(super) fn run(
        mut self,
        body: fn(&mut Call<'_>) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        self.budget.read_all(self.arguments)?;
        let value = body(&mut self)?;
        self.budget.made(&value)?;
        Ok(value)
    }

    /// An argument of any type; nil where an optional one was not given.
    pub fn value(&self, index: usize) -> Value {
        self.arguments.get(index).cloned().unwrap_or(Value::Nil)
    }

    /// The arguments from that index on.
    pub fn rest(&self, index: usize) -> &[Value] {
        self.arguments.get(index..).unwrap_or_default()
    }

    /// An argument declared as [`Type::Bool`].
    pub fn bool(&self, index: usize) -> Result<bool, Error> {
        match self.arguments.get(index) {
            Some(Value::Bool(flag)) => Ok(*flag),
            _ => Err(self.unexpected(index, "bool")),
        }
    }

    /// An argument declared as [`Type::Int`] or [`Type::Int64`].
    pub fn int(&self, index: usize) -> Result<i64, Error> {
        match self.arguments.get(index) {
            Some(Value::Int(number) | Value::Int64(number)) => Ok(*number),
            _ => Err(self.unexpected(index, "int")),
        }
    }

    /// An argument declared as [`Type::Float`].
    pub fn float(&self, index: usize) -> Result<f64, Error> {
        match self.arguments.get(index) {
            Some(Value::Float(number)) => Ok(*number),
            _ => Err(self.unexpected(index, "float64")),
        }
    }

    /// An argument declared as [`Type::String`].
    pub fn string(&self, index: usize) -> Result<Arc<str>, Error> {
        match self.arguments.get(index) {
            Some(Value::String(text)) => Ok(Arc::clone(text)),
            _ => Err(self.unexpected(index, "string")),
        }
    }

    /// An argument declared as [`Type::List`] or [`Type::Strings`].
    pub fn list(&self, index: usize) -> Result<Rc<List>, Error> {
        match self.arguments.get(index) {
            Some(Value::List(list)) => Ok(Rc::clone(list)),
            _ => Err(self.unexpected(index, "[]interface {}")),
        }
    }

    /// An argument declared as [`Type::Map`].
    pub fn map(&self, index: usize) -> Result<Rc<Map>, Error> {
        match self.arguments.get(index) {
            Some(Value::Map(map)) => Ok(Rc::clone(map)),
            _ => Err(self.unexpected(index, "map[string]interface {}")),
        }
    }

    /// Whether there is room for a result of so many bytes. Every function whose result can be much longer than its
    /// arguments says so before it allocates; the result is charged once it is there.
    pub fn room(&self, bytes: usize) -> Result<(), Error> {
        self.budget.room(bytes)
    }

    /// The same for a text, which is copied once it is whole.
    pub fn room_for_text(&self, bytes: usize) -> Result<(), Error> {
        self.budget.room_for_text(bytes)
    }

    /// Charges bytes that become a part of an argument.
    pub fn charge(&self, bytes: usize) -> Result<(), Error> {
        self.budget.charge(bytes)
    }

    /// Counts work beyond a pass over the arguments.
    pub fn work(&self, steps: usize) -> Result<(), Error> {
        self.budget.step(steps as u64)
    }

    /// The entries of a map argument.
    pub fn entries(&self, index: usize) -> Result<BTreeMap<Arc<str>, Value>, Error> {
        self.budget.entries(&*self.map(index)?)
    }

    /// Bytes that the function made, as text.
    ///
    /// # Errors
    /// They are not UTF-8. Go computes with any bytes; here texts are UTF-8, and others in their place would change a checksum
    /// without a word.
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

    /// An error of class [`ErrorClass::Other`]; the engine adds the place.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorClass::Other, message)
    }

    /// An argument that the body itself cannot use.
    pub fn unexpected(&self, index: usize, expected: &str) -> Error {
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
