//! Go's `fmt` package: formats with verbs, flags, widths and precisions, and its ways to say that one does not fit.

mod float;
mod integer;
mod quote;
mod verbs;

use super::{Budget, Error, Value};
pub use float::shortest;
pub use quote::{quote, quote_ascii};
use verbs::Printer;

/// `fmt.Sprintf`.
pub fn sprintf(format: &str, arguments: &[Value], budget: &Budget) -> Result<String, Error> {
    let mut formatter = Formatter {
        rest: format,
        arguments,
        next: 0,
        reordered: false,
        after_index: false,
        good_index: true,
        printer: Printer::new(budget),
    };
    formatter.run()?;
    formatter.printer.finish()
}

/// `fmt.Sprint`: a blank stands between two arguments if neither is a string.
pub fn sprint(arguments: &[Value], budget: &Budget) -> Result<String, Error> {
    let mut printer = Printer::new(budget);
    let mut after_string = true;
    for argument in arguments {
        let is_string = matches!(argument, Value::String(_));
        if !is_string && !after_string {
            printer.text.push(' ');
        }
        printer.argument(argument, 'v', &Spec::default())?;
        after_string = is_string;
    }
    printer.finish()
}

/// `fmt.Sprintln`
pub fn sprintln(arguments: &[Value], budget: &Budget) -> Result<String, Error> {
    let mut printer = Printer::new(budget);
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            printer.text.push(' ');
        }
        printer.argument(argument, 'v', &Spec::default())?;
    }
    printer.text.push('\n');
    printer.finish()
}

/// Flags, width and precision of one verb.
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
    /// Adds the padding that the width asks for.
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

    /// The same, never with zeros.
    fn pad_blank(&self, text: &mut String, piece: &str) {
        let blank = Self {
            zero: false,
            ..self.clone()
        };
        blank.pad(text, piece);
    }
}

/// Go takes greater widths and precisions for mistakes.
const WIDEST: i64 = 1_000_000;

struct Formatter<'a, 'b> {
    rest: &'a str,
    arguments: &'a [Value],
    next: usize,
    /// Some verb named its argument: then unused ones are not complained of.
    reordered: bool,
    after_index: bool,
    good_index: bool,
    printer: Printer<'b>,
}

impl Formatter<'_, '_> {
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

