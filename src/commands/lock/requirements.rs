//! Collects what all clusters require of the lock: their images, and the keys that sign them.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::catalog::locking::{Requirements, add, requirements_of};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::lock::is_lockable;
use crate::pipeline::fleet::Fleet;
use crate::read::ClusterEntry;
use capi::image::ImageKey;

/// What clusters use.
#[derive(Default)]
pub(in crate::commands) struct Required {
    /// The images and bundles that can be locked by their references.
    pub(in crate::commands) requirements: Requirements,
    /// What is wrong with the values that say it.
    pub(in crate::commands) findings: Vec<Finding>,
    /// The other images that some cluster boots or serves.
    pub(in crate::commands) used: BTreeSet<ImageKey>,
}

/// Reads every cluster. What the first cluster says of a reference is shown, whichever thread is the first.
pub(in crate::commands) fn requirements(fleet: &Fleet) -> Result<Required, Error> {
    let one = |entry: &ClusterEntry| cluster_requirements(fleet, entry);
    let join = |mut left: Required, right: Required| {
        for requirement in right.requirements.into_values() {
            add(&mut left.requirements, requirement);
        }
        left.findings.extend(right.findings);
        left.used.extend(right.used);
        left
    };
    fleet
        .workspace
        .clusters
        .par_iter()
        .map(one)
        .try_reduce(Required::default, |left, right| Ok(join(left, right)))
}

fn cluster_requirements(fleet: &Fleet, entry: &ClusterEntry) -> Result<Required, Error> {
    let mut view = fleet.view_without_lock(entry)?;
    let mut findings = std::mem::take(&mut view.findings);
    let required = &fleet.workspace.settings.policy.signatures;
    let requirements = requirements_of(&view, required, &fleet.keyring, &mut findings);
    let others = view.images.values().filter(|image| !is_lockable(image));
    let used = others.filter(|image| view.is_used(&image.key));
    let used = used.map(|image| Arc::clone(&image.key)).collect();
    Ok(Required {
        requirements,
        findings,
        used,
    })
}
