//! The list functions. No function changes its argument.

use std::collections::HashMap;

use super::super::function::{Call, Function, Type};
use super::super::{Error, ErrorClass, Value, print};
use super::convert::{self, deep_equal};

const ANY: &[Type] = &[Type::Any];
const TWO: &[Type] = &[Type::Any, Type::Any];
const CHUNK: &[Type] = &[Type::Int, Type::Any];

/// The functions of this module. In Sprig, a function without `must` panics where its `must` twin returns an error; here both
/// fail.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("list", &[], Type::Any, list).carries(),
    Function::variadic("tuple", &[], Type::Any, list).carries(),
    Function::new("first", ANY, first).carries(),
    Function::new("mustFirst", ANY, first).carries(),
    Function::new("last", ANY, last).carries(),
    Function::new("mustLast", ANY, last).carries(),
    Function::new("rest", ANY, rest).carries(),
    Function::new("mustRest", ANY, rest).carries(),
    Function::new("initial", ANY, initial).carries(),
    Function::new("mustInitial", ANY, initial).carries(),
    Function::new("append", TWO, append).carries(),
    Function::new("mustAppend", TWO, append).carries(),
    Function::new("push", TWO, append).carries(),
    Function::new("mustPush", TWO, append).carries(),
    Function::new("prepend", TWO, prepend).carries(),
    Function::new("mustPrepend", TWO, prepend).carries(),
    Function::variadic("concat", &[], Type::Any, concat).carries(),
    Function::new("reverse", ANY, reverse).carries(),
    Function::new("mustReverse", ANY, reverse).carries(),
    Function::new("uniq", ANY, uniq),
    Function::new("mustUniq", ANY, uniq),
    Function::variadic("without", ANY, Type::Any, without),
    Function::variadic("mustWithout", ANY, Type::Any, without),
    Function::new("has", TWO, has),
    Function::new("mustHas", TWO, has),
    Function::new("compact", ANY, compact).carries(),
    Function::new("mustCompact", ANY, compact).carries(),
    Function::variadic("slice", ANY, Type::Any, slice).reads_structure(),
    Function::variadic("mustSlice", ANY, Type::Any, slice).reads_structure(),
    Function::new("chunk", CHUNK, chunk).carries(),
    Function::new("mustChunk", CHUNK, chunk).carries(),
    Function::new("sortAlpha", ANY, sort_alpha),
    Function::new("splitList", &[Type::String, Type::String], split_list),
];

fn list(call: &mut Call<'_>) -> Result<Value, Error> {
    Ok(Value::list(call.arguments.to_vec()))
}

fn first(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    Ok(list.items.first().cloned().unwrap_or(Value::Nil))
}

fn last(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    Ok(list.items.last().cloned().unwrap_or(Value::Nil))
}

fn rest(call: &mut Call<'_>) -> Result<Value, Error> {
    match convert::list(call, 0)?.items.split_first() {
        None => Ok(convert::nil_list()),
        Some((_, rest)) => Ok(Value::list(rest.to_vec())),
    }
}

fn initial(call: &mut Call<'_>) -> Result<Value, Error> {
    match convert::list(call, 0)?.items.split_last() {
        None => Ok(convert::nil_list()),
        Some((_, initial)) => Ok(Value::list(initial.to_vec())),
    }
}

fn append(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    let items = list.items.iter().cloned().chain([call.value(1)]);
    Ok(Value::list(items.collect()))
}

fn prepend(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    let items = [call.value(1)]
        .into_iter()
        .chain(list.items.iter().cloned());
    Ok(Value::list(items.collect()))
}

fn concat(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut items = Vec::new();
    for index in 0..call.arguments.len() {
        let list = convert::list(call, index)?;
        items.extend_from_slice(&list.items);
    }
    Ok(if items.is_empty() {
        convert::nil_list()
    } else {
        Value::list(items)
    })
}

fn reverse(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    Ok(Value::list(list.items.iter().rev().cloned().collect()))
}

