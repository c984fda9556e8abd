//! What ends what takes too long or too much: the fuel of templates, with a finding at its place, and the budget of the process, with
//! exit status 2.

use crate::support::stage::project;

/// What a check prints of clusters whose values all hold this version.
fn checked(clusters: usize, version: &str, threads: &str) -> String {
    let project = project()
        .settings("values: [v.yaml]\nclusters: [{each: clusters/*/values.yaml}]")
        .file("v.yaml", format!("cluster:\n  k8s_version: '{version}'\n"))
        .variable("RAYON_NUM_THREADS", threads);
    for cluster in 0..clusters {
        project.write(&format!("clusters/c{cluster}/values.yaml"), "{}\n");
    }
    let outcome = project.run("check").exit(1).outcome;
    outcome.stdout + &outcome.stderr
}

#[test]
fn a_finding_names_the_place_at_which_the_budget_was_spent() {
    let bomb = "{{ range until 10000 }}{{ range until 10000 }}{{ $x := 1 }}{{ end }}{{ end }}";
    let report = checked(1, bomb, "2");
    assert!(report.contains("error[expression-error]"), "{report}");
    assert!(report.contains("v.yaml:2:"), "{report}");
    assert!(
        report.contains("the expressions of this cluster"),
        "{report}"
    );
}

#[test]
fn an_error_quotes_no_more_than_a_piece_of_a_long_text() {
    for call in [
        "semverCompare (repeat 1000000 \">1 || \") \"1.2.3\"",
        "semverCompare (repeat 3000 \"x\") \"1.2.3\"",
        "semver (repeat 1000 \"x\")",
        "semver (repeat 1000000 \"x\")",
        "regexFind (repeat 100000 \"(\") \"x\"",
        "urlParse (repeat 100000 \"%\")",
        "fail (repeat 1000000 \"x\")",
        "required (repeat 1000000 \"x\") nil",
        "include (repeat 1000000 \"x\") .",
        "tpl (repeat 100000 \"{{ x }}\") .",
        "fromYaml (repeat 100000 \"[\") | toString | fail",
        "get (dict) (repeat 100000 \"x\") | required (repeat 100000 \"x\")",
    ] {
        let report = checked(1, &format!("{{{{ {call} }}}}"), "2");
        assert!(
            report.starts_with("error[expression-error]: "),
            "{call}: {report}"
        );
        assert!(report.len() < 6_000, "{call}: {} bytes", report.len());
    }
}
