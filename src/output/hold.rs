//! One writing run at a time per project: the run locks a file in git's folder of the work tree, or in the user's folder for state
//! where there is no git ([`super::run_file`]).
//!
//! The file names the process and host of the run, and its edits ([`super::journal`]). The operating system's lock on the file
//! excludes other runs and ends with the process: a dead run blocks nobody, and the next run undoes its edits. On file systems
//! without locks the file itself is the lock, unless its process is known to be dead.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::journal::{self, Edit};
use super::run_file::places;
use super::staged;
use crate::error::Error;

/// How often another run's lock is retried, and the pause between two attempts: two seconds in all.
const ATTEMPTS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock of a project's folder: no other run writes below it until this is dropped.
#[derive(Debug)]
pub struct Held {
    root: PathBuf,
    /// The run file; none where nothing can be written to its folders.
    file: Option<(PathBuf, File)>,
    edits: Vec<Edit>,
    /// The files whose edits by a killed run were undone.
    pub undone: Vec<PathBuf>,
}

/// Locks a project's folder. Waits at most two seconds for another run, and undoes the edits of a dead one.
///
/// # Errors
/// Another run is still writing; the disk is full; an edit cannot be undone.
pub fn hold(root: &Path) -> Result<Held, Error> {
    let held = |file| Held {
        root: root.to_owned(),
        file,
        edits: Vec::new(),
        undone: Vec::new(),
    };
    for path in places(root) {
        let mut by = String::new();
        for _ in 0..ATTEMPTS {
            let file = match open(&path) {
                Ok(file) => file,
                // Nobody can write there.
                Err(cause) if is_closed(cause.kind()) => break,
                Err(cause) => return Err(Error::writing(path)(cause)),
            };
            let text = text_of(&file).unwrap_or_default();
            if is_free(&file) && staged::is_at(&file, &path) {
                let undone = journal::undo(root, &text);
                if let Err(Error::Undo { is_kept: true, .. }) = undone {
                    return undone.map(|_| held(None));
                }
                let mut held = held(Some((path.clone(), file)));
                held.begin()?;
                held.undone = undone?;
                return Ok(held);
            }
            by = name_process(&text);
            sleep(PAUSE);
        }
        if !by.is_empty() || path.exists() {
            let path = root.to_owned();
            return Err(Error::Busy { path, by });
        }
    }
    Ok(held(None))
}

/// Undoes the edits of a killed run below a folder, before anything there is read. Waits for a live run. Returns the files.
///
/// # Errors
/// Another run is still writing; an edit cannot be undone.
pub fn recover(root: &Path) -> Result<Vec<PathBuf>, Error> {
    if places(root).iter().any(|path| path.exists()) {
        Ok(std::mem::take(&mut hold(root)?.undone))
    } else {
        Ok(Vec::new())
    }
}

/// The files that a killed run has edited, and no run has undone or completed. Those of a run that goes on are none.
pub fn leftovers(root: &Path) -> Vec<PathBuf> {
    let left = places(root).into_iter().filter_map(|path| {
        let file = File::open(path).ok()?;
        let text = text_of(&file)?;
        file.try_lock_shared().ok()?;
        Some(journal::files_with_edits(root, &text))
    });
    left.flatten().collect()
}

/// Runs `act` with the folder locked: with the caller's lock, or one for this call.
///
/// # Errors
/// Another run is still writing; `act` fails.
pub fn holding<T>(
    held: Option<&mut Held>,
    root: &Path,
    act: impl FnOnce(&mut Held) -> Result<T, Error>,
) -> Result<T, Error> {
    match held {
        Some(held) => act(held),
        None => act(&mut hold(root)?),
    }
}

