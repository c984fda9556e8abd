//! What an expression sees beyond its own text: templates defined elsewhere, and whose behavior is wanted.

use std::sync::Arc;

use super::{Engine, Error, Template, Value, parse};

/// Supplies what `include`, `template` and `tpl` need.
pub trait Host {
    /// Whose behavior is wanted where engines differ.
    fn engine(&self) -> Engine {
        Engine::Helm4
    }

    /// The template of that name, if there is one outside the text that is evaluated.
    fn named(&self, name: &str) -> Option<Named<'_>>;

    /// The error of a template that there is not.
    fn missing(&self, name: &str) -> Error {
        super::missing_template(name)
    }

    /// Parses a text for `tpl`; a host may keep what it parsed.
    fn parsed(&self, text: &Arc<str>) -> Result<Template, Error> {
        parse("gotpl", text)
    }
}

/// A template that can be included.
pub enum Named<'a> {
    /// One that was parsed.
    Template(Template),
    /// One that is written in Rust.
    Native(&'a dyn Native),
}

/// A template written in Rust: from its argument to its text.
pub trait Native {
    /// The text; its errors' class and message are shown at the place of the call.
    fn call(&self, argument: Value) -> Result<String, Error>;
}

impl<F: Fn(Value) -> Result<String, Error>> Native for F {
    fn call(&self, argument: Value) -> Result<String, Error> {
        self(argument)
    }
}

/// A host that defines nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn named(&self, _name: &str) -> Option<Named<'_>> {
        None
    }
}
