//! Node pools and the levels that they inherit their image from (docs/sylva.md#selection-levels).

use std::sync::Arc;

use capi::providers;
use yaml_tree::json::scalar_text;
use yaml_tree::merge::merge;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Entry, Map, Node, Number, Value};

use super::report::{Report, is_true, path_of};
use crate::evaluate::{Branch, BranchEntry};
use crate::model::cluster::{
    BundleChoice, Choice, ChoiceLevel, Cluster, KEY_NAMES, LevelName, Pool, PoolName,
};
use crate::model::selector::Selector;
use crate::read::installed::{find_installed, find_removable, find_unread};

/// What Sylva's charts call an image for several providers.
pub(super) const IMAGE_NAME: &str = "image_name";

/// The settings that select an image.
pub(super) const CHOICE: &[&str] = &[
    "image_key",
    "machine_image_checksum",
    "machine_image_checksum_type",
    "machine_image_format",
    "machine_image_url",
    "os_image_key",
    "os_image_selector",
];

/// Whether a setting selects an image.
pub fn is_choice(key: &str) -> bool {
    key == IMAGE_NAME || CHOICE.contains(&key)
}

/// Fills in the levels and the pools.
pub(super) fn pools(branch: &Branch, cluster: &mut Cluster, report: &mut Report<'_>) {
    let infra = cluster
        .infra_provider
        .as_ref()
        .map(|infra| Arc::clone(&infra.value));
    let mut levels = Levels {
        infra,
        found: Vec::new(),
    };
    let root = levels.read(LevelName::Cluster, Some(branch), report);
    cluster.unknown_values.append(&mut report.unknown);
    let is_unknown = !cluster.unknown_values.is_empty();
    report.pool(Some(PoolName::ControlPlane.to_string()));
    let own = part(branch, "control_plane", report);
    let level = levels.read(LevelName::ControlPlane, own.as_ref(), report);
    let settings = overlay(&root, &level);
    let shared = boot_settings(Some(branch));
    let boot = merge(&shared, &boot_settings(own.as_ref()));
    let mut pool = pool(PoolName::ControlPlane, Place::NONE, settings, &boot, report);
    pool.place = control_plane_place(branch, report);
    pool.replicas = replicas(branch, "control_plane_replicas", report);
    pool.k8s_version = own.and_then(|own| report.string(&own, "k8s_version"));
    if is_unknown || !report.unknown.is_empty() {
        pool.forget_image();
    }
    cluster.pools.push(pool);
    cluster.unknown_values.append(&mut report.unknown);
    report.pool(None);
    let default = part(branch, "machine_deployment_default", report);
    let level = levels.read(
        LevelName::MachineDeploymentDefault,
        default.as_ref(),
        report,
    );
    let inherited = Inherited {
        settings: overlay(&root, &level),
        boot: merge(&shared, &boot_settings(default.as_ref())),
    };
    let is_unknown = is_unknown || !report.unknown.is_empty();
    cluster.unknown_values.append(&mut report.unknown);
    for found in deployments(branch, report) {
        report.pool(Some(found.key.to_string()));
        let mut pool = deployment(&found, default.as_ref(), &inherited, &mut levels, report);
        if is_unknown || !report.unknown.is_empty() {
            pool.iter_mut().for_each(Pool::forget_image);
        }
        cluster.pools.extend(pool);
        cluster.unknown_values.append(&mut report.unknown);
    }
    report.pool(None);
    let provider = levels.infra.as_deref().and_then(providers::find);
    for pool in cluster
        .pools
        .iter_mut()
        .filter(|pool| pool.choice.name.is_some())
    {
        pool.choice.location =
            provider.and_then(|provider| provider.settings_location(&pool.settings));
    }
    cluster.levels = levels.found;
}

