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
