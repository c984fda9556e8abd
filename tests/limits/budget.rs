//! The budget of a cluster's expressions: every function pays for what it reads and makes, whatever it is called with, and
//! what would take long or much is refused at its place. Work and memory are counted, at the limits of a real run.

use std::collections::BTreeSet;

use go_template::{Budget, ErrorClass, Limits, NoHost, Value, execute, functions, parse};

use crate::support::stage::project;

/// An expression that would take minutes, or all memory: one way each.
const BOMBS: &[(&str, &str)] = &[
    ("contains", LONG_TEXT),
    ("trunc 3", LONG_TEXT),
    ("substr 1 -1", LONG_TEXT),
    ("eq $s", LONG_TEXT),
    ("hasSuffix \"b\"", LONG_TEXT),
    ("hasPrefix $s", LONG_TEXT),
    ("trim", LONG_TEXT),
    ("atoi", LONG_TEXT),
    ("int", LONG_TEXT),
    ("float64", LONG_TEXT),
    ("sha256sum", LONG_TEXT),
    ("adler32sum", LONG_TEXT),
    ("regexMatch \"b\"", LONG_TEXT),
    ("toJson", SHARED_LIST),
    ("toPrettyJson", SHARED_LIST),
    ("toYaml", SHARED_LIST),
    ("toString", SHARED_LIST),
    ("printf \"%v\"", SHARED_LIST),
    ("cat", SHARED_LIST),
    ("quote", SHARED_LIST),
    ("join \",\"", SHARED_LIST),
    ("deepCopy", SHARED_LIST),
    ("deepEqual $b", SHARED_LIST),
    ("list | has $b", SHARED_LIST),
    ("toJson", SHARED_MAP),
    ("toYaml", SHARED_MAP),
    ("deepCopy", SHARED_MAP),
    ("regexReplaceAll \"a*b|a\"", MATCHES),
    ("regexReplaceAllLiteral \"a*b|a\"", MATCHES),
    ("regexFindAll \"a*b|a\"", MATCHES),
    ("regexSplit \"a*b|a\"", MATCHES),
    ("regexFindAll \"\"", MATCHES),
    ("regexMatch \"[ab]*a[ab]{500}c\"", MATCHES),
    ("splitList \"\"", PIECES),
    ("split \"\"", PIECES),
    ("until", PIECES),
];

/// A cheap call on a long text, again and again.
const LONG_TEXT: &str =
    "{{ $s := repeat 1900000 \"a\" }}{{ range until 10000 }}{{ $x := CALL $s }}{{ end }}";

/// A list of 60 levels that has two to the power of 60 items: each level holds the one below twice.
const SHARED_LIST: &str = "{{ $a := list 1 }}{{ $b := list 1 }}{{ range until 60 }}{{ $a = list $a $a }}{{ $b = list $b $b }}{{ end }}\
    {{ $x := $a | CALL }}";

/// The same with maps.
const SHARED_MAP: &str = "{{ $a := dict }}{{ range until 60 }}{{ $a = dict \"a\" $a \"b\" $a }}{{ end }}{{ $x := $a | CALL }}";

/// A search that reads all of the text to find one letter of it.
const MATCHES: &str = "{{ $s := repeat 1900000 \"a\" }}{{ CALL $s ARGUMENT | len }}";

/// A text of which each letter becomes a value.
const PIECES: &str = "{{ CALL ARGUMENT | len }}";

fn bomb(call: &str, template: &str) -> String {
    let argument = match call.split(' ').next().unwrap_or_default() {
        "contains" => return template.replace("CALL", "contains \"b\""),
        "regexReplaceAll" | "regexReplaceAllLiteral" => "\"x\"",
        "regexFindAll" | "regexSplit" => "-1",
        "splitList" | "split" => "(repeat 1900000 \"a\")",
        "until" => "200000",
        _ => "",
    };
    template.replace("CALL", call).replace("ARGUMENT", argument)
}

fn refused(name: &str, text: &str) {
    let template = parse("bomb", text).expect(text);
    // A cluster of a large fleet has no more; in a build without optimization, all steps of a run take long.
    let budget = Budget::new(Limits::default().for_clusters(usize::MAX));
    let error = execute(&template, &Value::Nil, &NoHost, &budget).expect_err(name);
    assert_eq!(error.class, ErrorClass::Limit, "{text}: {error}");
    assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}");
    assert!(!error.span.is_empty(), "{text}: {error:?}");
}

