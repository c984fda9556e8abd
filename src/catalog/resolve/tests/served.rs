//! Which images are served (docs/sylva.md#the-image-server, #the-catalog).

use std::sync::Arc;

use yaml_tree::place::{Located, Place, Sources};

use super::{built, catalog, own, place, resolved};

use crate::catalog::resolve::{Catalogs, cluster as view};
use crate::catalog::sources::ImageFacts;
use crate::decide::matching::PatternCache;
use crate::decide::selected::images_to_serve;
use crate::model::catalog::CatalogEntry;
use crate::model::cluster::Cluster;
use crate::model::cluster_view::ClusterRead;
use crate::model::lock::Locking;
use crate::model::policy::Policy;
use crate::model::selection::{Outcome, Selection};
use crate::model::selector::Matching;
use crate::model::selector::{Selector, Term, Wanted as Value};
use crate::model::settings::{ChecksumStyle, ImageSettings, Settings};
use crate::model::wave_settings::WaveSettings;

fn cluster(additional: &[(&str, &str)]) -> Cluster {
    let term = |(name, pattern): &(&str, &str)| Term {
        fact: (*name).into(),
        wanted: Value::Pattern((*pattern).into()),
        place: Place::NONE,
        key_place: Place::NONE,
    };
    let selector = |pair| Selector {
        terms: vec![term(pair)],
    };
    Cluster {
        origin: crate::model::cluster::ClusterOrigin::Values,
        name: "c".into(),
        object_name: "c".into(),
        labels: Default::default(),
        namespace: "c".into(),
        k8s_version: None,
        infra_provider: None,
        bootstrap_provider: None,
        levels: Vec::new(),
        pools: Vec::new(),
        additional_selectors: additional
            .iter()
            .map(|pair| ("x".into(), selector(pair)))
            .collect(),
        autoselect_registries: None,
        library: Default::default(),
        k8s_minor: None,
        default_storage: None,
        endpoint: None,
    }
}

fn served_keys(
    entries: Vec<CatalogEntry>,
    chosen: &str,
    additional: &[(&str, &str)],
) -> Vec<String> {
    let resolved = resolved(&catalog(entries));
    let selection = Selection {
        finalized: Selector::default(),
        candidates: Vec::new(),
        outcome: Outcome::Image(chosen.into()),
        other_mode: None,
    };
    let cache = PatternCache::default();
    let cluster = cluster(additional);
    let mode = Matching::Normalized;
    let keys = images_to_serve(&cluster, &[selection], &resolved.images, mode, &cache);
    keys.iter().map(ToString::to_string).collect()
}

#[test]
fn pools_and_additional_selectors_decide_what_is_served() {
    let entries = || {
        vec![
            own("abc", &[("os", "ubuntu")]),
            own("def", &[("os", "suse")]),
        ]
    };
    assert_eq!(served_keys(entries(), "def", &[]), ["def"]);
    let additional = [("os", "ubuntu")];
    assert_eq!(served_keys(entries(), "def", &additional), ["abc", "def"]);
    let refused = [("os-version", "15.6")];
    assert_eq!(served_keys(entries(), "def", &refused), ["def"]);
}

#[test]
fn enabled_decides_where_any_entry_has_it() {
    let enabled = |name, flag| CatalogEntry {
        enabled: Some(Located::new(flag, place(5))),
        ..built(name, Some("sylva"))
    };
    let entries = vec![
        enabled("abc", true),
        enabled("def", false),
        built("ghi", Some("sylva")),
    ];
    assert_eq!(served_keys(entries, "ghi", &[]), ["abc"]);
}

#[test]
fn clusters_of_one_catalog_share_its_images_and_its_problems() {
    let shared = Arc::new(catalog(vec![
        own("abc", &[("uri", "oci://r.org/abc:1")]),
        built("abc", Some("sylva")),
    ]));
    let settings = Settings {
        root: "/".into(),
        images: ImageSettings {
            url: String::new(),
            url_spot: None,
            checksum: ChecksumStyle::Literal,
            serve_all: true,
        },
        outputs: Vec::new(),
        policy: Policy::default(),
        matching: Matching::Normalized,
        locking: Locking::Loose,
        registries: Default::default(),
        releases: None,
        waves: WaveSettings::default(),
    };
    let catalogs = Catalogs::new(ImageFacts::default());
    let views = [(), ()].map(|()| {
        let read = ClusterRead {
            cluster: cluster(&[]),
            catalog: Arc::clone(&shared),
            signing: Default::default(),
            sources: Sources::default(),
            findings: Vec::new(),
        };
        view(read, &catalogs, &settings, &PatternCache::default()).expect("no source fails")
    });
    assert!(Arc::ptr_eq(&views[0].images, &views[1].images));
    for view in &views {
        assert_eq!(view.served, ["abc".into()]);
        assert_eq!(view.findings.len(), 1);
        assert!(view.registries.contains_key("sylva"));
    }
}
