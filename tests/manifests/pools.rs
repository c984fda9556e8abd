//! The fields of an image in a machine template of Metal3: its checksum and its format.

use snapbox::str;

use crate::support::manifests::{cluster, manifest};
use crate::support::stage::assert_cases;

/// What is left without the prefix `sha256:` may be no digest either. Another program fills in what is a variable.
#[test]
fn the_checksum_and_format_of_a_machine_template_are_what_metal3_takes() {
    let sum = "9f86d081884c7d65".repeat(4);
    assert_cases(
        str![[r#"
v1beta1 checksum: SUM, checksumType: sha256, format: raw
    warning[format-differs] edge/control-plane edge.yaml:29:188 `raw` edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => qcow2
v1beta2 checksum: SUM, checksumType: sha256, diskFormat: raw
    warning[format-differs] edge/control-plane edge.yaml:29:192 `raw` edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => qcow2
v1beta1 checksum: 'http://h/sum', checksumType: sha256
v1beta1 checksum: SUM, checksumType: sha512
    error[checksum-malformed] edge/control-plane edge.yaml:29:92 `SUM` => checksum: … | sha512sum
v1beta1 checksum: 'sha256:SUM'
    error[checksum-malformed] edge/control-plane edge.yaml:29:92 `'sha256:SUM'` => checksum: SUM
v1beta1 checksum: 'sha256:abc'
    error[checksum-malformed] edge/control-plane edge.yaml:29:92 `'sha256:abc'` => checksum: … | sha256sum
v1beta2 checksum: SUM, checksumType: sha1
    warning[format-missing] edge/control-plane edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => image.diskFormat: raw | qcow2
    error[checksum-malformed] edge/control-plane edge.yaml:29:172 `sha1` => checksumType: sha256
v1beta1 format: ova
    error[checksum-missing] edge/control-plane edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => image.checksum: … | sha256sum
    error[format-unsupported] edge/control-plane edge.yaml:29:90 `ova` => qemu-img convert -O raw
    warning[format-differs] edge/control-plane edge.yaml:29:90 `ova` edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => qcow2
v1beta2 diskFormat: ova
    error[checksum-missing] edge/control-plane edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => image.checksum: … | sha256sum
    error[format-unsupported] edge/control-plane edge.yaml:29:94 `ova` => qemu-img convert -O raw
    warning[format-differs] edge/control-plane edge.yaml:29:94 `ova` edge.yaml:29:39 `'http://h/ubuntu-2404-kube-v1.31.8.qcow2'` => qcow2
v1beta1 checksum: '${DIGEST}', checksumType: '${TYPE}', format: '${FORMAT}'

"#]],
        |case| {
            let (version, fields) = case.split_once(' ').expect("a version and fields");
            let url = "url: 'http://h/ubuntu-2404-kube-v1.31.8.qcow2'";
            let text = cluster(
                "v1.31.8",
                &format!("{{{url}, {}}}", fields.replace("SUM", &sum)),
            );
            let api = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind";
            let text = text
                .replace("OpenStack", "Metal3")
                .replace(api, &api.replace("v1beta1", version));
            let found = manifest(text).check().findings.into_iter();
            found.map(|line| line.replace(&sum, "SUM")).collect()
        },
    );
}
