//! Merging maps and copying values: what Sprig's `merge` fills in, what `mergeOverwrite` overwrites.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::function::{Call, Function, Type};
use super::super::limits::{ENTRY, LIST, MAP};
use super::super::value::{List, Map};
use super::super::{Error, Value};
use super::convert::deeper;

const MAPS: &[Type] = &[Type::Map];

/// The family's table.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("merge", MAPS, Type::Map, fill),
    Function::variadic("mustMerge", MAPS, Type::Map, fill),
    Function::variadic("mergeOverwrite", MAPS, Type::Map, overwrite),
    Function::variadic("mustMergeOverwrite", MAPS, Type::Map, overwrite),
    Function::new("deepCopy", &[Type::Any], deep_copy),
    Function::new("mustDeepCopy", &[Type::Any], deep_copy),
];

/// What becomes of a key that both maps have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    /// The first map keeps its value, unless that is empty: zero, false, `""`, an empty list.
    Keep,
    /// The later map's value is taken, whatever it is; but an empty map changes nothing.
    Overwrite,
}

fn fill(call: &mut Call<'_>) -> Result<Value, Error> {
    merged(call, Conflict::Keep)
}

fn overwrite(call: &mut Call<'_>) -> Result<Value, Error> {
    merged(call, Conflict::Overwrite)
}

fn merged(call: &Call<'_>, conflict: Conflict) -> Result<Value, Error> {
    let target = call.map(0)?;
    for index in 1..call.arguments.len() {
        merge(call, &target, &*call.map(index)?, conflict, 0)?;
    }
    Ok(Value::Map(target))
}

fn merge(
    call: &Call<'_>,
    target: &Map,
    source: &Map,
    conflict: Conflict,
    depth: usize,
) -> Result<(), Error> {
    let depth = deeper(depth)?;
    for (key, value) in call.budget.entries(source)? {
        call.work(1)?;
        call.charge(ENTRY)?;
        let present = target.get(&key)?;
        if matches!(value, Value::Nil) {
            if conflict == Conflict::Overwrite {
                target.set(&key, value);
            }
            continue;
        }
        if let (Value::Map(source), Some(Value::Map(target))) = (&value, &present) {
            merge(call, target, source, conflict, depth)?;
        }
        if takes(present.as_ref(), &value, conflict)? {
            target.set(&key, value);
        }
    }
    Ok(())
}

/// Whether the later value is set in place of the present one.
fn takes(present: Option<&Value>, value: &Value, conflict: Conflict) -> Result<bool, Error> {
    let Some(present) = present else {
        return Ok(true);
    };
    if !present.truth()? {
        return Ok(true);
    }
    let both_maps = matches!((present, value), (Value::Map(_), Value::Map(_)));
    Ok(conflict == Conflict::Overwrite && !both_maps)
}

fn deep_copy(call: &mut Call<'_>) -> Result<Value, Error> {
    match call.value(0) {
        Value::Nil => Err(call.error("`deepCopy` of nil")),
        value => copied(call, &value, &mut 0, 0),
    }
}

/// A copy. `bytes` is what the copies so far take, which are charged when all are made.
fn copied(call: &Call<'_>, value: &Value, bytes: &mut usize, depth: usize) -> Result<Value, Error> {
    let depth = deeper(depth)?;
    call.work(1)?;
    Ok(match value {
        Value::List(list) => {
            *bytes += LIST + list.items.len() * size_of::<Value>();
            call.room(*bytes)?;
            let items: Result<Vec<Value>, Error> = list
                .items
                .iter()
                .map(|item| copied(call, item, bytes, depth))
                .collect();
            Value::List(Rc::new(List {
                items: items?,
                element: list.element,
            }))
        }
        Value::Map(map) => {
            let mut entries = BTreeMap::new();
            *bytes += MAP + map.size() * ENTRY;
            call.room(*bytes)?;
            for (key, item) in call.budget.entries(map)? {
                entries.insert(key, copied(call, &item, bytes, depth)?);
            }
            Value::Map(Rc::new(Map::typed(map.type_name, entries)))
        }
        other => other.clone(),
    })
}
