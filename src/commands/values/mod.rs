//! `metalmark values`: what the values of a cluster are, where they come from, and why.

mod origin;
mod path;
mod secrets;
mod text;
mod walk;
mod why;

use serde::Serialize;

use crate::error::Error;
use crate::evaluate::{Evaluator, Failure, TemplateCache};
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::model::suggest::did_you_mean;
use crate::model::value::{Node, Value};
use crate::pipeline::check;
use crate::read::{self, ClusterEntry, ClusterValues, Request, Workspace};
use crate::yaml;

use super::ListFormat;
use crate::pipeline::{Format, Terminal, Verdict, print_findings};
use origin::Origins;
use path::ValuePath;
use secrets::Secrets;
use walk::{Found, Missing};
use why::{Account, Outcome, Teller};

/// What `values` was asked for.
#[derive(Clone, Debug)]
pub struct ValuesOptions {
    /// A cluster; or a path, where there is only one cluster.
    pub first: Option<String>,
    /// A path.
    pub second: Option<String>,
    /// What is told of the values.
    pub show: Show,
    /// Before evaluation or behind it.
    pub stage: Stage,
    /// The format of the answer; for people, the values themselves are YAML.
    pub format: ListFormat,
    /// The day that waivers are held against.
    pub today: Date,
}

/// What is told of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// The values.
    Values,
    /// Each leaf with its place.
    Origins,
    /// Every layer that set one, and what its expression read.
    Why,
}

/// Before evaluation or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Merged only.
    Raw,
    /// Merged and evaluated.
    Evaluated,
}

/// Prints the values on stdout, and on stderr what cannot be evaluated.
///
/// # Errors
/// The world failed, or there is no such project, cluster or path.
pub fn values(
    request: &Request,
    options: &ValuesOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = read::workspace(request)?;
    let (entry, path) = asked(&workspace, options)?;
    let path = ValuePath::parse(&path)?;
    let values = read::values(&workspace, entry)?;
    let evaluator = Evaluator::traced(
        &values.tree,
        &values.options,
        &TemplateCache::default(),
        &values.sources,
    );
    let question = Question {
        cluster: &entry.name,
        path: &path,
        values: &values,
        evaluator: &evaluator,
        secrets: &Secrets::new(&values.tree, &values.sources, &evaluator),
        format: options.format,
    };
    let mut failures = Vec::new();
    match (options.show, options.stage) {
        (Show::Why, _) => question.why(terminal, &mut failures)?,
        (show, Stage::Raw) => question.raw(show, terminal)?,
        (show, Stage::Evaluated) => question.evaluated(show, terminal, &mut failures)?,
    }
    let broken = workspace.findings.iter().chain(&values.findings);
    // What is merely odd about the values is for `check` to tell.
    let broken = broken
        .filter(|finding| INCOMPLETE.contains(&finding.rule))
        .cloned();
    let found: Vec<Finding> = broken.chain(question.told(failures)).collect();
    let checked = check::findings(found, &workspace.settings, options.today);
    if !checked.findings.is_empty() {
        print_findings(&mut terminal.err, &checked.findings, 1, Format::Human)?;
    }
    Ok(if checked.has_errors() {
        Verdict::Findings
    } else {
        Verdict::Clean
    })
}

/// The rules of findings that say that a layer is not read, or not whole.
const INCOMPLETE: [RuleId; 3] = [
    RuleId::YamlSyntax,
    RuleId::CompositionFailed,
    RuleId::CompositionUnsupported,
];

/// One path of one cluster.
struct Question<'a> {
    cluster: &'a str,
    path: &'a ValuePath,
    values: &'a ClusterValues,
    evaluator: &'a Evaluator,
    secrets: &'a Secrets<'a>,
    format: ListFormat,
}

