//! Instructions that a cluster takes, counted by callgrind: the same on every machine with one processor architecture, whatever
//! else it does, so that a regression of a few percent is visible.

#[path = "../benches/fleet/generator.rs"]
mod generator;

use std::path::{Path, PathBuf};
use std::process::Command;

use generator::write_fleet;

use super::programs;
use super::support::stage::project;

/// What a cluster of the benchmark's fleet took when it was counted last, in the static binary of a release for x86_64. Who
/// changes a number says why in the commit.
const COUNTED: [(&str, u64); 2] = [("check", 1_554_000), ("render --check", 1_554_000)];

/// The percentage by which a run may differ: more is a regression, and a number that is far too high would hide the next one.
const ALLOWED: u64 = 5;

/// Two sizes: what a run takes once is in both.
const SIZES: [usize; 2] = [100, 400];

#[test]
fn a_cluster_takes_no_more_instructions_than_it_did() {
    let Some(binary) = programs::named("METALMARK_RELEASED") else {
        return;
    };
    let Some(valgrind) = programs::find("valgrind") else {
        return;
    };
    if !cfg!(target_arch = "x86_64") {
        return programs::missing("x86_64");
    }
    let binary = std::fs::canonicalize(binary).expect("a binary");
    let fleets = SIZES.map(|size| {
        let folder = project();
        write_fleet(folder.path(), size, 0);
        let rendered = run(Command::new(&binary).arg("render"), folder.path());
        assert!(rendered.status.success());
        folder
    });
    let mut changed = Vec::new();
    for (command, counted) in COUNTED {
        let [few, many] = [&fleets[0], &fleets[1]]
            .map(|folder| instructions((&valgrind, &binary), command, folder.path()));
        let now = (many - few) / (SIZES[1] - SIZES[0]) as u64;
        let (least, most) = (
            counted * (100 - ALLOWED) / 100,
            counted * (100 + ALLOWED) / 100,
        );
        if !(least..=most).contains(&now) {
            changed.push(format!(
                "`{command}` takes {now} instructions a cluster, and {counted} are committed"
            ));
        }
    }
    assert!(
        changed.is_empty(),
        "{changed:#?}: change the numbers with the reason"
    );
}

fn run(command: &mut Command, folder: &Path) -> std::process::Output {
    command.current_dir(folder).output().expect("it runs")
}

/// The instructions of one run.
fn instructions((valgrind, binary): (&PathBuf, &PathBuf), line: &str, folder: &Path) -> u64 {
    let output = run(
        Command::new(valgrind)
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(binary)
            .args(line.split(' ')),
        folder,
    );
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {printed}");
    let (_, count) = printed.rsplit_once("Collected :").expect("a count");
    let count = count.split_whitespace().next().expect("a number");
    count.parse().expect("a number")
}
