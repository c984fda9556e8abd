//! Plain Cluster API manifests, and what Flux, Argo CD, kustomize, clusterctl and ClusterClass make of them.

mod applications;
mod broken;
mod classes;
mod composed;
mod fields;
mod folders;
mod kustomizations;
mod kustomize;
mod lists;
mod names;
mod pairs;
mod plain;
mod pools;
mod providers;
pub(crate) mod references;
mod releases;
mod sets;
mod unread;
mod variables;

use std::fmt::Display;

use super::support::stage::{Stage, table};

/// What `check` says of each project: its name, and below it a line a finding and a line a pool.
fn checked<N: Display>(cases: impl IntoIterator<Item = (N, Stage)>) -> String {
    let lines = |(name, project): (N, Stage)| {
        let checked = project.check();
        table([name], |_| [&*checked.findings, &checked.pools].concat())
    };
    cases.into_iter().map(lines).collect()
}

/// The same with the lines of the pools alone.
fn judged<N: Display>(cases: impl IntoIterator<Item = (N, Stage)>) -> String {
    let lines = |(name, project): (N, Stage)| table([name], |_| project.check().pools);
    cases.into_iter().map(lines).collect()
}
