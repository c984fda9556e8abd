//! Clusters built by hand, for tests of what stands behind the readers.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use capi::schema::Schemas;
use metalmark::model::cluster::{Choice, ChoiceLevel, Cluster, LevelName, Pool, PoolName};
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::finding::Finding;
use metalmark::model::lock::Locking;
use metalmark::model::manifest::ManifestFile;
use metalmark::model::policy::Policy;
use metalmark::model::selection::{Outcome, Selection};
use metalmark::model::selector::Matching;
use metalmark::model::selector::{Selector, Term, Wanted};
use metalmark::model::served_images::ServedImages;
use metalmark::model::settings::{ChecksumStyle, ImageSettings, Output, Settings};
use metalmark::render::Renderer;
use yaml_tree::place::{Located, Place, Sources};
use yaml_tree::value::{Entry, Map, Node, Number, Value};

/// A text that stands in no file.
pub(super) fn text(value: &str) -> Option<Located<Arc<str>>> {
    Some(Located::new(value.into(), Place::NONE))
}

/// A tree out of JSON.
pub(super) fn tree(json: &serde_json::Value) -> Node {
    Node::from_value(match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => {
            Value::Number(Number::Float(number.as_f64().expect("a JSON number")))
        }
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => Value::from(items.iter().map(tree).collect::<Vec<_>>()),
        serde_json::Value::Object(entries) => Value::from(
            entries
                .iter()
                .map(|(key, value)| Entry::holding(key.as_str(), tree(value)))
                .collect::<Map>(),
        ),
    })
}

/// An image with facts as an info file gives them.
pub(super) fn image(key: &str, facts: &[(&str, &str)]) -> Image {
    let mut known = Facts::default();
    for (name, value) in facts {
        known.learn(
            name,
            Fact {
                value: (*value).into(),
                origin: Origin::InfoFile,
                place: Place::NONE,
            },
        );
    }
    Image {
        key: key.into(),
        artifact: key.into(),
        place: Place::NONE,
        uri: text(&format!("oci://registry.example.org/images/{key}:0.4.12")),
        digest: None,
        facts: known,
        enabled: None,
        built: true,
        list: "os_images",
        registry: Some("sylva".into()),
    }
}

/// The two images that the tests use: `plain` is raw with a sha256, `hard` is qcow2.
pub(super) fn images() -> Images {
    let plain = image(
        "plain",
        &[
            (fact::FILENAME, "plain-0.4.12.raw"),
            (fact::IMAGE_FORMAT, "raw"),
            (fact::SHA256, &"a1".repeat(32)),
            (fact::K8S_VERSION, "1.31.8+rke2r1"),
            (fact::HARDENED, "false"),
        ],
    );
    let hard = image(
        "hard",
        &[
            (fact::IMAGE_FORMAT, "qcow2"),
            (fact::SHA256, &"b2".repeat(32)),
            (fact::K8S_VERSION, "1.31.8-rke2r1"),
        ],
    );
    [plain, hard]
        .map(|image| (Arc::clone(&image.key), image))
        .into()
}

/// A choice by key.
pub(super) fn key(key: &str) -> Choice {
    Choice {
        key: text(key),
        ..Choice::default()
    }
}

/// A choice by a selector of one term.
pub(super) fn selector(fact: &str, pattern: &str) -> Choice {
    let term = Term {
        fact: fact.into(),
        wanted: Wanted::Pattern(pattern.into()),
        place: Place::NONE,
        key_place: Place::NONE,
    };
    Choice {
        selector: Some(Located::new(Selector { terms: vec![term] }, Place::NONE)),
        ..Choice::default()
    }
}

/// A choice by URL.
pub(super) fn url(url: &str) -> Choice {
    Choice {
        url: text(url),
        format: text("qcow2"),
        checksum: text("c3"),
        checksum_type: text("sha256"),
        ..Choice::default()
    }
}

