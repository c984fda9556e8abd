//! Formats of images, images by a URL, and the room that an image takes.

use super::rows::{boots, each, found};

#[test]
fn an_image_by_its_url_needs_its_checksum_and_format() {
    let url = |provider: &str, more: &str| {
        format!(
            "cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: {provider}}}, {provider}: {{machine_image_url: 'https://s/a.raw'{more}}}}}\n"
        )
    };
    let oci = url("capm3", "").replace("https://s/a.raw", "oci://s/a:1");
    let path = "cluster.capm3.machine_image";
    for (values, sum, format) in [
        (url("capm3", ""), true, true),
        (url("capm3", ", machine_image_checksum: ''"), true, true),
        (url("capm3", ", machine_image_checksum: aa"), false, true),
        (url("capm3", ", machine_image_format: raw"), true, false),
        (url("capm3", ", machine_image_format: ''"), true, true),
        (
            url("capm3", ", machine_image_format: live-iso"),
            false,
            false,
        ),
        (oci, false, true),
        (url("capo", ""), false, false),
    ] {
        let url = if values.contains("oci:") {
            "'oci://s/a:1'"
        } else {
            "'https://s/a.raw'"
        };
        let line = |edit: &str| format!("error control-plane [{url}] => {path}_{edit}");
        let expect = |is_found: bool, edit: &str| -> Vec<String> {
            is_found.then(|| line(edit)).into_iter().collect()
        };
        let help = expect(sum, "checksum: … | sha256sum");
        assert_eq!(found("checksum-missing", &values, ""), help, "{values}");
        assert_eq!(
            found("format-missing", &values, ""),
            expect(format, "format: raw"),
            "{values}"
        );
    }
    // The edit is for the level that gives the URL.
    each(
        "format-missing",
        &[(
            "cluster: {control_plane: {capm3: {machine_image_url: 'https://s/a'}}}",
            &[
                "error control-plane ['https://s/a'] => cluster.control_plane.capm3.machine_image_format: raw",
            ],
        )],
    );
    each(
        "checksum-missing",
        &[(
            "cluster: {machine_deployments: {md0: {capm3: {machine_image_url: 'https://s/a'}}}}",
            &[
                "error md0 ['https://s/a'] => cluster.machine_deployments.md0.capm3.machine_image_checksum: … | sha256sum",
            ],
        )],
    );
}

#[test]
fn every_image_of_metal3_has_a_format() {
    let (own, built) = ("os_images", "sylva_diskimagebuilder_images");
    for (provider, list, facts, edits) in [
        (
            "capm3",
            own,
            "uri: 'https://s/a'",
            Some("os_images.img-a.image-format: raw"),
        ),
        (
            "capm3",
            own,
            "uri: 'https://s/a', image-format: ''",
            Some("os_images.img-a.image-format: raw"),
        ),
        (
            "capm3",
            own,
            "uri: 'https://s/a', image-format: qcow2",
            None,
        ),
        (
            "capm3",
            own,
            "uri: 'oci://r/a:1'",
            Some("metalmark lock | os_images.img-a.image-format: raw"),
        ),
        (
            "capm3",
            built,
            "",
            Some("metalmark lock | images: {facts: [os-images-info.yaml]}"),
        ),
        ("capo", own, "uri: 'https://s/a'", None),
    ] {
        let values = boots(provider, list, facts);
        let expected: Vec<String> = edits
            .map(|edits| format!("error control-plane [img-a, img-a] => {edits}"))
            .into_iter()
            .collect();
        assert_eq!(found("format-missing", &values, ""), expected, "{values}");
    }
}

#[test]
fn a_format_is_one_that_the_provider_boots() {
    let convert = " => qemu-img convert -O raw";
    for (provider, format, expected) in [
        ("capm3", "raw", None),
        ("capm3", "qcow2", None),
        ("capm3", "live-iso", None),
        ("capm3", "vmdk", Some("warning")),
        ("capm3", "vdi", Some("warning")),
        ("capm3", "ova", Some("error")),
        ("capm3", "raw.gz", Some("error")),
        ("capm3", "RAW", Some("error")),
        ("capm3", "''", None),
        ("nobody", "ova", None),
        ("kubevirt", "vmdk", Some("error")),
        // One of its two kinds boots whatever a snapshot was made from.
        ("hetzner", "vmdk", None),
    ] {
        let values = boots(
            provider,
            "os_images",
            &format!("uri: 'https://s/a', image-format: {format}"),
        );
        let expected: Vec<String> = expected
            .map(|level| format!("{level} control-plane [{format}]{convert}"))
            .into_iter()
            .collect();
        assert_eq!(
            found("format-unsupported", &values, ""),
            expected,
            "{values}"
        );
        let values = format!(
            "cluster: {{capi_providers: {{infra_provider: {provider}}}, {provider}: {{machine_image_url: 'https://s/a', machine_image_format: {format}}}}}"
        );
        assert_eq!(
            found("format-unsupported", &values, ""),
            expected,
            "{values}"
        );
    }
    let docker = boots(
        "docker",
        "os_images",
        "uri: 'https://s/a', image-format: raw",
    );
    let found = found("format-unsupported", &docker, "");
    assert_eq!(found, ["error control-plane [raw] => format | container"]);
}

#[test]
fn a_volume_takes_its_image() {
    // 2067967998 bytes kept as an archive need 2137Mi (docs/sylva.md#the-image-server).
    let sizes = "archive-size: '2067967998', size: '22000000000', compression: gz";
    let values = |default: &str, more: &str| {
        format!(
            "{default}os_images: {{img-a: {{uri: 'https://s/a', {sizes}{more}}}}}\n\
             cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3}}, capm3: {{image_key: img-a}}}}"
        )
    };
    let default = "os_images_default_download_storage_space";
    for (set, more, expected) in [
        ("30Gi", "", None),
        ("3Gi", "", None),
        (
            "2Gi",
            "",
            Some(format!("warning - [2Gi] => {default}: 3Gi")),
        ),
        (
            "1Gi",
            ", persistence: {size: 2136Mi}",
            Some("error - [2136Mi] => os_images.img-a.persistence.size: 3Gi".to_owned()),
        ),
        ("1Gi", ", persistence: {size: 2137Mi}", None),
        ("1Gi", ", persistence: {size: 1Ti}", None),
        (
            "1Gi",
            ", persistence: {size: 2240M}",
            Some("error - [2240M] => os_images.img-a.persistence.size: 3Gi".to_owned()),
        ),
        ("1Gi", ", persistence: {size: 2241M}", None),
        ("1Gi", ", persistence: {size: 3G}", None),
        (
            "1Gi",
            ", persistence: {size: lots}",
            Some(format!("warning - [1Gi] => {default}: 3Gi")),
        ),
    ] {
        let values = values(&format!("{default}: {set}\n"), more);
        let expected: Vec<String> = expected.into_iter().collect();
        assert_eq!(
            found("storage-too-small", &values, ""),
            expected,
            "{values}"
        );
    }
    assert!(found("storage-too-small", &values("", ""), "").is_empty());
    // What is not served needs no room.
    let unused =
        values(&format!("{default}: 2Gi\n"), "").replace("image_key: img-a", "image_key: ''");
    assert!(found("storage-too-small", &unused, "").is_empty());
}
