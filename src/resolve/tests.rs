//! The rules S9–S16 with their examples, and the proposal's own catalogue.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::{prop_assert_eq, proptest};

use super::{Problem, Resolved, images, served};
use crate::error::Error;
use crate::model::catalogue::{Catalogue, CatalogueEntry, Described};
use crate::model::cluster::Cluster;
use crate::model::image::{ImageKey, Origin};
use crate::model::matching::{Matching, Outcome, PatternCache, Selection};
use crate::model::name::key_of;
use crate::model::place::{FileId, Located, Place, Sources};
use crate::model::selector::{Selector, Term, Wanted as Value};
use crate::model::workspace::Registry;
use crate::model::written;
use crate::sources::{ImageSource, Wanted};

/// A place of its own for each number.
fn place(number: u32) -> Place {
    Place {
        file: FileId(0),
        start: number,
        end: number + 1,
    }
}

fn located(text: &str) -> Located<Arc<str>> {
    Located::new(text.into(), place(7))
}

fn built(name: &str, registry: Option<&str>) -> CatalogueEntry {
    CatalogueEntry {
        name: located(name),
        built: true,
        registry: registry.map(located),
        enabled: None,
        properties: Vec::new(),
        place: place(1),
    }
}

fn own(name: &str, properties: &[(&str, &str)]) -> CatalogueEntry {
    let property = |(name, value): &(&str, &str)| ((*name).into(), located(value));
    CatalogueEntry {
        built: false,
        properties: properties.iter().map(property).collect(),
        place: place(2),
        ..built(name, None)
    }
}

fn registry(url: &str, tag: &str) -> Registry {
    Registry {
        url: Some(located(url)),
        tag: Some(located(tag)),
        enabled: true,
        place: place(3),
    }
}

const URL: &str = "oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder";

fn catalogue(entries: Vec<CatalogueEntry>) -> Catalogue {
    Catalogue {
        entries,
        registries: BTreeMap::from([("sylva".into(), registry(URL, "0.4.12"))]),
        ..Catalogue::default()
    }
}

/// A source that knows what it is told.
#[derive(Default)]
struct Known(BTreeMap<ImageKey, Arc<Described>>);

impl Known {
    fn of(key: &str, properties: &[(&str, &str)]) -> Vec<Box<dyn ImageSource>> {
        let entry = own(key, properties);
        let described = Described {
            name: key.into(),
            place: place(4),
            facts: written::facts(&entry.properties, Origin::InfoFile),
        };
        let known = BTreeMap::from([(key.into(), Arc::new(described))]);
        vec![Box::new(Self(known))]
    }
}

impl ImageSource for Known {
    fn describe(&self, wanted: &[Wanted<'_>]) -> Vec<Result<Option<Arc<Described>>, Error>> {
        let known = |wanted: &Wanted<'_>| Ok(self.0.get(wanted.key).cloned());
        wanted.iter().map(known).collect()
    }

    fn listed(&self) -> Vec<(ImageKey, Arc<Described>)> {
        self.0.clone().into_iter().collect()
    }
}

fn resolved(catalogue: &Catalogue) -> Resolved {
    images(catalogue, &[]).expect("no source fails")
}

fn uri<'a>(resolved: &'a Resolved, key: &str) -> Option<&'a str> {
    let uri = resolved.images.get(key)?.uri.as_ref()?;
    Some(&uri.value)
}

#[test]
fn a_reference_is_registry_name_and_tag() {
    let name = "ubuntu-noble-plain-rke2-1-31-8";
    let resolved = resolved(&catalogue(vec![built(name, Some("sylva"))]));
    assert_eq!(uri(&resolved, name), Some(&*format!("{URL}/{name}:0.4.12")));
    let image = &resolved.images[name];
    assert_eq!(image.facts.text("uri"), uri(&resolved, name));
    assert_eq!(image.facts.text("oci-image-registry-key"), Some("sylva"));
    assert_eq!(image.registry.as_deref(), Some("sylva"));
    assert!(resolved.problems.is_empty());
}

