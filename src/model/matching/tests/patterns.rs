//! What patterns match, and the traps in them (S20, S21, T3, T4).

use super::{both, by_selector, cluster, found, image, images, outcomes, rke2, selector};
use crate::model::image::Origin;
use crate::model::matching::{
    Matching, Outcome, PatternCache, TrapKind, finalise, matching, traps,
};

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
        let (exact, normalised) = outcomes(&by_selector(&terms), &facts, &images);
        assert!(matches!(exact, Outcome::Invalid(_)), "{terms:?}");
        assert_eq!(exact, normalised);
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
    let keys = matching(&written, &images, Matching::Exact, &PatternCache::default());
    assert_eq!(keys, Ok(vec!["a".into()]));
}

#[test]
fn each_trap_is_told_where_it_stands() {
    let images = images([
        rke2("a", "true", "1.31.8"),
        rke2("b", "true", "1x31y8"),
        rke2("c", "true", "1.30.1"),
    ]);
    let kinds = |terms: &[(&str, &str)]| -> Vec<TrapKind> {
        let traps = traps(&selector(terms), &images, &PatternCache::default());
        traps.into_iter().map(|trap| trap.kind).collect()
    };
    assert_eq!(kinds(&[("os-version", "15.6")]), [TrapKind::UnknownFact]);
    assert_eq!(
        kinds(&[("os-release", "a number?")]),
        [TrapKind::WrongType("a number")]
    );
    assert!(matches!(
        kinds(&[("os", "(?!x)")])[..],
        [TrapKind::Unreadable(_)]
    ));
    assert_eq!(kinds(&[("os", "ubuntu)|(.*")]), [TrapKind::BreaksOut]);
    assert_eq!(
        kinds(&[("commit-tag", ".*")]),
        [TrapKind::AcceptsMissing(vec![
            "a".into(),
            "b".into(),
            "c".into()
        ])]
    );
    assert_eq!(kinds(&[("os", ".*")]), []);
    assert_eq!(
        kinds(&[("k8s-version", "1.31.8")]),
        [TrapKind::LooseDot(vec!["1x31y8".into()])]
    );
    assert_eq!(kinds(&[("k8s-version", r"1\.31\.8")]), []);
    assert_eq!(kinds(&[("k8s-version", "v1.28.*")]), [TrapKind::LeadingV]);
}

#[test]
fn what_finalising_adds_is_no_trap() {
    let written = selector(&[("os", "ubuntu")]);
    let finalised = finalise(&written, &cluster("v1.31.8", "cabpr")).unwrap_or_default();
    let images = images([rke2("a", "true", "1.31.8")]);
    assert_eq!(traps(&finalised, &images, &PatternCache::default()), []);
}
