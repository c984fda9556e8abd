//! On a terminal, people see how far a long run is.

use std::process::Command;

use super::manifests;
use crate::programs;
use crate::support::stage::project;

#[test]
fn a_terminal_shows_how_many_files_are_done() {
    let Some(script) = programs::find("script") else {
        return;
    };
    let stage = project();
    manifests(&stage, "in");
    let line = format!(
        "{} bundle pack in --to a.tgz",
        env!("CARGO_BIN_EXE_metalmark")
    );
    let output = Command::new(script)
        .current_dir(stage.path())
        .args(["-qec", &line, "/dev/null"])
        .output()
        .expect("the program starts");
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.contains("\r\u{1b}[K1 of 3 done"), "{seen:?}");
    assert!(
        seen.contains("plain+v0 bundle of 3 files, 3 objects"),
        "{seen:?}"
    );
}
