//! Nothing is written or deleted outside the output folders, whatever links and records a repository holds.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{Metalmark, Outcome, copy_into, repository};

/// Two projects side by side, each rendered.
fn projects() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for name in ["project", "other"] {
        let folder = scratch.path().join(name);
        copy_into(
            &repository().join("fixtures/workspaces/sylva-baremetal"),
            &folder,
        );
        fs::create_dir(folder.join(".git")).expect("made");
        let outcome = render(&folder, &[]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    scratch
}

fn render(folder: &Path, arguments: &[&str]) -> Outcome {
    let line = ["render"].iter().chain(arguments).copied();
    Metalmark::within(folder).args(line).run()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| {
            let bytes = fs::read(entry.path()).expect("readable");
            let digest = oci_artifacts::Digest::compute(&bytes);
            (entry.path().to_owned(), digest.to_string())
        })
        .collect()
}

#[test]
fn an_output_folder_that_is_a_link_leads_no_writing_and_no_deletion_elsewhere() {
    for link in ["rendered", "rendered/clusters"] {
        for is_absolute in [false, true] {
            let scratch = projects();
            let (project, other) = (scratch.path().join("project"), scratch.path().join("other"));
            let before = files(&other);
            fs::remove_dir_all(project.join(link)).expect("removed");
            let up = if link == "rendered" { ".." } else { "../.." };
            let to = if is_absolute {
                other.join(link)
            } else {
                Path::new(up).join("other").join(link)
            };
            symlink(to, project.join(link)).expect("linked");
            // A cluster that is gone: its rendered files would be pruned.
            let clusters = project.join("environment-values/workload-clusters");
            fs::rename(clusters.join("edge-paris"), clusters.join("evil")).expect("renamed");
            let outcome = render(&project, &[]);
            assert_ne!(outcome.status, 0, "{}", outcome.stderr);
            assert!(
                outcome.stderr.contains("symbolic link"),
                "{}",
                outcome.stderr
            );
            assert_eq!(files(&other), before, "{link}");
        }
    }
}

