//! What a run says that it checked, and that one which checked nothing fails.

use snapbox::str;

use super::support::stage::{Stage, assert_text, project, table};

/// A project of one cluster with these lines below `cluster`.
fn edge(lines: &str) -> Stage {
    let values = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}\n";
    let md5 = "a".repeat(32);
    project()
        .catalog(&[&format!("proven rke2 1.31.8+rke2r1 md5={md5}")])
        .settings("outputs: [{target: configmap, path: out}]")
        .cluster("edge", &format!("{values}{lines}"))
}

#[test]
fn a_summary_counts_the_pools() {
    let stage = edge(
        "  capo: {image_key: proven}\n  machine_deployments: {md0: {capo: {image_key: ''}}}\n",
    );
    stage.run("check").exit(0).stdout(str![[r#"
no findings in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: no image selected

"#]]);
    let json = stage.run("check --output json").exit(0).outcome.stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_text(
        &json["summary"]["pools"].to_string(),
        str![[
            r#"{"by_name":0,"checked":1,"mismatched":0,"proven":1,"skipped":{"no image selected":1},"unproven":0}"#
        ]],
    );
}

#[test]
fn a_run_that_checks_nothing_fails_unless_that_is_accepted() {
    let stages = [
        edge(""),
        edge("  capo: {networks: {}}\n"),
        edge("  capone: {image_key: proven}\n"),
        project().settings("manifests: [.]"),
    ];
    let words = [
        "check",
        "render",
        "render --check",
        "check --allow-empty",
        "render --allow-empty",
    ];
    let results = table(words, |words| {
        let run = |stage: &Stage| {
            let outcome = stage.run(words).outcome;
            let screen = outcome.stdout + &outcome.stderr;
            let first = screen.lines().next().unwrap_or_default().to_owned();
            format!("exit {}: {first}", outcome.status)
        };
        let mut results: Vec<String> = stages.iter().map(run).collect();
        results.dedup();
        results
    });
    assert_text(
        &results,
        str![[r#"
check
    exit 1: warning[image-unused]: no cluster uses image `proven`
    exit 1: error[nothing-checked]: no node pool was checked
render
    exit 1: warning[image-unused]: no cluster uses image `proven`
    exit 2: error: there is nothing to render: the project file has no `outputs`
render --check
    exit 1: warning[image-unused]: no cluster uses image `proven`
    exit 2: error: there is nothing to render: the project file has no `outputs`
check --allow-empty
    exit 0: warning[image-unused]: no cluster uses image `proven`
    exit 0: no findings
render --allow-empty
    exit 0: created  out/os-image-server-images.values  +3
    exit 2: error: there is nothing to render: the project file has no `outputs`

"#]],
    );
}
