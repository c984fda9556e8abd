//! Reads Sylva's keys: converts a cluster's values, evaluated where necessary, into the model.
//!
//! Reads no more than what is requested: an expression that fails is a finding only where its value is needed, and one pool's
//! failure hides no other pool.

mod catalog;
mod cluster;
mod endpoint;
mod inventory;
mod pools;
mod report;
mod signing;
mod spelling;

use std::sync::Arc;

use crate::evaluate::{Evaluator, Failure};
use crate::model::catalog::Catalog;
use crate::model::cluster::Cluster;
use crate::model::finding::{Finding, Subject};
use crate::model::signing::SigningKeys;
use report::Report;
use yaml_tree::place::Sources;

pub(super) use cluster::read_version_map;
pub use pools::{BUNDLE, is_choice};
pub(super) use report::is_about_number;
pub(super) use spelling::spelling_findings;
pub use spelling::{OwnEffect, own_effect};

/// The keys of the values that the catalog is made of: a cluster that sets none of them has the shared one.
pub(super) const CATALOG_KEYS: [&str; 9] = catalog::KEYS;

/// The image catalog, in both vocabularies.
pub(super) fn catalog(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
    findings: &mut Vec<Finding>,
) -> Catalog {
    let mut report = Report::new(sources, subject);
    let catalog = catalog::catalog(evaluator, &mut report);
    report.order(evaluator);
    findings.extend(report.findings);
    catalog
}

/// What is read beside what the images need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The control plane endpoint, also where the values have none in metalmark's own words.
    Endpoints,
    /// Nothing.
    ImagesAlone,
}

/// The cluster and its node pools without its catalog. `name` and `namespace` are the
/// project's words for it.
pub(super) fn cluster(
    evaluator: &Evaluator,
    sources: &Sources,
    name: &Arc<str>,
    namespace: &Arc<str>,
    scope: Scope,
    findings: &mut Vec<Finding>,
) -> Cluster {
    let subject = Subject::cluster(name);
    let mut report = Report::new(sources, subject);
    let cluster = cluster::cluster(evaluator, name, namespace, scope, &mut report);
    report.report_unknown();
    report.order(evaluator);
    findings.extend(report.findings);
    cluster
}

/// The keys that the images of a catalog are signed with.
pub(super) fn signing_keys(
    evaluator: &Evaluator,
    sources: &Sources,
    subject: Subject,
    catalog: &Catalog,
    is_required: bool,
    findings: &mut Vec<Finding>,
) -> SigningKeys {
    let mut report = Report::new(sources, subject);
    let keys = signing::keys(evaluator, catalog, is_required, &mut report);
    report.report_unknown();
    findings.extend(report.findings);
    keys
}

/// Evaluations that failed, as findings, each once.
pub(super) fn failure_findings(
    sources: &Sources,
    subject: Subject,
    failures: Vec<Failure>,
) -> Vec<Finding> {
    let mut report = Report::new(sources, subject);
    for failure in failures {
        report.answer::<()>(Err(failure));
    }
    report.report_unknown();
    report.findings
}
