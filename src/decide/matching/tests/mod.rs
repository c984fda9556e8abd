//! The rules and traps of Sylva's matching (docs/sylva.md), each with its example; here how many images match.

mod keys;
mod modes;
mod patterns;

use std::sync::Arc;

use capi::image::{Facts, Image, Images, Origin};
use yaml_tree::place::{FileId, Located, Place};

use super::Selectable;
use super::{ClusterFacts, PatternCache, candidates, select};
use crate::model::cluster::Choice;
use crate::model::selection::{Difference, Outcome, Selection};
use crate::model::selector::{Library, Matching, Selector, Term, Wanted};

const HERE: Place = Place {
    file: FileId(0),
    start: 0,
    end: 1,
};

/// `true!` is a boolean, `a number?` another type, everything else a pattern.
pub(super) fn selector(terms: &[(&str, &str)]) -> Selector {
    let wanted = |text: &str| match text {
        "true!" => Wanted::Bool(true),
        "false!" => Wanted::Bool(false),
        "a number?" => Wanted::Invalid("a number"),
        "null?" => Wanted::Invalid("null"),
        text => Wanted::Pattern(text.into()),
    };
    let mut terms: Vec<Term> = terms
        .iter()
        .map(|(fact, text)| Term {
            fact: (*fact).into(),
            wanted: wanted(text),
            place: HERE,
            key_place: HERE,
        })
        .collect();
    terms.sort_by(|a, b| a.fact.cmp(&b.fact));
    Selector { terms }
}

pub(super) fn cluster<'a>(k8s_version: &'a str, bootstrap_provider: &'a str) -> ClusterFacts<'a> {
    ClusterFacts {
        k8s_version: Some(k8s_version),
        bootstrap_provider: Some(bootstrap_provider),
        autoselect_registries: None,
        library: Library::default(),
    }
}

fn image(key: &str, origin: Origin, facts: &[(&str, &str)]) -> Image {
    let facts = facts
        .iter()
        .map(|(name, value)| (*name, *value, Place::NONE));
    Image {
        key: key.into(),
        name: key.into(),
        artifact: key.into(),
        place: Place::NONE,
        uri: None,
        digest: None,
        pulled: None,
        facts: Facts::new(origin, facts),
        enabled: None,
        built: true,
        list: "os_images",
        registry: None,
    }
}

fn images(list: impl IntoIterator<Item = Image>) -> Images {
    list.into_iter()
        .map(|image| (Arc::clone(&image.key), image))
        .collect()
}

fn rke2(key: &str, hardened: &str, version: &str) -> Image {
    let facts = [
        ("os", "ubuntu"),
        ("os-release", "noble"),
        ("hardened", hardened),
        ("k8s-flavor", "rke2"),
        ("k8s-version", version),
    ];
    image(key, Origin::Annotation, &facts)
}

fn named_only(key: &str, hardened: &str, version: &str) -> Image {
    let facts = [
        ("os", "ubuntu"),
        ("hardened", hardened),
        ("k8s-flavor", "rke2"),
        ("k8s-version", version),
    ];
    image(key, Origin::Name, &facts)
}

fn by_selector(terms: &[(&str, &str)]) -> Choice {
    Choice {
        selector: Some(Located::new(selector(terms), HERE)),
        ..Choice::default()
    }
}

fn by_key(key: &str) -> Choice {
    Choice {
        key: Some(Located::new(key.into(), HERE)),
        ..Choice::default()
    }
}

fn chosen(choice: &Choice, facts: &ClusterFacts<'_>, images: &Images, mode: Matching) -> Selection {
    let catalog = Selectable::new(Arc::new(images.clone()));
    select(choice, facts, &catalog, mode, &PatternCache::default())
}

/// The outcome in both modes, after checking that each mode names the other's where they differ.
fn outcomes(choice: &Choice, facts: &ClusterFacts<'_>, images: &Images) -> (Outcome, Outcome) {
    let exact = chosen(choice, facts, images, Matching::Exact);
    let normalized = chosen(choice, facts, images, Matching::Normalized);
    let differs = exact.outcome != normalized.outcome;
    assert_eq!(
        exact.other_mode,
        differs.then(|| normalized.outcome.clone())
    );
    assert_eq!(
        normalized.other_mode,
        differs.then(|| exact.outcome.clone())
    );
    (exact.outcome, normalized.outcome)
}

fn both(outcome: Outcome) -> (Outcome, Outcome) {
    (outcome.clone(), outcome)
}

fn found(key: &str) -> Outcome {
    Outcome::Image(key.into())
}