#[test]
fn what_would_take_minutes_or_all_memory_is_refused_at_its_place() {
    for (call, template) in BOMBS {
        refused(call, &bomb(call, template));
    }
}

/// Texts and values of some length, of which functions make others.
const ARGUMENTS: &[&str] = &["$long", "$lines", "$list", "$map", "300", "\"a\""];

#[test]
fn every_function_pays_for_each_text_that_it_is_given() {
    const LENGTH: u64 = 1 << 14;
    let long = Value::from("a".repeat(LENGTH as usize));
    let mut called = 0;
    for name in functions() {
        for count in 1..=3 {
            for place in 0..count {
                let short = [
                    Value::from("a"),
                    Value::Int(1),
                    Value::map(Default::default()),
                ];
                for other in short {
                    let mut arguments = vec![other; count];
                    arguments[place] = long.clone();
                    let budget = Budget::new(Limits::default());
                    let engine = Default::default();
                    let result = go_template::call(name, &arguments, engine, &budget);
                    let is_refused = |error: &go_template::Error| {
                        use ErrorClass::{MissingFunction, Refused, WrongArgCount};
                        matches!(error.class, MissingFunction | Refused | WrongArgCount)
                    };
                    if result.as_ref().is_err_and(is_refused) {
                        continue;
                    }
                    called += 1;
                    let steps = budget.steps_spent();
                    assert!(steps >= LENGTH / 32, "{name} {place} of {count}: {steps}");
                }
            }
        }
    }
    assert!(called > 1_000, "{called}");
}

#[test]
fn every_function_pays_for_what_it_makes() {
    let mut made = BTreeSet::new();
    for name in functions() {
        for first in ARGUMENTS {
            for second in ARGUMENTS.iter().chain(&[""]) {
                let text = format!(
                    "{{{{ $long := repeat 1000 \"a\" }}}}{{{{ $lines := repeat 500 \"é\\n\" }}}}{{{{ $list := until 100 }}}}\
                     {{{{ $map := dict \"a\" $long \"b\" $list }}}}{{{{ $made := {name} {first} {second} }}}}{{{{ $made }}}}"
                );
                let Ok(template) = parse("made", &text) else {
                    continue;
                };
                let budget = Budget::new(Limits::default());
                let Ok(written) = execute(&template, &Value::Nil, &NoHost, &budget) else {
                    continue;
                };
                let bytes = budget.bytes_spent();
                assert!(bytes >= written.len() as u64, "{name} {first} {second}");
                made.insert(name);
            }
        }
    }
    assert!(made.len() > 100, "{} functions make something", made.len());
}

#[test]
fn each_cluster_has_an_equal_share_of_the_runs_budget_and_at_least_what_it_needs() {
    let run = Limits::default();
    let of = |clusters| {
        let share = run.for_clusters(clusters);
        (share.steps, share.bytes)
    };
    assert_eq!(of(0), (run.steps, run.bytes));
    assert_eq!(of(1), (run.steps, run.bytes));
    assert_eq!(of(4), (run.steps / 4, run.bytes / 4));
    assert_eq!(of(100), (200_000, 4 << 20));
    assert_eq!(of(10_000), (200_000, 4 << 20));
}

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
    let bomb = "{{ $s := repeat 20000000 \"a\" }}{{ range until 1000000 }}{{ $x := contains \"b\" $s }}{{ end }}";
    let report = checked(1, bomb, "2");
    assert!(report.contains("error[expression-error]"), "{report}");
    assert!(report.contains("v.yaml:2:"), "{report}");
    assert!(
        report.contains("the expressions of this cluster"),
        "{report}"
    );
}

#[test]
fn each_cluster_spends_its_own_share_whatever_the_threads() {
    // About a third of a run's steps: one cluster has enough, and each of four has not.
    let half =
        "{{ $l := until 1000 }}{{ range $l }}{{ range $l }}{{ $x := 1 }}{{ end }}{{ end }}v1.31.8";
    assert!(!checked(1, half, "2").contains("more than"));
    let alone = checked(4, half, "1");
    assert!(alone.contains("more than 5000000 steps"), "{alone}");
    for threads in ["2", "7"] {
        assert_eq!(checked(4, half, threads), alone);
    }
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
