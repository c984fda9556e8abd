//! Stamping in place: whole projects, the shapes that people write, and the laws of an edit.

mod findings;
mod markers;
mod model;
mod names;
mod patches;
mod random;
mod rotation;
mod run;
mod schemas;
mod selectors;
mod shapes;
mod since;
mod versions;
mod written;

use snapbox::str;

use super::support::stage::{Stage, assert_text, changes, project};

/// The kinds that follow a template, each in a file of its own.
const REFERENCES: &str = "fixtures/stamp/rotate/before";

/// A project of all manifests in it, and an image in that build.
fn noble(build: u32) -> String {
    format!(
        "version: 1\nmanifests: [.]\nimages:\n  records:\n    noble:\n      os: {{name: ubuntu, version: '24.04', codename: noble}}\n      \
         k8s: {{flavor: kubeadm, version: 1.34.1}}\n      format: raw\n      digests: {{uncompressed: {{sha256: {}}}}}\n      \
         locations: {{https: 'https://images.example.org/noble-{build}.raw'}}\n",
        "0123456789abcdef".repeat(4)
    )
}

/// What stamping a project changes. A second run changes nothing.
#[track_caller]
fn stamp(stage: &Stage, words: &str) -> String {
    let words = format!("stamp {words}");
    let before = stage.texts();
    let first = stage.run(&words).exit(0);
    let after = stage.texts();
    let files = after.iter().filter(|(path, text)| before[*path] != **text);
    assert_eq!(
        first.outcome.stdout.matches("stamped  ").count(),
        files.count(),
        "{}",
        first.outcome.stdout
    );
    stage.run(&words).exit(0);
    assert_eq!(stage.texts(), after, "a second run changes something");
    changes(&before, &after)
}

