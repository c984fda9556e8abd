//! The images that machine templates name already, as `init` describes them.

use snapbox::str;

use super::init;
use crate::support::manifests::cluster;
use crate::support::stage::{Is, Stage, project, table};

/// A machine template with this spec.
fn template(kind: &str, version: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: infrastructure.cluster.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec: {spec}\n---\n"
    )
}

/// Makes the project file there, and runs the first `stamp`, which changes nothing. What `init` says.
fn describe(stage: &Stage) -> String {
    let before = stage
        .list("")
        .into_iter()
        .map(|path| (stage.read(&path), path));
    let before: Vec<(String, String)> = before.collect();
    let said = init(stage, "");
    stage.run("stamp --check").exit(0);
    stage.run("stamp").exit(0);
    for (text, path) in before {
        assert_eq!(stage.read(&path), text, "{path}");
    }
    said
}

/// The images and the stamps of the project file.
fn records(stage: &Stage) -> Vec<String> {
    let text = stage.read("metalmark.yaml");
    let (_, records) = text.split_once("records:\n").expect("records");
    let lines = records.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn images_of_each_provider_become_records_that_change_nothing() {
    let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let metal3 = format!(
        "Metal3MachineTemplate v1beta1 {{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, format: raw}}}}"
    );
    let v1beta2 = format!(
        "Metal3MachineTemplate v1beta2 {{image: {{url: https://images.example.org/noble-1.raw, checksum: {digest}, checksumType: sha256, diskFormat: raw}}}}"
    );
    let templates = [
        "AWSMachineTemplate v1beta2 {imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1}",
        "AzureMachineTemplate v1beta1 {image: {id: /subscriptions/s/images/i}}",
        "AzureMachineTemplate v1beta1 {image: {computeGallery: {gallery: g, name: capi-ubuntu, version: 1.34.1}}}",
        "DockerMachineTemplate v1beta1 {customImage: 'kindest/node:v1.30.2'}",
        "HCloudMachineTemplate v1beta1 {imageName: ubuntu-24.04}",
        &metal3,
        &v1beta2,
        "OpenStackMachineTemplate v1beta1 {image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}",
        "OpenStackMachineTemplate v1beta1 {image: {id: 8f1b2c3d-0000-4000-8000-000000000001}}",
        "VSphereMachineTemplate v1beta1 {template: /dc/vm/ubuntu-2204-kube-v1.31.8}",
    ];
    let records = table(templates, |words| {
        let mut words = words.splitn(3, ' ');
        let mut word = || words.next().expect("KIND VERSION SPEC");
        let manifest = template(word(), word(), "edge", word());
        let stage = project().file("edge.yaml", manifest);
        let said = describe(&stage);
        assert!(said.contains("described 1 image under"), "{said}");
        records(&stage)
    });
    records.is(str![[r#"
AWSMachineTemplate v1beta2 {imageLookupFormat: capa-ami-ubuntu-22.04-v1.30.2-1}
    capa-ami-ubuntu-22-04-v1-30-2-1:
    locations: {ami: {name: capa-ami-ubuntu-22.04-v1.30.2-1}}
    stamps:
    - {kind: AWSMachineTemplate, image: capa-ami-ubuntu-22-04-v1-30-2-1}
AzureMachineTemplate v1beta1 {image: {id: /subscriptions/s/images/i}}
    i:
    locations: {azure: {id: '/subscriptions/s/images/i'}}
    stamps:
    - {kind: AzureMachineTemplate, image: i}
AzureMachineTemplate v1beta1 {image: {computeGallery: {gallery: g, name: capi-ubuntu, version: 1.34.1}}}
    g:
    locations: {azure: {definition: capi-ubuntu, gallery: g, version: '1.34.1'}}
    stamps:
    - {kind: AzureMachineTemplate, image: g}
DockerMachineTemplate v1beta1 {customImage: 'kindest/node:v1.30.2'}
    node:
    locations: {docker: {image: 'kindest/node:v1.30.2'}}
    stamps:
    - {kind: DockerMachineTemplate, image: node}
HCloudMachineTemplate v1beta1 {imageName: ubuntu-24.04}
    ubuntu-24-04:
    locations: {hcloud: {image: ubuntu-24.04}}
    stamps:
    - {kind: HCloudMachineTemplate, image: ubuntu-24-04}
Metal3MachineTemplate v1beta1 {image: {url: https://images.example.org/noble-1.raw, checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef, checksumType: sha256, format: raw}}
    noble-1-raw:
    digests: {uncompressed: {sha256: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}
    format: raw
    locations: {https: 'https://images.example.org/noble-1.raw'}
    stamps:
    - {kind: Metal3MachineTemplate, image: noble-1-raw}
Metal3MachineTemplate v1beta2 {image: {url: https://images.example.org/noble-1.raw, checksum: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef, checksumType: sha256, diskFormat: raw}}
    noble-1-raw:
    digests: {uncompressed: {sha256: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}
    format: raw
    locations: {https: 'https://images.example.org/noble-1.raw'}
    stamps:
    - {kind: Metal3MachineTemplate, image: noble-1-raw}
OpenStackMachineTemplate v1beta1 {image: {filter: {name: ubuntu-2204-kube-v1.31.8}}}
    ubuntu-2204-kube-v1-31-8:
    locations: {glance: {name: ubuntu-2204-kube-v1.31.8}}
    stamps:
    - {kind: OpenStackMachineTemplate, image: ubuntu-2204-kube-v1-31-8}
OpenStackMachineTemplate v1beta1 {image: {id: 8f1b2c3d-0000-4000-8000-000000000001}}
    '8f1b2c3d-0000-4000-8000-000000000001':
    locations: {glance: {id: '8f1b2c3d-0000-4000-8000-000000000001'}}
    stamps:
    - {kind: OpenStackMachineTemplate, image: '8f1b2c3d-0000-4000-8000-000000000001'}
VSphereMachineTemplate v1beta1 {template: /dc/vm/ubuntu-2204-kube-v1.31.8}
    ubuntu-2204-kube-v1-31-8:
    locations: {vsphere: {template: '/dc/vm/ubuntu-2204-kube-v1.31.8'}}
    stamps:
    - {kind: VSphereMachineTemplate, image: ubuntu-2204-kube-v1-31-8}

"#]]);
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
    let stage = project().files(&[
        ("clusters/edge.yaml", &own),
        ("clusters/cp.yaml", &variable),
        ("clusters/a/t.yaml", &one),
        ("clusters/b/t.yaml", &other),
    ]);
    describe(&stage).is(str![[r#"
wrote metalmark.yaml
found 0 clusters with 0 node pools: Cluster API manifests
described 1 image under `images.records`; `stamps` says who boots which
left out 1 machine template whose image is a variable: clusters/cp.yaml:6:35
left out 2 machine templates whose name has several images, such as at clusters/a/t.yaml:3:18
1 error
1 error must be fixed first: nothing-checked 1
  such as: clusters/a/t.yaml:3:18: OpenStackMachineTemplate `twice` is not used by a node pool yet: nothing makes machines from it
next: describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`

"#]]);
    records(&stage).join("\n").is(str![[r#"
ubuntu-2204-kube-v1-31-8:
locations: {glance: {name: ubuntu-2204-kube-v1.31.8}}
stamps:
- {kind: OpenStackMachineTemplate, name: edge-md, image: ubuntu-2204-kube-v1-31-8}
"#]]);
}

#[test]
fn what_check_finds_it_still_finds_with_the_records() {
    let wrong = crate::support::manifests::cluster("v1.30.2", crate::support::manifests::GOOD);
    let right =
        crate::support::manifests::cluster("v1.32.4", "{filter: {name: ubuntu-2204-kube-v1.32.4}}");
    let stage = project()
        .file("edge.yaml", wrong)
        .file("west.yaml", right.replace("edge", "west"));
    stage.check().pools(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
west/control-plane v1.32.4 (west.yaml:12:12), west/west-md v1.32.4 (west.yaml:23:16): by_name, ubuntu-2204-kube-v1.32.4 (west.yaml:29:49) holds 1.32.4

"#]]);
    // The image that does not match gets no record, and is no reason to leave out the others: `stamp` runs.
    describe(&stage);
    records(&stage).join("\n").is(str![[r#"
ubuntu-2204-kube-v1-32-4:
locations: {glance: {name: ubuntu-2204-kube-v1.32.4}}
stamps:
- {kind: OpenStackMachineTemplate, name: west, image: ubuntu-2204-kube-v1-32-4}
"#]]);
    stage.check().pools(str![[r#"
edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
west/control-plane v1.32.4 (west.yaml:12:12), west/west-md v1.32.4 (west.yaml:23:16): by_name, ubuntu-2204-kube-v1-32-4 (west.yaml:29:49) holds 1.32.4 (metalmark.yaml:9:34)

"#]]);
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
      - {{op: add, path: {path}, value: ubuntu}}
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
    let project_file = "\
version: 1
manifests: [edge.yaml]
images: {records: {noble: {locations: {glance: {name: ubuntu-2204-kube-v1.31.1}}}}}
stamps: [{kind: OpenStackMachineTemplate, image: noble}]
";
    for (path, status) in [
        ("/spec/template/spec/image/filter/name", 0),
        ("/spec/template/spec/flavor", 1),
    ] {
        let stage = project()
            .file("edge.yaml", patch(path) + &template)
            .file("metalmark.yaml", project_file);
        let outcome = stage.run("stamp --check").exit(status).outcome;
        let screen = outcome.stdout + &outcome.stderr;
        assert_eq!(
            screen.contains("k8s-version-mismatch"),
            status == 1,
            "{screen}"
        );
    }
}

/// Not at the record's first line, which says nothing of it.
#[test]
fn a_version_that_the_name_of_a_record_s_image_says_is_at_that_name() {
    let stage = project().file(
        "edge.yaml",
        cluster("v1.31.8", "{filter: {name: ubuntu-2204-kube-v1.31.8}}"),
    );
    init(&stage, "");
    stage.edit(
        "metalmark.yaml",
        "locations:",
        "format: qcow2\n      locations:",
    );
    let image = "{filter: {name: ubuntu-2204-kube-v1.31.8}}";
    stage.write("edge.yaml", cluster("v1.30.2", image));
    stage.check().is(str![[r#"
error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` edge.yaml:12:12 `v1.30.2` metalmark.yaml:10:34 `ubuntu-2204-kube-v1.31.8` => v1.30.2
edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1-31-8 (edge.yaml:29:49) holds 1.31.8 (metalmark.yaml:10:34)

"#]]);
}

/// A machine compares the compressed file that it fetches.
#[test]
fn an_image_that_is_served_compressed_is_described_with_the_digest_of_that_file() {
    let digest = "0123456789abcdef".repeat(4);
    let spec = |checksum: &str| {
        format!(
            "{{image: {{url: https://images.example.org/noble.raw.xz, checksum: {checksum}, checksumType: sha256, format: raw}}}}"
        )
    };
    let made = |checksum| template("Metal3MachineTemplate", "v1beta1", "edge", &spec(checksum));
    let stage = project().file("edge.yaml", made(&digest));
    describe(&stage).is(str![[r#"
wrote metalmark.yaml
found 0 clusters with 0 node pools: Cluster API manifests
described 1 image under `images.records`; `stamps` says who boots which
1 error
1 error must be fixed first: nothing-checked 1
  such as: edge.yaml:3:18: Metal3MachineTemplate `edge` is not used by a node pool yet: nothing makes machines from it
next: describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`

"#]]);
    records(&stage).join("\n").is(str![[r#"
noble-raw-xz:
digests: {as-served: {sha256: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'}}
format: raw
locations: {https: 'https://images.example.org/noble.raw.xz'}
stamps:
- {kind: Metal3MachineTemplate, image: noble-raw-xz}
"#]]);
    // What is left out is said also where nothing is described.
    let stage = project().file("edge.yaml", made("tbd"));
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 0 clusters with 0 node pools: Cluster API manifests
left out 1 machine template whose checksum is to be filled in: edge.yaml:6:76
1 error
1 error must be fixed first: nothing-checked 1
  such as: edge.yaml:3:18: Metal3MachineTemplate `edge` is not used by a node pool yet: nothing makes machines from it
next: describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`

"#]]);
}

/// The placeholder that a class patches is no image.
#[test]
fn a_placeholder_is_not_described() {
    let stage = project().file(
        "clusters/class.yaml",
        template(
            "AWSMachineTemplate",
            "v1beta2",
            "cp",
            "{imageLookupFormat: REPLACE_ME}",
        ),
    );
    init(&stage, "").is(str![[r#"
wrote metalmark.yaml
found 0 clusters with 0 node pools: Cluster API manifests
left out 1 machine template whose image is a placeholder: clusters/class.yaml:6:31
1 error
1 error must be fixed first: nothing-checked 1
  such as: clusters/class.yaml:3:18: AWSMachineTemplate `cp` is not used by a node pool yet: nothing makes machines from it
next: describe the images under `images.records`, and who boots them under `stamps`; then `metalmark stamp --check`

"#]]);
    assert!(!stage.read("metalmark.yaml").contains("REPLACE"));
}
