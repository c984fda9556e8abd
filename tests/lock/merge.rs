//! Two people lock different images, and git merges.

use std::fs;
use std::process::Command;

use super::{NOBLE, Project, push};
use crate::support::layout::LayoutWriter;

/// Keys whose order leaves an old entry between any two new ones.
const OLD: [&str; 3] = ["image-b", "image-d", "image-f"];

fn locked(images: &[&str]) -> String {
    let project = Project::new();
    project.values("0.4.12", images, "");
    let mut layout = LayoutWriter::new(&project.path().join("registry"));
    for image in images {
        push(&mut layout, image, "0.4.12", "a");
    }
    let lock = project.run("lock");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    project.read("metalmark.lock")
}

/// What git makes of three texts; none where there is no git.
fn merged(ours: &str, base: &str, theirs: &str) -> Option<(bool, String)> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for (name, text) in [("ours", ours), ("base", base), ("theirs", theirs)] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let merge = Command::new("git")
        .current_dir(folder.path())
        .args(["merge-file", "-p", "ours", "base", "theirs"])
        .output();
    let Ok(merge) = merge else {
        crate::programs::missing("git");
        return None;
    };
    let text = String::from_utf8(merge.stdout).expect("text");
    Some((merge.status.success(), text))
}

#[test]
fn git_merges_what_two_people_added_in_different_places() {
    let with = |more: &[&'static str]| {
        let mut images = [&OLD[..], more].concat();
        images.sort_unstable();
        images
    };
    let base = locked(&OLD);
    for (ours, theirs) in [
        (vec!["image-a"], vec!["image-e"]),
        (vec!["image-a", "image-g"], vec!["image-c"]),
        (vec!["image-c"], vec!["image-g"]),
    ] {
        let both = with(&[ours.clone(), theirs.clone()].concat());
        let merge = merged(&locked(&with(&ours)), &base, &locked(&with(&theirs)));
        let Some((clean, text)) = merge else { return };
        assert!(clean, "{text}");
        assert_eq!(text, locked(&both));
    }
}

/// Each line proves itself, so that git may keep the lines of both (`merge=union`), in any order.
#[test]
fn the_evidence_of_two_branches_is_right_together_whatever_git_makes_of_its_lines() {
    let locked = |images: &[&str]| {
        let project = Project::new();
        project.values("0.4.12", images, "");
        let mut layout = LayoutWriter::new(&project.path().join("registry"));
        for image in images {
            push(&mut layout, image, "0.4.12", "a");
        }
        assert_eq!(project.run("lock").status, 0);
        project
    };
    let both = locked(&["image-a", "image-b", "image-c", NOBLE]);
    let expected = both.read("metalmark.evidence");
    let (ours, theirs) = (
        locked(&["image-a", "image-c", NOBLE]),
        locked(&["image-b", "image-c", NOBLE]),
    );
    let joined = ours.read("metalmark.evidence") + &theirs.read("metalmark.evidence");
    both.write("metalmark.evidence", &joined);
    let check = both.run("check --frozen");
    assert_eq!(check.status, 0, "{}", check.stdout);
    assert!(!check.stdout.contains("lock-"), "{}", check.stdout);
    fs::remove_dir_all(both.path().join("registry")).expect("removed");
    assert_eq!(both.run("lock").status, 0);
    assert_eq!(
        both.read("metalmark.evidence"),
        expected,
        "sorted, each once"
    );
}

#[test]
fn what_git_cannot_merge_is_reported_as_a_conflict() {
    let base = locked(&["image-b"]);
    let ours = locked(&["image-b", "image-c"]);
    let theirs = locked(&["image-b", "image-d"]);
    let Some((clean, text)) = merged(&ours, &base, &theirs) else {
        return;
    };
    assert!(!clean);
    let project = Project::new();
    project.write("metalmark.lock", &text);
    let check = project.run("check");
    assert!(
        check
            .stdout
            .contains("error[lock-invalid]: git left a conflict here"),
        "{}",
        check.stdout
    );
}