impl Held {
    /// Whether a path with its links resolved is in the repository, and not in git's own folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub(super) fn may_own(&self, path: &Path) -> Result<bool, Error> {
        let path = journal::inner(path)?;
        let below =
            journal::top(&self.root).and_then(|top| Some(path.strip_prefix(top).ok()?.to_owned()));
        let is_git = |part: &OsStr| part.eq_ignore_ascii_case(".git");
        Ok(below.is_some_and(|below| !below.iter().any(is_git)))
    }

    /// Records an edit before it is made.
    ///
    /// # Errors
    /// The disk is full.
    pub(super) fn record_edit(
        &mut self,
        path: &Path,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<(), Error> {
        let edit = Edit::new(path, before, after);
        if let Some((run, file)) = &mut self.file {
            let written = edit.write(&self.root, file).and_then(|()| file.sync_data());
            written.map_err(Error::writing(run.clone()))?;
        }
        self.edits.push(edit);
        Ok(())
    }

    /// Undoes the edits of this run, the last first. Returns whether there was any. A file that was edited since is kept.
    ///
    /// # Errors
    /// A file cannot be written. The run file is kept, so that the next run tries again.
    pub fn undo(&mut self) -> Result<bool, Error> {
        let mut is_any = false;
        while let Some(edit) = self.edits.pop() {
            is_any |= edit.undo().map_err(|cause| {
                if let Some((_, file)) = self.file.take() {
                    let _ = file.unlock();
                }
                Error::Undo {
                    path: edit.path.clone(),
                    cause,
                    is_kept: true,
                }
            })?;
        }
        self.begin()?;
        Ok(is_any)
    }

    /// Writes the run file, with this process and no edit.
    fn begin(&mut self) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        overwrite(file, &owner()).map_err(Error::writing(path.clone()))
    }
}

impl Drop for Held {
    /// Unlocks explicitly: closing is not enough while a child process, started by another thread, shares the open file.
    fn drop(&mut self) {
        if let Some((path, file)) = &self.file {
            let _ = fs::remove_file(path);
            let _ = file.unlock();
        }
    }
}

/// Opens or creates the run file.
fn open(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    // It will contain the text of files that may be private; an existing file may have another mode.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

fn is_closed(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound
    )
}

fn is_free(file: &File) -> bool {
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => text_of(file).is_none_or(|text| is_dead(&text)),
    }
}

const PROCESS: &str = "process ";
const HOST: &str = "host ";
const START: &str = "started ";

