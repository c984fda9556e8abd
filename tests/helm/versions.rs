//! `helm:` names the version of Helm that deploys the values: their expressions are answered as that version answers them.

use snapbox::str;

use crate::support::stage::{Is, Run, Stage, project, table};

/// A project with one cluster, whose project file has those lines.
fn site(settings: &str, values: &str) -> Stage {
    project().cluster("edge", values).settings(settings)
}

fn run(settings: &str, values: &str, words: &str) -> Run {
    site(settings, values).run(&format!("values edge {words}"))
}

/// Masterminds/semver 3.4, which Helm has since 3.19.
#[test]
fn a_prerelease_satisfies_a_constraint_as_the_version_of_helm_decides() {
    let expression = "v: '{{ semverCompare \"!=1.31.8\" \"v1.31.9-rc1\" }}'\n";
    let settings = [
        "",
        "helm: 3",
        "helm: \"3.17\"",
        "helm: \"3.18\"",
        "helm: \"3.19\"",
        "helm: 4",
        "helm: \"4.2\"",
    ];
    let table = table(settings, |settings| {
        let printed = run(settings, expression, "v").exit(0).outcome.stdout;
        vec![printed.trim().to_owned()]
    });
    table.is(str![[r#"

    "false"
helm: 3
    "false"
helm: "3.17"
    "true"
helm: "3.18"
    "true"
helm: "3.19"
    "false"
helm: 4
    "false"
helm: "4.2"
    "false"

"#]]);
}

/// Without quotes, `3.20` is the number 3.2.
#[test]
fn a_minor_of_helm_is_a_text_of_the_list() {
    let table = table(["3.20", "3.17", "5", "\"3.x\""], |given| {
        let stage = site(&format!("helm: {given}"), "cluster: {}\n");
        let printed = stage.run("check").outcome.stdout;
        let lines = printed.lines().map(str::trim_start);
        let words = ["error[", "-->", "= help"];
        let lines = lines.filter(|line| words.iter().any(|word| line.starts_with(word)));
        lines.map(str::to_owned).collect()
    });
    table.is(str![[r#"
3.20
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `3.2`
    --> metalmark.yaml:3:7
    = help: write one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`
3.17
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `3.17`
    --> metalmark.yaml:3:7
    = help: quote it
5
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `5`
    --> metalmark.yaml:3:7
    = help: write one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`
"3.x"
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `3.x`
    --> metalmark.yaml:3:7
    = help: write one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`

"#]]);
}

/// Of 1,000 random doubles, 115 were printed with another last digit, and what was nested 127 deep as `null`.
#[test]
fn json_has_every_digit_and_every_level() {
    let values =
        "v: 123456789.123456789\nw: '{{ 123456789.123456789 | include \"preserve-type\" }}'\n";
    let floats = run("", values, "--output json").exit(0).outcome.stdout;
    assert_eq!(floats.matches("123456789.12345679").count(), 2, "{floats}");
    let deep = format!("v: {}{}\n", "[".repeat(200), "]".repeat(200));
    let deep = run("", &deep, "v --output json").exit(0).outcome.stdout;
    assert_eq!(deep.matches('[').count(), 200, "{deep}");
}

/// The checksum of other bytes would be another one, without a word.
#[test]
fn bytes_that_are_no_text_are_refused() {
    let values = "v: '{{ b64dec \"/w==\" | sha256sum }}'\n";
    let _ = run("", values, "v").exit(1).brief(str![[r#"
error[expression-error]: `b64dec` makes bytes that are not UTF-8, with which expressions cannot compute here; set the result in a values file
  edge.yaml:1:8 `b64dec "/w=="` in `v`
  cluster: edge
1 error in 1 cluster

"#]]);
}