#[test]
fn a_registry_without_a_tag_takes_the_builders_version() {
    let mut catalogue = catalogue(vec![built("abc", Some("sylva"))]);
    let untagged = Registry {
        tag: None,
        ..registry("oci://r.org/os/", "")
    };
    catalogue.registries.insert("sylva".into(), untagged);
    assert!(matches!(
        &resolved(&catalogue).problems[..],
        [Problem::NoReference { reason, .. }] if reason == "registry `sylva` has no `tag`"
    ));
    catalogue.version = Some(located("0.5.0"));
    assert_eq!(
        uri(&resolved(&catalogue), "abc"),
        Some("oci://r.org/os/abc:0.5.0")
    );
}

#[test]
fn an_unknown_registry_leaves_the_image_without_a_reference() {
    let resolved = resolved(&catalogue(vec![built("abc", Some("silva"))]));
    assert_eq!(uri(&resolved, "abc"), None);
    assert_eq!(resolved.images["abc"].registry.as_deref(), Some("silva"));
    assert!(!resolved.registries.contains_key("silva"));
}

#[test]
fn images_of_a_disabled_registry_are_left_out_silently() {
    let mut catalogue = catalogue(vec![
        built("abc", Some("sylva")),
        own("def", &[("uri", "oci://r.org/def:1")]),
    ]);
    catalogue
        .registries
        .entry("sylva".into())
        .or_insert_with(|| registry("", ""))
        .enabled = false;
    let resolved = resolved(&catalogue);
    let keys: Vec<&str> = resolved.images.keys().map(|key| &**key).collect();
    assert_eq!(keys, ["def"]);
    assert!(resolved.problems.is_empty());
}

#[test]
fn a_key_in_both_lists_is_the_builders_and_a_problem() {
    let resolved = resolved(&catalogue(vec![
        own("abc", &[("uri", "oci://r.org/mine:1")]),
        built("abc", Some("sylva")),
    ]));
    assert!(resolved.images["abc"].built);
    let [problem] = &resolved.problems[..] else {
        panic!("{:?}", resolved.problems);
    };
    let finding = problem.finding(&Sources::default());
    assert_eq!(finding.rule, "image-name-collision");
    assert_eq!(
        finding.message,
        "`os_images` and the builder's list both have the image `abc`"
    );
}

#[test]
fn two_names_with_one_key_collide() {
    let resolved = resolved(&catalogue(vec![
        built("ubuntu-jammy-plain-rke2-1.26.9", Some("sylva")),
        built("ubuntu-jammy-plain-rke2-1-26-9", Some("sylva")),
    ]));
    assert_eq!(resolved.images.len(), 1);
    assert!(matches!(
        &resolved.problems[..],
        [Problem::Collision { kept, dropped, across_lists: false, .. }]
            if &*kept.0 == "ubuntu-jammy-plain-rke2-1-26-9" && &*dropped.0 == "ubuntu-jammy-plain-rke2-1.26.9"
    ));
}

#[test]
fn a_name_that_can_be_no_key_stays_as_it_is() {
    let name = "opensuse-15.5-plain-rke2-v1.26.9+rke2r1";
    let resolved = resolved(&catalogue(vec![built(name, Some("sylva"))]));
    assert_eq!(&*resolved.images[name].artifact, name);
}

#[test]
fn the_proposals_catalogue_needs_no_registry() {
    let names = [
        "ubuntu-jammy-plain-rke2-1.26.9",
        "ubuntu-jammy-plain-rke2-1.25.15",
        "opensuse-15.5-plain-rke2-1.26.9",
        "ubuntu-jammy-hardened-rke2-1.26.9",
        "ubuntu-jammy-plain-kubeadm-1.26.9",
    ];
    let mut catalogue = Catalogue {
        entries: names.iter().map(|name| built(name, None)).collect(),
        version: Some(located("0.1.1")),
        ..Catalogue::default()
    };
    for (base, url) in [
        (None, "oci://registry.gitlab.com/sylva-projects"),
        (Some("oci://r.org/mirror/"), "oci://r.org/mirror"),
    ] {
        catalogue.base_registry = base.map(located);
        let resolved = resolved(&catalogue);
        assert!(resolved.problems.is_empty());
        assert_eq!(resolved.images.len(), 5);
        let expected =
            format!("{url}/sylva-elements/diskimage-builder/opensuse-15.5-plain-rke2-1.26.9:0.1.1");
        let key = "opensuse-15-5-plain-rke2-1-26-9";
        assert_eq!(uri(&resolved, key), Some(&*expected));
        let image = &resolved.images[key];
        assert_eq!(&*image.artifact, "opensuse-15.5-plain-rke2-1.26.9");
        assert_eq!(image.facts.text("k8s-version"), Some("1.26.9"));
        assert_eq!(image.facts.text("os-release"), Some("15.5"));
    }
    catalogue.version = None;
    assert_eq!(resolved(&catalogue).problems.len(), 5);
}

