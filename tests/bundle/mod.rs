//! Bundles packed, unpacked and looked at by the real binary.

mod folders;
mod foreign;
mod kinds;
mod large;
mod remote;
mod remote_signed;
mod terminal;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Metalmark, Outcome};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: app\n";
const SETTINGS: &str = "# ours\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {color: \"blue \"}\n";
const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: app}\n";

/// A folder of manifests, one of them deeper.
fn manifests(folder: &Path) {
    write(folder, "settings.yaml", SETTINGS);
    write(folder, "base/namespace.yaml", NAMESPACE);
    write(folder, "base/web.yaml", WEB);
    write(folder, "base/readme.md", "not a manifest");
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("below")).expect("a folder");
    fs::write(path, text).expect("written");
}

/// Runs another program, which has nothing to complain of; `hunter2` opens keys.
fn run(program: &Path, folder: &Path, args: &str) -> String {
    let output = Command::new(program)
        .current_dir(folder)
        .env("COSIGN_PASSWORD", "hunter2")
        .args(args.split_whitespace())
        .output()
        .expect("the program starts");
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{} {args}: {reported}",
        program.display()
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn bundle(folder: &Path, args: &str) -> Outcome {
    let args = std::iter::once("bundle").chain(args.split_whitespace());
    Metalmark::within(folder).args(args).run()
}

/// A run that has nothing to complain of.
fn clean(folder: &Path, args: &str) -> Outcome {
    let outcome = bundle(folder, args);
    assert_eq!(
        outcome.status, 0,
        "{args}: {}{}",
        outcome.stdout, outcome.stderr
    );
    outcome
}

/// A run that ends with a finding of that rule.
fn refused(folder: &Path, args: &str, rule: &str) -> Outcome {
    let outcome = bundle(folder, args);
    assert_eq!(
        outcome.status, 1,
        "{args}: {}{}",
        outcome.stdout, outcome.stderr
    );
    let reported = format!("[{rule}]");
    assert!(
        outcome.stderr.contains(&reported),
        "{args}: {}",
        outcome.stderr
    );
    outcome
}

/// The files below a folder but for metalmark's own, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let found = walkdir::WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("there"));
    found
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| {
            !entry
                .file_name()
                .to_string_lossy()
                .starts_with(".metalmark-")
        })
        .map(|entry| {
            let path = entry.path().strip_prefix(folder).expect("below");
            let bytes = fs::read(entry.path()).expect("readable");
            (path.to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

const EVERYWHERE: [&str; 4] = [
    "dir:out",
    "out.tgz",
    "oci-layout:out-layout:1.0",
    "configmaps:out-maps",
];

#[test]
fn what_was_packed_is_unpacked_from_wherever_it_was_put() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    manifests(&folder.join("in"));
    for to in EVERYWHERE {
        clean(folder, &format!("pack in --namespace app --to {to}"));
        let from = to.strip_prefix("dir:").unwrap_or(to);
        let reported = clean(folder, &format!("inspect {from}"));
        assert!(
            reported.stdout.contains("kind         plain+v0\n"),
            "{}",
            reported.stdout
        );
        assert!(
            reported.stdout.contains("files        3 files"),
            "{}",
            reported.stdout
        );
        let into = format!("back-{}", from.replace([':', '/'], "-"));
        clean(folder, &format!("unpack {from} --to {into}"));
        let back = files(&folder.join(into));
        assert_eq!(back, files(&folder.join("out")), "{to}");
        let settings = SETTINGS.replace("name: settings\n", "name: settings\n  namespace: app\n");
        assert_eq!(back["manifests/settings.yaml"], settings.as_bytes());
        assert_eq!(back["manifests/base-web.yaml"], WEB.as_bytes());
        assert_eq!(back.len(), 3);
    }
}

#[test]
fn the_same_files_have_one_digest_on_every_machine() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let mut digests = Vec::new();
    for (name, mode, zone, age) in [
        ("one", 0o600, "UTC", 0),
        ("other", 0o664, "Asia/Tokyo", 86_400),
    ] {
        manifests(&folder.join(name).join("in"));
        for path in files(&folder.join(name)).keys() {
            let file = fs::File::options()
                .write(true)
                .open(folder.join(name).join(path))
                .expect("there");
            let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(time).expect("set");
            set_mode(&folder.join(name).join(path), mode);
        }
        for to in ["oci-layout:l:1", "a.tgz", "configmaps:maps"] {
            let args = ["bundle", "pack", "in", "--namespace", "app", "--to", to];
            let outcome = Metalmark::within(&folder.join(name))
                .args(args)
                .envs(&[("TZ", zone)])
                .run();
            digests.push((to, outcome.stdout));
        }
    }
    let (one, other) = digests.split_at(3);
    assert_eq!(one, other);
    // The bytes depend on the compressor and its level too: a change of either is announced to users.
    assert_eq!(
        one[0].1.trim(),
        "sha256:d47b4077eb64987e16d352fdde96eec4ff63cc0f31249a1ce2375ef8bcdd0773"
    );
    let later = [("SOURCE_DATE_EPOCH", "1700000000")];
    let args = [
        "bundle",
        "pack",
        "in",
        "--namespace",
        "app",
        "--to",
        "oci-layout:l:2",
    ];
    let outcome = Metalmark::within(&folder.join("one"))
        .args(args)
        .envs(&later)
        .run();
    assert_ne!(outcome.stdout, one[0].1);
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}
