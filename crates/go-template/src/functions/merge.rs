//! Sprig's `merge`, `mergeOverwrite` and `deepCopy`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::function::{Call, Function, Type};
use super::super::value::Map;
use super::super::{Error, Value};
use super::convert::deeper;

const MAPS: &[Type] = &[Type::Map];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("merge", MAPS, Type::Map, fill).reads_structure(),
    Function::variadic("mustMerge", MAPS, Type::Map, fill).reads_structure(),
    Function::variadic("mergeOverwrite", MAPS, Type::Map, overwrite).reads_structure(),
    Function::variadic("mustMergeOverwrite", MAPS, Type::Map, overwrite).reads_structure(),
    Function::new("deepCopy", &[Type::Any], deep_copy).carries(),
    Function::new("mustDeepCopy", &[Type::Any], deep_copy).carries(),
];

/// What to do with a key that both maps have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    /// Keep the value of the first map, unless it is empty: zero, false, `""` or an empty list.
    Keep,
    /// Use the value of the later map, except that an empty map changes nothing.
    Overwrite,
}

fn fill(call: &mut Call<'_>) -> Result<Value, Error> {
    merge_all(call, Conflict::Keep)
}

fn overwrite(call: &mut Call<'_>) -> Result<Value, Error> {
    merge_all(call, Conflict::Overwrite)
}

fn merge_all(call: &Call<'_>, conflict: Conflict) -> Result<Value, Error> {
    let target = call.map(0)?;
    for index in 1..call.arguments.len() {
        merge(&target, &*call.map(index)?, conflict, 0)?;
    }
    Ok(Value::Map(target))
}

fn merge(target: &Map, source: &Map, conflict: Conflict, depth: usize) -> Result<(), Error> {
    let depth = deeper(depth)?;
    for (key, value) in source.entries()? {
        let present = target.get(&key)?;
        if matches!(value, Value::Nil) {
            if conflict == Conflict::Overwrite {
                target.set(&key, value);
            }
            continue;
        }
        if let (Value::Map(source), Some(Value::Map(target))) = (&value, &present) {
            merge(target, source, conflict, depth)?;
        }
        if takes(present.as_ref(), &value, conflict)? {
            target.set(&key, value);
        }
    }
    Ok(())
}

/// Whether the later value replaces the existing one.
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
        value => copy_value(&value, 0),
    }
}

/// A deep copy.
fn copy_value(value: &Value, depth: usize) -> Result<Value, Error> {
    let depth = deeper(depth)?;
    Ok(match value {
        Value::List(list) => {
            let items: Result<Vec<Value>, Error> = list
                .items
                .iter()
                .map(|item| copy_value(item, depth))
                .collect();
            Value::list_of(list.element, items?)
        }
        Value::Map(map) => {
            let mut entries = BTreeMap::new();
            for (key, item) in map.entries()? {
                entries.insert(key, copy_value(&item, depth)?);
            }
            Value::Map(Rc::new(Map::with_type(map.type_name, entries)))
        }
        other => other.clone(),
    })
}
