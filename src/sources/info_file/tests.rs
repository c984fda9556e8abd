//! The forms that an info file comes in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::Disk;
use crate::model::catalogue::Described;
use crate::model::finding::Finding;
use crate::model::image::{Fact, ImageKey, Origin};
use crate::model::place::Sources;
use crate::sources::{ImageFacts, Wanted, facts};

fn disk(folder: &Path) -> Disk {
    Disk::new(folder).expect("the folder is there")
}

/// The info file of that text, with its findings.
fn written(text: &str) -> (ImageFacts, Vec<Finding>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("info.yaml"), text).expect("a file can be written");
    facts(
        folder.path(),
        &disk(folder.path()),
        &[PathBuf::from("info.yaml")],
    )
    .expect("the file is there")
}

fn fact(info: &ImageFacts, key: &str, name: &str) -> Option<Fact> {
    let key: ImageKey = key.into();
    let wanted = Wanted {
        key: &key,
        uri: None,
    };
    let described = info.sources[0].describe(&[wanted]).pop()?.ok()??;
    described.facts.get(name).cloned()
}

fn listed(info: &ImageFacts) -> Vec<(ImageKey, Arc<Described>)> {
    info.sources[0].listed()
}

fn places(info: &ImageFacts) -> Sources {
    Sources::default().with_facts(&info.files)
}

const CONFIG_MAP: &str = r#"
apiVersion: v1
kind: Service
metadata: {name: other}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: os-images-info
data:
  other.txt: "not: [yaml"
  values.yaml: |
    os_images:
      ubuntu-noble-plain-rke2-1-31-8:
        hardened: "false"
        k8s-version: 1.31.8+rke2r1
"#;

#[test]
fn a_config_map_is_found_among_other_objects() {
    let (info, findings) = written(CONFIG_MAP);
    assert!(findings.is_empty(), "{findings:?}");
    let version = fact(&info, "ubuntu-noble-plain-rke2-1-31-8", "k8s-version");
    let version = version.expect("the fact is there");
    assert_eq!(&*version.value, "1.31.8+rke2r1");
    assert_eq!(version.origin, Origin::InfoFile);
    let spot = places(&info)
        .resolve(version.place)
        .expect("it has a place");
    assert_eq!(spot.to_string(), "info.yaml:16:22");
}

#[test]
fn a_list_of_objects_is_looked_through() {
    let text = "kind: List\nitems:\n- kind: ConfigMap\n  data:\n    values.yaml: \"os_images: {abc: {os: ubuntu}}\"\n";
    let (info, _) = written(text);
    let os = fact(&info, "abc", "os").expect("the fact is there");
    assert_eq!(&*os.value, "ubuntu");
    let spot = places(&info).resolve(os.place).expect("it has a place");
    assert_eq!(spot.line_column().0, 5);
}

#[test]
fn values_alone_are_read_under_each_of_their_roots() {
    for root in ["os_images", "osImages", "os_images_info"] {
        let (info, findings) = written(&format!("{root}:\n  abc: {{os: ubuntu}}\n"));
        assert!(findings.is_empty());
        let os = fact(&info, "abc", "os").map(|fact| fact.value);
        assert_eq!(os.as_deref(), Some("ubuntu"), "{root}");
    }
}

#[test]
fn a_bare_map_of_images_is_read() {
    let (info, _) = written("abc: {sha256: \"00\"}\ndef: {}\n");
    assert!(fact(&info, "abc", "sha256").is_some());
    let keys: Vec<ImageKey> = listed(&info).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["abc".into(), "def".into()]);
}

#[test]
fn the_proposals_form_gets_todays_names_and_keys() {
    let text = "os_images_info:\n  ubuntu-jammy-plain-rke2-1.26.9:\n    checksum: 5b41362bc82b7f3d56edc5a306db22105707d01ff4819e26faef9724a2d406c9\n    checksumType: sha256\n    format: qcow2\n  ubuntu-jammy-plain-rke2-1.25.15: {}\n";
    let (info, findings) = written(text);
    assert!(findings.is_empty());
    let text = |name| {
        let fact = fact(&info, "ubuntu-jammy-plain-rke2-1-26-9", name);
        fact.map(|fact| fact.value.to_string())
    };
    assert_eq!(text("image-format").as_deref(), Some("qcow2"));
    assert!(text("sha256").is_some_and(|digest| digest.starts_with("5b41")));
    assert_eq!(listed(&info).len(), 2);
}

#[test]
fn a_number_keeps_its_digits_and_is_remembered_as_one() {
    let (info, _) = written(
        "os_images:\n  abc: {os-release: 15.60, size: 22000000000, hardened: true, sha256: 12e5}\n",
    );
    let text = |name| fact(&info, "abc", name).map(|fact| fact.value.to_string());
    assert_eq!(text("os-release").as_deref(), Some("15.60"));
    assert_eq!(text("size").as_deref(), Some("22000000000"));
    assert_eq!(text("sha256").as_deref(), Some("12e5"));
    assert_eq!(text("hardened").as_deref(), Some("true"));
    let (_, described) = listed(&info).remove(0);
    assert_eq!(described.facts.mistyped("os-release"), Some("a number"));
    assert_eq!(described.facts.mistyped("hardened"), None);
}

#[test]
fn what_is_wrong_is_found_at_its_place() {
    let line = |text: &str| {
        let (_, findings) = written(text);
        let finding = findings.first().expect("there is a finding");
        let label = finding.labels.first().expect("it has a place");
        (finding.rule, label.spot.line_column().0)
    };
    let embedded = CONFIG_MAP.replace("hardened: \"false\"", "hardened: [");
    assert_eq!(line(&embedded).0, "yaml-syntax");
    assert!(line(&embedded).1 >= 15);
    assert_eq!(line("a: b: c\n").0, "yaml-syntax");
    assert_eq!(line("os_images: [a]\n"), ("value-type", 1));
    assert_eq!(line("os_images:\n  abc: 1\n"), ("value-type", 2));
    assert_eq!(line("a: b\n").0, "value-missing");
    assert_eq!(line("").0, "value-missing");
}

#[test]
fn of_two_files_each_has_its_places() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in [("a.yaml", "os_images: {abc: {os: x}}"), ("b.yaml", "\n[")] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let paths = ["a.yaml".into(), "b.yaml".into()];
    let (info, findings) =
        facts(folder.path(), &disk(folder.path()), &paths).expect("the files are there");
    let os = fact(&info, "abc", "os").expect("the fact is there");
    let spot = places(&info).resolve(os.place).expect("it has a place");
    assert_eq!(spot.to_string(), "a.yaml:1:23");
    let label = findings[0].labels.first().expect("it has a place");
    assert_eq!(&*label.spot.source.path, "b.yaml");
}

#[test]
fn a_missing_file_is_an_error() {
    assert!(
        facts(
            Path::new("/"),
            &disk(Path::new("/")),
            &["nonexistent/info.yaml".into()]
        )
        .is_err()
    );
}
