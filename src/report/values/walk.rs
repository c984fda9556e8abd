//! Finds a path in the values and evaluates what is below it. Failed values are left out and reported.

use crate::evaluate::{Branch, Evaluator, Failure};
use yaml_tree::value::{Entry, Map, Node, Value};

use super::path::{Found, Missing, ValuePath};

/// The value at a path, not yet evaluated.
pub(super) fn branch(evaluator: &Evaluator, path: &ValuePath) -> Result<Found<Branch>, Failure> {
    let mut branch = evaluator.root();
    for (steps, step) in path.steps.iter().enumerate() {
        let child = match branch.child(&step.as_key())? {
            None => match (branch.items()?, step.as_index()) {
                (Some(items), Some(index)) => items.into_iter().nth(index),
                _ => None,
            },
            child => child,
        };
        let Some(child) = child else {
            let entries = branch.entries()?.unwrap_or_default();
            let keys = entries.iter().map(|entry| entry.key.to_string()).collect();
            return Ok(Found::Missing(Missing { steps, keys }));
        };
        branch = child;
    }
    Ok(Found::Here(branch))
}

/// The path as the files spell it: keys that are expressions as they are written. What cannot be evaluated stays as it is.
pub(super) fn spell(evaluator: &Evaluator, tree: &Node, path: &ValuePath) -> ValuePath {
    let mut spelled = ValuePath::default();
    for (depth, step) in path.steps.iter().enumerate() {
        let above = ValuePath {
            steps: path.steps[..depth].to_vec(),
        };
        let has_expressions = match spelled.find(tree) {
            Found::Here(node) => node
                .value
                .as_map()
                .filter(|map| map.iter().any(|entry| entry.key.contains("{{"))),
            Found::Missing(_) => None,
        };
        let found = has_expressions.and_then(|map| {
            let Ok(Found::Here(branch)) = branch(evaluator, &above) else {
                return None;
            };
            let entries = branch.entries().ok().flatten()?;
            let entry = entries.iter().find(|entry| *entry.key == *step.as_key())?;
            map.iter().find(|raw| raw.key_place == entry.key_place)
        });
        spelled = match found {
            Some(entry) => spelled.key(&entry.key),
            None => spelled.then(step.clone()),
        };
    }
    spelled
}

/// A value with everything below it, evaluated. None where an expression leaves it out, or fails: then `failures` says why.
pub(super) fn evaluate(branch: &Branch, failures: &mut Vec<Failure>) -> Option<Node> {
    let node = match parts(branch) {
        Err(failure) => Err(failure),
        Ok(Parts::One) => branch.node(),
        Ok(Parts::Map(entries)) => {
            let below = entries.into_iter().filter_map(|(entry, branch)| {
                let node = evaluate(&branch, failures)?;
                Some(Entry { node, ..entry })
            });
            let value = below.collect::<Map>().into();
            Ok(Some(Node {
                value,
                place: branch.place(),
            }))
        }
        Ok(Parts::List(items)) => {
            let items: Vec<Node> = items
                .iter()
                .filter_map(|item| evaluate(item, failures))
                .collect();
            let value = items.into();
            Ok(Some(Node {
                value,
                place: branch.place(),
            }))
        }
    };
    node.unwrap_or_else(|failure| {
        failures.push(failure);
        None
    })
}

/// What a value is made of, as far as its parts can fail one by one.
enum Parts {
    One,
    Map(Vec<(Entry, Branch)>),
    List(Vec<Branch>),
}

fn parts(branch: &Branch) -> Result<Parts, Failure> {
    if branch.is_plain() || branch.is_evaluated_per_unit() {
        return Ok(Parts::One);
    }
    let Some(entries) = branch.entries()? else {
        return Ok(branch.items()?.map_or(Parts::One, Parts::List));
    };
    let mut parts = Vec::new();
    for entry in entries {
        let empty = Entry {
            key: entry.key,
            key_place: entry.key_place,
            node: Node::from_value(Value::Null),
        };
        // In Helm's order, the entries of `_internal` are evaluated in stages, which only evaluating one of them does.
        let child = if branch.path() == "_internal" {
            branch.child(&empty.key)?
        } else {
            None
        };
        parts.push((empty, child.unwrap_or(entry.branch)));
    }
    Ok(Parts::Map(parts))
}
