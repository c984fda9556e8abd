//! Keys that are almost one that selects an image, or names who signs it, where they would count nothing: another image would boot,
//! or an unsigned one, and nothing would say so. Looks at the values as they are written, so that it costs no evaluation.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use capi::providers::PROVIDERS;
use yaml_tree::place::Sources;
use yaml_tree::suggest::meant_key;
use yaml_tree::value::{Map, Node, Value};

use super::catalog;
use super::pools::{BUNDLE, CHOICE, ENV, IMAGE_NAME};
use super::report::{misspelling, signer_without_effect};
use crate::model::finding::{Finding, Subject};
use crate::model::signing::{KEY_NAMES, other_key_names};

/// The control plane endpoint in the words of an infrastructure cluster.
pub(super) const SPEC_KEY: &str = "controlPlaneEndpoint";

/// What a change of a value does that no chart reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnEffect {
    /// What the control plane endpoint says, which is compared as it is resolved; else nothing.
    Endpoint,
    /// Only what is made later has it.
    InPlace,
}

/// What is below `cluster` and read by metalmark alone; the first that leads to a value applies.
const OWN: [(&[&str], OwnEffect); 6] = [
    (&["control_plane_endpoint", "kube_vip"], OwnEffect::InPlace),
    (&["control_plane_endpoint"], OwnEffect::Endpoint),
    (&["infra_cluster", SPEC_KEY], OwnEffect::Endpoint),
    (&["install_image_key"], OwnEffect::InPlace),
    (&["inventory"], OwnEffect::Endpoint),
    (&["inventory_default"], OwnEffect::Endpoint),
];

/// What a change of a value below `cluster` does, if metalmark alone reads it.
pub fn own_effect(path: &[&str]) -> Option<OwnEffect> {
    let is_env =
        |keys: &[&str]| keys[1] == ENV && PROVIDERS.iter().any(|it| it.data().name == keys[0]);
    if path.windows(2).any(is_env) {
        return Some(OwnEffect::InPlace);
    }
    let mut own = OWN.iter();
    own.find_map(|(at, effect)| path.starts_with(at).then_some(*effect))
}

/// Further keys below `cluster` that decide which images boot.
const CLUSTER: &[&str] = &[
    "baremetal_host_default",
    "baremetal_hosts",
    "capi_providers",
    "cluster_pods_cidrs",
    "cluster_services_cidrs",
    "cluster_virtual_ip",
    "control_plane",
    "control_plane_replicas",
    "k8s_version",
    "machine_deployment_default",
    "machine_deployments",
    "os_image_selector_autoselect_registries",
];
/// Further keys at the root.
const ROOT: &[&str] = &[
    "cluster",
    "cluster_virtual_ip",
    "k8s_version_map",
    "k8s_version_short",
    "os_image_server_additional_selectors",
    "os_images_default_download_storage_space",
    "security",
];
const POOL: &[&str] = &["k8s_version"];
const REGISTRY: &[&str] = &[
    "url",
    "tag",
    "enabled",
    KEY_NAMES[0],
    KEY_NAMES[1],
    "signature",
];
/// Keys below `security.os_images`.
const SIGNING: &[&str] = &["cosign_public_key", "skip_signing_check"];
/// Keys of the infrastructure cluster's `spec`; the others are its provider's.
const INFRA_CLUSTER: &[&str] = &[SPEC_KEY];
const CAPI_PROVIDERS: &[&str] = &["bootstrap_provider", "infra_provider"];

/// The keys of the maps that are looked at. They are the same for every cluster.
static KEYS: LazyLock<Schema> = LazyLock::new(|| Schema {
    root: Keys::new(&[ROOT, &catalog::KEYS].concat(), &[]),
    cluster: {
        let own: BTreeSet<&str> = OWN.iter().map(|(path, _)| path[0]).collect();
        let all: Vec<&str> = CLUSTER.iter().copied().chain(own).collect();
        Keys::new(&all, &[])
    },
    capi_providers: Keys::new(CAPI_PROVIDERS, &[]),
    infra_cluster: Keys::new(INFRA_CLUSTER, &[]),
    pool: Keys::new(POOL, &[]),
    registry: Keys::new(REGISTRY, &[]),
    signing: Keys::new(SIGNING, &[]),
    providers: PROVIDERS
        .iter()
        .map(|provider| {
            let wanted = [CHOICE, BUNDLE, &[IMAGE_NAME]].concat();
            (
                provider.data().name,
                Keys::new(&wanted, provider.data().settings),
            )
        })
        .collect(),
});

struct Schema {
    root: Keys,
    cluster: Keys,
    capi_providers: Keys,
    infra_cluster: Keys,
    pool: Keys,
    registry: Keys,
    signing: Keys,
    /// By the provider's name.
    providers: Vec<(&'static str, Keys)>,
}

/// The findings for a cluster's values.
pub(in crate::read) fn spelling_findings(
    values: &Node,
    sources: &Sources,
    subject: &Subject,
) -> Vec<Finding> {
    let mut found = Slips {
        sources,
        subject,
        findings: Vec::new(),
    };
    let Value::Map(root) = &values.value else {
        return found.findings;
    };
    found.look(&[], root, &KEYS.root);
    if let Some(cluster) = child(root, "cluster") {
        found.cluster(cluster);
    }
    for entry in child(root, catalog::REGISTRIES)
        .into_iter()
        .flat_map(|map| map.iter())
    {
        if let Some(registry) = entry.node.value.as_map() {
            let path = [catalog::REGISTRIES, &entry.key];
            found.look(&path, registry, &KEYS.registry);
            found.look_for_signers(&path, registry);
        }
    }
    let signing = child(root, "security").and_then(|security| child(security, "os_images"));
    if let Some(signing) = signing {
        found.look(&["security", "os_images"], signing, &KEYS.signing);
    }
    found.findings
}

fn child<'n>(map: &'n Map, key: &str) -> Option<&'n Arc<Map>> {
    map.get(key)?.value.as_map()
}

