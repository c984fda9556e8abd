//! Templates that come and go: a second rotation, how many of the past are kept, and content that comes back.

use std::fs;
use std::path::Path;

use super::{files, fixtures};
use crate::support::{Metalmark, copy_of};

const TEMPLATE: &str = "\
# metalmark: image=noble
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: a}
spec: {template: {spec: {image: {url: first, checksum: '1', checksumType: sha256, format: raw}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: a}
spec:
  version: v1.34.1
  machineTemplate:
    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: a}
";

/// Stamps `a.yaml` of a folder with that build of the image.
fn rotated(folder: &Path, build: usize, arguments: &[&str]) -> String {
    let project = fs::read_to_string(fixtures().join("shapes/metalmark.yaml")).expect("text");
    let project = project
        .replace("noble-2.raw", &format!("noble-{build}.raw"))
        .replace("listed", "nobody");
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    let all = ["stamp", "--rotate"]
        .into_iter()
        .chain(arguments.iter().copied());
    let outcome = Metalmark::within(folder).args(all).run();
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    fs::read_to_string(folder.join("a.yaml")).expect("text")
}

/// The URL of each template in a text, kept ones in brackets.
fn urls(text: &str) -> Vec<String> {
    let documents = text.split("---\n").filter(|part| part.contains("url:"));
    let url = |part: &str| {
        let url = part.split("url: ").nth(1).unwrap_or_default();
        let url = url.split([',', '\n']).next().unwrap_or_default();
        let url = url.rsplit('/').next().unwrap_or_default().to_owned();
        if part.contains("metalmark.dev/kept") {
            format!("[{url}]")
        } else {
            url
        }
    };
    documents.map(url).collect()
}

#[test]
fn a_second_rotation_keeps_one_of_the_past() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    assert_eq!(
        urls(&rotated(scratch.path(), 2, &[])),
        ["noble-2.raw", "[first]"]
    );
    let second = rotated(scratch.path(), 3, &[]);
    assert_eq!(urls(&second), ["noble-3.raw", "[noble-2.raw]"]);
    assert_eq!(
        rotated(scratch.path(), 3, &[]),
        second,
        "nothing changes again"
    );
}

#[test]
fn the_requested_number_is_kept() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    for build in 2..6 {
        rotated(scratch.path(), build, &["--keep", "2"]);
    }
    let text = fs::read_to_string(scratch.path().join("a.yaml")).expect("text");
    assert_eq!(
        urls(&text),
        ["noble-5.raw", "[noble-4.raw]", "[noble-3.raw]"]
    );
    let none = rotated(scratch.path(), 6, &["--keep", "0"]);
    assert_eq!(urls(&none), ["noble-6.raw"]);
}

#[test]
fn content_that_comes_back_takes_the_place_of_its_copy() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    let first = rotated(scratch.path(), 2, &["--keep", "0"]);
    rotated(scratch.path(), 3, &[]);
    let back = rotated(scratch.path(), 2, &[]);
    assert_eq!(urls(&back), ["noble-2.raw", "[noble-3.raw]"]);
    assert_eq!(rotated(scratch.path(), 2, &["--keep", "0"]), back);
    let name = first
        .lines()
        .find(|line| line.contains("metadata: {name: a-"));
    assert!(back.contains(name.expect("a name with a hash")));
}

#[test]
fn content_that_comes_back_takes_no_other_copy_away() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    let two = ["--keep", "2"];
    for build in [2, 3, 4] {
        rotated(scratch.path(), build, &two);
    }
    let back = rotated(scratch.path(), 3, &two);
    assert_eq!(
        urls(&back),
        ["noble-3.raw", "[noble-4.raw]", "[noble-2.raw]"]
    );
}

#[test]
fn a_kept_template_that_is_referred_to_stays() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    rotated(scratch.path(), 2, &[]);
    let set = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineSet\nmetadata: {name: old}\n\
               spec: {template: {spec: {version: v1.34.1, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, \
               kind: Metal3MachineTemplate, name: a}}}}\n";
    fs::write(scratch.path().join("set.yaml"), set).expect("written");
    let text = rotated(scratch.path(), 3, &["--keep", "0"]);
    assert_eq!(urls(&text), ["noble-3.raw", "[first]"]);
}

#[test]
fn a_template_without_a_place_for_its_copy_is_reported() {
    let scratch = copy_of(&fixtures().join("shapes"));
    let before = files(scratch.path());
    let outcome = Metalmark::within(scratch.path())
        .args(["stamp", "--rotate", "34-json.json"])
        .run();
    assert_eq!(outcome.status, 1);
    let why = "there is no place beside it for the template that is to be kept";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    assert_eq!(files(scratch.path()), before);
}

#[test]
fn a_chart_that_names_the_template_stops_its_rotation() {
    for (chart, is_refused) in [
        (
            "kind: Metal3MachineTemplate\n  name: a\n{{ if .Values.x }}\n",
            true,
        ),
        (
            "ref: {kind: Metal3MachineTemplate, name: \"a\"}\n{{ end }}\n",
            true,
        ),
        (
            "kind: Metal3MachineTemplate\n  name: a-{{ .Values.x }}\n{{ end }}\n",
            false,
        ),
        (
            "kind: Metal3MachineTemplate\n  name: ab\n{{ end }}\n",
            false,
        ),
        (
            "kind: Metal3MachineTemplate\n  name: a_b\n{{ end }}\n",
            false,
        ),
        (
            "kind: Metal3MachineTemplate\n  name: a{{ .Values.x }}\n{{ end }}\n",
            false,
        ),
        (
            "kind: Metal3MachineTemplate\n  name: a.b\n  name: a\n{{ end }}\n",
            true,
        ),
        ("kind: Metal3DataTemplate\n  name: a\n{{ end }}\n", false),
    ] {
        let scratch = tempfile::tempdir().expect("a folder");
        fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
        fs::create_dir(scratch.path().join("templates")).expect("created");
        fs::write(scratch.path().join("templates/kcp.yaml"), chart).expect("written");
        let project = fs::read_to_string(fixtures().join("shapes/metalmark.yaml")).expect("text");
        let project = project.replace("listed", "nobody");
        fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
        let before = files(scratch.path());
        let outcome = Metalmark::within(scratch.path())
            .args(["stamp", "--rotate"])
            .run();
        let why = "`templates/kcp.yaml` refers to it and is no YAML";
        assert_eq!(
            outcome.stderr.contains(why),
            is_refused,
            "{chart}{}",
            outcome.stderr
        );
        assert_eq!(outcome.status, i32::from(is_refused), "{chart}");
        assert_eq!(files(scratch.path()) == before, is_refused, "{chart}");
    }
}

#[test]
fn the_patch_target_of_a_kustomization_without_a_kind_follows() {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("a.yaml"), TEMPLATE).expect("written");
    let kustomization = "resources: [a.yaml]\npatches:\n  - target: {kind: Metal3MachineTemplate, name: a}\n    path: patch.yaml\n";
    let path = scratch.path().join("kustomization.yaml");
    fs::write(&path, kustomization).expect("written");
    let text = rotated(scratch.path(), 2, &[]);
    let name = text
        .split("metadata: {name: ")
        .nth(1)
        .and_then(|rest| rest.split('}').next());
    let name = name.expect("a name");
    assert_ne!(name, "a");
    let after = fs::read_to_string(&path).expect("text");
    assert_eq!(
        after,
        kustomization.replace("name: a}", &format!("name: {name}}}"))
    );
}
