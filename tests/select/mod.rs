//! Which image a pool boots: tables of small cases, and a model of Sylva's rules that answers random ones.

mod catalog;
mod endpoints;
mod facts;
mod levels;
mod model;
mod patterns;
mod proof;
mod property;
mod scalars;
mod versions;

use metalmark::model::cluster_view::ClusterView;
use metalmark::model::selection::Outcome;

/// A cluster of RKE2, for settings below `cluster:` to follow.
const CLUSTER: &str = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";

/// The rows of a table of cases, `a | b | c`.
fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    let row = |line| {
        let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
        <[&str; N]>::try_from(cells).unwrap_or_else(|cells| panic!("{cells:?}"))
    };
    lines.map(row).collect()
}

/// What a pool came to, in a few words.
fn answer(outcome: &Outcome) -> String {
    let list = |keys: &[std::sync::Arc<str>]| keys.join(" ");
    match outcome {
        Outcome::Image(key) => key.to_string(),
        Outcome::Explicit(_) => "(url)".to_owned(),
        Outcome::Named(_) => "(name)".to_owned(),
        Outcome::Nothing => "(nothing)".to_owned(),
        Outcome::Unknown(key) => format!("(unknown) {key}"),
        Outcome::NoMatch => "(none)".to_owned(),
        Outcome::Several(keys) => format!("(several) {}", list(keys)),
        Outcome::Disagree { key, selected } => format!("(disagree) {key} / {}", list(selected)),
        Outcome::Invalid(_) => "(invalid)".to_owned(),
    }
}

/// What each pool came to, by its name.
fn answers(view: &ClusterView) -> Vec<(String, String)> {
    let pools = view.cluster.pools.iter().zip(&view.selections);
    let answers =
        pools.map(|(pool, selection)| (pool.name.to_string(), answer(&selection.outcome)));
    answers.collect()
}
