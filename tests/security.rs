//! Threats of docs/SECURITY.md that no other test is about. tests/guards.rs holds each row of the page to a test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::files::Disk;
use metalmark::read::gitops;
use yaml_tree::place::Sources;

use super::support::{Metalmark, copy_of, repository};

fn workspace() -> tempfile::TempDir {
    copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"))
}

#[test]
fn no_report_prints_a_control_character() {
    let folder = workspace();
    let cluster = "environment-values/workload-clusters/edge-paris/values.yaml";
    let text = "cluster:\n  capm3: {image_key: \"x\\e[31m\\x9by\\x07\"}\n";
    fs::write(folder.path().join(cluster), text).expect("written");
    for report in metalmark::report::REPORTS {
        let run = Metalmark::within(folder.path());
        let outcome = run.args(["check", "--output", report.name()]).run();
        let screen = outcome.stdout + &outcome.stderr;
        assert!(screen.contains("[31m"), "it is printed: {screen}");
        // Of those that nobody reads on a screen, only the ones that no format may have.
        let is_shown = ["human", "github", "markdown"].contains(&report.name());
        let is_foreign = |letter: &char| {
            if is_shown {
                letter.is_control() && *letter != '\n'
            } else {
                letter.is_ascii_control() && *letter != '\n'
            }
        };
        let control = screen.chars().find(is_foreign);
        assert_eq!(control, None, "{}: {screen}", report.name());
    }
}

#[test]
fn a_link_of_an_overlay_leads_out_of_no_repository() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().join("repository");
    fs::create_dir(&folder).expect("created");
    let secret = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: secret}\n";
    fs::write(scratch.path().join("secret.yaml"), secret).expect("written");
    symlink("../secret.yaml", folder.join("link.yaml")).expect("linked");
    fs::write(
        folder.join("kustomization.yaml"),
        "resources: [link.yaml]\n",
    )
    .expect("written");
    let disk = Disk::new(&folder).expect("there");
    let built = gitops::objects(&disk, Path::new(""), &mut Sources::default());
    let refused = built.expect("readable").expect_err("a finding");
    assert_eq!(refused.message, "`link.yaml` leads out of the repository");
}

#[test]
fn an_ownership_file_that_is_a_link_is_refused() {
    let folder = workspace();
    let path = folder.path();
    let render = || Metalmark::within(path).args(["render"]).run();
    assert_eq!(render().status, 0);
    let owned = walkdir::WalkDir::new(path.join("rendered"))
        .into_iter()
        .flatten();
    let owned = owned.map(walkdir::DirEntry::into_path);
    let mut owned = owned.filter(|path| path.ends_with(".metalmark-owned"));
    let owned = owned.next().expect("an ownership file");
    fs::rename(&owned, path.join("theirs")).expect("moved");
    symlink(path.join("theirs"), &owned).expect("linked");
    let refused = render();
    assert_eq!(refused.status, 2, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("not a regular file"),
        "{}",
        refused.stderr
    );
}

/// A list outside the project's outputs was believed whatever digest it had.
#[test]
fn an_ownership_file_removes_no_cluster() {
    let scratch = copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    let root = scratch.path();
    let project = fs::read_to_string(root.join("metalmark.yaml")).expect("read");
    let project = project
        .split("policy:")
        .next()
        .expect("its head")
        .to_owned();
    fs::write(root.join("metalmark.yaml"), project).expect("written");
    let values = "environment-values/workload-clusters/lab-7/values.yaml";
    let bytes = fs::read(root.join(values)).expect("read");
    let check = || Metalmark::within(root).args(["check"]).run();
    let before = check();
    assert_eq!(before.status, 1, "{}", before.stdout);
    let written = oci_artifacts::Digest::compute(&bytes).to_string();
    let other = oci_artifacts::Digest::compute(b"other").to_string();
    for (digest, is_silent) in [(other, true), (written, false)] {
        let list = format!("{values}\t{digest}\tx\n");
        fs::write(root.join(".metalmark-owned"), list).expect("written");
        let after = check();
        if is_silent {
            assert_eq!(after.stdout, before.stdout)
        } else {
            assert!(
                after.stderr.contains("lists it as rendered"),
                "{}",
                after.stderr
            )
        }
        assert_ne!(after.status, 0);
    }
}
