//! Computes the tree that an edited text must have, from the old tree and the plan, independently of the text.

use std::sync::Arc;

use crate::engine::Engine;
use crate::value::{Entry, Map, Node, Number, Value};

use super::EditError;
use super::outline::{Collection, Piece, Shape};
use super::plan::{Insert, Plan};
use super::splice::Splices;
use super::within;

/// The value after the plan is applied.
pub(super) fn tree(
    value: &Value,
    piece: &Piece<'_>,
    plan: &Plan<'_>,
    engine: Engine,
) -> Result<Value, EditError> {
    if plan.is_empty() {
        return Ok(value.clone());
    }
    if let Some(new) = plan.set {
        return Ok(as_read(new.value, engine));
    }
    if let (false, Value::String(text)) = (plan.replaced.is_empty(), value) {
        let mut splices = Splices::default();
        for replacement in &plan.replaced {
            for (at, to) in replacement.places(text) {
                splices.put(at, to);
            }
        }
        return Ok(Value::from(splices.apply(text)?));
    }
    if let (false, Value::String(text)) = (plan.within.is_empty(), value) {
        return Ok(Value::from(within::apply(text, &plan.within)?));
    }
    let unfit = |what| EditError::Unfit {
        path: plan.path.clone(),
        what,
    };
    match (&piece.shape, value) {
        (Shape::Collection(collection), Value::Map(map)) => {
            Ok(map_after(map, collection, plan, engine)?.into())
        }
        (Shape::Collection(collection), Value::List(items)) => {
            Ok(list_after(items, collection, plan, engine)?.into())
        }
        (_, Value::Null) => Ok(from_null(plan, engine)),
        _ => Err(unfit("is neither a map nor a list")),
    }
}

/// Null with inserted members becomes a map or list.
fn from_null(plan: &Plan<'_>, engine: Engine) -> Value {
    let is_map = plan.inserts.iter().any(|insert| insert.key.is_some());
    if !is_map {
        let items = plan.inserts.iter();
        let items: Vec<Node> = items
            .map(|insert| Node::from_value(as_read(insert.new.value, engine)))
            .collect();
        return items.into();
    }
    let entries = plan.inserts.iter();
    let map: Map = entries.filter_map(|insert| entry(insert, engine)).collect();
    map.into()
}

fn entry(insert: &Insert<'_>, engine: Engine) -> Option<Entry> {
    insert
        .key
        .map(|key| Entry::from_value(key, as_read(insert.new.value, engine)))
}

/// A value as the engine will read it, because Helm reads integers as floats.
fn as_read(value: &Value, engine: Engine) -> Value {
    match value {
        Value::Number(Number::Int(number)) if engine != Engine::Kubectl => {
            Value::Number(Number::Float(*number as f64))
        }
        Value::List(items) => {
            let items = items.iter();
            let items: Vec<Node> = items
                .map(|item| Node::from_value(as_read(&item.value, engine)))
                .collect();
            items.into()
        }
        Value::Map(map) => {
            let entries = map.iter().map(|entry| {
                Entry::from_value(Arc::clone(&entry.key), as_read(&entry.node.value, engine))
            });
            entries.collect::<Map>().into()
        }
        _ => value.clone(),
    }
}

fn map_after(
    map: &Arc<Map>,
    collection: &Collection<'_>,
    plan: &Plan<'_>,
    engine: Engine,
) -> Result<Map, EditError> {
    let mut after = Map::clone(map);
    let key = |index: usize| collection.members[index].key.as_deref().unwrap_or_default();
    for (index, below) in &plan.members {
        if let Some(node) = after.get_mut(key(*index)) {
            node.value = tree(
                &node.value,
                &collection.members[*index].value,
                below,
                engine,
            )?;
        }
    }
    for index in &plan.removed {
        after.remove(key(*index));
    }
    let renamed: Vec<Entry> = plan
        .renamed
        .iter()
        .filter_map(|(index, new)| {
            let entry = after.remove(key(*index))?;
            Some(Entry::holding(*new, entry.node))
        })
        .collect();
    for entry in renamed {
        after.insert(entry);
    }
    let inserts = plan.inserts.iter();
    for entry in inserts.filter_map(|insert| entry(insert, engine)) {
        after.insert(entry);
    }
    Ok(after)
}

fn list_after(
    items: &[Node],
    collection: &Collection<'_>,
    plan: &Plan<'_>,
    engine: Engine,
) -> Result<Vec<Node>, EditError> {
    let mut after = Vec::with_capacity(items.len() + plan.inserts.len());
    for (index, item) in items.iter().enumerate() {
        after.extend(inserts_at(plan, index, engine));
        if plan.removed.contains(&index) {
            continue;
        }
        match plan.members.get(&index) {
            Some(below) => {
                let piece = &collection.members[index].value;
                after.push(Node::from_value(tree(&item.value, piece, below, engine)?));
            }
            None => after.push(item.clone()),
        }
    }
    after.extend(inserts_at(plan, items.len(), engine));
    Ok(after)
}

fn inserts_at(plan: &Plan<'_>, slot: usize, engine: Engine) -> impl Iterator<Item = Node> {
    plan.inserts
        .iter()
        .filter(move |insert| insert.slot == slot)
        .map(move |insert| Node::from_value(as_read(insert.new.value, engine)))
}