    /// Reads digits. A number that is far too great swallows the rest of the format, as in Go.
    fn number(&mut self) -> Option<usize> {
        let length = self
            .rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let digits = &self.rest[..length];
        let mut number: i64 = 0;
        for digit in digits.bytes() {
            if number > WIDEST {
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
        (-WIDEST..=WIDEST).contains(&number).then_some(number)
    }

    /// Reads `[3]`: the argument that the next verb, width or precision takes.
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
            number.filter(|number| plain && *number <= 10 * WIDEST.unsigned_abs() as usize);
        self.after_index = number.is_some();
        match number.and_then(|number| number.checked_sub(1)) {
            Some(index) if index < self.arguments.len() => self.next = index,
            _ => self.good_index = false,
        }
    }

    /// Complains of arguments that no verb took.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::sprintf;
    use crate::gotemplate::{Budget, Limits, Value};

    fn check(cases: &[(&str, &str)], arguments: &[Value]) {
        let budget = Budget::new(Limits::default());
        for (format, expected) in cases {
            let text = sprintf(format, arguments, &budget);
            assert_eq!(text.as_deref().ok(), Some(*expected), "{format}");
        }
    }

    // The expected texts are what Go 1.26 prints.

    #[test]
    fn integers_have_flags_widths_and_precisions() {
        let cases = [
            ("%v", "1234"),
            ("%d", "1234"),
            ("%5d|", " 1234|"),
            ("%-5d|", "1234 |"),
            ("%05d", "01234"),
            ("%+d", "+1234"),
            ("% d", " 1234"),
            ("%x", "4d2"),
            ("%#X", "0X4D2"),
            ("%b", "10011010010"),
            ("%o", "2322"),
            ("%#o", "02322"),
            ("%O", "0o2322"),
            ("%c", "Ӓ"),
            ("%q", "'Ӓ'"),
            ("%U", "U+04D2"),
            ("%#U", "U+04D2 'Ӓ'"),
            ("%.5d", "01234"),
            ("%8.3d", "    1234"),
            ("%s", "%!s(int=1234)"),
            ("%t", "%!t(int=1234)"),
            ("%z", "%!z(int=1234)"),
            ("%08.3d", "    1234"),
            ("%e", "%!e(int=1234)"),
        ];
        check(&cases, &[Value::Int(1234)]);
    }

    #[test]
    fn floats_have_the_digits_that_go_gives_them() {
        let cases = [
            ("%v", "1.234567891e+06"),
            ("%g", "1.234567891e+06"),
            ("%f", "1234567.891000"),
            ("%.2f", "1234567.89"),
            ("%e", "1.234568e+06"),
            ("%E", "1.234568E+06"),
            ("%G", "1.234567891E+06"),
            ("%08.2f", "1234567.89"),
            ("%+.1f", "+1234567.9"),
            ("% f", " 1234567.891000"),
            ("%#g", "1.234567891e+06"),
            ("%.3g", "1.23e+06"),
            ("%10.4g|", " 1.235e+06|"),
            ("%-10g|", "1.234567891e+06|"),
            ("%x", "0x1.2d687e4189375p+20"),
            ("%.2x", "0x1.2dp+20"),
            ("%b", "5302428716536693p-32"),
            ("%d", "%!d(float64=1.234567891e+06)"),
            ("%s", "%!s(float64=1.234567891e+06)"),
            ("%5v|", "1.234567891e+06|"),
            ("%#v", "1.234567891e+06"),
        ];
        check(&cases, &[Value::Float(1_234_567.891)]);
    }

    #[test]
    fn the_widest_precision_is_written_out() {
        let written = |format: &str, value: Value| {
            let text = sprintf(format, &[value], &Budget::new(Limits::default()));
            text.map(|text| (text.len(), text.chars().take(4).collect::<String>()))
        };
        let cases = [
            ("%.1000000f", Value::Float(1.5), 1_000_002, "1.50"),
            ("%.1000000e", Value::Float(1.5), 1_000_006, "1.50"),
            ("%.1000000g", Value::Float(1.5), 3, "1.5"),
            ("%.1000000x", Value::Float(1.5), 1_000_008, "0x1."),
            ("%.1000000U", Value::Int(1), 1_000_002, "U+00"),
            ("%.1000000d", Value::Int(1), 1_000_000, "0000"),
            ("%1000000d", Value::Int(1), 1_000_000, "    "),
            ("%.70000s", "a".into(), 1, "a"),
        ];
        for (format, value, length, start) in cases {
            let expected = (length, start.to_owned());
            assert_eq!(written(format, value).ok(), Some(expected), "{format}");
        }
        let smallest = f64::from_bits(1);
        let text = sprintf(
            "%.1074f",
            &[Value::Float(smallest)],
            &Budget::new(Limits::default()),
        );
        assert!(text.is_ok_and(|text| text.ends_with("5")));
    }

    #[test]
    fn texts_are_cut_quoted_and_padded() {
        let cases = [
            ("%s", "h\té`"),
            ("%v", "h\té`"),
            ("%q", "\"h\\té`\""),
            ("%#q", "\"h\\té`\""),
            ("%+q", "\"h\\t\\u00e9`\""),
            ("%x", "6809c3a960"),
            ("%X", "6809C3A960"),
            ("% x", "68 09 c3 a9 60"),
            ("%#x", "0x6809c3a960"),
            ("%# x", "0x68 0x09 0xc3 0xa9 0x60"),
            ("%10s|", "      h\té`|"),
            ("%-10s|", "h\té`      |"),
            ("%.2s", "h\t"),
            ("%10.2q|", "     \"h\\t\"|"),
            ("%05s", "0h\té`"),
            ("%d", "%!d(string=h\té`)"),
            ("%t", "%!t(string=h\té`)"),
            ("%c", "%!c(string=h\té`)"),
            ("%T", "string"),
            ("%#v", "\"h\\té`\""),
            ("%p", "%!p(string=h\té`)"),
        ];
        check(&cases, &["h\t\u{e9}`".into()]);
    }

    #[test]
    fn lists_carry_the_verb_to_their_items() {
        let cases = [
            ("%v", "[1 a <nil> true 1.5 []]"),
            (
                "%s",
                "[%!s(int=1) a <nil> %!s(bool=true) %!s(float64=1.5) []]",
            ),
            (
                "%d",
                "[1 %!d(string=a) <nil> %!d(bool=true) %!d(float64=1.5) []]",
            ),
            (
                "%q",
                "['\\x01' \"a\" <nil> %!q(bool=true) %!q(float64=1.5) []]",
            ),
            (
                "%#v",
                "[]interface {}{1, \"a\", interface {}(nil), true, 1.5, []interface {}{}}",
            ),
            ("%+v", "[1 a <nil> true 1.5 []]"),
            ("%T", "[]interface {}"),
            ("%x", "[1 61 <nil> %!x(bool=true) 0x1.8p+00 []]"),
            ("%5v", "[    1     a <nil>  true   1.5 []]"),
            (
                "%05d",
                "[00001 %!d(string=0000a) <nil> %!d(bool=0true) %!d(float64=001.5) []]",
            ),
        ];
        let items = vec![
            Value::Int(1),
            "a".into(),
            Value::Nil,
            Value::Bool(true),
            Value::Float(1.5),
            Value::list(Vec::new()),
        ];
        check(&cases, &[Value::list(items)]);
    }

    #[test]
    fn maps_are_written_by_key() {
        let cases = [
            ("%v", "map[a:<nil> b:1]"),
            ("%s", "map[a:<nil> b:%!s(int=1)]"),
            ("%d", "map[%!d(string=a):<nil> %!d(string=b):1]"),
            (
                "%#v",
                "map[string]interface {}{\"a\":interface {}(nil), \"b\":1}",
            ),
        ];
        let entries = BTreeMap::from([("b".into(), Value::Int(1)), ("a".into(), Value::Nil)]);
        check(&cases, &[Value::map(entries)]);
    }

    #[test]
    fn what_does_not_fit_is_told_in_the_text() {
        let (one, two) = (Value::Int(1), Value::Int(2));
        check(&[("%d %d", "1 %!d(MISSING)")], std::slice::from_ref(&one));
        check(
            &[("%d", "1%!(EXTRA string=x, <nil>)")],
            &[one.clone(), "x".into(), Value::Nil],
        );
        check(&[("%", "%!(NOVERB)"), ("%!", "%!!(MISSING)")], &[]);
        check(
            &[("%[2]d %[1]d", "2 1"), ("%[3]d", "%!d(BADINDEX)")],
            &[one.clone(), two],
        );
        check(
            &[("%*d|", "    1|"), ("%-*d|", "1    |")],
            &[Value::Int(5), one.clone()],
        );
        check(&[("%*d", "%!(BADWIDTH)1")], &["a".into(), one]);
        check(&[("%.*f", "2.50")], &[Value::Int(2), Value::Float(2.5)]);
        check(&[("%v|%d", "<nil>|%!d(<nil>)")], &[Value::Nil, Value::Nil]);
    }
}
