//! The disk is full, a folder takes no file, a file may grow no further: exit 2, whole files, no litter.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::case::{CASES, Case, has_run_file, make_repository, tree};
use super::{Undisturbed, is_litter, undisturbed};
use crate::programs::missing;
use crate::support::is_long;

/// After an error that a run could tell, nothing of it is left.
fn assert_no_litter(workspace: &Path, reported: &str) {
    let left: Vec<_> = tree(workspace)
        .into_keys()
        .filter(|path| is_litter(path))
        .collect();
    assert!(left.is_empty(), "{reported}: {left:?}");
}

/// Files may not grow past so many blocks of 512 bytes; the system says so by an error, or by a signal that kills.
fn with_short_files(case: &Case, calm: &Undisturbed, blocks: u32, first: &str) -> bool {
    let workspace = calm.fresh();
    let reported = format!("{}: {blocks} blocks, {first}", case.name);
    let limit = format!("{first} ulimit -f {blocks};");
    let output = case
        .by_shell(workspace.path(), &limit)
        .stderr(Stdio::piped())
        .output()
        .expect("sh runs");
    calm.assert_whole(&tree(workspace.path()), &reported);
    if output.status.signal().is_none() {
        assert_no_litter(workspace.path(), &reported);
    }
    let failed = output.status.code() == Some(2);
    if failed {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("error: cannot write `"), "{reported}: {said}");
    }
    calm.assert_fixed(case, workspace.path(), &reported);
    failed || output.status.signal().is_some()
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_no_file_is_torn() {
    for case in CASES {
        let calm = undisturbed(case);
        let (all, few) = (&[0, 1, 2, 4, 8, 16][..], &[0, 4][..]);
        let blocks = if is_long() { all } else { few }.iter();
        for first in ["trap '' XFSZ;", ""] {
            let stopped = |blocks: &u32| with_short_files(case, &calm, *blocks, first);
            let stopped: Vec<bool> = blocks.clone().map(stopped).collect();
            assert!(stopped[0], "{}: {stopped:?}", case.name);
            if !is_long() {
                break;
            }
        }
    }
}

/// Runs a command in a new file system of so many kilobytes that starts as the workspace is; none where none can be mounted.
fn on_a_small_disk(case: &Case, calm: &Undisturbed, spare: u32) -> Option<(i32, String)> {
    let (workspace, disk) = (calm.fresh(), tempfile::tempdir().expect("a folder"));
    make_repository(workspace.path());
    let result = tempfile::tempdir().expect("a folder");
    let script = format!(
        "mount -t tmpfs -o size=64m none {disk} && cp -a {from}/. {disk} && cd {disk}/{within} || exit 99\n\
         used=$(df -k --output=used {disk} | tail -n 1)\n\
         mount -o remount,size=$((used + {spare}))k {disk} || exit 99\n\
         \"$0\" \"$@\"; status=$?\n\
         cp -a {disk}/. {to}; exit $status",
        disk = disk.path().display(),
        from = workspace.path().display(),
        to = result.path().display(),
        within = case.within,
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(env!("CARGO_BIN_EXE_metalmark"))
        .args(case.args)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let status = output.status.code().filter(|status| *status != 99)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let reported = format!("{}: {spare} KiB left", case.name);
    if status == 99 || said.starts_with("unshare:") {
        return None;
    }
    let left = tree(result.path());
    calm.assert_whole(&left, &reported);
    // What cannot be undone for want of room is named in the run file, for the next run.
    let is_left = left.keys().any(|path| is_litter(path)) || has_run_file(result.path());
    let is_announced = said.contains("the next run of metalmark undoes the edits");
    assert_eq!(is_left, is_announced, "{reported}: {said}");
    calm.assert_fixed(case, result.path(), &reported);
    Some((status, said))
}

#[test]
fn a_full_disk_is_an_error_and_no_file_is_torn() {
    for case in CASES {
        let calm = undisturbed(case);
        let mut full = 0;
        let spares = if is_long() { &[0, 4, 8, 16][..] } else { &[4] };
        for spare in spares {
            let Some((status, said)) = on_a_small_disk(case, &calm, *spare) else {
                // No file system can be mounted here.
                return missing("mount");
            };
            if status == 2 {
                full += 1;
                assert!(said.contains("No space left on device"), "{said}");
            }
        }
        assert!(full > 0, "{}: the disk is never full", case.name);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_and_stays_as_it_was() {
    for case in CASES {
        let calm = undisturbed(case);
        let workspace = calm.fresh();
        let file = case.root(workspace.path()).join(case.edits);
        // What stops even the superuser: a folder in the place of what is written before it is renamed.
        let name = file.file_name().expect("a name").to_string_lossy();
        let named = file.with_file_name(format!(".metalmark-tmp-{name}"));
        let numbered =
            (0..64).map(|number| file.with_file_name(format!(".metalmark-tmp-{number}")));
        let folders: Vec<_> = std::iter::once(named).chain(numbered).collect();
        for folder in &folders {
            fs::create_dir(folder).expect("made");
            fs::write(folder.join("mine"), "").expect("written");
        }
        let (status, said) = case.run(workspace.path());
        assert_eq!(status, Some(2), "{}: {said}", case.name);
        assert!(said.contains("error: cannot write `"), "{said}");
        let standing = fs::read(&file).expect("there");
        let path = Path::new(case.within).join(case.edits);
        assert_eq!(standing, calm.before[&path].0, "{}", case.name);
        for folder in &folders {
            fs::remove_dir_all(folder).expect("removed");
        }
        calm.assert_whole(&tree(workspace.path()), case.name);
        assert_no_litter(workspace.path(), case.name);
        calm.assert_fixed(case, workspace.path(), case.name);
    }
}
