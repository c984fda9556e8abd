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

#[test]
fn what_others_may_follow_from_is_shown_first_and_one_help_once() {
    let url = |name: &str| {
        format!(
            "cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}, capm3: {{machine_image_url: 'https://i.example/{name}.raw', machine_image_checksum: abc, machine_image_checksum_type: sha256, machine_image_format: raw}}}}\n"
        )
    };
    let stage = project()
        .cluster("a", &url("ubuntu-2204-kube-v1.31.8"))
        .cluster("b", &url("ubuntu-2404-kube-v1.31.8"))
        .cluster("c", "cluster: {\n");
    stage.run("check").exit(1).screen(str![[r#"
error[yaml-syntax]: expected a value, found the end of the file
 --> c.yaml:2:1
  |
2 |
  | ^
  |
  = cluster: c

warning[k8s-version-unproven]: nothing proves that image `ubuntu-2204-kube-v1.31.8.raw` holds Kubernetes `v1.31.8`
 --> a.yaml:1:128
  |
1 | ...n: v1.31.8, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}, capm3: {machine_image_url: 'https://i.example/ubuntu-2204-kube-v1.31.8.raw', m...
  |       ------- this version is required                                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ only the image's name says `1.31.8`
  |
  = cluster: a, pool control-plane
  = help: select the image by `image_key`, so that its facts are known

error[checksum-malformed]: `machine_image_checksum` is not a digest
 --> a.yaml:1:202
  |
1 | ...2204-kube-v1.31.8.raw', machine_image_checksum: abc, machine_image_checksum_type: sha256, machine_image_format: raw}}
  |                                                    ^^^ it has 3 digits, sha256 has 64
  |
  = cluster: a, pool control-plane
  = also at: b.yaml:1:202 (b)
  = help: `machine_image_checksum: …`, as `sha256sum` prints it for the image

warning[k8s-version-unproven]: nothing proves that image `ubuntu-2404-kube-v1.31.8.raw` holds Kubernetes `v1.31.8`
 --> b.yaml:1:128
  |
1 | ...n: v1.31.8, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}, capm3: {machine_image_url: 'https://i.example/ubuntu-2404-kube-v1.31.8.raw', m...
  |       ------- this version is required                                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ only the image's name says `1.31.8`
  |
  = cluster: b, pool control-plane

3 errors, 2 warnings in 3 clusters; 2 node pools checked: 2 by name only

"#]]);
}
