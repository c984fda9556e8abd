//! Two people lock different images, and git merges.

use std::process::Command;

use snapbox::str;

use super::{NOBLE, remove_registry, site, story, write_registry, write_values};
use crate::support::stage::{Stage, project};

/// Keys whose order leaves an old entry between any two new ones.
const OLD: [&str; 3] = ["image-b", "image-d", "image-f"];

fn locked(images: &[&str]) -> Stage {
    let stage = site();
    write_values(&stage, "0.4.12", images, "");
    write_registry(&stage, images, "0.4.12", "a");
    let _ = stage.run("lock").exit(0);
    stage
}

/// The lock of the old images and these.
fn lock_with(more: &[&str]) -> String {
    let mut images = [&OLD[..], more].concat();
    images.sort_unstable();
    locked(&images).read("metalmark.lock")
}

/// What git makes of three texts; none where there is no git.
fn merge(ours: &str, base: &str, theirs: &str) -> Option<(bool, String)> {
    let files = [("ours", ours), ("base", base), ("theirs", theirs)];
    let stage = project().files(&files);
    let merge = Command::new("git")
        .current_dir(stage.path())
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
    let base = lock_with(&[]);
    for (ours, theirs) in [
        (&["image-a"][..], &["image-e"]),
        (&["image-a", "image-g"], &["image-c"]),
        (&["image-c"], &["image-g"]),
    ] {
        let merged = merge(&lock_with(ours), &base, &lock_with(theirs));
        let Some((clean, text)) = merged else { return };
        assert!(clean, "{text}");
        assert_eq!(text, lock_with(&[ours, theirs].concat()));
    }
}

/// Each line proves itself, so that git may keep the lines of both (`merge=union`), in any order.
#[test]
fn the_evidence_of_two_branches_is_right_together_whatever_git_makes_of_its_lines() {
    let both = locked(&["image-a", "image-b", "image-c", NOBLE]);
    let expected = both.read("metalmark.evidence");
    let ours = locked(&["image-a", "image-c", NOBLE]).read("metalmark.evidence");
    let theirs = locked(&["image-b", "image-c", NOBLE]).read("metalmark.evidence");
    both.write("metalmark.evidence", ours + &theirs);
    let mut story = story(&both);
    story.runs(&["check --frozen"]);
    remove_registry(&both);
    story.runs(&["lock"]);
    story.is(str![[r#"
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven
$ lock => 0
metalmark.lock: 4 kept, 0 added, 0 updated, 0 dropped; written

"#]]);
    let sorted = both.read("metalmark.evidence");
    assert_eq!(sorted, expected, "sorted, each once");
}

#[test]
fn what_git_cannot_merge_is_reported_as_a_conflict() {
    let lock = |images: &[&str]| locked(images).read("metalmark.lock");
    let (ours, theirs) = (["image-b", "image-c"], ["image-b", "image-d"]);
    let Some((clean, text)) = merge(&lock(&ours), &lock(&["image-b"]), &lock(&theirs)) else {
        return;
    };
    assert!(!clean);
    let stage = site();
    stage.write("metalmark.lock", &text);
    let mut story = story(&stage);
    story.judge(&["check"]);
    story.is(str![[r#"
$ check => 1
error[lock-invalid]: git left a conflict here
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`

"#]]);
}
