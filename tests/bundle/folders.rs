//! What unpacking does to the folder that it writes into.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use snapbox::str;

use super::{NAMESPACE, SETTINGS, WEB, clean, ends, exists, files, refusal, set_mode};
use crate::support::stage::{Is, project};
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
    ] {
        stage.write("in.tgz", gzip(&tar.end()));
        story.note(what).runs(&["bundle unpack in.tgz --to out"]);
        assert!(!exists(&stage, "out"));
    }
    // Such as a recipe, which is no part of it.
    let beside = tar().file("manifests/a", namespace).file("b", b"");
    stage.write("in.tgz", gzip(&beside.end()));
    clean(&stage, "unpack in.tgz --to out");
    assert_eq!(stage.list("out"), ["manifests/a"]);
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
    // What a killed run leaves in a layout is removed, but not elsewhere.
    stage.write("elsewhere/.metalmark-tmp-x", "theirs");
    for to in ["repository/link", "repository/link/below"] {
        let said = stage.run(&format!("bundle pack in --to oci-layout:{to}"));
        let said = said.exit(2).outcome.stderr;
        assert!(
            said.contains("a symbolic link of the repository leads to it"),
            "{said}"
        );
    }
    assert_eq!(stage.list("elsewhere"), [".metalmark-tmp-x"]);
    fs::remove_file(at("elsewhere/.metalmark-tmp-x")).expect("removed");
    fs::write(at("repository/file"), "").expect("written");
    let said = stage.run("bundle pack in --to oci-layout:repository/file/below");
    let said = said.exit(2).outcome.stderr;
    assert!(said.contains("it cannot be written"), "{said}");
    assert!(stage.list("elsewhere").is_empty());
    for target in ["/etc/passwd", "../elsewhere", "nowhere.yaml", "b.yaml"] {
        symlink(target, at("in/b.yaml")).expect("made");
        refusal(&stage, "pack in --to two.tgz", "bundle-layout");
        fs::remove_file(at("in/b.yaml")).expect("removed");
    }
}

/// A library comes with links to it; a bundle is files, and each link the file that it leads to.
#[test]
fn links_within_a_bundle_become_files() {
    let stage = project().files(&[
        ("in/lib/a.so.1.2", "library"),
        ("in/install.sh", "#!/bin/sh\n"),
    ]);
    let at = |path: &str| stage.path().join(path);
    set_mode(&at("in/install.sh"), 0o755);
    set_mode(&at("in/lib/a.so.1.2"), 0o755);
    fs::create_dir_all(at("in/bin")).expect("made");
    for (path, target) in [
        ("in/lib/a.so.1", "./a.so.1.2"),
        ("in/lib/a.so", "a.so.1"),
        ("in/bin/a", "../lib/a.so"),
    ] {
        symlink(target, at(path)).expect("made");
    }
    let packed = std::process::Command::new("tar")
        .current_dir(stage.path())
        .args(["-C", "in", "-czf", "in.tgz", "."])
        .status();
    assert!(packed.is_ok_and(|status| status.success()));
    for from in ["in", "in.tgz"] {
        clean(
            &stage,
            &format!("pack --components {from} --to dir:out-{from}"),
        );
        let out = files(&stage, &format!("out-{from}"));
        assert_eq!(out.len(), 5);
        for path in ["bin/a", "lib/a.so", "lib/a.so.1", "lib/a.so.1.2"] {
            assert_eq!(out[path], b"library", "{path}");
            let file = fs::symlink_metadata(at(&format!("out-{from}/{path}"))).expect("there");
            assert!(
                file.is_file() && file.permissions().mode() & 0o100 != 0,
                "{path}"
            );
        }
    }
}