/// The person who types a folder may type a link.
#[test]
fn what_out_names_may_be_a_link() {
    let scratch = projects();
    let project = scratch.path().join("project");
    fs::create_dir(scratch.path().join("elsewhere")).expect("made");
    symlink("../elsewhere", project.join("link")).expect("linked");
    let outcome = render(&project, &["--out", "link", "--target", "manifests"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(scratch.path().join("elsewhere/.metalmark-owned").exists());
}

#[test]
fn an_output_is_below_the_project_and_not_in_gits_own_folder() {
    for path in [
        "../x",
        "/tmp/metalmark-nowhere",
        ".git",
        ".git/hooks/x",
        "sub/.GIT",
        "a/../../x",
    ] {
        let scratch = projects();
        let project = scratch.path().join("project");
        let text = fs::read_to_string(project.join("metalmark.yaml")).expect("there");
        let text = text.replace("path: rendered/shared", &format!("path: '{path}'"));
        fs::write(project.join("metalmark.yaml"), text).expect("written");
        let before = files(scratch.path());
        let outcome = render(&project, &[]);
        assert_eq!(outcome.status, 1, "{path}: {}", outcome.stderr);
        let reported = format!("the output path `{path}`");
        assert!(outcome.stderr.contains(&reported), "{}", outcome.stderr);
        assert_eq!(files(scratch.path()), before, "{path}");
    }
}

#[test]
fn a_forged_ownership_file_deletes_no_file() {
    let scratch = projects();
    let project = scratch.path().join("project");
    fs::write(project.join("rendered/clusters/notes.txt"), "mine").expect("written");
    let record = project.join("rendered/clusters/.metalmark-owned");
    let text = fs::read_to_string(&record).expect("there");
    let zeros = "0".repeat(64);
    let forged =
        format!("{text}notes.txt\tsha256:{zeros}\tgone\n../../.env\tsha256:{zeros}\tgone\n");
    fs::write(&record, forged).expect("written");
    fs::write(project.join(".env"), "TOKEN=1").expect("written");
    let outcome = render(&project, &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("is not what metalmark wrote"),
        "{}",
        outcome.stderr
    );
    for kept in ["rendered/clusters/notes.txt", ".env"] {
        assert!(project.join(kept).exists(), "{kept}");
    }
}

/// The account of a killed run is the repository's text, too.
#[test]
fn a_forged_account_of_a_killed_run_touches_nothing_outside() {
    let scratch = projects();
    let project = scratch.path().join("project");
    let theirs = scratch.path().join("other/.metalmark-tmp-theirs");
    fs::write(&theirs, "theirs").expect("written");
    fs::write(project.join(".git/config"), "[core]\n").expect("written");
    symlink("../other", project.join("link")).expect("linked");
    // The digests fit: who forges knows what a file has.
    let sum = |path: &str| {
        use sha2::Digest as _;
        let bytes = fs::read(project.join(path)).expect("there");
        format!("{:?}", sha2::Sha256::digest(bytes).to_vec())
    };
    fs::write(scratch.path().join("other/values.yaml"), "a: 1\n").expect("written");
    let edited = |path: &str| {
        let sum = sum(path);
        format!("edited {{\"path\": \"{path}\", \"before\": \"evil\", \"after\": {sum}}}")
    };
    for line in [
        format!("writing {}", theirs.display()),
        "writing ../other/.metalmark-tmp-theirs".to_owned(),
        "writing link/.metalmark-tmp-theirs".to_owned(),
        edited(".git/config"),
        edited("../other/values.yaml"),
        edited("link/values.yaml"),
    ] {
        let before = files(scratch.path());
        fs::write(project.join(".metalmark-run"), format!("{line}\n")).expect("written");
        let outcome = render(&project, &[]);
        assert!(outcome.status <= 1, "{}", outcome.stderr);
        let mut after = files(scratch.path());
        after.remove(&project.join(".metalmark-run"));
        assert_eq!(after, before, "{line}");
    }
}

/// The project file names the lock, and a link in the repository may be on its way.
#[test]
fn a_lock_is_in_the_repository_and_not_in_gits_own_folder() {
    for path in [
        "../other/x.lock",
        ".git/x.lock",
        "link/x.lock",
        "git/x.lock",
    ] {
        let scratch = projects();
        let project = scratch.path().join("project");
        symlink("../other", project.join("link")).expect("linked");
        symlink(".git", project.join("git")).expect("linked");
        let text = fs::read_to_string(project.join("metalmark.yaml")).expect("there");
        let text = text.replacen("facts: [", &format!("facts: [{path}, "), 1);
        assert!(text.contains(path), "{text}");
        fs::write(project.join("metalmark.yaml"), text).expect("written");
        let before = files(scratch.path());
        let outcome = Metalmark::within(&project).args(["lock"]).run();
        assert_ne!(outcome.status, 0, "{path}: {}", outcome.stderr);
        assert_eq!(files(scratch.path()), before, "{path}: {}", outcome.stderr);
    }
}

/// The command names a file, and not where a link in the repository leads.
#[test]
fn no_link_in_the_repository_leads_a_report_out_of_it() {
    let scratch = projects();
    let (project, other) = (scratch.path().join("project"), scratch.path().join("other"));
    fs::write(other.join("x.json"), "precious").expect("written");
    symlink("../other", project.join("link")).expect("linked");
    symlink(".git", project.join("git")).expect("linked");
    symlink("../other/x.json", project.join("file")).expect("linked");
    let before = files(scratch.path());
    for path in [
        "link/x.json",
        "link/new/x.json",
        "git/x.json",
        "file",
        "link/../other/x.json",
    ] {
        let report = format!("json={path}");
        for arguments in [
            &["check", "--report", &*report][..],
            &["page", "--to", path],
        ] {
            let outcome = Metalmark::within(&project)
                .args(arguments.iter().copied())
                .run();
            assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.stderr);
            let why = "a symbolic link leads out of the repository";
            assert!(
                outcome.stderr.contains(why),
                "{arguments:?}: {}",
                outcome.stderr
            );
        }
    }
    assert_eq!(files(scratch.path()), before);
    // What the command itself names may be anywhere.
    symlink("reports", project.join("inside")).expect("linked");
    fs::create_dir(project.join("reports")).expect("made");
    for path in ["../x.json", "inside/x.json", "new/x.json"] {
        let report = format!("json={path}");
        let outcome = Metalmark::within(&project)
            .args(["check", "--report", &report])
            .run();
        assert_eq!(outcome.status, 0, "{path}: {}", outcome.stderr);
        assert!(project.join(path).exists(), "{path}");
    }
}
