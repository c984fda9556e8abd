//! The string functions. Lengths are in bytes, as in Go.

use super::super::function::{Call, Function, Type};
use super::super::{Error, ErrorClass, Value, format, print};
use super::convert::{self, lower, upper};

const TEXT: &[Type] = &[Type::String];
const TWO_TEXTS: &[Type] = &[Type::String, Type::String];
const NUMBER_AND_TEXT: &[Type] = &[Type::Int, Type::String];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::new("trim", TEXT, |call| Ok(call.string(0)?.trim().into())).makes_text(),
    Function::new("trimAll", TWO_TEXTS, trim_all).may_make_nothing(),
    Function::new("trimall", TWO_TEXTS, trim_all).may_make_nothing(),
    Function::new("trimPrefix", TWO_TEXTS, trim_prefix).may_make_nothing(),
    Function::new("trimSuffix", TWO_TEXTS, trim_suffix).may_make_nothing(),
    Function::new("upper", TEXT, |call| map_characters(call, upper)).makes_text(),
    Function::new("lower", TEXT, |call| map_characters(call, lower)).makes_text(),
    Function::new("nospace", TEXT, nospace).may_make_nothing(),
    Function::new("contains", TWO_TEXTS, |call| {
        Ok(Value::Bool(call.string(1)?.contains(&*call.string(0)?)))
    }),
    Function::new("hasPrefix", TWO_TEXTS, |call| {
        Ok(Value::Bool(call.string(1)?.starts_with(&*call.string(0)?)))
    }),
    Function::new("hasSuffix", TWO_TEXTS, |call| {
        Ok(Value::Bool(call.string(1)?.ends_with(&*call.string(0)?)))
    }),
    Function::variadic("quote", &[], Type::Any, |call| {
        quote_arguments(call, format::quote)
    })
    .makes_text(),
    Function::variadic("squote", &[], Type::Any, squote).makes_text(),
    Function::variadic("cat", &[], Type::Any, cat).makes_text(),
    Function::new("indent", NUMBER_AND_TEXT, |call| indent_lines(call, "")).makes_text(),
    Function::new("nindent", NUMBER_AND_TEXT, |call| indent_lines(call, "\n")).makes_text(),
    Function::new(
        "replace",
        &[Type::String, Type::String, Type::String],
        replace,
    )
    .may_make_nothing(),
    Function::new("repeat", NUMBER_AND_TEXT, repeat).may_make_nothing(),
    Function::new("trunc", NUMBER_AND_TEXT, trunc).may_make_nothing(),
    Function::new("substr", &[Type::Int, Type::Int, Type::String], substr).may_make_nothing(),
    Function::new("plural", &[Type::String, Type::String, Type::Int], plural).makes_text(),
    Function::new("join", &[Type::String, Type::Any], join).makes_text(),
    Function::new("hello", &[], |_| Ok("Hello!".into())),
];

fn trim_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (set, text) = (call.string(0)?, call.string(1)?);
    Ok(text.trim_matches(|c| set.contains(c)).into())
}

fn trim_prefix(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(1)?;
    let bare = text.strip_prefix(&*call.string(0)?);
    Ok(bare.map_or_else(|| Value::String(text.clone()), Value::from))
}

fn trim_suffix(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(1)?;
    let bare = text.strip_suffix(&*call.string(0)?);
    Ok(bare.map_or_else(|| Value::String(text.clone()), Value::from))
}

fn map_characters(call: &Call<'_>, with: fn(char) -> char) -> Result<Value, Error> {
    let text = call.string(0)?;
    Ok(text.chars().map(with).collect::<String>().into())
}

/// Removes white space. If there is any, Sprig's library also decodes the text as Latin-1.
fn nospace(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(0)?;
    let is_blank = |c: char| c.is_whitespace();
    if !text.bytes().map(char::from).any(is_blank) {
        return Ok(Value::String(text));
    }
    let kept = text.bytes().map(char::from).filter(|c| !is_blank(*c));
    Ok(kept.collect::<String>().into())
}

/// The arguments except nil, quoted and separated by blanks.
fn quote_arguments(call: &Call<'_>, quote: fn(&str) -> String) -> Result<Value, Error> {
    let mut out = Vec::new();
    for value in call.rest(0) {
        if !matches!(value, Value::Nil) {
            out.push(quote(&convert::text(value)?));
        }
    }
    call.join(out, " ").map(Value::from)
}

fn squote(call: &mut Call<'_>) -> Result<Value, Error> {
    quote_arguments(call, |text| format!("'{text}'"))
}

fn cat(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut out = Vec::new();
    for value in call.rest(0) {
        if !matches!(value, Value::Nil) {
            out.push(print::value(value)?);
        }
    }
    call.join(out, " ").map(Value::from)
}

/// Indents every line, including empty ones.
fn indent_lines(call: &Call<'_>, before: &str) -> Result<Value, Error> {
    let (width, text) = (count(call)?, call.string(1)?);
    call.ensure_size(width)?;
    let pad = " ".repeat(width);
    let body = call.join(text.split('\n'), &format!("\n{pad}"))?;
    Ok(format!("{before}{pad}{body}").into())
}

/// The first argument as a count.
fn count(call: &Call<'_>) -> Result<usize, Error> {
    usize::try_from(call.int(0)?)
        .map_err(|_| call.error(format!("`{}` a negative number of times", call.name)))
}

fn replace(call: &mut Call<'_>) -> Result<Value, Error> {
    let (old, new, text) = (call.string(0)?, call.string(1)?, call.string(2)?);
    call.join(text.split(&*old), &new).map(Value::from)
}

fn repeat(call: &mut Call<'_>) -> Result<Value, Error> {
    let (times, text) = (count(call)?, call.string(1)?);
    call.ensure_size(times.saturating_mul(text.len()))?;
    Ok(text.repeat(if text.is_empty() { 0 } else { times }).into())
}

/// The first bytes of a text, or for a negative number the last bytes.
fn trunc(call: &mut Call<'_>) -> Result<Value, Error> {
    let (width, text) = (call.int(0)?, call.string(1)?);
    let size = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
    if size >= text.len() {
        return Ok(Value::String(text));
    }
    let cut = if width < 0 {
        text.len() - size..text.len()
    } else {
        0..size
    };
    call.text(&text.as_bytes()[cut])
}

/// The bytes from a start to an end. A negative start means 0; then the end is used as it is. Otherwise an end that is negative
/// or too large means the end of the text.
fn substr(call: &mut Call<'_>) -> Result<Value, Error> {
    let (start, end, text) = (call.int(0)?, call.int(1)?, call.string(2)?);
    let length = text.len() as i64;
    let (from, to) = if start < 0 {
        (0, end)
    } else if end < 0 || end > length {
        (start, length)
    } else {
        (start, end)
    };
    let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let cut = range.and_then(|(from, to)| text.as_bytes().get(from..to));
    let cut = cut.ok_or_else(|| {
        let message = format!("no bytes {from} to {to} in a text of {length}");
        Error::new(ErrorClass::OutOfRange, message)
    })?;
    call.text(cut)
}

fn plural(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(call.value(if call.int(2)? == 1 { 0 } else { 1 }))
}

fn join(call: &mut Call<'_>) -> Result<Value, Error> {
    let (separator, texts) = (call.string(0)?, convert::texts(&call.value(1))?);
    call.join(texts, &separator).map(Value::from)
}
