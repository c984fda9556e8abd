//! The limits of what a commit holds: links, long files, and names that lead out or are no names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::files::{FILE_LIMIT, Files, Found, Repository, Revision, Scope};

use super::super::git::{commit, repository};
use super::most;

/// What a path of the only commit of a repository leads to.
fn found(folder: &Path, path: &str) -> Result<Found, String> {
    let repository = Repository::find(folder).expect("a repository");
    let scope = Scope::repository(folder).expect("there");
    let head = repository.commit("HEAD").expect("a commit");
    let revision = Revision::open(&repository, &head, scope).expect("readable");
    revision
        .file(Path::new(path))
        .map_err(|error| error.to_string())
}

#[test]
fn as_many_links_of_a_commit_are_followed_as_is_stated() {
    let Some(scratch) = repository() else { return };
    fs::write(scratch.path().join("0"), "text").expect("written");
    for link in 1..=41 {
        symlink(
            (link - 1).to_string(),
            scratch.path().join(link.to_string()),
        )
        .expect("linked");
    }
    commit(scratch.path(), "links");
    most(40, "nothing", |links| {
        match found(scratch.path(), &links.to_string()) {
            Ok(Found::File(bytes)) => {
                assert_eq!(bytes.raw_bytes(), b"text");
                Ok(())
            }
            Ok(Found::Nothing) => Err("nothing".to_owned()),
            other => Err(format!("{other:?}")),
        }
    });
}

#[test]
fn a_link_of_a_commit_leads_out_of_no_repository() {
    let Some(scratch) = repository() else { return };
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret"), "hunter2").expect("written");
    let absolute = outside.path().join("secret");
    let name = outside.path().file_name().expect("a name");
    let relative = Path::new("..").join(name).join("secret");
    symlink(&absolute, scratch.path().join("absolute")).expect("linked");
    symlink(&relative, scratch.path().join("relative")).expect("linked");
    symlink(
        relative.parent().expect("a folder"),
        scratch.path().join("folder"),
    )
    .expect("linked");
    commit(scratch.path(), "links");
    for path in ["absolute", "relative", "folder/secret"] {
        assert_eq!(found(scratch.path(), path), Ok(Found::Outside), "{path}");
    }
}

#[test]
fn a_file_of_a_commit_is_as_long_as_is_stated() {
    let Some(scratch) = repository() else { return };
    for (name, length) in [("fits", FILE_LIMIT), ("more", FILE_LIMIT + 1)] {
        let file = fs::File::create(scratch.path().join(name)).expect("created");
        file.set_len(length).expect("a sparse file");
    }
    commit(scratch.path(), "long");
    match found(scratch.path(), "fits") {
        Ok(Found::File(bytes)) => assert_eq!(bytes.raw_bytes().len() as u64, FILE_LIMIT),
        other => panic!("{other:?}"),
    }
    let refused = found(scratch.path(), "more").expect_err("one more is refused");
    assert!(refused.contains("it is larger than 16 MiB"), "{refused}");
}

#[test]
fn an_option_of_git_is_no_commit() {
    let Some(scratch) = repository() else { return };
    commit(scratch.path(), "empty");
    let repository = Repository::find(scratch.path()).expect("a repository");
    for name in ["--all", "--git-dir", "-q", "--show-toplevel", ""] {
        let refused = repository.commit(name).expect_err("no commit").to_string();
        let words = format!("there is no commit `{name}`");
        assert!(refused.starts_with(&words), "{refused}");
    }
}
