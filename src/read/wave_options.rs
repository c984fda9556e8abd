//! How the project file spreads an upgrade over waves: `plan`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::decide::plan::Goal;
use crate::model::wave_settings::ClusterPattern;
use crate::model::wave_settings::Most;
use crate::model::wave_settings::WaveSettings;

use super::places::Problems;

/// How `metalmark plan` spreads the clusters of an upgrade over waves. A pattern matches cluster names, or with `LABEL=PATTERN` a
/// label of Cluster objects. Clusters from values have no labels.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct WaveOptions {
    /// The goal of the upgrade, a Kubernetes minor version such as `"1.33"`; `--to` overrides it. The upgrade begins with the
    /// commit that writes it.
    pub to: Option<String>,
    /// How many days after the merge of a step the next wave is due.
    pub soak: u16,
    /// The most clusters of a wave, as a number, or as a share of all clusters such as `10%`; all unless given.
    pub most: MostOption,
    /// The most machines of a wave, as a number or as a share of all. A cluster with more machines, or with an unknown number, is
    /// alone in a wave.
    pub most_machines: MostOption,
    /// The clusters that reach each version before the others: those of the first pattern, then those of the next.
    pub first: Vec<String>,
    /// The clusters that follow the others.
    pub last: Vec<String>,
    /// Clusters that must not be in the same wave, such as sites that replace each other: of the clusters that one pattern
    /// matches, at most one; for a pattern of a label, at most one with each value.
    pub groups: Vec<String>,
    /// When clusters may be changed, by pattern, in any words: clusters with different words are in different waves, which print
    /// them. If several patterns match, the last in alphabetical order counts.
    pub windows: BTreeMap<String, String>,
    /// Who answers for clusters, by pattern, in any words: each wave prints them. If several patterns match, the last in
    /// alphabetical order counts.
    pub owners: BTreeMap<String, String>,
}

/// A number, or a share of all, as written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[schemars(
    with = "serde_json::Value",
    extend("minimum" = 1, "pattern" = "^([1-9][0-9]?|100)%$")
)]
pub(super) struct MostOption(serde_json::Value);

impl MostOption {
    fn most(&self, key: &str, problems: &mut Problems<'_>) -> Option<Most> {
        let text = match &self.0 {
            serde_json::Value::Null => return None,
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let most = Most::parse(&text);
        if most.is_none() {
            let message = format!("`plan.{key}` is a number or a share, not `{text}`");
            problems.refuse(message, &["plan", key], "write `10` or `10%`");
        }
        most
    }
}

/// What the options mean; a finding for each pattern that is none.
pub(super) fn waves(options: &WaveOptions, problems: &mut Problems<'_>) -> WaveSettings {
    let to = options.to.as_ref().and_then(|text| match text.parse() {
        Ok(Goal::Minor(major, minor)) => Some((major, minor)),
        Ok(Goal::Patches | Goal::BuiltSince(_)) => None,
        Err(why) => {
            let message = format!("`plan.to` is not a goal: {why}");
            let path = ["plan", "to"];
            problems
                .findings
                .push(problems.places.finding(message, &path));
            None
        }
    });
    let most = options.most.most("most", problems);
    let most_machines = options.most_machines.most("most-machines", problems);
    let mut patterns = |name: &str, texts: &[String]| -> Vec<ClusterPattern> {
        let of = |(index, text): (usize, &String)| match ClusterPattern::parse(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let spot = problems.places.item(&["plan", name], index);
                problems.refuse_pattern(text, &error, spot);
                None
            }
        };
        texts.iter().enumerate().filter_map(of).collect()
    };
    let (first, last) = (
        patterns("first", &options.first),
        patterns("last", &options.last),
    );
    let groups = patterns("groups", &options.groups);
    let mut words = |name: &str, texts: &BTreeMap<String, String>| {
        let mut words = Vec::new();
        for (text, own) in texts {
            match ClusterPattern::parse(text) {
                Ok(pattern) => words.push((pattern, own.as_str().into())),
                Err(error) => {
                    let spot = problems.places.spot(&["plan", name, text]);
                    problems.refuse_pattern(text, &error, spot);
                }
            }
        }
        words
    };
    let windows = words("windows", &options.windows);
    let owners = words("owners", &options.owners);
    WaveSettings {
        to,
        soak: options.soak,
        most,
        most_machines,
        first,
        last,
        groups,
        windows,
        owners,
    }
}
