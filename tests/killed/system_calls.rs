//! Every command is killed at the system calls that change a file: strace sends the signal instead of the call.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::case::{CASES, Case, Tree, case, has_run_file, tree};
use super::{Undisturbed, is_litter, undisturbed};
use crate::programs;
use crate::support::is_long;
use crate::support::seen::Seen;

/// The calls that change files.
const CALLS: &str = "rename,renameat,renameat2,unlink,unlinkat,rmdir,write,ftruncate,mkdir,mkdirat";

/// A command that strace runs.
struct Traced {
    strace: PathBuf,
    case: &'static Case,
    calm: Undisturbed,
}

impl Traced {
    /// None where there is no strace.
    fn new(name: &str) -> Option<Self> {
        let case = case(name);
        let strace = programs::find("strace")?;
        Some(Self {
            strace,
            case,
            calm: undisturbed(case),
        })
    }

    fn run(&self, workspace: &Path, log: &Path, injected: &str) -> ExitStatus {
        let command = self.case.command(workspace);
        let mut traced = Command::new(&self.strace);
        self.case.settle(&mut traced, workspace);
        traced.args(["-f", "-qq", "-o"]).arg(log);
        traced.args(["-e", &format!("trace={CALLS}")]);
        if !injected.is_empty() {
            traced.args(["-e", &format!("inject={injected}")]);
        }
        traced.arg(command.get_program()).args(command.get_args());
        traced.env("RAYON_NUM_THREADS", "1");
        traced.status().expect("strace runs")
    }

    /// How often it makes each of these calls: the most of a thread, for strace counts so.
    fn count(&self) -> BTreeMap<String, usize> {
        let (workspace, log) = (self.calm.fresh(), tempfile::NamedTempFile::new());
        let log = log.expect("a file");
        let status = self.run(workspace.path(), log.path(), "");
        assert_eq!(status.code(), self.calm.status, "{}", self.case.name);
        let mut threads: BTreeMap<(String, String), usize> = BTreeMap::new();
        for line in fs::read_to_string(log.path()).expect("the log").lines() {
            // `THREAD CALL(...`
            let (thread, rest) = line.split_once(' ').expect("a thread");
            if let Some((call, _)) = rest.trim().split_once('(')
                && CALLS.split(',').any(|known| known == call)
            {
                let key = (thread.to_owned(), call.to_owned());
                *threads.entry(key).or_default() += 1;
            }
        }
        let mut calls: BTreeMap<String, usize> = BTreeMap::new();
        for ((_, call), count) in threads {
            let most = calls.entry(call).or_default();
            *most = count.max(*most);
        }
        calls
    }

    /// Sends the signal at one call of a sort: what is left is whole, and the next run puts all in order. What took place.
    fn interrupt(
        &self,
        signal: &str,
        call: &str,
        number: usize,
    ) -> (ExitStatus, Vec<&'static str>) {
        let workspace = self.calm.fresh();
        let injected = format!("{call}:signal=SIG{signal}:when={number}");
        let status = self.run(workspace.path(), Path::new("/dev/null"), &injected);
        let reported = format!("{}, {signal} at {call} {number}: {status}", self.case.name);
        let left = tree(workspace.path());
        let has_run_file = has_run_file(workspace.path());
        self.calm.assert_whole(&left, &reported);
        let said = self
            .calm
            .assert_fixed(self.case, workspace.path(), &reported);
        let differs = |from: &Tree| from.iter().any(|(path, file)| left.get(path) != Some(file));
        let took_place = [
            (status.code().is_none(), KILL),
            (
                has_run_file || left.keys().any(|path| is_litter(path)),
                LITTER,
            ),
            (
                differs(&self.calm.before) && differs(&self.calm.after),
                PART,
            ),
            (said.contains("that a killed run left"), UNDONE),
        ];
        let seen = took_place.into_iter().filter(|(is_so, _)| *is_so);
        (status, seen.map(|(_, what)| what).collect())
    }
}

const KILL: &str = "a kill";
const LITTER: &str = "a file that no run leaves for good";
const PART: &str = "a part of the work";
const UNDONE: &str = "an edit that is undone";

/// Kills a command at the first calls of each sort, at the last ones and in the middle; each of these has to take place.
fn kill(name: &str, expected: &[&'static str]) {
    let Some(traced) = Traced::new(name) else {
        return;
    };
    let seen = Seen::new(expected);
    for (call, count) in traced.count() {
        let few = BTreeSet::from([1, 2, 3, count.div_ceil(2), count - 1, count]);
        let is_tried = |number: &usize| is_long() || few.contains(number);
        for number in (1..=count).filter(is_tried) {
            let (_, took_place) = traced.interrupt("KILL", &call, number);
            for what in expected {
                seen.note_if(took_place.contains(what), what);
            }
        }
    }
    seen.assert_each(1);
}

#[test]
fn render_is_killed() {
    kill("render", &[KILL, LITTER, PART]);
}

#[test]
fn lock_is_killed() {
    kill("lock", &[KILL, LITTER, UNDONE]);
}

#[test]
fn update_is_killed() {
    kill("update", &[KILL, LITTER, PART, UNDONE]);
}

#[test]
fn stamp_is_killed() {
    kill("stamp", &[KILL, LITTER, PART, UNDONE]);
}

#[test]
fn stamp_rotate_is_killed() {
    kill("stamp --rotate", &[KILL, LITTER, PART, UNDONE]);
}

#[test]
fn check_fix_is_killed() {
    kill("check --fix", &[KILL, LITTER, PART, UNDONE]);
}

#[test]
fn bundle_unpack_is_killed() {
    kill("bundle unpack", &[KILL, LITTER, PART]);
}

#[test]
fn every_command_of_the_table_is_killed() {
    let own = include_str!("system_calls.rs");
    for case in CASES {
        assert!(
            own.contains(&format!("    kill({:?}, ", case.name)),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_termination_signal_ends_a_run_as_it_ends_any_program() {
    // Others may be ignored where the tests start: by a shell those of the keyboard, by nohup the one of a terminal that goes.
    for name in ["stamp", "update", "check --fix"] {
        let Some(traced) = Traced::new(name) else {
            return;
        };
        let renames = traced.count()["rename"];
        let (status, took_place) = traced.interrupt("TERM", "rename", renames.div_ceil(2));
        assert_eq!(status.signal(), Some(15), "{name}: {status}");
        assert_eq!(took_place, [KILL, LITTER, PART, UNDONE], "{name}");
    }
}
