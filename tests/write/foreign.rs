//! Files, links and records of others, one case at a time: what random sequences may miss.

use std::fs;
use std::os::unix::fs::symlink;

use metalmark::error::Error;
use metalmark::model::manifest::{ChangeKind, ChangeSet};
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Options};

use super::{
    assert_disk, files, kinds, named, on_disk, plan, plan_tree, render, rendered, rules, tree,
};
use crate::support::stage::project;

#[test]
fn a_file_of_another_is_refused_whatever_its_length() {
    for (theirs, rendered) in [
        ("rendexed", "rendered"),
        ("", "r"),
        ("r", ""),
        ("longer than it", "short"),
        ("rendered\n", "rendered"),
        ("Rendered", "rendered"),
    ] {
        let root = project();
        root.write("a", theirs);
        let changes = render(root.path(), &[("a", rendered)]);
        assert_eq!(rules(&changes), [RuleId::FileNotOwned], "{theirs}");
        assert_eq!((changes.refused, changes.rendered), (1, 1));
        assert_disk(root.path(), &[("a", theirs)]);
    }
}

#[test]
fn a_link_under_the_name_of_a_file_that_is_being_written_is_replaced() {
    let root = project();
    let (out, theirs) = (root.path().join("out"), root.path().join("theirs"));
    fs::create_dir(&out).expect("made");
    fs::write(&theirs, "theirs").expect("written");
    let changes = plan(&out, tree(&[("a", "1")]));
    symlink(&theirs, out.join(".metalmark-tmp-0")).expect("linked");
    output::apply(&changes).expect("written");
    assert_eq!(on_disk(&out), files(&[("a", "1")]));
    let left = fs::read_to_string(&theirs).expect("there");
    assert_eq!(left, "theirs");
}

#[test]
fn what_a_killed_run_left_is_not_looked_for_behind_a_link() {
    let root = project();
    let (out, outside) = (root.path().join("out"), root.path().join("outside"));
    render(&out, &[("a/b", "1")]);
    fs::remove_dir_all(out.join("a")).expect("removed");
    fs::create_dir(&outside).expect("made");
    let theirs = [(".metalmark-tmp-x", "theirs")];
    fs::write(outside.join(theirs[0].0), theirs[0].1).expect("written");
    symlink(&outside, out.join("a")).expect("linked");
    render(&out, &[("c", "1")]);
    assert_disk(&outside, &theirs);
}

#[test]
fn what_a_killed_run_was_writing_is_swept_whatever_changes() {
    let root = project();
    render(root.path(), &[("a/b", "1")]);
    root.write("a/.metalmark-tmp-7", "half");
    let changes = render(root.path(), &[("a/b", "1")]);
    assert!(!changes.drift());
    assert_disk(root.path(), &[("a/", ""), ("a/b", "1")]);
}

/// Two runs of parts of a fleet: what the other one renders is not written over.
#[test]
fn a_file_of_a_cluster_that_this_run_does_not_look_at_is_kept() {
    let root = project();
    root.write("a", rendered("b", "1"));
    let mut tree = tree(&[("a", "2")]);
    tree.keeps = named(&["a"]);
    let changes = plan(root.path(), tree.clone());
    assert_eq!(rules(&changes), [RuleId::OutputPathCollision]);
    assert!(!changes.drift());
    // A cluster that is gone renders nothing any more.
    root.write("a", rendered("gone", "1"));
    assert_eq!(
        kinds(&plan(root.path(), tree)),
        [("a", ChangeKind::Updated)]
    );
}

#[test]
fn a_file_takes_the_place_of_a_folder_whose_kept_file_somebody_deleted() {
    let root = project();
    render(root.path(), &[("a/b", "1")]);
    root.remove("a/b");
    let mut tree = tree(&[("a", "2")]);
    tree.keeps = named(&["b"]);
    output::apply(&plan(root.path(), tree)).expect("written");
    assert_disk(root.path(), &[("a", "2")]);
}

#[test]
fn another_file_at_the_path_of_a_new_file_is_not_listed() {
    let root = project();
    let inside = root.path().join("z/mine");
    fs::create_dir(root.path().join("z")).expect("made");
    let changes = plan(root.path(), tree(&[("a", "1"), ("z", "1")]));
    assert_eq!(
        kinds(&changes),
        [("a", ChangeKind::Created), ("z", ChangeKind::Created)]
    );
    fs::write(&inside, "mine").expect("written");
    let refused = output::apply(&changes);
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    // What is another's stays so.
    let left = on_disk(root.path());
    assert_eq!(left, files(&[("a", "1"), ("z/", ""), ("z/mine", "mine")]));
    fs::remove_dir_all(root.path().join("z")).expect("removed");
    root.write("z", "mine");
    let changes = render(root.path(), &[("a", "2"), ("z", "1")]);
    assert_eq!(rules(&changes), [RuleId::FileNotOwned]);
    assert_disk(root.path(), &[("a", "2"), ("z", "mine")]);
}

#[test]
fn no_folder_of_another_is_removed_through_a_link() {
    let root = project();
    let (out, outside) = (root.path().join("out"), root.path().join("outside"));
    render(&out, &[("a/b/c", "1"), ("d/e", "1"), ("f", "1")]);
    fs::create_dir_all(outside.join("b")).expect("made");
    fs::remove_dir_all(out.join("a")).expect("removed");
    symlink(&outside, out.join("a")).expect("linked");
    // A file where a folder was, and a folder where a file was.
    fs::remove_dir_all(out.join("d")).expect("removed");
    fs::write(out.join("d"), "mine").expect("written");
    fs::remove_file(out.join("f")).expect("removed");
    fs::create_dir(out.join("f")).expect("made");
    let changes = render(&out, &[]);
    assert_eq!(kinds(&changes), []);
    assert_eq!(changes.folders, [""; 0]);
    assert_disk(&outside, &[("b/", "")]);
    assert!(out.join("a").is_symlink() && out.join("f").is_dir());
    assert_eq!(fs::read_to_string(out.join("d")).expect("there"), "mine");
}

#[test]
fn the_text_that_is_replaced_is_kept_only_where_it_is_shown() {
    let root = project();
    render(root.path(), &[("a", "1"), ("b", "1")]);
    let kept = plan(root.path(), tree(&[("a", "2")]));
    let dropped = plan_tree(root.path(), tree(&[("a", "2")]), Options::default());
    let dropped = dropped.expect("planned");
    let texts = |changes: &ChangeSet| -> Vec<Option<String>> {
        changes
            .changes
            .iter()
            .map(|change| change.old.clone())
            .collect()
    };
    assert_eq!(
        texts(&kept),
        ["a", "b"].map(|owner| Some(rendered(owner, "1")))
    );
    assert_eq!(texts(&dropped), [None, None]);
}
