//! What a caller of the engine supplies: templates defined outside the text, and the engine to behave like.

use std::sync::Arc;

use super::{Engine, Error, Template, Value, parse};

/// The environment of an evaluation, which `include`, `template` and `tpl` use.
pub trait Host {
    /// The engine whose behavior applies where engines differ.
    fn engine(&self) -> Engine {
        Engine::Helm4
    }

    /// Whether `lookup` reads a cluster, whose objects are not known.
    fn has_cluster(&self) -> bool {
        false
    }

    /// Whether a key that a map has not is an error, as with Go's option `missingkey=error`.
    fn needs_keys(&self) -> bool {
        false
    }

    /// The template of this name that is defined outside the evaluated text, if there is one.
    fn find_definition(&self, name: &str) -> Option<Definition<'_>>;

    /// The error for a template that is not defined.
    fn missing(&self, name: &str) -> Error {
        super::missing_template(name)
    }

    /// Parses a text for `tpl`. A host may cache the result.
    fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        parse("gotpl", text)
    }
}

/// A template that a [`Host`] defines.
pub enum Definition<'a> {
    /// A parsed template.
    Template(Template),
    /// A template implemented in Rust.
    Native(Box<dyn NativeTemplate + 'a>),
}

/// A template implemented in Rust.
pub trait NativeTemplate {
    /// Executes the template. An error is reported at the call, with the class and message of this error.
    fn call(&self, argument: Value) -> Result<String, Error>;
}

impl<F: Fn(Value) -> Result<String, Error>> NativeTemplate for F {
    fn call(&self, argument: Value) -> Result<String, Error> {
        self(argument)
    }
}

/// A host without any templates.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn find_definition(&self, _name: &str) -> Option<Definition<'_>> {
        None
    }
}
