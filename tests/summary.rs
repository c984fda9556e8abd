//! What a run says that it checked, and that one which checked nothing fails.

use std::fs;

use super::support::{Metalmark, Outcome};

const VALUES: &str = "\
os_images:
  proven: {uri: 'https://s/a.raw', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, md5: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}
";

const CLUSTER: &str = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}
";

/// Runs a command in a project of one cluster, `edge`, with these lines below `cluster`.
fn run(args: &[&str], cluster: &str) -> Outcome {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let project = "version: 1\nvalues: [shared.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\n\
                   outputs: [{target: configmap, path: out}]\n";
    for (name, text) in [
        ("metalmark.yaml", project),
        ("shared.yaml", VALUES),
        ("edge.yaml", &format!("{CLUSTER}{cluster}")),
    ] {
        fs::write(scratch.path().join(name), text).expect("written");
    }
    Metalmark::within(scratch.path())
        .args(args.iter().copied())
        .run()
}

const TWO: &str =
    "  capo: {image_key: proven}\n  machine_deployments: {md0: {capo: {image_key: ''}}}\n";

#[test]
fn a_summary_counts_the_pools() {
    let outcome = run(&["check"], TWO);
    assert_eq!(outcome.status, 0, "{}", outcome.stdout);
    assert_eq!(
        outcome.stdout.lines().last(),
        Some(
            "no findings in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: no image selected"
        )
    );
    let outcome = run(&["check", "--output", "json"], TWO);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(
        report["summary"]["pools"],
        serde_json::json!({"checked": 1, "proven": 1, "by_name": 0, "mismatched": 0, "unproven": 0, "skipped": {"no image selected": 1}})
    );
}

#[test]
fn a_run_that_checks_nothing_fails_unless_that_is_accepted() {
    for cluster in [
        "",
        "  capo: {networks: {}}\n",
        "  capone: {image_key: proven}\n",
    ] {
        for args in [&["check"][..], &["render"], &["render", "--check"]] {
            let outcome = run(args, cluster);
            let reported = format!("{}{}", outcome.stdout, outcome.stderr);
            assert_eq!(outcome.status, 1, "{args:?}: {reported}");
            assert!(
                reported.contains(
                    "error[nothing-checked]: 0 node pools checked; 1 skipped: no image selected"
                ),
                "{reported}"
            );
        }
        let outcome = run(&["check", "--allow-empty"], cluster);
        assert_eq!(outcome.status, 0, "{}", outcome.stdout);
        let outcome = run(&["render", "--allow-empty"], cluster);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
}

#[test]
fn a_project_without_clusters_checks_nothing() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    fs::write(
        scratch.path().join("metalmark.yaml"),
        "version: 1\nmanifests: [.]\n",
    )
    .expect("written");
    let outcome = Metalmark::within(scratch.path()).args(["check"]).run();
    assert_eq!(outcome.status, 1);
    assert!(
        outcome
            .stdout
            .contains("error[nothing-checked]: no node pool was checked"),
        "{}",
        outcome.stdout
    );
}
