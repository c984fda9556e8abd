//! Threats of docs/threats.md that no other test is about. tests/guards.rs holds each row of the page to a test.

use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::files::Disk;
use metalmark::read::gitops;
use yaml_tree::place::Sources;

use super::printed::is_obeyed;
use super::support::stage::{Stage, project};

#[test]
fn no_report_prints_a_control_character() {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    stage.write(
        "environment-values/workload-clusters/edge-paris/values.yaml",
        "cluster:\n  capm3: {image_key: \"x\\e[31m\\x9by\\x07\\u202ez\\u2028\"}\n",
    );
    for report in metalmark::report::REPORTS {
        let outcome = stage
            .run(&format!("check --output {}", report.name()))
            .exit(1)
            .outcome;
        let screen = outcome.stdout + &outcome.stderr;
        assert!(screen.contains("[31m"), "it is printed: {screen}");
        let obeyed = screen.chars().find(|letter| is_obeyed(*letter));
        assert_eq!(obeyed, None, "{}: {screen}", report.name());
    }
}

#[test]
fn a_link_of_an_overlay_leads_out_of_no_repository() {
    let stage = project()
        .file(
            "secret.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: secret}\n",
        )
        .file("repository/kustomization.yaml", "resources: [link.yaml]\n");
    let folder = stage.path().join("repository");
    symlink("../secret.yaml", folder.join("link.yaml")).expect("linked");
    let disk = Disk::new(&folder).expect("there");
    let built = gitops::objects(&disk, Path::new(""), &mut Sources::default());
    let refused = built.expect("readable").expect_err("a finding");
    assert_eq!(refused.message, "`link.yaml` leads out of the repository");
}

/// A line that anybody can write hides no cluster: outside the outputs it means nothing, and in them the file is no values file.
#[test]
fn a_first_line_removes_no_cluster() {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    let text = stage.read("metalmark.yaml");
    stage.write(
        "metalmark.yaml",
        text.split("policy:").next().expect("its head"),
    );
    let findings = |stage: &Stage| stage.run("check --output json").outcome.stdout;
    let before = stage.run("check").exit(1).outcome.stdout;
    let values = "environment-values/workload-clusters/lab-7/values.yaml";
    let text = stage.read(values);
    let line = "# Rendered by metalmark for cluster gone; edit the values, not this file.\n";
    let count = |text: &str| text.matches("\"lab-7\"").count();
    let known = count(&findings(&stage));
    stage.write(values, format!("{line}{text}"));
    assert_eq!(count(&findings(&stage)), known, "{before}");
    let digest = oci_artifacts::Digest::compute(text.as_bytes());
    stage.write(values, &text);
    stage.write(".metalmark-owned", format!("{values}\t{digest}\tx\n"));
    assert_eq!(stage.run("check").exit(1).outcome.stdout, before);
    // In an output's folder a cluster's values are said not to be.
    stage.write(values, format!("{line}{text}"));
    stage.edit(
        "metalmark.yaml",
        "path: rendered/shared",
        "path: environment-values",
    );
    let said = stage.run("check").outcome.stdout;
    let warned = format!("`{values}` is rendered by metalmark, and left out of the clusters");
    assert!(said.contains(&warned), "{said}");
    let refused = stage.run("render --check").exit(1).outcome.stderr;
    assert!(
        refused.contains(&format!(
            "`{values}` says in its first line that it is rendered"
        )),
        "{refused}"
    );
}

/// Somebody starts a cluster with a copy of a rendered file: it stays, and the run says what is wrong.
#[test]
fn a_copied_first_line_deletes_no_values() {
    let values = format!(
        "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  capm3: {{image_key: \
         one}}\nos_images:\n  one: {{uri: 'oci://r.example/one:1', k8s-version: v1.31.8+rke2r1, image-format: raw, filename: one.raw, sha256: {}}}\n",
        "a".repeat(64)
    );
    let stage = project()
        .settings(
            "clusters: [{each: 'clusters/*/values.yaml'}]\noutputs: [{target: manifests, path: 'clusters/{{ cluster.name }}'}]",
        )
        .file("clusters/edge/values.yaml", &values);
    stage.run("render").exit(0);
    let copy = format!(
        "# Rendered by metalmark for cluster edge; edit the values, not this file.\n{values}"
    );
    stage.write("clusters/new/values.yaml", &copy);
    let screen = stage.run("render").exit(1).outcome;
    let screen = screen.stdout + &screen.stderr;
    assert!(
        screen.contains("`clusters/new/values.yaml` says in its first line that it is rendered, and nothing renders it"),
        "{screen}"
    );
    assert_eq!(stage.read("clusters/new/values.yaml"), copy);
}
