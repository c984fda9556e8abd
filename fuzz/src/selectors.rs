//! A selector, the images that it may match and a cluster's facts, as one map in YAML.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Images, Origin};
use capi::labels::LabelSelector;
use metalmark::decide::matching::{self, ClusterFacts, PatternCache, Selectable};
use metalmark::model::cluster::Choice;
use metalmark::model::selection::Outcome;
use metalmark::model::selector::{Library, Matching};
use metalmark::model::selector::{Selector, Term, Wanted};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Located, Place};
use yaml_tree::value::{Node, Value};

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let Ok(root) = yaml_tree::values(text, FileId(0), Engine::Helm3) else {
        return false;
    };
    labels(&root);
    let images = Selectable::new(Arc::new(images(&root)));
    let selector = selector(root.get_path(&["selector"]));
    let word = |key: &str| {
        root.get_path(&["cluster", key])
            .and_then(|node| node.value.as_str())
    };
    let cluster = ClusterFacts {
        k8s_version: word("k8s_version").map(|text| &**text),
        bootstrap_provider: word("bootstrap_provider").map(|text| &**text),
        autoselect_registries: word("autoselect_registries").map(|text| &**text),
        library: Library::default(),
    };
    let cache = PatternCache::default();
    let choice = Choice {
        selector: Some(Located::new(selector.clone(), Place::NONE)),
        ..Choice::default()
    };
    let mut is_selected = false;
    for mode in [Matching::Exact, Matching::Normalized] {
        let selection = matching::select(&choice, &cluster, &images, mode, &cache);
        // What was found before makes no difference.
        let again = Selectable::new(images.images());
        let other = matching::select(&choice, &cluster, &again, mode, &cache);
        assert_eq!(selection.outcome, other.outcome);
        if let Outcome::Image(key) = &selection.outcome {
            assert!(images.contains_key(key), "{key}");
            is_selected = true;
        }
        if let Ok(keys) = matching::matching(&selector, cluster.library, &images, mode, &cache) {
            assert!(keys.iter().all(|key| images.contains_key(key)));
        }
        let told = matching::candidates(&selector, &images, mode, &cache);
        assert_eq!(told.len(), images.len());
    }
    is_selected
}

/// A label selector, and labels that it may match.
fn labels(root: &Node) {
    let Some(selector) = root.get_path(&["labels"]).and_then(LabelSelector::read) else {
        return;
    };
    assert!(selector.is_within(&selector));
    let labels = texts(root.get_path(&["of"])).collect();
    let found = selector.matches(&labels);
    assert!(found || !selector.is_empty());
}

fn texts(node: Option<&Node>) -> impl Iterator<Item = (Arc<str>, Arc<str>)> {
    let map = node.and_then(|node| node.value.as_map());
    let entries = map.map(|map| map.iter()).into_iter().flatten();
    entries.filter_map(|entry| {
        Some((
            Arc::clone(&entry.key),
            Arc::clone(entry.node.value.as_str()?),
        ))
    })
}

fn images(root: &Node) -> Images {
    let map = root
        .get_path(&["images"])
        .and_then(|node| node.value.as_map());
    let entries = map.map(|map| map.iter()).into_iter().flatten();
    let image = |key: &Arc<str>, node: &Node| {
        let mut facts = Facts::default();
        let said: BTreeMap<_, _> = texts(Some(node)).collect();
        for (name, value) in said {
            let origin = if name.len() % 2 == 0 {
                Origin::InfoFile
            } else {
                Origin::Name
            };
            facts.learn(
                &name,
                Fact {
                    value,
                    origin,
                    place: Place::NONE,
                },
            );
        }
        Image {
            key: Arc::clone(key),
            name: Arc::clone(key),
            artifact: Arc::clone(key),
            place: Place::NONE,
            uri: None,
            digest: None,
            pulled: None,
            facts,
            enabled: None,
            built: true,
            list: "os_images",
            registry: None,
        }
    };
    entries
        .map(|entry| (Arc::clone(&entry.key), image(&entry.key, &entry.node)))
        .collect()
}

fn selector(node: Option<&Node>) -> Selector {
    let map = node.and_then(|node| node.value.as_map());
    let entries = map.map(|map| map.iter()).into_iter().flatten();
    let term = |fact: &Arc<str>, value: &Value| Term {
        fact: Arc::clone(fact),
        wanted: match value {
            Value::String(text) => Wanted::Pattern(Arc::clone(text)),
            Value::Bool(flag) => Wanted::Bool(*flag),
            other => Wanted::Invalid(other.kind()),
        },
        place: Place::NONE,
        key_place: Place::NONE,
    };
    Selector {
        terms: entries
            .map(|entry| term(&entry.key, &entry.node.value))
            .collect(),
    }
}
