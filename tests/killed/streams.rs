//! Nobody reads what a run says: it does its work all the same, and the exit status is the one that it would have been.

use std::process::Stdio;

use super::case::CASES;
use super::undisturbed;

#[test]
fn a_closed_pipe_stops_no_writing() {
    for case in CASES {
        let calm = undisturbed(case);
        let workspace = calm.fresh();
        let mut command = case.command(workspace.path());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        drop((child.stdout.take(), child.stderr.take()));
        let status = child.wait().expect("it ends").code();
        assert_eq!(status, calm.status, "{}", case.name);
        assert!(super::tree(workspace.path()) == calm.after, "{}", case.name);
    }
}
