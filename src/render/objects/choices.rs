//! The selected images of a cluster, as values that override the user's own.
//!
//! Sylva's schema requires exactly one of `image_key`, `machine_image_url` and `os_image_selector` at `cluster.<infra>`
//! (docs/sylva.md#selection-levels), and `null` over an earlier layer does not remove a key
//! (docs/sylva.md#values-and-their-order): the schema counts it as present. So a later layer cannot change the spelling of a
//! level. [`Style::Auto`] therefore keeps the spelling of each level:
//!
//! * `image_key` stays `image_key`, with the key of the catalog;
//! * `os_image_selector` gets the term `_os_images_key_`, which narrows it to the selected image by either of the keys that
//!   sylva-units may give it, and the image's own `k8s-version` if only the normalized matching finds it, so that Sylva's library
//!   selects the same image;
//! * the proposal's `os_image_key` and `machine_image_url` become `machine_image_url`, `_format`, `_checksum` and
//!   `_checksum_type`.
//!
//! [`Style::Url`] and [`Style::Key`] write one spelling everywhere and `null` for the level's other one. They are for charts
//! without that rule, and for values whose selection is in the chart's defaults, where `null` does remove it.

use std::sync::Arc;

use capi::image::{Image, ImageKey, Origin, fact};
use capi::providers::Stamp;
use go_template::regexp::quote_meta;
use yaml_tree::place::Located;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::decide::matching::IMAGE_KEY;
use crate::model::cluster::{Choice, LevelName, Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;

use super::info;

/// How a selected image is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// In the spelling of the level itself.
    Auto,
    /// `machine_image_url` and related fields.
    Url,
    /// `image_key`.
    Key,
}

/// Where the chart expects the values of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Below `cluster`, as in sylva-units.
    Cluster,
    /// At the top, as in sylva-capi-cluster.
    Top,
}

/// The values for a chart: the selected images, and the facts under `os_images`.
///
/// sylva-units adds its own catalog to `os_images`: an entry in both becomes a duplicate key in its list of images, which is
/// invalid YAML. So only the user's own entries are written there, and only complete ones, because the chart fails on an entry
/// without file name and checksum.
pub fn values(
    view: &ClusterView,
    stamps: &[Option<Stamp>],
    style: Style,
    root: Root,
    findings: &mut Vec<Finding>,
) -> Map {
    let mut values = overlay(view, stamps, style, root);
    let served = view.served.iter().filter_map(|key| view.images.get(key));
    let images = info::os_images(served.filter(|image| root.takes(image)), findings);
    if root == Root::Top || !images.is_empty() {
        values.insert(Entry::from_value("os_images", images));
    }
    values
}

impl Root {
    /// The root of a chart by its name or path.
    pub fn from_chart(chart: &str) -> Self {
        if chart.trim_end_matches('/').ends_with("sylva-units") {
            Self::Cluster
        } else {
            Self::Top
        }
    }

    /// Whether the chart accepts an image's facts under `os_images`.
    pub fn takes(self, image: &Image) -> bool {
        let has = |name: &str| image.facts.text(name).is_some();
        let is_whole = || has(fact::FILENAME) && (has(fact::SHA256) || has(fact::MD5));
        self == Self::Top || (!image.built && is_whole())
    }
}

/// The values for the levels that select an image, with the selected image.
pub fn overlay(view: &ClusterView, stamps: &[Option<Stamp>], style: Style, root: Root) -> Map {
    let infra = view.cluster.infra_provider.as_ref();
    let infra = infra.map_or("capm3", |infra| &*infra.value);
    let mut values = Node::from_value(Map::default());
    for (level, index) in levels_to_write(view, stamps) {
        let Some(stamp) = &stamps[index] else {
            continue;
        };
        let path = level.path(infra);
        let path = match root {
            Root::Cluster => &path[..],
            Root::Top => &path[1..],
        };
        let chosen = fields(view, &level, index, stamp, style, root);
        let map = values.map_mut(path);
        for entry in &chosen {
            map.insert(entry.clone());
        }
    }
    std::mem::take(values.map_mut(&[]))
}

/// The levels to write at, each with the index of a pool: the nearest level that selects the pool's image, and the pool's own
/// level if pools that share a level got different images (because of their own versions).
fn levels_to_write(view: &ClusterView, stamps: &[Option<Stamp>]) -> Vec<(LevelName, usize)> {
    let mut chosen: Vec<(LevelName, usize)> = Vec::new();
    for (index, pool) in view.cluster.pools.iter().enumerate() {
        if stamps.get(index).is_none_or(Option::is_none) {
            continue;
        }
        let own = own_level(pool);
        let nearest = nearest_level(view, pool).unwrap_or_else(|| own.clone());
        match chosen.iter().find(|(level, _)| *level == nearest) {
            Some((_, first)) if stamps[*first] == stamps[index] => {}
            Some(_) => chosen.push((own, index)),
            None => chosen.push((nearest, index)),
        }
    }
    chosen.sort();
    chosen
}

fn own_level(pool: &Pool) -> LevelName {
    match &pool.name {
        PoolName::ControlPlane => LevelName::ControlPlane,
        PoolName::MachineDeployment(name) => LevelName::MachineDeployment(Arc::clone(name)),
    }
}

fn nearest_level(view: &ClusterView, pool: &Pool) -> Option<LevelName> {
    let own = own_level(pool);
    let between = (own != LevelName::ControlPlane).then_some(LevelName::MachineDeploymentDefault);
    [Some(own), between, Some(LevelName::Cluster)]
        .into_iter()
        .flatten()
        .find(|name| level_choice(view, name).is_some_and(Choice::is_made))
}

