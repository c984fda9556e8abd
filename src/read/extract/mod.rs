//! What a cluster's values say of images and nodes: evaluated where they need it, in the model's words.
//!
//! Reads no more than what is asked: an expression that fails is a finding only where its value is needed, and one pool's
//! failure hides no other pool.

mod catalogue;
mod cluster;
mod pools;
mod report;

use std::sync::Arc;

use crate::evaluate::Evaluator;
use crate::model::catalogue::Catalogue;
use crate::model::cluster::Cluster;
use crate::model::finding::{Finding, Subject};
use crate::model::place::Sources;
use report::Report;

/// The image catalogue, in both vocabularies, and what is wrong with it.
pub fn catalogue(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
) -> (Catalogue, Vec<Finding>) {
    let mut report = Report::new(sources, subject);
    let catalogue = catalogue::catalogue(evaluator, &mut report);
    (catalogue, report.findings)
}

/// The cluster and its node pools, and what is wrong with them. `namespace` is that of the cluster's objects.
pub fn cluster(
    evaluator: &Evaluator,
    name: &Arc<str>,
    namespace: &Arc<str>,
    sources: &Sources,
) -> (Cluster, Vec<Finding>) {
    let subject = Subject {
        cluster: Some(name.to_string()),
        ..Subject::default()
    };
    let mut report = Report::new(sources, subject);
    let cluster = cluster::cluster(evaluator, name, namespace, &mut report);
    (cluster, report.findings)
}

/// The expressions, of those evaluated so far, that Helm would come to something else with (T13): findings of
/// `expression-order`.
pub fn order(evaluator: &Evaluator, sources: &Sources, subject: Subject) -> Vec<Finding> {
    let mut report = Report::new(sources, subject);
    for difference in evaluator.order_differences() {
        report.order(&difference);
    }
    report.findings
}
