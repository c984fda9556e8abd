//! Every command is killed at each system call that changes a file: strace sends the signal in the call's place.

use std::process::Command;

use super::case::{CASES, tree};
use super::{say, undisturbed};
use crate::programs;
use crate::support::is_long;

/// The calls that change files, by what they do.
const CALLS: [&str; 4] = [
    "rename,renameat,renameat2",
    "unlink,unlinkat,rmdir",
    "write,ftruncate",
    "mkdir,mkdirat",
];

/// So many kills of one command at one sort of call, where not all are tried.
const FEW: usize = 4;

#[test]
fn a_run_that_is_killed_at_any_system_call_leaves_nothing_to_repair() {
    let Some(strace) = programs::find("strace") else {
        return;
    };
    let (mut kills, mut ended) = (0, 0);
    for case in CASES {
        let calm = undisturbed(case);
        for calls in CALLS {
            let mut number = 1;
            loop {
                let workspace = calm.fresh();
                let reported = format!("{}, killed at {calls} {number}", case.name);
                let command = case.command(workspace.path());
                let mut traced = Command::new(&strace);
                traced
                    .args(["-f", "-qq", "-o", "/dev/null"])
                    .args(["-e", &format!("trace={calls}")])
                    .args([
                        "-e",
                        &format!("inject={calls}:signal=SIGKILL:when={number}"),
                    ])
                    .arg(command.get_program())
                    .args(command.get_args())
                    .current_dir(case.root(workspace.path()))
                    .env_clear()
                    .env("PATH", std::env::var_os("PATH").unwrap_or_default())
                    .env("RAYON_NUM_THREADS", "1")
                    .stdin(std::process::Stdio::null())
                    .stdout(std::process::Stdio::null())
                    .stderr(std::process::Stdio::null());
                if traced.status().expect("strace runs").code().is_some() {
                    ended += 1;
                    break;
                }
                kills += 1;
                calm.assert_whole(&tree(workspace.path()), &reported);
                calm.assert_fixed(case, workspace.path(), &reported);
                number += 1;
                if !is_long() && number > FEW {
                    break;
                }
            }
        }
    }
    say(&format!("{kills} kills; {ended} times all calls were met"));
    assert!(kills > CASES.len(), "the kills meet nothing");
}
