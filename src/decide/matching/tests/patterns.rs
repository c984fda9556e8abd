//! What patterns match, and what they do not (docs/sylva.md#selectors, #patterns).

use capi::image::Origin;

use super::{both, by_selector, cluster, found, image, images, outcomes, rke2, selector};
use crate::decide::matching::{PatternCache, matching};
use crate::model::selection::Outcome;
use crate::model::selector::Library;
use crate::model::selector::Matching;

#[test]
fn a_missing_fact_is_the_word_unset() {
    let images = images([rke2("a", "true", "1.31.8")]);
    let facts = cluster("v1.31.8", "cabpr");
    for (pattern, outcome) in [
        (".*", found("a")),
        ("//unset", found("a")),
        ("0.4.12", Outcome::NoMatch),
        ("", Outcome::NoMatch),
    ] {
        let choice = by_selector(&[("commit-tag", pattern)]);
        assert_eq!(
            outcomes(&choice, &facts, &images),
            both(outcome),
            "{pattern}"
        );
    }
}

#[test]
fn what_go_refuses_matches_nothing_and_what_breaks_out_matches_all() {
    let images = images([rke2("a", "true", "1.31.8")]);
    let facts = cluster("v1.31.8", "cabpr");
    let outcome = |pattern| outcomes(&by_selector(&[("os", pattern)]), &facts, &images).0;
    for pattern in ["(?!x)ubuntu", r"(u)\1buntu", "u**", r"ubuntu\Z"] {
        assert_eq!(outcome(pattern), Outcome::NoMatch, "{pattern}");
    }
    assert_eq!(outcome("opensuse)|(.*"), found("a"));
}

#[test]
fn a_refused_selector_is_invalid_in_both_modes() {
    let images = images([rke2("a", "true", "1.31.8")]);
    let facts = cluster("v1.31.8", "cabpr");
    for terms in [
        [("os-version", "15.6")],
        [("os-release", "a number?")],
        [("_use_extra_keys_", "null?")],
    ] {
        let (exact, normalized) = outcomes(&by_selector(&terms), &facts, &images);
        assert!(matches!(exact, Outcome::Invalid(_)), "{terms:?}");
        assert_eq!(exact, normalized);
    }
    let unknown_provider = outcomes(
        &by_selector(&[("os", "ubuntu")]),
        &cluster("v1.31.8", "cabpx"),
        &images,
    );
    assert!(matches!(unknown_provider.0, Outcome::Invalid(_)));
}

#[test]
fn extra_facts_match_once_opted_in() {
    let images = images([image("a", Origin::Annotation, &[("size", "22000000000")])]);
    let written = selector(&[("size", "22.*"), ("_use_extra_keys_", "false!")]);
    let keys = matching(
        &written,
        Library::default(),
        &images,
        Matching::Exact,
        &PatternCache::default(),
    );
    assert_eq!(keys, Ok(vec!["a".into()]));
}