#[test]
fn a_selector_that_matches_one_image_chooses_it() {
    let images = images([
        rke2("plain-1-35", "false", "1.35.6+rke2r1"),
        rke2("hardened-1-35", "true", "1.35.6+rke2r1"),
        rke2("hardened-1-34", "true", "1.34.2+rke2r1"),
    ]);
    let choice = by_selector(&[("os", "ubuntu"), ("hardened", "true!")]);
    let selection = chosen(
        &choice,
        &cluster("v1.35.6+rke2r1", "cabpr"),
        &images,
        Matching::Exact,
    );
    assert_eq!(selection.outcome, found("hardened-1-35"));
    assert_eq!(selection.other_mode, None);
    assert!(selection.near_misses.nearest.is_empty());
    let names: Vec<&str> = selection
        .finalized
        .terms
        .iter()
        .map(|term| &*term.fact)
        .collect();
    assert_eq!(
        names,
        [
            "hardened",
            "k8s-flavor",
            "k8s-version",
            "oci-image-registry-key",
            "os"
        ]
    );
}

#[test]
fn two_matches_are_an_error_that_names_both() {
    let kubeadm = |key, hardened| {
        let facts = [
            ("os", "ubuntu"),
            ("hardened", hardened),
            ("k8s-flavor", "kubeadm"),
            ("k8s-version", "1.30.8"),
        ];
        image(key, Origin::Annotation, &facts)
    };
    let images = images([
        kubeadm("plain-1-30-8", "false"),
        kubeadm("hardened-1-30-8", "true"),
    ]);
    let outcome = outcomes(
        &by_selector(&[("os", "ubuntu")]),
        &cluster("v1.30.8", "cabpk"),
        &images,
    );
    let keys = vec!["hardened-1-30-8".into(), "plain-1-30-8".into()];
    assert_eq!(outcome, both(Outcome::Several(keys)));
}

#[test]
fn no_match_lists_every_candidate_with_all_its_differences() {
    let images = images([
        rke2("a-noble", "false", "1.31.8+rke2r1"),
        rke2("b-noble", "true", "1.30.8+rke2r1"),
    ]);
    let choice = by_selector(&[
        ("os", "ubuntu"),
        ("os-release", "24.04"),
        ("hardened", "true!"),
        ("commit-tag", "0.4.*"),
    ]);
    let facts = cluster("v1.31.8+rke2r1", "cabpr");
    let selection = chosen(&choice, &facts, &images, Matching::Normalized);
    assert_eq!(selection.outcome, Outcome::NoMatch);
    let differs = |index: usize| -> Vec<&str> {
        let candidate = &selection.near_misses.nearest[index];
        candidate
            .differs
            .iter()
            .map(|difference| &*difference.fact)
            .collect()
    };
    assert_eq!(differs(0), ["commit-tag", "k8s-version", "os-release"]);
    assert_eq!(differs(1), ["commit-tag", "hardened", "os-release"]);
    let release = Difference {
        fact: "os-release".into(),
        wanted: "24.04".into(),
        has: Some("noble".into()),
    };
    assert!(selection.near_misses.nearest[0].differs.contains(&release));
    assert_eq!(selection.near_misses.nearest[0].differs[0].has, None);
}

/// Keys are in the order of their letters, which says nothing of what is near.
#[test]
fn images_of_the_nearest_version_are_named_where_as_much_differs() {
    let images = images([
        rke2("a", "false", "1.28.8+rke2r1"),
        rke2("b", "false", "1.30.7+rke2r1"),
        rke2("c", "false", "1.32.1+rke2r1"),
        rke2("d", "false", "1.31.2+rke2r1"),
        rke2("e", "false", "1.31.6+rke2r1"),
        rke2("f", "false", "1.31.9+rke2r1"),
    ]);
    let nearest = |version: &str| -> String {
        let facts = cluster(version, "cabpr");
        let choice = by_selector(&[("os", "ubuntu")]);
        let selection = chosen(&choice, &facts, &images, Matching::Normalized);
        let nearest = selection.near_misses.nearest.iter();
        nearest.map(|candidate| &*candidate.key).collect()
    };
    assert_eq!(
        nearest("v1.31.4+rke2r1"),
        "edf",
        "the newer of two that are equally far"
    );
    assert_eq!(nearest("v1.31.8+rke2r1"), "fed");
    assert_eq!(nearest("v1.33.0+rke2r1"), "cde");
    assert_eq!(nearest("v1.29.7+rke2r1"), "bae");
}

#[test]
fn no_images_at_all_match_nothing() {
    let outcome = outcomes(
        &by_selector(&[("os", "ubuntu")]),
        &cluster("v1.30.8", "cabpk"),
        &Images::new(),
    );
    assert_eq!(outcome, both(Outcome::NoMatch));
}

#[test]
fn candidates_on_demand_show_the_chosen_image_without_differences() {
    let images = images([
        rke2("plain", "false", "1.31.8"),
        rke2("hardened", "true", "1.31.8"),
    ]);
    let written = selector(&[("hardened", "true!")]);
    let all = candidates(&written, &images, Matching::Exact, &PatternCache::default());
    let differing: Vec<(&str, usize)> = all
        .iter()
        .map(|candidate| (&*candidate.key, candidate.differs.len()))
        .collect();
    assert_eq!(differing, [("hardened", 0), ("plain", 1)]);
}