fn level_choice<'a>(view: &'a ClusterView, name: &LevelName) -> Option<&'a Choice> {
    let level = view.cluster.levels.iter().find(|level| level.name == *name);
    level.map(|level| &level.choice)
}

/// The fields for one level.
fn fields(
    view: &ClusterView,
    level: &LevelName,
    index: usize,
    stamp: &Stamp,
    style: Style,
    root: Root,
) -> Map {
    let pool = &view.cluster.pools[index];
    let choice = level_choice(view, level)
        .filter(|choice| choice.is_made())
        .unwrap_or(&pool.choice);
    let Some(key) = &stamp.key else {
        return machine_image(stamp);
    };
    let gathered = chart_key(view, key, root);
    let is_gathered = |written: &&Located<ImageKey>| Some(&*written.value) == gathered.as_deref();
    let name = match choice.key.as_ref().filter(is_gathered) {
        Some(written) => &written.value,
        None => view.catalog_name(key),
    };
    // Only Metal3's settings have `machine_image_url`.
    let infra = view.cluster.infra_provider.as_ref();
    let takes_url = infra.is_none_or(|infra| &*infra.value == "capm3");
    let style = match style {
        Style::Url if !takes_url => Style::Key,
        style => style,
    };
    match style {
        Style::Auto if choice.selector.is_some() => {
            let pin = pin(view, index, key, gathered.as_deref());
            let pin = Entry::from_value("os_image_selector", pin);
            Map::from_iter([pin])
        }
        Style::Auto if choice.key.is_some() && !is_proposals_key(pool) || !takes_url => {
            Map::from_iter([Entry::from_value("image_key", name)])
        }
        Style::Auto => machine_image(stamp),
        Style::Url => with_nulls(machine_image(stamp), choice, pool),
        Style::Key => {
            let key = Entry::from_value("image_key", name);
            with_nulls(Map::from_iter([key]), choice, pool)
        }
    }
}

/// `machine_image_url`, `_format`, `_checksum`, `_checksum_type`.
fn machine_image(stamp: &Stamp) -> Map {
    let checksum = stamp.checksum.as_ref().filter(|_| !stamp.is_oci());
    [
        ("machine_image_url", Some(&stamp.url)),
        ("machine_image_format", stamp.format.as_ref()),
        ("machine_image_checksum", checksum),
        (
            "machine_image_checksum_type",
            stamp.checksum_type.as_ref().filter(|_| checksum.is_some()),
        ),
    ]
    .into_iter()
    .filter_map(|(key, text)| Some(Entry::from_value(key, Value::String(Arc::clone(text?)))))
    .collect()
}

/// Adds `null` for the fields of the level's other spelling.
fn with_nulls(mut fields: Map, choice: &Choice, pool: &Pool) -> Map {
    let key = if is_proposals_key(pool) {
        "os_image_key"
    } else {
        "image_key"
    };
    let written = [
        (key, choice.key.is_some()),
        ("os_image_selector", choice.selector.is_some()),
        ("machine_image_url", choice.url.is_some()),
        ("machine_image_format", choice.format.is_some()),
        ("machine_image_checksum", choice.checksum.is_some()),
        (
            "machine_image_checksum_type",
            choice.checksum_type.is_some(),
        ),
    ];
    for (name, _) in written.into_iter().filter(|(_, is_written)| *is_written) {
        if fields.get(name).is_none() {
            fields.insert(Entry::from_value(name, Value::Null));
        }
    }
    fields
}

/// What sylva-units may call an image of its own catalog: from Sylva 1.6 it does (docs/sylva.md#the-catalog). The other chart has the
/// images that are written here.
fn chart_key(view: &ClusterView, key: &str, root: Root) -> Option<String> {
    let image = view.images.get(key).filter(|_| root == Root::Cluster)?;
    image.chart_key()
}

/// The terms that narrow a selector to one image (docs/sylva.md#what-is-added-to-a-selector: existing terms are not replaced).
fn pin(view: &ClusterView, index: usize, key: &str, gathered: Option<&str>) -> Map {
    let name = view.catalog_name(key);
    let registry = gathered.and_then(|gathered| gathered.strip_suffix(name));
    let pattern = match registry {
        Some(registry) => format!("({})?{}", quote_meta(registry), quote_meta(name)),
        None => quote_meta(name),
    };
    let mut terms = Map::from_iter([Entry::from_value(IMAGE_KEY, pattern)]);
    let exact_differs = view
        .selections
        .get(index)
        .is_some_and(|selection| selection.other_mode.is_some());
    if exact_differs {
        let image = view.images.get(key);
        let version = image.and_then(|image| image.facts.get(fact::K8S_VERSION));
        // The library compares what the artifact says, which a name does not know.
        if version.is_none_or(|version| version.origin > Origin::Name) {
            // `.*` also matches an image without the fact (a missing fact is the text `//unset`, docs/sylva.md#patterns).
            let pattern = version.map_or_else(|| ".*".to_owned(), |it| quote_meta(&it.value));
            terms.insert(Entry::from_value(fact::K8S_VERSION, pattern));
        }
    }
    terms
}

/// Whether the pool's key has the proposal's spelling, which is not in Sylva's schema.
fn is_proposals_key(pool: &Pool) -> bool {
    let is_set = |key| {
        pool.settings
            .get_path(&[key])
            .is_some_and(|node| !node.value.is_null())
    };
    is_set("os_image_key") && !is_set("image_key")
}
