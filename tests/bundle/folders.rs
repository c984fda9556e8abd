//! What unpacking does to the folder that it writes into.

use std::fs;

use super::{NAMESPACE, SETTINGS, WEB, bundle, clean, files, refused, write};
use crate::support::tarball::{Tarball, gzip};

#[test]
fn a_hostile_archive_writes_nothing() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
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
    for (number, tar) in hostile.into_iter().enumerate() {
        fs::write(folder.join("hostile.tgz"), gzip(&tar.end())).expect("written");
        refused(folder, "unpack hostile.tgz --to out", "archive-refused");
        assert!(!folder.join("out").exists(), "{number}");
        assert!(
            !folder.join("evil").exists() && !folder.parent().expect("above").join("evil").exists()
        );
    }
}

#[test]
fn a_plain_bundle_is_held_to_its_rules() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    let namespace = NAMESPACE.as_bytes();
    for (tar, rule, place) in [
        (
            Tarball::new().file("manifests/a/b.yaml", namespace),
            "bundle-layout",
            "manifests/a",
        ),
        (
            Tarball::new()
                .folder("manifests/empty")
                .file("manifests/b", namespace),
            "bundle-layout",
            "manifests/empty",
        ),
        (
            Tarball::new().folder("manifests"),
            "bundle-empty",
            "no object",
        ),
        (
            Tarball::new().file("manifests/a.txt", b"a: 1\nb: [\n"),
            "yaml-syntax",
            "in.tgz:manifests/a.txt:",
        ),
        (
            Tarball::new().file("manifests/a", b"x: 1\n---\nkind: A\n"),
            "manifest-invalid",
            "in.tgz:manifests/a:1:1",
        ),
        (
            Tarball::new().file("manifests/a", namespace).file("b", b""),
            "bundle-layout",
            "`b` is beside",
        ),
    ] {
        fs::write(folder.join("in.tgz"), gzip(&tar.end())).expect("written");
        let reported = refused(folder, "unpack in.tgz --to out", rule);
        assert!(
            reported.stderr.contains(place),
            "{place}: {}",
            reported.stderr
        );
        assert!(!folder.join("out").exists());
    }
}

#[test]
fn only_what_metalmark_wrote_is_overwritten_and_taken_away() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    write(folder, "in/a.yaml", NAMESPACE);
    write(folder, "in/b.yaml", WEB);
    write(folder, "out/manifests/a.yaml", "mine");
    write(folder, "out/mine.txt", "mine");
    clean(folder, "pack in --to one.tgz");
    refused(folder, "unpack one.tgz --to out", "file-not-owned");
    assert_eq!(files(&folder.join("out")).len(), 2);
    clean(folder, "unpack one.tgz --to out --adopt");
    assert_eq!(
        files(&folder.join("out"))["manifests/a.yaml"],
        NAMESPACE.as_bytes()
    );
    fs::remove_file(folder.join("in/b.yaml")).expect("there");
    write(folder, "in/c.yaml", SETTINGS);
    clean(folder, "pack in --to two.tgz --namespace app");
    let reported = clean(folder, "unpack two.tgz --to out");
    assert!(
        reported
            .stdout
            .contains("1 created, 0 updated, 1 deleted, 1 unchanged"),
        "{}",
        reported.stdout
    );
    let left: Vec<String> = files(&folder.join("out")).into_keys().collect();
    assert_eq!(left, ["manifests/a.yaml", "manifests/c.yaml", "mine.txt"]);
    let reported = clean(folder, "unpack two.tgz --to out");
    assert!(
        reported
            .stdout
            .contains("0 created, 0 updated, 0 deleted, 2 unchanged")
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_and_no_link_is_packed() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    write(folder, "in/a.yaml", NAMESPACE);
    clean(folder, "pack in --to one.tgz");
    fs::create_dir_all(folder.join("out")).expect("made");
    fs::create_dir_all(folder.join("elsewhere")).expect("made");
    std::os::unix::fs::symlink(folder.join("elsewhere"), folder.join("out/manifests"))
        .expect("made");
    refused(folder, "unpack one.tgz --to out", "output-symlink");
    assert!(files(&folder.join("elsewhere")).is_empty());
    std::os::unix::fs::symlink("/etc/passwd", folder.join("in/b.yaml")).expect("made");
    refused(folder, "pack in --to two.tgz", "bundle-layout");
}

#[cfg(unix)]
#[test]
fn files_that_are_run_stay_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let folder = scratch.path();
    write(folder, "in/install.sh", "#!/bin/sh\necho $A\n");
    write(folder, "in/data/x", "x");
    refused(
        folder,
        "pack --components in --env A --to c.tgz",
        "component-contract",
    );
    super::set_mode(&folder.join("in/install.sh"), 0o700);
    refused(
        folder,
        "pack --components in --env B --to c.tgz",
        "component-contract",
    );
    clean(
        folder,
        "pack --components in --env A --arch amd64 --distro ubuntu:noble --to oci-layout:l:1",
    );
    let reported = clean(folder, "inspect oci-layout:l");
    for line in [
        "kind         components",
        "installer    /bin/sh",
        "reads        A",
        "executable   install.sh",
    ] {
        assert!(
            reported.stdout.contains(line),
            "{line}: {}",
            reported.stdout
        );
    }
    assert!(
        reported
            .stdout
            .contains("dev.metalmark.component.distros: ubuntu:noble")
    );
    clean(folder, "unpack oci-layout:l --to out");
    let mode = |path: &str| {
        fs::metadata(folder.join(path))
            .expect("there")
            .permissions()
            .mode()
    };
    assert_eq!(
        (mode("out/install.sh") & 0o100, mode("out/data/x") & 0o111),
        (0o100, 0)
    );
}

#[test]
fn a_bundle_that_is_not_there_is_reported() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    for from in [
        "nowhere",
        "oci-layout:nowhere",
        "configmaps:nowhere",
        "index:nowhere",
        "oci://r.example/a:1",
    ] {
        let outcome = bundle(scratch.path(), &format!("inspect {from}"));
        assert_eq!(
            outcome.status, 2,
            "{from}: {}{}",
            outcome.stdout, outcome.stderr
        );
    }
}
