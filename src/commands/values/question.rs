//! Answers a query for one path of one cluster: its value, its origin, or an explanation.

use crate::error::Error;
use crate::evaluate::{Evaluator, Failure};
use crate::model::suggest::did_you_mean;
use crate::model::value::Node;
use crate::pipeline::Terminal;
use crate::read::ClusterValues;
use crate::report::values::{Account, Outcome};
use crate::report::{self, ListFormat};

use super::json;
use super::origin::Origins;
use super::path::{self, ValuePath};
use super::secrets::Secrets;
use super::walk::{self, Found, Missing};
use super::why::Explainer;

/// One path of one cluster.
pub(super) struct Question<'a> {
    pub(super) cluster: &'a str,
    pub(super) path: &'a ValuePath,
    pub(super) values: &'a ClusterValues,
    pub(super) evaluator: &'a Evaluator,
    pub(super) secrets: &'a Secrets<'a>,
    pub(super) format: ListFormat,
}

impl Question<'_> {
    pub(super) fn raw(&self, origins: bool, terminal: &mut Terminal) -> Result<(), Error> {
        match walk::raw(&self.values.tree, self.path) {
            Found::Here(node) => self.print(origins, &self.secrets.hidden_raw(node), terminal),
            Found::Missing(missing) => Err(self.nothing(&missing)),
        }
    }

    pub(super) fn evaluated(
        &self,
        origins: bool,
        terminal: &mut Terminal,
        failures: &mut Vec<Failure>,
    ) -> Result<(), Error> {
        match self.result(failures)? {
            Some(node) => self.print(origins, &self.secrets.hidden(&node), terminal),
            None if failures.is_empty() => Err(Error::usage(format!(
                "`{}` of cluster `{}` is left out by its expression",
                self.path, self.cluster
            ))),
            None => Ok(()),
        }
    }

    /// The value at the path; none where it is left out or fails.
    fn result(&self, failures: &mut Vec<Failure>) -> Result<Option<Node>, Error> {
        match walk::branch(self.evaluator, self.path) {
            Ok(Found::Here(branch)) => Ok(walk::evaluated(&branch, failures)),
            Ok(Found::Missing(missing)) => Err(self.nothing(&missing)),
            Err(failure) => {
                failures.push(failure);
                Ok(None)
            }
        }
    }

    fn print(&self, origins: bool, node: &Node, terminal: &mut Terminal) -> Result<(), Error> {
        if origins {
            let origins = Origins::new(&self.values.sources, &self.values.layers);
            let leaves = origins.leaves(node, self.path);
            return match self.format {
                ListFormat::Human => Ok(report::values::leaves(&leaves, &mut terminal.out)?),
                format => Ok(format.data(&leaves, &mut terminal.out)?),
            };
        }
        match self.format {
            ListFormat::Json => Ok(terminal.out.json(&json(node))?),
            _ => Ok(terminal.out.value(&node.value)?),
        }
    }

    pub(super) fn why(
        &self,
        terminal: &mut Terminal,
        failures: &mut Vec<Failure>,
    ) -> Result<(), Error> {
        let origins = Origins::new(&self.values.sources, &self.values.layers);
        let explainer = Explainer {
            evaluator: self.evaluator,
            secrets: self.secrets,
            origins: &origins,
        };
        let spelled = walk::spelled(self.evaluator, &self.values.tree, self.path);
        let layers = explainer.settings(&self.values.layers, self.path, &spelled);
        let result = match self.result(failures) {
            // A value that a layer has removed can be explained too.
            Err(_) if !layers.is_empty() => None,
            result => result?,
        };
        let account = Account {
            cluster: self.cluster.to_owned(),
            path: self.path.to_string(),
            layers,
            fails: !failures.is_empty(),
            expression: explainer.expression(&self.values.tree, &spelled, result.as_ref()),
            result: result.map(|node| Outcome {
                kind: node.value.kind(),
                value: json(&self.secrets.hidden(&node)),
            }),
        };
        match self.format {
            ListFormat::Human => Ok(report::values::account(&account, &mut terminal.out)?),
            format => Ok(format.data(&account, &mut terminal.out)?),
        }
    }

    fn nothing(&self, missing: &Missing) -> Error {
        let steps = &self.path.steps;
        let above = ValuePath {
            steps: steps[..missing.steps].to_vec(),
        };
        let wanted = steps
            .get(missing.steps)
            .map(path::Step::as_key)
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
