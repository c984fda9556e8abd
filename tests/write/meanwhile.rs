//! Another program changes a file while a run writes, before any of its steps: what it wrote is there afterwards.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::error::Error;
use metalmark::model::manifest::ChangeSet;
use metalmark::output;

use super::{on_disk, plan, render, tree};
use crate::support::stage::project;

/// Files that are updated, created and deleted; a file that becomes a folder, and a folder that becomes a file.
const BEFORE: [(&str, &str); 5] = [
    ("d/deleted", "1"),
    ("f", "1"),
    ("g/h", "1"),
    ("same", "1"),
    ("updated", "1"),
];
const AFTER: [(&str, &str); 6] = [
    ("c/created", "2"),
    ("created", "2"),
    ("f/x", "2"),
    ("g", "2"),
    ("same", "1"),
    ("updated", "2"),
];
const PATHS: [&str; 8] = [
    "d/deleted",
    "f",
    "g/h",
    "updated",
    "c/created",
    "created",
    "f/x",
    "g",
];

type Interference = fn(&Path);

/// What the other program does at a path; each leaves something that nobody may take away.
const INTERFERENCES: [(&str, Interference); 3] = [
    ("a text of the same length", |path| {
        fs::write(path, "9").expect("written")
    }),
    ("a longer text", |path| {
        fs::write(path, "theirs").expect("written")
    }),
    ("a link", |path| {
        let _ = fs::remove_file(path);
        symlink("nowhere", path).expect("linked");
    }),
];

fn planned(root: &Path) -> ChangeSet {
    render(root, &BEFORE);
    plan(root, tree(&AFTER))
}

/// What is at a path: a text, or where a link leads.
fn found(path: &Path) -> Option<String> {
    match fs::read_link(path) {
        Ok(to) => Some(format!("-> {}", to.display())),
        Err(_) => fs::read_to_string(path).ok(),
    }
}

/// Does it where a file or nothing is; says what is there then.
fn interfered(root: &Path, path: &str, interfere: Interference) -> Option<String> {
    let path = root.join(path);
    let is_free = path.parent().is_some_and(Path::is_dir) && !path.is_dir();
    is_free
        .then(|| interfere(&path))
        .and_then(|()| found(&path))
}

#[test]
fn what_another_program_writes_between_any_two_steps_stays() {
    let count = {
        let root = project();
        output::phases(&planned(root.path()))
            .iter()
            .flatten()
            .count()
    };
    assert!(count > 10);
    let mut tried = 0;
    for at in 0..=count {
        for path in PATHS {
            for (name, interfere) in INTERFERENCES {
                let root = project();
                let changes = planned(root.path());
                let phases = output::phases(&changes);
                let steps: Vec<_> = phases.iter().flatten().collect();
                for step in &steps[..at] {
                    step.run().expect("the folder can be written");
                }
                let Some(theirs) = interfered(root.path(), path, interfere) else {
                    continue;
                };
                tried += 1;
                // The rest of the run, as far as it goes.
                let _ = steps[at..].iter().try_for_each(|step| step.run());
                let left = found(&root.path().join(path));
                assert_eq!(left, Some(theirs), "{name} at `{path}`, before step {at}");
            }
        }
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn where_a_file_changed_since_the_plan_nothing_is_written() {
    for path in PATHS {
        for (name, interfere) in INTERFERENCES {
            let root = project();
            let changes = planned(root.path());
            let Some(_) = interfered(root.path(), path, interfere) else {
                continue;
            };
            let before = found_below(root.path());
            let answer = output::apply(&changes);
            assert!(
                matches!(answer, Err(Error::Changed { .. })),
                "{name} at `{path}`: {answer:?}"
            );
            assert_eq!(found_below(root.path()), before, "{name} at `{path}`");
        }
    }
}

fn found_below(root: &Path) -> Vec<(String, Option<String>)> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
    let entries = entries.map(|entry| entry.expect("readable"));
    let path = |path: &Path| path.to_string_lossy().into_owned();
    entries
        .map(|entry| (path(entry.path()), found(entry.path())))
        .collect()
}

#[test]
fn what_is_gone_meanwhile_is_no_obstacle_to_a_deletion() {
    let root = project();
    let changes = planned(root.path());
    root.remove("d/deleted");
    output::apply(&changes).expect("nothing is in the way");
    assert_eq!(on_disk(root.path()).get("d/"), None);
}
