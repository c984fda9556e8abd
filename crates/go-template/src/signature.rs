//! The number and the Go types of the arguments that a function or a method takes.

/// The Go types of a function's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The types of the required arguments.
    pub parameters: &'static [Type],
    /// The type of any further arguments; none if no further arguments are allowed.
    pub rest: Option<Type>,
}

impl Signature {
    /// Of a function that takes these arguments and no further ones.
    pub const fn new(parameters: &'static [Type]) -> Self {
        Self {
            parameters,
            rest: None,
        }
    }

    /// The type of the argument at this index.
    pub(super) fn parameter(&self, index: usize) -> Option<Type> {
        self.parameters.get(index).copied().or(self.rest)
    }

    /// The error message for a call with `count` arguments; none if the number is right.
    pub(super) fn count_error(&self, name: &str, count: usize) -> Option<String> {
        let required = self.parameters.len();
        let arguments = if required == 1 {
            "argument"
        } else {
            "arguments"
        };
        if self.rest.is_some() {
            return (count < required).then(|| {
                format!("`{name}` takes at least {required} {arguments}, and {count} are given")
            });
        }
        (count != required)
            .then(|| format!("`{name}` takes {required} {arguments}, and {count} are given"))
    }
}

/// The Go type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}` or `reflect.Value`: any value, including nil.
    Any,
    /// `bool`
    Bool,
    /// `int`: a literal is converted; an `int64` or `float64` value is refused, as by Go's reflection.
    Int,
    /// `float64`
    Float,
    /// `string`
    String,
    /// `[]interface {}`; nil becomes an empty list.
    List,
    /// `map[string]interface {}`, or a named type of that form; nil becomes an empty map.
    Map,
    /// A type with methods, by its [`super::value::Object::type_name`].
    Named(&'static str),
}

impl Type {
    /// The type as error messages name it.
    pub(super) fn phrase(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a bool",
            Self::Int => "an integer",
            Self::Float => "a float",
            Self::String => "a string",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Named(name) => name,
        }
    }
}
