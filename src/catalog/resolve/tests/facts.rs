//! Facts of several sources: which count, and which disagree.

use capi::image::Origin;
use yaml_tree::place::Sources;

use super::{Known, URL, built, catalog, own, uri};
use crate::catalog::resolve::{Problem, images};
use crate::model::catalog::Catalog;
use crate::model::rule::RuleId;

#[test]
fn stronger_sources_win_and_disagreements_are_reported() {
    let key = "ubuntu-noble-plain-rke2-1-31-8";
    let catalog = catalog(vec![built(key, Some("sylva"))]);
    let known = Known::of(
        key,
        &[
            ("os-release", "24.04"),
            ("k8s-version", "1.31.8+rke2r1"),
            ("hardened", "true"),
        ],
    );
    let resolved = images(&catalog, &known).expect("no source fails");
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
        let catalog = catalog(vec![built(key, Some("sylva"))]);
        let known = Known::of(key, &[("k8s-version", version)]);
        let resolved = images(&catalog, &known).expect("no source fails");
        assert_eq!(resolved.problems.len(), conflicts, "{version}");
    }
}

#[test]
fn values_are_stronger_than_an_info_file() {
    let catalog = catalog(vec![own(
        "mine",
        &[("uri", "https://server/mine.raw"), ("sha256", "AB")],
    )]);
    let known = |digest| Known::of("mine", &[("sha256", digest)]);
    let resolved = images(&catalog, &known("cd")).expect("no source fails");
    assert_eq!(resolved.images["mine"].facts.text("sha256"), Some("AB"));
    assert_eq!(resolved.problems.len(), 1);
    let resolved = images(&catalog, &known("ab")).expect("no source fails");
    assert!(resolved.problems.is_empty());
}

#[test]
fn facts_of_another_build_are_not_learned() {
    let key = "ubuntu-noble-plain-rke2-1-31-8";
    let catalog = catalog(vec![built(key, Some("sylva"))]);
    let described = |uri: &str| {
        let known = Known::of(key, &[("uri", uri), ("sha256", "00")]);
        images(&catalog, &known).expect("no source fails")
    };
    let older = described(&format!("{URL}/{key}:0.4.11"));
    assert_eq!(older.images[key].facts.text("sha256"), None);
    assert!(matches!(&older.problems[..], [Problem::OtherBuild { .. }]));
    let finding = older.problems[0].finding(&Sources::default());
    assert_eq!(finding.rule, RuleId::FactConflict);
    let mirror = described(&format!("oci://mirror.org/x/{key}:0.4.12"));
    assert_eq!(mirror.images[key].facts.text("sha256"), Some("00"));
    assert!(mirror.problems.is_empty());
    assert_eq!(uri(&mirror, key), Some(&*format!("{URL}/{key}:0.4.12")));
}

#[test]
fn an_entry_without_a_reference_has_that_of_the_info_file() {
    let text = "https://server/mine.raw";
    let known = Known::of("mine", &[("uri", text)]);
    let resolved = images(&catalog(vec![own("mine", &[])]), &known).expect("no source fails");
    assert_eq!(uri(&resolved, "mine"), Some(text));
}

#[test]
fn without_a_builders_list_an_info_file_is_the_catalog() {
    let uri_text = "oci://r.org/os/ubuntu-jammy-plain-rke2-1.26.9:0.0.12";
    let known = Known::of("theirs", &[("uri", uri_text)]);
    let alone = images(&Catalog::default(), &known).expect("no source fails");
    assert_eq!(uri(&alone, "theirs"), Some(uri_text));
    let image = &alone.images["theirs"];
    assert_eq!(&*image.artifact, "ubuntu-jammy-plain-rke2-1.26.9");
    assert!(!image.built);
    let beside = images(&catalog(vec![built("abc", Some("sylva"))]), &known);
    assert!(
        !beside
            .expect("no source fails")
            .images
            .contains_key("theirs")
    );
}

#[test]
fn a_number_in_the_values_is_remembered_as_one() {
    let mut entry = own(
        "mine",
        &[("uri", "https://server/mine.raw"), ("os-release", "15.6")],
    );
    entry.mistyped = vec![("os-release".into(), "a number")];
    let resolved = images(&catalog(vec![entry]), &[]).expect("no source fails");
    let facts = &resolved.images["mine"].facts;
    assert_eq!(facts.text("os-release"), Some("15.6"));
    assert_eq!(facts.wrong_type("os-release"), Some("a number"));
}
