//! A key, a URL or nothing, beside a selector and without one (docs/sylva.md#selection-levels).

use capi::image::{Fact, Images, Origin};
use yaml_tree::place::{Located, Place};

use super::{HERE, both, by_key, by_selector, cluster, found, images, outcomes, rke2, selector};
use crate::decide::matching::{ClusterFacts, PatternCache, matching};
use crate::model::cluster::Choice;
use crate::model::selection::Outcome;
use crate::model::selector::Library;
use crate::model::selector::Matching;
use crate::model::selector::Selector;

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
    let catalog = images([dotted]);
    let choice = by_key("ubuntu-jammy-plain-rke2-1.26.9");
    let outcome = outcomes(&choice, &ClusterFacts::default(), &catalog);
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
fn an_explicit_url_counts_where_nothing_else_is_set() {
    let mut choice = Choice {
        url: Some(Located::new("http://server/image.raw".into(), HERE)),
        ..Choice::default()
    };
    let facts = ClusterFacts::default();
    assert_eq!(
        outcomes(&choice, &facts, &Images::new()),
        both(Outcome::Explicit(None))
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
            Library::default(),
            &images,
            Matching::Exact,
            &PatternCache::default(),
        )
    };
    assert_eq!(keys("img-a"), Ok(vec!["img-a".into()]));
    assert_eq!(keys("img-b"), Ok(Vec::new()));
    assert_eq!(keys("img.a"), Ok(vec!["img-a".into(), "imgxa".into()]));
}
