//! Large bundles pass in little memory: 200 MiB and 10,000 objects where `METALMARK_LONG` is 1, less in plain `cargo test`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::rounds;

/// What a run may hold at its highest, in KiB: far less than what it moves, and what the debug build of the binary needs for
/// itself.
const MOST: u64 = 96 << 10;

/// The most memory that a run held, in KiB; none where the system does not tell.
fn peak(folder: &Path, args: &str) -> Option<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(folder)
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

pub(super) fn assert_small(folder: &Path, args: &str) {
    if let Some(peak) = peak(folder, args) {
        assert!(peak < MOST, "{args}: {peak} KiB");
    }
}

#[test]
fn what_is_large_passes() {
    let mebibytes = rounds(8, 200);
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    fs::create_dir(folder.join("in")).expect("made");
    for number in 0..20 {
        let mut file = std::io::BufWriter::new(
            fs::File::create(folder.join(format!("in/{number}.txt"))).expect("made"),
        );
        for line in 0..950 * mebibytes {
            let varied = (line * 2_654_435_761 + number) % 1_000_003;
            writeln!(
                file,
                "line {line:>8} of file {number:>4}: {varied:>8} and the same again"
            )
            .expect("written");
        }
    }
    assert_small(folder, "bundle pack in --kind artifact --to oci-layout:l:1");
    assert_small(folder, "bundle unpack oci-layout:l:1 --to out");
    let sizes = |below: &str| -> u64 {
        let entries = fs::read_dir(folder.join(below)).expect("there");
        let files = entries.map(|entry| entry.expect("there"));
        let texts = files.filter(|file| file.path().extension().is_some_and(|end| end == "txt"));
        texts
            .map(|file| file.metadata().expect("there").len())
            .sum()
    };
    assert_eq!(sizes("in"), sizes("out"));
    assert!(sizes("in") > mebibytes << 20, "{}", sizes("in"));
}

#[test]
fn many_objects_pass() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    fs::create_dir(folder.join("in")).expect("made");
    let objects = rounds(1000, 10_000);
    for number in 0..objects {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number}\n  namespace: default\ndata: {{number: \"{number}\"}}\n"
        );
        fs::write(folder.join(format!("in/{number}.yaml")), text).expect("written");
    }
    assert_small(folder, "bundle pack in --to a.tgz");
    assert_small(folder, "bundle unpack a.tgz --to out");
    assert_eq!(
        fs::read_dir(folder.join("out/manifests"))
            .expect("there")
            .count() as u64,
        objects
    );
}