struct Slips<'s> {
    sources: &'s Sources,
    subject: &'s Subject,
    findings: Vec<Finding>,
}

impl Slips<'_> {
    fn cluster(&mut self, cluster: &Map) {
        self.look(&["cluster"], cluster, &KEYS.cluster);
        if let Some(providers) = child(cluster, "capi_providers") {
            let path = ["cluster", "capi_providers"];
            self.look(&path, providers, &KEYS.capi_providers);
        }
        if let Some(spec) = child(cluster, "infra_cluster") {
            self.look(&["cluster", "infra_cluster"], spec, &KEYS.infra_cluster);
        }
        self.level(&["cluster"], cluster);
        for name in ["control_plane", "machine_deployment_default"] {
            if let Some(part) = child(cluster, name) {
                self.pool(&["cluster", name], part);
            }
        }
        let deployments = child(cluster, "machine_deployments");
        for entry in deployments.into_iter().flat_map(|map| map.iter()) {
            if let Some(part) = entry.node.value.as_map() {
                self.pool(&["cluster", "machine_deployments", &entry.key], part);
            }
        }
    }

    fn pool(&mut self, path: &[&str], pool: &Map) {
        self.look(path, pool, &KEYS.pool);
        self.level(path, pool);
    }

    /// The settings of each provider at a level.
    fn level(&mut self, path: &[&str], level: &Map) {
        for (name, keys) in &KEYS.providers {
            if let Some(settings) = child(level, name) {
                self.look(&[path, &[*name]].concat(), settings, keys);
            }
        }
    }

    /// Keys that are about a signature, and are not read.
    fn look_for_signers(&mut self, path: &[&str], map: &Map) {
        for entry in map {
            // A slip of one that is read is said already.
            if meant_key(&entry.key, &KEYS.registry.wanted).is_some() {
                continue;
            }
            for (key, place) in other_key_names(&entry.key, &entry.node) {
                let spot = self.sources.resolve(place);
                let finding = signer_without_effect(&path.join("."), &key, spot);
                self.findings
                    .push(finding.with_subject(self.subject.clone()));
            }
        }
    }

    /// Keys that are not known, and a slip away from one that is looked for.
    fn look(&mut self, path: &[&str], map: &Map, keys: &Keys) {
        for entry in map {
            let key = &*entry.key;
            if !keys.may_mean(key) || keys.other.contains(&key) {
                continue;
            }
            if let Some(meant) = meant_key(key, &keys.wanted) {
                let spot = self.sources.resolve(entry.key_place);
                let finding = misspelling(&path.join("."), key, meant, spot);
                self.findings
                    .push(finding.with_subject(self.subject.clone()));
            }
        }
    }
}

/// Whether a key is not the wanted one, and almost it.
pub(super) fn is_meant(key: &str, wanted: &str) -> bool {
    meant_key(key, &[wanted]).is_some()
}

/// The keys of a map: those that are looked for, and others that it may have.
struct Keys {
    wanted: Vec<&'static str>,
    other: &'static [&'static str],
    /// By the first letter of a wanted key, a bit for each length that a slip of it may have.
    first: [u64; 32],
    /// The same by the last letter.
    last: [u64; 32],
}

impl Keys {
    fn new(wanted: &[&'static str], other: &'static [&'static str]) -> Self {
        let (mut first, mut last) = ([0_u64; 32], [0_u64; 32]);
        for key in wanted.iter().map(|key| key.as_bytes()) {
            // As words without separators too: `controlPlaneEndpoint`.
            let separators = key.iter().filter(|byte| b"_-".contains(byte)).count();
            let least = (key.len() - separators.max(2).min(key.len())).min(59);
            let lengths = (1_u64 << (key.len().min(59) + 3)) - (1_u64 << least);
            first[letter(key.first())] |= lengths;
            last[letter(key.last())] |= lengths;
        }
        Self {
            wanted: wanted.to_vec(),
            other,
            first,
            last,
        }
    }

    /// Whether a key may be a slip away from a wanted one: nearly as long, with the same first or last letter. It is called for
    /// every key of every cluster, and most are far from all.
    fn may_mean(&self, key: &str) -> bool {
        let key = key.as_bytes();
        let lengths = self.first[letter(key.first())] | self.last[letter(key.last())];
        key.len() < 64 && lengths >> key.len() & 1 == 1
    }
}

fn letter(byte: Option<&u8>) -> usize {
    usize::from(byte.map_or(0, |byte| byte & 31))
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn a_key_is_near_one_that_is_nearly_as_long_and_begins_or_ends_alike() {
        let keys = Keys::new(&["image_key", "k8s_version"], &[]);
        for key in [
            "image_key",
            "imag_key",
            "mage_key",
            "image_keyes",
            "image_k",
            "k8s_versio",
            "k8sVersion",
        ] {
            assert!(keys.may_mean(key), "{key}");
        }
        let long = "k".repeat(99);
        for key in ["", "i", "image_key_of_it", "xmage_kex", "replicas", &long] {
            assert!(!keys.may_mean(key), "{key}");
        }
    }
}
