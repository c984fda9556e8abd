//! Answers a query for one path of one cluster: its value, its origin, or an explanation.

use serde_json::Value as Json;

use crate::error::Error;
use crate::evaluate::{Evaluator, Failure};
use crate::read::ClusterValues;
use yaml_tree::Step;
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::Node;

use super::origin::Origins;
use super::path::{Found, Missing, ValuePath};
use super::secrets::Secrets;
use super::walk;
use super::why::Explainer;
use super::{Account, Leaf, Outcome};

/// One path of one cluster. Whatever it returns has no secrets.
pub struct ValueQuery<'a> {
    cluster: &'a str,
    path: &'a ValuePath,
    values: &'a ClusterValues,
    evaluator: &'a Evaluator,
    secrets: Secrets<'a>,
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
            secrets: Secrets::new(&values.tree, &values.sources, evaluator),
            origins: Origins::new(&values.sources, &values.layers),
        }
    }

    /// The value as the files have it.
    ///
    /// # Errors
    /// There is no value at the path.
    pub fn raw(&self) -> Result<Node, Error> {
        match self.path.find(&self.values.tree) {
            Found::Here(node) => Ok(self.secrets.hide_raw(node)),
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
            node => Ok(node.map(|node| self.secrets.hide(&node))),
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
            secrets: &self.secrets,
            origins: &self.origins,
        };
        let spelled = walk::spell(self.evaluator, &self.values.tree, self.path);
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
                value: Json::from(&self.secrets.hide(&node).value),
            }),
        })
    }

    /// The value at the path; none where it is left out or fails.
    fn result(&self, failures: &mut Vec<Failure>) -> Result<Option<Node>, Error> {
        match walk::branch(self.evaluator, self.path) {
            Ok(Found::Here(branch)) => Ok(walk::evaluate(&branch, failures)),
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
