//! Threats of docs/SECURITY.md that no other test is about. tests/guards.rs holds each row of the page to a test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::files::Disk;
use metalmark::read::gitops;
use yaml_tree::place::Sources;

use super::printed::is_obeyed;
use super::support::stage::project;

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

#[test]
fn an_ownership_file_that_is_a_link_is_refused() {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    let _ = stage.run("render").exit(0);
    let owned = stage.list("rendered").into_iter();
    let owned = owned.map(|path| stage.path().join("rendered").join(path));
    let mut owned = owned.filter(|path| path.ends_with(".metalmark-owned"));
    let owned = owned.next().expect("an ownership file");
    let theirs = stage.path().join("theirs");
    fs::rename(&owned, &theirs).expect("moved");
    symlink(&theirs, &owned).expect("linked");
    let refused = stage.run("render").exit(2).outcome.stderr;
    assert!(refused.contains("not a regular file"), "{refused}");
}

/// A list outside the project's outputs was believed whatever digest it had.
#[test]
fn an_ownership_file_removes_no_cluster() {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    let text = stage.read("metalmark.yaml");
    stage.write(
        "metalmark.yaml",
        text.split("policy:").next().expect("its head"),
    );
    let before = stage.run("check").exit(1).outcome;
    let values = "environment-values/workload-clusters/lab-7/values.yaml";
    let list = |bytes: &[u8]| {
        let digest = oci_artifacts::Digest::compute(bytes);
        stage.write(".metalmark-owned", format!("{values}\t{digest}\tx\n"));
    };
    list(b"other");
    let after = stage.run("check").exit(1).outcome;
    assert_eq!(after.stdout, before.stdout);
    list(stage.read(values).as_bytes());
    let after = stage.run("check").outcome;
    assert!(
        after.stderr.contains("lists it as rendered") && after.status != 0,
        "{}",
        after.stderr
    );
}
