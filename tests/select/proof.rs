//! What a fact proves of a version: every pair of what is wanted and what is known, by where it comes from and by mode.

use capi::image::{Fact, Origin};
use capi::location::file_name;
use metalmark::decide::proof::judge_version;
use metalmark::model::judgment::Doubt;
use metalmark::model::judgment::Judgment::{self, ByName, Mismatched, Proven};
use metalmark::model::selector::Matching;
use yaml_tree::place::Place;

const STRONG: [Origin; 5] = [
    Origin::InfoFile,
    Origin::Record,
    Origin::Values,
    Origin::Annotation,
    Origin::Lock,
];

fn no_build(fact: Fact) -> Judgment {
    Judgment::Unproven(Doubt::NoBuild(fact))
}

fn no_patch(fact: Fact) -> Judgment {
    Judgment::Unproven(Doubt::NoPatch(fact))
}

/// What is no version is not another one.
fn nothing(_: Fact) -> Judgment {
    Judgment::Unproven(Doubt::Nothing)
}

/// A judgment that a fact is the evidence of.
type Judged = fn(Fact) -> Judgment;

#[test]
fn what_each_kind_of_source_proves() {
    let cases: [(&str, &str, Judged, Judged, Judged); 26] = [
        // Wanted, known; what a strong fact proves by version and by text, and what a name does.
        ("v1.31.8+rke2r1", "1.31.8+rke2r1", Proven, Proven, ByName),
        ("1.31.8+rke2r1", "1.31.8+rke2r1", Proven, Proven, ByName),
        (
            "v1.31.8+rke2r1",
            "v1.31.8+rke2r1",
            Proven,
            Mismatched,
            ByName,
        ),
        (
            "v1.31.8+rke2r1",
            "1.31.8-rke2r1",
            Proven,
            Mismatched,
            ByName,
        ),
        (
            "v1.31.8+rke2r1",
            "1-31-8-rke2r1",
            Proven,
            Mismatched,
            ByName,
        ),
        ("v1.31.8+rke2r1", "1.31.8", no_build, Mismatched, ByName),
        ("v1.31.8", "1.31.8+rke2r1", no_build, Mismatched, ByName),
        ("v1.31.8", "1.31.8", Proven, Proven, ByName),
        (
            "v1.31.8+rke2r1",
            "1.31.8+rke2r2",
            Mismatched,
            Mismatched,
            Mismatched,
        ),
        (
            "v1.31.8+rke2r1",
            "1.31.9+rke2r1",
            Mismatched,
            Mismatched,
            Mismatched,
        ),
        (
            "v1.31.8+rke2r1",
            "1.30.8+rke2r1",
            Mismatched,
            Mismatched,
            Mismatched,
        ),
        (
            "v1.31.8+rke2r1",
            "2.31.8+rke2r1",
            Mismatched,
            Mismatched,
            Mismatched,
        ),
        ("v1.31.8+rke2r1", "1.31", no_patch, Mismatched, no_patch),
        ("v1.31.8+rke2r1", "1.30", Mismatched, Mismatched, Mismatched),
        ("v1.31", "1.31.8+rke2r1", no_patch, Mismatched, no_patch),
        ("v1.31", "1.31", no_patch, no_patch, no_patch),
        ("v1.31", "1.32", Mismatched, Mismatched, Mismatched),
        // Dots behind the numbers are no patch level.
        ("v1.31-rc.1", "1.31-rc.1", no_patch, no_patch, no_patch),
        (
            "v1.31+k3s.1.2",
            "1.31+k3s.1.2",
            no_patch,
            no_patch,
            no_patch,
        ),
        ("v1.31.8", "1.31.8-rc.1", Mismatched, Mismatched, Mismatched),
        ("v1.31.8-rc.1", "1.31.8-rc.1", Proven, Proven, ByName),
        ("v1.31.8-rc.1", "1.31.8-rc1", Proven, Mismatched, ByName),
        // What is no version is proven by the same text alone.
        ("latest", "latest", Proven, Proven, ByName),
        ("latest", "1.31.8", nothing, Mismatched, nothing),
        ("v1.31.8", "latest", Mismatched, Mismatched, Mismatched),
        ("a.b.c", "a.b.c", Proven, Proven, ByName),
    ];
    for (wanted, held, by_version, by_text, by_name) in cases {
        let judge = |origin, expected: [Judged; 2]| {
            let fact = Fact {
                value: held.into(),
                origin,
                place: Place::NONE,
            };
            let found = [Matching::Normalized, Matching::Exact]
                .map(|mode| judge_version(wanted, Some(&fact), mode));
            let expected = expected.map(|judged| judged(fact.clone()));
            assert_eq!(found, expected, "{wanted} {held} {origin}");
        };
        for origin in STRONG {
            judge(origin, [by_version, by_text]);
        }
        // A name is read the same in both modes: Sylva does not see it.
        judge(Origin::Name, [by_name, by_name]);
    }
    for mode in [Matching::Normalized, Matching::Exact] {
        let unknown = judge_version("v1.31.8", None, mode);
        assert_eq!(unknown, Judgment::Unproven(Doubt::Nothing));
    }
}

#[test]
fn the_file_of_a_url() {
    for (url, expected) in [
        ("https://h/a/b.raw", "b.raw"),
        ("https://h/a/b.raw?x=1/2", "b.raw"),
        ("https://h/a/b.raw#/x", "b.raw"),
        ("https://h/a/b.raw#x?y", "b.raw"),
        ("https://h/a/b.raw?x#y/z", "b.raw"),
        ("https://h/a/", ""),
        ("b.raw", "b.raw"),
        ("", ""),
    ] {
        assert_eq!(file_name(url), expected, "{url}");
    }
}