/// The variables of an installer are in a file beside it, so that an archive has them too; the rest of what a bundle is made for
/// is in annotations, which only an image has.
#[test]
fn an_environment_file_says_what_the_installer_reads() {
    let stage = project().files(&[
        ("in/install.sh", "#!/bin/sh\necho \"$TYPE ${CHANNEL}\"\n"),
        (
            "in/install.env",
            "# of the installer\nTYPE=\nCHANNEL=stable\n",
        ),
    ]);
    set_mode(&stage.path().join("in/install.sh"), 0o755);
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack --components in --k8s-version 1.31.8 --to oci-layout:l:1",
        "bundle inspect oci-layout:l",
        "bundle pack --components in --to a.tgz",
        "bundle pack --components in --k8s-version 1.31.8 --to b.tgz",
        "bundle inspect b.tgz",
    ]);
    stage.write("in/install.env", "TYPE=\nexport CHANNEL=stable\nOTHER=1\n");
    story.runs(&["bundle pack --components in --to c.tgz"]);
    story.is(str![[r#"
$ bundle pack --components in --k8s-version 1.31.8 --to oci-layout:l:1 => 0
sha256:480a83431729861bbfa508ead1f1ebc4a3939d431877aac9aa357e7890ed3469
components bundle of 2 files; put into `oci-layout:l`
$ bundle inspect oci-layout:l => 0
kind         components
digest       sha256:480a83431729861bbfa508ead1f1ebc4a3939d431877aac9aa357e7890ed3469
content      sha256:1f6026cc1c98b3e29a68547ce1c57dcd91ff3fe43eb6c0c403af429f9cc4f0b4
files        2 files, 74 bytes
executable   install.sh
installer    /bin/sh
requires     TYPE
reads        CHANNEL
annotation   dev.metalmark.component.env: CHANNEL,TYPE
annotation   dev.metalmark.component.env-default.CHANNEL: stable
annotation   dev.metalmark.component.env-required: TYPE
annotation   dev.metalmark.component.k8s-version: 1.31.8
$ bundle pack --components in --to a.tgz => 0
sha256:37438c622337ac23928834ce5ab34fb788f6da4c09c153d9b4b5450435bd96ee
components bundle of 2 files; wrote `a.tgz`
$ bundle pack --components in --k8s-version 1.31.8 --to b.tgz => 0
sha256:37438c622337ac23928834ce5ab34fb788f6da4c09c153d9b4b5450435bd96ee
components bundle of 2 files; wrote `b.tgz`
note: only an image says what the bundle is made for: repeat its options at `bundle push`
$ bundle inspect b.tgz => 0
kind         components
content      sha256:1f6026cc1c98b3e29a68547ce1c57dcd91ff3fe43eb6c0c403af429f9cc4f0b4
files        2 files, 74 bytes
executable   install.sh
installer    /bin/sh
requires     TYPE
reads        CHANNEL
$ bundle pack --components in --to c.tgz => 1
error[component-contract]: `export CHANNEL` is not a name of an environment variable --> in
error[component-contract]: `install.sh` never names the declared variable `OTHER` --> in/install.sh
error[component-contract]: `install.sh` never names the declared variable `export CHANNEL` --> in/install.sh

"#]]);
}

/// Its letters became others, without a word.
#[test]
fn an_environment_file_that_cannot_be_read_is_reported() {
    let stage = project().file("in/install.sh", "#!/bin/sh\necho \"$NAME $OTHER\"\n");
    set_mode(&stage.path().join("in/install.sh"), 0o755);
    let mut story = Story::new(&stage);
    for (what, text) in [
        ("Latin-1", &b"NAME=M\xfcnchen\n"[..]),
        ("UTF-16", &b"\xff\xfeN\0A\0"[..]),
        ("a byte order mark", &b"\xef\xbb\xbfNAME=a\nOTHER=b\r\n"[..]),
        ("too long", "NAME=a\n# comment\n".repeat(90_000).as_bytes()),
    ] {
        stage.write("in/install.env", text);
        story
            .note(what)
            .runs(&["bundle pack --components in --to dir:out --adopt"]);
    }
    story.is(str![[r#"
# Latin-1
$ bundle pack --components in --to dir:out --adopt => 1
error[component-contract]: `install.env` is not UTF-8, so its variables are not known --> in/install.env
# UTF-16
$ bundle pack --components in --to dir:out --adopt => 1
error[component-contract]: `install.env` is not UTF-8, so its variables are not known --> in/install.env
# a byte order mark
$ bundle pack --components in --to dir:out --adopt => 0
sha256:7cf47942e138e4930564bef630622fa74a35532a7072f555e3d5c05e83c7a707
components bundle of 2 files; out: 2 created, 0 updated, 0 unchanged
# too long
$ bundle pack --components in --to dir:out --adopt => 1
error[component-contract]: `install.env` is longer than 1 MiB, so its variables are not known --> in/install.env

"#]]);
}

/// Of an archive its files are packed, however that is said; what is no archive of ours is not called one without an installer.
#[test]
fn an_archive_of_components_is_packed_as_its_folder_is() {
    let stage = project().files(&[("in/install.sh", "#!/bin/sh\n")]);
    set_mode(&stage.path().join("in/install.sh"), 0o755);
    stage.write(
        "zstd.tar.zst",
        [0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x09, 0x00],
    );
    stage.write(
        "index.yaml",
        "version: 1\nbundles: [{name: in, from: in}]\n",
    );
    stage.write("linked/install.sh", "#!/bin/sh\n");
    symlink("/etc/hostname", stage.path().join("linked/out")).expect("a link");
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack --components in --to a.tgz",
        "bundle pack --components a.tgz --to b.tgz",
        "bundle pack --kind components a.tgz --to c.tgz",
        "bundle pack --kind components in --to d.tgz",
        "bundle pack --components zstd.tar.zst --to e.tgz",
        "bundle pack --kind artifact a.tgz --to f.tgz",
        "bundle inspect f.tgz",
        "bundle pack --components in/install.sh --to g.tgz",
        "bundle pack --kind components in/install.sh --to h.tgz",
        "bundle pack --kind components index:index.yaml --to i.tgz",
        "bundle pack --kind components - --to j.tgz",
        "bundle pack --components linked --to k.tgz",
    ]);
    story.is(str![[r#"
$ bundle pack --components in --to a.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `a.tgz`
$ bundle pack --components a.tgz --to b.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `b.tgz`
$ bundle pack --kind components a.tgz --to c.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `c.tgz`
$ bundle pack --kind components in --to d.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `d.tgz`
$ bundle pack --components zstd.tar.zst --to e.tgz => 1
error[archive-refused]: `zstd.tar.zst` is not unpacked: it is compressed by zstd, and gzip is read --> zstd.tar.zst
$ bundle pack --kind artifact a.tgz --to f.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
artifact bundle of 1 file; wrote `f.tgz`
$ bundle inspect f.tgz => 0
kind         components
content      sha256:b507219f4a0bf164f7703029bea13b45f78e8b98c113a7b380757e3c0de3cb1f
files        1 file, 10 bytes
executable   install.sh
installer    /bin/sh
$ bundle pack --components in/install.sh --to g.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `g.tgz`
$ bundle pack --kind components in/install.sh --to h.tgz => 0
sha256:c0f6b0578f30a1c0293e14fed9ec978631aa7cf8ca1559f230563c1574e4d72b
components bundle of 1 file; wrote `h.tgz`
$ bundle pack --kind components index:index.yaml --to i.tgz => 1
note: an empty folder is left out, because a bundle holds files: `manifests`
error[bundle-unsupported]: `in` is a bundle of kind components, and an index names bundles of manifests --> index.yaml:2:28
$ bundle pack --kind components - --to j.tgz => 2
error: a stream holds manifests: name files or folders, or leave out `--kind`
$ bundle pack --components linked --to k.tgz => 1
error[component-contract]: `install.sh` is not executable --> linked/install.sh
error[bundle-layout]: `linked/out` is a symbolic link to something outside the bundle --> linked/out

"#]]);
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
    clean(&stage, "inspect oci-layout:l").stdout.is(str![[r#"
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

"#]]);
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

/// An archive beside another input was read as YAML, or packed as a file where alone its files were.
#[test]
fn an_archive_among_several_inputs_is_its_files_or_is_refused() {
    let archive = Tarball::new().file("manifests/a.yaml", NAMESPACE.as_bytes());
    let stage = project()
        .file("a.tgz", gzip(&archive.end()))
        .file("b.yaml", WEB);
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack a.tgz b.yaml --to dir:one",
        "bundle pack b.yaml a.tgz --to dir:two",
        "bundle pack a.tgz a.tgz --to dir:three",
        "bundle pack a.tgz b.yaml --kind artifact --to dir:four",
        "bundle pack nothing.tgz b.yaml --to dir:five",
    ]);
    story.is(str![[r#"
$ bundle pack a.tgz b.yaml --to dir:one => 0
sha256:7aecc07cff6683677665dedca32b61bec2c1735f3c4ec04c417ea4f225a63bce
plain+v0 bundle of 2 files, 2 objects; one: 2 created, 0 updated, 0 unchanged
$ bundle pack b.yaml a.tgz --to dir:two => 0
sha256:7aecc07cff6683677665dedca32b61bec2c1735f3c4ec04c417ea4f225a63bce
plain+v0 bundle of 2 files, 2 objects; two: 2 created, 0 updated, 0 unchanged
$ bundle pack a.tgz a.tgz --to dir:three => 1
error[bundle-layout]: `a.tgz:manifests/a.yaml` has the path `manifests/a.yaml`, as `a.tgz:manifests/a.yaml` does --> a.tgz:manifests/a.yaml
$ bundle pack a.tgz b.yaml --kind artifact --to dir:four => 2
error: `a.tgz` is an archive beside other inputs: alone, its files are packed; to pack it as a file, name the folder that it is in
$ bundle pack nothing.tgz b.yaml --to dir:five => 2
error: cannot read `nothing.tgz`: No such file or directory

"#]]);
    assert_eq!(stage.list("one"), stage.list("two"));
}

#[test]
fn what_a_bundle_does_not_hold_is_said() {
    let stage = project().file("tree/sub/f", "f").file("none/.keep", "");
    for folder in ["tree/empty", "tree/sub/deep/deeper", "nothing"] {
        fs::create_dir_all(stage.path().join(folder)).expect("a folder");
    }
    let programs = Tarball::new().setuid("bin/a", b"a").setuid("bin/b", b"b");
    stage.write("programs.tgz", gzip(&programs.end()));
    stage.write("bin/c", "c");
    set_mode(&stage.path().join("bin/c"), 0o2755);
    let mut story = Story::new(&stage);
    story.runs(&[
        "bundle pack programs.tgz --kind artifact --to dir:programs",
        "bundle pack bin --kind artifact --to dir:bin-out",
        "bundle pack tree --kind artifact --to dir:out",
        "bundle pack nothing --kind artifact --to dir:none",
        "bundle pack nothing --to dir:none",
    ]);
    story.is(str![[r#"
$ bundle pack programs.tgz --kind artifact --to dir:programs => 0
sha256:133bb64a02a3e37a32dcb6196ec9dd2967d3960fdc1e615e0dd840b143b42871
note: 2 files are packed without setuid, setgid or sticky bits, because a bundle keeps modes 0644 and 0755: `programs.tgz:bin/a` (4755) …
artifact bundle of 2 files; programs: 2 created, 0 updated, 0 unchanged
$ bundle pack bin --kind artifact --to dir:bin-out => 0
sha256:846d9bc6c662222963770a53f3b71ad8295fc16a73b61d4b27409412a429b074
note: 1 file is packed without setuid, setgid or sticky bits, because a bundle keeps modes 0644 and 0755: `bin/c` (2755)
artifact bundle of 1 file; bin-out: 1 created, 0 updated, 0 unchanged
$ bundle pack tree --kind artifact --to dir:out => 0
sha256:ee23c2cb6b5a768b09f7024174ab2ac2defc1b670f5719b17276f8f95c52be1f
note: 3 empty folders are left out, because a bundle holds files: `empty` …
artifact bundle of 1 file; out: 1 created, 0 updated, 0 unchanged
$ bundle pack nothing --kind artifact --to dir:none => 1
error[bundle-empty]: the bundle holds no file --> nothing
$ bundle pack nothing --to dir:none => 1
error[bundle-empty]: the bundle holds no object --> nothing

"#]]);
}
