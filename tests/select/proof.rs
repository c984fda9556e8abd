//! What a fact proves of a version: every pair of what is wanted and what is known, by where it comes from and by mode.

use capi::image::{Fact, Origin};
use capi::location::file_name;
use metalmark::decide::proof::Proof::{BuildUnknown, NameOnly, Partial, Proven, Refuted, Unknown};
use metalmark::decide::proof::{Proof, weigh_version};
use metalmark::model::selector::Matching;
use yaml_tree::place::Place;

const STRONG: [Origin; 5] = [
    Origin::InfoFile,
    Origin::Record,
    Origin::Values,
    Origin::Annotation,
    Origin::Lock,
];

fn weigh(wanted: &str, held: &str, origin: Origin, matching: Matching) -> Proof {
    let fact = Fact {
        value: held.into(),
        origin,
        place: Place::NONE,
    };
    weigh_version(wanted, Some(&fact), matching)
}

#[test]
fn what_each_kind_of_source_proves() {
    let cases = [
        // Wanted, known; what a strong fact proves by version and by text, and what a name does.
        ("v1.31.8+rke2r1", "1.31.8+rke2r1", Proven, Proven, NameOnly),
        ("1.31.8+rke2r1", "1.31.8+rke2r1", Proven, Proven, NameOnly),
        (
            "v1.31.8+rke2r1",
            "v1.31.8+rke2r1",
            Proven,
            Refuted,
            NameOnly,
        ),
        ("v1.31.8+rke2r1", "1.31.8-rke2r1", Proven, Refuted, NameOnly),
        ("v1.31.8+rke2r1", "1-31-8-rke2r1", Proven, Refuted, NameOnly),
        ("v1.31.8+rke2r1", "1.31.8", BuildUnknown, Refuted, NameOnly),
        ("v1.31.8", "1.31.8+rke2r1", BuildUnknown, Refuted, NameOnly),
        ("v1.31.8", "1.31.8", Proven, Proven, NameOnly),
        ("v1.31.8+rke2r1", "1.31.8+rke2r2", Refuted, Refuted, Refuted),
        ("v1.31.8+rke2r1", "1.31.9+rke2r1", Refuted, Refuted, Refuted),
        ("v1.31.8+rke2r1", "1.30.8+rke2r1", Refuted, Refuted, Refuted),
        ("v1.31.8+rke2r1", "2.31.8+rke2r1", Refuted, Refuted, Refuted),
        ("v1.31.8+rke2r1", "1.31", Partial, Refuted, Partial),
        ("v1.31.8+rke2r1", "1.30", Refuted, Refuted, Refuted),
        ("v1.31", "1.31.8+rke2r1", Partial, Refuted, Partial),
        ("v1.31", "1.31", Partial, Partial, Partial),
        ("v1.31", "1.32", Refuted, Refuted, Refuted),
        // Dots behind the numbers are no patch level.
        ("v1.31-rc.1", "1.31-rc.1", Partial, Partial, Partial),
        ("v1.31+k3s.1.2", "1.31+k3s.1.2", Partial, Partial, Partial),
        ("v1.31.8", "1.31.8-rc.1", Refuted, Refuted, Refuted),
        ("v1.31.8-rc.1", "1.31.8-rc.1", Proven, Proven, NameOnly),
        ("v1.31.8-rc.1", "1.31.8-rc1", Proven, Refuted, NameOnly),
        // What is no version is proven by the same text alone.
        ("latest", "latest", Proven, Proven, NameOnly),
        ("latest", "1.31.8", Refuted, Refuted, Refuted),
        ("v1.31.8", "latest", Refuted, Refuted, Refuted),
        ("a.b.c", "a.b.c", Proven, Proven, NameOnly),
    ];
    for (wanted, held, by_version, by_text, by_name) in cases {
        for origin in STRONG {
            let found = [Matching::Normalized, Matching::Exact]
                .map(|mode| weigh(wanted, held, origin, mode));
            assert_eq!(found, [by_version, by_text], "{wanted} {held} {origin}");
        }
        // A name is read the same in both modes: Sylva does not see it.
        for mode in [Matching::Normalized, Matching::Exact] {
            let found = weigh(wanted, held, Origin::Name, mode);
            assert_eq!(found, by_name, "{wanted} {held} {mode:?}");
        }
    }
    for mode in [Matching::Normalized, Matching::Exact] {
        assert_eq!(weigh_version("v1.31.8", None, mode), Unknown);
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
