//! What ends what takes too long or too much: the fuel of templates, with a finding at its place, and the budget of the process, with
//! words and exit status 2, never by a signal.

use std::ffi::OsStr;

use crate::support::lsp::{Client, usual};
use crate::support::manifests::{GOOD, cluster, object};
use crate::support::stage::{Stage, project};

/// Values that share their parts: a few bytes that are two to the power of 60 items once they are walked or written.
const SHARED: &str = "{{ $a := list 1 }}{{ $b := list 1 }}{{ range until 60 }}{{ $a = list $a $a }}{{ $b = list $b $b }}{{ end }}";

/// A cluster whose version is an expression over them.
fn shared(end: &str) -> Stage {
    project().cluster("c", &format!("cluster:\n  k8s_version: '{SHARED}{end}'\n"))
}

/// What a run over its budget says on stderr.
#[track_caller]
fn ended(project: &Stage, words: &str) -> String {
    let run = project.run(words).exit(2);
    assert_eq!(run.outcome.stdout, "");
    run.outcome.stderr
}

#[test]
fn a_run_that_takes_too_much_memory_ends_with_what_it_worked_on() {
    let said = ended(&shared("{{ toJson $a | len }}"), "check --max-memory 150");
    assert_eq!(
        said,
        "error: more than 150 MiB of memory were taken in work on the cluster `c`\n\
         help: this much is for input that is wrong or hostile; for a repository that you trust, pass `--max-memory 300`\n"
    );
}

#[test]
fn a_run_that_takes_too_long_ends_while_it_is_stuck_in_a_loop() {
    let said = ended(&shared("{{ deepEqual $a $b }}"), "check --max-cpu 1");
    assert!(
        said.starts_with(
            "error: more than 1 seconds of CPU time were taken in work on the cluster `c`\nhelp: "
        ),
        "{said}"
    );
}

#[test]
fn a_run_that_takes_too_long_names_the_application_set() {
    let list = |key: &str| {
        let elements = vec![format!("{{{key}: '1'}}"); 3_000].join(", ");
        format!("{{list: {{elements: [{elements}]}}}}")
    };
    let set = format!(
        "spec: {{generators: [{{matrix: {{generators: [{}, {}]}}}}], template: {{spec: {{source: {{path: a}}}}}}}}\n",
        list("a"),
        list("b")
    );
    let project = project()
        .file(
            "set.yaml",
            object("argoproj.io/v1alpha1 ApplicationSet all", &set),
        )
        .file("a/kustomization.yaml", "resources: [edge.yaml]\n")
        .file("a/edge.yaml", cluster("v1.31.8", GOOD));
    let said = ended(&project, "check --max-cpu 1");
    let wanted =
        "error: more than 1 seconds of CPU time were taken in work on the ApplicationSet `all`\n";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
fn a_run_that_takes_too_long_names_the_file_that_it_read_where_no_stage_does() {
    let ignored: String = (0..20_000)
        .map(|index| format!("*a*b*c*{index}*\n"))
        .collect();
    let chart = project()
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        )
        .file("chart/.helmignore", ignored);
    let project = (0..300).fold(chart, |stage, index| {
        let name = "f".repeat(54);
        stage.file(&format!("chart/templates/{name}{index}.yaml"), "")
    });
    let said = ended(&project, "check --max-cpu 1");
    let wanted = "error: more than 1 seconds of CPU time were taken in work on `metalmark check`, after it read `chart/";
    assert!(said.starts_with(wanted), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_does_not_give_is_exit_status_two_and_no_signal() {
    let project = shared("{{ toJson $a | len }}");
    let run = project.shell("ulimit -v 1500000; metalmark check --max-memory 100000");
    let said = run.exit(2).outcome.stderr;
    assert!(said.contains("memory allocation of "), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_grow_no_more_is_an_error_and_no_signal() {
    let project = project().cluster("c", "cluster: {k8s_version: v1.31.8}\n");
    let run = project.shell("ulimit -f 8; metalmark page --to page.html");
    let said = run.exit(2).outcome.stderr;
    assert!(said.contains("cannot write"), "{said}");
}

#[test]
fn a_value_of_a_template_that_is_too_deep_for_the_stack_is_exit_status_two_and_no_signal() {
    let deep = "{% set a = [a] %}".repeat(30_000);
    let template = format!("{{% set a = 1 %}}{deep}# {{{{ a }}}}\n");
    let outcome = super::rendering::with_template(&template)
        .run("render --stdout")
        .outcome;
    assert!([1, 2].contains(&outcome.status), "{}", outcome.stderr);
}

#[test]
fn only_the_command_line_raises_the_budget() {
    let project = project()
        .settings("values: [v.yaml]\nclusters: [{name: a, values: [v.yaml]}]\nmax-memory: 1")
        .file("v.yaml", "cluster: {k8s_version: v1.31.8}\n");
    let said = project.run("check").exit(1).outcome.stdout;
    assert!(said.contains("max-memory"), "{said}");
    project.run("check --max-memory 0").exit(2);
}

/// It goes on, and says what was given up; once the file is mended, it is checked.
#[test]
fn a_language_server_survives_a_check_that_passes_its_budget() {
    let values = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capm3: {image_key: none}\n";
    let bomb = format!("a.yaml: '{SHARED}{{{{ toJson $a | len }}}}'\n");
    let clusters: Vec<String> = (0..40)
        .map(|index| format!("{{name: c{index}, values: [a.yaml]}}"))
        .collect();
    let project = project()
        .settings(&format!(
            "values: [v.yaml]\nclusters: [{}]",
            clusters.join(", ")
        ))
        .file("v.yaml", format!("{values}{bomb}"))
        .file("a.yaml", "{}\n");
    let small: [&OsStr; 4] = ["sh", "-c", "exec \"$@\" --max-cpu 3", "sh"].map(OsStr::new);
    let mut client = Client::start_under(&small, &project, &usual());
    client.open("a.yaml");
    let slow = "{{ range $i := until 3000 }}{{ range until 3000 }}{{ $x := $i }}{{ end }}{{ end }}";
    client.replace(
        "a.yaml",
        "{}",
        &format!("cluster: {{k8s_version: '{slow}'}}"),
    );
    client.settled("a.yaml");
    assert!(
        client.count("window/showMessage") > 0,
        "{:?}",
        client.received
    );
    client.replace("a.yaml", slow, "v1.31.8+rke2r1");
    client.settled("a.yaml");
    assert_eq!(client.files_with_findings(), ["v.yaml"]);
    assert_eq!(client.shutdown(), 0);
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
