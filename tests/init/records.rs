//! The images that machine templates name already, as `init` describes them.

use std::fs;
use std::path::Path;

use super::init;
use crate::support::Metalmark;

/// A machine template with this spec.
fn template(kind: &str, version: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: infrastructure.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec: {spec}\n---\n"
    )
}

/// `init` there, and that the first `stamp` changes nothing. The project file.
fn described(files: &[(&str, &str)]) -> (String, String) {
    let scratch = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    let outcome = init(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let stamp = Metalmark::within(scratch.path())
        .args(["stamp", "--check"])
        .run();
    assert_eq!(stamp.status, 0, "{}{}", stamp.stdout, stamp.stderr);
    let stamp = Metalmark::within(scratch.path()).args(["stamp"]).run();
    assert_eq!(stamp.status, 0, "{}{}", stamp.stdout, stamp.stderr);
    for (path, text) in files {
        assert_eq!(
            fs::read_to_string(scratch.path().join(path)).expect("read"),
            *text
        );
    }
    let text = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("written");
    (outcome.stdout, text)
}

#[test]
fn images_of_each_provider_become_records_that_change_nothing() {
    let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let metal3 = format!(
        "{{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, format: raw}}}}"
    );
    let v1beta2 = format!(
        "{{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, diskFormat: raw}}}}"
    );
    for (kind, version, spec, location) in [
        (
            "AWSMachineTemplate",
            "v1beta2",
            "{imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1}",
            "ami: {name: ",
        ),
        (
            "AzureMachineTemplate",
            "v1beta1",
            "{image: {id: /subscriptions/s/images/i}}",
            "azure: {id: ",
        ),
        (
            "AzureMachineTemplate",
            "v1beta1",
            "{image: {computeGallery: {gallery: g, name: capi-ubuntu, version: 1.34.1}}}",
            "gallery: g",
        ),
        (
            "DockerMachineTemplate",
            "v1beta1",
            "{customImage: 'kindest/node:v1.30.2'}",
            "docker: {image: ",
        ),
        (
            "HCloudMachineTemplate",
            "v1beta1",
            "{imageName: ubuntu-24.04}",
            "hcloud: {image: ubuntu-24.04}",
        ),
        ("Metal3MachineTemplate", "v1beta1", &*metal3, digest),
        ("Metal3MachineTemplate", "v1beta2", &*v1beta2, digest),
        (
            "OpenStackMachineTemplate",
            "v1beta1",
            "{image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}",
            "glance: {name: ",
        ),
        (
            "OpenStackMachineTemplate",
            "v1beta1",
            "{image: {id: 8f1b2c3d-0000-4000-8000-000000000001}}",
            "glance: {id: ",
        ),
        (
            "VSphereMachineTemplate",
            "v1beta1",
            "{template: /dc/vm/ubuntu-2204-kube-v1.31.8}",
            "vsphere: {template: ",
        ),
    ] {
        let manifest = template(kind, version, "edge", spec);
        let (screen, text) = described(&[("edge.yaml", &manifest)]);
        assert!(screen.contains("wrote 1 image that "), "{kind}: {screen}");
        assert!(text.contains(location), "{text}");
        assert!(text.contains(&format!("kind: {kind}, image: ")), "{text}");
    }
}

#[test]
fn what_a_record_cannot_say_is_left_out() {
    let openstack = |name: &str, image: &str| {
        let spec = format!("{{image: {{filter: {{name: '{image}'}}}}}}");
        template("OpenStackMachineTemplate", "v1beta1", name, &spec)
    };
    let own = openstack("edge-md", "ubuntu-2204-kube-v1.31.8");
    let variable = openstack("edge-cp", "${IMAGE}");
    let [one, other] = ["v1.30.2", "v1.29.1"]
        .map(|version| openstack("twice", &format!("ubuntu-2204-kube-{version}")));
    let files = [
        ("clusters/edge.yaml", &*own),
        ("clusters/cp.yaml", &*variable),
        ("clusters/a/t.yaml", &*one),
        ("clusters/b/t.yaml", &*other),
    ];
    let (screen, text) = described(&files);
    assert!(screen.contains("wrote 1 image that "), "{screen}");
    assert!(screen.contains("left out 3 machine templates"), "{screen}");
    let stamps = "stamps:\n  - {kind: OpenStackMachineTemplate, name: edge-md, image: ubuntu-2204-kube-v1-31-8}\n";
    assert!(text.contains(stamps), "{text}");
}

#[test]
fn what_check_finds_it_still_finds_with_the_records() {
    let wrong = crate::support::manifests::cluster("v1.30.2", crate::support::manifests::GOOD);
    let right =
        crate::support::manifests::cluster("v1.32.4", "{filter: {name: ubuntu-2204-kube-v1.32.4}}")
            .replace("edge", "west");
    let files = [("edge.yaml", &*wrong), ("west.yaml", &*right)];
    let check = |folder: &Path| Metalmark::within(folder).args(["check"]).run();
    let scratch = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        fs::write(scratch.path().join(path), text).expect("written");
    }
    let before = check(scratch.path()).stdout;
    assert!(before.contains("2 mismatched"), "{before}");
    // The image that does not match gets no record, and is no reason to leave out the others: `stamp` runs.
    let (screen, text) = described(&files);
    assert!(screen.contains("wrote 1 image that "), "{screen}");
    assert!(
        text.contains("name: west, image: ubuntu-2204-kube-v1-32-4"),
        "{text}"
    );
    fs::write(scratch.path().join("metalmark.yaml"), text).expect("written");
    let after = check(scratch.path()).stdout;
    assert!(after.contains("2 mismatched"), "{after}");
}

#[test]
fn a_template_that_a_class_may_give_another_image_is_not_compared_with_a_version() {
    let patch = |path: &str| {
        format!(
            "apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {{name: quick}}
spec:
  controlPlane:
    machineInfrastructure: {{ref: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}}}}
  patches:
  - name: image
    definitions:
    - selector: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, matchResources: {{controlPlane: true}}}}
      jsonPatches:
      - {{op: add, path: {path}, valueFrom: {{variable: image}}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: edge}}
spec: {{topology: {{class: quick, version: v1.35.2}}}}
---
"
        )
    };
    let template = template(
        "OpenStackMachineTemplate",
        "v1beta1",
        "edge",
        "{image: {filter: {name: ubuntu-2204-kube-v1.31.1}}}",
    );
    let project = "\
version: 1
manifests: [edge.yaml]
images: {records: {noble: {locations: {glance: {name: ubuntu-2204-kube-v1.31.1}}}}}
stamps: [{kind: OpenStackMachineTemplate, image: noble}]
";
    for (path, status) in [
        ("/spec/template/spec/image/filter/name", 0),
        ("/spec/template/spec/flavor", 1),
    ] {
        let scratch = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            fs::write(scratch.path().join(path), text).expect("written");
        };
        write("edge.yaml", &(patch(path) + &template));
        write("metalmark.yaml", project);
        let outcome = Metalmark::within(scratch.path());
        let outcome = outcome.args(["stamp", "--check"]).run();
        let screen = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.status, status, "{path}: {screen}");
        let is_reported = screen.contains("k8s-version-mismatch");
        assert_eq!(is_reported, status == 1, "{screen}");
    }
}
