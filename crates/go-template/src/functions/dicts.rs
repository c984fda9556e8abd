//! The map functions. `set`, `unset` and the merges change their argument in place, as in Go: every holder of the map sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::super::function::{Call, Function, Type};
use super::super::value::{Map, PLAIN_MAP};
use super::super::{Error, ErrorClass, Value};
use super::{convert, lists};

const MAP_AND_KEY: &[Type] = &[Type::Map, Type::String];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("dict", &[], Type::Any, dict).carries(),
    Function::new("get", MAP_AND_KEY, get).reads_structure(),
    Function::new("set", &[Type::Map, Type::String, Type::Any], set).carries(),
    Function::new("unset", MAP_AND_KEY, unset).reads_structure(),
    Function::new("hasKey", MAP_AND_KEY, has_key).reads_structure(),
    Function::variadic("pluck", &[Type::String], Type::Map, pluck).reads_structure(),
    Function::variadic("keys", &[], Type::Map, keys).reads_structure(),
    Function::new("values", &[Type::Map], values).reads_structure(),
    Function::variadic("pick", &[Type::Map], Type::String, pick).reads_structure(),
    Function::variadic("omit", &[Type::Map], Type::String, omit).reads_structure(),
    Function::variadic("dig", &[], Type::Any, dig).reads_structure(),
    Function::new("split", &[Type::String, Type::String], split),
    Function::new("splitn", &[Type::String, Type::Int, Type::String], splitn),
];

/// Alternating keys and values; a last key without a value gets an empty string.
fn dict(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut entries = BTreeMap::new();
    for pair in call.rest(0).chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
        let key = convert::text(&pair[0])?;
        call.ensure_known(&key)?;
        entries.insert(key, value);
    }
    Ok(Value::map(entries))
}

/// An empty string if the key is missing.
fn get(call: &mut Call<'_>) -> Result<Value, Error> {
    let found = call.map(0)?.get(&call.string(1)?)?;
    Ok(found.unwrap_or_else(|| "".into()))
}

fn set(call: &mut Call<'_>) -> Result<Value, Error> {
    let (map, key) = (call.map(0)?, call.string(1)?);
    call.ensure_known(&key)?;
    map.set(&key, call.value(2));
    Ok(Value::Map(map))
}

fn unset(call: &mut Call<'_>) -> Result<Value, Error> {
    let map = call.map(0)?;
    map.unset(&call.string(1)?)?;
    Ok(Value::Map(map))
}

fn has_key(call: &mut Call<'_>) -> Result<Value, Error> {
    let (map, key) = (call.map(0)?, call.string(1)?);
    Ok(Value::Bool(map.has(&key)?))
}

fn pluck(call: &mut Call<'_>) -> Result<Value, Error> {
    let key = call.string(0)?;
    let mut found = Vec::new();
    for index in 1..call.arguments.len() {
        found.extend(call.map(index)?.get(&key)?);
    }
    Ok(Value::list(found))
}

/// The keys, sorted, because Go's order differs from run to run.
fn keys(call: &mut Call<'_>) -> Result<Value, Error> {
    let mut keys = Vec::new();
    for index in 0..call.arguments.len() {
        let map = call.map(index)?;
        keys.extend(map.keys()?);
    }
    Ok(Value::strings(keys))
}

/// The values in the order of their keys.
fn values(call: &mut Call<'_>) -> Result<Value, Error> {
    let entries = call.map(0)?.entries()?;
    Ok(Value::list(entries.into_values().collect()))
}

fn pick(call: &mut Call<'_>) -> Result<Value, Error> {
    let map = call.map(0)?;
    let mut entries = BTreeMap::new();
    for index in 1..call.arguments.len() {
        let key = call.string(index)?;
        if let Some(value) = map.get(&key)? {
            entries.insert(key, value);
        }
    }
    Ok(Value::map(entries))
}

fn omit(call: &mut Call<'_>) -> Result<Value, Error> {
    let map = call.map(0)?;
    let mut kept: BTreeMap<Arc<str>, Value> = BTreeMap::new();
    let mut omitted = BTreeSet::new();
    for index in 1..call.arguments.len() {
        omitted.insert(call.string(index)?);
    }
    for key in map.keys()? {
        if !omitted.contains(&key)
            && let Some(value) = map.get(&key)?
        {
            kept.insert(key, value);
        }
    }
    Ok(Value::map(kept))
}

/// `dig "a" "b" DEFAULT MAP`: the default if a key is missing, an error if a value on the path is not a map.
fn dig(call: &mut Call<'_>) -> Result<Value, Error> {
    let [path @ .., default, root] = call.rest(0) else {
        return Err(call.error("`dig` needs keys, a default and a map"));
    };
    if path.is_empty() {
        return Err(call.error("`dig` needs keys, a default and a map"));
    }
    // As in Go, the type of every key is checked before the first lookup.
    let mut at = plain_map(root)?;
    let mut keys = Vec::with_capacity(path.len());
    for key in path {
        match key {
            Value::String(key) => keys.push(key),
            other => return Err(not_a("string", other)),
        }
    }
    let (last, parents) = (keys[keys.len() - 1], &keys[..keys.len() - 1]);
    for key in parents {
        match at.get(key)? {
            None => return Ok(default.clone()),
            Some(step) => at = plain_map(&step)?,
        }
    }
    Ok(at.get(last)?.unwrap_or_else(|| default.clone()))
}

/// A map of the unnamed type; Sprig's `dig` refuses others, such as `.Values` itself.
fn plain_map(value: &Value) -> Result<Rc<Map>, Error> {
    match value {
        Value::Map(map) if map.type_name == PLAIN_MAP => Ok(Rc::clone(map)),
        other => Err(not_a(PLAIN_MAP, other)),
    }
}

fn not_a(expected: &str, value: &Value) -> Error {
    let found = value.type_name();
    Error::new(
        ErrorClass::WrongType,
        format!("`dig` needs a {expected} and found `{found}`"),
    )
}

fn split(call: &mut Call<'_>) -> Result<Value, Error> {
    let (separator, text) = (call.string(0)?, call.string(1)?);
    number_pieces(&separator, &text, usize::MAX)
}

fn splitn(call: &mut Call<'_>) -> Result<Value, Error> {
    let (separator, text) = (call.string(0)?, call.string(2)?);
    let limit = usize::try_from(call.int(1)?).unwrap_or(usize::MAX);
    number_pieces(&separator, &text, limit)
}

/// The pieces of a text, under the keys `_0`, `_1` and so on.
fn number_pieces(separator: &str, text: &str, limit: usize) -> Result<Value, Error> {
    let pieces = match limit {
        0 => Vec::new(),
        _ => lists::pieces(separator, text, limit),
    };
    let entries = pieces
        .into_iter()
        .enumerate()
        .map(|(index, piece)| (format!("_{index}").into(), piece.into()));
    let map = Map::with_type("map[string]string", entries.collect());
    Ok(Value::Map(Rc::new(map)))
}
