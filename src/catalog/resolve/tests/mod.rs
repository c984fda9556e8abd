//! The rules of docs/sylva.md#the-catalog with their examples, and the proposal's own catalog.

mod facts;
mod served;

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{ImageKey, Origin};
use proptest::prelude::{prop_assert_eq, proptest};
use yaml_tree::place::{FileId, Located, Place, Sources};

use super::{Problem, Resolved, images};
use crate::catalog::sources::{ImageSource, Wanted};
use crate::error::Error;
use crate::model::catalog::{Catalog, CatalogEntry, Described, Registry};
use crate::model::name::key_of;
use crate::model::rule::RuleId;
use crate::model::written;

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

fn built(name: &str, registry: Option<&str>) -> CatalogEntry {
    CatalogEntry {
        name: located(name),
        built: true,
        list: "os_images",
        registry: registry.map(located),
        enabled: None,
        default_enabled: None,
        properties: Vec::new(),
        mistyped: Vec::new(),
        place: place(1),
    }
}

fn own(name: &str, properties: &[(&str, &str)]) -> CatalogEntry {
    let property = |(name, value): &(&str, &str)| ((*name).into(), located(value));
    CatalogEntry {
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

fn catalog(entries: Vec<CatalogEntry>) -> Catalog {
    Catalog {
        entries,
        registries: BTreeMap::from([("sylva".into(), registry(URL, "0.4.12"))]),
        ..Catalog::default()
    }
}

/// A source of given facts.
#[derive(Default)]
struct Known(BTreeMap<ImageKey, Arc<Described>>);

impl Known {
    fn of(key: &str, properties: &[(&str, &str)]) -> Vec<Box<dyn ImageSource>> {
        let entry = own(key, properties);
        let described = Described {
            name: key.into(),
            place: place(4),
            facts: written::facts(&entry.properties, Origin::InfoFile),
            digest: None,
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

    fn list(&self) -> Vec<(ImageKey, Arc<Described>)> {
        self.0.clone().into_iter().collect()
    }
}

fn resolved(catalog: &Catalog) -> Resolved {
    images(catalog, &[]).expect("no source fails")
}

fn uri<'a>(resolved: &'a Resolved, key: &str) -> Option<&'a str> {
    let uri = resolved.images.get(key)?.uri.as_ref()?;
    Some(&uri.value)
}

#[test]
fn a_reference_is_registry_name_and_tag() {
    let name = "ubuntu-noble-plain-rke2-1-31-8";
    let resolved = resolved(&catalog(vec![built(name, Some("sylva"))]));
    assert_eq!(uri(&resolved, name), Some(&*format!("{URL}/{name}:0.4.12")));
    let image = &resolved.images[name];
    assert_eq!(image.facts.text("uri"), uri(&resolved, name));
    assert_eq!(image.facts.text("oci-image-registry-key"), Some("sylva"));
    assert_eq!(image.registry.as_deref(), Some("sylva"));
    assert!(resolved.problems.is_empty());
}

#[test]
fn a_registry_without_a_tag_takes_the_builders_version() {
    let mut catalog = catalog(vec![built("abc", Some("sylva"))]);
    let untagged = Registry {
        tag: None,
        ..registry("oci://r.org/os/", "")
    };
    catalog.registries.insert("sylva".into(), untagged);
    assert!(matches!(
        &resolved(&catalog).problems[..],
        [Problem::NoReference { reason, .. }] if reason == "registry `sylva` has no `tag`"
    ));
    catalog.version = Some(located("0.5.0"));
    assert_eq!(
        uri(&resolved(&catalog), "abc"),
        Some("oci://r.org/os/abc:0.5.0")
    );
}

#[test]
fn an_unknown_registry_leaves_the_image_without_a_reference() {
    let resolved = resolved(&catalog(vec![built("abc", Some("silva"))]));
    assert_eq!(uri(&resolved, "abc"), None);
    assert_eq!(resolved.images["abc"].registry.as_deref(), Some("silva"));
    assert!(!resolved.registries.contains_key("silva"));
}

#[test]
fn images_of_a_disabled_registry_are_left_out_silently() {
    let mut catalog = catalog(vec![
        built("abc", Some("sylva")),
        own("def", &[("uri", "oci://r.org/def:1")]),
    ]);
    catalog
        .registries
        .entry("sylva".into())
        .or_insert_with(|| registry("", ""))
        .enabled = false;
    let resolved = resolved(&catalog);
    let keys: Vec<&str> = resolved.images.keys().map(|key| &**key).collect();
    assert_eq!(keys, ["def"]);
    assert!(resolved.problems.is_empty());
}

#[test]
fn a_key_in_both_lists_is_the_builders_and_a_problem() {
    let resolved = resolved(&catalog(vec![
        own("abc", &[("uri", "oci://r.org/mine:1")]),
        built("abc", Some("sylva")),
    ]));
    assert!(resolved.images["abc"].built);
    let [problem] = &resolved.problems[..] else {
        panic!("{:?}", resolved.problems);
    };
    let finding = problem.finding(&Sources::default());
    assert_eq!(finding.rule, RuleId::ImageNameCollision);
    assert_eq!(
        finding.message,
        "`os_images` and the builder's list both have the image `abc`"
    );
}

#[test]
fn two_names_with_one_key_collide() {
    let resolved = resolved(&catalog(vec![
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
    let resolved = resolved(&catalog(vec![built(name, Some("sylva"))]));
    assert_eq!(&*resolved.images[name].artifact, name);
}

#[test]
fn the_proposals_catalog_needs_no_registry() {
    let names = [
        "ubuntu-jammy-plain-rke2-1.26.9",
        "ubuntu-jammy-plain-rke2-1.25.15",
        "opensuse-15.5-plain-rke2-1.26.9",
        "ubuntu-jammy-hardened-rke2-1.26.9",
        "ubuntu-jammy-plain-kubeadm-1.26.9",
    ];
    let mut catalog = Catalog {
        entries: names.iter().map(|name| built(name, None)).collect(),
        version: Some(located("0.1.1")),
        ..Catalog::default()
    };
    for (base, url) in [
        (None, "oci://registry.gitlab.com/sylva-projects"),
        (Some("oci://r.org/mirror/"), "oci://r.org/mirror"),
    ] {
        catalog.base_registry = base.map(located);
        let resolved = resolved(&catalog);
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
    catalog.version = None;
    assert_eq!(resolved(&catalog).problems.len(), 5);
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
    let resolved = resolved(&catalog(vec![own("mine", &properties)]));
    let image = &resolved.images["mine"];
    assert_eq!(&*image.artifact, "ubuntu-jammy-plain-rke2-1.26.9");
    assert_eq!(image.facts.text("sha256"), Some(properties[2].1));
    let format = image.facts.get("image-format").expect("the name says it");
    assert_eq!((&*format.value, format.origin), ("qcow2", Origin::Name));
    assert_eq!(
        image.facts.text("filename"),
        Some("ubuntu-jammy-plain-rke2-1.26.9.qcow2")
    );
}

#[test]
fn an_own_image_without_a_reference_is_a_problem() {
    let resolved = resolved(&catalog(vec![own("mine", &[("sha256", "00")])]));
    assert!(matches!(
        &resolved.problems[..],
        [Problem::NoReference { place, .. }] if *place == super::tests::place(2)
    ));
}

#[test]
fn nothing_at_all_is_no_problem() {
    let resolved = resolved(&Catalog::default());
    assert!(resolved.images.is_empty() && resolved.problems.is_empty());
}

proptest! {
    #[test]
    fn every_built_entry_is_an_image_or_a_problem(names in proptest::collection::vec("[a-c][a-c.-]{1,3}[a-c]", 0..8)) {
        let entries: Vec<CatalogEntry> = names.iter().map(|name| built(name, Some("sylva"))).collect();
        let resolved = resolved(&catalog(entries));
        prop_assert_eq!(resolved.images.len() + resolved.problems.len(), names.len());
        for (key, image) in &*resolved.images {
            prop_assert_eq!(key_of(&image.artifact), Ok(Arc::clone(key)));
            let expected = format!("{URL}/{}:0.4.12", image.artifact);
            prop_assert_eq!(uri(&resolved, key), Some(&*expected));
        }
    }
}
