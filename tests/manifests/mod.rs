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

use snapbox::Data;

use super::support::stage::{Is, Stage, cases, table};

/// What `check` says of each project: its name, and below it a line a finding and a line a pool. Projects side by side of which the
/// same is said share the lines.
fn checked<N: Display>(cases: impl IntoIterator<Item = (N, Stage)>) -> String {
    let cases = cases.into_iter();
    groups(cases.map(|(name, project)| (name, project.check().lines())))
}

/// The same with the lines of the pools alone.
fn judged<N: Display>(cases: impl IntoIterator<Item = (N, Stage)>) -> String {
    let cases = cases.into_iter();
    groups(cases.map(|(name, project)| (name, project.check().pool_lines())))
}

/// The same of cases that are in the snapshot itself.
#[track_caller]
fn assert_groups(expected: impl Into<Data>, result: impl Fn(&str) -> Vec<String>) {
    let expected = expected.into();
    let text = expected.render().expect("a text");
    groups(cases(&text).into_iter().map(|case| (case, result(case)))).is(expected);
}

fn groups<N: Display>(results: impl IntoIterator<Item = (N, Vec<String>)>) -> String {
    let results: Vec<(N, Vec<String>)> = results.into_iter().collect();
    let groups = results.chunk_by(|(_, one), (_, next)| one == next);
    let groups = groups.map(|cases| {
        let names: Vec<String> = cases.iter().map(|(name, _)| name.to_string()).collect();
        let mut lines = cases[0].1.clone();
        if lines.is_empty() {
            lines.push("nothing".to_owned());
        }
        table([names.join("\n")], |_| lines.clone())
    });
    groups.collect()
}
