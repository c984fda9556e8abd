//! Go's `fmt` package: `Sprint`, `Sprintln` and `Sprintf` with verbs, flags, widths, precisions, and Go's error texts such as
//! `%!d(string=x)`.

mod float;
mod integer;
mod quote;
mod sprintf;
#[cfg(test)]
mod tests;
mod verbs;

use super::{Error, Value};
pub use float::shortest;
pub use quote::quote;
pub use sprintf::sprintf;
use verbs::Printer;

/// `fmt.Sprint`: inserts a blank between two arguments unless one of them is a string.
pub fn sprint(arguments: &[Value]) -> Result<String, Error> {
    let mut printer = Printer::default();
    let mut after_string = true;
    for argument in arguments {
        let is_string = matches!(argument, Value::String(_));
        if !is_string && !after_string {
            printer.text.push(' ');
        }
        printer.argument(argument, 'v', &Spec::default())?;
        after_string = is_string;
    }
    Ok(printer.text)
}

/// `fmt.Sprintln`
pub fn sprintln(arguments: &[Value]) -> Result<String, Error> {
    let mut printer = Printer::default();
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            printer.text.push(' ');
        }
        printer.argument(argument, 'v', &Spec::default())?;
    }
    printer.text.push('\n');
    Ok(printer.text)
}

/// The flags, width and precision of a verb.
#[derive(Clone, Debug, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%#v`
    go_syntax: bool,
    /// `%+v`
    field_names: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

impl Spec {
    /// Writes a text, padded to the width.
    fn pad(&self, text: &mut String, piece: &str) {
        let length = piece.chars().count();
        let padding = self.width.unwrap_or(0).saturating_sub(length);
        let filler = if self.zero && !self.minus { '0' } else { ' ' };
        if self.minus {
            text.push_str(piece);
        }
        text.extend(std::iter::repeat_n(filler, padding));
        if !self.minus {
            text.push_str(piece);
        }
    }

    /// Writes a text, padded with blanks even if the flag `0` is set.
    fn pad_blank(&self, text: &mut String, piece: &str) {
        let blank = Self {
            zero: false,
            ..self.clone()
        };
        blank.pad(text, piece);
    }
}
