//! One run at a time: whoever writes below a project's folder holds it, and its name stands in a file there.
//!
//! The file says which process of which host writes and what it was about to replace. What excludes others is the system's
//! lock on it, which ends with its process: a dead run holds nobody up, and the next one takes away what it left. On file
//! systems without locks the file itself counts, unless its process is known to be gone.

use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::staged::{self, beside};
use crate::error::Error;
use crate::model::manifest::{RUN_FILE, STAGED};

/// How often another run is looked at, and how long a look is apart from the next: two seconds in all.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// A project's folder that no other run writes below until this is dropped.
#[derive(Debug)]
pub struct Held {
    /// None where the folder takes no new file.
    file: Option<(PathBuf, File)>,
}

/// Holds a folder. Another run is waited for, two seconds at most. What a dead run left behind is taken away.
///
/// # Errors
/// Another run goes on writing; the disk is full.
pub fn hold(root: &Path) -> Result<Held, Error> {
    let path = root.join(RUN_FILE);
    let unwritable = |cause| Error::Write {
        path: path.clone(),
        cause,
    };
    for _ in 0..LOOKS {
        let file = match open(&path) {
            Ok(file) => file,
            // Nobody can write there by the ways that this file guards.
            Err(cause) if is_closed(cause.kind()) => return Ok(Held { file: None }),
            Err(cause) => return Err(unwritable(cause)),
        };
        if is_free(&file) && staged::is_at(&file, &path) {
            mend(root, &file);
            let mut held = Held {
                file: Some((path.clone(), file)),
            };
            held.about_to_replace([])?;
            return Ok(held);
        }
        sleep(PAUSE);
    }
    Err(Error::Busy {
        path: root.to_owned(),
        by: fs::read_to_string(&path).map_or_else(|_| String::new(), |text| named(&text)),
    })
}

/// Takes away what a dead run left below a folder, before anything there is read. A living one is waited for.
///
/// # Errors
/// Another run goes on writing.
pub fn mend_after_dead_run(root: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(root.join(RUN_FILE)) {
        Ok(_) => hold(root).map(drop),
        Err(_) => Ok(()),
    }
}

/// Does something while a folder is held: by the caller already, or from now until it is done.
///
/// # Errors
/// Another run goes on writing; what is done fails.
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
    /// Says which files are about to be replaced, so that what a kill leaves beside them is found.
    ///
    /// # Errors
    /// The disk is full.
    pub fn about_to_replace<'a>(
        &mut self,
        files: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let mut text = owner();
        for replaced in files {
            let replaced = fs::canonicalize(replaced).unwrap_or_else(|_| replaced.to_owned());
            let staged = beside(&replaced);
            let _ = writeln!(text, "{LEFT}{}", staged.display());
        }
        say(file, &text).map_err(|cause| Error::Write {
            path: path.clone(),
            cause,
        })
    }
}

impl Drop for Held {
    /// Closing alone does not unlock while a child process, started meanwhile by another thread, shares the open file.
    fn drop(&mut self) {
        if let Some((path, file)) = &self.file {
            let _ = fs::remove_file(path);
            let _ = file.unlock();
        }
    }
}

