//! Mirrors: another registry or a layout answers, and the registry itself is never asked.

use metalmark::catalog::sources::Stores;
use oci_artifacts::registries::{Mirror, RegistrySettings};
use oci_artifacts::{FailureKind, Reference, Store};

use super::super::support::layout::LayoutWriter;
use super::super::support::registry::Registry;
use super::super::support::stage::project;
use super::{options, plain};

fn stores(root: &std::path::Path, settings: RegistrySettings) -> Stores {
    Stores::new(root, options(settings))
}

fn prefix(text: &str) -> Reference {
    Reference::parse_prefix(text).expect("a prefix")
}

fn reference(text: &str) -> Reference {
    Reference::parse(text).expect("a reference")
}

#[test]
fn a_mirror_answers_and_is_named() {
    let registry = Registry::plain();
    let digest = registry.image("sylva/one", "1", &[]);
    let mut settings = plain(&registry);
    let mirror = Mirror::Prefix(prefix(&format!("{}/sylva", registry.host())));
    settings
        .mirrors
        .insert(prefix("registry.invalid/group"), mirror);
    let stores = stores(std::path::Path::new("."), settings);
    let wanted = [
        reference("registry.invalid/group/one:1"),
        reference("registry.invalid/group/two:1"),
    ];
    let answers = stores.manifests(&wanted);
    let manifest = answers[0].as_ref().expect("a manifest");
    assert_eq!(manifest.digest, digest);
    let mirrored = format!("oci://{}/sylva/one:1", registry.host());
    assert_eq!(manifest.mirror.as_deref(), Some(mirrored.as_str()));
    let reported = answers[1].as_ref().expect_err("a failure");
    assert_eq!(reported.kind, FailureKind::NotFound);
    assert!(
        reported
            .wanted
            .starts_with("oci://registry.invalid/group/two:1 (mirrored as oci://127.0.0.1"),
        "{reported}"
    );
    assert!(
        reported
            .help
            .iter()
            .any(|help| help.contains("with its signatures: `metalmark mirror`")),
        "{reported}"
    );
    assert_eq!(stores.tags(&wanted[0]), Ok(vec!["1".to_owned()]));
    let all = stores.repositories(&reference("registry.invalid/group/one"));
    assert!(all.is_err(), "the host itself has no mirror: {all:?}");
}

#[test]
fn a_mirror_of_a_whole_registry_lists_what_is_below_its_prefix() {
    let registry = Registry::plain();
    registry.image("sylva/group/one", "1", &[]);
    registry.image("other/two", "1", &[]);
    let mut settings = plain(&registry);
    let mirror = Mirror::Prefix(prefix(&format!("{}/sylva", registry.host())));
    settings.mirrors.insert(prefix("registry.invalid"), mirror);
    let stores = stores(std::path::Path::new("."), settings);
    let all = stores.repositories(&reference("registry.invalid/x"));
    assert_eq!(all, Ok(vec!["group/one".to_owned()]));
}

#[test]
fn a_layout_answers_beside_registries_in_the_requested_order() {
    let registry = Registry::plain();
    let there = registry.image("one", "1", &[]);
    let stage = project();
    let mut layout = LayoutWriter::new(&stage.path().join("images"));
    let here = layout.image(
        Some("registry.invalid/group/one:1"),
        &[("sylva/os", "ubuntu")],
    );
    let mut settings = plain(&registry);
    settings
        .mirrors
        .insert(prefix("registry.invalid"), Mirror::Layout("images".into()));
    settings.mirrors.insert(
        prefix("nowhere.invalid"),
        Mirror::Layout("no-such-folder".into()),
    );
    let stores = stores(stage.path(), settings);
    let wanted = [
        reference("registry.invalid/group/one:1"),
        registry.reference("one:1"),
        reference("nowhere.invalid/a:1"),
        reference("registry.invalid/group/one:1"),
    ];
    let answers = stores.manifests(&wanted);
    let digests: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().ok().map(|manifest| manifest.digest.clone()))
        .collect();
    assert_eq!(digests, [Some(here.clone()), Some(there), None, Some(here)]);
    let mirror = answers[0].as_ref().expect("a manifest").mirror.clone();
    assert_eq!(mirror.as_deref(), Some("oci-layout:images"));
    assert_eq!(registry.count(), 1);
}

/// An image named exactly as the prefix would be the mirror's host alone.
#[test]
fn a_mirror_that_leaves_an_image_no_repository_is_refused_without_a_request() {
    let registry = Registry::plain();
    let mut settings = plain(&registry);
    let mirror = Mirror::Prefix(prefix(&registry.host()));
    settings
        .mirrors
        .insert(prefix("registry.invalid/one"), mirror);
    let stores = stores(std::path::Path::new("."), settings);
    let answers = stores.manifests(&[reference("registry.invalid/one:1")]);
    let refused = answers[0].as_ref().expect_err("a failure");
    assert_eq!(refused.kind, FailureKind::Unsupported);
    assert!(
        refused.to_string().contains("leaves it no repository"),
        "{refused}"
    );
    assert_eq!(registry.count(), 0);
}
