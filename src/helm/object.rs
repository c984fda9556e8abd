//! Go values with their own fields or methods: a semantic version, a time, `.Files`, `.Capabilities.APIVersions`.

use std::fmt::Debug;
use std::rc::Rc;

use super::function::Signature;
use super::value::List;
use super::{Error, ErrorClass, Value};

/// A value that is neither of a basic kind, nor a list, nor a map.
pub trait Object: Debug {
    /// Go's type name, as `%T` prints it, such as `*semver.Version`.
    fn type_name(&self) -> &str;

    /// Go's kind: `struct`, `ptr`, `slice` and so on.
    fn kind(&self) -> &'static str {
        "struct"
    }

    /// The text that `%v` prints.
    fn text(&self) -> String;

    /// The truth value in Go; a struct is always true.
    fn truth(&self) -> bool {
        true
    }

    /// The items of a list with its own type.
    fn items(&self) -> Option<Rc<List>> {
        None
    }

    /// The real and imaginary components of a complex number.
    fn complex(&self) -> Option<(f64, f64)> {
        None
    }

    /// The value that `toJson` and `toYaml` write.
    fn plain(&self) -> Value {
        Value::Nil
    }

    /// The value of an exported field.
    fn field(&self, _name: &str) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    /// The signature of an exported method; none if there is no such method.
    fn method(&self, _name: &str) -> Option<Signature> {
        None
    }

    /// Calls a method with arguments that match its signature.
    fn call(&self, name: &str, _arguments: &[Value]) -> Result<Value, Error> {
        Err(Error::new(
            ErrorClass::WrongType,
            format!("`{}` has no method `{name}`", self.type_name()),
        ))
    }
}

/// A Go struct without methods.
#[derive(Debug)]
pub struct Struct {
    /// Go's type name.
    pub type_name: &'static str,
    /// The fields in the order of their declaration, in which Go prints them.
    pub fields: Vec<(&'static str, Value)>,
}

impl Object for Struct {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn text(&self) -> String {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|(_, value)| super::print::short(value))
            .collect();
        format!("{{{}}}", fields.join(" "))
    }

    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        let found = self.fields.iter().find(|(field, _)| *field == name);
        Ok(found.map(|(_, value)| value.clone()))
    }
}

/// A `complex128`, which results from a literal such as `1i` only.
#[derive(Debug)]
pub(super) struct Complex {
    pub(super) real: f64,
    pub(super) imaginary: f64,
}

impl Object for Complex {
    fn type_name(&self) -> &str {
        "complex128"
    }

    fn kind(&self) -> &'static str {
        "complex128"
    }

    fn text(&self) -> String {
        let imaginary = super::print::float(self.imaginary);
        let sign = if imaginary.starts_with(['-', '+']) {
            ""
        } else {
            "+"
        };
        format!("({}{sign}{imaginary}i)", super::print::float(self.real))
    }

    fn truth(&self) -> bool {
        self.real != 0.0 || self.imaginary != 0.0
    }

    fn complex(&self) -> Option<(f64, f64)> {
        Some((self.real, self.imaginary))
    }
}
