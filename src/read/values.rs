//! The values of one cluster: its layers, the merged values, and an evaluator for them.

use go_template::ErrorClass;
use yaml_tree::merge::Layer;
use yaml_tree::place::Sources;
use yaml_tree::value::Node;

use crate::error::Error;
use crate::evaluate::{Failure, Options, TemplateCache};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::Level;

use super::management::{Depth, State};
use super::{ClusterEntry, Workspace, cluster, release_options};
use crate::read::gitops::MissingSource;
use crate::read::sylva;

/// One cluster's values before evaluation.
pub struct ClusterValues {
    /// The layers, lowest first.
    pub layers: Vec<Layer>,
    /// All of them, merged.
    pub tree: Node,
    /// How they are evaluated.
    pub options: Options,
    /// The files that their places point into.
    pub sources: Sources,
    /// What reading them found.
    pub findings: Vec<Finding>,
    /// What exists only at run time.
    missing: Vec<MissingSource>,
    /// What findings are about.
    subject: Subject,
}

/// Reads the values of one cluster.
///
/// # Errors
/// A layer cannot be read.
pub fn values(workspace: &Workspace, entry: &ClusterEntry) -> Result<ClusterValues, Error> {
    let templates = TemplateCache::default();
    let state = State::new(workspace, entry, &templates, Depth::Evaluated);
    let own = workspace.shared.with_layers(entry, Some(&state))?;
    let options = release_options::for_cluster(workspace, entry, &own);
    let subject = Subject::cluster(&entry.name);
    let about = |finding: Finding| finding.with_subject(subject.clone());
    Ok(ClusterValues {
        layers: own.layers,
        tree: own.values,
        options,
        sources: own.sources,
        findings: own.findings.into_iter().map(about).collect(),
        missing: own.missing,
        subject,
    })
}

impl ClusterValues {
    /// What failed in evaluating them, as findings, each once. Random text and the like, which no image depends on, is a warning.
    pub fn failure_findings(&self, failures: Vec<Failure>) -> Vec<Finding> {
        let is_refused = |failure: &Failure| failure.class == ErrorClass::Refused;
        let (refused, failures) = failures.into_iter().partition(is_refused);
        let findings =
            |failures| sylva::failure_findings(&self.sources, self.subject.clone(), failures);
        let refused = findings(refused).into_iter();
        let mut findings = findings(failures);
        cluster::report_missing(&self.missing, &mut findings);
        findings.extend(refused.map(|finding| finding.unless_set(Level::Warning)));
        findings
    }
}