fn deployment(
    found: &BranchEntry,
    default: Option<&Branch>,
    inherited: &Inherited,
    levels: &mut Levels,
    report: &mut Report<'_>,
) -> Option<Pool> {
    let own = found.branch.shallow();
    let node = report.answer(own)?;
    let path = found.branch.path();
    match &node.value {
        Value::Map(_) => {}
        Value::Null => report.null(&path, found.key_place),
        _ => {
            report.wrong_type(&path, &node, "a map");
            return None;
        }
    }
    let name = LevelName::MachineDeployment(Arc::clone(&found.key));
    let level = levels.read(name, Some(&found.branch), report);
    let settings = overlay(&inherited.settings, &level);
    let boot = merge(&inherited.boot, &boot_settings(Some(&found.branch)));
    let own_or_default = |key: &str, report: &mut Report<'_>| {
        let own = report.answer(found.branch.child(key));
        match (own, default) {
            (Some(_), _) | (None, None) => found.branch.clone(),
            (None, Some(default)) => default.clone(),
        }
    };
    let counted = own_or_default("replicas", report);
    let versioned = own_or_default("k8s_version", report);
    let name = PoolName::MachineDeployment(Arc::clone(&found.key));
    let mut pool = pool(name, found.key_place, settings, &boot, report);
    pool.replicas = replicas(&counted, "replicas", report);
    pool.k8s_version = report.string(&versioned, "k8s_version");
    Some(pool)
}

/// A pool with what its settings, and those for its machines when they boot, say.
fn pool(
    name: PoolName,
    place: Place,
    settings: Node,
    boot: &Node,
    report: &mut Report<'_>,
) -> Pool {
    let mut own = |node: &Node, _| Some(node.place);
    Pool {
        choice: choice(&settings, report),
        bundle: bundle_choice(&settings, report),
        installed: find_installed(boot, "", &mut own),
        removable: find_removable(boot, &mut own),
        unread_boot: find_unread(boot, &mut own),
        settings,
        ..Pool::new(name, place)
    }
}

/// What machine deployments have of the levels below their own.
struct Inherited {
    settings: Node,
    /// What machines do when they boot.
    boot: Node,
}

/// What sylva-capi-cluster's chart passes to machines when they boot, at a level. What cannot be evaluated is nothing known.
fn boot_settings(level: Option<&Branch>) -> Node {
    let read = |key: &&str| {
        let branch = level?.child(key).ok()??;
        let node = branch.node().ok()??;
        Some(Entry::holding(*key, node))
    };
    let entries = [
        "additional_commands",
        "additional_files",
        "kubelet_extra_args",
    ];
    Node::from_value(entries.iter().filter_map(read).collect::<Map>())
}

