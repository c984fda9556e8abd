//! How the project file spreads an upgrade over waves: `plan`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::decide::plan::Goal;
use crate::model::finding::Finding;
use crate::model::wave_settings::ClusterPattern;
use crate::model::wave_settings::Most;
use crate::model::wave_settings::WaveSettings;

use super::places::{Places, bad_pattern};

/// How `metalmark plan` spreads the clusters of an upgrade over waves. A pattern is of cluster names, or `LABEL=PATTERN` of a
/// label of Cluster objects; clusters of values have no labels.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(super) struct WaveOptions {
    /// The Kubernetes minor version that the clusters are going to, such as `"1.33"`: what `metalmark plan` plans without `--to`. The
    /// upgrade begins with the commit that writes it.
    pub to: Option<String>,
    /// The days that pass after the day on which a step was merged, before the next wave is due.
    pub soak: u16,
    /// The most clusters of a wave, as a number, or as a share of all clusters such as `10%`; all unless given.
    pub most: MostOption,
    /// The most machines of a wave, as a number or as a share of all. A cluster that has more, or does not say how many it has,
    /// is alone in a wave.
    pub most_machines: MostOption,
    /// The clusters that reach each version before the others: those of the first pattern, then those of the next.
    pub first: Vec<String>,
    /// The clusters that follow the others.
    pub last: Vec<String>,
    /// Of the clusters that one of these patterns matches, such as the sites that replace each other, at most one is in a wave; of
    /// those that a pattern of a label matches, at most one with each value.
    pub groups: Vec<String>,
    /// When clusters may be changed, by pattern, in any words: clusters with different words are in different waves, which print
    /// them. Of several patterns that match, the later in the alphabet counts.
    pub windows: BTreeMap<String, String>,
    /// Who answers for clusters, by pattern, in any words: each wave prints them. Of several patterns that match, the later in the
    /// alphabet counts.
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
    fn most(&self, key: &str, places: &Places<'_>, findings: &mut Vec<Finding>) -> Option<Most> {
        let text = match &self.0 {
            serde_json::Value::Null => return None,
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let most = Most::parse(&text);
        if most.is_none() {
            let message = format!("`plan.{key}` is a number or a share, not `{text}`");
            let finding = places.finding(message, &["plan", key]);
            findings.push(finding.help("write `10` or `10%`"));
        }
        most
    }
}

/// What the options mean; a finding for each pattern that is none.
pub(super) fn waves(
    options: &WaveOptions,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> WaveSettings {
    let to = options.to.as_ref().and_then(|text| match text.parse() {
        Ok(Goal::Minor(major, minor)) => Some((major, minor)),
        Ok(Goal::Patches | Goal::BuiltSince(_)) => None,
        Err(why) => {
            let message = format!("`plan.to` is not a goal: {why}");
            findings.push(places.finding(message, &["plan", "to"]));
            None
        }
    });
    let most = options.most.most("most", places, findings);
    let most_machines = options
        .most_machines
        .most("most-machines", places, findings);
    let mut patterns = |name: &str, texts: &[String]| -> Vec<ClusterPattern> {
        let of = |(index, text): (usize, &String)| match ClusterPattern::parse(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                let spot = places.item(&["plan", name], index);
                findings.push(bad_pattern(text, &error).with_label(spot, ""));
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
                    let spot = places.spot(&["plan", name, text]);
                    findings.push(bad_pattern(text, &error).with_label(spot, ""));
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
