//! One cluster: its own layers over the shared ones, evaluated, and what its values say of nodes and images.

use std::sync::Arc;

use crate::error::Error;
use crate::evaluate::{Evaluation, Evaluator, Options, Release, TemplateCache};
use crate::model::catalogue::Catalogue;
use crate::model::cluster::Cluster;
use crate::model::finding::Subject;
use crate::model::value::Node;
use crate::model::workspace::ClusterRead;

use super::extract::{self, CATALOGUE_KEYS};
use super::project::EvaluationOption;
use super::{ClusterEntry, Workspace};

/// The catalogue of the layers that all clusters share, and whether a cluster that touches none of its keys has the same.
pub struct SharedCatalogue {
    /// The catalogue.
    catalogue: Arc<Catalogue>,
    /// Its values hold no expression, so that nothing that a cluster sets can change them.
    is_literal: bool,
}

/// Reads what the shared layers alone say of images. What is wrong with it is told by the clusters that have it.
pub fn shared_catalogue(workspace: &Workspace, templates: &TemplateCache) -> SharedCatalogue {
    let values = &workspace.shared.values;
    let evaluator = Evaluator::new(values, &options(workspace, None), templates);
    let (catalogue, findings) =
        extract::catalogue(&evaluator, workspace.shared.sources(), Subject::default());
    let literal = |key: &&str| values.at(&[key]).is_none_or(Node::is_literal);
    SharedCatalogue {
        catalogue: Arc::new(catalogue),
        is_literal: findings.is_empty() && CATALOGUE_KEYS.iter().all(literal),
    }
}

/// The shared layers as a cluster without nodes: what is wrong with images that no cluster touches is told of it.
pub fn shared(workspace: &Workspace, shared: &SharedCatalogue) -> ClusterRead {
    ClusterRead {
        cluster: Cluster::default(),
        catalogue: Arc::clone(&shared.catalogue),
        sources: workspace.shared.sources().clone(),
        findings: Vec::new(),
    }
}

/// Reads one cluster. Its catalogue is the shared one where nothing that it sets can change that.
///
/// # Errors
/// A layer cannot be read.
pub fn cluster(
    workspace: &Workspace,
    entry: &ClusterEntry,
    shared: &SharedCatalogue,
    templates: &TemplateCache,
) -> Result<ClusterRead, Error> {
    let own = workspace
        .shared
        .with(&workspace.settings.root, &entry.layers, workspace.engine)?;
    let evaluator = Evaluator::new(&own.values, &options(workspace, Some(entry)), templates);
    let subject = Subject {
        cluster: Some(entry.name.to_string()),
        ..Subject::default()
    };
    let mut findings: Vec<_> = own
        .findings
        .into_iter()
        .map(|finding| finding.about(subject.clone()))
        .collect();
    let (cluster, found) =
        extract::cluster(&evaluator, &own.sources, &entry.name, &entry.namespace);
    findings.extend(found);
    let untouched = |key: &&str| match (own.values.at(&[key]), workspace.shared.values.at(&[key])) {
        (Some(own), Some(shared)) => own.is_same(shared),
        (own, shared) => own.is_none() && shared.is_none(),
    };
    let catalogue = if shared.is_literal && CATALOGUE_KEYS.iter().all(untouched) {
        Arc::clone(&shared.catalogue)
    } else {
        let (catalogue, found) = extract::catalogue(&evaluator, &own.sources, subject);
        findings.extend(found);
        Arc::new(catalogue)
    };
    Ok(ClusterRead {
        cluster,
        catalogue,
        sources: own.sources,
        findings,
    })
}

pub(super) fn options(workspace: &Workspace, entry: Option<&ClusterEntry>) -> Options {
    let defaults = Options::default();
    Options {
        evaluation: match workspace.evaluation {
            EvaluationOption::Lazy => Evaluation::Lazy,
            EvaluationOption::Exact => Evaluation::Exact,
        },
        engine: workspace.engine,
        release: Release {
            namespace: entry.map_or_else(
                || defaults.release.namespace.clone(),
                |entry| Arc::clone(&entry.namespace),
            ),
            ..defaults.release
        },
        ..defaults
    }
}
