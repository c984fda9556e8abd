//! Rules over plain Cluster API manifests: a control plane and a worker whose images, versions and references vary.

use serde_json::Value;
use snapbox::str;

use super::super::support::manifests::{cluster, manifest};
use super::super::support::stage::project;
use super::rows::assert_cases;
use super::{fails, passes, warns};

/// A cluster with one worker, and the images that a file describes; the one in the fixture's row has no fact but its name.
struct Row<'a> {
    /// The kind that the Cluster's `controlPlaneRef` names, which is the kind of the control plane.
    plane: &'a str,
    plane_version: &'a str,
    bootstrap: &'a str,
    worker_version: &'a str,
    image: &'a str,
}

const ROW: Row<'static> = Row {
    plane: "KubeadmControlPlane",
    plane_version: "v1.31.8",
    bootstrap: "Kubeadm",
    worker_version: "v1.31.8",
    image: "noble-31",
};

/// A field is renamed, or gone; a base that two overlays build is reported once.
#[test]
fn field_not_in_version() {
    let object = |version: &str, spec: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/{version}\nkind: MachineDeployment\nmetadata: {{name: md}}\nspec: {{clusterName: edge, {spec}, template: {{spec: {{clusterName: edge}}}}}}\n"
        )
    };
    let old = "rolloutAfter: '2027-01-01T00:00:00Z', revisionHistoryLimit: 1";
    let overlay = "resources: [../base]\n";
    let project = project()
        .file("base/md.yaml", object("v1beta2", old))
        .file("base/kustomization.yaml", "resources: [md.yaml]\n")
        .file("a/kustomization.yaml", overlay)
        .file("b/kustomization.yaml", overlay);
    fails("field-not-in-version", &project, "check --allow-empty").brief(str![[r#"
error[field-not-in-version]: MachineDeployment `md` has `spec.rolloutAfter`, which `cluster.x-k8s.io/v1beta2` lacks
  base/md.yaml:4:27 `rolloutAfter`
  cluster: a/edge
  also in clusters: b/edge
  help: write `spec.rollout.after`
error[field-not-in-version]: MachineDeployment `md` has `spec.revisionHistoryLimit`, which `cluster.x-k8s.io/v1beta2` lacks
  base/md.yaml:4:65 `revisionHistoryLimit`
  cluster: a/edge
  also in clusters: b/edge
  help: remove it: the API server refuses it, or drops it
2 errors in 2 clusters; 0 node pools checked; 2 skipped: no reference to a machine template

"#]]);
    project.write("base/md.yaml", object("v1beta1", old));
    passes("field-not-in-version", &project, "check --allow-empty");
    project.write(
        "base/md.yaml",
        object("v1beta1", "rollout: {after: '2027-01-01T00:00:00Z'}"),
    );
    fails("field-not-in-version", &project, "check --allow-empty").brief(str![[r#"
error[field-not-in-version]: MachineDeployment `md` has `spec.rollout.after`, which `cluster.x-k8s.io/v1beta1` lacks
  base/md.yaml:4:37 `after`
  cluster: a/edge
  also in clusters: b/edge
  help: write `spec.rolloutAfter`
1 error in 2 clusters; 0 node pools checked; 2 skipped: no reference to a machine template

"#]]);
}

const FACTS: &str = "\
os_images:
  noble-31: &noble {os: ubuntu, k8s-flavor: kubeadm, k8s-version: 1.31.8, image-format: raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}
  noble-30: {<<: *noble, k8s-version: 1.30.12}
  noble-31-rke2: {<<: *noble, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}
  minor: {<<: *noble, k8s-version: '1.31'}
  ubuntu-noble-plain-kubeadm-1-31-8: &named {image-format: raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}
  ubuntu-noble-plain-kubeadm-1-30-12: *named
  blank: *named
";

impl Row<'_> {
    fn manifests(&self) -> String {
        let Self {
            plane,
            plane_version,
            bootstrap,
            worker_version,
            image,
        } = self;
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec:
  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: {plane}, name: edge}}
  infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3Cluster, name: edge}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3Cluster
metadata: {{name: edge}}
spec: {{controlPlaneEndpoint: {{host: 192.0.2.1, port: 6443}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: {plane}
metadata: {{name: edge}}
spec: {{version: {plane_version}}}
---
# metalmark: image={image}
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {{name: worker}}
spec: {{template: {{spec: {{image: {{url: 'https://images.example.org/{image}.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: worker}}
spec:
  clusterName: edge
  template:
    spec:
      clusterName: edge
      version: {worker_version}
      infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: worker}}
      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: {bootstrap}ConfigTemplate, name: worker}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: {bootstrap}ConfigTemplate
metadata: {{name: worker}}
spec: {{template: {{spec: {{}}}}}}
"
        )
    }

    /// What `stamp` finds, as level and rule.
    fn found(&self) -> Vec<String> {
        found(&[("edge.yaml", &self.manifests())])
    }
}

/// The findings of `stamp` in these files: the result where errors stop it, else beside the changes.
fn printed(files: &[(&str, &str)]) -> String {
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let settings = format!(
        "manifests: [{}]\nimages: {{facts: [facts.yaml], url: 'https://images.example.org/{{{{ image.key }}}}.raw'}}",
        names.join(", ")
    );
    let project = project().settings(&settings).file("facts.yaml", FACTS);
    let outcome = project
        .files(files)
        .run("stamp --check --output json")
        .outcome;
    match outcome.status {
        1 if outcome.stderr.is_empty() => outcome.stdout,
        _ => outcome.stderr,
    }
}

/// What `stamp` finds in these files, as level and rule.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let printed = printed(files);
    // Nothing is printed where there is nothing.
    if printed.is_empty() {
        return Vec::new();
    }
    let printed: Value =
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    let text = |finding: &Value, name: &str| finding[name].as_str().expect("a text").to_owned();
    let findings = printed["findings"].as_array().expect("a list").iter();
    findings
        .map(|finding| format!("{} {}", text(finding, "level"), text(finding, "rule")))
        .collect()
}

/// A Cluster with its control plane, and a worker, each with the same names in every folder.
fn cluster_and_worker(namespace: &str, plane: &str, worker: &str) -> [String; 2] {
    let cluster = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge{namespace}}}
spec:
  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {{name: edge{namespace}}}
spec: {{version: {plane}}}
"
    );
    let worker = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: worker}}
spec: {{clusterName: edge, template: {{spec: {{clusterName: edge, version: {worker}}}}}}}
"
    );
    [cluster, worker]
}

#[test]
fn a_worker_is_compared_with_the_control_plane_of_its_own_folder() {
    for (dev, prod, expected) in [
        (("v1.30.4", "v1.30.4"), ("v1.31.8", "v1.31.8"), &[][..]),
        // The other folder's control plane hides no fault.
        (
            ("v1.30.4", "v1.32.4"),
            ("v1.32.4", "v1.32.4"),
            &["error version-skew"],
        ),
    ] {
        let [dev_cluster, dev_worker] = cluster_and_worker("", dev.0, dev.1);
        let [prod_cluster, prod_worker] = cluster_and_worker("", prod.0, prod.1);
        let files = [
            ("dev/cluster.yaml", &*dev_cluster),
            ("dev/md.yaml", &dev_worker),
            ("prod/cluster.yaml", &prod_cluster),
            ("prod/md.yaml", &prod_worker),
        ];
        assert_eq!(found(&files), expected, "{dev:?} {prod:?}");
    }
    // A kustomization may give the worker the namespace that the others write.
    let [cluster, worker] = cluster_and_worker(", namespace: default", "v1.30.4", "v1.32.4");
    let files = [("cluster.yaml", &*cluster), ("md.yaml", &worker)];
    assert_eq!(found(&files), ["error version-skew"]);
}

#[test]
fn a_control_plane_of_any_provider_has_a_version() {
    for plane in ["CK8sControlPlane", "TalosControlPlane"] {
        let [cluster, worker] = cluster_and_worker("", "v1.30.4", "v1.32.4");
        let cluster = cluster.replace("KubeadmControlPlane", plane);
        let files = [("cluster.yaml", &*cluster), ("md.yaml", &worker)];
        assert_eq!(found(&files), ["error version-skew"], "{plane}");
    }
}

#[test]
fn what_makes_machines_without_an_image_is_reported_whatever_its_version() {
    let template = |api: &str, kind: &str, mark: &str| {
        format!(
            "{mark}apiVersion: infrastructure.cluster.x-k8s.io/{api}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n"
        )
    };
    let of = |case: &str| {
        let (name, mark) = case.split_once(' ').unwrap_or((case, ""));
        let (api, kind) = name.split_once('/').expect("an API and a kind");
        let mark = if mark.is_empty() {
            String::new()
        } else {
            format!("# metalmark: {mark}\n")
        };
        found(&[("a.yaml", &template(api, kind, &mark))])
    };
    assert_cases(
        str![[r#"
v1alpha7/OpenStackMachineTemplate
    warning image-unstamped
v1alpha5/Metal3MachineTemplate
    warning image-unstamped
v1alpha3/AWSMachineTemplate
    warning image-unstamped
v1alpha3/AWSMachineTemplate ignore
v1alpha3/AWSMachineTemplate image=noble-31
    error image-unstamped
v1alpha3/OtherMachineTemplate
v1beta1/Metal3MachineTemplate
    warning image-unstamped
v1beta2/AWSMachinePool
    warning image-unstamped
v1beta1/Metal3MachineTemplate ignore
# A machine is made from its template.
v1beta1/Metal3Machine

"#]],
        of,
    );
    // A template that is kept for a way back boots what it booted.
    let kept = template("v1beta1", "Metal3MachineTemplate", "").replace(
        "{name: a}",
        "{name: a, annotations: {metalmark.dev/kept: a}}",
    );
    assert_eq!(found(&[("a.yaml", &kept)]), [""; 0]);
}

#[test]
fn an_image_holds_the_version_that_its_machines_run() {
    let of = |case: &str| {
        let (image, version) = case.split_once(' ').expect("two words");
        let row = Row {
            image,
            worker_version: version,
            plane_version: version,
            ..ROW
        };
        row.found()
    };
    assert_cases(
        str![[r#"
noble-31 v1.31.8
noble-30 v1.31.8
    error k8s-version-mismatch
noble-31 v1.31.9
    error k8s-version-mismatch
minor v1.31.8
    error k8s-version-unproven
blank v1.31.8
    error k8s-version-unproven
# A name never proves a version, and refutes one as well as anything.
ubuntu-noble-plain-kubeadm-1-31-8 v1.31.8
    warning k8s-version-unproven
ubuntu-noble-plain-kubeadm-1-30-12 v1.31.8
    error k8s-version-mismatch

"#]],
        of,
    );
}

#[test]
fn an_image_is_made_for_what_bootstraps_its_machines() {
    let row = Row {
        image: "noble-31-rke2",
        ..ROW
    };
    assert!(
        row.found()
            .contains(&"error k8s-flavor-mismatch".to_owned())
    );
    // The version of `minor` has no patch level.
    let printed = printed(&[("edge.yaml", &row.manifests())]);
    assert!(printed.contains("select `noble-31`"), "{printed}");
}

/// The skew is that of a worker and the control plane that its Cluster refers to, whatever provider makes it; what else the
/// Cluster refers to is no control plane. Whether kubeadm joins a worker is said by its own bootstrap configuration, as in Cluster
/// API's preflight check `KubeadmVersionSkew`.
#[test]
fn workers_are_beside_their_control_plane_in_version() {
    let of = |case: &str| {
        let [plane, bootstrap, plane_version] = *case.split(' ').collect::<Vec<_>>() else {
            panic!("{case}")
        };
        let row = Row {
            plane,
            bootstrap,
            plane_version,
            ..ROW
        };
        let mut found = row.found();
        found.retain(|line| line.ends_with(" version-skew"));
        found
    };
    assert_cases(
        str![[r#"
KubeadmControlPlane Kubeadm v1.31.1
KubeadmControlPlane Kubeadm v1.30.1
    error version-skew
KubeadmControlPlane Kubeadm v1.32.1
RKE2ControlPlane RKE2 v1.32.1
RKE2ControlPlane RKE2 v1.34.1
RKE2ControlPlane RKE2 v1.35.1
    error version-skew
RKE2ControlPlane Kubeadm v1.32.1
KThreesControlPlane KThrees v1.30.1
    error version-skew
HostedPlane Kubeadm v1.30.1

"#]],
        of,
    );
}

/// An image that machine templates are stamped with.
const RECORDS: &str = "\
manifests: [edge.yaml]
images: {records: {noble-34: {os: {name: ubuntu}, k8s: {flavor: kubeadm, version: 1.34.1}, format: raw, digests: {uncompressed: {sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}}, locations: {https: 'https://images.example/noble-34.raw'}}}}";

/// A machine template that boots it, below a marker.
fn template(marker: &str, name: &str) -> String {
    let text = format!(
        "{marker}
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {{name: {name}}}
spec: {{template: {{spec: {{image: {{url: https://images.example/noble-34.raw, checksum: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, checksumType: sha256, format: raw}}}}}}}}
"
    );
    text.trim_start().to_owned()
}

const PLANE: &str = "\
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: edge}
spec:
  version: v1.34.1
  machineTemplate:
    infrastructureRef: {kind: Metal3MachineTemplate, name: edge-pc}
";

#[test]
fn image_unstamped() {
    let project = project().settings(RECORDS).file(
        "edge.yaml",
        template("", "cp") + "---\n" + &template("# metalmark: imgae=noble-34", "workers"),
    );
    fails("image-unstamped", &project, "stamp --check").brief(str![[r#"
warning[image-unstamped]: nothing says which image Metal3MachineTemplate `cp` boots
  edge.yaml:3:18 `cp`
  help: write `# metalmark: image=KEY` above it, or `# metalmark: ignore`
error[image-unstamped]: the marker is not understood: a marker knows no `imgae=noble-34`
  edge.yaml:6:1 `# metalmark: imgae=noble-34` this marker
  help: write `# metalmark: image=KEY`, `# metalmark: selector={os: ubuntu}` or `# metalmark: ignore`
1 error, 1 warning

"#]]);
    project.write(
        "edge.yaml",
        template("# metalmark: image=noble-34", "cp")
            + "---\n"
            + &template("# metalmark: ignore", "workers"),
    );
    passes("image-unstamped", &project, "stamp --check");
}

#[test]
fn reference_dangling() {
    let project = project().settings(RECORDS).file(
        "edge.yaml",
        template("# metalmark: image=noble-34", "edge-cp") + PLANE,
    );
    fails("reference-dangling", &project, "stamp --check").brief(str![[r#"
error[reference-dangling]: KubeadmControlPlane `edge` refers to Metal3MachineTemplate `edge-pc`, which is not there
  edge.yaml:13:60 `edge-pc`
  cluster: edge, pool control-plane
  help: write `name: edge-cp`
1 error in 1 cluster

"#]]);
    project.edit("edge.yaml", "edge-pc", "edge-cp");
    passes("reference-dangling", &project, "stamp --check");
}

/// What one overlay calls it would be wrong in the others.
#[test]
fn a_reference_that_a_prefix_breaks_is_not_renamed_in_the_base() {
    let overlay =
        |name: &str| format!("namePrefix: {name}-\nnamespace: {name}\nresources: [../base]\n");
    let project = project()
        .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
        .file("base/edge.yaml", template("#", "edge-pc") + PLANE)
        .file("dev/kustomization.yaml", overlay("dev"))
        .file("prod/kustomization.yaml", overlay("prod"));
    fails("reference-dangling", &project, "check").brief(str![[r#"
error[reference-dangling]: KubeadmControlPlane `dev-edge` refers to Metal3MachineTemplate `edge-pc`, which is not there
  base/edge.yaml:13:60 `edge-pc`
  cluster: dev-edge, pool control-plane
  help: `namePrefix` or `nameSuffix` makes `dev-edge-pc` of it and leaves this reference: list its field under `nameReference`, in a file of `configurations`
error[reference-dangling]: KubeadmControlPlane `prod-edge` refers to Metal3MachineTemplate `edge-pc`, which is not there
  base/edge.yaml:13:60 `edge-pc`
  cluster: prod-edge, pool control-plane
  help: `namePrefix` or `nameSuffix` makes `prod-edge-pc` of it and leaves this reference: list its field under `nameReference`, in a file of `configurations`
2 errors in 2 clusters; 0 node pools checked; 2 skipped: its machine template is not among the manifests

"#]]);
}

#[test]
fn template_edited_in_place() {
    let project = project()
        .settings(RECORDS)
        .file("edge.yaml", template("# metalmark: image=noble-34", "cp"));
    project.edit("edge.yaml", "/noble-34.raw", "/noble-33.raw");
    fails("template-edited-in-place", &project, "stamp --check").brief(str![[r#"
--- a/edge.yaml
+++ b/edge.yaml
@@ -2,4 +2,4 @@
 apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
 kind: Metal3MachineTemplate
 metadata: {name: cp}
-spec: {template: {spec: {image: {url: https://images.example/noble-33.raw, checksum: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: https://images.example/noble-34.raw, checksum: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, checksumType: sha256, format: raw}}}}
1 file of manifests, 1 to stamp
warning[template-edited-in-place]: Metal3MachineTemplate `cp` gets another image, and no machine that runs is replaced
  edge.yaml:4:18 `cp`
  edge.yaml:5:39 `https://images.example/noble-33.raw` `spec.template.spec.image.url` changes
  help: run `metalmark stamp --rotate`: a new name, and every reference moved to it
1 warning

"#]]);
    project.edit("edge.yaml", "/noble-33.raw", "/noble-34.raw");
    passes("template-edited-in-place", &project, "stamp --check");
}

#[test]
fn k8s_version_suspected() {
    let text = cluster("v1.31.8", "{filter: {name: golden-v1.30.2}}");
    let project = manifest(text);
    warns("k8s-version-suspected", &project, "check").brief(str![[r#"
warning[k8s-version-suspected]: `golden-v1.30.2` seems to name Kubernetes `1.30.2`, not `v1.31.8`
  edge.yaml:29:49 `golden-v1.30.2` this text of its machine template
  edge.yaml:12:12 `v1.31.8` this version is required
  cluster: edge, pool control-plane
  also in pools: edge-md
  help: if machines boot it, name an image with `v1.31.8` in a machine template of a new name
  help: if such names mean something else, describe the image under `images.records`, or the names under `names`
1 warning in 1 cluster; 2 node pools checked: 2 unproven

"#]]);
    project.edit("edge.yaml", "golden-v1.30.2", "golden-v1.31.8");
    passes("k8s-version-suspected", &project, "check");
}
