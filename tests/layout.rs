//! An OCI layout answers as a registry does, and nothing outside its folder is ever read.

use std::fs;
use std::path::Path;

use oci_artifacts::layout::Layout;
use oci_artifacts::{Content, Digest, Failure, FailureKind, Reference, Store};
use serde_json::json;

use super::programs;
use super::support::layout::{LayoutWriter, MANIFEST};

const FULL: &str = "registry.example.org/os/noble:0.4.12";

fn reference(text: &str) -> Reference {
    Reference::parse(text).expect("a reference")
}

fn open(scratch: &tempfile::TempDir) -> Layout {
    Layout::open(scratch.path(), "l").expect("a layout")
}

fn written(build: impl FnOnce(&mut LayoutWriter)) -> (tempfile::TempDir, LayoutWriter) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let mut writer = LayoutWriter::new(&scratch.path().join("l"));
    build(&mut writer);
    (scratch, writer)
}

fn one(layout: &Layout, text: &str) -> Result<Digest, Failure> {
    let mut answers = layout.manifests(&[reference(text)]);
    assert_eq!(answers.len(), 1);
    answers.remove(0).map(|manifest| manifest.digest)
}

fn failure(layout: &Layout, text: &str) -> (FailureKind, String) {
    let failure = one(layout, text).expect_err("a failure");
    (failure.kind, failure.to_string())
}

#[test]
fn an_artifact_is_found_by_its_whole_name_by_repository_and_tag_by_the_only_repositorys_tag_and_by_digest()
 {
    for name in [FULL, "os/noble:0.4.12", "0.4.12"] {
        let mut digest = None;
        let (scratch, _) = written(|layout| {
            digest = Some(layout.image(Some(name), &[("sylvaproject.org/diskimage/os", "ubuntu")]));
        });
        let digest = digest.expect("written");
        let layout = open(&scratch);
        assert_eq!(one(&layout, FULL), Ok(digest.clone()), "{name}");
        assert_eq!(
            one(&layout, &format!("{FULL}@{digest}")),
            Ok(digest.clone())
        );
        assert_eq!(layout.tags(&reference(FULL)), Ok(vec!["0.4.12".to_owned()]));
        let manifest = layout.manifests(&[reference(FULL)]).remove(0).expect("had");
        assert_eq!(manifest.mirror.as_deref(), Some("oci-layout:l"));
        assert!(digest.is_of(&manifest.bytes));
    }
}

#[test]
fn the_whole_name_wins_over_the_shorter_ones() {
    let mut digests = Vec::new();
    let (scratch, _) = written(|layout| {
        for name in ["0.4.12", "os/noble:0.4.12", FULL] {
            digests.push(layout.image(Some(name), &[("name", name)]));
        }
    });
    assert_eq!(one(&open(&scratch), FULL), Ok(digests[2].clone()));
    let elsewhere = "mirror.example.org/os/noble:0.4.12";
    assert_eq!(one(&open(&scratch), elsewhere), Ok(digests[1].clone()));
}

#[test]
fn a_bare_tag_counts_for_no_other_repository() {
    let (scratch, _) = written(|layout| {
        layout.image(Some("0.4.12"), &[("a", "1")]);
        layout.image(Some("os/jammy:0.4.11"), &[("a", "2")]);
    });
    let (kind, _) = failure(&open(&scratch), FULL);
    assert_eq!(kind, FailureKind::NotFound);
    assert!(one(&open(&scratch), "r.example.org/os/jammy:0.4.12").is_ok());
}

#[test]
fn bare_tags_do_not_answer_for_two_repositories_at_once() {
    let (scratch, _) = written(|layout| {
        layout.image(Some("1"), &[]);
    });
    let wanted = [
        reference("r.example.org/a:1"),
        reference("r.example.org/b:1"),
    ];
    let answers = open(&scratch).manifests(&wanted).into_iter();
    let kinds: Vec<FailureKind> = answers
        .map(|answer| answer.expect_err("unclear").kind)
        .collect();
    assert_eq!(kinds, [FailureKind::Unsupported; 2]);
}

#[test]
fn two_artifacts_of_one_name_are_refused() {
    let (scratch, _) = written(|layout| {
        layout.image(Some(FULL), &[("a", "1")]);
        layout.image(Some(FULL), &[("a", "2")]);
    });
    let (kind, text) = failure(&open(&scratch), FULL);
    assert_eq!(kind, FailureKind::Corrupt);
    assert!(
        text.contains("2 of oci-layout:l have the name `registry.example.org/os/noble:0.4.12`"),
        "{text}"
    );
    // The same artifact named twice is one artifact.
    let (scratch, _) = written(|layout| {
        layout.image(Some(FULL), &[]);
        layout.image(Some(FULL), &[]);
    });
    assert!(one(&open(&scratch), FULL).is_ok());
}

