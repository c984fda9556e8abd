//! Go structs and complex numbers.

use super::value::{Complex, Object};
use super::{Error, Value};

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

    fn complex(&self) -> Option<Complex> {
        Some(*self)
    }
}
