//! Which of several images a selector in a marker means.

use std::fs;

use super::super::support::Metalmark;

/// A machine template that a selector chooses the image of, and the machine deployment that names its version.
const MANIFESTS: &str = "\
# metalmark: selector={os: ubuntu}
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: workers}
spec: {template: {spec: {image: {url: 'https://h.org/old.raw'}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: workers}
spec:
  clusterName: edge
  template:
    spec:
      clusterName: edge
      version: v1.31.8
      bootstrap: {dataSecretName: none}
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: workers}
";

const PROJECT: &str = "\
version: 1
manifests: [edge.yaml]
images: {facts: [facts.yaml], url: 'https://h.org/{{ image.key }}.raw'}
";

/// The template's URL after a stamp, or the messages of the run.
fn stamped(images: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    let sum = "a".repeat(64);
    let image = |image: &&str| {
        let (key, facts) = image.split_once(' ').unwrap_or((image, ""));
        format!("  {key}: {{os: ubuntu, image-format: raw, sha256: '{sum}', {facts}}}\n")
    };
    let images: String = images.iter().map(image).collect();
    write("metalmark.yaml", PROJECT);
    write("facts.yaml", &format!("os_images:\n{images}"));
    write("edge.yaml", MANIFESTS);
    let outcome = Metalmark::within(folder.path()).args(["stamp"]).run();
    let text = fs::read_to_string(folder.path().join("edge.yaml")).expect("there");
    let url = text.split("url: ").nth(1).expect("a URL");
    let url = url.split([',', '}', '\n']).next().unwrap_or_default();
    if url.contains("old.raw") {
        outcome.stdout + &outcome.stderr
    } else {
        url.trim_matches('\'').to_owned()
    }
}

#[test]
fn an_image_whose_version_is_proven_comes_before_those_whose_name_suggests_it() {
    let proven = "proven k8s-flavor: kubeadm, k8s-version: 1.31.8";
    let [named, other] = [
        "ubuntu-noble-plain-kubeadm-1-31-8",
        "ubuntu-jammy-plain-kubeadm-1-31-8",
    ];
    assert_eq!(stamped(&[proven]), "https://h.org/proven.raw");
    assert_eq!(stamped(&[named, proven]), "https://h.org/proven.raw");
    assert_eq!(stamped(&[named]), format!("https://h.org/{named}.raw"));
    for images in [
        &[named, other][..],
        &[proven, "second k8s-flavor: kubeadm, k8s-version: 1.31.8"],
    ] {
        let screen = stamped(images);
        assert!(screen.contains("several-images-match"), "{screen}");
    }
}
