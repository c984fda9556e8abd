//! `fmt.Sprintf`: parses a format into flags, widths, precisions and verbs, and writes Go's error texts for mismatches.

use super::super::{Error, Value};
use super::Spec;
use super::verbs::Printer;

/// `fmt.Sprintf`.
pub fn sprintf(format: &str, arguments: &[Value]) -> Result<String, Error> {
    let mut formatter = Formatter {
        rest: format,
        arguments,
        next: 0,
        reordered: false,
        after_index: false,
        good_index: true,
        printer: Printer::default(),
    };
    formatter.run()?;
    Ok(formatter.printer.text)
}

/// The maximum width or precision that Go accepts.
const MAX_WIDTH: i64 = 1_000_000;

struct Formatter<'a> {
    rest: &'a str,
    arguments: &'a [Value],
    next: usize,
    /// Whether a verb selected its argument by index. Then Go does not report unused arguments.
    reordered: bool,
    after_index: bool,
    good_index: bool,
    printer: Printer,
}

impl Formatter<'_> {
    fn run(&mut self) -> Result<(), Error> {
        while let Some(place) = self.rest.find('%') {
            self.printer.text.push_str(&self.rest[..place]);
            self.rest = &self.rest[place + 1..];
            self.verb()?;
        }
        self.printer.text.push_str(self.rest);
        self.extra()
    }

    fn verb(&mut self) -> Result<(), Error> {
        self.good_index = true;
        self.after_index = false;
        let mut spec = self.flags();
        self.index();
        self.width(&mut spec);
        self.precision(&mut spec);
        if !self.after_index {
            self.index();
        }
        let Some(verb) = self.rest.chars().next() else {
            self.printer.text.push_str("%!(NOVERB)");
            return Ok(());
        };
        self.rest = &self.rest[verb.len_utf8()..];
        if verb == '%' {
            self.printer.text.push('%');
        } else if !self.good_index {
            self.printer.text.push_str(&format!("%!{verb}(BADINDEX)"));
        } else if let Some(argument) = self.arguments.get(self.next) {
            self.next += 1;
            if verb == 'v' {
                spec.go_syntax = std::mem::take(&mut spec.sharp);
                spec.field_names = std::mem::take(&mut spec.plus);
            }
            return self.printer.argument(argument, verb, &spec);
        } else {
            self.printer.text.push_str(&format!("%!{verb}(MISSING)"));
        }
        Ok(())
    }

    fn flags(&mut self) -> Spec {
        let mut spec = Spec::default();
        while let Some(flag) = self.rest.chars().next() {
            match flag {
                '#' => spec.sharp = true,
                '0' => spec.zero = true,
                '+' => spec.plus = true,
                '-' => spec.minus = true,
                ' ' => spec.space = true,
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        spec
    }

    fn width(&mut self, spec: &mut Spec) {
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            let width = self.integer_argument();
            if width.is_none() {
                self.printer.text.push_str("%!(BADWIDTH)");
            }
            spec.minus |= width.is_some_and(|width| width < 0);
            spec.width = width.map(|width| width.unsigned_abs() as usize);
            self.after_index = false;
            return;
        }
        spec.width = self.number();
        if self.after_index && spec.width.is_some() {
            self.good_index = false;
        }
    }

    fn precision(&mut self, spec: &mut Spec) {
        let Some(rest) = self.rest.strip_prefix('.').filter(|rest| !rest.is_empty()) else {
            return;
        };
        self.rest = rest;
        self.good_index &= !self.after_index;
        self.index();
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            let precision = self.integer_argument();
            spec.precision = precision.and_then(|number| usize::try_from(number).ok());
            if spec.precision.is_none() {
                self.printer.text.push_str("%!(BADPREC)");
            }
            self.after_index = false;
        } else {
            spec.precision = Some(self.number().unwrap_or(0));
        }
    }

    /// Parses a decimal number. As in Go, a number above the maximum consumes the rest of the format.
    fn number(&mut self) -> Option<usize> {
        let length = self
            .rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let digits = &self.rest[..length];
        let mut number: i64 = 0;
        for digit in digits.bytes() {
            if number > MAX_WIDTH {
                self.rest = "";
                return None;
            }
            number = number * 10 + i64::from(digit - b'0');
        }
        self.rest = &self.rest[length..];
        (length > 0).then_some(number as usize)
    }

    fn integer_argument(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        let number = match argument {
            Value::Int(number) | Value::Int64(number) => *number,
            Value::Uint8(number) => i64::from(*number),
            Value::Uint64(number) => i64::try_from(*number).ok()?,
            _ => return None,
        };
        (-MAX_WIDTH..=MAX_WIDTH).contains(&number).then_some(number)
    }

    /// Parses an argument index such as `[3]`, for the next verb, width or precision.
    fn index(&mut self) {
        self.after_index = false;
        if !self.rest.starts_with('[') {
            return;
        }
        self.reordered = true;
        let close = self.rest.find(']').filter(|_| self.rest.len() >= 3);
        let Some(close) = close else {
            self.good_index = false;
            self.rest = &self.rest[1..];
            return;
        };
        let number = self.rest[1..close].parse::<usize>().ok();
        let plain = self.rest[1..close]
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        self.rest = &self.rest[close + 1..];
        let number =
            number.filter(|number| plain && *number <= 10 * MAX_WIDTH.unsigned_abs() as usize);
        self.after_index = number.is_some();
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) if index < self.arguments.len() => self.next = index,
            _ => self.good_index = false,
        }
    }

    /// Reports the arguments that no verb used.
    fn extra(&mut self) -> Result<(), Error> {
        let extra = self.arguments.get(self.next..).unwrap_or_default();
        if self.reordered || extra.is_empty() {
            return Ok(());
        }
        self.printer.text.push_str("%!(EXTRA ");
        for (index, argument) in extra.iter().enumerate() {
            if index > 0 {
                self.printer.text.push_str(", ");
            }
            if matches!(argument, Value::Nil) {
                self.printer.text.push_str("<nil>");
            } else {
                self.printer.text.push_str(argument.type_name());
                self.printer.text.push('=');
                self.printer.argument(argument, 'v', &Spec::default())?;
            }
        }
        self.printer.text.push(')');
        Ok(())
    }
}
