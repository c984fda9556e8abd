//! `pairs:` of the project file: versions and images that no reference joins.

use super::plain_manifests::{check, summary};

const STACK: &str = "\
version: 1
pairs:
- {version: 'providers/**/csctl.yaml#config.kubernetesVersion', image: 'cluster-class/values.yaml#images.**.name'}
";

fn csctl(version: &str) -> String {
    format!(
        "apiVersion: csctl.clusterstack.x-k8s.io/v1alpha1\nconfig:\n  kubernetesVersion: {version}\n"
    )
}

const IMAGES: &str = "\
images:
  controlPlane:
  - name: registry.example.org/kindest/node:v1.30.10
  worker:
  - name: registry.example.org/kindest/node:v1.30.9
  - name: ubuntu-24.04
";

#[test]
fn a_version_is_compared_with_the_images_beside_it() {
    let (right, other) = (csctl("v1.30.10"), csctl("v1.30.9"));
    let files = [
        ("metalmark.yaml", STACK),
        ("providers/docker/csctl.yaml", &*right),
        ("providers/docker/cluster-class/values.yaml", IMAGES),
        ("providers/openstack/scs/csctl.yaml", &*other),
        (
            "providers/openstack/scs/cluster-class/values.yaml",
            "images: {worker: {name: ubuntu-capi-image-v1.30.9}}\n",
        ),
    ];
    let (screen, status) = check(&files);
    assert_eq!(status, 1, "{screen}");
    assert!(
        screen.contains("--> providers/docker/cluster-class/values.yaml:5:11"),
        "{screen}"
    );
    assert!(
        screen.contains("::: providers/docker/csctl.yaml:3:22"),
        "{screen}"
    );
    assert!(
        screen.contains("= cluster: providers/docker/csctl.yaml, pool images.worker.0.name"),
        "{screen}"
    );
    let last =
        "1 error in 1 cluster; 4 node pools checked: 2 by name only, 1 unproven, 1 mismatched\n";
    assert!(screen.ends_with(last), "{screen}");
}

#[test]
fn the_same_key_is_meant_on_both_sides() {
    let project = "version: 1\npairs: [{version: 'values.yaml#clusters.*.version', image: '#clusters.*.pools.*.image'}]\n";
    let values = "\
clusters:
  a: {version: v1.30.1, pools: {one: {image: ubuntu-2204-kube-v1.30.1}, two: {image: ubuntu-2204-kube-v1.30.1}}}
  b: {version: v1.31.1, pools: {one: {image: ubuntu-2204-kube-v1.31.1}}}
---
clusters:
  c: {version: v1.32.1, pools: {one: {image: ubuntu-2204-kube-v1.32.0}}}
";
    let (screen, _) = check(&[("metalmark.yaml", project), ("values.yaml", values)]);
    assert!(
        screen.ends_with("3 by name only, 1 mismatched\n"),
        "{screen}"
    );
    assert!(
        screen.contains("cluster: values.yaml:2#c, pool clusters.c.pools.one.image"),
        "{screen}"
    );
}

#[test]
fn environments_and_code_in_markdown_have_values_too() {
    let project = "version: 1\npairs:\n- {version: '.env#K8S', image: 'README.md#image'}\n";
    let page =
        "# Setup\n\n```yaml\nimage: ubuntu-2204-kube-v1.30.2\n```\n\n```sh\nimage: no\n```\n";
    let files = [
        ("metalmark.yaml", project),
        (".env", "export K8S=\"v1.30.1\"\nPASSWORD=hunter22\n"),
        ("README.md", page),
    ];
    let (screen, _) = check(&files);
    assert!(screen.contains("--> README.md:4:8"), "{screen}");
    assert!(screen.contains("::: .env:1:13"), "{screen}");
    assert!(!screen.contains("hunter22"), "{screen}");
}

#[test]
fn a_pair_that_finds_nothing_is_reported_and_a_variable_is_no_version() {
    let project = |pair: &str| format!("version: 1\npairs: [{pair}]\n");
    for (pair, message) in [
        (
            "{version: 'a.yaml#v', image: 'b.yaml#i'}",
            "no file has both values of a pair",
        ),
        (
            "{version: 'values.yaml#v', image: '#missing'}",
            "no file has both values of a pair",
        ),
        (
            "{version: 'values.yaml', image: '#i'}",
            "a place of a pair has no `#`",
        ),
    ] {
        let (screen, status) = check(&[
            ("metalmark.yaml", &project(pair)),
            ("values.yaml", "v: v1.30.1\ni: x\n"),
        ]);
        assert!(screen.contains(message), "{screen}");
        assert!(screen.contains("--> metalmark.yaml:2:9"), "{screen}");
        assert_eq!(status, 1, "{screen}");
    }
    let own = project("{version: 'values.yaml#v', image: '#i'}");
    let files = [
        ("metalmark.yaml", &*own),
        (
            "values.yaml",
            "v: '{{ .Values.x }}'\ni: ubuntu-2204-kube-v1.30.2\n",
        ),
    ];
    assert!(summary(&files).ends_with("1 skipped: its image or version is a variable"));
    let broken = [files[0], ("values.yaml", "v: [\n")];
    let (screen, _) = check(&broken);
    assert!(screen.contains("error[yaml-syntax]"), "{screen}");
}

#[test]
fn a_pair_of_thousands_of_versions_and_images_ends() {
    let project = "version: 1\npairs: [{version: 'v.yaml#v', image: 'i.yaml#i.*'}]\n";
    let versions = "v: v1.30.1\n---\n".repeat(400);
    let images: String = (0..400).map(|index| format!("  i{index}: x\n")).collect();
    let images = format!("i:\n{images}");
    let files = [
        ("metalmark.yaml", project),
        ("v.yaml", &versions),
        ("i.yaml", &images),
    ];
    let (screen, status) = check(&files);
    assert_eq!(status, 1);
    let message = "takes more than 10000000 steps";
    assert!(screen.contains(message), "{screen}");
    assert!(!screen.contains("node pools checked"), "{screen}");
}

#[test]
fn an_image_at_an_address_is_known_by_the_name_of_its_file() {
    let project =
        "version: 1\npairs: [{version: 'values.yaml#version', image: 'values.yaml#image'}]\n";
    for address in ["http://h/os/", "https://h/os/", ""] {
        let values =
            format!("version: v1.30.1\nimage: '{address}ubuntu-2204-kube-v1.30.2.qcow2'\n");
        let (screen, _) = check(&[("metalmark.yaml", project), ("values.yaml", &values)]);
        let expected = "image `ubuntu-2204-kube-v1.30.2.qcow2` holds Kubernetes `1.30.2`";
        assert!(screen.contains(expected), "{address}: {screen}");
    }
}