/// A cluster of the given name in a namespace of the same name, without pools.
pub(super) fn cluster(name: &str) -> ClusterView {
    ClusterView {
        cluster: Cluster {
            origin: metalmark::model::cluster::ClusterOrigin::Values,
            name: name.into(),
            object_name: name.into(),
            labels: Default::default(),
            namespace: name.into(),
            k8s_version: text("v1.31.8+rke2r1"),
            infra_provider: text("capm3"),
            bootstrap_provider: text("cabpr"),
            levels: Vec::new(),
            pools: Vec::new(),
            additional_selectors: Vec::new(),
            autoselect_registries: None,
            library: Default::default(),
            k8s_minor: None,
            default_storage: None,
            endpoint: None,
        },
        images: Arc::new(images()),
        bundles: Arc::default(),
        selections: Vec::new(),
        bundle_outcomes: Vec::new(),
        registries: Arc::default(),
        served: vec!["hard".into(), "plain".into()],
        lock: None,
        signing: Default::default(),
        signed: Default::default(),
        sources: Sources::default(),
        findings: Vec::new(),
    }
}

/// Adds what a level wrote.
pub(super) fn level(view: &mut ClusterView, name: LevelName, choice: Choice) {
    view.cluster.levels.push(ChoiceLevel { name, choice });
}

/// Adds a pool that came to an image (or to its own URL, for no key). No name means the control plane.
pub(super) fn pool(
    view: &mut ClusterView,
    name: Option<&str>,
    (choice, image): (Choice, Option<&str>),
    settings: &serde_json::Value,
) {
    let name = name.map_or(PoolName::ControlPlane, |name| {
        PoolName::MachineDeployment(name.into())
    });
    let outcome = image.map_or(Outcome::Explicit(None), |key| Outcome::Image(key.into()));
    view.cluster.pools.push(Pool {
        name,
        choice,
        bundle: Default::default(),
        place: Place::NONE,
        replicas: None,
        k8s_version: None,
        bootstrap_provider: None,
        settings: tree(settings),
        template: None,
        unknown: None,
    });
    view.selections.push(Selection {
        finalized: Selector::default(),
        candidates: Vec::new(),
        outcome,
        other_mode: None,
    });
}

/// One output of a target, its options as JSON.
pub(super) fn output(target: &str, path: &str, options: &serde_json::Value) -> Output {
    let entries = options.as_object().expect("options are a map");
    Output {
        target: target.to_owned(),
        path: path.to_owned(),
        options: entries
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<BTreeMap<_, _>>(),
        spot: None,
    }
}

/// Settings with an image server that serves by file name.
pub(super) fn settings(outputs: Vec<Output>) -> Settings {
    Settings {
        root: ".".into(),
        images: ImageSettings {
            url: "https://images.example.org/{{ image.key }}/{{ image.filename }}".to_owned(),
            url_spot: None,
            checksum: ChecksumStyle::Literal,
            serve_all: false,
        },
        outputs,
        policy: Policy::default(),
        matching: Matching::Normalized,
        locking: Locking::Loose,
        registries: Default::default(),
        releases: None,
        waves: Default::default(),
    }
}

/// Everything that a run would write, and what it found.
pub(super) fn rendered(
    settings: &Settings,
    views: &[ClusterView],
    schemas: Option<&Schemas>,
) -> (Vec<ManifestFile>, Vec<Finding>) {
    let mut findings = Vec::new();
    let renderer = Renderer::new(settings, &BTreeMap::new(), schemas, &mut findings);
    let mut files = Vec::new();
    for view in views {
        files.extend(renderer.cluster(view, &mut findings));
    }
    let names: Vec<Arc<str>> = views.iter().map(|view| view.cluster.name.clone()).collect();
    let served = ServedImages {
        images: Arc::new(images()),
        ..ServedImages::default()
    };
    files.extend(renderer.render_shared(&served, &names, &mut findings));
    (files, findings)
}

/// The text of one file of a target's output; no finding may stand.
pub(super) fn file(
    target: &str,
    options: &serde_json::Value,
    view: &ClusterView,
    path: &str,
) -> String {
    let settings = settings(vec![output(target, "out", options)]);
    let (files, findings) = rendered(&settings, std::slice::from_ref(view), None);
    assert!(findings.is_empty(), "{findings:?}");
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let found = files.iter().find(|file| file.path == format!("out/{path}"));
    found
        .unwrap_or_else(|| panic!("{path} not in {paths:?}"))
        .text
        .clone()
}
