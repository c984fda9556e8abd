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

/// What git leaves of two locks and of their evidence, in a site of all these images.
fn conflicted(ours: &Stage, base: &Stage, theirs: &Stage, images: &[&str]) -> Option<Stage> {
    let stage = site();
    write_values(&stage, "0.4.12", images, "");
    for file in ["metalmark.lock", "metalmark.evidence"] {
        let (_, text) = merge(&ours.read(file), &base.read(file), &theirs.read(file))?;
        stage.write(file, text);
    }
    Some(stage)
}

/// People were told to delete the lock, and to fetch every image again.
#[test]
fn a_conflict_of_two_locks_is_merged_without_a_registry() {
    let base = locked(&["image-b"]);
    let (ours, theirs) = (
        locked(&["image-b", "image-c", NOBLE]),
        locked(&["image-b", "image-d", NOBLE]),
    );
    let all = ["image-b", "image-c", "image-d", NOBLE];
    let Some(stage) = conflicted(&ours, &base, &theirs, &all) else {
        return;
    };
    let mut story = story(&stage);
    story.judge(&["lock --check", "lock", "check --frozen"]);
    story.is(str![[r#"
$ lock --check => 1
error[lock-conflict]: git left a conflict here
$ lock => 0
warning[lock-conflict]: git left a conflict here
$ check --frozen => 0

"#]]);
    let both = locked(&all);
    for file in ["metalmark.lock", "metalmark.evidence"] {
        assert_eq!(stage.read(file), both.read(file));
    }
}

const PAIR: [&str; 2] = ["image-b", NOBLE];

/// A site that locked this build of both.
fn lock_build(build: &str) -> Stage {
    let stage = site();
    write_values(&stage, "0.4.12", &PAIR, "");
    write_registry(&stage, &PAIR, "0.4.12", build);
    let _ = stage.run("lock").exit(0);
    stage
}

/// A site whose two branches locked another build of the second image.
fn dispute() -> Option<Stage> {
    conflicted(
        &lock_build("a"),
        &locked(&["image-b"]),
        &lock_build("b"),
        &PAIR,
    )
}

#[test]
fn an_image_that_two_branches_locked_differently_is_requested_again() {
    let Some(stage) = dispute() else { return };
    let mut story = story(&stage);
    story.judge(&["check"]);
    write_registry(&stage, &PAIR, "0.4.12", "b");
    story.judge(&["lock", "check --frozen"]);
    story.is(str![[r#"
$ check => 1
error[lock-conflict]: git left a conflict here
error[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same
error[lock-missing-image]: the lock does not hold image `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock => 0
warning[lock-conflict]: git left a conflict here
warning[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same
$ check --frozen => 0

"#]]);
    assert_eq!(
        stage.read("metalmark.lock"),
        lock_build("b").read("metalmark.lock")
    );
}

/// The next run took whatever the tag named then.
#[test]
fn what_neither_branch_locked_has_moved() {
    let Some(stage) = dispute() else { return };
    let mut story = story(&stage);
    story.judge(&["lock"]);
    write_registry(&stage, &PAIR, "0.4.12", "c");
    story.judge(&["lock", "check"]);
    story.runs(&[&format!("lock --accept-moved {NOBLE}")]);
    story.judge(&["check --frozen"]);
    story.is(str![[r#"
$ lock => 2
warning[lock-conflict]: git left a conflict here
warning[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same
error: oci-layout:registry: there is no such folder
$ lock => 1
error[tag-moved]: `oci://registry.example.org/os/NOBLE:0.4.12` has moved: it is `sha256:9cd65327b9f8bee42c85d42325ea5db2cd75d16f3398cbbdc10f114ac046e5a3` now
warning[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same
$ check => 1
error[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same
error[lock-missing-image]: the lock does not hold image `NOBLE`
error[checksum-missing]: the sha256 of image `NOBLE` is not known
error[format-missing]: the format of image `NOBLE` is not known
warning[k8s-version-unproven]: nothing proves that image `NOBLE` holds Kubernetes `v1.31.8+rke2r1`
$ lock --accept-moved NOBLE => 0
updated NOBLE sha256:9cd65327b9f8… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 1 kept, 0 added, 1 updated, 0 dropped; written
warning[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same --> metalmark.lock:31:8
$ check --frozen => 0

"#]]);
}

/// Nobody has to solve a dispute about an image that is not used any more.
#[test]
fn a_dispute_about_what_nothing_requires_is_dropped() {
    let Some(stage) = dispute() else { return };
    write_values(&stage, "0.4.12", &["image-b"], "");
    let mut story = story(&stage);
    write_registry(&stage, &["image-b"], "0.4.12", "a");
    story.runs(&["lock"]);
    story.is(str![[r#"
$ lock => 0
dropped NOBLE sha256:5d7b036fc56e… oci://registry.example.org/os/NOBLE:0.4.12
dropped NOBLE sha256:0d9d36ba8dac… oci://registry.example.org/os/NOBLE:0.4.12
metalmark.lock: 1 kept, 0 added, 0 updated, 2 dropped; written
warning[lock-conflict]: git left a conflict here --> metalmark.evidence:2:1
warning[lock-conflict]: `NOBLE` is locked twice for one reference, and not the same --> metalmark.lock:31:8

"#]]);
    assert!(!stage.read("metalmark.lock").contains(NOBLE));
}

/// One edited fact took the image out of the lock, and with it the digest that a moved tag is known by.
#[test]
fn an_entry_that_is_repeated_with_another_fact_keeps_its_digest() {
    let stage = locked(&["image-b"]);
    let lock = stage.read("metalmark.lock");
    let (head, entry) = lock.split_once("- key:").expect("an entry");
    let edited = entry.replace(&"a".repeat(64), &"e".repeat(64));
    let twice = format!("{head}- key:{edited}\n- key:{entry}");
    stage.write("metalmark.lock", &twice);
    write_registry(&stage, &["image-b"], "0.4.12", "c");
    let mut story = story(&stage);
    story.judge(&["lock"]);
    assert_eq!(stage.read("metalmark.lock"), lock);
    stage
        .write("metalmark.lock", &twice)
        .remove("metalmark.evidence");
    story.judge(&["lock"]);
    story.is(str![[r#"
$ lock => 0
warning[lock-tampered]: `sha256` of `image-b` is `eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations
warning[lock-conflict]: `image-b` is locked twice for one reference, and not the same
$ lock => 1
error[tag-moved]: `oci://registry.example.org/os/image-b:0.4.12` has moved: it is `sha256:664a4ac7d21f12e1f5f6ea44127ce9e68b2df358bd746638bf3bfbb0a85358e0` now
warning[lock-conflict]: `image-b` is locked twice for one reference, and not the same

"#]]);
}
