//! The regular-expression functions, with Go's syntax and results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::super::function::{Call, Function, Type};
use super::super::print::excerpt;
use super::super::value::Element;
use super::super::{Error, ErrorClass, Value};
use super::lists::PIECE;
use crate::regexp::{self, Cost, Meter, Regexp};

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
        call.ensure_room_for_text(text.len() * 2)?;
        call.work(text.len() / 8)?;
        Ok(regexp::quote_meta(&text).into())
    })
    .makes_text(),
];

/// A compiled pattern with the cost of searching for it.
pub(super) struct Pattern {
    pub(super) regexp: Regexp,
    cost: Cost,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, regexp::Error> {
        let regexp = Regexp::new(text)?;
        let cost = Cost::new(text, &regexp)?;
        Ok(Self { regexp, cost })
    }

    /// Whether the pattern matches a text. The search is charged to the call's budget.
    pub(super) fn is_match(&self, call: &Call<'_>, text: &str) -> Result<bool, Error> {
        call.budget.step(self.cost.search(text, 0))?;
        Ok(self.regexp.is_match(text))
    }

    pub(super) fn meter<'a>(&'a self, call: &'a Call<'a>) -> CallMeter<'a> {
        CallMeter {
            call,
            cost: &self.cost,
        }
    }
}

/// The compiled patterns of a thread.
#[derive(Default)]
struct Compiled {
    patterns: HashMap<Arc<str>, Arc<Pattern>>,
    /// The compilation cost of the patterns.
    steps: u64,
}

/// The pattern in the first argument, compiled once per thread. The first use in an evaluation is charged for the compilation
/// even if the thread has the compiled pattern already, so that the charges do not depend on the order of evaluations.
fn pattern(call: &Call<'_>) -> Result<Arc<Pattern>, Error> {
    /// The maximum compilation cost of cached patterns. It bounds the memory in large fleets.
    const KEPT: u64 = 2_000_000;
    thread_local! {
        static COMPILED: RefCell<Compiled> = RefCell::default();
    }
    let text = call.string(0)?;
    call.work(text.len())?;
    let pattern = COMPILED.with_borrow_mut(|compiled| {
        if let Some(pattern) = compiled.patterns.get(&text) {
            return Ok(Arc::clone(pattern));
        }
        let invalid = |error: regexp::Error| {
            let pattern = excerpt(&text);
            call.error(format!("`{pattern}` is not a regular expression: {error}"))
        };
        let pattern = Arc::new(Pattern::new(&text).map_err(invalid)?);
        compiled.steps += pattern.cost.compilation();
        if compiled.steps > KEPT {
            compiled.patterns.clear();
            compiled.steps = pattern.cost.compilation();
        }
        compiled
            .patterns
            .insert(Arc::clone(&text), Arc::clone(&pattern));
        Ok(pattern)
    })?;
    call.budget
        .charge_compilation(&text, pattern.cost.compilation(), KEPT)?;
    Ok(pattern)
}

/// Charges the searches of one pattern to a call's budget.
pub(super) struct CallMeter<'a> {
    call: &'a Call<'a>,
    cost: &'a Cost,
}

impl Meter for CallMeter<'_> {
    type Error = Error;

    fn search(&mut self, text: &str, from: usize) -> Result<(), Error> {
        self.call.budget.step(self.cost.search(text, from))
    }

    fn groups(&mut self, bytes: usize) -> Result<(), Error> {
        self.call.budget.step(self.cost.groups(bytes))
    }

    fn result(&mut self, bytes: usize, pieces: usize) -> Result<(), Error> {
        self.call.ensure_room_for_text(bytes)?;
        self.call.ensure_room(pieces.saturating_mul(PIECE))
    }
}

fn matches(call: &Call<'_>, pattern: &Pattern) -> Result<Value, Error> {
    pattern.is_match(call, &call.string(1)?).map(Value::Bool)
}

fn find(call: &mut Call<'_>) -> Result<Value, Error> {
    let (pattern, text) = (pattern(call)?, call.string(1)?);
    call.budget.step(pattern.cost.search(&text, 0))?;
    Ok(pattern.regexp.find(&text).unwrap_or_default().into())
}

fn find_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (pattern, text) = (pattern(call)?, call.string(1)?);
    let meter = &mut pattern.meter(call);
    let found = pattern.regexp.find_all(&text, call.int(2)?, meter)?;
    Ok(strings(&found, Absence::Nil))
}

fn replace_all(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let pattern = pattern(call)?;
    let meter = &mut pattern.meter(call);
    let replaced = pattern.regexp.replace_all(&text, &replacement, meter);
    replaced.map(Value::from)
}

fn replace_all_literal(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, replacement) = (call.string(1)?, call.string(2)?);
    let pattern = pattern(call)?;
    let meter = &mut pattern.meter(call);
    let replaced = pattern
        .regexp
        .replace_all_literal(&text, &replacement, meter);
    replaced.map(Value::from)
}

fn split(call: &mut Call<'_>) -> Result<Value, Error> {
    let (text, limit) = (call.string(1)?, call.int(2)?);
    let pattern = pattern(call)?;
    let absence = if limit == 0 {
        Absence::Nil
    } else {
        Absence::Empty
    };
    let meter = &mut pattern.meter(call);
    let pieces = pattern.regexp.split(&text, limit, meter)?;
    Ok(strings(&pieces, absence))
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
