//! Rendered files: whether they may be written where an output says, and what they hold.

use snapbox::str;

use super::super::support::stage::project;
use super::{bare, edge, fails, passes, warns};

#[test]
fn file_not_owned() {
    let project = edge("capm3: {image_key: noble-31}")
        .settings("outputs: [{target: manifests, path: rendered}]")
        .file("rendered/edge.yaml", "# written by hand\n");
    fails("file-not-owned", &project, "render --check").screen(str![[r#"
error[file-not-owned]: `rendered/edge.yaml` would be overwritten, and its first line does not say that metalmark rendered it
--> rendered/edge.yaml
 = cluster: edge
 = help: move the file away if it is yours, or overwrite it: `metalmark render --adopt`, or `--adopt` of the `bundle` command

1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.remove("rendered/edge.yaml");
    passes("file-not-owned", &project, "render");
}

#[test]
fn output_path_collision() {
    let project = edge("capm3: {image_key: noble-31}").settings(
        r#"outputs:
- {target: manifests, path: rendered}
- {target: manifests, path: "rendered"}"#,
    );
    fails("output-path-collision", &project, "render --check").screen(str![[r#"
error[output-path-collision]: `rendered/edge.yaml` is rendered more than once, by `manifests/edge` and by `manifests/edge`
--> rendered/edge.yaml
 = cluster: edge
 = help: give the outputs different `path`s, or rename one of the clusters

1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit(
        "metalmark.yaml",
        r#"- {target: manifests, path: "rendered"}
"#,
        "",
    );
    passes("output-path-collision", &project, "render");
}

#[test]
fn output_path_illegal() {
    let project = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .settings("outputs: [{target: manifests, path: rendered}]")
        .cluster(
            "aux",
            "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3: {image_key: noble-31}
",
        );
    fails("output-path-illegal", &project, "render --check").screen(str![[r#"
error[output-path-illegal]: the path `rendered/aux.yaml` of a rendered file has a name that is a device on Windows
 |
 = cluster: aux
 = help: rename the cluster, the pool or the output's `path` that it comes from

1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("metalmark.yaml", "name: aux", "name: edge");
    passes("output-path-illegal", &project, "render");
}

#[test]
fn output_removed() {
    let project = edge("capm3: {image_key: noble-31}")
        .settings("outputs: [{target: manifests, path: rendered}]");
    project.run("render").exit(0);
    let Some(project) = project.commit("Render") else {
        return;
    };
    project.edit("metalmark.yaml", "path: rendered", "path: images");
    fails("output-removed", &project, "render").screen(str![[r#"
error[output-removed]: `rendered/edge.yaml` says that metalmark rendered it, and no output has its folder any more
--> rendered/edge.yaml
 = help: let what deploys it use a folder of `outputs`, or name its folder below `outputs` again; remove the first line of a file that is yours

1 error; 1 node pool checked: 1 proven

"#]]);
    project.shell("rm -r rendered").exit(0);
    passes("output-removed", &project, "render");
}

#[test]
fn output_symlink() {
    let project = edge("capm3: {image_key: noble-31}")
        .settings("outputs: [{target: manifests, path: 'rendered/{{ cluster.name }}'}]")
        .file("elsewhere/README", "Another place.\n")
        .file("rendered/README", "Here.\n");
    std::os::unix::fs::symlink("../elsewhere", project.path().join("rendered/edge"))
        .expect("linked");
    fails("output-symlink", &project, "render --check").screen(str![[r#"
error[output-symlink]: `rendered/edge/edge.yaml` is not written: `rendered/edge` is a symbolic link
--> rendered/edge
 = cluster: edge
 = help: replace `rendered/edge` by a real file or folder, or choose another output folder

1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.remove("rendered/edge");
    passes("output-symlink", &project, "render");
}

#[test]
fn manifest_invalid() {
    let project = edge("name: Edge_1\ncapm3: {image_key: noble-31}")
        .settings("outputs: [{target: manifests, path: rendered}]");
    fails("manifest-invalid", &project, "render --stdout").brief(str![[r#"
error[manifest-invalid]: rendered file `rendered/edge.yaml`: Metal3MachineTemplate `Edge_1-control-plane-7a29a48820`: `Edge_1-control-plane-7a29a48820` is not a legal name: lower-case letters, digits, `-` and `.`, at most 253
  rendered/edge.yaml:5:9 `Edge_1-control-plane-7a29a48820` in the rendered file
  cluster: edge
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "Edge_1", "edge-1");
    passes("manifest-invalid", &project, "render --stdout");
}

#[test]
fn object_too_large() {
    let project = bare(r#"os_images:
  own: {uri: 'oci://registry.example.org/own:1', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, description: '{{ repeat 33000 "a very long story about this image, " }}'}"#, "capm3: {image_key: own}").settings("outputs: [{target: configmap, path: rendered}]");
    fails("object-too-large", &project, "render --stdout").brief(str![[r#"
error[object-too-large]: rendered file `rendered/os-images-info.yaml`: ConfigMap `os-images-info`: its data has 1188235 bytes and may have 1048576
  rendered/os-images-info.yaml:2:1 `apiVersion: v1` in the rendered file
  help: serve fewer images, or write one object a cluster: `scope: cluster`
1 error; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "33000", "3");
    passes("object-too-large", &project, "render --stdout");
}

#[test]
fn template_error() {
    let project = edge("capm3: {image_key: noble-31}").settings(
        "outputs: [{target: manifests, path: rendered}]\nimages: {url: 'https://images.example/{{ image.file_name }}'}",
    );
    fails("template-error", &project, "render --stdout").brief(str![[r#"
error[template-error]: template `images.url` cannot be rendered: undefined value: `image.file_name` is undefined
  metalmark.yaml:6:15 `'https://images.example/{{ image.file_name }}'` here
  cluster: edge
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("metalmark.yaml", "file_name", "key");
    passes("template-error", &project, "render --stdout");
}

#[test]
fn template_unreferenced() {
    let project = edge("capm3: {image_key: noble-31}\nmachine_deployments: {md0: {}}").settings("outputs: [{target: manifests, path: rendered}]\nmanifests: [own.yaml]").file("own.yaml", "\
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: RKE2ControlPlane
metadata: {name: edge}
spec:
  machineTemplate:
    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge-control-plane}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: edge-md0}
spec:
  template:
    spec:
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge-workers}
");
    let _ = project.run("render").exit(0);
    warns("template-unreferenced", &project, "render --check").screen(str![[r#"
1 file rendered: 1 unchanged
warning[template-unreferenced]: no manifest refers to Metal3MachineTemplate `edge/edge-md0-7a29a48820`
 |
 = cluster: edge
 = help: write `name: edge-md0` in the reference: `metalmark render` adds the hash, and moves the reference with it

1 warning in 1 cluster; 2 node pools checked: 2 proven; 1 skipped: its machine template is not among the manifests

"#]]);
    project.edit("own.yaml", "edge-workers", "edge-md0");
    let _ = project.run("render").exit(0);
    passes("template-unreferenced", &project, "render --check");
}
