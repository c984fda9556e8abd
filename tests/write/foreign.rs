//! Files, links and records of others, one case at a time: what random sequences may miss.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use metalmark::error::Error;
use metalmark::model::manifest::{ChangeKind, ChangeSet, Keeps, OWNERSHIP_FILE, Origin};
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Foreign, Options};

use super::{assert_disk, files, kinds, on_disk, plan, render, rules, tree};
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
        assert!(!root.path().join(OWNERSHIP_FILE).exists(), "{theirs}");
    }
}

#[test]
fn an_ownership_file_that_is_no_file_is_refused() {
    let root = project();
    let (out, record) = (
        root.path().join("out"),
        root.path().join("out").join(OWNERSHIP_FILE),
    );
    render(&out, &[("a", "1"), ("b", "1")]);
    fs::rename(&record, root.path().join("list")).expect("moved");
    let before = on_disk(root.path());
    let refused = |what: &str| {
        let planned = output::plan(&out, tree(&[("b", "2")]), Options::default());
        let Err(Error::Read { path, .. }) = planned else {
            panic!("{what}: {planned:?}");
        };
        assert_eq!(path, record, "{what}");
        assert_eq!(on_disk(root.path()), before, "{what}");
    };
    symlink(root.path().join("list"), &record).expect("linked");
    refused("a link");
    fs::remove_file(&record).expect("removed");
    symlink("nowhere", &record).expect("linked");
    refused("a link to nothing");
    fs::remove_file(&record).expect("removed");
    fs::create_dir(&record).expect("made");
    refused("a folder");
    fs::remove_dir(&record).expect("removed");
    fs::write(&record, b"a\xff\n").expect("written");
    refused("no text");
}

#[test]
fn a_link_that_replaces_the_ownership_file_is_not_written_through() {
    let root = project();
    let (out, list) = (root.path().join("out"), root.path().join("list"));
    let record = out.join(OWNERSHIP_FILE);
    render(&out, &[("a", "1")]);
    let changes = plan(&out, tree(&[("a", "2")]));
    fs::rename(&record, &list).expect("moved");
    symlink(&list, &record).expect("linked");
    assert!(matches!(output::apply(&changes), Err(Error::Read { .. })));
    assert_disk(&out, &[("a", "1")]);
}

#[test]
fn a_link_under_the_name_of_a_file_that_is_being_written_is_replaced() {
    for name in [".metalmark-tmp-0", ".metalmark-tmp-owned"] {
        let root = project();
        let (out, theirs) = (root.path().join("out"), root.path().join("theirs"));
        fs::create_dir(&out).expect("made");
        fs::write(&theirs, "theirs").expect("written");
        let changes = plan(&out, tree(&[("a", "1")]));
        symlink(&theirs, out.join(name)).expect("linked");
        output::apply(&changes).expect("written");
        assert_eq!(on_disk(&out), files(&[("a", "1")]), "{name}");
        let left = fs::read_to_string(&theirs).expect("there");
        assert_eq!(left, "theirs", "{name}");
    }
}

#[test]
fn what_a_killed_run_left_is_not_looked_for_behind_a_link() {
    let root = project();
    let (out, outside) = (root.path().join("out"), root.path().join("outside"));
    render(&out, &[("a/b", "1")]);
    fs::write(out.join(".metalmark-tmp-owned"), "half").expect("written");
    fs::remove_dir_all(out.join("a")).expect("removed");
    fs::create_dir(&outside).expect("made");
    let theirs = [(".metalmark-tmp-x", "theirs")];
    fs::write(outside.join(theirs[0].0), theirs[0].1).expect("written");
    symlink(&outside, out.join("a")).expect("linked");
    render(&out, &[("c", "1")]);
    assert_disk(&outside, &theirs);
}

#[test]
fn what_bears_the_name_of_a_file_being_written_is_in_the_way_unless_a_run_was_killed_there() {
    let litter = "a/.metalmark-tmp-x";
    for (is_listed, is_killed, is_refused) in [
        (false, false, true),
        (true, false, true),
        (true, true, false),
        // No run was writing in a folder of which nothing is listed.
        (false, true, true),
    ] {
        let root = project();
        render(root.path(), &[(if is_listed { "a/b" } else { "b" }, "1")]);
        fs::create_dir_all(root.path().join("a")).expect("made");
        root.write(litter, "theirs");
        if is_killed {
            root.write(".metalmark-tmp-owned", "half");
        }
        let changes = render(root.path(), &[("a", "2")]);
        let refused: &[RuleId] = if is_refused {
            &[RuleId::FileNotOwned]
        } else {
            &[]
        };
        assert_eq!(rules(&changes), refused, "{is_listed} {is_killed}");
        let left = if is_refused {
            files(&[("a/", ""), (litter, "theirs")])
        } else {
            files(&[("a", "2")])
        };
        assert_eq!(on_disk(root.path()), left, "{is_listed} {is_killed}");
    }
}

