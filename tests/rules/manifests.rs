//! Rules over plain Cluster API manifests: a control plane and a worker whose images, versions and references vary.

use serde_json::Value;

use super::super::support::Metalmark;

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

const PROJECT: &str = "\
version: 1
manifests: [edge.yaml]
images: {facts: [facts.yaml], url: 'https://images.example.org/{{ image.key }}.raw'}
";

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
    let folder = tempfile::tempdir().expect("a scratch folder");
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let project = PROJECT.replace("edge.yaml", &names.join(", "));
    for (name, text) in [("metalmark.yaml", &*project), ("facts.yaml", FACTS)]
        .iter()
        .chain(files)
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, text).expect("written");
    }
    let outcome = Metalmark::within(folder.path())
        .args(["stamp", "--check", "--output", "json"])
        .run();
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
    for (api, kind, mark, expected) in [
        (
            "v1alpha7",
            "OpenStackMachineTemplate",
            "",
            &["warning image-unstamped"][..],
        ),
        (
            "v1alpha5",
            "Metal3MachineTemplate",
            "",
            &["warning image-unstamped"],
        ),
        (
            "v1alpha3",
            "AWSMachineTemplate",
            "",
            &["warning image-unstamped"],
        ),
        (
            "v1alpha3",
            "AWSMachineTemplate",
            "# metalmark: ignore\n",
            &[],
        ),
        (
            "v1alpha3",
            "AWSMachineTemplate",
            "# metalmark: image=noble-31\n",
            &["error image-unstamped"],
        ),
        ("v1alpha3", "OtherMachineTemplate", "", &[]),
        (
            "v1beta1",
            "Metal3MachineTemplate",
            "",
            &["warning image-unstamped"],
        ),
        (
            "v1beta2",
            "AWSMachinePool",
            "",
            &["warning image-unstamped"],
        ),
        (
            "v1beta1",
            "Metal3MachineTemplate",
            "# metalmark: ignore\n",
            &[],
        ),
        // A machine is made from its template.
        ("v1beta1", "Metal3Machine", "", &[]),
    ] {
        let text = template(api, kind, mark);
        assert_eq!(found(&[("a.yaml", &text)]), expected, "{text}");
    }
    // A template that is kept for a way back boots what it booted.
    let kept = template("v1beta1", "Metal3MachineTemplate", "").replace(
        "{name: a}",
        "{name: a, annotations: {metalmark.dev/kept: a}}",
    );
    assert_eq!(found(&[("a.yaml", &kept)]), [""; 0]);
}

#[test]
fn an_image_holds_the_version_that_its_machines_run() {
    for (image, version, expected) in [
        ("noble-31", "v1.31.8", None),
        ("noble-30", "v1.31.8", Some("error k8s-version-mismatch")),
        ("noble-31", "v1.31.9", Some("error k8s-version-mismatch")),
        ("minor", "v1.31.8", Some("error k8s-version-unproven")),
        ("blank", "v1.31.8", Some("error k8s-version-unproven")),
        // A name never proves a version, and refutes one as well as anything.
        (
            "ubuntu-noble-plain-kubeadm-1-31-8",
            "v1.31.8",
            Some("warning k8s-version-unproven"),
        ),
        (
            "ubuntu-noble-plain-kubeadm-1-30-12",
            "v1.31.8",
            Some("error k8s-version-mismatch"),
        ),
    ] {
        let row = Row {
            image,
            worker_version: version,
            plane_version: version,
            ..ROW
        };
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(row.found(), expected, "{image} {version}");
    }
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
    for (plane, bootstrap, plane_version, is_found) in [
        ("KubeadmControlPlane", "Kubeadm", "v1.31.1", false),
        ("KubeadmControlPlane", "Kubeadm", "v1.30.1", true),
        ("KubeadmControlPlane", "Kubeadm", "v1.32.1", true),
        ("RKE2ControlPlane", "RKE2", "v1.32.1", false),
        ("RKE2ControlPlane", "RKE2", "v1.34.1", false),
        ("RKE2ControlPlane", "RKE2", "v1.35.1", true),
        ("RKE2ControlPlane", "Kubeadm", "v1.32.1", true),
        ("KThreesControlPlane", "KThrees", "v1.30.1", true),
        ("HostedPlane", "Kubeadm", "v1.30.1", false),
    ] {
        let row = Row {
            plane,
            bootstrap,
            plane_version,
            ..ROW
        };
        let expected = is_found.then_some("error version-skew");
        let found = row.found();
        let skew = found.iter().find(|line| line.ends_with(" version-skew"));
        assert_eq!(
            skew.map(|line| &**line),
            expected,
            "{plane} {plane_version}: {found:?}"
        );
    }
}
