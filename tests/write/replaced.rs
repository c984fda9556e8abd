//! Files of the user's that get another text, and single files: whole, in place, and only where they are what was read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use metalmark::error::Error;
use metalmark::output::{self, Replacement};
use tempfile::TempDir;

fn put(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

/// The names of all files below a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(folder)
        .min_depth(1)
        .sort_by_file_name();
    let names = entries.into_iter().map(|entry| entry.expect("readable"));
    names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_text_is_replaced_and_everything_else_stays() {
    for (found, before, after, wanted) in [
        ("a: 1\n", "a: 1\n", "a: 2\n", "a: 2\n"),
        ("a: 1", "a: 1", "", ""),
        ("", "", "a: 1", "a: 1"),
        ("\u{feff}a: 1\n", "a: 1\n", "a: 2\n", "\u{feff}a: 2\n"),
        ("\u{feff}", "", "a", "\u{feff}a"),
        ("a: 1\r\n", "a: 1\r\n", "a: 2\r\n", "a: 2\r\n"),
    ] {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("a.yaml");
        put(&path, found);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
        let mut held = output::hold(folder.path()).expect("free");
        let file = Replacement {
            path: &path,
            before,
            after,
        };
        output::replace_all(&mut held, &[file]).expect("written");
        drop(held);
        assert_eq!(text(&path), wanted);
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(names(folder.path()), ["a.yaml"]);
    }
}

#[test]
fn where_one_of_several_files_is_not_what_was_read_none_changes() {
    for changed in [0, 1, 2] {
        for theirs in ["b: 1\n", "a: 1", "a: 1\n\n", "", "\u{feff}\u{feff}a: 1\n"] {
            let folder = TempDir::new().expect("a folder");
            let paths = [0, 1, 2].map(|number| folder.path().join(format!("{number}.yaml")));
            paths.iter().for_each(|path| put(path, "a: 1\n"));
            put(&paths[changed], theirs);
            let files = paths.each_ref().map(|path| Replacement {
                path,
                before: "a: 1\n",
                after: "a: 2\n",
            });
            let mut held = output::hold(folder.path()).expect("free");
            let answer = output::replace_all(&mut held, &files);
            let Err(Error::Changed { path }) = answer else {
                panic!("{theirs:?}: {answer:?}");
            };
            assert_eq!(path, paths[changed]);
            for (number, path) in paths.iter().enumerate() {
                let wanted = if number == changed { theirs } else { "a: 1\n" };
                assert_eq!(text(path), wanted, "{theirs:?}");
            }
            drop(held);
            assert_eq!(names(folder.path()).len(), 3, "no litter");
        }
    }
}

#[test]
fn where_one_of_several_files_cannot_be_written_the_others_become_what_they_were() {
    let folder = TempDir::new().expect("a folder");
    let paths = [0, 1].map(|number| folder.path().join(format!("{number}.yaml")));
    paths.iter().for_each(|path| put(path, "a: 1\n"));
    // In the place of the file that is written beside the second one.
    let beside = folder.path().join(".metalmark-tmp-1.yaml");
    fs::create_dir(&beside).expect("made");
    let files = paths.each_ref().map(|path| Replacement {
        path,
        before: "a: 1\n",
        after: "a: 2\n",
    });
    let mut held = output::hold(folder.path()).expect("free");
    let answer = output::replace_all(&mut held, &files);
    assert!(matches!(&answer, Err(Error::Write { path, .. }) if *path == paths[1]));
    assert_eq!(paths.each_ref().map(|path| text(path)), ["a: 1\n"; 2]);
}

#[test]
fn a_link_keeps_leading_where_it_led() {
    let folder = TempDir::new().expect("a folder");
    let (real, link) = (
        folder.path().join("real.yaml"),
        folder.path().join("link.yaml"),
    );
    put(&real, "a: 1\n");
    symlink("real.yaml", &link).expect("linked");
    let mut held = output::hold(folder.path()).expect("free");
    let file = Replacement {
        path: &link,
        before: "a: 1\n",
        after: "a: 2\n",
    };
    output::replace_all(&mut held, &[file]).expect("written");
    assert!(link.is_symlink());
    assert_eq!(text(&real), "a: 2\n");
    output::file(&link, b"a: 3\n").expect("written");
    assert!(link.is_symlink());
    assert_eq!(text(&real), "a: 3\n");
}

#[test]
fn a_file_that_is_gone_is_an_error_that_names_it() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("a.yaml");
    let mut held = output::hold(folder.path()).expect("free");
    let file = Replacement {
        path: &path,
        before: "",
        after: "a",
    };
    let answer = output::replace_all(&mut held, &[file]);
    assert!(
        matches!(&answer, Err(Error::Read { path: named, .. }) if *named == path),
        "{answer:?}"
    );
    assert!(!path.exists());
}

#[test]
fn a_file_that_a_command_owns_by_name_is_written_only_over_what_was_read() {
    let old = Some(b"old".as_slice());
    // What is there, what was read, whether it is written.
    for (found, read, is_written) in [
        (Some("old"), old, true),
        (None, None, true),
        (Some("new"), old, false),
        (Some("old\n"), old, false),
        (Some(""), None, false),
        (Some("old"), None, false),
        (None, old, false),
    ] {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("metalmark.lock");
        if let Some(found) = found {
            put(&path, found);
        }
        let mut held = output::hold(folder.path()).expect("free");
        let answer = output::write_owned_file(&mut held, &path, read, "text");
        drop(held);
        let is_changed = matches!(answer, Err(Error::Changed { .. }));
        assert_eq!(
            (answer.is_ok(), is_changed),
            (is_written, !is_written),
            "{found:?}, {read:?}"
        );
        let left = fs::read_to_string(&path).ok();
        let wanted = if is_written { Some("text") } else { found };
        assert_eq!(left.as_deref(), wanted, "{found:?}, {read:?}");
        assert_eq!(names(folder.path()).len(), usize::from(wanted.is_some()));
    }
}

#[test]
fn a_link_is_no_file_that_a_command_owns() {
    let folder = TempDir::new().expect("a folder");
    let (theirs, path) = (
        folder.path().join("theirs"),
        folder.path().join("metalmark.lock"),
    );
    put(&theirs, "old");
    for to in ["theirs", "nowhere"] {
        symlink(to, &path).expect("linked");
        let mut held = output::hold(folder.path()).expect("free");
        for read in [Some(b"old".as_slice()), None] {
            let answer = output::write_owned_file(&mut held, &path, read, "text");
            assert!(
                matches!(answer, Err(Error::Write { .. })),
                "{to}: {answer:?}"
            );
        }
        assert!(path.is_symlink());
        fs::remove_file(&path).expect("removed");
    }
    assert_eq!(text(&theirs), "old");
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_new_file_takes_no_place_that_is_taken() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    put(&at("file"), "mine");
    fs::create_dir(at("folder")).expect("made");
    symlink("nowhere", at("link")).expect("linked");
    for (name, is_written) in [
        ("new", true),
        ("file", false),
        ("folder", false),
        ("link", false),
    ] {
        let answer = output::new_file(&at(name), b"text").expect("looked at");
        assert_eq!(answer, is_written, "{name}");
    }
    assert_eq!(text(&at("new")), "text");
    assert_eq!(text(&at("file")), "mine");
    assert_eq!(names(folder.path()), ["file", "folder", "link", "new"]);
}