impl Question<'_> {
    fn raw(&self, show: Show, terminal: &mut Terminal) -> Result<(), Error> {
        match walk::raw(&self.values.tree, self.path) {
            Found::Here(node) => self.print(show, &self.secrets.hidden_raw(node), terminal),
            Found::Missing(missing) => Err(self.nothing(&missing)),
        }
    }

    fn evaluated(
        &self,
        show: Show,
        terminal: &mut Terminal,
        failures: &mut Vec<Failure>,
    ) -> Result<(), Error> {
        match self.result(failures)? {
            Some(node) => self.print(show, &self.secrets.hidden(&node), terminal),
            None if failures.is_empty() => Err(Error::Usage {
                message: format!(
                    "`{}` of cluster `{}` is left out by its expression",
                    self.path, self.cluster
                ),
            }),
            None => Ok(()),
        }
    }

    /// What stands at the path; none where it is left out or fails.
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

    fn print(&self, show: Show, node: &Node, terminal: &mut Terminal) -> Result<(), Error> {
        if show == Show::Origins {
            let origins = Origins::new(&self.values.sources, &self.values.layers);
            let leaves = origins.leaves(node, self.path);
            return match self.format {
                ListFormat::Human => Ok(origin::write(&leaves, &mut terminal.out)?),
                _ => self.data(&leaves, terminal),
            };
        }
        match self.format {
            ListFormat::Json => self.data(&json(node), terminal),
            _ => Ok(terminal.out.value(&node.value)?),
        }
    }

    fn why(&self, terminal: &mut Terminal, failures: &mut Vec<Failure>) -> Result<(), Error> {
        let origins = Origins::new(&self.values.sources, &self.values.layers);
        let teller = Teller {
            evaluator: self.evaluator,
            secrets: self.secrets,
            origins: &origins,
        };
        let spelled = walk::spelled(self.evaluator, &self.values.tree, self.path);
        let layers = teller.settings(&self.values.layers, self.path, &spelled);
        let result = match self.result(failures) {
            // What a layer has removed may be asked for.
            Err(_) if !layers.is_empty() => None,
            result => result?,
        };
        let account = Account {
            cluster: self.cluster.to_owned(),
            path: self.path.to_string(),
            layers,
            fails: !failures.is_empty(),
            expression: teller.expression(&self.values.tree, &spelled, result.as_ref()),
            result: result.map(|node| Outcome {
                kind: node.value.kind(),
                value: json(&self.secrets.hidden(&node)),
            }),
        };
        match self.format {
            ListFormat::Human => Ok(text::account(&account, &mut terminal.out)?),
            _ => self.data(&account, terminal),
        }
    }

    fn data<T: Serialize>(&self, data: &T, terminal: &mut Terminal) -> Result<(), Error> {
        match self.format {
            ListFormat::Yaml => terminal.out.yaml(data)?,
            _ => terminal.out.json(data)?,
        }
        Ok(())
    }

    /// The failures as findings.
    fn told(&self, failures: Vec<Failure>) -> Vec<Finding> {
        self.values.failed(failures)
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
        Error::Usage {
            message: format!(
                "cluster `{}` has no value `{}`\nhelp: {help}",
                self.cluster, self.path
            ),
        }
    }
}

/// The cluster and the path that are meant.
fn asked<'w>(
    workspace: &'w Workspace,
    options: &ValuesOptions,
) -> Result<(&'w ClusterEntry, String), Error> {
    let clusters = &workspace.clusters;
    let named = |name: &str| clusters.iter().find(|entry| &*entry.name == name);
    let names = || clusters.iter().map(|entry| &*entry.name);
    let (entry, path) = match (
        options.first.as_deref(),
        options.second.clone(),
        clusters.as_slice(),
    ) {
        (Some(name), path, _) if named(name).is_some() => (named(name), path),
        (path, None, [only]) => (Some(only), path.map(str::to_owned)),
        (Some(name), _, _) => {
            let help = did_you_mean(name, names()).map_or_else(
                || {
                    format!(
                        "the clusters are {}",
                        names().collect::<Vec<_>>().join(", ")
                    )
                },
                |near| format!("did you mean `{near}`?"),
            );
            let message = format!("there is no cluster `{name}`\nhelp: {help}");
            return Err(Error::Usage { message });
        }
        (None, path, _) => (None, path),
    };
    let path = path.unwrap_or_default();
    let Some(entry) = entry else {
        let message = match clusters.is_empty() {
            true => "there is no cluster".to_owned(),
            false => format!(
                "which cluster?\nhelp: name one of {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        };
        return Err(Error::Usage { message });
    };
    if options.show == Show::Why && path.is_empty() {
        let message = "`--why` tells of one value\nhelp: name its path: `metalmark values CLUSTER --why PATH`";
        return Err(Error::Usage {
            message: message.to_owned(),
        });
    }
    Ok((entry, path))
}

/// A node as JSON data.
fn json(node: &Node) -> serde_json::Value {
    (&node.value).into()
}

/// A scalar, or an empty map or list, as YAML on one line.
fn flat(value: &Value) -> String {
    yaml::emit(value).trim_end().to_owned()
}