#[test]
fn an_index_and_what_lies_in_it_are_found() {
    let mut digests = Vec::new();
    let (scratch, _) = written(|layout| {
        let amd = layout.image(None, &[("a", "amd64")]);
        let arm = layout.image(None, &[("a", "arm64")]);
        digests = vec![
            layout.index(Some(FULL), &[("amd64", &amd), ("arm64", &arm)]),
            arm,
        ];
    });
    let layout = open(&scratch);
    let index = layout.manifests(&[reference(FULL)]).remove(0).expect("had");
    let Content::Index { manifests, .. } = index.content else {
        panic!("an index");
    };
    assert_eq!(manifests[1].digest, digests[1]);
    assert_eq!(manifests[1].architecture.as_deref(), Some("arm64"));
    assert_eq!(layout.names().collect::<Vec<_>>(), [FULL]);
}

#[test]
fn referrers_are_found_by_their_subject_and_by_the_fallback_tag() {
    let mut expected = Vec::new();
    let mut image = None;
    let (scratch, _) = written(|layout| {
        let digest = layout.image(Some(FULL), &[]);
        let subject = layout.describe(&digest, MANIFEST);
        let bundle =
            json!({"subject": subject, "artifactType": "application/x", "annotations": {"k": "v"}});
        let by_subject = layout.manifest(None, bundle);
        let listed = layout.manifest(Some("unrelated:1"), json!({"annotations": {"k": "w"}}));
        let tag = format!("os/noble:sha256-{}", digest.hex());
        layout.index(Some(&tag), &[("", &listed), ("", &by_subject)]);
        expected = vec![by_subject, listed];
        image = Some(digest);
    });
    let image = image.expect("written");
    let other = Digest::compute(b"other");
    let answers = open(&scratch).referrers(&[(reference(FULL), image), (reference(FULL), other)]);
    let found = answers[0].as_ref().expect("asked");
    let digests: Vec<_> = found.iter().map(|found| found.digest.clone()).collect();
    assert_eq!(digests, expected);
    assert_eq!(found[0].artifact_type.as_deref(), Some("application/x"));
    assert_eq!(found[0].annotations["k"], "v");
    assert_eq!(answers[1], Ok(Vec::new()));
}

/// `pack --to oci-layout:out:v1.31.8+rke2r1` writes the name as it is typed, and `lock` did not find it.
#[test]
fn a_name_with_a_plus_is_looked_up_as_registries_spell_it() {
    for name in [
        "registry.example.org/os/noble:1.31.8+rke2r1",
        "os/noble:1.31.8+rke2r1",
        "1.31.8+rke2r1",
        "1.31.8_rke2r1",
    ] {
        let (scratch, _) = written(|layout| {
            layout.image(Some(name), &[]);
        });
        let layout = open(&scratch);
        for tag in ["1.31.8+rke2r1", "1.31.8_rke2r1"] {
            let found = one(&layout, &format!("registry.example.org/os/noble:{tag}"));
            assert!(found.is_ok(), "{name} {tag}: {found:?}");
        }
        let (_, text) = failure(&layout, "registry.example.org/os/noble:1.31.9+rke2r1");
        let help = "a tag has no `+`: one that is written with it is requested as `1.31.9_rke2r1`";
        assert!(text.contains(help), "{text}");
    }
}

#[test]
fn what_is_missing_is_reported_with_what_is_there() {
    let (scratch, _) = written(|layout| {
        layout.image(Some(FULL), &[]);
    });
    let layout = open(&scratch);
    let cases = [
        (
            "registry.example.org/os/noble:0.4.13",
            "of `os/noble` it has `0.4.12`",
        ),
        (
            "registry.example.org/os/nobel:0.4.12",
            "it has `registry.example.org/os/noble:0.4.12`",
        ),
        (
            "registry.example.org/x:1",
            "it has `registry.example.org/os/noble:0.4.12`",
        ),
    ];
    for (wanted, listed) in cases {
        let (kind, text) = failure(&layout, wanted);
        assert_eq!(kind, FailureKind::NotFound);
        assert!(
            text.contains("oci-layout:l has no artifact of that name"),
            "{text}"
        );
        assert!(text.contains(listed), "{text}");
    }
    let tags = layout.tags(&reference("registry.example.org/os/nobel:1"));
    let tags = tags.expect_err("none").to_string();
    assert!(tags.contains("/os/noble:0.4.12`"), "{tags}");
    let repositories = layout.repositories(&reference(FULL));
    assert_eq!(repositories, Ok(vec!["os/noble".to_owned()]));
    let repositories = layout.repositories(&reference("other.example.org/a"));
    assert_eq!(repositories, Ok(vec![]));
}