/// The machine deployments. That there are none may be said by null (docs/sylva.md#selection-levels).
fn deployments(branch: &Branch, report: &mut Report<'_>) -> Vec<BranchEntry> {
    match report.answer(branch.child("machine_deployments")) {
        Some(all) if is_map("cluster.machine_deployments", &all, report) => {
            report.answer(all.entries()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A part of the cluster that must not be null (docs/sylva.md#selection-levels).
fn part(branch: &Branch, key: &str, report: &mut Report<'_>) -> Option<Branch> {
    let part = report.answer(branch.child(key))?;
    let node = report.answer(part.shallow())?;
    match &node.value {
        Value::Map(_) => return Some(part),
        Value::Null => report.null(&path_of(branch, key), node.place),
        _ => report.wrong_type(&path_of(branch, key), &node, "a map"),
    }
    None
}

/// Whether there is a map, or nothing by null; anything else is reported.
pub(super) fn is_map(path: &str, branch: &Branch, report: &mut Report<'_>) -> bool {
    let node = report.answer(branch.shallow());
    node.is_none_or(|node| report.expect_map(path, &node))
}

/// The levels read so far.
struct Levels {
    infra: Option<Arc<str>>,
    found: Vec<ChoiceLevel>,
}

impl Levels {
    /// The provider's settings at a level, evaluated as far as they are needed.
    fn read(&mut self, name: LevelName, part: Option<&Branch>, report: &mut Report<'_>) -> Node {
        let settings = part
            .zip(self.infra.as_ref())
            .and_then(|(part, infra)| settings(part, infra, report))
            .unwrap_or_else(|| Node::from_value(Value::empty_map()));
        let choice = choice(&settings, report);
        self.found.push(ChoiceLevel { name, choice });
        settings
    }
}

/// The settings that select an image and a component bundle, and those that the provider's machine templates take. Others are the
/// chart's own affair (networks, credentials) and are not even evaluated.
fn settings(holder: &Branch, infra: &str, report: &mut Report<'_>) -> Option<Node> {
    let branch = part(holder, infra, report)?;
    let entries = report.answer(branch.entries())?;
    let stamped =
        providers::find(infra).map_or(&[IMAGE_NAME][..], |provider| provider.data().settings);
    let mut kept = Vec::new();
    for entry in entries {
        let known = [CHOICE, BUNDLE, stamped];
        if !known.iter().any(|names| names.contains(&&*entry.key)) {
            continue;
        }
        if let Some(node) = report.answer(entry.branch.node()) {
            kept.push(Entry {
                key: entry.key,
                key_place: entry.key_place,
                node,
            });
        }
    }
    Some(Node::new(kept.into_iter().collect::<Map>(), branch.place()))
}

/// A level over the one below it: maps deeply, everything else replaced, by null too; `{}` keeps what is below
/// (docs/sylva.md#selection-levels). The two names of the image's key are one.
fn overlay(lower: &Node, upper: &Node) -> Node {
    let sets = |name: &str| upper.get_path(&[name]).is_some();
    let replaced = match (sets(KEY_NAMES[0]), sets(KEY_NAMES[1])) {
        (true, false) => Some(KEY_NAMES[1]),
        (false, true) => Some(KEY_NAMES[0]),
        _ => None,
    };
    match (replaced, &lower.value) {
        (Some(name), Value::Map(map)) if map.get(name).is_some() => {
            let mut map = Map::clone(map);
            map.remove(name);
            let lower = Node::new(map, lower.place);
            merge(&lower, upper)
        }
        _ => merge(lower, upper),
    }
}

/// What settings say of the image.
fn choice(settings: &Node, report: &mut Report<'_>) -> Choice {
    let Some(map) = settings.value.as_map() else {
        return Choice::default();
    };
    let mut text = |key: &str| {
        let node = map.get(key)?;
        match &node.value {
            Value::Bool(false) => None,
            _ => report.text_of(key, node),
        }
    };
    let filled = |text: Option<Located<Arc<str>>>| text.filter(|text| !text.value.is_empty());
    let [first, second] = KEY_NAMES.map(&mut text);
    let (key_name, key, other_key) = match (first, second) {
        (None, Some(key)) => (KEY_NAMES[1], Some(key), None),
        (first, second) => (KEY_NAMES[0], first, second),
    };
    let differs =
        |other: &Located<Arc<str>>| key.as_ref().is_some_and(|key| key.value != other.value);
    let other_key = other_key.filter(differs);
    let choice = Choice {
        key,
        key_name,
        other_key,
        name: filled(text("image_name")),
        url: filled(text("machine_image_url")),
        format: filled(text("machine_image_format")),
        checksum: filled(text("machine_image_checksum")),
        checksum_type: filled(text("machine_image_checksum_type")),
        ..Choice::default()
    };
    Choice {
        selector: selector(map, report),
        ..choice
    }
}

/// A selector; what templates see as false is none (docs/sylva.md#selection-levels).
fn selector(map: &Map, report: &mut Report<'_>) -> Option<Located<Selector>> {
    let node = map.get("os_image_selector")?;
    match &node.value {
        value if !is_true(value) => None,
        Value::Map(map) => {
            for entry in map.iter() {
                if let Value::Opaque(_) = entry.node.value {
                    let path = format!("os_image_selector.{}", entry.key);
                    report.wrong_type(&path, &entry.node, "a string");
                }
            }
            Some(Located::new(Selector::from_map(map), node.place))
        }
        _ => {
            report.wrong_type("os_image_selector", node, "a map");
            None
        }
    }
}

/// A number of nodes; expressions may print it as text.
fn replicas(holder: &Branch, key: &str, report: &mut Report<'_>) -> Option<Located<u32>> {
    let node = report.value(holder, key)?;
    let count = match &node.value {
        Value::Number(Number::Int(number)) => u32::try_from(*number).ok(),
        Value::Number(Number::Float(number)) => {
            let whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number);
            whole.then_some(*number as u32)
        }
        Value::String(text) => text.parse().ok(),
        // How many machines there are decides about no image.
        Value::Opaque(_) => return None,
        _ => None,
    };
    match count {
        Some(count) => Some(Located::new(count, node.place)),
        None => {
            report.wrong_type(&path_of(holder, key), &node, "a number of nodes");
            None
        }
    }
}

/// Where the control plane is named: its own map, else what it is counted by.
fn control_plane_place(branch: &Branch, report: &mut Report<'_>) -> Place {
    let entries = report.answer(branch.entries()).unwrap_or_default();
    let key = |name: &str| {
        entries
            .iter()
            .find(|entry| &*entry.key == name)
            .map(|entry| entry.key_place)
    };
    key("control_plane")
        .or_else(|| key("control_plane_replicas"))
        .unwrap_or(branch.place())
}

/// The bundle's key: our name, and the proposal's, whose value is a reference.
const KEYS: [&str; 2] = ["component_bundle_key", "componentsBundle"];
const SELECTOR: &str = "component_bundle_selector";
pub(super) const ENV: &str = "component_bundle_env";

/// The settings that choose a component bundle.
pub const BUNDLE: &[&str] = &[ENV, KEYS[0], SELECTOR, KEYS[1]];

/// What a pool's settings, merged, say of its bundle.
fn bundle_choice(settings: &Node, report: &mut Report<'_>) -> BundleChoice {
    let Some(map) = settings.value.as_map() else {
        return BundleChoice::default();
    };
    let mut text = |key: &str| match map.get(key)? {
        node if node.value == Value::Bool(false) => None,
        node => report.text_of(key, node),
    };
    let [key, reference] = KEYS.map(&mut text);
    let said = { [&key, &reference] }.map(|it| it.as_ref().filter(|it| !it.value.is_empty()));
    if let [Some(key), Some(reference)] = said
        && key.value != reference.value
    {
        report.second_key(KEYS[1], reference.place, KEYS[0]);
    }
    BundleChoice {
        key: key.or(reference),
        selector: inner(map, SELECTOR, report)
            .map(|(map, place)| Located::new(Selector::from_map(&map), place)),
        env: env(map, report),
    }
}

/// A map below the settings; none for nothing, null or `false`.
fn inner(
    map: &Map,
    key: &str,
    report: &mut Report<'_>,
) -> Option<(Arc<Map>, yaml_tree::place::Place)> {
    let node = map.get(key)?;
    match &node.value {
        Value::Map(inner) => Some((Arc::clone(inner), node.place)),
        Value::Null | Value::Bool(false) => None,
        _ => {
            report.wrong_type(key, node, "a map");
            None
        }
    }
}

/// Variables by name; numbers and booleans are taken as they read, as every variable is a text in the end.
fn env(map: &Map, report: &mut Report<'_>) -> Vec<(Arc<str>, Located<Arc<str>>)> {
    let Some((map, _)) = inner(map, ENV, report) else {
        return Vec::new();
    };
    let mut variables = Vec::new();
    for entry in map.iter() {
        let text = scalar_text(&entry.node.value);
        match text.or_else(|| entry.node.value.text_with_labels().cloned()) {
            Some(text) => {
                variables.push((Arc::clone(&entry.key), Located::new(text, entry.node.place)));
            }
            None => report.wrong_type(&format!("{ENV}.{}", entry.key), &entry.node, "a string"),
        }
    }
    variables
}
