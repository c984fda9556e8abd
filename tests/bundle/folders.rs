//! What unpacking does to the folder that it writes into.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use snapbox::str;

use super::{NAMESPACE, SETTINGS, WEB, clean, ends, exists, files, refusal, set_mode};
use crate::support::stage::{assert_text, project};
use crate::support::story::Story;
use crate::support::tarball::{Tarball, gzip};

#[test]
fn a_hostile_archive_writes_nothing() {
    let stage = project();
    let good = || Tarball::new().file("manifests/a.yaml", NAMESPACE.as_bytes());
    let hostile = [
        good().file("../evil", b"x"),
        good().file("/tmp/evil", b"x"),
        good().link(b'2', "manifests/b.yaml", "/etc/passwd"),
        good().link(b'1', "manifests/b.yaml", "/etc/passwd"),
        good().link(b'6', "manifests/b.yaml", ""),
        good().file("manifests/a.yaml", b"other"),
        good().lying("manifests/b.yaml", "77777777777", b""),
    ];
    for tar in hostile {
        stage.write("hostile.tgz", gzip(&tar.end()));
        refusal(&stage, "unpack hostile.tgz --to out", "archive-refused");
        assert_eq!(stage.list(""), ["hostile.tgz"]);
        assert!(!exists(&stage, "../evil"));
    }
    stage.write("good.tgz", gzip(&good().end()));
    clean(&stage, "unpack good.tgz --to out");
}