#[test]
fn a_cluster_in_three_files_moves_to_its_image_and_keeps_what_it_had() {
    let stage = project().folder("fixtures/stamp/capm3");
    assert_text(
        &stamp(&stage, "--rotate --set-version"),
        str![[r#"
clusters/edge-7/control-plane.yaml:17
-  version: v1.33.5   # with the image
+  version: v1.34.1   # with the image
clusters/edge-7/control-plane.yaml:22
-      name: edge-7-cp
+      name: edge-7-cp-c54103a61b
clusters/edge-7/templates.yaml:6
+  name: edge-7-cp-c54103a61b   # moved by every rotation
+  namespace: edge-7
+spec:
+  nodeReuse: true
+  template:
+    spec:
+      image:
+        url: https://images.example.org/noble-1.34.1.raw
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
+        checksumType: sha256
+        format: raw
+      dataTemplate:
+        name: edge-7-cp
+---
+# The control plane's machines.
+# metalmark: image=noble-1-34-1
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata:
clusters/edge-7/templates.yaml:27
+  annotations:
+    metalmark.dev/kept: edge-7-cp-c54103a61b
clusters/edge-7/templates.yaml:45
+  name: edge-7-workers-f11a55e02a
+  namespace: edge-7
+spec:
+  template:
+    spec:
+      # metalmark: image=noble-1-34-1
+      image: {url: "https://images.example.org/noble-1.34.1.raw", checksum: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", checksumType: sha256, format: raw}
+---
+# The workers' machines.
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: Metal3MachineTemplate
+metadata:
clusters/edge-7/templates.yaml:59
+  annotations:
+    metalmark.dev/kept: edge-7-workers-f11a55e02a
clusters/edge-7/workers.yaml:9
-      version: "v1.33.5"
-      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge-7-workers-00000000ab}
+      version: "v1.34.1"
+      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge-7-workers-f11a55e02a}

"#]],
    );
}

#[test]
fn templates_of_a_class_are_selected_by_entries_of_the_project() {
    let stage = project().folder("fixtures/stamp/capo");
    assert_text(
        &stamp(&stage, "--rotate --keep 2"),
        str![[r#"
clusters/class.yaml:11
-        name: quick-cp
+        name: quick-cp-fec88746b9
clusters/class.yaml:19
-            name: "quick-workers"
+            name: "quick-workers-fec88746b9"
clusters/class.yaml:33
+  name: quick-cp-fec88746b9
+spec:
+  template:
+    spec:
+      flavor: m1.large
+      image:
+        id: "8f1b2c3d-0000-4000-8000-000000000001"
+---
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: OpenStackMachineTemplate
+metadata:
clusters/class.yaml:45
+  annotations:
+    metalmark.dev/kept: quick-cp-fec88746b9
clusters/class.yaml:58
+  name: quick-workers-fec88746b9
+  labels:
+    tier: workers
+spec:
+  template:
+    spec:
+      flavor: m1.large
+      image:
+        id: 8f1b2c3d-0000-4000-8000-000000000001
+---
+apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+kind: OpenStackMachineTemplate
+metadata:
clusters/class.yaml:74
+  annotations:
+    metalmark.dev/kept: quick-workers-fec88746b9

"#]],
    );
}

#[test]
fn a_list_of_both_api_versions_is_rotated_and_nothing_of_the_past_kept() {
    let stage = project().folder("fixtures/stamp/capv");
    assert_text(
        &stamp(&stage, "--rotate --keep 0"),
        str![[r#"
clusters/list.yaml:7
-    metadata: {name: dc-1}
+    metadata: {name: dc-1-61e9d2d182}
clusters/list.yaml:11
-          template: noble-1.33.5
+          template: noble-1.34.1
clusters/list.yaml:19
-        infrastructureRef: {kind: VSphereMachineTemplate, name: dc-1}
+        infrastructureRef: {kind: VSphereMachineTemplate, name: dc-1-61e9d2d182}
clusters/list.yaml:28
-          infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: VSphereMachineTemplate, name: dc-1}
+          infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: VSphereMachineTemplate, name: dc-1-61e9d2d182}

"#]],
    );
}

#[test]
fn each_kind_that_refers_to_a_template_follows_it() {
    let stage = project().folder(REFERENCES);
    let words = "--rotate --set-version --keep 0";
    assert_text(
        &stamp(&stage, words),
        str![[r#"
clusters/a/cluster.yaml:5
-  version: v1.34.0   # moves with the image
+  version: v1.34.1   # moves with the image
clusters/a/cluster.yaml:11
-      name: control-plane   # the hosts
+      name: control-plane-b172973082   # the hosts
clusters/a/cluster.yaml:23
-      version: v1.34.0
+      version: v1.34.1
clusters/a/cluster.yaml:25
-      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: workers}
+      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: workers-b172973082}
clusters/a/templates.yaml:5
-  name: control-plane
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: control-plane-b172973082
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/a/templates.yaml:12
-  name: workers
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: workers-b172973082
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/b/cluster.yaml:5
-  version: v1.34.0
+  version: v1.34.1
clusters/b/cluster.yaml:12
-        name: control-plane
+        name: control-plane-7a778ed69d
clusters/b/templates.yaml:5
-  name: control-plane
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, diskFormat: raw}}}}
+  name: control-plane-7a778ed69d
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, diskFormat: raw}}}}
clusters/classes/new.yaml:11
-        name: new-class-cp
+        name: new-class-cp-7a778ed69d
clusters/classes/new.yaml:20
-            name: new-class-workers
+            name: new-class-workers-7a778ed69d
clusters/classes/new.yaml:25
-spec: {topology: {classRef: {name: new}, version: v1.34.0}}
+spec: {topology: {classRef: {name: new}, version: v1.34.1}}
clusters/classes/new.yaml:30
-  name: new-class-cp
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, diskFormat: raw}}}}
+  name: new-class-cp-7a778ed69d
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, diskFormat: raw}}}}
clusters/classes/new.yaml:36
-  name: new-class-workers
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, diskFormat: raw}}}}
+  name: new-class-workers-7a778ed69d
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, diskFormat: raw}}}}
clusters/classes/old.yaml:11
-        name: old-class-cp
+        name: old-class-cp-b172973082
clusters/classes/old.yaml:21
-              name: old-class-workers
+              name: old-class-workers-b172973082
clusters/classes/old.yaml:26
-          infrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: old-class-workers}}
+          infrastructure: {ref: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: old-class-workers-b172973082}}
clusters/classes/old.yaml:31
-spec: {topology: {class: old, version: v1.34.0}}
+spec: {topology: {class: old, version: v1.34.1}}
clusters/classes/old.yaml:36
-  name: old-class-cp
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: old-class-cp-b172973082
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/classes/old.yaml:42
-  name: old-class-workers
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: old-class-workers-b172973082
+spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/embedded.yaml:10
-      name: embedded
-    spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+      name: embedded-b172973082
+    spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/embedded.yaml:17
-      version: v1.34.0
+      version: v1.34.1
clusters/embedded.yaml:22
-          name: embedded
+          name: embedded-b172973082
clusters/embedded.yaml:28
-metadata: {name: embedded-md}
+metadata: {name: embedded-md-8152ca2793}
clusters/embedded.yaml:34
-        - v1.34.0   # metalmark: image=noble-kubeadm-1-34-1 field=k8s-version
+        - v1.34.1   # metalmark: image=noble-kubeadm-1-34-1 field=k8s-version
clusters/embedded.yaml:44
-      version: v1.34.0
-      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: embedded-md}}
-      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: embedded}
+      version: v1.34.1
+      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: embedded-md-8152ca2793}}
+      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: embedded-b172973082}
clusters/k3s.yaml:4
-  name: old-k3s
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: old-k3s-4e11f9719e
+spec: {template: {spec: {image: {url: https://images.example.org/noble-k3s-1-33-5.raw, checksum: "6e6f626c652d6b33732d312d33332d356e6f626c652d6b33732d312d33332d35", checksumType: sha256, format: raw}}}}
clusters/k3s.yaml:10
-  name: new-k3s
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: new-k3s-4e11f9719e
+spec: {template: {spec: {image: {url: https://images.example.org/noble-k3s-1-33-5.raw, checksum: "6e6f626c652d6b33732d312d33332d356e6f626c652d6b33732d312d33332d35", checksumType: sha256, format: raw}}}}
clusters/k3s.yaml:17
-  version: v1.33.4+k3s1
+  version: v1.33.5+k3s1
clusters/k3s.yaml:21
-    name: old-k3s
+    name: old-k3s-4e11f9719e
clusters/k3s.yaml:27
-  version: v1.33.4+k3s1
-  kthreesConfigSpec: {version: v1.33.4+k3s1}   # once more
+  version: v1.33.5+k3s1
+  kthreesConfigSpec: {version: v1.33.5+k3s1}   # once more
clusters/k3s.yaml:33
-      name: new-k3s
+      name: new-k3s-4e11f9719e
clusters/namespaces.yaml:4
-metadata: {name: spaced, namespace: edge}
-spec: {template: {spec: {image: {url: "https://images.example.org/noble-1.raw", checksum: "old", checksumType: sha256, format: raw}}}}
+metadata: {name: spaced-b172973082, namespace: edge}
+spec: {template: {spec: {image: {url: "https://images.example.org/noble-kubeadm-1-34-1.raw", checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
clusters/namespaces.yaml:15
-      version: v1.34.0
-      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: spaced}
+      version: v1.34.1
+      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: spaced-b172973082}
clusters/rke2.yaml:5
-  version: v1.31.8+rke2r1
+  version: v1.31.9+rke2r1
clusters/rke2.yaml:10
-      name: old-rke2
+      name: old-rke2-c20235f86b
clusters/rke2.yaml:15
-    name: old-rke2
+    name: old-rke2-c20235f86b
clusters/rke2.yaml:21
-  version: v1.31.8+rke2r1
+  version: v1.31.9+rke2r1
clusters/rke2.yaml:27
-        name: new-rke2
+        name: new-rke2-1e17954c4a
clusters/rke2.yaml:32
-  name: old-rke2
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, format: raw}}}}
+  name: old-rke2-c20235f86b
+spec: {template: {spec: {image: {url: https://images.example.org/noble-rke2-1-31-9.raw, checksum: "6e6f626c652d726b65322d312d33312d396e6f626c652d726b65322d312d3331", checksumType: sha256, format: raw}}}}
clusters/rke2.yaml:38
-  name: new-rke2
-spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw, checksum: "1111111111111111111111111111111111111111111111111111111111111111", checksumType: sha256, diskFormat: raw}}}}
+  name: new-rke2-1e17954c4a
+spec: {template: {spec: {image: {url: https://images.example.org/noble-rke2-1-31-9.raw, checksum: "6e6f626c652d726b65322d312d33312d396e6f626c652d726b65322d312d3331", checksumType: sha256, diskFormat: raw}}}}
clusters/sets.yaml:7
-    name: listed
+    name: listed-b172973082
clusters/sets.yaml:12
-          url: https://images.example.org/noble-1.raw
-          checksum: "1111111111111111111111111111111111111111111111111111111111111111"
+          url: https://images.example.org/noble-kubeadm-1-34-1.raw
+          checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164"
clusters/sets.yaml:24
-        version: v1.34.0
+        version: v1.34.1
clusters/sets.yaml:28
-          name: listed
+          name: listed-b172973082
clusters/sets.yaml:37
-        version: v1.34.0
+        version: v1.34.1
clusters/sets.yaml:41
-          name: listed
+          name: listed-b172973082

"#]],
    );
}

#[test]
fn a_copy_is_kept_beside_its_template_also_in_a_string_and_of_what_boots_with_it() {
    let stage = project().folder(REFERENCES);
    let before = stage.texts();
    stage.run("stamp --rotate --set-version").exit(0);
    let mut after = stage.texts();
    after.retain(|path, _| path == "clusters/embedded.yaml");
    let before = before
        .into_iter()
        .filter(|(path, _)| after.contains_key(path));
    assert_text(
        &changes(&before.collect(), &after),
        str![[r#"
clusters/embedded.yaml:10
+      name: embedded-b172973082
+    spec: {template: {spec: {image: {url: https://images.example.org/noble-kubeadm-1-34-1.raw, checksum: "6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164", checksumType: sha256, format: raw}}}}
+    ---
+    # In a string.
+    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
+    kind: Metal3MachineTemplate
+    metadata:
clusters/embedded.yaml:18
+      annotations:
+        metalmark.dev/kept: embedded-b172973082
clusters/embedded.yaml:26
-      version: v1.34.0
+      version: v1.34.1
clusters/embedded.yaml:31
-          name: embedded
+          name: embedded-b172973082
clusters/embedded.yaml:37
-metadata: {name: embedded-md}
+metadata: {name: embedded-md-8152ca2793}
+spec:
+  template:
+    spec:
+      preKubeadmCommands:
+        - install-kubeadm
+        - v1.34.1   # metalmark: image=noble-kubeadm-1-34-1 field=k8s-version
+---
+# Bootstrap configuration that names the image is rotated with it.
+apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
+kind: KubeadmConfigTemplate
+metadata: {name: embedded-md, annotations: {metalmark.dev/kept: embedded-md-8152ca2793}}
clusters/embedded.yaml:64
-      version: v1.34.0
-      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: embedded-md}}
-      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: embedded}
+      version: v1.34.1
+      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: embedded-md-8152ca2793}}
+      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: embedded-b172973082}

"#]],
    );
}

#[test]
fn a_file_of_ten_thousand_lines_changes_in_its_image_lines() {
    let filler = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: 'value' # as it was\n";
    let long = [
        &*filler.repeat(1_000),
        "---\n",
        shapes::PLAIN,
        &filler.repeat(700),
    ];
    let stage = project()
        .file("metalmark.yaml", noble(2))
        .file("long.yaml", long.concat());
    assert_text(
        &stamp(&stage, ""),
        str![[r#"
long.yaml:6011
-        url: https://images.example.org/noble-1.raw
-        checksum: 1111111111111111111111111111111111111111111111111111111111111111
+        url: https://images.example.org/noble-2.raw
+        checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

"#]],
    );
}

#[test]
fn an_image_that_is_unknown_keeps_every_file_as_it_is() {
    let stage = project()
        .file("metalmark.yaml", noble(2))
        .file("a.yaml", shapes::PLAIN)
        .file(
            "b.yaml",
            shapes::PLAIN.replace("image=noble", "image=nobel"),
        );
    let before = stage.texts();
    stage.run("stamp").exit(1).screen(str![[r#"
warning[template-edited-in-place]: Metal3MachineTemplate `a` gets another image, and no machine that runs is replaced
  --> a.yaml:5:9
   |
 5 |   name: a
   |         ^
...
10 |         url: https://images.example.org/noble-1.raw
   |              -------------------------------------- `spec.template.spec.image.url` changes
   |
   = help: run `metalmark stamp --rotate`: a new name, and every reference moved to it

error[unknown-image]: the catalog has no image `nobel`
 --> b.yaml:1:1
  |
1 | # metalmark: image=nobel
  | ^^^^^^^^^^^^^^^^^^^^^^^^ this image is named here
  |
  = help: write `noble`

1 error, 1 warning

"#]]);
    assert_eq!(stage.texts(), before);
}

#[test]
fn the_answer_is_there_for_machines_too() {
    let stage = project()
        .file("metalmark.yaml", noble(2))
        .file("a.yaml", shapes::PLAIN);
    stage
        .run("stamp --check --output json")
        .exit(1)
        .stdout(str![[r#"
{
  "version": 1,
  "drift": true,
  "changes": [
    {
      "path": "a.yaml",
      "kind": "updated",
      "adopted": false,
      "added": 2,
      "removed": 2
    }
  ],
  "summary": {
    "created": 0,
    "updated": 1,
    "deleted": 0,
    "unchanged": 0
  }
}

"#]]);
}
