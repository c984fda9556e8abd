//! The built-in functions of text/template, and Helm's functions that evaluate templates.

use std::collections::BTreeMap;

use super::function::{Body, Call, Function, Labels, Signature, Type};
use super::{Error, ErrorClass, Value, compare, format};

/// The functions of text/template. `slice` is missing on purpose: Helm replaces it with Sprig's.
pub(super) const TABLE: &[Function] = &[
    Function {
        name: "and",
        signature: ONE_OR_MORE,
        body: Body::And,
        labels: Labels::Carried,
    },
    Function {
        name: "or",
        signature: ONE_OR_MORE,
        body: Body::Or,
        labels: Labels::Carried,
    },
    Function {
        name: "include",
        signature: TEXT_AND_DOT,
        body: Body::Include,
        labels: Labels::Carried,
    },
    Function {
        name: "tpl",
        signature: TEXT_AND_DOT,
        body: Body::Tpl,
        labels: Labels::Carried,
    },
    Function::new("lookup", &[Type::String; 4], lookup),
    Function::new("not", &[Type::Any], not).carries(),
    Function::new("len", &[Type::Any], len).reads_structure(),
    Function::variadic("index", &[Type::Any], Type::Any, index).reads_structure(),
    Function::variadic("call", &[Type::Any], Type::Any, call_value),
    Function::variadic("eq", &[Type::Any], Type::Any, eq).compares_with_nothing(),
    Function::new("ne", &[Type::Any, Type::Any], ne).compares_with_nothing(),
    Function::new("lt", &[Type::Any, Type::Any], lt),
    Function::new("le", &[Type::Any, Type::Any], le),
    Function::new("gt", &[Type::Any, Type::Any], gt),
    Function::new("ge", &[Type::Any, Type::Any], ge),
    Function::variadic("print", &[], Type::Any, print).makes_text(),
    Function::variadic("println", &[], Type::Any, println).makes_text(),
    Function::variadic("printf", &[Type::String], Type::Any, printf).makes_text(),
    Function::variadic("html", &[], Type::Any, html).makes_text(),
    Function::variadic("js", &[], Type::Any, js).makes_text(),
    Function::variadic("urlquery", &[], Type::Any, urlquery).makes_text(),
];

const ONE_OR_MORE: Signature = Signature {
    parameters: &[Type::Any],
    rest: Some(Type::Any),
};

const TEXT_AND_DOT: Signature = Signature::new(&[Type::String, Type::Any]);

/// An empty map, which is also Helm's result without a cluster.
fn lookup(call: &mut Call<'_>) -> Result<Value, Error> {
    if call.has_cluster {
        let message = "`lookup` reads the cluster, whose objects are not known";
        return Err(Error::new(ErrorClass::Cluster, message));
    }
    Ok(Value::map(BTreeMap::new()))
}

fn not(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!call.value(0).truth()?))
}

fn len(call: &mut Call<'_>) -> Result<Value, Error> {
    let length = match call.value(0) {
        Value::String(text) => text.len(),
        Value::List(list) => list.items.len(),
        Value::Map(map) => map.len()?,
        Value::Object(object) if object.items().is_some() => {
            object.items().map_or(0, |list| list.items.len())
        }
        _ => return Err(call.argument_error(0, "string, list or map")),
    };
    Ok(Value::Int(length as i64))
}

fn index(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut item = call.value(0);
    if matches!(item, Value::Nil) {
        return Err(wrong_type("`index` cannot look into nil"));
    }
    for key in call.rest(1) {
        item = index_into(&item, key)?;
    }
    Ok(item)
}

fn index_into(item: &Value, key: &Value) -> Result<Value, Error> {
    match (item, key) {
        (Value::Nil, _) => Err(wrong_type("`index` cannot look into nil")),
        (Value::Map(map), Value::String(name)) => Ok(map.get(name)?.unwrap_or_else(|| map.zero())),
        (Value::Map(_), key) => Err(wrong_type(format!(
            "a map's keys are strings, not of type `{}`",
            key.type_name()
        ))),
        (Value::List(list), key) => {
            let place = position(key, list.items.len())?;
            Ok(list.items[place].clone())
        }
        (Value::String(text), key) => {
            let place = position(key, text.len())?;
            Ok(Value::Uint8(text.as_bytes()[place]))
        }
        (Value::Object(object), key) if let Some(list) = object.items() => {
            index_into(&Value::List(list), key)
        }
        (other, _) => Err(wrong_type(format!(
            "`index` cannot look into a value of type `{}`",
            other.type_name()
        ))),
    }
}

