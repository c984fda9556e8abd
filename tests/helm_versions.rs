//! `helm:` names the version of Helm that deploys the values: their expressions are answered as that version answers them.

use std::fs;

use tempfile::TempDir;

use super::support::{Metalmark, Outcome};

/// A project with one cluster, whose project file ends with those lines.
fn project(settings: &str, values: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let project =
        format!("version: 1\nclusters: [{{name: edge, values: [values.yaml]}}]\n{settings}");
    fs::write(folder.path().join("metalmark.yaml"), project).expect("the project file");
    fs::write(folder.path().join("values.yaml"), values).expect("the values");
    folder
}

fn values(settings: &str, values: &str, arguments: &[&str]) -> Outcome {
    Metalmark::within(project(settings, values).path())
        .args(["values", "edge"])
        .args(arguments.iter().copied())
        .run()
}

/// Masterminds/semver 3.4, which Helm has since 3.19.
#[test]
fn a_prerelease_satisfies_a_constraint_as_the_version_of_helm_decides() {
    let expression = "v: '{{ semverCompare \"!=1.31.8\" \"v1.31.9-rc1\" }}'\n";
    for (settings, expected) in [
        ("", "\"false\""),
        ("helm: 3\n", "\"false\""),
        ("helm: \"3.17\"\n", "\"true\""),
        ("helm: \"3.18\"\n", "\"true\""),
        ("helm: \"3.19\"\n", "\"false\""),
        ("helm: 4\n", "\"false\""),
        ("helm: \"4.2\"\n", "\"false\""),
    ] {
        let outcome = values(settings, expression, &["v"]);
        assert_eq!(
            (outcome.status, outcome.stdout.trim()),
            (0, expected),
            "{settings}"
        );
    }
}

/// Without quotes, `3.20` is the number 3.2.
#[test]
fn a_minor_of_helm_is_a_text_of_the_list() {
    for (given, found, help) in [
        ("3.20", "not `3.2`", "did you mean"),
        ("3.17", "not `3.17`", "help: quote it"),
        ("5", "not `5`", "help: write one of `3`, `4`, `3.17`"),
        (
            "\"3.x\"",
            "not `3.x`",
            "help: write one of `3`, `4`, `3.17`",
        ),
    ] {
        let folder = project(&format!("helm: {given}\n"), "cluster: {}\n");
        let outcome = Metalmark::within(folder.path()).args(["check"]).run();
        for text in [found, help, "metalmark.yaml:3:7"] {
            assert!(outcome.stdout.contains(text), "{given}: {}", outcome.stdout);
        }
    }
}

/// Of 1,000 random doubles, 115 were printed with another last digit, and what was nested 127 deep as `null`.
#[test]
fn json_has_every_digit_and_every_level() {
    let floats = values(
        "",
        "v: 123456789.123456789\nw: '{{ 123456789.123456789 | include \"preserve-type\" }}'\n",
        &["--output", "json"],
    );
    let digits = "123456789.12345679";
    assert_eq!(
        floats.stdout.matches(digits).count(),
        2,
        "{}",
        floats.stdout
    );
    let deep = format!("v: {}{}\n", "[".repeat(200), "]".repeat(200));
    let deep = values("", &deep, &["v", "--output", "json"]);
    assert_eq!(
        (deep.status, deep.stdout.matches('[').count()),
        (0, 200),
        "{}",
        deep.stderr
    );
}

/// The checksum of other bytes would be another one, without a word.
#[test]
fn bytes_that_are_no_text_are_refused() {
    let outcome = values("", "v: '{{ b64dec \"/w==\" | sha256sum }}'\n", &["v"]);
    assert_eq!(outcome.status, 1);
    let message = "`b64dec` makes bytes that are not UTF-8";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("values.yaml:1:8"),
        "{}",
        outcome.stderr
    );
}
