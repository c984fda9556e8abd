//! Keys that are almost one that selects an image, where they would count nothing: another image would boot, and nothing would
//! say so. Looks at the values as they are written, so that it costs no evaluation.

use std::sync::Arc;

use super::catalog;
use super::pools::CHOICE;
use crate::model::finding::{Finding, Subject};
use crate::model::place::Sources;
use crate::model::rule::RuleId;
use crate::model::suggest::only_meant;
use crate::model::value::{Map, Node, Value};
use crate::providers::PROVIDERS;

/// Keys below `cluster` that decide which images boot.
const CLUSTER: [&str; 6] = [
    "capi_providers",
    "control_plane",
    "k8s_version",
    "machine_deployment_default",
    "machine_deployments",
    "os_image_selector_autoselect_registries",
];
/// Further keys at the root.
const ROOT: [&str; 3] = [
    "cluster",
    "os_image_server_additional_selectors",
    "os_images_default_download_storage_space",
];
const POOL: [&str; 1] = ["k8s_version"];
const CAPI_PROVIDERS: [&str; 2] = ["bootstrap_provider", "infra_provider"];

/// The findings for a cluster's values.
pub(super) fn misspelled(values: &Node, sources: &Sources, subject: &Subject) -> Vec<Finding> {
    let mut found = Slips {
        sources,
        subject,
        findings: Vec::new(),
    };
    let Value::Map(root) = &values.value else {
        return found.findings;
    };
    let known = [&ROOT[..], &catalog::KEYS].concat();
    found.look("", root, &known);
    if let Some(cluster) = below(root, "cluster") {
        found.cluster(cluster);
    }
    found.findings
}

fn below<'n>(map: &'n Map, key: &str) -> Option<&'n Arc<Map>> {
    map.get(key)?.value.as_map()
}

struct Slips<'s> {
    sources: &'s Sources,
    subject: &'s Subject,
    findings: Vec<Finding>,
}

impl Slips<'_> {
    fn cluster(&mut self, cluster: &Map) {
        self.look("cluster.", cluster, &CLUSTER);
        if let Some(providers) = below(cluster, "capi_providers") {
            self.look("cluster.capi_providers.", providers, &CAPI_PROVIDERS);
        }
        self.level("cluster.", cluster);
        for name in ["control_plane", "machine_deployment_default"] {
            if let Some(part) = below(cluster, name) {
                self.pool(&format!("cluster.{name}."), part);
            }
        }
        for entry in below(cluster, "machine_deployments")
            .into_iter()
            .flat_map(|map| map.iter())
        {
            if let Some(part) = entry.node.value.as_map() {
                self.pool(&format!("cluster.machine_deployments.{}.", entry.key), part);
            }
        }
    }

    fn pool(&mut self, path: &str, pool: &Map) {
        self.look(path, pool, &POOL);
        self.level(path, pool);
    }

    /// The settings of each provider at a level.
    fn level(&mut self, path: &str, level: &Map) {
        for provider in PROVIDERS {
            let name = provider.name();
            if let Some(settings) = below(level, name) {
                let wanted = [CHOICE, &["image_name"]].concat();
                let known = [&wanted, provider.settings()].concat();
                self.look_for(&format!("{path}{name}."), settings, &wanted, &known);
            }
        }
    }

    fn look(&mut self, path: &str, map: &Map, known: &[&str]) {
        self.look_for(path, map, known, known);
    }

    /// Keys that are not known, and a slip away from one that is looked for.
    fn look_for(&mut self, path: &str, map: &Map, wanted: &[&str], known: &[&str]) {
        let may_mean = near(wanted);
        for entry in map {
            let key = &*entry.key;
            if !may_mean(key) || known.contains(&key) {
                continue;
            }
            if let Some(meant) = only_meant(key, wanted.iter().copied()) {
                let message =
                    format!("`{path}{key}` counts nothing, and is almost `{path}{meant}`");
                let finding =
                    Finding::new(RuleId::KeyMisspelled, message).about(self.subject.clone());
                self.findings.push(
                    finding
                        .at(self.sources.resolve(entry.key_place), "this key")
                        .help(format!("write `{meant}`")),
                );
            }
        }
    }
}

/// Whether a key may be a slip away from one of these: nearly as long, with the same first or last letter. It is called for
/// every key of every cluster, and most are far from all.
fn near(wanted: &[&str]) -> impl Fn(&str) -> bool {
    let letter = |byte: Option<&u8>| usize::from(byte.map_or(0, |byte| byte & 31));
    // By letter, a bit for each length.
    let (mut first, mut last) = ([0_u64; 32], [0_u64; 32]);
    for key in wanted.iter().map(|key| key.as_bytes()) {
        let lengths = 0b11111_u64 << key.len().clamp(2, 59) >> 2;
        first[letter(key.first())] |= lengths;
        last[letter(key.last())] |= lengths;
    }
    move |key| {
        let key = key.as_bytes();
        let lengths = first[letter(key.first())] | last[letter(key.last())];
        key.len() < 64 && lengths >> key.len() & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_key_is_near_one_that_is_nearly_as_long_and_begins_or_ends_alike() {
        let may_mean = near(&["image_key", "k8s_version"]);
        for key in [
            "image_key",
            "imag_key",
            "mage_key",
            "image_keyes",
            "image_k",
            "k8s_versio",
        ] {
            assert!(may_mean(key), "{key}");
        }
        let long = "k".repeat(99);
        for key in ["", "i", "image_key_of_it", "xmage_kex", "replicas", &long] {
            assert!(!may_mean(key), "{key}");
        }
    }
}
