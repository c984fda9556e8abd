//! Regular expressions, with Go's syntax and results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::super::function::{Call, Function, Type};
use super::super::value::{Element, List};
use super::super::{Error, ErrorClass, Value};
use crate::regexp::{self, Regexp};

const PATTERN_AND_TEXT: &[Type] = &[Type::String, Type::String];
const AND_LIMIT: &[Type] = &[Type::String, Type::String, Type::Int];
const AND_REPLACEMENT: &[Type] = &[Type::String, Type::String, Type::String];

/// The family's table. Only `regexMatch` takes a wrong pattern for one that does not match.
pub(super) const TABLE: &[Function] = &[
    Function::new("regexMatch", PATTERN_AND_TEXT, |call| {
        let text = call.string(1)?;
        Ok(Value::Bool(
            pattern(call).is_ok_and(|regexp| regexp.is_match(&text)),
        ))
    }),
    Function::new("mustRegexMatch", PATTERN_AND_TEXT, |call| {
        Ok(pattern(call)?.is_match(&call.string(1)?).into())
    }),
    Function::new("regexFind", PATTERN_AND_TEXT, find),
    Function::new("mustRegexFind", PATTERN_AND_TEXT, find),
    Function::new("regexFindAll", AND_LIMIT, find_all),
    Function::new("mustRegexFindAll", AND_LIMIT, find_all),
    Function::new("regexReplaceAll", AND_REPLACEMENT, replace_all),
    Function::new("mustRegexReplaceAll", AND_REPLACEMENT, replace_all),
    Function::new(
        "regexReplaceAllLiteral",
        AND_REPLACEMENT,
        replace_all_literal,
    ),
    Function::new(
        "mustRegexReplaceAllLiteral",
        AND_REPLACEMENT,
        replace_all_literal,
    ),
    Function::new("regexSplit", AND_LIMIT, split),
    Function::new("mustRegexSplit", AND_LIMIT, split),
    Function::new("regexQuoteMeta", &[Type::String], |call| {
        let text = call.string(0)?;
        call.charge(text.len() * 2)?;
        Ok(regexp::quote_meta(&text).into())
    }),
];

/// The most bytes that one replacement may make.
const REPLACED_LIMIT: usize = 64 << 20;

/// The first argument, compiled once for all calls of this thread.
fn pattern(call: &Call<'_>) -> Result<Arc<Regexp>, Error> {
    const KEPT: usize = 256;
    thread_local! {
        static COMPILED: RefCell<HashMap<Arc<str>, Arc<Regexp>>> = RefCell::default();
    }
    let text = call.string(0)?;
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(regexp) = compiled.get(&text) {
            return Ok(Arc::clone(regexp));
        }
        let regexp = Regexp::new(&text).map(Arc::new).map_err(|error| {
            call.error(format!("`{text}` is not a regular expression: {error}"))
        })?;
        if compiled.len() >= KEPT {
            compiled.clear();
        }
        compiled.insert(text, Arc::clone(&regexp));
        Ok(regexp)
    })
}

fn find(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(1)?;
    Ok(pattern(call)?.find(&text).unwrap_or_default().into())
}

fn find_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let text = call.string(1)?;
    let found = pattern(call)?;
    let found = found.find_all(&text, call.int(2)?);
    strings(call, &found, Absence::Nil)
}

fn replace_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let replaced = pattern(call)?.replace_all(&text, &replacement, REPLACED_LIMIT);
    bounded(call, replaced)
}

fn replace_all_literal(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let replaced = pattern(call)?.replace_all_literal(&text, &replacement, REPLACED_LIMIT);
    bounded(call, replaced)
}

fn bounded(call: &Call<'_>, replaced: Option<String>) -> Result<Value, Error> {
    let replaced = replaced.ok_or_else(|| {
        let message = format!(
            "`{}` makes a text of more than {REPLACED_LIMIT} bytes",
            call.name
        );
        Error::new(ErrorClass::Limit, message)
    })?;
    call.charge(replaced.len())?;
    Ok(replaced.into())
}

fn split(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, limit) = (call.string(1)?, call.int(2)?);
    let regexp = pattern(call)?;
    let absence = if limit == 0 {
        Absence::Nil
    } else {
        Absence::Empty
    };
    strings(call, &regexp.split(&text, limit), absence)
}

/// What no strings at all are in Go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absence {
    Nil,
    Empty,
}

fn strings(call: &Call<'_>, texts: &[&str], absence: Absence) -> Result<Value, Error> {
    let length: usize = texts
        .iter()
        .map(|text| text.len() + 2 * size_of::<Value>())
        .sum();
    call.charge(length)?;
    if texts.is_empty() && absence == Absence::Nil {
        return Ok(Value::List(std::rc::Rc::new(List {
            items: Vec::new(),
            element: Element::NilString,
        })));
    }
    Ok(Value::strings(texts.iter().copied()))
}
