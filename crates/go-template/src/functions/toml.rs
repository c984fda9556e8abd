//! The TOML functions, as Helm has them from github.com/BurntSushi/toml: the same layout, and errors that are values.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use yaml_tree::engine::Engine;

use super::super::function::{Call, Function, Type};
use super::super::{Error, Value, print};
use super::convert::deeper;
use super::json::error_map;

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("toToml", &[Type::Any], to_toml).makes_text(),
    Function::new("fromToml", &[Type::String], from_toml).parses(),
];

const NIL_ELEMENT: &str = "toml: cannot encode array with nil element";
const NO_KEY: &str = "toml: top-level values must be Go maps or structs";

/// Why nothing is written.
enum Fault {
    /// The encoder's message, which is the function's result.
    Result(&'static str),
    /// The evaluation's error.
    Error(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

fn to_toml(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut writer = Writer {
        out: String::new(),
        call,
    };
    match writer.value(&mut Vec::new(), &call.value(0), 0) {
        Ok(()) => Ok(writer.out.into()),
        Err(Fault::Result(message)) => Ok(message.into()),
        Err(Fault::Error(error)) => Err(error),
    }
}

struct Writer<'a> {
    out: String,
    call: &'a Call<'a>,
}

/// What a value is to TOML.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TomlKind {
    Nil,
    Table,
    Tables,
    Other,
}

/// An entry of a table.
struct TableEntry<'v> {
    key: &'v Arc<str>,
    value: &'v Value,
    kind: TomlKind,
}

impl Writer<'_> {
    /// The kind of a value. A nil in a list, however deep in lists, is an error.
    fn kind(&self, value: &Value, depth: usize) -> Result<TomlKind, Fault> {
        let inner = deeper(depth)?;
        Ok(match value {
            Value::Nil => TomlKind::Nil,
            Value::List(list) if list.element.is_nil() => TomlKind::Nil,
            Value::Map(_) => TomlKind::Table,
            Value::List(list) => {
                let mut kind = if list.items.is_empty() {
                    TomlKind::Other
                } else {
                    TomlKind::Tables
                };
                for item in &list.items {
                    match self.kind(item, inner)? {
                        TomlKind::Nil => return Err(Fault::Result(NIL_ELEMENT)),
                        TomlKind::Table => {}
                        TomlKind::Tables | TomlKind::Other => kind = TomlKind::Other,
                    }
                }
                kind
            }
            _ => TomlKind::Other,
        })
    }

    /// A value at a path of keys, in lines of its own.
    fn value(
        &mut self,
        path: &mut Vec<Arc<str>>,
        value: &Value,
        depth: usize,
    ) -> Result<(), Fault> {
        let inner = deeper(depth)?;
        match (self.kind(value, depth)?, value) {
            (TomlKind::Table, Value::Map(map)) => {
                if path.len() == 1 {
                    self.line();
                }
                self.header(path, "[", "]")?;
                let entries = map.entries()?;
                self.table(path, &entries, inner)
            }
            (TomlKind::Tables, Value::List(list)) => {
                if path.is_empty() {
                    return Err(Fault::Result(NO_KEY));
                }
                for item in &list.items {
                    if let Value::Map(map) = item {
                        self.line();
                        self.header(path, "[[", "]]")?;
                        let entries = map.entries()?;
                        self.table(path, &entries, inner)?;
                    }
                }
                Ok(())
            }
            _ => match path.last().cloned() {
                None => self.inline(value, inner),
                Some(key) => {
                    self.indent(path);
                    self.entry(&key, value, inner)?;
                    self.line();
                    Ok(())
                }
            },
        }
    }

    /// The entries of a table in lines of their own.
    fn table(
        &mut self,
        path: &mut Vec<Arc<str>>,
        entries: &BTreeMap<Arc<str>, Value>,
        depth: usize,
    ) -> Result<(), Fault> {
        for TableEntry { key, value, kind } in self.order_entries(entries, depth)? {
            if kind != TomlKind::Nil {
                path.push(Arc::clone(key));
                self.value(path, value, depth)?;
                path.pop();
            }
        }
        Ok(())
    }

    /// The entries of a table: plain values, then tables.
    fn order_entries<'v>(
        &self,
        entries: &'v BTreeMap<Arc<str>, Value>,
        depth: usize,
    ) -> Result<Vec<TableEntry<'v>>, Fault> {
        let (mut plain, mut tables) = (Vec::new(), Vec::new());
        for (key, value) in entries {
            let kind = self.kind(value, depth)?;
            let of_kind = match kind {
                TomlKind::Table | TomlKind::Tables => &mut tables,
                TomlKind::Nil | TomlKind::Other => &mut plain,
            };
            of_kind.push(TableEntry { key, value, kind });
        }
        plain.append(&mut tables);
        Ok(plain)
    }

    fn header(&mut self, path: &[Arc<str>], open: &str, close: &str) -> Result<(), Fault> {
        if path.is_empty() {
            return Ok(());
        }
        self.indent(path);
        self.out.push_str(open);
        for (index, key) in path.iter().enumerate() {
            if index > 0 {
                self.out.push('.');
            }
            self.key(key)?;
        }
        self.out.push_str(close);
        self.line();
        Ok(())
    }

    fn indent(&mut self, path: &[Arc<str>]) {
        self.out.extend(path.iter().skip(1).map(|_| "  "));
    }

    fn line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn entry(&mut self, key: &str, value: &Value, depth: usize) -> Result<(), Fault> {
        self.key(key)?;
        self.out.push_str(" = ");
        self.inline(value, depth)
    }

    /// A value in one line.
    fn inline(&mut self, value: &Value, depth: usize) -> Result<(), Fault> {
        let inner = deeper(depth)?;
        match value {
            Value::String(text) => self.quote(text)?,
            Value::Float(number) => {
                let text = float(*number, self.call.engine);
                self.out.push_str(&text);
            }
            Value::Bool(_)
            | Value::Int(_)
            | Value::Int64(_)
            | Value::Uint8(_)
            | Value::Uint64(_) => {
                self.out.push_str(&print::value(value)?);
            }
            Value::List(list) => {
                self.out.push('[');
                for (index, item) in list.items.iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.inline(item, inner)?;
                }
                self.out.push(']');
            }
            Value::Map(map) => {
                let entries = map.entries()?;
                self.inline_table(&entries, inner)?;
            }
            Value::Nil | Value::Object(_) => {
                let message = format!("`toToml` of {}", value.type_name());
                return Err(Fault::Error(self.call.error(message)));
            }
        }
        Ok(())
    }

    /// As the encoder writes it: a comma behind each entry but the last one, which may be nil and not written.
    fn inline_table(
        &mut self,
        entries: &BTreeMap<Arc<str>, Value>,
        depth: usize,
    ) -> Result<(), Fault> {
        self.out.push('{');
        for (index, entry) in self.order_entries(entries, depth)?.iter().enumerate() {
            if entry.kind == TomlKind::Nil {
                continue;
            }
            self.entry(entry.key, entry.value, depth)?;
            if index + 1 < entries.len() {
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn key(&mut self, key: &str) -> Result<(), Fault> {
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if key.is_empty() || !key.bytes().all(is_bare) {
            return self.quote(key);
        }
        self.out.push_str(key);
        Ok(())
    }

    fn quote(&mut self, text: &str) -> Result<(), Fault> {
        self.out.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\u{8}' => self.out.push_str("\\b"),
                '\t' => self.out.push_str("\\t"),
                '\n' => self.out.push_str("\\n"),
                '\u{c}' => self.out.push_str("\\f"),
                '\r' => self.out.push_str("\\r"),
                '\0'..='\u{1f}' | '\u{7f}' => {
                    self.out.push_str(&format!("\\u{:04x}", u32::from(letter)));
                }
                _ => self.out.push(letter),
            }
        }
        self.out.push('"');
        Ok(())
    }
}

