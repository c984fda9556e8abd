//! `pairs:` of the project file: versions and images that no reference joins.

use snapbox::str;

use crate::support::stage::{Stage, assert_cases, project};

fn with_pair(pair: &str) -> Stage {
    project().settings(&format!("pairs: [{pair}]\n"))
}

#[test]
fn a_version_is_compared_with_the_images_beside_it() {
    let csctl = |version: &str| {
        format!(
            "apiVersion: csctl.clusterstack.x-k8s.io/v1alpha1\nconfig:\n  kubernetesVersion: {version}\n"
        )
    };
    let images = "\
images:
  controlPlane:
  - name: registry.example.org/kindest/node:v1.30.10
  worker:
  - name: registry.example.org/kindest/node:v1.30.9
  - name: ubuntu-24.04
";
    let pair = "{version: 'providers/**/csctl.yaml#config.kubernetesVersion', image: 'cluster-class/values.yaml#images.**.name'}";
    let project = with_pair(pair)
        .file("providers/docker/csctl.yaml", csctl("v1.30.10"))
        .file("providers/docker/cluster-class/values.yaml", images)
        .file("providers/openstack/scs/csctl.yaml", csctl("v1.30.9"))
        .file(
            "providers/openstack/scs/cluster-class/values.yaml",
            "images: {worker: {name: ubuntu-capi-image-v1.30.9}}\n",
        );
    project.check().is(str![[r#"
error[k8s-version-mismatch] providers/docker/csctl.yaml/images.worker.0.name providers/docker/cluster-class/values.yaml:5:11 `registry.example.org/kindest/node:v1.30.9` providers/docker/csctl.yaml:3:22 `v1.30.10` => v1.30.10
providers/docker/csctl.yaml/images.controlPlane.0.name v1.30.10 (providers/docker/csctl.yaml:3:22): by_name, registry.example.org/kindest/node:v1.30.10 (providers/docker/cluster-class/values.yaml:3:11) holds 1.30.10
providers/docker/csctl.yaml/images.worker.0.name v1.30.10 (providers/docker/csctl.yaml:3:22): mismatched, registry.example.org/kindest/node:v1.30.9 (providers/docker/cluster-class/values.yaml:5:11) holds 1.30.9
providers/docker/csctl.yaml/images.worker.1.name v1.30.10 (providers/docker/csctl.yaml:3:22): unproven, ubuntu-24.04 (providers/docker/cluster-class/values.yaml:6:11)
providers/openstack/scs/csctl.yaml/images.worker.name v1.30.9 (providers/openstack/scs/csctl.yaml:3:22): by_name, ubuntu-capi-image-v1.30.9 (providers/openstack/scs/cluster-class/values.yaml:1:25) holds 1.30.9

"#]]);
}

#[test]
fn the_same_key_is_meant_on_both_sides() {
    let values = "\
clusters:
  a: {version: v1.30.1, pools: {one: {image: ubuntu-2204-kube-v1.30.1}, two: {image: ubuntu-2204-kube-v1.30.1}}}
  b: {version: v1.31.1, pools: {one: {image: ubuntu-2204-kube-v1.31.1}}}
---
clusters:
  c: {version: v1.32.1, pools: {one: {image: ubuntu-2204-kube-v1.32.0}}}
";
    let pair = "{version: 'values.yaml#clusters.*.version', image: '#clusters.*.pools.*.image'}";
    with_pair(pair)
        .file("values.yaml", values)
        .check()
        .is(str![[r#"
error[k8s-version-mismatch] values.yaml:2#c/clusters.c.pools.one.image values.yaml:6:46 `ubuntu-2204-kube-v1.32.0` values.yaml:6:16 `v1.32.1` => v1.32.1
values.yaml:1#a/clusters.a.pools.one.image v1.30.1 (values.yaml:2:16): by_name, ubuntu-2204-kube-v1.30.1 (values.yaml:2:46) holds 1.30.1
values.yaml:1#a/clusters.a.pools.two.image v1.30.1 (values.yaml:2:16): by_name, ubuntu-2204-kube-v1.30.1 (values.yaml:2:86) holds 1.30.1
values.yaml:1#b/clusters.b.pools.one.image v1.31.1 (values.yaml:3:16): by_name, ubuntu-2204-kube-v1.31.1 (values.yaml:3:46) holds 1.31.1
values.yaml:2#c/clusters.c.pools.one.image v1.32.1 (values.yaml:6:16): mismatched, ubuntu-2204-kube-v1.32.0 (values.yaml:6:46) holds 1.32.0

"#]]);
}

#[test]
fn environments_and_code_in_markdown_have_values_too() {
    let page =
        "# Setup\n\n```yaml\nimage: ubuntu-2204-kube-v1.30.2\n```\n\n```sh\nimage: no\n```\n";
    let project = with_pair("{version: '.env#K8S', image: 'README.md#image'}")
        .file(".env", "export K8S=\"v1.30.1\"\nPASSWORD=hunter22\n")
        .file("README.md", page);
    project.run("check").exit(1).brief(str![[r#"
error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.30.2` holds Kubernetes `1.30.2`, not `v1.30.1`
  README.md:4:8 `ubuntu-2204-kube-v1.30.2` this image is selected here
  .env:1:13 `v1.30.1` this version is required
  cluster: .env, pool image
  help: name an image with Kubernetes `v1.30.1`, in a machine template of a new name
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
}

#[test]
fn a_pair_that_finds_nothing_is_reported_and_a_variable_is_no_version() {
    assert_cases(
        str![[r#"
{version: 'a.yaml#v', image: 'b.yaml#i'} of v: v1.30.1; i: x
    error[project-file]: no file has both values of a pair
     --> metalmark.yaml:2:9
      |
    2 | pairs: [{version: 'a.yaml#v', image: 'b.yaml#i'}]
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `FILE#KEY.KEY`, such as `{version: values.yaml#kubernetesVersion, image: '#images.*.name'}`
    1 error
{version: 'values.yaml#v', image: '#missing'} of v: v1.30.1; i: x
    error[project-file]: no file has both values of a pair
     --> metalmark.yaml:2:9
      |
    2 | pairs: [{version: 'values.yaml#v', image: '#missing'}]
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `FILE#KEY.KEY`, such as `{version: values.yaml#kubernetesVersion, image: '#images.*.name'}`
    1 error
{version: 'values.yaml', image: '#i'} of v: v1.30.1; i: x
    error[project-file]: a place of a pair has no `#`
     --> metalmark.yaml:2:9
      |
    2 | pairs: [{version: 'values.yaml', image: '#i'}]
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `FILE#KEY.KEY`, such as `{version: values.yaml#kubernetesVersion, image: '#images.*.name'}`
    1 error
{version: 'values.yaml#v', image: '#i'} of v: '{{ .Values.x }}'; i: ubuntu-2204-kube-v1.30.2
    error[nothing-checked]: 0 node pools checked; 1 skipped: its image or version is a variable
     |
     = help: `metalmark clusters` says of each node pool why it is not known
     = help: or type `--allow-empty`
    1 error; 0 node pools checked; 1 skipped: its image or version is a variable
{version: 'values.yaml#v', image: '#i'} of v: [
    error[project-file]: no file has both values of a pair
     --> metalmark.yaml:2:9
      |
    2 | pairs: [{version: 'values.yaml#v', image: '#i'}]
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `FILE#KEY.KEY`, such as `{version: values.yaml#kubernetesVersion, image: '#images.*.name'}`
    error[yaml-syntax]: expected a value, found the end of the file
     --> values.yaml:2:1
      |
    2 |
      | ^
    2 errors

"#]],
        |case| {
            let (pair, values) = case.split_once(" of ").expect("a pair and values");
            let outcome = with_pair(pair)
                .file("values.yaml", values.replace("; ", "\n") + "\n")
                .run("check")
                .outcome;
            { outcome.stdout + &outcome.stderr }
                .lines()
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect()
        },
    );
}

#[test]
fn an_image_at_an_address_is_known_by_the_name_of_its_file() {
    assert_cases(
        str![[r#"
http://h/os/ubuntu-2204-kube-v1.30.2.qcow2
    values.yaml/image v1.30.1 (values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2.qcow2 (values.yaml:2:8) holds 1.30.2
https://h/os/ubuntu-2204-kube-v1.30.2.qcow2
    values.yaml/image v1.30.1 (values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2.qcow2 (values.yaml:2:8) holds 1.30.2
ubuntu-2204-kube-v1.30.2.qcow2
    values.yaml/image v1.30.1 (values.yaml:1:10): mismatched, ubuntu-2204-kube-v1.30.2.qcow2 (values.yaml:2:8) holds 1.30.2

"#]],
        |image| {
            let values = format!("version: v1.30.1\nimage: '{image}'\n");
            let project = with_pair("{version: 'values.yaml#version', image: 'values.yaml#image'}");
            project.file("values.yaml", values).check().pool_lines()
        },
    );
}