/// This process, as the lines of the run file.
fn owner() -> String {
    let process = std::process::id();
    let (host, start) = (host(), start(process).unwrap_or_default());
    format!(
        "# metalmark is writing. If it is not, this file can be removed.\n\
         {PROCESS}{process}\n{HOST}{host}\n{START}{start}\n"
    )
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// When a process started, in clock ticks since boot; none if it does not exist, or on other systems than Linux
/// (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>, field 22).
fn start(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may contain any character.
    let after_name = text.rsplit_once(") ")?.1;
    after_name.split(' ').nth(19).map(str::to_owned)
}

/// Whether the process in a run file is known to be dead: one of this host that does not exist, or started at another time.
fn is_dead(text: &str) -> bool {
    let process = field(text, PROCESS).and_then(|process| process.parse().ok());
    let (Some(process), Some(started)) = (process, field(text, START)) else {
        // A run was killed before it could write.
        return true;
    };
    let is_known = start(std::process::id()).is_some();
    is_known && field(text, HOST) == Some(&host()) && start(process).as_deref() != Some(started)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// The process in a run file, for messages.
fn name_process(text: &str) -> String {
    match (field(text, PROCESS), field(text, HOST)) {
        (Some(process), Some(host)) if !host.is_empty() => {
            format!(" (process {process} on `{host}`)")
        }
        (Some(process), _) => format!(" (process {process})"),
        _ => String::new(),
    }
}

fn text_of(mut file: &File) -> Option<String> {
    /// Far above the total length of the texts that a run edits.
    const LONGEST: u64 = 256 << 20;
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn overwrite(file: &mut File, text: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::{field, hold, is_dead, name_process, owner, places, recover};
    use crate::error::Error;

    fn repository() -> TempDir {
        let root = tempfile::tempdir().expect("a scratch folder");
        fs::create_dir(root.path().join(".git")).expect("made");
        fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("written");
        root
    }

    fn run_file(root: &Path) -> PathBuf {
        let run = places(root).swap_remove(0);
        let git = root.canonicalize().expect("there").join(".git");
        assert!(run.starts_with(git));
        fs::create_dir_all(run.parent().expect("a folder")).expect("made");
        run
    }

    #[test]
    fn one_run_holds_a_folder_and_the_error_names_it() {
        let root = repository();
        let held = hold(root.path()).expect("free");
        let refused = hold(root.path()).expect_err("held").to_string();
        let process = format!("process {}", std::process::id());
        assert!(refused.contains(&process), "{refused}");
        drop(held);
        drop(hold(root.path()).expect("free again"));
        assert!(!run_file(root.path()).exists());
    }

    #[test]
    fn a_waiting_run_gets_the_lock_next() {
        let root = repository();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let _held = hold(root.path()).expect("its turn comes");
                        let alone = fs::File::create_new(root.path().join("alone"));
                        alone.expect("nobody else holds it");
                        fs::remove_file(root.path().join("alone")).expect("removed");
                    }
                });
            }
        });
    }

    /// If the run file cannot be created in a writable folder, continuing would let two runs write at once.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_run_file_that_cannot_be_created_is_an_error() {
        let root = repository();
        fs::create_dir(run_file(root.path())).expect("made");
        let refused = hold(root.path()).expect_err("no file can be made");
        assert!(matches!(refused, Error::Write { .. }), "{refused}");
    }

    #[test]
    fn a_run_file_lists_only_edits_of_this_run_that_were_not_undone() {
        let root = repository();
        let run = run_file(root.path());
        fs::write(&run, "left by another run\n".repeat(20)).expect("written");
        let mut held = hold(root.path()).expect("free");
        let text = || fs::read_to_string(&run).expect("there");
        assert_eq!(text(), owner());
        held.record_edit(&root.path().join("a"), None, Some(b"new"))
            .expect("named");
        assert!(text().len() > owner().len());
        held.undo().expect("nothing was written");
        assert_eq!(text(), owner());
    }

    /// Leaves the run file of a run that was killed after these edits, each with its path, text before and text after.
    fn killed(root: &Path, edits: &[(&str, &str, &str)]) {
        let mut held = hold(root).expect("free");
        for (path, before, after) in edits {
            let (before, after) = (before.as_bytes(), after.as_bytes());
            held.record_edit(&root.join(path), Some(before), Some(after))
                .expect("named");
        }
        let text = fs::read(run_file(root)).expect("there");
        drop(held);
        fs::write(run_file(root), text).expect("written");
    }

    #[test]
    fn the_edits_of_a_dead_run_are_undone_and_those_of_others_are_kept() {
        let root = repository();
        let put =
            |name: &str, text: &str| fs::write(root.path().join(name), text).expect("written");
        let text = |name: &str| fs::read_to_string(root.path().join(name)).expect("there");
        put("done", "new");
        put("twice", "newest");
        put("to come", "old");
        put("theirs", "theirs");
        put(".metalmark-tmp-to come", "ne");
        killed(
            root.path(),
            &[
                ("done", "old", "new"),
                ("twice", "old", "new"),
                ("twice", "new", "newest"),
                ("to come", "old", "new"),
                ("theirs", "old", "new"),
            ],
        );
        let taken = recover(root.path()).expect("free");
        assert_eq!(taken, ["twice", "twice", "done"].map(PathBuf::from));
        for (name, expected) in [
            ("done", "old"),
            ("twice", "old"),
            ("to come", "old"),
            ("theirs", "theirs"),
        ] {
            assert_eq!(text(name), expected, "{name}");
        }
        assert_eq!(fs::read_dir(root.path()).expect("a folder").count(), 5);
    }

    #[cfg(unix)]
    #[test]
    fn a_run_file_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let root = repository();
        let run = run_file(root.path());
        fs::write(&run, "").expect("written");
        fs::set_permissions(&run, fs::Permissions::from_mode(0o644)).expect("its own file");
        let held = hold(root.path()).expect("free");
        let mode = fs::metadata(&run).expect("there").permissions().mode();
        drop(held);
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn an_edit_that_cannot_be_undone_now_is_undone_by_the_next_run() {
        let root = repository();
        let path = root.path().join("a/values.yaml");
        fs::create_dir(root.path().join("a")).expect("made");
        fs::write(&path, "new").expect("written");
        let mut held = hold(root.path()).expect("free");
        held.record_edit(&path, Some(b"old"), Some(b"new"))
            .expect("named");
        // A folder at the path of the staged file.
        let beside = root.path().join("a/.metalmark-tmp-values.yaml");
        fs::create_dir(&beside).expect("made");
        let refused = held.undo().expect_err("refused").to_string();
        assert!(refused.contains("a/values.yaml"), "{refused}");
        drop(held);
        fs::remove_dir(&beside).expect("removed");
        assert_eq!(recover(root.path()).expect("free").len(), 1);
        assert_eq!(fs::read(&path).expect("there"), b"old");
    }

    /// A folder that somebody removed meanwhile blocked every writing command for ever.
    #[test]
    fn an_edit_that_cannot_be_undone_is_said_once() {
        let root = repository();
        fs::create_dir(root.path().join("a")).expect("made");
        let mut held = hold(root.path()).expect("free");
        let path = root.path().join("a/values.yaml");
        held.record_edit(&path, Some(b"old"), None).expect("named");
        let text = fs::read(run_file(root.path())).expect("there");
        drop(held);
        fs::write(run_file(root.path()), text).expect("written");
        fs::remove_dir(root.path().join("a")).expect("removed");
        let refused = recover(root.path()).expect_err("refused").to_string();
        assert!(refused.contains("restore them with git"), "{refused}");
        assert!(recover(root.path()).expect("free").is_empty());
        drop(hold(root.path()).expect("free"));
    }

    #[test]
    fn a_linked_work_tree_has_a_run_file_of_its_own() {
        let (root, tree) = (repository(), tempfile::tempdir().expect("a scratch folder"));
        let git = root.path().join(".git/worktrees/tree");
        fs::create_dir_all(&git).expect("made");
        fs::write(git.join("HEAD"), "ref: refs/heads/x\n").expect("written");
        let link = format!("gitdir: {}\n", git.display());
        fs::write(tree.path().join(".git"), link).expect("written");
        assert!(places(tree.path())[0].starts_with(&git));
        let _both = (
            hold(root.path()).expect("free"),
            hold(tree.path()).expect("free"),
        );
    }

    #[test]
    fn incomplete_and_invalid_lines_are_ignored() {
        let root = repository();
        fs::write(root.path().join("a"), "new").expect("written");
        killed(root.path(), &[("a", "old", "new")]);
        let run = run_file(root.path());
        let text = fs::read_to_string(&run).expect("there");
        let torn = text.trim_end();
        for text in [torn, "edited {}\nedited\n", ""] {
            fs::write(&run, text).expect("written");
            assert!(recover(root.path()).expect("free").is_empty(), "{text}");
            assert_eq!(fs::read(root.path().join("a")).expect("there"), b"new");
        }
    }

    #[test]
    fn a_process_counts_as_dead_only_if_that_is_known() {
        let mine = owner();
        let Some(start) = field(&mine, "started ").filter(|start| !start.is_empty()) else {
            eprintln!("skipped: this system does not report when a process started");
            return;
        };
        assert!(!is_dead(&mine));
        assert!(
            is_dead(&mine.replace(start, "1")),
            "the process ID was reused"
        );
        assert!(!is_dead("process 1\nhost elsewhere\nstarted 7\n"));
        assert!(is_dead(""));
        assert_eq!(name_process("process 7\nhost h\n"), " (process 7 on `h`)");
        assert_eq!(name_process("process 7\nhost \n"), " (process 7)");
        assert_eq!(name_process("torn"), "");
    }

    #[test]
    fn a_folder_that_accepts_no_file_needs_no_lock() {
        let root = repository();
        assert!(!matches!(
            hold(&root.path().join("none")),
            Err(Error::Busy { .. })
        ));
    }
}
