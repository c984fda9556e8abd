//! What selectors match: versions in their spellings, patterns as Go reads them, facts of one's own and numbers.

use super::super::support::project::Project;
use super::{CLUSTER, answer};

/// A version without its build is no proof of the build that the cluster runs, so a selector does not take it; a name
/// without it may be that image.
#[test]
fn a_selector_compares_the_whole_version() {
    let cases = [
        // The image's version, the cluster's, whether Sylva matches, whether metalmark does.
        ("1.31.8+rke2r1", "v1.31.8+rke2r1", true, true),
        ("1.31.8-rke2r1", "v1.31.8+rke2r1", false, true),
        ("v1.31.8+rke2r1", "v1.31.8+rke2r1", false, true),
        ("1.31.8", "v1.31.8+rke2r1", false, false),
        ("1.31.8+rke2r1", "v1.31.8", false, false),
        ("1.31.8+rke2r2", "v1.31.8+rke2r1", false, false),
        ("1.31.9+rke2r1", "v1.31.8+rke2r1", false, false),
        ("1.31", "v1.31.8+rke2r1", false, false),
        ("1.31.8-rc.1", "v1.31.8", false, false),
        ("1.31.8", "1.31.8", true, true),
        ("latest", "v1.31.8", false, false),
    ];
    for (held, cluster, exact, normalized) in cases {
        let values = format!(
            "os_images: {{img-a: {{uri: 'https://s/a', os: ubuntu, k8s-flavor: rke2, k8s-version: '{held}'}}}}\n\
             cluster:\n  k8s_version: {cluster}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  \
             capm3: {{os_image_selector: {{os: ubuntu}}}}\n"
        );
        for (mode, fits) in [("exact", exact), ("normalized", normalized)] {
            let view = Project::of(&values, &format!("matching: {mode}\n")).view();
            let expected = if fits { "img-a" } else { "(none)" };
            assert_eq!(
                answer(&view.selections[0].outcome),
                expected,
                "{mode}: {held} for {cluster}"
            );
        }
    }
}

/// What people write as a version in a selector, for an image of `1.31.8+rke2r1` or of `1x31`.
#[test]
fn patterns_of_versions() {
    let cases = [
        // The pattern; whether it matches by text, and by version in any spelling.
        ("1\\.31\\.8\\+rke2r1", "", true, true),
        ("1.31.8-rke2r1", "", false, true),
        ("v1.31.8\\+rke2r1", "", false, true),
        ("1.31.8-.*", "", false, true),
        ("v1.31.8-rke2.*", "", false, true),
        ("v1.31.8\\+rke2.*", "", false, true),
        ("1.31.*", "", true, true),
        ("1.31", "", false, false),
        ("1.31.8", "", false, false),
        ("1.31.9\\+rke2r1", "", false, false),
        ("1.31", "1x31", true, true),
        ("1-31", "1.31", false, false),
    ];
    for (pattern, held, exact, normalized) in cases {
        let held = if held.is_empty() {
            "1.31.8+rke2r1"
        } else {
            held
        };
        let values = format!(
            "os_images: {{img-a: {{uri: 'https://s/a', k8s-flavor: rke2, k8s-version: '{held}'}}}}\n\
             {CLUSTER}  capm3: {{os_image_selector: {{k8s-version: '{pattern}'}}}}\n"
        );
        for (mode, fits) in [("exact", exact), ("normalized", normalized)] {
            let view = Project::of(&values, &format!("matching: {mode}\n")).view();
            let expected = if fits { "img-a" } else { "(none)" };
            assert_eq!(
                answer(&view.selections[0].outcome),
                expected,
                "{mode}: {pattern}"
            );
        }
    }
}

/// `_use_extra_keys_` opts in whatever its value, and is no fact that an image has to have (docs/sylva.md#selectors).
#[test]
fn facts_of_ones_own_need_the_opt_in() {
    for (selector, expected) in [
        ("{mine: x}", "(invalid)"),
        ("{mine: x, _use_extra_keys_: true}", "img-a"),
        ("{mine: x, _use_extra_keys_: false}", "img-a"),
        ("{mine: x, _use_extra_keys_: ''}", "img-a"),
        ("{mine: y, _use_extra_keys_: true}", "(none)"),
        ("{_use_extra_keys_: true}", "(several) img-a img-b"),
        ("{mine: x, _use_extra_keys_: null}", "(invalid)"),
        ("{mine: x, _use_extra_keys_: 1}", "(invalid)"),
        ("{mine: 5, _use_extra_keys_: true}", "(invalid)"),
    ] {
        let values = format!(
            "os_images: {{img-a: {{uri: 'https://s/a', mine: x, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}, img-b: {{uri: 'https://s/b', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}}}\n\
             {CLUSTER}  capm3: {{os_image_selector: {selector}}}\n"
        );
        for mode in ["exact", "normalized"] {
            let view = Project::of(&values, &format!("matching: {mode}\n")).view();
            assert_eq!(
                answer(&view.selections[0].outcome),
                expected,
                "{mode}: {selector}"
            );
        }
    }
}

/// Go's dot matches every character but a line's end.
#[test]
fn a_dot_matches_no_line_end() {
    for (pattern, expected) in [
        ("ubu.tu", "img-x"),
        ("ubu.*", "img-x"),
        (".*", "(several) img-n img-x"),
        ("ubu[^z]tu", "(several) img-n img-x"),
    ] {
        let values = format!(
            "os_images:\n  img-n: {{uri: 'https://s/n', os: \"ubu\\ntu\", k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}\n  \
             img-x: {{uri: 'https://s/x', os: ubuxtu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}\n\
             {CLUSTER}  capm3: {{os_image_selector: {{os: '{pattern}'}}}}\n"
        );
        let view = Project::of(&values, "").view();
        // `.*` is no exception: it takes no line's end either.
        let expected = if pattern == ".*" { "img-x" } else { expected };
        assert_eq!(answer(&view.selections[0].outcome), expected, "{pattern}");
    }
}

/// Go takes a backslash before a punctuation mark of ASCII alone: one before any other letter is no pattern, so nothing
/// matches it.
#[test]
fn an_escape_is_one_of_ascii_punctuation() {
    for (pattern, os, is_matched) in [
        (r"a\-b", "a-b", true),
        (r"a\_b", "a_b", true),
        (r"a\éb", "aéb", false),
        (r"a\€b", "a€b", false),
        (r"aéb", "aéb", true),
        (r"a\yb", "ayb", false),
        (r"a\yb", r"a\yb", false),
    ] {
        let values = format!(
            "os_images: {{img-a: {{uri: 'https://s/a', os: '{os}', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}}}\n\
             {CLUSTER}  capm3: {{os_image_selector: {{os: '{pattern}'}}}}\n"
        );
        let expected = if is_matched { "img-a" } else { "(none)" };
        let view = Project::of(&values, "").view();
        assert_eq!(answer(&view.selections[0].outcome), expected, "{pattern}");
    }
}
