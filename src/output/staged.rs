//! Replaces one file atomically: written beside it under a fixed name, then renamed.
//!
//! The name is fixed so that the next run finds what a killed one left. A writer holds the operating system's lock on the
//! staged file, so that two runs replace the same file one after the other.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::model::manifest::STAGED;

/// How often another run's staged file is checked, and the pause between two checks: two seconds in all.
const ATTEMPTS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(2);

/// The path where a file is written before it is renamed.
pub(super) fn staging_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{STAGED}{name}"))
}

/// The replacement of a file.
pub(super) struct Put<'a> {
    /// Writes the new bytes.
    pub(super) fill: &'a dyn Fn(&mut File) -> io::Result<()>,
    /// Gives the new file the mode of the old one.
    pub(super) keeps_mode: bool,
    /// Called right before the file is replaced, while no other run can replace it; if false, the file is kept.
    pub(super) if_still: &'a dyn Fn() -> io::Result<bool>,
}

/// Replaces or creates a file. Returns whether it did.
pub(super) fn put(path: &Path, put: &Put<'_>) -> io::Result<bool> {
    let staged = staging_path(path);
    let mut file = create_locked(&staged)?;
    let done = fill(&mut file, path, put).and_then(|()| {
        if (put.if_still)()? {
            fs::rename(&staged, path).map(|()| true)
        } else {
            Ok(false)
        }
    });
    if !matches!(done, Ok(true)) {
        // Best effort: the next run removes it too.
        let _ = fs::remove_file(&staged);
    }
    // Keep the lock until the staged file is renamed or removed.
    drop(file);
    done
}

fn fill(file: &mut File, path: &Path, put: &Put<'_>) -> io::Result<()> {
    (put.fill)(file)?;
    // A power failure after the rename must not leave an empty file.
    file.sync_data()?;
    if put.keeps_mode {
        file.set_permissions(fs::metadata(path)?.permissions())
    } else {
        Ok(())
    }
}

/// Creates the staged file and locks it. Removes the leftover of a dead run; waits for a live run.
fn create_locked(staged: &Path) -> io::Result<File> {
    for _ in 0..ATTEMPTS {
        match File::create_new(staged) {
            Ok(file) if !is_held(&file) && is_at(&file, staged) => return Ok(file),
            // Another run removed it as a leftover before it was locked.
            Ok(_) => sleep(PAUSE),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
                if !sweep(staged)? {
                    sleep(PAUSE);
                }
            }
            Err(cause) => return Err(cause),
        }
    }
    Err(io::Error::new(
        ErrorKind::WouldBlock,
        "another run is writing it",
    ))
}

/// Removes the leftover of a dead run. Returns whether nothing exists there any more; the file of a live run is kept.
pub(super) fn sweep(staged: &Path) -> io::Result<bool> {
    let existing = match fs::symlink_metadata(staged) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(true),
        existing => existing?,
    };
    if existing.is_file() {
        match File::open(staged) {
            Ok(file) if is_held(&file) => return Ok(false),
            // It was replaced meanwhile.
            Ok(file) if !is_at(&file, staged) => return Ok(false),
            Ok(_file) => return ignore_missing(fs::remove_file(staged)),
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(true),
            // Its mode forbids reading but not removal.
            Err(_) => {}
        }
    }
    ignore_missing(fs::remove_file(staged))
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cause),
        _ => Ok(true),
    }
}

/// Whether another run holds the file's lock; if not, this run takes it. Without locks in the file system, nobody holds it.
pub(super) fn is_held(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether the path still names the open file.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => is_same_file(&open, &named),
        _ => false,
    }
}

#[cfg(unix)]
fn is_same_file(open: &Metadata, named: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// On other systems an open file can neither be renamed nor removed.
#[cfg(not(unix))]
fn is_same_file(_open: &Metadata, _named: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::Path;

    use super::{Put, put, staging_path};

    fn written(path: &Path, text: &str) -> bool {
        let one = Put {
            fill: &|file| file.write_all(text.as_bytes()),
            keeps_mode: false,
            if_still: &|| Ok(true),
        };
        put(path, &one).expect("written")
    }

    #[test]
    fn a_leftover_is_replaced_and_a_link_at_its_path_is_not_followed() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (path, other) = (folder.path().join("a"), folder.path().join("other"));
        fs::write(staging_path(&path), "half").expect("written");
        assert!(written(&path, "one"));
        fs::write(&other, "theirs").expect("written");
        std::os::unix::fs::symlink(&other, staging_path(&path)).expect("linked");
        assert!(written(&path, "two"));
        assert_eq!(fs::read_to_string(&path).expect("there"), "two");
        assert_eq!(fs::read_to_string(&other).expect("there"), "theirs");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }

    #[test]
    fn a_changed_file_is_kept_and_no_staged_file_is_left() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a");
        fs::write(&path, "theirs").expect("written");
        let one = Put {
            fill: &|file| file.write_all(b"mine"),
            keeps_mode: true,
            if_still: &|| Ok(false),
        };
        assert!(!put(&path, &one).expect("queried"));
        assert_eq!(fs::read_to_string(&path).expect("there"), "theirs");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn concurrent_writers_leave_one_complete_text() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("a");
        let texts: Vec<String> = (0..8_u8)
            .map(|letter| String::from(char::from(b'a' + letter)).repeat(100_000))
            .collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..5).for_each(|_| assert!(written(&path, text))));
            }
        });
        let left = fs::read_to_string(&path).expect("there");
        assert!(texts.contains(&left), "{} bytes", left.len());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
