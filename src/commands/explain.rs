//! `metalmark explain`: a rule, an image, or why a pool boots what it boots.

use std::sync::Arc;

use clap::Args;
use yaml_tree::suggest::did_you_mean;

use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::rule::RuleId;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{self, ClusterEntry, Request, Workspace};
use crate::report::explain::{ImageAccount, PoolAccount, RuleAccount};
use crate::report::{self, Format};
use crate::rules::rule;

/// What is explained.
#[derive(Clone, Debug, Args)]
pub struct ExplainOptions {
    /// A rule's id, an image key, a cluster, or CLUSTER/POOL.
    #[arg(value_name = "ID")]
    pub subject: String,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Answers on stdout.
///
/// # Errors
/// I/O failed, there is no project, or nothing has that name.
pub fn explain(
    request: &Request,
    options: &ExplainOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let subject = options.subject.as_str();
    if let Ok(id) = subject.parse() {
        let account = RuleAccount::new(rule(id));
        report::explain::rule(&account, options.format, &mut terminal.out)?;
        return Ok(Verdict::Clean);
    }
    let workspace = read::workspace(request).map_err(|error| suggest_rule(subject, error))?;
    let fleet = Fleet::open(workspace, today)?;
    let workspace = &fleet.workspace;
    if let Some((entry, pool)) = cluster(subject, workspace) {
        let view = fleet.view(entry)?;
        let pools = pools(&view, pool, &fleet)?;
        report::explain::pools(&pools, options.format, &mut terminal.out)?;
        return Ok(Verdict::Clean);
    }
    let images = images(subject, &fleet)?;
    if images.is_empty() {
        return Err(nothing(subject, workspace));
    }
    report::explain::images(&images, options.format, &mut terminal.out)?;
    Ok(Verdict::Clean)
}

/// The cluster that a subject names, and the rest behind it, which is a pool. The name of a cluster may have slashes itself.
fn cluster<'s, 'w>(
    subject: &'s str,
    workspace: &'w Workspace,
) -> Option<(&'w ClusterEntry, Option<&'s str>)> {
    let named = |entry: &'w ClusterEntry| {
        let rest = subject.strip_prefix(&*entry.name)?;
        match rest.strip_prefix('/') {
            None => rest.is_empty().then_some((entry, None)),
            pool => Some((entry, pool)),
        }
    };
    let all = workspace.clusters.iter().filter_map(named);
    all.max_by_key(|(entry, _)| entry.name.len())
}

/// Where there is no project, a word that is nearly a rule's is a misspelled rule.
fn suggest_rule(subject: &str, error: Error) -> Error {
    match (
        did_you_mean(subject, RuleId::ALL.iter().map(|rule| rule.as_str())),
        &error,
    ) {
        (Some(rule), Error::Usage { .. }) => Error::Usage {
            message: format!("there is no rule `{subject}`\nhelp: did you mean `{rule}`?"),
        },
        _ => error,
    }
}

fn pools(view: &ClusterView, pool: Option<&str>, fleet: &Fleet) -> Result<Vec<PoolAccount>, Error> {
    let wanted = view
        .pools()
        .filter(|it| pool.is_none_or(|pool| it.pool.name.to_string() == pool));
    let matching = fleet.workspace.settings.matching;
    let accounts: Vec<PoolAccount> = wanted
        .map(|of| PoolAccount::new(view, of, matching, &fleet.patterns))
        .collect();
    match pool {
        Some(pool) if accounts.is_empty() => {
            let names: Vec<String> = view
                .cluster
                .pools
                .iter()
                .map(|pool| format!("`{}`", pool.name))
                .collect();
            let message = format!(
                "cluster `{}` has no pool `{pool}`\nhelp: it has {}",
                view.cluster.name,
                names.join(", ")
            );
            Err(Error::usage(message))
        }
        _ => Ok(accounts),
    }
}

/// The image of a key in every cluster's catalog, equal ones once.
fn images(key: &str, fleet: &Fleet) -> Result<Vec<ImageAccount>, Error> {
    let fleet_check = fleet.check(|view, _, _| Ok(ImageAccount::new(key, view)))?;
    let mut all: Vec<ImageAccount> = Vec::new();
    for account in fleet_check.results.into_iter().flatten() {
        match all.iter_mut().find(|known| known.is_same(&account)) {
            Some(known) => known.merge(account),
            None => all.push(account),
        }
    }
    Ok(all)
}

fn nothing(subject: &str, workspace: &Workspace) -> Error {
    let names: Vec<Arc<str>> = workspace
        .clusters
        .iter()
        .map(|entry| Arc::clone(&entry.name))
        .collect();
    let known = RuleId::ALL
        .iter()
        .map(|rule| rule.as_str())
        .chain(names.iter().map(|name| &**name));
    let help = match did_you_mean(subject, known) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            "`metalmark clusters` lists clusters and pools, `metalmark images` images, `metalmark rules` rules"
                .to_owned()
        }
    };
    Error::Usage {
        message: format!("`{subject}` is not a rule, image, cluster or pool here\nhelp: {help}"),
    }
}
