//! The regular-expression functions, with Go's syntax and results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::super::function::{Call, Function, MADE_LIMIT, Type};
use super::super::print::excerpt;
use super::super::value::Element;
use super::super::{Error, ErrorClass, Value};
use crate::regexp::{self, Regexp};

const PATTERN_AND_TEXT: &[Type] = &[Type::String, Type::String];
const AND_LIMIT: &[Type] = &[Type::String, Type::String, Type::Int];
const AND_REPLACEMENT: &[Type] = &[Type::String, Type::String, Type::String];

/// The functions of this module. For a malformed pattern `regexMatch` is false, and all others fail.
pub(super) const TABLE: &[Function] = &[
    Function::new("regexMatch", PATTERN_AND_TEXT, |call| match pattern(call) {
        Ok(pattern) => matches(call, &pattern),
        Err(error) if error.class == ErrorClass::Limit => Err(error),
        Err(_) => Ok(Value::Bool(false)),
    }),
    Function::new("mustRegexMatch", PATTERN_AND_TEXT, |call| {
        matches(call, &*pattern(call)?)
    }),
    Function::new("regexFind", PATTERN_AND_TEXT, find).may_make_nothing(),
    Function::new("mustRegexFind", PATTERN_AND_TEXT, find).may_make_nothing(),
    Function::new("regexFindAll", AND_LIMIT, find_all),
    Function::new("mustRegexFindAll", AND_LIMIT, find_all),
    Function::new("regexReplaceAll", AND_REPLACEMENT, replace_all).may_make_nothing(),
    Function::new("mustRegexReplaceAll", AND_REPLACEMENT, replace_all).may_make_nothing(),
    Function::new(
        "regexReplaceAllLiteral",
        AND_REPLACEMENT,
        replace_all_literal,
    )
    .may_make_nothing(),
    Function::new(
        "mustRegexReplaceAllLiteral",
        AND_REPLACEMENT,
        replace_all_literal,
    )
    .may_make_nothing(),
    Function::new("regexSplit", AND_LIMIT, split),
    Function::new("mustRegexSplit", AND_LIMIT, split),
    Function::new("regexQuoteMeta", &[Type::String], |call| {
        let text = call.string(0)?;
        Ok(regexp::quote_meta(&text).into())
    })
    .makes_text(),
];

/// The compiled patterns of a thread.
#[derive(Default)]
struct Compiled {
    patterns: HashMap<Arc<str>, Arc<Regexp>>,
    /// Their size, in bytes.
    size: usize,
}

/// The pattern in the first argument, compiled once per thread.
fn pattern(call: &Call<'_>) -> Result<Arc<Regexp>, Error> {
    /// The most bytes of compiled patterns that are kept, for large fleets.
    const KEPT: usize = 4 << 20;
    thread_local! {
        static COMPILED: RefCell<Compiled> = RefCell::default();
    }
    let text = call.string(0)?;
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(pattern) = compiled.patterns.get(&text) {
            return Ok(Arc::clone(pattern));
        }
        let invalid = |error: regexp::Error| {
            let pattern = excerpt(&text);
            call.error(format!("`{pattern}` is not a regular expression: {error}"))
        };
        let pattern = Arc::new(Regexp::new(&text).map_err(invalid)?);
        compiled.size += pattern.size();
        if compiled.size > KEPT {
            compiled.patterns.clear();
            compiled.size = pattern.size();
        }
        compiled
            .patterns
            .insert(Arc::clone(&text), Arc::clone(&pattern));
        Ok(pattern)
    })
}

fn matches(call: &Call<'_>, pattern: &Regexp) -> Result<Value, Error> {
    Ok(Value::Bool(pattern.is_match(&call.string(1)?)))
}

fn find(call: &mut Call<'_>) -> Result<Value, Error> {
    let (pattern, text) = (pattern(call)?, call.string(1)?);
    Ok(pattern.find(&text).unwrap_or_default().into())
}

fn find_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (pattern, text) = (pattern(call)?, call.string(1)?);
    let found = pattern.find_all(&text, call.int(2)?);
    Ok(strings(&found, Absence::Nil))
}

fn replace_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let made = pattern(call)?.replace_all(&text, &replacement, MADE_LIMIT);
    call.ensure_size(made.len())?;
    Ok(made.into())
}

fn replace_all_literal(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let made = pattern(call)?.replace_all_literal(&text, &replacement, MADE_LIMIT);
    call.ensure_size(made.len())?;
    Ok(made.into())
}

fn split(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, limit) = (call.string(1)?, call.int(2)?);
    let absence = if limit == 0 {
        Absence::Nil
    } else {
        Absence::Empty
    };
    let pattern = pattern(call)?;
    Ok(strings(&pattern.split(&text, limit), absence))
}

/// Go's result when there are no strings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absence {
    Nil,
    Empty,
}

fn strings(texts: &[&str], absence: Absence) -> Value {
    if texts.is_empty() && absence == Absence::Nil {
        return Value::list_of(Element::NilString, Vec::new());
    }
    Value::strings(texts.iter().copied())
}
