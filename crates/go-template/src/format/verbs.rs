//! Formats one value under one verb.

use super::super::function;
use super::super::print::{self, NESTING};
use super::super::value::{Complex, Element, List, Map, Object};
use super::super::{Error, ErrorClass, Value};
use super::{Spec, float, integer, quote};

/// The text of a format call.
#[derive(Default)]
pub(super) struct Printer {
    pub(super) text: String,
}

impl Printer {
    /// Writes an argument. Unlike the other verbs, `%T` and `%p` do not apply to the items of a list or map.
    pub(super) fn argument(&mut self, value: &Value, verb: char, spec: &Spec) -> Result<(), Error> {
        match (verb, value) {
            ('T' | 'v', Value::Nil) => spec.pad(&mut self.text, "<nil>"),
            ('T', _) => self.string(value.type_name(), 's', spec),
            ('p', _) => self.bad_verb(value, verb, spec)?,
            _ => self.value(value, verb, spec, 0)?,
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, verb: char, spec: &Spec, depth: usize) -> Result<(), Error> {
        if depth > NESTING {
            return Err(print::too_deep());
        }
        function::ensure_size(format_args!("%{verb}"), self.text.len())?;
        let fits = match value {
            Value::Nil if depth > 0 => {
                let nil = if spec.go_syntax {
                    "interface {}(nil)"
                } else {
                    "<nil>"
                };
                self.text.push_str(nil);
                true
            }
            Value::Nil => false,
            Value::Bool(flag) => {
                let text = if *flag { "true" } else { "false" };
                matches!(verb, 't' | 'v')
                    .then(|| spec.pad(&mut self.text, text))
                    .is_some()
            }
            Value::Int(number) | Value::Int64(number) => {
                let magnitude = number.unsigned_abs();
                integer::write(&mut self.text, magnitude, Some(*number < 0), verb, spec)
            }
            Value::Uint8(number) => {
                integer::write(&mut self.text, u64::from(*number), None, verb, spec)
            }
            Value::Uint64(number) => integer::write(&mut self.text, *number, None, verb, spec),
            Value::Float(number) => float::write(&mut self.text, *number, verb, spec),
            Value::String(text) => {
                self.string(text, verb, spec);
                matches!(verb, 's' | 'v' | 'x' | 'X' | 'q')
            }
            Value::List(list) => return self.list(list, value, verb, spec, depth),
            Value::Map(map) => return self.map(map, value, verb, spec, depth),
            Value::Object(object) => self.object(&**object, verb, spec),
        };
        if fits {
            return Ok(());
        }
        self.bad_verb(value, verb, spec)
    }

    /// Writes Go's error text for a verb that does not apply, such as `%!d(string=x)`.
    fn bad_verb(&mut self, value: &Value, verb: char, spec: &Spec) -> Result<(), Error> {
        self.text.push_str("%!");
        self.text.push(verb);
        self.text.push('(');
        if matches!(value, Value::Nil) {
            self.text.push_str("<nil>");
        } else {
            self.text.push_str(value.type_name());
            self.text.push('=');
            self.value(value, 'v', spec, 0)?;
        }
        self.text.push(')');
        Ok(())
    }

    fn string(&mut self, text: &str, verb: char, spec: &Spec) {
        let cut = |text: &str| match spec.precision {
            Some(length) => text.chars().take(length).collect(),
            None => text.to_owned(),
        };
        match verb {
            'v' if spec.go_syntax => spec.pad(&mut self.text, &quote::format(&cut(text), spec)),
            's' | 'v' => spec.pad(&mut self.text, &cut(text)),
            'q' => spec.pad(&mut self.text, &quote::format(&cut(text), spec)),
            'x' | 'X' => self.hexadecimal(text.as_bytes(), verb, spec),
            _ => {}
        }
    }

    fn hexadecimal(&mut self, bytes: &[u8], verb: char, spec: &Spec) {
        let length = spec.precision.unwrap_or(bytes.len()).min(bytes.len());
        let prefix = match (spec.sharp, verb) {
            (false, _) => "",
            (true, 'X') => "0X",
            (true, _) => "0x",
        };
        let mut piece = String::new();
        for (index, byte) in bytes[..length].iter().enumerate() {
            if spec.space && index > 0 {
                piece.push(' ');
            }
            if index == 0 || spec.space {
                piece.push_str(prefix);
            }
            piece.push_str(&if verb == 'X' {
                format!("{byte:02X}")
            } else {
                format!("{byte:02x}")
            });
        }
        spec.pad(&mut self.text, &piece);
    }

    fn list(
        &mut self,
        list: &List,
        value: &Value,
        verb: char,
        spec: &Spec,
        depth: usize,
    ) -> Result<(), Error> {
        if list.element == Element::Uint8 && matches!(verb, 's' | 'q' | 'x' | 'X') {
            let byte = |item: &Value| match item {
                Value::Uint8(byte) => *byte,
                _ => 0,
            };
            let bytes: Vec<u8> = list.items.iter().map(byte).collect();
            if matches!(verb, 'x' | 'X') {
                self.hexadecimal(&bytes, verb, spec);
            } else {
                let text = std::str::from_utf8(&bytes)
                    .map_err(|_| Error::new(ErrorClass::Other, "these bytes are not UTF-8"))?;
                self.string(text, verb, spec);
            }
            return Ok(());
        }
        let brackets = Brackets::new(spec, "[");
        if spec.go_syntax {
            self.text.push_str(value.type_name());
        }
        self.text.push_str(brackets.open);
        for (index, item) in list.items.iter().enumerate() {
            if index > 0 {
                self.text.push_str(brackets.between);
            }
            self.value(item, verb, spec, depth + 1)?;
        }
        self.text.push_str(brackets.close);
        Ok(())
    }

    fn map(
        &mut self,
        map: &Map,
        value: &Value,
        verb: char,
        spec: &Spec,
        depth: usize,
    ) -> Result<(), Error> {
        let brackets = Brackets::new(spec, "map[");
        if spec.go_syntax {
            self.text.push_str(value.type_name());
        }
        self.text.push_str(brackets.open);
        for (index, (key, item)) in map.entries()?.into_iter().enumerate() {
            if index > 0 {
                self.text.push_str(brackets.between);
            }
            self.value(&Value::String(key), verb, spec, depth + 1)?;
            self.text.push(':');
            self.value(&item, verb, spec, depth + 1)?;
        }
        self.text.push_str(brackets.close);
        Ok(())
    }

    fn object(&mut self, object: &dyn Object, verb: char, spec: &Spec) -> bool {
        if let Some(number) = object.complex() {
            return self.complex(number, verb, spec);
        }
        let text = object.text();
        self.string(&text, verb, spec);
        matches!(verb, 's' | 'v' | 'x' | 'X' | 'q')
    }

    /// Writes `(1+2i)`, with the verb applied to both components and a sign on the second.
    fn complex(&mut self, number: Complex, verb: char, spec: &Spec) -> bool {
        if !matches!(
            verb,
            'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E'
        ) {
            return false;
        }
        let signed = Spec {
            plus: true,
            ..spec.clone()
        };
        self.text.push('(');
        float::write(&mut self.text, number.real, verb, spec);
        float::write(&mut self.text, number.imaginary, verb, &signed);
        self.text.push_str("i)");
        true
    }
}

/// What is written around and between the items of a list or map.
struct Brackets {
    open: &'static str,
    between: &'static str,
    close: &'static str,
}

impl Brackets {
    /// Those of `%v`, or of Go's syntax.
    fn new(spec: &Spec, open: &'static str) -> Self {
        if spec.go_syntax {
            Self {
                open: "{",
                between: ", ",
                close: "}",
            }
        } else {
            Self {
                open,
                between: " ",
                close: "]",
            }
        }
    }
}
