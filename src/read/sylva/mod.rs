//! Reads Sylva's keys: converts a cluster's values, evaluated where necessary, into the model.
//!
//! Reads no more than what is requested: an expression that fails is a finding only where its value is needed, and one pool's
//! failure hides no other pool.

mod bundles;
mod catalog;
mod cluster;
mod endpoint;
mod inventory;
mod pools;
mod report;
mod signing;
mod spelling;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::evaluate::{Evaluator, Failure};
use crate::model::catalog::Catalog;
use crate::model::cluster::Cluster;
use crate::model::finding::{Finding, Subject};
use crate::model::place::Sources;
use crate::model::signing::SigningKeys;
use crate::model::value::Node;
use report::Report;

/// The keys of the values that the catalog is made of: a cluster that sets none of them has the shared one.
pub(super) const CATALOG_KEYS: [&str; 9] = catalog::KEYS;

/// The image catalog, in both vocabularies, and what is wrong with it.
pub(super) fn catalog(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
) -> (Catalog, Vec<Finding>) {
    let mut report = Report::new(sources, subject);
    let catalog = catalog::catalog(evaluator, &mut report);
    report.order(evaluator);
    (catalog, report.findings)
}

/// What is read beside what the images need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The control plane endpoint, also where the values have none in metalmark's own words.
    Endpoints,
    /// Nothing.
    ImagesAlone,
}

/// The cluster and its node pools without its catalog, and what is wrong with them. `name` and `namespace` are the
/// project's words for it.
pub(super) fn cluster(
    evaluator: &Evaluator,
    sources: &Sources,
    name: &Arc<str>,
    namespace: &Arc<str>,
    scope: Scope,
) -> (Cluster, Vec<Finding>) {
    let subject = Subject::cluster(name);
    let mut report = Report::new(sources, subject);
    let cluster = cluster::cluster(evaluator, name, namespace, scope, &mut report);
    report.order(evaluator);
    (cluster, report.findings)
}

/// The keys of the values that are almost one that selects an image.
pub(super) fn misspelled(values: &Node, sources: &Sources, subject: &Subject) -> Vec<Finding> {
    spelling::misspelled(values, sources, subject)
}

/// The keys that images of these registries are signed with, and what is wrong with them.
pub(super) fn signing_keys(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
    registries: &BTreeSet<Arc<str>>,
    is_required: bool,
) -> (SigningKeys, Vec<Finding>) {
    let mut report = Report::new(sources, subject);
    let keys = signing::keys(evaluator, registries, is_required, &mut report);
    (keys, report.findings)
}

/// Evaluations that failed, as findings, each once.
pub(super) fn failed(sources: &Sources, subject: Subject, failures: Vec<Failure>) -> Vec<Finding> {
    let mut report = Report::new(sources, subject);
    for failure in failures {
        report.answer::<()>(Err(failure));
    }
    report.findings
}