#[test]
fn a_plain_bundle_is_held_to_its_rules() {
    let (stage, namespace) = (project(), NAMESPACE.as_bytes());
    let tar = Tarball::new;
    let mut story = Story::new(&stage);
    for (what, tar) in [
        (
            "a folder below",
            tar().file("manifests/a/b.yaml", namespace),
        ),
        (
            "an empty folder",
            tar()
                .folder("manifests/empty")
                .file("manifests/b", namespace),
        ),
        ("no object", tar().folder("manifests")),
        ("no YAML", tar().file("manifests/a.txt", b"a: 1\nb: [\n")),
        (
            "no kind",
            tar().file("manifests/a", b"x: 1\n---\nkind: A\n"),
        ),
        (
            "a file beside",
            tar().file("manifests/a", namespace).file("b", b""),
        ),
    ] {
        stage.write("in.tgz", gzip(&tar.end()));
        story.note(what).runs(&["bundle unpack in.tgz --to out"]);
        assert!(!exists(&stage, "out"));
    }
    story.is(str![[r#"
# a folder below
$ bundle unpack in.tgz --to out => 1
error[bundle-layout]: `a` is a folder in `manifests/`, which is flat --> manifests/a
# an empty folder
$ bundle unpack in.tgz --to out => 1
error[bundle-layout]: `empty` is a folder in `manifests/`, which is flat --> manifests/empty
# no object
$ bundle unpack in.tgz --to out => 1
error[bundle-empty]: the bundle holds no object
# no YAML
$ bundle unpack in.tgz --to out => 1
error[yaml-syntax]: expected a value, found the end of the file --> in.tgz:manifests/a.txt:3:1
# no kind
$ bundle unpack in.tgz --to out => 1
error[manifest-invalid]: an object has a text `apiVersion`, and this has none --> in.tgz:manifests/a:1:1
# a file beside
$ bundle unpack in.tgz --to out => 1
error[bundle-layout]: `b` is beside `manifests/`, where a plain bundle has nothing --> b

"#]]);
}

#[test]
fn a_folder_with_other_files_is_refused_until_it_is_adopted() {
    let stage = project().files(&[
        ("in/a.yaml", NAMESPACE),
        ("in/b.yaml", WEB),
        ("out/manifests/a.yaml", "mine"),
        ("out/mine.txt", "mine"),
    ]);
    clean(&stage, "pack in --to one.tgz");
    refusal(&stage, "unpack one.tgz --to out", "file-not-owned");
    assert_eq!(stage.list("out").len(), 2);
    clean(&stage, "unpack one.tgz --to out --adopt");
    assert_eq!(stage.read("out/manifests/a.yaml"), NAMESPACE);
    stage.remove("in/b.yaml").write("in/c.yaml", SETTINGS);
    clean(&stage, "pack in --to two.tgz --namespace app");
    // Whose the file is that the next bundle lacks, nothing says.
    refusal(&stage, "unpack two.tgz --to out", "file-not-owned");
    refusal(
        &stage,
        "pack in --to dir:out --namespace app",
        "file-not-owned",
    );
    for summary in [
        "2 created, 0 updated, 0 unchanged",
        "0 created, 0 updated, 2 unchanged",
    ] {
        let reported = clean(&stage, "unpack two.tgz --to new").stdout;
        assert!(reported.contains(summary), "{reported}");
        let left: Vec<String> = files(&stage, "new").into_keys().collect();
        assert_eq!(left, ["manifests/a.yaml", "manifests/c.yaml"]);
    }
}

#[test]
fn nothing_is_written_through_a_link_and_no_link_is_packed() {
    let stage = project().file("in/a.yaml", NAMESPACE);
    clean(&stage, "pack in --to one.tgz");
    let at = |path: &str| stage.path().join(path);
    fs::create_dir_all(at("out")).expect("made");
    fs::create_dir_all(at("elsewhere")).expect("made");
    symlink(at("elsewhere"), at("out/manifests")).expect("made");
    refusal(&stage, "unpack one.tgz --to out", "output-symlink");
    // The folder itself, in a repository: the link may be the repository's.
    fs::create_dir_all(at("repository/.git")).expect("made");
    symlink(at("elsewhere"), at("repository/link")).expect("made");
    refusal(
        &stage,
        "unpack one.tgz --to repository/link",
        "output-symlink",
    );
    refusal(
        &stage,
        "unpack one.tgz --to repository/link/below",
        "output-symlink",
    );
    refusal(&stage, "pack in --to dir:repository/link", "output-symlink");
    assert!(stage.list("elsewhere").is_empty());
    symlink("/etc/passwd", at("in/b.yaml")).expect("made");
    refusal(&stage, "pack in --to two.tgz", "bundle-layout");
}

#[test]
fn files_that_are_run_stay_so() {
    let script = "#!/bin/sh\necho $A\n";
    let stage = project().files(&[("in/install.sh", script), ("in/data/x", "x")]);
    let pack = |environment: &str| format!("pack --components in --env {environment}");
    let not_executable = format!("{} --to c.tgz", pack("A"));
    refusal(&stage, &not_executable, "component-contract");
    set_mode(&stage.path().join("in/install.sh"), 0o700);
    let unread = format!("{} --to c.tgz", pack("B"));
    refusal(&stage, &unread, "component-contract");
    let more = "--arch amd64 --distro ubuntu:noble --to oci-layout:l:1";
    clean(&stage, &format!("{} {more}", pack("A")));
    assert_text(
        &clean(&stage, "inspect oci-layout:l").stdout,
        str![[r#"
kind         components
digest       sha256:867a05bcc731406702ea493fc2592ce0b03f76fd9ca7836e24279bfa1d6afc24
content      sha256:a5b4c7577e685faab18ce2f609baa4af72354bfba104eba4ef8ffc8ee487481b
files        2 files, 19 bytes
executable   install.sh
installer    /bin/sh
reads        A
annotation   dev.metalmark.component.archs: amd64
annotation   dev.metalmark.component.distros: ubuntu:noble
annotation   dev.metalmark.component.env: A

"#]],
    );
    clean(&stage, "unpack oci-layout:l --to out");
    let is_executable = |path: &str| {
        let file = fs::metadata(stage.path().join(path)).expect("there");
        file.permissions().mode() & 0o111 != 0
    };
    assert!(is_executable("out/install.sh"));
    assert!(!is_executable("out/data/x"));
}

#[test]
fn a_bundle_that_is_not_there_is_reported() {
    let stage = project();
    for from in [
        "nowhere",
        "oci-layout:nowhere",
        "configmaps:nowhere",
        "index:nowhere",
        "oci://r.example/a:1",
    ] {
        ends(&stage, 2, &format!("inspect {from}"));
    }
}
