//! The rules S20–S25 and the traps of Sylva's matching, each with its example.

use std::sync::Arc;

use super::{
    ClusterFacts, Difference, Matching, Outcome, PatternCache, Selection, TrapKind, candidates,
    matching, select, traps,
};
use crate::model::cluster::Choice;
use crate::model::image::{Fact, Facts, Image, Images, Origin};
use crate::model::place::{FileId, Located, Place};
use crate::model::selector::{Selector, Term, Wanted};

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
    }
}

fn image(key: &str, origin: Origin, facts: &[(&str, &str)]) -> Image {
    let mut known = Facts::default();
    for (name, value) in facts {
        let fact = Fact {
            value: (*value).into(),
            origin,
            place: Place::NONE,
        };
        known.learn(name, fact);
    }
    Image {
        key: key.into(),
        artifact: key.into(),
        place: Place::NONE,
        uri: None,
        facts: known,
        enabled: None,
        built: true,
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
    select(choice, facts, images, mode, &PatternCache::default())
}

/// The outcome in both modes, after checking that each mode names the other's where they differ.
fn outcomes(choice: &Choice, facts: &ClusterFacts<'_>, images: &Images) -> (Outcome, Outcome) {
    let exact = chosen(choice, facts, images, Matching::Exact);
    let normalised = chosen(choice, facts, images, Matching::Normalised);
    let differs = exact.outcome != normalised.outcome;
    assert_eq!(
        exact.other_mode,
        differs.then(|| normalised.outcome.clone())
    );
    assert_eq!(
        normalised.other_mode,
        differs.then(|| exact.outcome.clone())
    );
    (exact.outcome, normalised.outcome)
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
    assert!(selection.candidates.is_empty());
    let names: Vec<&str> = selection
        .finalised
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
    let selection = chosen(&choice, &facts, &images, Matching::Normalised);
    assert_eq!(selection.outcome, Outcome::NoMatch);
    let differs = |index: usize| -> Vec<&str> {
        let candidate = &selection.candidates[index];
        candidate
            .differs
            .iter()
            .map(|difference| &*difference.fact)
            .collect()
    };
    assert_eq!(differs(0), ["commit-tag", "hardened", "os-release"]);
    assert_eq!(differs(1), ["commit-tag", "k8s-version", "os-release"]);
    let release = Difference {
        fact: "os-release".into(),
        wanted: "24.04".into(),
        has: Some("noble".into()),
    };
    assert!(selection.candidates[0].differs.contains(&release));
    assert_eq!(selection.candidates[0].differs[0].has, None);
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
fn the_old_spelling_of_a_build_matches_only_normalised() {
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
fn a_version_pattern_is_tried_in_every_spelling_when_normalised() {
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
    let catalogue = images([by_name.clone()].into_iter().chain(others));
    let outcome = outcomes(&choice, &facts, &catalogue);
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
fn a_key_alone_is_taken_unchecked() {
    let images = images([rke2("a-1-31", "true", "1.31.8")]);
    for facts in [ClusterFacts::default(), cluster("v1.20.0", "nonsense")] {
        let known = outcomes(&by_key("a-1-31"), &facts, &images);
        assert_eq!(known, both(found("a-1-31")));
        let unknown = outcomes(&by_key("b"), &facts, &Images::new());
        assert_eq!(unknown, both(Outcome::Unknown("b".into())));
        assert_eq!(
            outcomes(&by_key(""), &facts, &images),
            both(Outcome::Nothing)
        );
    }
}

#[test]
fn a_name_with_dots_names_the_image_of_that_artifact() {
    let mut dotted = rke2("ubuntu-jammy-plain-rke2-1-26-9", "true", "1.26.9");
    dotted.artifact = "ubuntu-jammy-plain-rke2-1.26.9".into();
    let catalogue = images([dotted]);
    let choice = by_key("ubuntu-jammy-plain-rke2-1.26.9");
    let outcome = outcomes(&choice, &ClusterFacts::default(), &catalogue);
    assert_eq!(outcome.0, found("ubuntu-jammy-plain-rke2-1-26-9"));
    let dashed = images([rke2("ubuntu-jammy-plain-rke2-1-26-9", "true", "1.26.9")]);
    let outcome = outcomes(&choice, &ClusterFacts::default(), &dashed);
    assert_eq!(
        outcome.0,
        Outcome::Unknown("ubuntu-jammy-plain-rke2-1.26.9".into())
    );
}

#[test]
fn a_key_beside_a_selector_must_agree_and_breaks_no_tie() {
    let images = images([
        rke2("plain", "false", "1.31.8"),
        rke2("hardened", "true", "1.31.8"),
    ]);
    let facts = cluster("v1.31.8", "cabpr");
    let with_key = |terms: &[(&str, &str)], key: &str| Choice {
        key: Some(Located::new(key.into(), HERE)),
        ..by_selector(terms)
    };
    let hardened = [("hardened", "true!")];
    assert_eq!(
        outcomes(&with_key(&hardened, "hardened"), &facts, &images),
        both(found("hardened"))
    );
    assert_eq!(
        outcomes(&with_key(&hardened, "plain"), &facts, &images),
        both(Outcome::Disagree {
            key: "plain".into(),
            selected: vec!["hardened".into()],
        })
    );
    let tie = outcomes(&with_key(&[("os", "ubuntu")], "plain"), &facts, &images);
    assert_eq!(
        tie,
        both(Outcome::Several(vec!["hardened".into(), "plain".into()]))
    );
    let none = outcomes(&with_key(&[("os", "windows")], "plain"), &facts, &images);
    assert_eq!(none, both(Outcome::NoMatch));
}

#[test]
fn an_empty_selector_is_none() {
    let images = images([rke2("a", "true", "1.31.8")]);
    let choice = Choice {
        selector: Some(Located::new(Selector::default(), HERE)),
        ..by_key("a")
    };
    assert_eq!(
        outcomes(&choice, &ClusterFacts::default(), &images),
        both(found("a"))
    );
}

#[test]
fn an_explicit_url_counts_where_nothing_else_stands() {
    let mut choice = Choice {
        url: Some(Located::new("http://server/image.raw".into(), HERE)),
        ..Choice::default()
    };
    let facts = ClusterFacts::default();
    assert_eq!(
        outcomes(&choice, &facts, &Images::new()),
        both(Outcome::Explicit)
    );
    choice.key = Some(Located::new("b".into(), HERE));
    assert_eq!(
        outcomes(&choice, &facts, &Images::new()),
        both(Outcome::Unknown("b".into()))
    );
    let nothing = outcomes(&Choice::default(), &facts, &Images::new());
    assert_eq!(nothing, both(Outcome::Nothing));
}

#[test]
fn the_images_own_key_is_matched_by_its_special_name() {
    let mut first = rke2("img-a", "true", "1.31.8");
    let overwritten = Fact {
        value: "img-b".into(),
        origin: Origin::Values,
        place: Place::NONE,
    };
    first.facts.learn("_os_images_key_", overwritten);
    let images = images([first, rke2("imgxa", "true", "1.31.8")]);
    let keys = |pattern| {
        let selector = selector(&[("_os_images_key_", pattern)]);
        matching(
            &selector,
            &images,
            Matching::Exact,
            &PatternCache::default(),
        )
    };
    assert_eq!(keys("img-a"), Ok(vec!["img-a".into()]));
    assert_eq!(keys("img-b"), Ok(Vec::new()));
    assert_eq!(keys("img.a"), Ok(vec!["img-a".into(), "imgxa".into()]));
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
fn additional_selectors_are_matched_as_they_stand() {
    let images = images([rke2("a", "true", "1.28.3+rke2r1")]);
    let cache = PatternCache::default();
    let written = selector(&[("k8s-version", "v1.28.*")]);
    let keys = |mode| matching(&written, &images, mode, &cache);
    assert_eq!(keys(Matching::Exact), Ok(Vec::new()));
    assert_eq!(keys(Matching::Normalised), Ok(vec!["a".into()]));
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
    let finalised = super::finalise(&written, &cluster("v1.31.8", "cabpr")).unwrap_or_default();
    let images = images([rke2("a", "true", "1.31.8")]);
    assert_eq!(traps(&finalised, &images, &PatternCache::default()), []);
}