/// Opens the file, or makes it. A link in its place is taken away: what it leads to is somebody else's.
fn open(path: &Path) -> std::io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|standing| !standing.is_file()) {
        fs::remove_file(path)?;
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
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
const LEFT: &str = "writing ";

/// This process, in the lines of the file.
fn owner() -> String {
    let process = std::process::id();
    let (host, start) = (host(), start(process).unwrap_or_default());
    format!(
        "# metalmark is writing here. If it is not, this file can be removed.\n\
         {PROCESS}{process}\n{HOST}{host}\n{START}{start}\n"
    )
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// When a process began, in clock ticks since the machine did; none where it is gone, or the system does not tell
/// (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>, field 22).
fn start(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name, in parentheses, and may hold any character.
    let behind_name = text.rsplit_once(") ")?.1;
    behind_name.split(' ').nth(19).map(str::to_owned)
}

/// Whether the process that a file names is known to be gone: one of this host that is not there, or began at another time.
fn is_dead(text: &str) -> bool {
    let process = field(text, PROCESS).and_then(|process| process.parse().ok());
    let (Some(process), Some(began)) = (process, field(text, START)) else {
        // Nobody ever wrote here, or was killed before it could.
        return true;
    };
    let can_tell = start(std::process::id()).is_some();
    can_tell && field(text, HOST) == Some(&host()) && start(process).as_deref() != Some(began)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// The process that a file names, for people.
fn named(text: &str) -> String {
    match (field(text, PROCESS), field(text, HOST)) {
        (Some(process), Some(host)) if !host.is_empty() => {
            format!(" (process {process} on `{host}`)")
        }
        (Some(process), _) => format!(" (process {process})"),
        _ => String::new(),
    }
}

fn text_of(mut file: &File) -> Option<String> {
    /// Far above what a run that replaces ten thousand files says.
    const LONGEST: u64 = 16 << 20;
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn say(file: &mut File, text: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// Takes away what the run that the file names left. Only what bears the name of such a file is touched, whatever is said.
fn mend(root: &Path, file: &File) {
    let text = text_of(file).unwrap_or_default();
    let left = text.lines().filter_map(|line| line.strip_prefix(LEFT));
    for path in left.map(|path| root.join(path)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(STAGED) {
            // What cannot be taken away is in nobody's way.
            let _ = staged::sweep(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{field, hold, is_dead, mend_after_dead_run, named, owner};
    use crate::error::Error;
    use crate::model::manifest::RUN_FILE;

    #[test]
    fn a_folder_is_held_by_one_at_a_time_and_the_other_is_told_by_whom() {
        let root = tempfile::tempdir().expect("a scratch folder");
        let held = hold(root.path()).expect("free");
        let refused = hold(root.path()).expect_err("held").to_string();
        let process = format!("process {}", std::process::id());
        assert!(refused.contains(&process), "{refused}");
        drop(held);
        drop(hold(root.path()).expect("free again"));
        assert_eq!(fs::read_dir(root.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn whoever_waits_comes_next() {
        let root = tempfile::tempdir().expect("a scratch folder");
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

    #[test]
    fn a_dead_run_holds_nobody_up_and_its_leftovers_go() {
        let root = tempfile::tempdir().expect("a scratch folder");
        let file = root.path().join("values.yaml");
        let keep = root.path().join("mine");
        for path in [&file, &keep] {
            fs::write(path, "a: 1").expect("written");
        }
        let mut held = hold(root.path()).expect("free");
        held.about_to_replace([&*file, &*keep]).expect("said");
        let said = fs::read_to_string(root.path().join(RUN_FILE)).expect("there");
        drop(held);
        let tampered = format!("{said}writing mine\nwriting ../{RUN_FILE}\n");
        fs::write(root.path().join(RUN_FILE), tampered).expect("written");
        fs::write(root.path().join(".metalmark-tmp-values.yaml"), "a:").expect("written");
        mend_after_dead_run(root.path()).expect("free");
        let mut left: Vec<_> = fs::read_dir(root.path())
            .expect("a folder")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["mine", "values.yaml"]);
    }

    #[test]
    fn a_process_counts_as_dead_only_where_that_is_known() {
        let mine = owner();
        let Some(start) = field(&mine, "started ").filter(|start| !start.is_empty()) else {
            eprintln!("skipped: this system does not tell when a process began");
            return;
        };
        assert!(!is_dead(&mine));
        assert!(
            is_dead(&mine.replace(start, "1")),
            "the number is another's"
        );
        assert!(!is_dead("process 1\nhost elsewhere\nstarted 7\n"));
        assert!(is_dead(""));
        assert_eq!(named("process 7\nhost h\n"), " (process 7 on `h`)");
        assert_eq!(named("torn"), "");
    }

    #[test]
    fn a_folder_that_takes_no_file_is_no_obstacle() {
        let root = tempfile::tempdir().expect("a scratch folder");
        assert!(!matches!(
            hold(&root.path().join("none")),
            Err(Error::Busy { .. })
        ));
    }
}