/// A float: Helm 4 has a version of the library that writes exponents, as Go's format `g` does.
fn float(number: f64, engine: Engine) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let text = match engine {
        Engine::Helm4 => print::float(number),
        _ => format!("{number}"),
    };
    if text.contains(['.', 'e']) {
        text
    } else {
        format!("{text}.0")
    }
}

/// Helm's `fromToml`: the result for invalid input is a map with the message under the key `Error`.
fn from_toml(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    if depth(&text) > DEEPEST {
        let message = format!("`fromToml` of tables that are nested more than {DEEPEST} deep");
        return Err(call.error(message));
    }
    let table = match DeTable::parse(&text) {
        Ok(table) => table,
        Err(error) => return Ok(error_map(format!("toml: {}", error.message()))),
    };
    match table_of(table.get_ref(), call) {
        Ok(value) => Ok(value),
        Err(Fault::Result(message)) => Ok(error_map(message.to_owned())),
        Err(Fault::Error(error)) => Err(error),
    }
}

/// The deepest nesting that is read: less than what the parser refuses, which counts brackets and the dots of each key apart.
const DEEPEST: usize = 64;

/// How deep values are nested, by brackets and by dots in keys; those in strings count too.
fn depth(text: &str) -> usize {
    let (mut open, mut depth, mut dots, mut deepest) = (Vec::new(), 0_usize, 0, 0);
    for byte in text.bytes() {
        match byte {
            b'.' => dots += 1,
            b'\n' | b',' => dots = 0,
            b'[' | b'{' => {
                open.push(1 + dots);
                depth += 1 + dots;
                dots = 0;
            }
            b']' | b'}' => depth -= open.pop().unwrap_or_default(),
            _ => continue,
        }
        deepest = deepest.max(depth + dots);
    }
    deepest
}

fn table_of(table: &DeTable<'_>, call: &Call<'_>) -> Result<Value, Fault> {
    let entries = table.iter().map(|(key, value)| {
        let key: Arc<str> = key.get_ref().as_ref().into();
        Ok((key, value_of(value.get_ref(), call)?))
    });
    Ok(Value::map(
        entries.collect::<Result<BTreeMap<_, _>, Fault>>()?,
    ))
}

fn value_of(value: &DeValue<'_>, call: &Call<'_>) -> Result<Value, Fault> {
    const OUT_OF_RANGE: Fault = Fault::Result("toml: a number is out of range");
    Ok(match value {
        DeValue::String(text) => Value::String(text.as_ref().into()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(digits) => {
            let number = i64::from_str_radix(digits.as_str(), digits.radix());
            Value::Int64(number.map_err(|_| OUT_OF_RANGE)?)
        }
        DeValue::Float(digits) => {
            let number: f64 = digits.as_str().parse().map_err(|_| OUT_OF_RANGE)?;
            if number.is_infinite() && !digits.as_str().contains("inf") {
                return Err(OUT_OF_RANGE);
            }
            Value::Float(number)
        }
        DeValue::Datetime(_) => {
            let message = "`fromToml` of a date or time, which has methods in Go";
            return Err(Fault::Error(call.error(message)));
        }
        DeValue::Array(items) => {
            let items = items.iter().map(|item| value_of(item.get_ref(), call));
            Value::list(items.collect::<Result<_, Fault>>()?)
        }
        DeValue::Table(table) => table_of(table, call)?,
    })
}