/// Checks an index against the number of items.
fn position(key: &Value, length: usize) -> Result<usize, Error> {
    let number = match key {
        Value::Int(number) | Value::Int64(number) => *number,
        Value::Uint8(number) => i64::from(*number),
        Value::Uint64(number) => i64::try_from(*number).unwrap_or(i64::MAX),
        other => {
            return Err(wrong_type(format!(
                "an index is an integer, not of type `{}`",
                other.type_name()
            )));
        }
    };
    usize::try_from(number)
        .ok()
        .filter(|place| *place < length)
        .ok_or_else(|| {
            let message = format!("index {number} is out of range: there are {length} items");
            Error::new(ErrorClass::OutOfRange, message)
        })
}

/// Always an error, because no value of a template is a function.
fn call_value(call: &mut Call<'_>) -> Result<Value, Error> {
    Err(call.argument_error(0, "function"))
}

fn eq(call: &mut Call<'_>) -> Result<Value, Error> {
    let first = call.value(0);
    if call.rest(1).is_empty() {
        return Err(wrong_type("`eq` needs something to compare with"));
    }
    for other in call.rest(1) {
        if compare::equal(&first, other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn ne(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!compare::equal(
        &call.value(0),
        &call.value(1),
    )?))
}

fn lt(call: &mut Call<'_>) -> Result<Value, Error> {
    compare::less(&call.value(0), &call.value(1)).map(Value::Bool)
}

fn le(call: &mut Call<'_>) -> Result<Value, Error> {
    less_or_equal(call).map(Value::Bool)
}

fn gt(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!less_or_equal(call)?))
}

fn ge(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::Bool(!compare::less(&call.value(0), &call.value(1))?))
}

fn less_or_equal(call: &Call<'_>) -> Result<bool, Error> {
    let (first, second) = (call.value(0), call.value(1));
    Ok(compare::less(&first, &second)? || compare::equal(&first, &second)?)
}

fn print(call: &mut Call<'_>) -> Result<Value, Error> {
    format::sprint(call.arguments).map(Value::from)
}

fn println(call: &mut Call<'_>) -> Result<Value, Error> {
    format::sprintln(call.arguments).map(Value::from)
}

fn printf(call: &mut Call<'_>) -> Result<Value, Error> {
    format::sprintf(&call.string(0)?, call.rest(1)).map(Value::from)
}

fn html(call: &mut Call<'_>) -> Result<Value, Error> {
    escape_arguments(call, escape_html)
}

fn js(call: &mut Call<'_>) -> Result<Value, Error> {
    escape_arguments(call, escape_js)
}

fn urlquery(call: &mut Call<'_>) -> Result<Value, Error> {
    escape_arguments(call, escape_url_query)
}

/// Escapes the arguments.
fn escape_arguments(call: &Call<'_>, escape: fn(&str) -> String) -> Result<Value, Error> {
    let text = text_of(call)?;
    Ok(escape(&text).into())
}

/// The arguments as text, printed as an action would print them.
fn text_of(call: &Call<'_>) -> Result<String, Error> {
    let shown = |value: &Value| match value {
        Value::Nil => Value::from("<no value>"),
        other => other.clone(),
    };
    let arguments: Vec<Value> = call.arguments.iter().map(shown).collect();
    format::sprint(&arguments)
}

fn wrong_type(message: impl Into<String>) -> Error {
    Error::new(ErrorClass::WrongType, message)
}

/// Escapes for HTML.
fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0' => escaped.push('\u{fffd}'),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes for a JavaScript string.
fn escape_js(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\\\"),
            '\'' => escaped.push_str("\\'"),
            '"' => escaped.push_str("\\\""),
            '<' | '>' | '&' | '=' | '\0'..='\x1f' => {
                escaped.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            other if other.is_ascii() || is_printable(other) => escaped.push(other),
            other => escaped.push_str(&format!("\\u{:04X}", u32::from(other))),
        }
    }
    escaped
}

/// Whether Go prints the character as it is: its quoting escapes exactly the others.
fn is_printable(character: char) -> bool {
    let text = character.to_string();
    format::quote(&text).trim_matches('"') == text
}

/// Escapes for the query of a URL.
fn escape_url_query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            b' ' => escaped.push('+'),
            other => escaped.push_str(&format!("%{other:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escape_html, escape_js, escape_url_query};

    #[test]
    fn each_function_escapes_its_own_characters() {
        assert_eq!(
            escape_html("<a href=\"x\">'&'\0"),
            "&lt;a href=&#34;x&#34;&gt;&#39;&amp;&#39;\u{fffd}"
        );
        assert_eq!(
            escape_js("it's <b>=\n\u{e9}\u{200b}"),
            "it\\'s \\u003Cb\\u003E\\u003D\\u000A\u{e9}\\u200B"
        );
        assert_eq!(escape_url_query("a b/\u{e9}~"), "a+b%2F%C3%A9~");
    }
}
