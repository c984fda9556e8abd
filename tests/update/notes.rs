//! Release notes as Sylva's builders write them: several tags a line, foreign words, snapshots, releases without a text.

use snapbox::str;

use crate::support::stage::{Is, Stage, changes, project, table};

fn stage() -> Stage {
    project().folder("fixtures/sylva-2026/release-notes")
}

/// What an update changes, or why it changes nothing.
fn result(stage: &Stage, words: &str) -> Vec<String> {
    let before = stage.texts();
    let run = stage.run(&format!("update {words}"));
    let changes = changes(&before, &stage.texts());
    let text = match run.outcome.status {
        0 => changes,
        status => {
            assert_eq!(changes, "", "{words}");
            format!("exit {status}: {}", run.outcome.stderr)
        }
    };
    text.lines().map(str::to_owned).collect()
}

#[test]
fn an_image_stays_where_any_tag_of_its_line_is_the_version() {
    let cases = [
        "sylva=0.6.1 --release-notes notes-dib-0.6.1.md",
        "sylva=0.5.11 --release-notes notes-dib-0.6.1.md",
        "sylva=0.5.3 --release-notes notes-dib-0.5.3.md",
        "kiwi=0.4.0 --release-notes notes-kiwi-0.4.0.md",
        "kiwi=0.4 --release-notes notes-kiwi-0.4.0.md",
        // Another builder's notes say nothing of its images.
        "kiwi=0.6.1 --release-notes notes-dib-0.6.1.md",
    ];
    let results = table(cases, |words| result(&stage(), words));
    results.is(str![[r#"
sylva=0.6.1 --release-notes notes-dib-0.6.1.md
    values.yaml:2
    -sylva_diskimagebuilder_version: 0.6.0
    +sylva_diskimagebuilder_version: 0.6.1
    values.yaml:11
    -  ubuntu-noble-plain-kubeadm-1-32: {os_images_oci_registry: sylva}
sylva=0.5.11 --release-notes notes-dib-0.6.1.md
    values.yaml:2
    -sylva_diskimagebuilder_version: 0.6.0
    +sylva_diskimagebuilder_version: 0.5.11
    values.yaml:8
    -  ubuntu-noble-plain-rke2-1-30: {os_images_oci_registry: sylva}
    -  ubuntu-noble-hardened-rke2-1-32: {os_images_oci_registry: sylva}
    values.yaml:9
    -  ubuntu-noble-plain-kubeadm-1-32: {os_images_oci_registry: sylva}
    -  opensuse-15-6-plain-rke2-1-32: {os_images_oci_registry: sylva}
sylva=0.5.3 --release-notes notes-dib-0.5.3.md
    exit 2: error: `notes-dib-0.5.3.md` names no image of version `0.5.3`
    help: it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names
kiwi=0.4.0 --release-notes notes-kiwi-0.4.0.md
    exit 2: error: `notes-kiwi-0.4.0.md` names no image of version `0.4.0`
    help: there are images of 0.4
kiwi=0.4 --release-notes notes-kiwi-0.4.0.md
    values.yaml:3
    -acme_kiwi_version: 0.3.1
    +acme_kiwi_version: "0.4"
    values.yaml:13
    -  leapmicro-6-0-plain-rke2-1-32: {os_images_oci_registry: kiwi}
    +  leapmicro-5-5-plain-rke2-1-27-16: {os_images_oci_registry: kiwi}
    +  leapmicro-5-5-plain-rke2-1-28-12: {os_images_oci_registry: kiwi}
kiwi=0.6.1 --release-notes notes-dib-0.6.1.md
    exit 2: error: `notes-dib-0.6.1.md` names no image of version `0.6.1`
    help: it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names

"#]]);
}

#[test]
fn notes_of_several_builders_are_read_from_one_text() {
    let stage = stage();
    let notes =
        "oci://registry.example.org/acme/builders/kiwi/leapmicro-6-0-plain-rke2-1-32:0.4.1\n";
    let notes = stage.read("notes-dib-0.6.1.md") + notes;
    let before = stage.texts();
    stage
        .feed("update sylva=0.6.1 kiwi=0.4.1 --release-notes -", &notes)
        .exit(0);
    changes(&before, &stage.texts()).is(str![[r#"
values.yaml:2
-sylva_diskimagebuilder_version: 0.6.0
-acme_kiwi_version: 0.3.1
+sylva_diskimagebuilder_version: 0.6.1
+acme_kiwi_version: 0.4.1
values.yaml:11
-  ubuntu-noble-plain-kubeadm-1-32: {os_images_oci_registry: sylva}

"#]]);
}

/// An image whose line says the version in any spelling is not taken for one of another version.
#[test]
fn an_image_is_not_removed_where_its_line_says_the_version() {
    let image = "registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32";
    let rest = [
        "ubuntu-noble-plain-rke2-1-30",
        "ubuntu-noble-hardened-rke2-1-32",
        "ubuntu-noble-plain-ck8s-1-31",
        "ubuntu-noble-plain-kubeadm-1-32",
    ];
    let rest: String = rest
        .iter()
        .map(|name| format!("oci://registry.example.org/acme/builders/dib/{name}:0.6.1\n"))
        .collect();
    let cases = [
        "oci://IMAGE:0.6.0 / 0.6.1",
        "oci://IMAGE:0.6.0\n- 0.6.1",
        "https://IMAGE:0.6.1",
        "`oci://IMAGE:0.6.0`, `:0.6.1`",
        "oci://IMAGE:0.6.0 tag:0.6.1",
        "oci://IMAGE:0.6.0 v0.6.1",
        "oci://IMAGE:v0.6.1",
        "oci://IMAGE%3A0.6.1",
        "oci://IMAGE:0.6.0\n\n0.6.1",
        "opensuse-15-6-plain-rke2-1-32&#58;0.6.1",
        "oci://IMAGE:0.6.0 0.6.1-rc1 0.6.10",
    ];
    let results = table(cases, |line| {
        let stage = stage();
        stage.write(
            "notes.md",
            format!("{rest}{}\n", line.replace("IMAGE", image)),
        );
        let said = result(&stage, "sylva=0.6.1 --release-notes notes.md");
        let is_short = |line: &&String| !line.contains("version:") && !line.contains("help:");
        said.iter().filter(is_short).cloned().collect()
    });
    results.is(str![[r#"
oci://IMAGE:0.6.0 / 0.6.1
    values.yaml:2
oci://IMAGE:0.6.0
- 0.6.1
    values.yaml:2
https://IMAGE:0.6.1
    values.yaml:2
`oci://IMAGE:0.6.0`, `:0.6.1`
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:0.6.0`, and not whether that is an image of version `0.6.1`
oci://IMAGE:0.6.0 tag:0.6.1
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:0.6.0`, and not whether that is an image of version `0.6.1`
oci://IMAGE:0.6.0 v0.6.1
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:0.6.0`, and not whether that is an image of version `0.6.1`
oci://IMAGE:v0.6.1
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:v0.6.1`, and not whether that is an image of version `0.6.1`
oci://IMAGE%3A0.6.1
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32%3A0.6.1`, and not whether that is an image of version `0.6.1`
oci://IMAGE:0.6.0

0.6.1
    exit 2: error: the release names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:0.6.0`, and not whether that is an image of version `0.6.1`; without it, `opensuse-15-6-plain-rke2-1-32` would be removed
opensuse-15-6-plain-rke2-1-32&#58;0.6.1
    exit 2: error: the release names `opensuse-15-6-plain-rke2-1-32&#58`, and not whether that is an image of version `0.6.1`; without it, `opensuse-15-6-plain-rke2-1-32` would be removed
oci://IMAGE:0.6.0 0.6.1-rc1 0.6.10
    values.yaml:2
    values.yaml:12
    -  opensuse-15-6-plain-rke2-1-32: {os_images_oci_registry: sylva}

"#]]);
}

/// Wherever a text of notes was cut, between two letters of its last line.
#[test]
fn notes_that_end_within_a_reference_remove_nothing() {
    let (stage, names) = (
        stage(),
        [
            "ubuntu-noble-plain-rke2-1-30",
            "opensuse-15-6-plain-rke2-1-32",
        ],
    );
    let line = |name: &&str| format!("* oci://registry.example.org/acme/builders/dib/{name}:0.6.1");
    let notes: Vec<String> = names.iter().map(line).collect();
    let notes = notes.join("\n");
    let (_, last) = notes.rsplit_once("* ").expect("two lines");
    for cut in 1..last.len() {
        for end in ["", "\n"] {
            stage.write("notes.md", format!("{}{end}", &notes[..notes.len() - cut]));
            let run = stage.run("update sylva=0.6.1 --release-notes notes.md --check");
            let screen = run.outcome.stderr;
            assert!(
                !screen.contains("- opensuse-15-6-plain-rke2-1-32\n"),
                "{}: {screen}",
                &notes[notes.len() - cut..]
            );
        }
    }
    // In the middle of a text a reference is cut by dots.
    for dots in ["...", "…"] {
        let text = notes.replace("-plain-rke2-1-32:0.6.1", dots);
        stage.write("notes.md", format!("{text}\n\nContributors: all\n"));
        let _ = stage
            .run("update sylva=0.6.1 --release-notes notes.md --check")
            .exit(2);
    }
}

#[test]
fn a_line_that_cannot_be_read_stops_the_update() {
    let good = "Image: \"oci://registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-30:0.6.1\"\n";
    let cases = [
        "oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:latest",
        "oci://registry.example.org/acme/builders/dib/Opensuse_15:0.6.1",
        "oci://registry.example.org/acme/tools/cosign:latest and oci://registry.example.org/acme/builders/kiwi/leapmicro:latest",
    ];
    let results = table(cases, |line| {
        let stage = stage();
        stage.write("notes.md", format!("{good}{line}\n"));
        result(&stage, "sylva=0.6.1 --release-notes notes.md")
    });
    results.is(str![[r#"
oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:latest
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/opensuse-15-6-plain-rke2-1-32:latest`, and not whether that is an image of version `0.6.1`
    help: say what the version offers with `--images FILE`, a reference or name a line; in names are lower-case letters, digits, `-` and `.`
oci://registry.example.org/acme/builders/dib/Opensuse_15:0.6.1
    exit 2: error: `notes.md` names `oci://registry.example.org/acme/builders/dib/Opensuse_15:0.6.1`, and not whether that is an image of version `0.6.1`
    help: say what the version offers with `--images FILE`, a reference or name a line; in names are lower-case letters, digits, `-` and `.`
oci://registry.example.org/acme/tools/cosign:latest and oci://registry.example.org/acme/builders/kiwi/leapmicro:latest
    values.yaml:2
    -sylva_diskimagebuilder_version: 0.6.0
    +sylva_diskimagebuilder_version: 0.6.1
    values.yaml:9
    -  ubuntu-noble-hardened-rke2-1-32: {os_images_oci_registry: sylva}
    -  ubuntu-noble-plain-ck8s-1-31: {os_images_oci_registry: sylva}
    -  ubuntu-noble-plain-kubeadm-1-32: {os_images_oci_registry: sylva}
    -  opensuse-15-6-plain-rke2-1-32: {os_images_oci_registry: sylva}

"#]]);
}
