//! The forms that an info file comes in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::image::{Fact, ImageKey, Origin};
use oci_artifacts::registries::ARCHITECTURE;
use yaml_tree::place::Sources;

use crate::catalog::sources::{ImageFacts, Wanted, facts};
use crate::error::Error;
use crate::files::Disk;
use crate::model::catalog::Described;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The sources of a folder, with their findings.
fn read(folder: &Path, paths: &[PathBuf]) -> Result<(ImageFacts, Vec<Finding>), Error> {
    let mut findings = Vec::new();
    let disk = Disk::new(folder).expect("the folder is there");
    let info = facts(folder, &disk, paths, &ARCHITECTURE.into(), &mut findings)?;
    Ok((info, findings))
}

/// The info file of that text, with its findings.
fn written(text: &str) -> (ImageFacts, Vec<Finding>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("info.yaml"), text).expect("a file can be written");
    read(folder.path(), &[PathBuf::from("info.yaml")]).expect("the file is there")
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
    info.sources[0].list()
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
fn a_fact_inside_a_string_has_the_place_where_the_file_spells_it() {
    let quoted = "\
kind: ConfigMap
data:
  values.yaml: \"os_images: {noble-a: {os: ubuntu}}\\n\"
";
    let crlf = CONFIG_MAP.replace('\n', "\r\n");
    for (text, key, name, place) in [
        (
            &*crlf,
            "ubuntu-noble-plain-rke2-1-31-8",
            "k8s-version",
            "info.yaml:16:22",
        ),
        (quoted, "noble-a", "os", "info.yaml:3:43"),
    ] {
        let (info, _) = written(text);
        let fact = fact(&info, key, name).expect("the fact is there");
        let spot = places(&info).resolve(fact.place).expect("it has a place");
        assert_eq!(spot.to_string(), place);
    }
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
    assert_eq!(described.facts.wrong_type("os-release"), Some("a number"));
    assert_eq!(described.facts.wrong_type("hardened"), None);
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
    assert_eq!(line(&embedded).0, RuleId::YamlSyntax);
    assert!(line(&embedded).1 >= 15);
    assert_eq!(line("a: b: c\n").0, RuleId::YamlSyntax);
    assert_eq!(line("os_images: [a]\n"), (RuleId::ValueType, 1));
    assert_eq!(line("os_images:\n  abc: 1\n"), (RuleId::ValueType, 2));
    assert_eq!(line("a: b\n").0, RuleId::ValueMissing);
    assert_eq!(line("").0, RuleId::ValueMissing);
}

#[test]
fn of_two_files_each_has_its_places() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for (name, text) in [("a.yaml", "os_images: {abc: {os: x}}"), ("b.yaml", "\n[")] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    let paths = ["a.yaml".into(), "b.yaml".into()];
    let (info, findings) = read(folder.path(), &paths).expect("the files are there");
    let os = fact(&info, "abc", "os").expect("the fact is there");
    let spot = places(&info).resolve(os.place).expect("it has a place");
    assert_eq!(spot.to_string(), "a.yaml:1:23");
    let label = findings[0].labels.first().expect("it has a place");
    assert_eq!(&*label.spot.source.path, "b.yaml");
}

#[test]
fn a_missing_file_is_an_error() {
    assert!(read(Path::new("/"), &["nonexistent/info.yaml".into()]).is_err());
}

/// Every fact of the only image, as `name=value`.
fn said(info: &ImageFacts) -> (String, String) {
    let [(key, described)] = &listed(info)[..] else {
        panic!("one image");
    };
    let facts = described.facts.iter();
    let facts = facts.map(|(name, fact)| format!("{name}={}", fact.value));
    (key.to_string(), facts.collect::<Vec<_>>().join(" "))
}

