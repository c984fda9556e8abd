//! Answers a query for one path of one cluster: its value, its origin, or an explanation.

use serde_json::Value as Json;

use yaml_tree::Step;
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::error::Error;
use crate::evaluate::{Branch, Evaluator, Failure};
use crate::read::ClusterValues;

use super::Origins;
use super::path::{Found, Missing, ValuePath};
use super::why::Explainer;
use super::{Account, Leaf, Outcome};

/// One path of one cluster.
pub struct ValueQuery<'a> {
    cluster: &'a str,
    path: &'a ValuePath,
    values: &'a ClusterValues,
    evaluator: &'a Evaluator,
    origins: Origins<'a>,
}

impl<'a> ValueQuery<'a> {
    /// A path of a cluster, whose values the evaluator evaluates and traces.
    pub fn new(
        cluster: &'a str,
        path: &'a ValuePath,
        values: &'a ClusterValues,
        evaluator: &'a Evaluator,
    ) -> Self {
        Self {
            cluster,
            path,
            values,
            evaluator,
            origins: Origins::new(&values.sources, &values.layers),
        }
    }

    /// The value as the files have it.
    ///
    /// # Errors
    /// There is no value at the path.
    pub fn raw(&self) -> Result<Node, Error> {
        match self.path.find(&self.values.tree) {
            Found::Here(node) => Ok(node.clone()),
            Found::Missing(missing) => Err(self.nothing(&missing)),
        }
    }

    /// The evaluated value; none where that fails.
    ///
    /// # Errors
    /// There is no value at the path, or its expression leaves it out.
    pub fn evaluate(&self, failures: &mut Vec<Failure>) -> Result<Option<Node>, Error> {
        match self.result(failures)? {
            None if failures.is_empty() => Err(Error::usage(format!(
                "`{}` of cluster `{}` is left out by its expression",
                self.path, self.cluster
            ))),
            node => Ok(node),
        }
    }

    /// The scalars of a value, with their origins.
    pub fn leaves(&self, node: &Node) -> Vec<Leaf> {
        self.origins.leaves(node, self.path)
    }

    /// Every layer that set the value, and what its expression read.
    ///
    /// # Errors
    /// There is no value at the path.
    pub fn account(&self, failures: &mut Vec<Failure>) -> Result<Account, Error> {
        let explainer = Explainer {
            evaluator: self.evaluator,
            origins: &self.origins,
        };
        let spelled = spell(self.evaluator, &self.values.tree, self.path);
        let layers = explainer.settings(&self.values.layers, self.path, &spelled);
        let result = match self.result(failures) {
            // A value that a layer has removed can be explained too.
            Err(_) if !layers.is_empty() => None,
            result => result?,
        };
        Ok(Account {
            cluster: self.cluster.to_owned(),
            path: self.path.to_string(),
            layers,
            fails: !failures.is_empty(),
            expression: explainer.expression(&self.values.tree, &spelled, result.as_ref()),
            result: result.map(|node| Outcome {
                kind: node.value.kind(),
                value: Json::from(&node.value),
            }),
        })
    }

    /// The value at the path; none where it is left out or fails.
    fn result(&self, failures: &mut Vec<Failure>) -> Result<Option<Node>, Error> {
        match branch(self.evaluator, self.path) {
            Ok(Found::Here(branch)) => Ok(evaluate(&branch, failures)),
            Ok(Found::Missing(missing)) => Err(self.nothing(&missing)),
            Err(failure) => {
                failures.push(failure);
                Ok(None)
            }
        }
    }

    fn nothing(&self, missing: &Missing) -> Error {
        let steps = &self.path.steps;
        let above = ValuePath {
            steps: steps[..missing.steps].to_vec(),
        };
        let wanted = steps
            .get(missing.steps)
            .map(Step::as_key)
            .unwrap_or_default();
        let keys = missing.keys.iter().map(String::as_str);
        let help = match did_you_mean(&wanted, keys.clone()) {
            Some(key) => format!("did you mean `{}`?", above.key(key)),
            None if missing.keys.is_empty() => format!("`{above}` has no keys"),
            None if steps.len() == 1 || missing.steps == 0 => {
                "`metalmark values` without a path prints them all".to_owned()
            }
            None => format!("`{above}` has {}", keys.collect::<Vec<_>>().join(", ")),
        };
        Error::usage(format!(
            "cluster `{}` has no value `{}`\nhelp: {help}",
            self.cluster, self.path
        ))
    }
}

/// The value at a path, not yet evaluated.
fn branch(evaluator: &Evaluator, path: &ValuePath) -> Result<Found<Branch>, Failure> {
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
fn spell(evaluator: &Evaluator, tree: &Node, path: &ValuePath) -> ValuePath {
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
fn evaluate(branch: &Branch, failures: &mut Vec<Failure>) -> Option<Node> {
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