fn contains(items: &[Value], searched: &Value) -> Result<bool, Error> {
    for item in items {
        if deep_equal(searched, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq(call: &mut Call<'_>) -> Result<Value, Error> {
    let (mut items, mut known) = (Vec::new(), HashMap::<String, Vec<Value>>::new());
    for item in &convert::list(call, 0)?.items {
        // What is equal is printed alike, but for the sign of a zero.
        let printed = print::value(item)?;
        let alike = known.entry(printed.trim_start_matches('-').to_owned());
        let alike = alike.or_default();
        if !contains(alike, item)? {
            alike.push(item.clone());
            items.push(item.clone());
        }
    }
    Ok(Value::list(items))
}

fn without(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut items = Vec::new();
    for item in &convert::list(call, 0)?.items {
        if !contains(call.rest(1), item)? {
            items.push(item.clone());
        }
    }
    Ok(Value::list(items))
}

/// False for nil; an error for any other value that is not a list.
fn has(call: &mut Call<'_>) -> Result<Value, Error> {
    if matches!(call.value(1), Value::Nil) {
        return Ok(Value::Bool(false));
    }
    let list = convert::list(call, 1)?;
    Ok(Value::Bool(contains(&list.items, &call.value(0))?))
}

fn compact(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut items = Vec::new();
    for item in &convert::list(call, 0)?.items {
        if item.truth()? {
            items.push(item.clone());
        }
    }
    Ok(Value::list(items))
}

/// The items from an index up to, not including, another. As in Sprig, an empty list gives nil for any indices.
fn slice(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 0)?;
    let length = list.items.len();
    if length == 0 {
        return Ok(Value::Nil);
    }
    let index = |index: usize, default: usize| match call.rest(index).first() {
        Some(value) => usize::try_from(convert::integer(value)).ok(),
        None => Some(default),
    };
    let range = index(1, 0).zip(index(2, length));
    let cut = range.and_then(|(from, to)| list.items.get(from..to));
    let Some(items) = cut else {
        let message = format!("`{}` outside of a list of {length}", call.name);
        return Err(Error::new(ErrorClass::WrongType, message));
    };
    Ok(Value::list_of(list.element, items.to_vec()))
}

/// Splits a list into lists of a size. As in Sprig, a negative size `-N` gives no chunks for a list of 2 to N + 1 items.
fn chunk(call: &mut Call<'_>) -> Result<Value, Error> {
    let list = convert::list(call, 1)?;
    let length = list.items.len();
    let magnitude = usize::try_from(call.int(0)?.unsigned_abs()).unwrap_or(usize::MAX);
    let size = match call.int(0)?.signum() {
        1 => magnitude,
        -1 if length == 1 => 1,
        -1 if (2..=magnitude.saturating_add(1)).contains(&length) => {
            return Ok(Value::list(Vec::new()));
        }
        _ => return Err(call.error("chunks of no items")),
    };
    let chunks = list.items.chunks(size);
    let chunks = chunks.map(|items| Value::list(items.to_vec()));
    Ok(Value::list(chunks.collect()))
}

/// The items as texts, sorted by bytes. A value that is not a list is treated as its only item.
fn sort_alpha(call: &mut Call<'_>) -> Result<Value, Error> {
    let value = call.value(0);
    let mut texts = match value {
        Value::List(_) => convert::texts(&value)?,
        _ => vec![convert::text(&value)?],
    };
    texts.sort();
    Ok(Value::strings(texts))
}

fn split_list(call: &mut Call<'_>) -> Result<Value, Error> {
    let (separator, text) = (call.string(0)?, call.string(1)?);
    let pieces = pieces(&separator, &text, usize::MAX);
    Ok(Value::strings(pieces))
}

/// Splits a text at each separator into at most `limit` pieces; an empty separator splits between all characters
/// (`strings.SplitN`).
pub(super) fn pieces<'t>(separator: &str, text: &'t str, limit: usize) -> Vec<&'t str> {
    if !separator.is_empty() {
        return text.splitn(limit, separator).collect();
    }
    let mut pieces = Vec::new();
    let mut cuts = text.char_indices().map(|(index, _)| index).skip(1);
    let (mut start, mut count) = (0, 1);
    while count < limit
        && let Some(cut) = cuts.next()
    {
        pieces.push(&text[start..cut]);
        (start, count) = (cut, count + 1);
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}
