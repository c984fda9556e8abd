//! Files of any bytes copied into a folder (`bundle unpack`), with what other people do there between the plan and the copy.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metalmark::error::Error;
use metalmark::model::manifest::STAGED;
use metalmark::model::rule::RuleId;
use metalmark::output::{self, Copied, CopyPlan, Foreign, Incoming};
use oci_artifacts::Body;
use tempfile::TempDir;

/// A file's text. It can be read that many times.
struct Text(&'static str, AtomicUsize);

impl Body for Text {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        match self.1.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(io::Error::other("it is gone")),
            _ => Ok(Box::new(self.0.as_bytes())),
        }
    }
}

fn file(path: &str, text: &'static str, times: usize) -> Incoming {
    let (name, mark) = path.split_at(path.find('*').unwrap_or(path.len()));
    Incoming {
        path: name.to_owned(),
        is_executable: !mark.is_empty(),
        content: Arc::new(Text(text, AtomicUsize::new(times))),
    }
}

/// Files by path and text; one whose path ends in `*` may be run.
fn plan(root: &Path, files: &[(&str, &'static str)]) -> CopyPlan {
    plan_as(root, files, Foreign::Adopt)
}

fn plan_as(root: &Path, files: &[(&str, &'static str)], foreign: Foreign) -> CopyPlan {
    let files = files.iter().map(|(path, text)| file(path, text, 9));
    let plan = output::copy_plan(root, "", foreign, files.collect(), &|_| {});
    plan.expect("the folder can be read")
}

fn copy(root: &Path, files: &[(&str, &'static str)]) -> Copied {
    let plan = plan(root, files);
    assert!(plan.findings.is_empty(), "{:?}", plan.findings);
    plan.apply(&|_| {}).expect("copied")
}

fn counts(copied: Copied) -> [usize; 3] {
    let Copied {
        created,
        updated,
        unchanged,
    } = copied;
    [created, updated, unchanged]
}

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Each file's text, and where each link leads.
fn texts(root: &Path) -> Vec<(String, String)> {
    let entries = walkdir::WalkDir::new(root).sort_by_file_name().into_iter();
    let entries = entries.map(|entry| entry.expect("readable"));
    let is_file = |entry: &walkdir::DirEntry| !entry.file_type().is_dir();
    let text = |entry: walkdir::DirEntry| {
        let path = entry.path().strip_prefix(root).expect("below the root");
        let text = match fs::read_link(entry.path()) {
            Ok(to) => format!("-> {}", to.display()),
            Err(_) => fs::read_to_string(entry.path()).expect("readable"),
        };
        (path.to_string_lossy().into_owned(), text)
    };
    entries.filter(is_file).map(text).collect()
}

/// Nothing says whose the other files of a folder are.
#[test]
fn a_folder_is_new_or_empty_or_holds_the_files_already() {
    let folder = scratch();
    let root = folder.path();
    let first = [("a/b", "1"), ("c", "1"), ("d/x", "1")];
    let refused = |files: &[(&str, &'static str)]| -> Vec<RuleId> {
        let plan = plan_as(root, files, Foreign::Refuse);
        plan.findings.iter().map(|finding| finding.rule).collect()
    };
    assert_eq!(refused(&first), []);
    assert_eq!(counts(copy(root, &first)), [3, 0, 0]);
    assert!(!plan(root, &first).drift());
    assert_eq!(refused(&first), []);
    assert_eq!(counts(copy(root, &first)), [0, 0, 3]);
    // Another text, and a file that is not copied any more.
    assert_eq!(
        refused(&[("a/b", "2"), ("c", "1"), ("d/x", "1")]),
        [RuleId::FileNotOwned]
    );
    assert_eq!(refused(&first[..2]), [RuleId::FileNotOwned]);
    assert_eq!(counts(copy(root, &[("a/b", "2"), ("c", "1")])), [0, 1, 1]);
    let left = [("a/b", "2"), ("c", "1"), ("d/x", "1")];
    assert_eq!(
        texts(root),
        left.map(|(path, text)| (path.to_owned(), text.to_owned()))
    );
}

/// A link that a repository brings led the files of a bundle out of it.
#[test]
fn below_the_top_of_a_repository_no_link_is_followed() {
    let (folder, outside) = (scratch(), scratch());
    let root = folder.path();
    fs::create_dir_all(root.join(".git")).expect("made");
    fs::create_dir_all(outside.path().join(".git")).expect("made");
    symlink(outside.path(), root.join("link")).expect("linked");
    fs::create_dir(root.join("real")).expect("made");
    symlink(outside.path(), root.join("real/link")).expect("linked");
    for name in [
        "link",
        "link/below",
        "real/link",
        "real/../link/x",
        "link/../link",
    ] {
        let plan = plan_as(&root.join(name), &[("a", "1")], Foreign::Adopt);
        let is_link = plan
            .findings
            .iter()
            .any(|found| found.rule == RuleId::OutputSymlink);
        assert!(is_link || plan.apply(&|_| {}).is_err(), "{name}");
    }
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 1);
    assert_eq!(
        counts(copy(&root.join("real/new"), &[("a", "1")])),
        [1, 0, 0]
    );
}

#[test]
fn an_executable_file_is_distinguished_from_others() {
    let folder = scratch();
    let root = folder.path();
    let mode = || {
        fs::metadata(root.join("run"))
            .expect("there")
            .permissions()
            .mode()
            & 0o111
    };
    copy(root, &[("run*", "1")]);
    assert_ne!(mode(), 0);
    assert!(!plan(root, &[("run*", "1")]).drift());
    assert_eq!(counts(copy(root, &[("run", "1")])), [0, 1, 0]);
    assert_eq!(mode(), 0);
    assert_eq!(counts(copy(root, &[("run*", "1")])), [0, 1, 0]);
    assert_ne!(mode(), 0);
}

#[test]
fn an_illegal_path_is_refused_and_the_others_are_copied() {
    let folder = scratch();
    let root = folder.path().join("root");
    let plan = plan(&root, &[("../outside", "1"), ("a", "1")]);
    assert_eq!(plan.findings.len(), 1);
    plan.apply(&|_| {}).expect("copied");
    assert_eq!(texts(&root), [("a".to_owned(), "1".to_owned())]);
    assert!(!folder.path().join("outside").exists());
}

#[test]
fn each_copy_is_reported() {
    let folder = scratch();
    let last = Cell::new(0);
    let plan = plan(folder.path(), &[("a", "1"), ("b", "2")]);
    plan.apply(&|number| last.set(number)).expect("copied");
    assert_eq!(last.get(), 2);
}

type Interference = fn(&Path);

/// What another program does after the plan was made, to a file that is to be replaced and to one that is to be created.
#[test]
fn what_changed_since_the_plan_is_not_overwritten() {
    let interferences: [(&str, Interference); 5] = [
        ("another text", |root| {
            fs::write(root.join("old"), "theirs").expect("written");
        }),
        ("a link to the same text", |root| {
            fs::rename(root.join("old"), root.join("moved")).expect("moved");
            symlink("moved", root.join("old")).expect("linked");
        }),
        ("no file", |root| {
            fs::remove_file(root.join("old")).expect("removed");
        }),
        ("a file where none was", |root| {
            fs::create_dir_all(root.join("d")).expect("a folder");
            fs::write(root.join("d/new"), "theirs").expect("written");
        }),
        ("a link where no file was", |root| {
            fs::create_dir_all(root.join("d")).expect("a folder");
            symlink("nowhere", root.join("d/new")).expect("linked");
        }),
    ];
    for (what, interfere) in interferences {
        let folder = scratch();
        let root = folder.path();
        copy(root, &[("old", "1")]);
        let plan = plan(root, &[("old", "2"), ("d/new", "2")]);
        interfere(root);
        let before = texts(root);
        let error = plan.apply(&|_| {}).expect_err(what);
        assert!(matches!(error, Error::Changed { .. }), "{what}: {error}");
        assert_eq!(texts(root), before, "{what}");
    }
}

/// A link that another program puts in the place of a folder leads nothing outside.
#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let (folder, outside) = (scratch(), scratch());
    let root = folder.path();
    copy(root, &[("d/old", "1")]);
    let plan = plan(root, &[("d/old", "1"), ("d/new", "2")]);
    fs::remove_dir_all(root.join("d")).expect("removed");
    symlink(outside.path(), root.join("d")).expect("linked");
    let error = plan.apply(&|_| {}).expect_err("the folder is a link");
    assert!(error.to_string().contains("d"), "{error}");
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 0);
}

/// A source that fails leaves nothing behind, and the next copy completes it.
#[test]
fn a_copy_that_fails_leaves_no_staged_file_and_the_next_one_sweeps() {
    let folder = scratch();
    let root = folder.path();
    let files = vec![file("a", "1", 9), file("b", "1", 0)];
    let plan = output::copy_plan(root, "", Foreign::Refuse, files, &|_| {});
    let failed = plan.expect("the folder can be read").apply(&|_| {});
    assert!(failed.is_err());
    assert_eq!(texts(root), []);
    // What a killed run leaves.
    let staged = root.join(format!("{STAGED}7"));
    fs::write(&staged, "half").expect("written");
    copy(root, &[("a", "1"), ("b", "1")]);
    assert!(!staged.exists());
    assert_eq!(texts(root).len(), 2);
}
