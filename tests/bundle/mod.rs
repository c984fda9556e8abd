//! Bundles packed, unpacked and looked at by the real binary.

mod folders;
mod foreign;
mod kinds;
mod large;
mod remote;
mod remote_signed;
mod rukpak;
mod terminal;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::stage::{Stage, project};
use crate::support::{Metalmark, Outcome};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: app\n";
const SETTINGS: &str = "# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {color: \"blue \"}\n";
const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: app}\n";

/// A folder of manifests, one of them deeper.
fn manifests(stage: &Stage, folder: &str) {
    for (path, text) in [
        ("settings.yaml", SETTINGS),
        ("base/namespace.yaml", NAMESPACE),
        ("base/web.yaml", WEB),
        ("base/readme.md", "not a manifest"),
    ] {
        stage.write(&format!("{folder}/{path}"), text);
    }
}

/// Runs another program, which has nothing to complain of; `hunter2` opens keys.
fn run(program: &Path, stage: &Stage, args: &str) -> String {
    let output = Command::new(program)
        .current_dir(stage.path())
        .env("COSIGN_PASSWORD", "hunter2")
        .args(args.split_whitespace())
        .output()
        .expect("the program starts");
    let reported = String::from_utf8_lossy(&output.stderr);
    let is_good = output.status.success();
    assert!(is_good, "{} {args}: {reported}", program.display());
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A run without the day of the stage: what is packed is of no day.
fn bundle(stage: &Stage, args: &str) -> Outcome {
    let args = std::iter::once("bundle").chain(args.split_whitespace());
    Metalmark::within(stage.path()).args(args).run()
}

/// A run that ends with that status.
fn ends(stage: &Stage, status: i32, args: &str) -> Outcome {
    let outcome = bundle(stage, args);
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.status, status, "{args}: {reported}");
    outcome
}

/// A run that has nothing to complain of.
fn clean(stage: &Stage, args: &str) -> Outcome {
    ends(stage, 0, args)
}

/// What a run says that ends with a finding of that rule.
fn refusal(stage: &Stage, args: &str, rule: &str) -> String {
    let reported = ends(stage, 1, args).stderr;
    assert!(
        reported.contains(&format!("[{rule}]")),
        "{args}: {reported}"
    );
    reported
}

/// The files below a folder but for metalmark's own, by path.
fn files(stage: &Stage, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let paths = stage.list(folder).into_iter();
    let paths = paths.filter(|path| !path.contains(".metalmark-"));
    let read = |path: String| {
        let bytes = fs::read(stage.path().join(folder).join(&path)).expect("readable");
        (path, bytes)
    };
    paths.map(read).collect()
}

/// Whether something is there.
fn exists(stage: &Stage, path: &str) -> bool {
    stage.path().join(path).exists()
}

const EVERYWHERE: [&str; 4] = [
    "dir:out",
    "out.tgz",
    "oci-layout:out-layout:1.0",
    "configmaps:out-maps",
];

#[test]
fn what_was_packed_is_unpacked_from_wherever_it_was_put() {
    let stage = project();
    manifests(&stage, "in");
    let settings = SETTINGS.replace("name: settings\n", "name: settings\n  namespace: app\n");
    for to in EVERYWHERE {
        clean(&stage, &format!("pack in --namespace app --to {to}"));
        let from = to.strip_prefix("dir:").unwrap_or(to);
        let reported = clean(&stage, &format!("inspect {from}")).stdout;
        for line in ["kind         plain+v0\n", "files        3 files"] {
            assert!(reported.contains(line), "{reported}");
        }
        let into = format!("back-{}", from.replace([':', '/'], "-"));
        clean(&stage, &format!("unpack {from} --to {into}"));
        let back = files(&stage, &into);
        assert_eq!(back, files(&stage, "out"), "{to}");
        assert_eq!(back["manifests/settings.yaml"], settings.as_bytes());
        assert_eq!(back["manifests/base-web.yaml"], WEB.as_bytes());
        assert_eq!(back.len(), 3);
    }
}

#[test]
fn the_same_files_have_one_digest_on_every_machine() {
    let digests = |mode, zone, age, day| {
        let stage = project();
        manifests(&stage, "in");
        for path in stage.list("in") {
            let path = stage.path().join("in").join(path);
            let file = fs::File::options().write(true).open(&path).expect("there");
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(time).expect("set");
            set_mode(&path, mode);
        }
        ["oci-layout:l:1", "a.tgz", "configmaps:maps"].map(|to| {
            let args = ["bundle", "pack", "in", "--namespace", "app", "--to", to];
            let run = Metalmark::within(stage.path()).args(args);
            run.envs(&[("TZ", zone)]).envs(day).run().stdout
        })
    };
    let one = digests(0o600, "UTC", 0, &[]);
    assert_eq!(digests(0o664, "Asia/Tokyo", 86_400, &[]), one);
    // The bytes depend on the compressor and its level too: a change of either is announced to users.
    assert_eq!(
        one[0].trim(),
        "sha256:d47b4077eb64987e16d352fdde96eec4ff63cc0f31249a1ce2375ef8bcdd0773"
    );
    let later = digests(0o600, "UTC", 0, &[("SOURCE_DATE_EPOCH", "1700000000")]);
    assert_ne!(later[0], one[0]);
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}