#[test]
fn an_own_image_keeps_its_reference_and_its_artifacts_name() {
    let properties = [
        (
            "uri",
            "oci://r.org/os/ubuntu-jammy-plain-rke2-1.26.9:0.0.12",
        ),
        ("filename", "ubuntu-jammy-plain-rke2-1.26.9.qcow2"),
        (
            "checksum",
            "ffdc81fcdc0104151aa792a508eefe0d47660b18683949edcd734b3a4f938f20",
        ),
    ];
    let resolved = resolved(&catalogue(vec![own("mine", &properties)]));
    let image = &resolved.images["mine"];
    assert_eq!(&*image.artifact, "ubuntu-jammy-plain-rke2-1.26.9");
    assert_eq!(image.facts.text("sha256"), Some(properties[2].1));
    let format = image.facts.get("image-format").expect("the name says it");
    assert_eq!((&*format.value, format.origin), ("qcow2", Origin::Name));
    assert_eq!(
        image.file_name().as_deref(),
        Some("ubuntu-jammy-plain-rke2-1.26.9.qcow2")
    );
}

#[test]
fn an_own_image_without_a_reference_is_a_problem() {
    let resolved = resolved(&catalogue(vec![own("mine", &[("sha256", "00")])]));
    assert!(matches!(
        &resolved.problems[..],
        [Problem::NoReference { place, .. }] if *place == super::tests::place(2)
    ));
}

#[test]
fn the_file_name_is_declared_or_the_formats_never_derived() {
    let key = "ubuntu-noble-hardened-rke2-1-31-8";
    let file_name = |facts: &[(&str, &str)]| {
        let catalogue = catalogue(vec![built(key, Some("sylva"))]);
        let resolved = images(&catalogue, &Known::of(key, facts)).expect("no source fails");
        resolved.images[key].file_name()
    };
    let declared = "ubuntu-noble-hardened-rke2-1-31-8-0.4.12.raw";
    assert_eq!(
        file_name(&[("filename", declared)]).as_deref(),
        Some(declared)
    );
    assert_eq!(
        file_name(&[("image-format", "raw")]).as_deref(),
        Some("image.raw")
    );
    assert_eq!(file_name(&[]), None);
}

#[test]
fn stronger_sources_win_and_disagreements_are_told() {
    let key = "ubuntu-noble-plain-rke2-1-31-8";
    let catalogue = catalogue(vec![built(key, Some("sylva"))]);
    let known = Known::of(
        key,
        &[
            ("os-release", "24.04"),
            ("k8s-version", "1.31.8+rke2r1"),
            ("hardened", "true"),
        ],
    );
    let resolved = images(&catalogue, &known).expect("no source fails");
    let image = &resolved.images[key];
    let version = image.facts.get("k8s-version").expect("it is known");
    assert_eq!(version.origin, Origin::InfoFile);
    assert_eq!(image.facts.text("hardened"), Some("true"));
    assert!(matches!(
        &resolved.problems[..],
        [Problem::Conflict { fact, stronger, weaker, .. }]
            if &**fact == "hardened" && stronger.origin == Origin::InfoFile && weaker.origin == Origin::Name
    ));
    let finding = resolved.problems[0].finding(&Sources::default());
    assert_eq!(
        finding.message,
        "`hardened` of `ubuntu-noble-plain-rke2-1-31-8` is `true` by the image info file, `false` by the image's name"
    );
}

#[test]
fn a_version_that_the_name_refutes_is_a_conflict() {
    let key = "ubuntu-noble-plain-rke2-1-31";
    for (version, conflicts) in [
        ("1.31.8+rke2r1", 0),
        ("1.31.8-rke2r1", 0),
        ("1.30.8+rke2r1", 1),
        ("latest", 1),
    ] {
        let catalogue = catalogue(vec![built(key, Some("sylva"))]);
        let known = Known::of(key, &[("k8s-version", version)]);
        let resolved = images(&catalogue, &known).expect("no source fails");
        assert_eq!(resolved.problems.len(), conflicts, "{version}");
    }
}