#[test]
fn an_ovas_packer_manifest_is_read() {
    let (info, findings) = written(
        r#"{"builds": [{"name": "vsphere", "builder_type": "vsphere-iso", "build_time": 1760000000,
            "files": [{"name": "./output/ubuntu-2404-efi-kube-v1.34.1/ubuntu-2404-kube-v1.34.1.ova", "size": 2067967998}],
            "artifact_id": "ubuntu-2404-kube-v1.34.1", "packer_run_uuid": "u",
            "custom_data": {"build_date": "2026-07-22", "build_name": "ubuntu-2404-efi", "build_timestamp": "1760000000",
              "distro_arch": "x86_64", "distro_name": "ubuntu", "distro_version": "24.04", "firmware": "efi",
              "ib_version": "v0.1.44", "kubernetes_semver": "v1.34.1", "kubernetes_typed_version": "kube-v1.34.1"}}],
            "last_run_uuid": "u"}"#,
    );
    assert_eq!(findings.len(), 0, "{findings:?}");
    let (key, facts) = said(&info);
    assert_eq!(key, "ubuntu-2404-efi-kube-v1-34-1");
    assert_eq!(
        facts,
        "arch=amd64 build-timestamp=1760000000 builder=image-builder builder-version=v0.1.44 filename=ubuntu-2404-kube-v1.34.1.ova \
         firmware=efi image-format=ova k8s-flavor=kubeadm k8s-version=1.34.1 os=ubuntu os-release=noble size=2067967998"
    );
    let version = fact(&info, &key, "k8s-version").map(|fact| fact.place);
    let spot = Sources::default()
        .with_facts(&info.files)
        .resolve(version.expect("the version is known"));
    let text = spot.map(|spot| spot.source.text[spot.start as usize..spot.end as usize].to_owned());
    assert_eq!(text.as_deref(), Some("\"v1.34.1\""));
}

#[test]
fn a_clouds_manifest_gives_the_image_of_each_region_of_the_newest_build() {
    let build = |id: &str| {
        format!(
            r#"{{"name": "ubuntu-24.04", "builder_type": "amazon-ebs", "files": null, "artifact_id": "{id}",
                "custom_data": {{"kubernetes_version": "1.34.1", "containerd_version": "2.1.4"}}}}"#
        )
    };
    let (old, new) = (
        build("eu-west-1:ami-1"),
        build("eu-west-1:ami-2,us-east-1:ami-3"),
    );
    let (info, findings) = written(&format!(r#"{{"builds": [{old}, {new}]}}"#));
    assert_eq!(findings.len(), 0, "{findings:?}");
    let (key, facts) = said(&info);
    assert_eq!(key, "ubuntu-24-04-kube-v1-34-1");
    assert_eq!(
        facts,
        "builder=image-builder containerd-version=2.1.4 image-format=ami k8s-flavor=kubeadm k8s-version=1.34.1 \
         locations.ami.eu-west-1=ami-2 locations.ami.us-east-1=ami-3"
    );
}

#[test]
fn builds_of_any_other_shape_hold_no_facts() {
    for text in [
        r#"{"builds": []}"#,
        r#"{"builds": [1, {"name": 2}, {"custom_data": []}]}"#,
    ] {
        let (info, findings) = written(text);
        assert_eq!(listed(&info).len(), 0);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].rule, RuleId::ValueMissing);
    }
}

#[test]
fn a_folder_of_image_files_gives_names_and_digests() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let images = folder.path().join("images");
    std::fs::create_dir(&images).expect("made");
    let digest = "0123456789abcdef".repeat(4);
    let write = |name: &str, text: &str| std::fs::write(images.join(name), text).expect("written");
    write("ubuntu-2404-kube-v1.34.1.qcow2", "image");
    write(
        "SHA256SUMS",
        &format!("{digest}  ubuntu-2404-kube-v1.34.1.qcow2\n"),
    );
    write("ubuntu-2404-kube-v1.34.1.qcow2.md5sum", &digest[..32]);
    write("other.raw", "image");
    write("other.raw.sha256sum", "<html>not found</html>");
    let paths = [PathBuf::from("images")];
    let (info, findings) = read(folder.path(), &paths).expect("readable");
    let fact = |name: &str| fact(&info, "ubuntu-2404-kube-v1-34-1", name).map(|fact| fact.value);
    assert_eq!(fact("sha256").as_deref(), Some(&*digest));
    assert_eq!(fact("md5").as_deref(), Some(&digest[..32]));
    assert_eq!(fact("image-format").as_deref(), Some("qcow2"));
    assert_eq!(listed(&info).len(), 2);
    let reported: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        reported,
        ["`images/other.raw.sha256sum` holds no sha256 digest"]
    );
}
