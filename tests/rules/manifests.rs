//! Rules over plain Cluster API manifests: a control plane and a worker whose images, versions and references vary.

use serde_json::Value;

use super::super::support::Metalmark;

/// A cluster with one worker, and the images that a file describes; the one in the fixture's row has no fact but its name.
struct Row<'a> {
    /// The kind that the Cluster's `controlPlaneRef` names, which is the kind of the control plane.
    plane: &'a str,
    plane_version: &'a str,
    worker_version: &'a str,
    image: &'a str,
}

const ROW: Row<'static> = Row {
    plane: "KubeadmControlPlane",
    plane_version: "v1.31.8",
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
      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: worker}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {{name: worker}}
spec: {{template: {{spec: {{}}}}}}
"
        )
    }

    /// What `stamp` finds, as level and rule.
    fn found(&self) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for (name, text) in [
            ("metalmark.yaml", PROJECT),
            ("facts.yaml", FACTS),
            ("edge.yaml", &self.manifests()),
        ] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let outcome = Metalmark::within(folder.path())
            .args(["stamp", "--check", "--output", "json"])
            .run();
        // What is found is printed beside the changes, and not at all where there is nothing.
        if outcome.stderr.is_empty() {
            return Vec::new();
        }
        let printed: Value = serde_json::from_str(&outcome.stderr)
            .unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr));
        let text = |finding: &Value, name: &str| finding[name].as_str().expect("a text").to_owned();
        let findings = printed["findings"].as_array().expect("a list").iter();
        findings
            .map(|finding| format!("{} {}", text(finding, "level"), text(finding, "rule")))
            .collect()
    }
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
}

/// The skew is that of a worker and the control plane that its Cluster refers to, whatever provider makes it; what else the
/// Cluster refers to is no control plane.
#[test]
fn workers_are_beside_their_control_plane_in_version() {
    for (plane, plane_version, expected) in [
        ("KubeadmControlPlane", "v1.31.1", None),
        ("KubeadmControlPlane", "v1.30.1", Some("error version-skew")),
        ("KubeadmControlPlane", "v1.32.1", Some("error version-skew")),
        ("RKE2ControlPlane", "v1.32.1", None),
        ("RKE2ControlPlane", "v1.34.1", None),
        ("RKE2ControlPlane", "v1.35.1", Some("error version-skew")),
        ("KThreesControlPlane", "v1.30.1", Some("error version-skew")),
        ("HostedPlane", "v1.30.1", None),
    ] {
        let row = Row {
            plane,
            plane_version,
            ..ROW
        };
        let found = row.found();
        let skew = found.iter().find(|line| line.ends_with(" version-skew"));
        assert_eq!(
            skew.map(|line| &**line),
            expected,
            "{plane} {plane_version}: {found:?}"
        );
    }
}
