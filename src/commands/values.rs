//! `metalmark values`: prints the values of a cluster, with their origin or an explanation.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use yaml_tree::value::Node;

use crate::error::Error;
use crate::evaluate::{Evaluator, TemplateCache};
use crate::model::date::Date;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::pipeline::{Terminal, Verdict, check};
use crate::read::{self, ClusterEntry, Request, Workspace};
use crate::report::values::{self, ValuePath, ValueQuery};
use crate::report::{Format, print_findings};

/// Which values are printed.
#[derive(Clone, Debug, Args)]
pub struct ValuesOptions {
    /// The cluster; may be left out where there is only one.
    #[arg(value_name = "CLUSTER", index = 1)]
    pub first: Option<String>,
    /// What to print of its values: keys with dots between them, `a."b.c"` or `a[b.c]` for a key with a dot, `a[0]` for an item.
    #[arg(value_name = "PATH", index = 2)]
    pub second: Option<String>,
    /// Print each leaf with its layer, file, line and column.
    #[arg(long)]
    pub origin: bool,
    /// Print the values before evaluation.
    #[arg(long)]
    pub raw: bool,
    /// Show every layer that set PATH, in order, and what its expression read.
    #[arg(long, conflicts_with_all = ["origin", "raw"])]
    pub why: bool,
    /// The format of what is printed; without it, values are YAML and all else is text.
    #[arg(long, value_parser = data_format(), value_name = "FORMAT")]
    pub output: Option<Format>,
}

/// Prints the values on stdout, and on stderr what cannot be evaluated.
///
/// # Errors
/// I/O failed, or there is no such project, cluster or path.
pub fn values(
    request: &Request,
    options: &ValuesOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = read::workspace(request)?;
    let (entry, path) = cluster_and_path(&workspace, options)?;
    let path = ValuePath::parse(&path)?;
    let values = read::values(&workspace, entry)?;
    let templates = TemplateCache::default();
    let evaluator = Evaluator::with_trace(&values.tree, &values.options, &templates);
    let query = ValueQuery::new(&entry.name, &path, &values, &evaluator);
    let (mut failures, mut is_missing) = (Vec::new(), false);
    match (options.why, options.raw) {
        (true, _) => {
            let account = query.account(&mut failures)?;
            match options.output {
                None => values::account(&account, &mut terminal.out)?,
                Some(format) => format.data(&account, &mut terminal.out)?,
            }
        }
        (false, true) => print(&query, &query.raw()?, options, terminal)?,
        (false, false) => match query.evaluate(&mut failures)? {
            Some(node) => print(&query, &node, options, terminal)?,
            None => is_missing = true,
        },
    }
    let broken = workspace.findings.iter().chain(&values.findings);
    // `check` reports what is merely odd about the values.
    let broken = broken
        .filter(|finding| INCOMPLETE.contains(&finding.rule))
        .cloned();
    let found: Vec<Finding> = broken.chain(values.failure_findings(failures)).collect();
    let checked = check::findings(found, &workspace.settings, today);
    if !checked.findings.is_empty() {
        print_findings(&mut terminal.err, &checked.findings, 1, Format::Human)?;
    }
    // Without output there is no answer, however mild the reason.
    Ok(if is_missing {
        Verdict::Findings
    } else {
        checked.verdict()
    })
}

/// The rules of findings that say that a layer is not read, or not whole.
const INCOMPLETE: [RuleId; 3] = [
    RuleId::YamlSyntax,
    RuleId::CompositionFailed,
    RuleId::CompositionUnsupported,
];

/// The cluster and the path that are meant.
fn cluster_and_path<'w>(
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
        (Some(name), _, _) => return Err(read::no_cluster(name, clusters)),
        (None, path, _) => (None, path),
    };
    let path = path.unwrap_or_default();
    let Some(entry) = entry else {
        let message = if clusters.is_empty() {
            "there is no cluster".to_owned()
        } else {
            format!(
                "which cluster?\nhelp: name one of {}",
                names().collect::<Vec<_>>().join(", ")
            )
        };
        return Err(Error::usage(message));
    };
    if options.why && path.is_empty() {
        let message = "`--why` explains one value\nhelp: name its path: `metalmark values CLUSTER --why PATH`";
        return Err(Error::usage(message));
    }
    Ok((entry, path))
}

/// Prints a value, or its scalars with their origins.
fn print(
    query: &ValueQuery<'_>,
    node: &Node,
    options: &ValuesOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let out = &mut terminal.out;
    match (options.origin, options.output) {
        (true, None) => values::leaves(&query.leaves(node), out)?,
        (true, Some(format)) => format.data(&query.leaves(node), out)?,
        (false, Some(Format::Json)) => out.json(&serde_json::Value::from(&node.value))?,
        (false, _) => out.value(&node.value)?,
    }
    Ok(())
}

/// The formats of data.
fn data_format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new([
        PossibleValue::new("yaml").help("YAML"),
        PossibleValue::new("json").help("JSON"),
    ])
    .map(|name| match name.as_str() {
        "yaml" => Format::Yaml,
        _ => Format::Json,
    })
}
