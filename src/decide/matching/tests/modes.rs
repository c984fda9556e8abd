//! Where the exact and the normalized mode part, and where a name's facts count.

use capi::image::{Fact, Origin};
use yaml_tree::place::Place;

use super::{
    both, by_selector, cluster, found, image, images, named_only, outcomes, rke2, selector,
};
use crate::decide::matching::{PatternCache, matching};
use crate::model::selection::Outcome;
use crate::model::selector::Library;
use crate::model::selector::Matching;

#[test]
fn the_old_spelling_of_a_build_matches_only_normalized() {
    let images = images([rke2("old", "true", "1.29.8-rke2r1")]);
    let outcome = outcomes(
        &by_selector(&[("os", "ubuntu")]),
        &cluster("v1.29.8+rke2r1", "cabpr"),
        &images,
    );
    assert_eq!(outcome, (Outcome::NoMatch, found("old")));
    let another_build = outcomes(
        &by_selector(&[("os", "ubuntu")]),
        &cluster("v1.29.8+rke2r2", "cabpr"),
        &images,
    );
    assert_eq!(another_build, both(Outcome::NoMatch));
}

#[test]
fn a_version_pattern_is_tried_in_every_spelling_when_normalized() {
    let images = images([rke2("a", "true", "1.29.8+rke2r1")]);
    let facts = cluster("v1.31.8+rke2r1", "cabpr");
    for (pattern, exact) in [
        ("1.29.8-rke2.*", false),
        ("v1.29.*", false),
        (r"1\.29\.8\+rke2r[12]", true),
        ("1.29.8+rke2r1", false),
        ("1.29.*|1.30.*", true),
    ] {
        let outcome = outcomes(&by_selector(&[("k8s-version", pattern)]), &facts, &images);
        let expected = if exact { found("a") } else { Outcome::NoMatch };
        assert_eq!(outcome, (expected, found("a")), "{pattern}");
    }
    let outcome = outcomes(&by_selector(&[("k8s-version", "1.30.*")]), &facts, &images);
    assert_eq!(outcome, both(Outcome::NoMatch));
}

#[test]
fn dots_of_the_clusters_version_match_anything_only_in_exact_mode() {
    for (version, odd) in [("v1.31.8", "1x31y8"), ("v1.31.8+rke2r1", "1.3148+rke2r1")] {
        let images = self::images([rke2("odd", "true", odd)]);
        let choice = by_selector(&[("os", "ubuntu")]);
        let outcome = outcomes(&choice, &cluster(version, "cabpr"), &images);
        assert_eq!(outcome, (found("odd"), Outcome::NoMatch));
    }
}

#[test]
fn a_version_that_only_the_name_gives_narrows_and_never_beats_a_proven_one() {
    let facts = cluster("v1.35.6+rke2r1", "cabpr");
    let choice = by_selector(&[("hardened", "true!")]);
    let by_name = named_only("ubuntu-noble-hardened-rke2-1-35", "true", "1.35");
    let others = [
        named_only("ubuntu-noble-hardened-rke2-1-34", "true", "1.34"),
        named_only("ubuntu-noble-plain-rke2-1-35", "false", "1.35"),
    ];
    let catalog = images([by_name.clone()].into_iter().chain(others));
    let outcome = outcomes(&choice, &facts, &catalog);
    assert_eq!(
        outcome,
        (Outcome::NoMatch, found("ubuntu-noble-hardened-rke2-1-35"))
    );
    let proven = rke2("proven", "true", "1.35.6+rke2r1");
    let outcome = outcomes(&choice, &facts, &images([by_name.clone(), proven]));
    assert_eq!(outcome, both(found("proven")));
    let twin = named_only("twin", "true", "1.35.6");
    let outcome = outcomes(&choice, &facts, &images([by_name.clone(), twin]));
    assert_eq!(
        outcome.1,
        Outcome::Several(vec!["twin".into(), by_name.key])
    );
}

#[test]
fn what_a_name_says_is_hidden_from_exact_mode_once_annotations_are_known() {
    let mut old = image(
        "ubuntu-jammy-plain-rke2-1-26-9",
        Origin::Annotation,
        &[
            ("os", "ubuntu"),
            ("k8s-flavor", "rke2"),
            ("k8s-version", "1.26.9+rke2r1"),
        ],
    );
    let fact = Fact {
        value: "false".into(),
        origin: Origin::Name,
        place: Place::NONE,
    };
    old.facts.learn("hardened", fact);
    let choice = by_selector(&[("hardened", "false!")]);
    let outcome = outcomes(
        &choice,
        &cluster("v1.26.9+rke2r1", "cabpr"),
        &images([old.clone()]),
    );
    assert_eq!(outcome, (Outcome::NoMatch, found(&old.key)));
}

#[test]
fn a_number_among_the_facts_stops_exact_mode_only_when_it_is_reached() {
    let mut numbered = rke2("numbered", "true", "1.31.8");
    numbered.facts.mark_mistyped("os-release", "a number");
    let images = images([numbered]);
    let facts = cluster("v1.31.8", "cabpr");
    let reached = by_selector(&[("os", "ubuntu"), ("os-release", "noble")]);
    let reason = "`os-release` of the image `numbered` is a number where a string is needed";
    assert_eq!(
        outcomes(&reached, &facts, &images),
        (Outcome::Invalid(reason.into()), found("numbered"))
    );
    let stopped_before = by_selector(&[("hardened", "false!"), ("os-release", "noble")]);
    assert_eq!(
        outcomes(&stopped_before, &facts, &images),
        both(Outcome::NoMatch)
    );
}

#[test]
fn additional_selectors_are_matched_as_they_are() {
    let images = images([rke2("a", "true", "1.28.3+rke2r1")]);
    let cache = PatternCache::default();
    let written = selector(&[("k8s-version", "v1.28.*")]);
    let keys = |mode| matching(&written, Library::default(), &images, mode, &cache);
    assert_eq!(keys(Matching::Exact), Ok(Vec::new()));
    assert_eq!(keys(Matching::Normalized), Ok(vec!["a".into()]));
}
