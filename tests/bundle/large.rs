//! Large bundles pass in little memory: 200 MiB and 10,000 objects where `METALMARK_LONG` is 1, less in plain `cargo test`.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::rounds;
use crate::support::stage::{Stage, project};

/// What a run may hold at its highest, in KiB: far less than what it moves, and what the debug build of the binary needs for
/// itself.
const MOST: u64 = 96 << 10;

/// The most memory that a run held, in KiB; none where the system does not tell.
fn peak(stage: &Stage, args: &str) -> Option<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(stage.path())
        .env_clear()
        .args(args.split_whitespace())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let status = format!("/proc/{}/status", child.id());
    let mut highest = None;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        // It only ever grows.
        highest = number.or(highest);
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{args}");
            return highest;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(super) fn assert_small(stage: &Stage, args: &str) {
    if let Some(peak) = peak(stage, args) {
        assert!(peak < MOST, "{args}: {peak} KiB");
    }
}

#[test]
fn what_is_large_passes() {
    let mebibytes = rounds(8, 200);
    let stage = project();
    let mut whole = 0;
    for number in 0..20 {
        let mut text = String::new();
        for line in 0..950 * mebibytes {
            let varied = (line * 2_654_435_761 + number) % 1_000_003;
            let words =
                format!("line {line:>8} of file {number:>4}: {varied:>8} and the same again");
            writeln!(text, "{words}").expect("a text");
        }
        whole += text.len() as u64;
        stage.write(&format!("in/{number}.txt"), text);
    }
    assert!(whole > mebibytes << 20, "{whole}");
    assert_small(&stage, "bundle pack in --kind artifact --to oci-layout:l:1");
    assert_small(&stage, "bundle unpack oci-layout:l:1 --to out");
    let sizes = stage.list("out").into_iter();
    let sizes = sizes.filter(|path| path.ends_with(".txt")).map(|path| {
        let file = fs::metadata(stage.path().join("out").join(path));
        file.expect("there").len()
    });
    assert_eq!(sizes.sum::<u64>(), whole);
}

#[test]
fn many_objects_pass() {
    let stage = project();
    let objects = rounds(1000, 10_000);
    for number in 0..objects {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number}\n  namespace: default\ndata: {{number: \"{number}\"}}\n"
        );
        stage.write(&format!("in/{number}.yaml"), text);
    }
    assert_small(&stage, "bundle pack in --to a.tgz");
    assert_small(&stage, "bundle unpack a.tgz --to out");
    assert_eq!(stage.list("out/manifests").len() as u64, objects);
}