#[test]
fn what_is_no_layout_is_refused_with_what_to_do() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let tell = || {
        let opened = Layout::open(scratch.path(), "l");
        opened
            .err()
            .map(|failure| (failure.kind, failure.to_string()))
    };
    let (kind, text) = tell().expect("no folder");
    assert_eq!(kind, FailureKind::NoStore);
    assert!(
        text.starts_with("oci-layout:l: there is no such folder\n  help: "),
        "{text}"
    );
    let folder = scratch.path().join("l");
    fs::create_dir(&folder).expect("created");
    assert!(
        tell()
            .expect("empty")
            .1
            .contains("it has no file `oci-layout`")
    );
    let marker = |text: &str| fs::write(folder.join("oci-layout"), text).expect("written");
    marker(r#"{"imageLayoutVersion":"2.0.0"}"#);
    assert_eq!(tell().expect("version 2").0, FailureKind::Unsupported);
    marker("{");
    assert_eq!(tell().expect("no JSON").0, FailureKind::Corrupt);
    marker(r#"{"imageLayoutVersion":"1.0.0"}"#);
    assert!(
        tell()
            .expect("no index")
            .1
            .contains("it has no `index.json`")
    );
    for index in [
        "[]",
        r#"{"manifests":[{"mediaType":"x","digest":"sha256:..","size":1}]}"#,
    ] {
        fs::write(folder.join("index.json"), index).expect("written");
        assert!(
            tell()
                .expect("no index")
                .1
                .contains("index.json cannot be read")
        );
    }
    fs::write(folder.join("index.json"), r#"{"manifests":[]}"#).expect("written");
    assert_eq!(tell(), None);
}

#[test]
fn a_blob_that_is_not_what_its_descriptor_says_is_refused() {
    let mut image = None;
    let (scratch, writer) = written(|layout| image = Some(layout.image(Some(FULL), &[("a", "b")])));
    let layout = open(&scratch);
    let digest = image.expect("written");
    let file = writer.file(&digest);
    let good = fs::read(&file).expect("a manifest");

    let mut altered = good.clone();
    altered[10] ^= 1;
    fs::write(&file, altered).expect("written");
    let (kind, text) = failure(&layout, FULL);
    assert_eq!(kind, FailureKind::Corrupt);
    assert!(text.contains("does not have the digest"), "{text}");

    fs::write(&file, &good[..9]).expect("written");
    let (kind, text) = failure(&layout, FULL);
    assert_eq!(kind, FailureKind::Corrupt);
    assert!(text.contains("has 9 bytes"), "{text}");

    fs::remove_file(&file).expect("removed");
    assert_eq!(failure(&layout, FULL).0, FailureKind::Corrupt);
    let unlisted = format!("{FULL}@{}", Digest::compute(b"unlisted"));
    assert_eq!(failure(&layout, &unlisted).0, FailureKind::NotFound);
    fs::create_dir(&file).expect("created");
    assert_eq!(failure(&layout, FULL).0, FailureKind::Corrupt);
    fs::remove_dir(&file).expect("removed");

    fs::write(&file, &good).expect("written");
    assert_eq!(one(&layout, FULL), Ok(digest));
    let manifest = layout.manifests(&[reference(FULL)]).remove(0).expect("had");
    let Content::Image { layers, .. } = manifest.content else {
        panic!("an image");
    };
    let wanted = [(reference(FULL), layers[0].clone())];
    assert_eq!(layout.blobs(&wanted, 5), [Ok(b"layer".to_vec())]);
    let too_large = layout.blobs(&wanted, 4).remove(0).expect_err("too large");
    assert_eq!(too_large.kind, FailureKind::TooLarge);
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_folder_is_refused() {
    use std::os::unix::fs::symlink;

    let mut image = None;
    let (scratch, writer) = written(|layout| image = Some(layout.image(Some(FULL), &[])));
    let file = writer.file(&image.expect("written"));
    let within = scratch.path().join("l/kept");
    fs::rename(&file, &within).expect("moved");
    symlink(&within, &file).expect("linked");
    assert!(one(&open(&scratch), FULL).is_ok());

    let outside = scratch.path().join("outside");
    fs::rename(&within, &outside).expect("moved");
    fs::remove_file(&file).expect("removed");
    symlink(&outside, &file).expect("linked");
    let (kind, text) = failure(&open(&scratch), FULL);
    assert_eq!(kind, FailureKind::Corrupt);
    assert!(text.contains("a link that leaves the folder"), "{text}");

    // The layout itself may be a link: the user named it.
    symlink(scratch.path().join("l"), scratch.path().join("link")).expect("linked");
    assert!(Layout::open(scratch.path(), "link").is_ok());
    let index = scratch.path().join("l/index.json");
    fs::rename(&index, scratch.path().join("index.json")).expect("moved");
    symlink(scratch.path().join("index.json"), &index).expect("linked");
    assert!(Layout::open(scratch.path(), "l").is_err());
}

#[test]
fn a_layout_that_skopeo_copied_is_read() {
    let Some(skopeo) = programs::find("skopeo") else {
        return;
    };
    let mut image = None;
    let (scratch, _) = written(|layout| image = Some(layout.image(Some("1"), &[("a", "b")])));
    copy(&skopeo, scratch.path(), "oci:l:1", &format!("oci:m:{FULL}"));
    let copied = Layout::open(scratch.path(), "m").expect("a layout");
    assert_eq!(one(&copied, FULL), Ok(image.expect("written")));
}

fn copy(skopeo: &Path, folder: &Path, from: &str, to: &str) {
    let output = std::process::Command::new(skopeo)
        .current_dir(folder)
        .args(["copy", "--insecure-policy", from, to])
        .output()
        .expect("skopeo starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}
