//! How a cluster's values are evaluated: as the release that composes it, if one does.

use std::sync::Arc;

use crate::evaluate::{Evaluation, Options, Release};

use super::layers::Own;
use super::project::EvaluationOption;
use super::{ClusterEntry, Workspace};

/// The options of a cluster's evaluation.
pub(super) fn for_cluster(workspace: &Workspace, entry: &ClusterEntry, own: &Own) -> Options {
    let release = own.release.as_ref().map(|release| &*release.name);
    let composed = own.release.as_ref().map(|release| &*release.namespace);
    let namespace = match (
        &entry.namespace,
        composed.filter(|name| !is_placeholder(name)),
    ) {
        (Some(named), _) => Arc::clone(named),
        (None, Some(composed)) => composed.into(),
        (None, None) => Arc::clone(&entry.name),
    };
    let mut options = for_release(
        workspace,
        entry.release.as_deref().or(release),
        Some(namespace),
    );
    if let Some(chart) = &own.chart {
        options.chart.name = Arc::clone(&chart.name);
        options.chart.version = Arc::clone(&chart.version);
        options.chart.metadata = chart.metadata.clone();
        let templates = Arc::clone(&chart.templates);
        options.templates = Some(templates);
    }
    options
}

/// The options of a release of that name in that namespace; the defaults of Helm's own commands, unless given.
pub(super) fn for_release(
    workspace: &Workspace,
    release: Option<&str>,
    namespace: Option<Arc<str>>,
) -> Options {
    let defaults = Options::default();
    Options {
        evaluation: match workspace.evaluation {
            EvaluationOption::Lazy => Evaluation::Lazy,
            EvaluationOption::Exact => Evaluation::Exact,
        },
        engine: workspace.engine,
        release: Release {
            name: release.map_or(defaults.release.name, Arc::from),
            namespace: namespace.unwrap_or(defaults.release.namespace),
            ..defaults.release
        },
        ..defaults
    }
}

/// Whether a namespace is one to be replaced when the cluster is made: Sylva's scripts put the cluster's name in the place
/// of `WORKLOAD_CLUSTER_NAMESPACE`. No namespace has upper-case letters (RFC 1123).
fn is_placeholder(namespace: &str) -> bool {
    namespace.is_empty() || namespace.contains(|letter: char| letter.is_ascii_uppercase())
}
