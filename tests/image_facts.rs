//! The vocabularies of catalogs, and the forms that image facts come in: as `images` lists them, `explain` shows them with their
//! places, and `check` reports what is wrong in them.

use std::fmt;

use snapbox::str;

use super::support::stage::{Is, Stage, project, table};

const CLUSTER: &str = "cluster: {k8s_version: v1.31.8, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}}\n";

/// A cluster of these values.
fn edge(values: &str) -> Stage {
    project().cluster("edge", &format!("{values}{CLUSTER}"))
}

#[test]
fn both_vocabularies_make_one_catalog() {
    let edge = edge(
        "\
sylva_diskimagebuilder_version: 0.4.12
sylva_diskimagebuilder_images:
  '{{ printf \"b-%s\" .Values.suffix }}': {os_images_oci_registry: sylva}
  a-1: {enabled: true, default_enabled: false}
diskimage_builder_os_images:
  ubuntu-jammy-1.26.9: {default_enabled: '{{ eq 1 2 }}'}
  bare: null
os_images:
  own: {uri: 'http://h/{{ .Values.suffix }}', size: 5, persistence: {size: 3Gi}, hardened: true}
  named: {uri: 'oci://r.org/os/ubuntu-jammy-plain-rke2-1.26.9:0.0.12'}
os_images_oci_registries:
  sylva:
    url: oci://h/
    tag: '{{ .Values.sylva_diskimagebuilder_version }}'
    cosign_publickey: '{{ fail \"not needed\" }}'
  unused: {url: oci://h, tag: x, enabled: '{{ \"\" }}'}
suffix: two
",
    );
    edge.run("images").exit(0).screen(str![[r#"
IMAGE                OS      RELEASE  HARDENED  FLAVOR  KUBERNETES  FORMAT  SERVED  FITS  USED BY  REFERENCE
a-1                  –       –        –         –       –           –       yes     –     –        oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/a-1:0.4.12
b-two                –       –        –         –       –           –       no      –     –        oci://h/b-two:0.4.12
bare                 –       –        –         –       –           –       no      –     –        oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/bare:0.4.12
named                ubuntu  jammy    false     rke2    1.26.9      –       yes     –     –        oci://r.org/os/ubuntu-jammy-plain-rke2-1.26.9:0.0.12
own                  –       –        true      –       –           –       yes     –     –        http://h/two
ubuntu-jammy-1-26-9  –       –        –         –       –           –       no      –     –        oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/ubuntu-jammy-1.26.9:0.4.12

"#]]);
}

#[test]
fn the_proposals_catalog_needs_no_registry() {
    let catalog = "\
diskimage_builder_version: 0.1.1
diskimage_builder_os_images:
  ubuntu-jammy-plain-rke2-1.26.9: {}
  opensuse-15.5-plain-rke2-v1.26.9+rke2r1: {}
";
    let references = table(
        ["", "sylva_base_oci_registry: oci://r.org/mirror/\n"],
        |base| {
            let screen = edge(&format!("{base}{catalog}"))
                .run("images")
                .exit(0)
                .outcome;
            screen.stdout.lines().map(str::to_owned).collect()
        },
    );
    references.is(str![[r#"

    IMAGE                                    OS      RELEASE  HARDENED  FLAVOR  KUBERNETES  FORMAT  SERVED  FITS  USED BY  REFERENCE
    opensuse-15.5-plain-rke2-v1.26.9+rke2r1  –       –        –         –       –           –       no      –     –        oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/opensuse-15.5-plain-rke2-v1.26.9+rke2r1:0.1.1
    ubuntu-jammy-plain-rke2-1-26-9           ubuntu  jammy    false     rke2    1.26.9      –       no      –     –        oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/ubuntu-jammy-plain-rke2-1.26.9:0.1.1
sylva_base_oci_registry: oci://r.org/mirror/

    IMAGE                                    OS      RELEASE  HARDENED  FLAVOR  KUBERNETES  FORMAT  SERVED  FITS  USED BY  REFERENCE
    opensuse-15.5-plain-rke2-v1.26.9+rke2r1  –       –        –         –       –           –       no      –     –        oci://r.org/mirror/sylva-elements/diskimage-builder/opensuse-15.5-plain-rke2-v1.26.9+rke2r1:0.1.1
    ubuntu-jammy-plain-rke2-1-26-9           ubuntu  jammy    false     rke2    1.26.9      –       no      –     –        oci://r.org/mirror/sylva-elements/diskimage-builder/ubuntu-jammy-plain-rke2-1.26.9:0.1.1

"#]]);
    let without = catalog.replace("diskimage_builder_version: 0.1.1\n", "");
    edge(&without).check().findings(str![[r#"
error[registry-unknown] edge.yaml:2:3 `ubuntu-jammy-plain-rke2-1.26.9`
error[image-name-invalid] edge edge.yaml:3:3 `opensuse-15.5-plain-rke2-v1.26.9+rke2r1`
error[registry-unknown] edge.yaml:3:3 `opensuse-15.5-plain-rke2-v1.26.9+rke2r1`
error[image-not-chosen] edge edge.yaml:4:66 `capm3` => cluster.capm3.image_key: …

"#]]);
}

#[test]
fn two_images_under_one_key_are_reported_by_where_they_are() {
    let built = "sylva_diskimagebuilder_version: 1\nsylva_diskimagebuilder_images: {a-1.2: {}";
    let both = [
        format!("{built}, a-1-2: {{}}}}\n"),
        format!("os_images: {{a-1-2: {{uri: 'oci://r.org/mine:1'}}}}\n{built}}}\n"),
    ];
    let reported = table(both, |values| {
        let screen = edge(values).run("check").exit(1).outcome.stdout;
        let lines = screen.lines().map(str::to_owned);
        lines
            .filter(|line| line.contains("image-name-collision"))
            .collect()
    });
    reported.is(str![[r#"
sylva_diskimagebuilder_version: 1
sylva_diskimagebuilder_images: {a-1.2: {}, a-1-2: {}}

    error[image-name-collision]: the images `a-1.2` and `a-1-2` have the same key, `a-1-2`
os_images: {a-1-2: {uri: 'oci://r.org/mine:1'}}
sylva_diskimagebuilder_version: 1
sylva_diskimagebuilder_images: {a-1.2: {}}

    error[image-name-collision]: `os_images` and the builder's list both have the image `a-1-2`

"#]]);
}

#[test]
fn the_old_switches_serve_what_either_turns_on_and_a_default_only_beside_no_image_of_ones_own() {
    let switches = "\
sylva_diskimagebuilder_version: 1
sylva_diskimagebuilder_images:
  both: {enabled: false, default_enabled: true}
  default: {default_enabled: true}
  named: {enabled: true, default_enabled: false}
  neither: {enabled: false}
  unsaid: {}
";
    let served = table(["", "os_images: {own: {uri: 'http://h/f'}}\n"], |own| {
        let run = edge(&format!("{own}{switches}")).run("images --output json");
        let images: serde_json::Value = serde_json::from_str(&run.outcome.stdout).expect("JSON");
        let served = images.as_array().into_iter().flatten();
        let served = served.filter(|image| image["served"] == true);
        served.map(|image| image["key"].to_string()).collect()
    });
    served.is(str![[r#"

    "both"
    "default"
    "named"
os_images: {own: {uri: 'http://h/f'}}

    "named"
    "own"

"#]]);
}

#[test]
fn what_is_wrong_in_one_place_of_the_values_hides_nothing_elsewhere() {
    let values = "\
os_images: [a]
sylva_diskimagebuilder_images: {a: text}
sylva_diskimagebuilder_version: 1.10
os_image_server_additional_selectors: {a: {os: suse}, b: text}
cluster:
  k8s_version: 1.30
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
  control_plane: null
  machine_deployment_default: {capm3: null}
  machine_deployments:
    empty: null
    failing: {capm3: {image_key: '{{ fail \"no key\" }}'}}
    typed: {capm3: {image_key: [a], machine_image_checksum: 123}, replicas: many}
";
    project().cluster("edge", values).check().findings(str![[r#"
error[value-type] edge edge.yaml:1:12 `[a]`
error[image-name-invalid] edge edge.yaml:2:33 `a`
error[value-type] edge edge.yaml:2:36 `text`
error[value-type] edge edge.yaml:3:33 `1.10` => sylva_diskimagebuilder_version: "1.10"
warning[value-surprising] edge edge.yaml:3:33 `1.10` => "1.10" | 1.1
error[value-type] edge edge.yaml:4:58 `text`
error[value-type] edge edge.yaml:6:16 `1.30` => k8s_version: "1.30"
warning[value-surprising] edge edge.yaml:6:16 `1.30` => "1.30" | 1.3
error[value-type] edge/control-plane edge.yaml:8:18 `null` => cluster.control_plane | {}
error[value-type] edge edge.yaml:9:39 `null` => cluster.machine_deployment_default.capm3 | {}
error[value-type] edge/empty edge.yaml:11:5 `empty` => cluster.machine_deployments.empty | {}
error[expression-error] edge/failing edge.yaml:12:38 `fail "no key"`
error[value-type] edge/typed edge.yaml:13:32 `[a]`
error[value-type] edge/typed edge.yaml:13:61 `123` => machine_image_checksum: "123"
error[value-type] edge/typed edge.yaml:13:77 `many`

"#]]);
}

/// What a file says of images.
struct Form(&'static str, String);

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The facts of an image with their places, and what is wrong in the file.
fn read(key: &str, text: &str) -> Vec<String> {
    let edge = edge("")
        .settings("images: {facts: [info.yaml]}")
        .file("info.yaml", text);
    read_in(&edge, key)
}

fn read_in(edge: &Stage, key: &str) -> Vec<String> {
    let explained = edge.run(&format!("explain {key}")).outcome.stdout;
    let facts = explained
        .lines()
        .filter(|line| line.contains("the image info file"));
    let facts = facts.map(|line| line.trim().replace("the image info file, ", ""));
    let findings = edge.check().findings.into_iter();
    let findings =
        findings.filter(|line| line.contains(" info.yaml:") || line.contains(" images/"));
    facts.chain(findings).collect()
}

const CONFIG_MAP: &str = r#"
apiVersion: v1
kind: Service
metadata: {name: other}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: os-images-info
data:
  other.txt: "not: [yaml"
  values.yaml: |
    os_images:
      abc:
        hardened: "false"
        k8s-version: 1.31.8+rke2r1
"#;

#[test]
fn facts_are_read_in_every_form_and_have_the_places_where_the_file_spells_them() {
    let forms = [
        Form("a ConfigMap among other objects", CONFIG_MAP.into()),
        Form("with other line ends", CONFIG_MAP.replace('\n', "\r\n")),
        Form(
            "in a quoted string",
            "kind: ConfigMap\ndata:\n  values.yaml: \"os_images: {abc: {os: ubuntu}}\\n\"\n".into(),
        ),
        Form(
            "in a list of objects",
            "kind: List\nitems:\n- kind: ConfigMap\n  data:\n    values.yaml: \"os_images: {abc: {os: ubuntu}}\"\n".into(),
        ),
        Form("os_images", "os_images:\n  abc: {os: ubuntu}\n".into()),
        Form("osImages", "osImages:\n  abc: {os: ubuntu}\n".into()),
        Form("a bare map of images", "abc: {sha256: \"00\"}\ndef: {}\n".into()),
        Form(
            "the proposal's names",
            format!("os_images_info:\n  abc:\n    checksum: {}\n    checksumType: sha256\n    format: qcow2\n", "5b".repeat(32)),
        ),
        Form(
            "numbers",
            "os_images:\n  abc: {os-release: 15.60, size: 22000000000, hardened: true, sha256: 12e5}\n".into(),
        ),
        Form("a sequence broken inside", CONFIG_MAP.replace("\"false\"", "[")),
        Form("no YAML", "a: b: c\n".into()),
        Form("a list", "os_images: [a]\n".into()),
        Form("an image that is not a map", "os_images:\n  abc: 1\n".into()),
        Form("no images", "a: b\n".into()),
        Form("nothing", String::new()),
        Form("no builds", r#"{"builds": []}"#.into()),
        Form("builds of another shape", r#"{"builds": [1, {"name": 2}, {"custom_data": []}]}"#.into()),
    ];
    table(forms, |form| read("abc", &form.1)).is(str![[r#"
a ConfigMap among other objects
    hardened: false  (info.yaml:15:19)
    k8s-version: 1.31.8+rke2r1  (info.yaml:16:22)
with other line ends
    hardened: false  (info.yaml:15:19)
    k8s-version: 1.31.8+rke2r1  (info.yaml:16:22)
in a quoted string
    os: ubuntu  (info.yaml:3:39)
in a list of objects
    os: ubuntu  (info.yaml:5:41)
os_images
    os: ubuntu  (info.yaml:2:13)
osImages
    os: ubuntu  (info.yaml:2:13)
a bare map of images
    sha256: 00  (info.yaml:1:15)
the proposal's names
    checksum: 5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b  (info.yaml:3:15)
    checksumType: sha256  (info.yaml:4:19)
    format: qcow2  (info.yaml:5:13)
    image-format: qcow2  (info.yaml:5:13)
    sha256: 5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b5b  (info.yaml:3:15)
numbers
    hardened: true  (info.yaml:2:57)
    os-release: 15.60  (info.yaml:2:21)
    sha256: 12e5  (info.yaml:2:71)
    size: 22000000000  (info.yaml:2:34)
a sequence broken inside
    error[yaml-syntax] info.yaml:17:1 ``
no YAML
    error[yaml-syntax] info.yaml:1:5 `:`
a list
    error[value-type] info.yaml:1:12 `[a]`
an image that is not a map
    error[value-type] info.yaml:2:8 `1`
no images
    error[value-missing] info.yaml:1:1 `` => os-images-info | values.yaml | os_images:
nothing
    error[value-missing] info.yaml:1:1 `` => os-images-info | values.yaml | os_images:
no builds
    error[value-missing] info.yaml:1:1 `` => os-images-info | values.yaml | os_images:
builds of another shape
    error[value-missing] info.yaml:1:1 `` => os-images-info | values.yaml | os_images:

"#]]);
}

#[test]
fn the_manifests_that_image_builder_leaves_are_read() {
    let ova = r#"{"builds": [{"name": "vsphere", "builder_type": "vsphere-iso", "build_time": 1760000000,
        "files": [{"name": "./output/ubuntu-2404-efi-kube-v1.34.1/ubuntu-2404-kube-v1.34.1.ova", "size": 2067967998}],
        "artifact_id": "ubuntu-2404-kube-v1.34.1", "packer_run_uuid": "u",
        "custom_data": {"build_date": "2026-07-22", "build_name": "ubuntu-2404-efi", "build_timestamp": "1760000000",
          "distro_arch": "x86_64", "distro_name": "ubuntu", "distro_version": "24.04", "firmware": "efi",
          "ib_version": "v0.1.44", "kubernetes_semver": "v1.34.1", "kubernetes_typed_version": "kube-v1.34.1"}}],
        "last_run_uuid": "u"}"#;
    let facts = read("ubuntu-2404-efi-kube-v1-34-1", ova);
    facts.join("\n").is(str![[r#"
arch: amd64  (info.yaml:5:26)
build-timestamp: 1760000000  (info.yaml:4:105)
builder: image-builder  (info.yaml:4:67)
builder-version: v0.1.44  (info.yaml:6:25)
filename: ubuntu-2404-kube-v1.34.1.ova  (info.yaml:2:28)
firmware: efi  (info.yaml:5:100)
image-format: ova  (info.yaml:2:28)
k8s-flavor: kubeadm  (info.yaml:6:57)
k8s-version: 1.34.1  (info.yaml:6:57)
os: ubuntu  (info.yaml:5:51)
os-release: noble  (info.yaml:5:79)
size: 2067967998  (info.yaml:2:28)
"#]]);
    // A cloud's has the image of each region; of several builds the newest counts.
    let build = |id: &str| {
        format!(
            r#"{{"name": "ubuntu-24.04", "builder_type": "amazon-ebs", "files": null, "artifact_id": "{id}",
            "custom_data": {{"kubernetes_version": "1.34.1", "containerd_version": "2.1.4"}}}}"#
        )
    };
    let (old, new) = (
        build("eu-west-1:ami-1"),
        build("eu-west-1:ami-2,us-east-1:ami-3"),
    );
    let cloud = format!(r#"{{"builds": [{old}, {new}]}}"#);
    let facts = read("ubuntu-24-04-kube-v1-34-1", &cloud);
    facts.join("\n").is(str![[r#"
builder: image-builder  (info.yaml:2:103)
containerd-version: 2.1.4  (info.yaml:3:83)
image-format: ami  (info.yaml:2:179)
k8s-flavor: kubeadm  (info.yaml:3:51)
k8s-version: 1.34.1  (info.yaml:3:51)
locations.ami.eu-west-1: ami-2  (info.yaml:2:179)
locations.ami.us-east-1: ami-3  (info.yaml:2:179)
"#]]);
}

#[test]
fn a_folder_of_image_files_gives_names_and_digests() {
    let digest = "0123456789abcdef".repeat(4);
    let name = "ubuntu-2404-kube-v1.34.1.qcow2";
    let edge = edge("")
        .settings("images: {facts: [images]}")
        .file(&format!("images/{name}"), "image")
        .file("images/SHA256SUMS", format!("{digest}  {name}\n"))
        .file(&format!("images/{name}.md5sum"), &digest[..32])
        .file("images/other.raw", "image")
        .file("images/other.raw.sha256sum", "<html>not found</html>");
    let facts = read_in(&edge, "ubuntu-2404-kube-v1-34-1");
    facts.join("\n").is(str![[r#"
compression: none  (the image info file)
filename: ubuntu-2404-kube-v1.34.1.qcow2  (the image info file)
image-format: qcow2  (the image info file)
md5: 0123456789abcdef0123456789abcdef  (the image info file)
sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef  (the image info file)
"#]]);
    edge.run("images").exit(0).screen(str![[r#"
IMAGE                     OS      RELEASE  HARDENED  FLAVOR  KUBERNETES  FORMAT  SERVED  FITS  USED BY  REFERENCE
other                     –       –        –         –       –           raw     no      –     –        –
ubuntu-2404-kube-v1-34-1  ubuntu  noble    –         –       1.34.1      qcow2   no      –     –        –

"#]]);
}