#[test]
fn a_file_takes_the_place_of_a_folder_whose_kept_file_somebody_deleted() {
    let root = project();
    render(root.path(), &[("a/b", "1")]);
    root.remove("a/b");
    let mut tree = tree(&[("a", "2")]);
    tree.keeps = Keeps::These(["a".into()].into());
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
    // What was written is listed, and what is another's is not.
    let left = on_disk(root.path());
    assert_eq!(left, files(&[("a", "1"), ("z/", ""), ("z/mine", "mine")]));
    let record = root.read(OWNERSHIP_FILE);
    let listed = |path: &str| {
        record
            .lines()
            .any(|line| line.starts_with(&format!("{path}\t")))
    };
    assert!(listed("a") && !listed("z"), "{record}");
    // So it stays another's, as a file too.
    fs::remove_dir_all(root.path().join("z")).expect("removed");
    root.write("z", "mine");
    let changes = render(root.path(), &[("a", "2"), ("z", "1")]);
    assert_eq!(rules(&changes), [RuleId::FileNotOwned]);
    assert_eq!(changes.changes.len(), 1);
    assert_eq!(
        changes.changes[0].origin,
        Origin::Run,
        "`a` is the run's own"
    );
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
    assert!(!out.join(OWNERSHIP_FILE).exists(), "nothing is owned");
}

#[test]
fn the_folder_of_a_file_that_is_gone_already_goes_too() {
    let root = project();
    render(root.path(), &[("a/b/c", "1"), ("d", "1")]);
    root.remove("a/b/c");
    let changes = render(root.path(), &[("d", "1")]);
    assert_eq!(kinds(&changes), []);
    assert_disk(root.path(), &[("d", "1")]);
}

#[test]
fn an_owned_file_that_is_too_long_to_read_is_replaced() {
    let root = project();
    render(root.path(), &[("a", "1")]);
    let file = File::options().write(true).open(root.path().join("a"));
    let file = file.expect("opened");
    file.set_len((256 << 20) + 1).expect("a file of holes");
    let changes = render(root.path(), &[("a", "2")]);
    assert!(
        changes
            .changes
            .iter()
            .all(|change| change.seen.is_none() && change.old.is_none())
    );
    assert!(
        changes
            .changes
            .iter()
            .all(|change| change.origin == Origin::Edited)
    );
    assert_disk(root.path(), &[("a", "2")]);
}

#[test]
fn the_text_that_is_replaced_is_kept_only_where_it_is_shown() {
    let root = project();
    render(root.path(), &[("a", "1"), ("b", "1")]);
    let kept = plan(root.path(), tree(&[("a", "2")]));
    let dropped = output::plan(root.path(), tree(&[("a", "2")]), Options::default());
    let dropped = dropped.expect("planned");
    let texts = |changes: &ChangeSet| -> Vec<Option<String>> {
        changes
            .changes
            .iter()
            .map(|change| change.old.clone())
            .collect()
    };
    assert_eq!(texts(&kept), [Some("1".to_owned()), Some("1".to_owned())]);
    assert_eq!(texts(&dropped), [None, None]);
}

#[test]
fn where_one_folder_changed_none_is_written() {
    let root = project();
    let folders = ["one", "two"].map(|name| root.path().join(name));
    let adopt = Options {
        foreign: Foreign::Adopt,
        ..Options::default()
    };
    let plans = folders.each_ref().map(|folder| {
        render(folder, &[("a", "1")]);
        output::plan(folder, tree(&[("a", "2"), ("b", "2")]), adopt.clone()).expect("planned")
    });
    fs::write(folders[1].join("a"), "9").expect("written");
    assert!(matches!(
        output::apply_all(&plans),
        Err(Error::Changed { .. })
    ));
    assert_disk(&folders[0], &[("a", "1")]);
    fs::write(folders[1].join("a"), "1").expect("written");
    output::apply_all(&plans).expect("nothing is in the way");
    for folder in &folders {
        assert_disk(folder, &[("a", "2"), ("b", "2")]);
    }
}
