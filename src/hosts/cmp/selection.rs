//! Determines what an application renders: its cluster, and which of the project's outputs.

use yaml_tree::suggest::did_you_mean;

use crate::error::Error;
use crate::model::settings::Output;
use crate::pipeline::rendered::RenderedPart;
use crate::read::{self, ClusterEntry, Request, Workspace};

use super::environment::{Environment, PARAMETERS};
use super::parameters::{Given, Scope};

/// What was selected.
pub(super) enum Selected {
    Whole,
    Shared,
    Cluster(ClusterEntry),
}

impl Selected {
    pub(super) fn part(&self) -> RenderedPart<'_> {
        match self {
            Self::Whole => RenderedPart::Whole,
            Self::Shared => RenderedPart::Shared,
            Self::Cluster(entry) => RenderedPart::Cluster(entry),
        }
    }

    /// Argo CD takes no output for success, and prunes.
    pub(super) fn is_empty(&self, outputs: &[Output]) -> Error {
        let targets: Vec<&str> = outputs.iter().map(|output| &*output.target).collect();
        let (whose, advice) = match self {
            Self::Whole => ("the project".to_owned(), "check `clusters`"),
            Self::Shared => (
                "what the clusters share".to_owned(),
                "`scope: shared` takes outputs whose path names no cluster, such as `configmap`",
            ),
            Self::Cluster(entry) => (
                format!("cluster `{}`", entry.name),
                "`scope: shared` renders what clusters share",
            ),
        };
        let message = format!(
            "{whose} yields no object for {}, and Argo CD would delete everything that the application has\n\
             help: {advice}, or set `allow-empty: \"true\"` if that is what you want",
            targets.join(", ")
        );
        Error::Usage { message }
    }
}

/// Whether a target's objects configure a GitOps engine: an application that held its own Application would own itself.
fn is_for_an_engine(target: &str) -> bool {
    target == "argocd" || target.starts_with("flux")
}

/// Leaves the outputs that an application takes: those of the targets named, else those that are not for an engine.
pub(super) fn outputs(outputs: &mut Vec<Output>, targets: &[String]) -> Result<(), Error> {
    let known: Vec<String> = outputs.iter().map(|output| output.target.clone()).collect();
    for target in targets {
        if !known.contains(target) {
            let message = format!(
                "the project has no output for target `{target}`, only for: {}\n\
                 help: add `- {{target: {target}, path: rendered}}` to `outputs` in metalmark.yaml",
                known.join(", ")
            );
            return Err(Error::usage(message));
        }
    }
    outputs.retain(|output| match targets {
        [] => !is_for_an_engine(&output.target),
        named => named.contains(&output.target),
    });
    if outputs.is_empty() {
        let message = "the project has no output with objects for Argo CD to apply\n\
             help: add `- {target: manifests, path: rendered}` to `outputs` in metalmark.yaml";
        return Err(Error::usage(message));
    }
    Ok(())
}

/// The part of the project that the application renders.
pub(super) fn part(
    workspace: &Workspace,
    given: &Given,
    environment: &Environment,
) -> Result<Selected, Error> {
    match given.scope {
        Scope::All => Ok(Selected::Whole),
        Scope::Shared => Ok(Selected::Shared),
        Scope::Cluster => cluster(workspace, given, environment)
            .cloned()
            .map(Selected::Cluster)
            .ok_or_else(|| no_such_cluster(workspace, given, environment)),
    }
}

/// The cluster that is named, else the one that the application is called like.
pub(super) fn cluster<'w>(
    workspace: &'w Workspace,
    given: &Given,
    environment: &Environment,
) -> Option<&'w ClusterEntry> {
    let names = match &given.cluster {
        Some(name) => vec![&**name],
        None => environment.app_names(),
    };
    let named = |name: &&str| {
        workspace
            .clusters
            .iter()
            .find(|entry| &*entry.name == *name)
    };
    names.iter().find_map(named)
}

/// How many clusters a message lists.
const LISTED: usize = 10;

fn no_such_cluster(workspace: &Workspace, given: &Given, environment: &Environment) -> Error {
    let names: Vec<&str> = workspace
        .clusters
        .iter()
        .map(|entry| &*entry.name)
        .collect();
    let (message, wanted) = match (&given.cluster, environment.app_names().last()) {
        (Some(name), _) => (format!("there is no cluster `{name}`"), name.as_str()),
        (None, Some(app)) => (
            format!("no cluster is called like the application, `{app}`"),
            *app,
        ),
        (None, None) => ("no parameter says which cluster is rendered".to_owned(), ""),
    };
    let help = match did_you_mean(wanted, names.iter().copied()) {
        Some(name) => format!("did you mean `cluster: {name}`?"),
        None if names.len() > LISTED => format!(
            "set the parameter `cluster`, such as {} … ({} in all)",
            names[..LISTED].join(", "),
            names.len()
        ),
        None => format!(
            "set the parameter `cluster` to one of: {}",
            names.join(", ")
        ),
    };
    Error::Usage {
        message: format!("{message}\nhelp: {help}"),
    }
}

/// Whether an application that is looked at by discovery is for this plugin. Where it has a `plugin` block that cannot be
/// understood, it is: `generate` then says what is wrong.
pub(super) fn is_ours(request: &Request, environment: &Environment) -> bool {
    let has_block = environment.get(PARAMETERS).is_some();
    let Ok(given) = Given::read(environment) else {
        return has_block;
    };
    if given.scope != Scope::Cluster {
        return true;
    }
    let request = super::confine(request, environment, &given);
    match request.and_then(|request| read::workspace(&request)) {
        Ok(workspace) => cluster(&workspace, &given, environment).is_some(),
        Err(_) => has_block,
    }
}