#[test]
fn values_are_stronger_than_an_info_file() {
    let catalogue = catalogue(vec![own(
        "mine",
        &[("uri", "https://server/mine.raw"), ("sha256", "AB")],
    )]);
    let known = |digest| Known::of("mine", &[("sha256", digest)]);
    let resolved = images(&catalogue, &known("cd")).expect("no source fails");
    assert_eq!(resolved.images["mine"].facts.text("sha256"), Some("AB"));
    assert_eq!(resolved.problems.len(), 1);
    let resolved = images(&catalogue, &known("ab")).expect("no source fails");
    assert!(resolved.problems.is_empty());
}

#[test]
fn facts_of_another_build_are_not_learnt() {
    let key = "ubuntu-noble-plain-rke2-1-31-8";
    let catalogue = catalogue(vec![built(key, Some("sylva"))]);
    let described = |uri: &str| {
        let known = Known::of(key, &[("uri", uri), ("sha256", "00")]);
        images(&catalogue, &known).expect("no source fails")
    };
    let older = described(&format!("{URL}/{key}:0.4.11"));
    assert_eq!(older.images[key].facts.text("sha256"), None);
    assert!(matches!(&older.problems[..], [Problem::OtherBuild { .. }]));
    let finding = older.problems[0].finding(&Sources::default());
    assert_eq!(finding.rule, "fact-conflict");
    let mirror = described(&format!("oci://mirror.org/x/{key}:0.4.12"));
    assert_eq!(mirror.images[key].facts.text("sha256"), Some("00"));
    assert!(mirror.problems.is_empty());
    assert_eq!(uri(&mirror, key), Some(&*format!("{URL}/{key}:0.4.12")));
}

#[test]
fn without_a_builders_list_an_info_file_is_the_catalogue() {
    let uri_text = "oci://r.org/os/ubuntu-jammy-plain-rke2-1.26.9:0.0.12";
    let known = Known::of("theirs", &[("uri", uri_text)]);
    let alone = images(&Catalogue::default(), &known).expect("no source fails");
    assert_eq!(uri(&alone, "theirs"), Some(uri_text));
    let image = &alone.images["theirs"];
    assert_eq!(&*image.artifact, "ubuntu-jammy-plain-rke2-1.26.9");
    assert!(!image.built);
    let beside = images(&catalogue(vec![built("abc", Some("sylva"))]), &known);
    assert!(
        !beside
            .expect("no source fails")
            .images
            .contains_key("theirs")
    );
}

#[test]
fn nothing_at_all_is_no_problem() {
    let resolved = resolved(&Catalogue::default());
    assert!(resolved.images.is_empty() && resolved.problems.is_empty());
}

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
        name: "c".into(),
        object_name: "c".into(),
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
        default_storage: None,
    }
}

fn served_keys(
    entries: Vec<CatalogueEntry>,
    chosen: &str,
    additional: &[(&str, &str)],
) -> Vec<String> {
    let resolved = resolved(&catalogue(entries));
    let selection = Selection {
        finalised: Selector::default(),
        candidates: Vec::new(),
        outcome: Outcome::Image(chosen.into()),
        other_mode: None,
    };
    let cache = PatternCache::default();
    let cluster = cluster(additional);
    let mode = Matching::Normalised;
    let keys = served(&cluster, &[selection], &resolved.images, mode, &cache);
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
    let enabled = |name, flag| CatalogueEntry {
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

proptest! {
    #[test]
    fn every_built_entry_is_an_image_or_a_problem(names in proptest::collection::vec("[a-c][a-c.-]{1,3}[a-c]", 0..8)) {
        let entries: Vec<CatalogueEntry> = names.iter().map(|name| built(name, Some("sylva"))).collect();
        let resolved = resolved(&catalogue(entries));
        prop_assert_eq!(resolved.images.len() + resolved.problems.len(), names.len());
        for (key, image) in &*resolved.images {
            prop_assert_eq!(key_of(&image.artifact), Ok(Arc::clone(key)));
            let expected = format!("{URL}/{}:0.4.12", image.artifact);
            prop_assert_eq!(uri(&resolved, key), Some(&*expected));
        }
    }
}
