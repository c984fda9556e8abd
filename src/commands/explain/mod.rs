//! `metalmark explain`: a rule, an image, or why a pool boots what it boots.

mod account;
mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;

use crate::error::Error;
use crate::model::matching::Outcome;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::model::suggest::did_you_mean;
use crate::model::workspace::ClusterView;
use crate::read::{self, ClusterEntry, Request, Workspace};
use crate::rules::{Rule, rule};

use crate::pipeline::fleet::Tools;
use crate::pipeline::{Format, Terminal, Verdict, fleet};
use account::{FactAccount, PoolAccount};

/// What `explain` was asked for.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// A rule's id, an image key, a cluster, or `cluster/pool`.
    pub subject: String,
    /// The format of the answer.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// One rule.
#[derive(Debug, Serialize)]
struct RuleAccount {
    rule: RuleId,
    level: crate::model::finding::Level,
    summary: &'static str,
    explanation: Cow<'static, str>,
}

/// One image, as one or more clusters have it.
#[derive(Debug, Serialize)]
struct ImageAccount {
    image: String,
    uri: Option<String>,
    facts: BTreeMap<String, FactAccount>,
    /// The pools that boot it, as `cluster/pool`.
    used_by: Vec<String>,
    /// The clusters that are served it.
    served_for: Vec<String>,
}

/// Answers on stdout.
///
/// # Errors
/// The world failed, there is no project, or nothing has that name.
pub fn explain(
    request: &Request,
    options: &ExplainOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let subject = options.subject.as_str();
    if let Ok(id) = subject.parse() {
        answer(&told(rule(id)), options.format, terminal, text::rule)?;
        return Ok(Verdict::Clean);
    }
    let mut workspace = read::workspace(request).map_err(|error| misspelled(subject, error))?;
    let tools = fleet::tools(&mut workspace, options.today)?;
    if let Some((entry, pool)) = cluster(subject, &workspace) {
        let view = fleet::view(&workspace, &tools, entry)?;
        let pools = pools(&view, pool, &workspace, &tools)?;
        answer(&pools, options.format, terminal, |pools, out| {
            text::pools(pools, out)
        })?;
        return Ok(Verdict::Clean);
    }
    let images = images(subject, &workspace, &tools)?;
    if images.is_empty() {
        return Err(nothing(subject, &workspace));
    }
    answer(&images, options.format, terminal, |images, out| {
        text::images(images, out)
    })?;
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
fn misspelled(subject: &str, error: Error) -> Error {
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

/// Prints an answer as data or as text.
fn answer<T: Serialize>(
    data: &T,
    format: Format,
    terminal: &mut Terminal,
    human: impl Fn(&T, &mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Error> {
    match format {
        Format::Human => human(data, &mut terminal.out)?,
        Format::Json => {
            terminal.out.json(data)?;
        }
    }
    Ok(())
}

fn told(rule: &'static Rule) -> RuleAccount {
    RuleAccount {
        rule: rule.id,
        level: rule.id.level(),
        summary: rule.summary(),
        explanation: rule.explanation(),
    }
}

fn pools(
    view: &ClusterView,
    pool: Option<&str>,
    workspace: &Workspace,
    tools: &Tools,
) -> Result<Vec<PoolAccount>, Error> {
    let all = view.cluster.pools.iter().zip(&view.selections);
    let wanted =
        all.filter(|(candidate, _)| pool.is_none_or(|pool| candidate.name.to_string() == pool));
    let matching = workspace.settings.matching;
    let accounts: Vec<PoolAccount> = wanted
        .map(|(pool, selection)| account::of_pool(view, pool, selection, matching, &tools.patterns))
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
            Err(Error::Usage { message })
        }
        _ => Ok(accounts),
    }
}

/// The image of a key in every cluster's catalog, those that are the same told once.
fn images(key: &str, workspace: &Workspace, tools: &Tools) -> Result<Vec<ImageAccount>, Error> {
    let survey = fleet::survey(workspace, tools, |view, _| {
        Ok((image(key, view), Vec::new()))
    })?;
    let mut told: Vec<ImageAccount> = Vec::new();
    for account in survey.results.into_iter().flatten() {
        match told
            .iter_mut()
            .find(|known| known.uri == account.uri && same_facts(&known.facts, &account.facts))
        {
            Some(known) => {
                known.used_by.extend(account.used_by);
                known.served_for.extend(account.served_for);
            }
            None => told.push(account),
        }
    }
    Ok(told)
}

fn same_facts(
    known: &BTreeMap<String, FactAccount>,
    other: &BTreeMap<String, FactAccount>,
) -> bool {
    let values = |facts: &BTreeMap<String, FactAccount>| -> Vec<(String, String)> {
        facts
            .iter()
            .map(|(name, fact)| (name.clone(), fact.value.clone()))
            .collect()
    };
    values(known) == values(other)
}

fn image(key: &str, view: &ClusterView) -> Option<ImageAccount> {
    let image = view
        .images
        .get(key)
        .or_else(|| view.images.values().find(|image| &*image.artifact == key))?;
    let booted = view.cluster.pools.iter().zip(&view.selections);
    let used_by = booted
        .filter(|(_, selection)| matches!(&selection.outcome, Outcome::Image(chosen) if *chosen == image.key))
        .filter(|(pool, selection)| !view.selects_by_secret(pool, selection))
        .map(|(pool, _)| format!("{}/{}", view.cluster.name, pool.name));
    let served = view.served.binary_search(&image.key).is_ok();
    Some(ImageAccount {
        image: image.key.to_string(),
        uri: image
            .uri
            .as_ref()
            .map(|uri| view.sources.shown(&uri.value, uri.place).to_owned()),
        facts: account::facts(image, &view.sources),
        used_by: used_by.collect(),
        served_for: served
            .then(|| view.cluster.name.to_string())
            .into_iter()
            .collect(),
    })
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
        None => "`metalmark images` lists the image keys, docs/rules.md the rules".to_owned(),
    };
    Error::Usage {
        message: format!("`{subject}` is no rule, image, cluster or pool here\nhelp: {help}"),
    }
}
