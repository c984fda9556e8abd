//! The limits of what a commit holds: links, long files, and names that lead out or are no names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::files::{FILE_LIMIT, Files, Found, Repository, Revision, Scope};

use super::super::git::{commit, repository};
use super::most;

/// The files of the only commit of a repository.
fn revision(folder: &Path) -> Revision {
    let repository = Repository::find(folder).expect("a repository");
    let scope = Scope::repository(folder).expect("there");
    let head = repository.commit("HEAD").expect("a commit");
    Revision::open(&repository, &head, scope).expect("readable")
}

/// What a path of the only commit of a repository leads to.
fn find(folder: &Path, path: &str) -> Result<Found, String> {
    let found = revision(folder).file(Path::new(path));
    found.map_err(|error| error.to_string())
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
        match find(scratch.path(), &links.to_string()) {
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
        assert_eq!(find(scratch.path(), path), Ok(Found::Outside), "{path}");
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
    match find(scratch.path(), "fits") {
        Ok(Found::File(bytes)) => assert_eq!(bytes.raw_bytes().len() as u64, FILE_LIMIT),
        other => panic!("{other:?}"),
    }
    let refused = find(scratch.path(), "more").expect_err("one more is refused");
    assert!(refused.contains("it is larger than 16 MiB"), "{refused}");
}

#[test]
fn git_reads_32_mib_of_contents_once() {
    let Some(scratch) = repository() else { return };
    let files = ["one", "two", "more"].map(|name| scratch.path().join(name));
    let limit = usize::try_from(FILE_LIMIT).expect("a length");
    for (file, length) in files.iter().zip([limit, limit, 1]) {
        let name = file.file_name().expect("a name").as_encoded_bytes();
        let content = name.iter().copied().cycle().take(length);
        fs::write(file, content.collect::<Vec<u8>>()).expect("written");
    }
    commit(scratch.path(), "contents");
    let revision = revision(scratch.path());
    let is_read = |name| revision.read_file(Path::new(name)).is_ok();
    assert_eq!(["one", "two", "more"].map(is_read), [true; 3]);
    // Now git has nothing more to say.
    fs::remove_dir_all(scratch.path().join(".git/objects")).expect("removed");
    assert_eq!(["one", "two", "more"].map(is_read), [true, true, false]);
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
