//! Many runs at once on one tree: each does all of its work or refuses, and the tree is what one run makes of it.

use std::fs;
use std::process::{Child, Command, Stdio};

use super::case::{CASES, Case, case, of_projects, tree};
use super::undisturbed;
use crate::support::rounds;

/// How many start at once.
const RUNS: u64 = 6;

/// How often.
fn turns() -> u64 {
    rounds(1, 3)
}

fn start(mut command: Command) -> Child {
    command.stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Its exit status; where that is 2, for the one reason that there may be.
fn end(child: Child, reported: &str) -> Option<i32> {
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| status <= 2),
        "{reported}: {said}"
    );
    // A file may also vanish between a look at it and its reading.
    let reasons = ["another run", "is not what was read", "No such file"];
    let is_refused = reasons.iter().any(|reason| said.contains(reason));
    assert!(status != Some(2) || is_refused, "{reported}: {said}");
    status
}

#[test]
fn the_same_command_many_times_at_once_has_the_result_of_one() {
    for case in CASES {
        let calm = undisturbed(case);
        for round in 0..turns() {
            let workspace = calm.fresh();
            let reported = format!("{}, round {round}", case.name);
            let runs: Vec<Child> = (0..rounds(3, RUNS))
                .map(|_| start(case.command(workspace.path())))
                .collect();
            let ends: Vec<Option<i32>> = runs.into_iter().map(|run| end(run, &reported)).collect();
            assert!(ends.contains(&calm.status), "{reported}: {ends:?}");
            assert!(tree(workspace.path()) == calm.after, "{reported}: {ends:?}");
            calm.assert_fixed(case, workspace.path(), &reported);
        }
    }
}

/// A lock changes what `--frozen` renders from, so its end state depends on who comes first; what does not: whole files, and
/// that one run of each puts everything in order.
#[test]
fn different_commands_at_once_leave_whole_files_and_can_be_run_again() {
    let render = case("render");
    let calm = undisturbed(render);
    for round in 0..turns() {
        let workspace = calm.fresh();
        let reported = format!("round {round}");
        let with = |args: &'static [&'static str]| {
            let case = Case { args, ..*render };
            start(case.command(workspace.path()))
        };
        let runs = [
            with(&["render", "--frozen"]),
            with(&["lock", "--upgrade"]),
            with(&["check"]),
            with(&["render", "--frozen"]),
            with(&["stamp"]),
            with(&["lock", "--upgrade"]),
        ];
        for run in runs {
            end(run, &reported);
        }
        calm.assert_whole(&tree(workspace.path()), &reported);
        calm.assert_fixed(render, workspace.path(), &reported);
    }
}

/// All of them wait at once: each waits for two seconds.
#[test]
fn a_living_run_is_named_and_nothing_is_written_beside_it() {
    let started = of_projects().map(|case| {
        let workspace = (case.workspace)();
        let before = tree(workspace.path());
        let held = fs::File::create(case.run_file(workspace.path())).expect("created");
        held.try_lock().expect("free");
        let process = format!("process {}\n", std::process::id());
        fs::write(case.run_file(workspace.path()), process).expect("written");
        let run = start(case.command(workspace.path()));
        (case, workspace, before, held, run)
    });
    let started: Vec<_> = started.collect();
    assert_eq!(started.len(), CASES.len() - 1);
    for (case, workspace, before, held, run) in started {
        let output = run.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{}: {said}", case.name);
        let named = format!("another run (process {}", std::process::id());
        assert!(said.contains(&named), "{}: {said}", case.name);
        drop(held);
        assert!(tree(workspace.path()) == before, "{}", case.name);
    }
}

#[test]
fn what_a_dead_run_holds_is_taken_over() {
    for case in of_projects() {
        let calm = undisturbed(case);
        let workspace = calm.fresh();
        fs::write(
            case.run_file(workspace.path()),
            "process 1\nhost elsewhere\nstarted 7\n",
        )
        .expect("written");
        calm.assert_fixed(case, workspace.path(), case.name);
    }
}
