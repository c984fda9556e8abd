//! One image, one identity: what a machine template, the values, records and the lock say of an image is joined by its key, its digests and its
//! addresses, and has to agree.

use proptest::prelude::{Just, Strategy, prop_assert, prop_oneof, proptest};
use proptest::test_runner::Config;
use snapbox::str;

use super::support::manifests::{INFRASTRUCTURE, infrastructure, object};
use super::support::stage::{Stage, assert_text, project, table};

const URL: &str = "https://images.example.org/ubuntu-2404-kube-v1.34.1.raw";
const ONE: &str = "111111111111111111111111111111111111111111111111111111111111111a";
const TWO: &str = "222222222222222222222222222222222222222222222222222222222222222b";

/// A control plane that runs v1.34.1, and its machine template.
fn cluster(kind: &str, spec: &str) -> String {
    let template = infrastructure(kind, "edge");
    let plane = format!(
        "spec: {{replicas: 3, version: v1.34.1, machineTemplate: {{infrastructureRef: {template}}}}}"
    );
    object(
        "cluster.x-k8s.io/v1beta1 Cluster edge",
        "spec: {controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge}}",
    ) + &object(
        "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane edge",
        &plane,
    ) + &object(
        &format!("{INFRASTRUCTURE} {kind} edge"),
        &format!("spec: {{template: {{spec: {spec}}}}}"),
    )
}

/// Manifests, and the settings of `images:`.
fn with_images(manifest: &str, images: &str) -> Stage {
    project()
        .settings(&format!("manifests: [edge.yaml]\nimages: {{{images}}}"))
        .file("edge.yaml", manifest)
}

/// A Metal3 image, and a record of `noble` with these fields beside its version.
fn metal3(image: &str, record: &str) -> Stage {
    let manifest = cluster("Metal3MachineTemplate", &format!("{{image: {{{image}}}}}"));
    let record =
        format!("records: {{noble: {{k8s: {{flavor: kubeadm, version: 1.34.1}}, {record}}}}}");
    with_images(&manifest, &record)
}

/// A line a finding and a line a pool, of each case.
fn checked<const N: usize>(cases: [(&str, Stage); N]) -> String {
    let lines = |(name, stage): (&str, Stage)| {
        let checked = stage.check();
        table([name], |_| [&*checked.findings, &checked.pools].concat())
    };
    cases.into_iter().map(lines).collect()
}

#[test]
fn two_records_of_one_file_prove_nothing_that_one_denies() {
    let other = |fields: &str, image: &str| {
        let good = format!("url: '{URL}', checksum: '{ONE}', checksumType: sha256, format: raw");
        metal3(
            &format!(
                "{}{image}",
                if image.is_empty() {
                    good
                } else {
                    String::new()
                }
            ),
            &format!("format: raw, locations: {{https: '{URL}'}}}}, other: {{{fields}"),
        )
    };
    let older = "k8s: {flavor: kubeadm, version: 1.33.1}";
    let of_digest = format!("{older}, digests: {{uncompressed: {{sha256: '{ONE}'}}}}");
    let upper = URL.replace("images.", "IMAGES.");
    let cases = [
        (
            "the checksum is that of another record",
            other(&of_digest, ""),
        ),
        (
            "the URL is spelled otherwise",
            other(&format!("{older}, locations: {{https: '{upper}'}}"), ""),
        ),
        (
            "it is named in the other spelling",
            other("os: {name: ubuntu}", &format!("url: '{upper}'")),
        ),
        (
            "another digest at one URL",
            metal3(
                &format!("url: '{URL}', checksum: '{ONE}', checksumType: sha256, format: raw"),
                &format!(
                    "digests: {{uncompressed: {{sha256: '{ONE}'}}}}, locations: {{https: '{URL}'}}}}, other: {{digests: {{uncompressed: {{sha256: '{TWO}'}}}}, \
                     locations: {{https: '{URL}'}}"
                ),
            ),
        ),
        (
            "nobody has filled in a digest",
            metal3(
                &format!("url: '{URL}', checksum: '{ONE}', checksumType: sha256, format: raw"),
                &format!(
                    "digests: {{as-served: {{md5: TODO}}}}, locations: {{https: '{URL}'}}}}, other: {{{older}, digests: {{as-served: {{md5: TODO}}}}"
                ),
            ),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
the checksum is that of another record
    error[image-disagrees] edge/control-plane metalmark.yaml:3:60 `1.34.1` metalmark.yaml:3:202 `1.33.1` edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.34.1.raw'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
the URL is spelled otherwise
    error[image-disagrees] edge/control-plane metalmark.yaml:3:60 `1.34.1` metalmark.yaml:3:202 `1.33.1` edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.34.1.raw'`
    warning[fact-conflict] metalmark.yaml:3:202 `1.33.1` metalmark.yaml:3:230 `'https://IMAGES.example.org/ubuntu-2404-kube-v1.34.1.raw'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
it is named in the other spelling
    error[checksum-missing] edge/control-plane edge.yaml:15:39 `'https://IMAGES.example.org/ubuntu-2404-kube-v1.34.1.raw'` => image.checksum: … | sha256sum
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another digest at one URL
    error[image-disagrees] edge/control-plane metalmark.yaml:3:102 `'111111111111111111111111111111111111111111111111111111111111111a'` metalmark.yaml:3:293 `'222222222222222222222222222222222222222222222222222222222222222b'` edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.34.1.raw'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
nobody has filled in a digest
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)

"#]],
    );
}

#[test]
fn other_spellings_of_one_fact_agree() {
    let record = |fields: &str| {
        metal3(
            &format!("url: '{URL}', checksum: '{ONE}', checksumType: sha256, format: raw"),
            &format!("{fields}, locations: {{https: '{URL}'}}"),
        )
    };
    let raw = "format: raw";
    let cases = [
        record("format: RAW"),
        record(&format!("os: {{name: Ubuntu, version: '24.04'}}, {raw}")),
        record(&format!("os: {{name: ubuntu, version: 24.04.2}}, {raw}")),
        record(&format!("os: {{name: ubuntu, version: 24.04 LTS}}, {raw}")),
        record(&format!(
            "os: {{name: ubuntu-server, version: '24.04'}}, {raw}"
        )),
        record(&format!("digests: {{uncompressed: {{sha256: ''}}}}, {raw}")),
    ];
    for stage in cases {
        let pools = stage.check().pools;
        let project = stage.read("metalmark.yaml");
        assert!(pools[0].contains("proven"), "{pools:?} {project}");
    }
}

#[test]
fn a_record_that_contradicts_a_manifest_never_proves_it() {
    let digests =
        format!("digests: {{uncompressed: {{sha256: '{ONE}'}}}}, locations: {{https: '{URL}'}}");
    let good = format!("url: '{URL}', checksum: '{ONE}', checksumType: sha256, format: raw");
    let raw = format!("format: raw, {digests}");
    let cases = [
        ("all agrees", metal3(&good, &raw)),
        ("another digest", metal3(&good.replace(ONE, TWO), &raw)),
        (
            "another format",
            metal3(&good.replace("format: raw", "format: qcow2"), &raw),
        ),
        (
            "in capitals",
            metal3(&good.replace(ONE, &ONE.replace('a', "A")), &raw),
        ),
        (
            "another release in the name",
            metal3(
                &good,
                &format!("os: {{name: ubuntu, version: '22.04'}}, {raw}"),
            ),
        ),
        (
            "another version in the name",
            metal3(
                &good.replace("v1.34.1", "v1.33.1"),
                &raw.replace("v1.34.1", "v1.33.1"),
            ),
        ),
        (
            "another system in the name",
            metal3(&good, &format!("os: {{name: opensuse}}, {raw}")),
        ),
        (
            "the compressed file's digest",
            metal3(&good, &raw.replace("uncompressed", "as-served")),
        ),
        (
            "no digest is known",
            metal3(
                &good,
                &format!("format: raw, locations: {{https: '{URL}'}}"),
            ),
        ),
        (
            "a list of digests",
            metal3(
                &good.replace(ONE, "https://images.example.org/SHA256SUMS"),
                &raw,
            ),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
all agrees
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another digest
    error[image-disagrees] edge/control-plane edge.yaml:15:108 `'222222222222222222222222222222222222222222222222222222222222222b'` metalmark.yaml:3:115 `'111111111111111111111111111111111111111111111111111111111111111a'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another format
    error[image-disagrees] edge/control-plane edge.yaml:15:206 `qcow2` metalmark.yaml:3:77 `raw`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
in capitals
    error[checksum-malformed] edge/control-plane edge.yaml:15:108 `'111111111111111111111111111111111111111111111111111111111111111A'` => checksum: 111111111111111111111111111111111111111111111111111111111111111a
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another release in the name
    error[image-disagrees] edge/control-plane edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.34.1.raw'` metalmark.yaml:3:97 `'22.04'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another version in the name
    error[image-disagrees] edge/control-plane edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.33.1.raw'` metalmark.yaml:3:60 `1.34.1`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another system in the name
    error[image-disagrees] edge/control-plane edge.yaml:15:39 `'https://images.example.org/ubuntu-2404-kube-v1.34.1.raw'` metalmark.yaml:3:80 `opensuse`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
the compressed file's digest
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
no digest is known
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
a list of digests
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)

"#]],
    );
}

#[test]
fn an_image_is_known_by_its_digest_wherever_it_lies() {
    let digests = format!("digests: {{uncompressed: {{sha256: '{ONE}'}}}}");
    let image = |url: &str, sum: &str| {
        format!("url: '{url}', checksum: '{sum}', checksumType: sha256, format: raw")
    };
    let cases = [
        (
            "at an address that no record has",
            metal3(&image("http://mirror/a.raw", ONE), &digests),
        ),
        (
            "another digest there",
            metal3(&image("http://mirror/a.raw", TWO), &digests),
        ),
        (
            "a placeholder",
            metal3(
                &image("http://mirror/a.raw", &"0".repeat(64)),
                &digests.replace(ONE, &"0".repeat(64)),
            ),
        ),
        (
            "no digest",
            metal3(&image("http://mirror/a.raw", "none"), &digests),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
at an address that no record has
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)
another digest there
    edge/control-plane v1.34.1 (edge.yaml:10:30): unproven, a.raw (edge.yaml:15:39)
a placeholder
    edge/control-plane v1.34.1 (edge.yaml:10:30): unproven, a.raw (edge.yaml:15:39)
no digest
    error[checksum-malformed] edge/control-plane edge.yaml:15:72 `'none'` => checksum: … | sha256sum
    edge/control-plane v1.34.1 (edge.yaml:10:30): unproven, a.raw (edge.yaml:15:39)

"#]],
    );
}

#[test]
fn an_image_is_known_by_the_digest_of_its_reference() {
    let digest = format!("sha256:{ONE}");
    let record = format!("locations: {{oci: 'oci://r.example.org/os/noble@{digest}'}}");
    let stage = metal3(
        &format!("url: 'oci://mirror.example.org/x/noble@{digest}', format: raw"),
        &record,
    );
    assert_text(
        &checked([("from a mirror", stage)]),
        str![[r#"
from a mirror
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:3:60)

"#]],
    );
}

/// A cluster of values that names an image of the catalog by its address.
fn project_with_url(url: &str, settings: &str) -> Stage {
    let images = format!(
        "os_images: {{x-image: {{k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, filename: x-image.raw, \
         sha256: {ONE}, uri: 'oci://r.example.org/os/x-image:1'}}}}\n"
    );
    let values = format!(
        "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  control_plane_replicas: 3\n  \
         capm3: {{machine_image_url: '{url}', machine_image_checksum: '{ONE}', machine_image_checksum_type: sha256, machine_image_format: raw}}\n"
    );
    project()
        .settings(&format!("values: [catalog.yaml]\n{settings}"))
        .file("catalog.yaml", images)
        .cluster("edge", &values)
}

#[test]
fn what_boots_by_its_address_is_used() {
    let served = "http://os-image-server-x-image.os-images.svc.cluster.local:8080/x-image.raw";
    let no_sum = |stage: Stage| {
        stage.edit("edge.yaml", ONE, TWO);
        stage
    };
    let own = "images: {url: 'https://{{ cluster.name }}.example.org/{{ image.filename }}'}";
    let twice = |stage: Stage| {
        let two = "}, y-image: {k8s-flavor: rke2, k8s-version: 1.30.12+rke2r1, image-format: raw, filename: x-image.raw, uri: 'oci://r.example.org/os/y-image:1'}}";
        stage.edit("catalog.yaml", "}}", two);
        stage
    };
    let cases = [
        (
            "served by Sylva's image server",
            project_with_url(served, ""),
        ),
        (
            "that, with another digest",
            no_sum(project_with_url(served, "")),
        ),
        (
            "served as `images.url` says",
            project_with_url("https://edge.example.org/x-image.raw", own),
        ),
        (
            "that, with another digest",
            no_sum(project_with_url(
                "https://edge.example.org/x-image.raw",
                own,
            )),
        ),
        (
            "two images are",
            twice(no_sum(project_with_url(
                "https://edge.example.org/x-image.raw",
                own,
            ))),
        ),
        (
            "served for another cluster",
            no_sum(project_with_url(
                "https://other.example.org/x-image.raw",
                own,
            )),
        ),
        (
            "elsewhere, by its digest",
            project_with_url("https://elsewhere.example.org/a.raw", ""),
        ),
        (
            "another image",
            no_sum(project_with_url("https://elsewhere.example.org/a.raw", "")),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
served by Sylva's image server
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
that, with another digest
    error[image-disagrees] edge/control-plane edge.yaml:5:133 `'222222222222222222222222222222222222222222222222222222222222222b'` catalog.yaml:1:119 `111111111111111111111111111111111111111111111111111111111111111a`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): mismatched, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
served as `images.url` says
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
that, with another digest
    error[image-disagrees] edge/control-plane edge.yaml:5:94 `'222222222222222222222222222222222222222222222222222222222222222b'` catalog.yaml:1:119 `111111111111111111111111111111111111111111111111111111111111111a`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): mismatched, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
two images are
    warning[image-unused] catalog.yaml:1:227 `y-image` => os_images.y-image
    error[k8s-version-unproven] edge/control-plane edge.yaml:5:30 `'https://edge.example.org/x-image.raw'` edge.yaml:2:16 `v1.31.8+rke2r1` => image_key
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unproven, x-image.raw (edge.yaml:5:30)
served for another cluster
    error[k8s-version-unproven] edge/control-plane edge.yaml:5:30 `'https://other.example.org/x-image.raw'` edge.yaml:2:16 `v1.31.8+rke2r1` => image_key
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unproven, x-image.raw (edge.yaml:5:30)
elsewhere, by its digest
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
another image
    warning[image-unused] catalog.yaml:1:13 `x-image` => os_images.x-image
    error[k8s-version-unproven] edge/control-plane edge.yaml:5:30 `'https://elsewhere.example.org/a.raw'` edge.yaml:2:16 `v1.31.8+rke2r1` => image_key
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unproven, a.raw (edge.yaml:5:30)

"#]],
    );
}

#[test]
fn two_descriptions_of_one_image_agree() {
    let catalog = |other: &str| {
        let text = format!(
            "os_images:\n  a-image: {{k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: {ONE}, uri: 'https://h.example/a.raw'}}\n  \
             b-image: {{k8s-flavor: rke2, image-format: raw, {other}}}\n"
        );
        let values = "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, control_plane_replicas: 3, capm3: {image_key: a-image}}";
        project()
            .settings("values: [catalog.yaml]\npolicy: {rules: {image-unused: off}}")
            .file("catalog.yaml", text)
            .cluster("edge", values)
    };
    let version = "k8s-version: 1.30.12+rke2r1";
    let cases = [
        (
            "one digest",
            catalog(&format!(
                "{version}, sha256: {ONE}, uri: 'https://h.example/b.raw'"
            )),
        ),
        (
            "one address",
            catalog(&format!(
                "{version}, sha256: {TWO}, uri: 'https://h.example/a.raw'"
            )),
        ),
        (
            "another image",
            catalog(&format!(
                "{version}, sha256: {TWO}, uri: 'https://h.example/b.raw'"
            )),
        ),
        (
            "the same version",
            catalog(&format!(
                "k8s-version: v1.31.8+rke2r1, sha256: {ONE}, uri: 'https://h.example/b.raw'"
            )),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
one digest
    error[image-disagrees] edge/control-plane catalog.yaml:2:44 `1.31.8+rke2r1` catalog.yaml:3:63 `1.30.12+rke2r1` edge.yaml:1:154 `a-image`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): mismatched, a-image (edge.yaml:1:154) holds 1.31.8+rke2r1 (catalog.yaml:2:44)
one address
    error[image-disagrees] edge/control-plane catalog.yaml:2:44 `1.31.8+rke2r1` catalog.yaml:3:63 `1.30.12+rke2r1` edge.yaml:1:154 `a-image`
    error[image-disagrees] edge/control-plane catalog.yaml:2:86 `111111111111111111111111111111111111111111111111111111111111111a` catalog.yaml:3:87 `222222222222222222222222222222222222222222222222222222222222222b` edge.yaml:1:154 `a-image`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): mismatched, a-image (edge.yaml:1:154) holds 1.31.8+rke2r1 (catalog.yaml:2:44)
another image
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): proven, a-image (edge.yaml:1:154) holds 1.31.8+rke2r1 (catalog.yaml:2:44)
the same version
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): proven, a-image (edge.yaml:1:154) holds 1.31.8+rke2r1 (catalog.yaml:2:44)

"#]],
    );
}

#[test]
fn a_record_that_contradicts_the_catalog_proves_nothing() {
    let stage = project_with_url(
        "https://elsewhere.example.org/a.raw",
        "images: {records: {x-image: {k8s: {version: 1.30.2+rke2r1}, format: raw}}}",
    );
    assert_text(
        &checked([("another version", stage)]),
        str![[r#"
another version
    error[image-disagrees] edge/control-plane catalog.yaml:1:54 `1.31.8+rke2r1` metalmark.yaml:4:45 `1.30.2+rke2r1` edge.yaml:5:30 `'https://elsewhere.example.org/a.raw'`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): mismatched, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)

"#]],
    );
}

#[test]
fn what_boots_by_its_reference_is_not_unused_in_the_lock() {
    let digest = format!("sha256:{ONE}");
    let lock = |name: &str| {
        let stage = with_images(
            &cluster(
                "Metal3MachineTemplate",
                "{image: {url: 'oci://r.example.org/os/noble:1', format: raw}}",
            ),
            "facts: [metalmark.lock]",
        );
        let entry = format!("reference: 'oci://r.example.org/os/{name}:1', digest: '{digest}'");
        stage.file(
            "metalmark.lock",
            format!("version: 1\nimages:\n- {{key: {name}, {entry}}}\n"),
        )
    };
    assert_text(
        &checked([("it", lock("noble")), ("another", lock("jammy"))]),
        str![[r#"
it
    warning[reference-unpinned] edge/control-plane edge.yaml:15:39 `'oci://r.example.org/os/noble:1'` => oci://…@sha256:…
    warning[lock-stale] metalmark.lock:3:69 `'sha256:111111111111111111111111111111111111111111111111111111111111111a'` => metalmark lock
    edge/control-plane v1.34.1 (edge.yaml:10:30): unproven, noble:1 (edge.yaml:15:39)
another
    warning[reference-unpinned] edge/control-plane edge.yaml:15:39 `'oci://r.example.org/os/noble:1'` => oci://…@sha256:…
    warning[lock-unused] metalmark.lock:3:9 `jammy` => metalmark lock
    warning[lock-stale] metalmark.lock:3:69 `'sha256:111111111111111111111111111111111111111111111111111111111111111a'` => metalmark lock
    edge/control-plane v1.34.1 (edge.yaml:10:30): unproven, noble:1 (edge.yaml:15:39)

"#]],
    );
}

#[test]
fn the_values_may_spell_a_location_with_its_file() {
    let catalog = |format: &str| {
        let stage = project_with_url("https://h.example.org/a.qcow2", "");
        let locations = "locations: {https: {url: 'https://h.example.org/a.qcow2', format: qcow2}, oci: {url: 'oci://r.example.org/os/x-image:1'}}";
        stage.edit(
            "catalog.yaml",
            "uri: 'oci://r.example.org/os/x-image:1'",
            locations,
        );
        stage.edit(
            "edge.yaml",
            "machine_image_format: raw",
            &format!("machine_image_format: {format}"),
        );
        stage
    };
    assert_text(
        &checked([("qcow2", catalog("qcow2")), ("raw", catalog("raw"))]),
        str![[r#"
qcow2
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)
raw
    error[image-disagrees] edge/control-plane edge.yaml:5:214 `raw` catalog.yaml:1:251 `qcow2`
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): mismatched, x-image (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:1:54)

"#]],
    );
}

/// One record for every provider: each file has a format and a digest of its own.
const EVERYWHERE: &str = "\
records:
  noble:
    os: {name: ubuntu, codename: noble}
    k8s: {flavor: kubeadm, version: 1.34.1}
    format: raw
    digests: {uncompressed: {sha256: '111111111111111111111111111111111111111111111111111111111111111a'}}
    locations:
      https: {url: 'https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2', format: qcow2, digests: {uncompressed: {sha256: '222222222222222222222222222222222222222222222222222222222222222b'}}}
      oci: 'oci://r.example.org/os/noble:1'
      ami: {eu-west-1: ami-1, format: ami}
      azure: {id: /images/noble, format: vhd, sizes: {disk: 3}}
      vsphere: {template: noble, format: ova}
      docker: {image: 'r.example.org/noble:1', format: container}
      gce: {image: noble, format: raw}
      hcloud: {image: noble, format: snapshot}
      kubevirt: {container-disk: 'r.example.org/noble:1', format: qcow2}
      proxmox: {tags: noble, format: qcow2}
      tinkerbell: {image: 'https://images.example.org/noble.gz', format: raw, compression: gz}
      glance: {name: noble, format: qcow2, digests: {uncompressed: {md5: '1111111111111111111111111111111a'}}}";

/// The record's settings, in flow.
fn everywhere(kind: &str, spec: &str) -> Stage {
    let text = EVERYWHERE.replace('\n', "\n  ");
    project()
        .settings(&format!("manifests: [edge.yaml]\nimages:\n  {text}"))
        .file("edge.yaml", cluster(kind, spec))
}

#[test]
fn each_location_has_a_file_of_its_own() {
    let metal3 = |format: &str, sum: &str| {
        let image = format!(
            "{{image: {{url: 'https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2', format: {format}, checksum: '{sum}', checksumType: sha256}}}}"
        );
        everywhere("Metal3MachineTemplate", &image)
    };
    let oci = |format: &str| {
        let image =
            format!("{{image: {{url: 'oci://r.example.org/os/noble:1', format: {format}}}}}");
        everywhere("Metal3MachineTemplate", &image)
    };
    let cases = [
        ("its own format and digest", metal3("qcow2", TWO)),
        ("the record's format", metal3("raw", TWO)),
        ("the record's digest", metal3("qcow2", ONE)),
        ("the artifact", oci("raw")),
        ("the artifact, another format", oci("qcow2")),
        (
            "an AMI",
            everywhere("AWSMachineTemplate", "{ami: {id: ami-1}}"),
        ),
        (
            "Azure",
            everywhere("AzureMachineTemplate", "{image: {id: /images/noble}}"),
        ),
        (
            "Glance",
            everywhere(
                "OpenStackMachineTemplate",
                "{image: {filter: {name: noble}}}",
            ),
        ),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
its own format and digest
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:7:39)
the record's format
    error[image-disagrees] edge/control-plane edge.yaml:15:108 `raw` metalmark.yaml:11:91 `qcow2`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:7:39)
the record's digest
    error[image-disagrees] edge/control-plane edge.yaml:15:125 `'111111111111111111111111111111111111111111111111111111111111111a'` metalmark.yaml:11:131 `'222222222222222222222222222222222222222222222222222222222222222b'`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:7:39)
the artifact
    warning[reference-unpinned] edge/control-plane edge.yaml:15:39 `'oci://r.example.org/os/noble:1'` => oci://…@sha256:…
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:7:39)
the artifact, another format
    warning[reference-unpinned] edge/control-plane edge.yaml:15:39 `'oci://r.example.org/os/noble:1'` => oci://…@sha256:…
    error[image-disagrees] edge/control-plane edge.yaml:15:81 `qcow2` metalmark.yaml:8:15 `raw`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:39) holds 1.34.1 (metalmark.yaml:7:39)
an AMI
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:36) holds 1.34.1 (metalmark.yaml:7:39)
Azure
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:38) holds 1.34.1 (metalmark.yaml:7:39)
Glance
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:49) holds 1.34.1 (metalmark.yaml:7:39)

"#]],
    );
}

#[test]
fn what_is_stamped_is_of_the_file_at_the_location() {
    let stage = everywhere(
        "Metal3MachineTemplate",
        "{image: {url: x, checksum: x, checksumType: sha256, format: raw}}",
    );
    stage.edit(
        "edge.yaml",
        &format!("---\napiVersion: {INFRASTRUCTURE}"),
        &format!("---\n# metalmark: image=noble\napiVersion: {INFRASTRUCTURE}"),
    );
    let last = || {
        let _ = stage.run("stamp").exit(0);
        let manifest = stage.read("edge.yaml");
        manifest.lines().last().expect("the template").to_owned()
    };
    let literal = last();
    stage.edit("metalmark.yaml", "images:", "images:\n  checksum: url");
    assert_text(
        &format!("{literal}\n{}", last()),
        str![[r#"
spec: {template: {spec: {image: {url: https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2, checksum: 222222222222222222222222222222222222222222222222222222222222222b, checksumType: sha256, format: qcow2}}}}
spec: {template: {spec: {image: {url: https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2, checksum: https://images.example.org/ubuntu-2404-kube-v1.34.1.qcow2.sha256sum, checksumType: sha256, format: qcow2}}}}
"#]],
    );
}

#[test]
fn one_record_is_for_every_provider() {
    let providers = [
        "capm3",
        "capa",
        "capz",
        "capv",
        "capo",
        "capg",
        "docker",
        "hetzner",
        "kubevirt",
        "proxmox",
        "tinkerbell",
    ];
    let results = table(providers, |provider| {
        let values = format!(
            "cluster: {{k8s_version: v1.34.1, capi_providers: {{infra_provider: {provider}, bootstrap_provider: cabpk}}, control_plane_replicas: 3, {provider}: {{image_key: noble}}}}"
        );
        let text = EVERYWHERE.replace('\n', "\n  ");
        let stage = project().settings(&format!("images:\n  {text}"));
        let checked = stage.cluster("edge", &values).check();
        [checked.findings, checked.pools].concat()
    });
    assert_text(
        &results,
        str![[r#"
capm3
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:147) holds 1.34.1 (metalmark.yaml:7:39)
capa
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:145) holds 1.34.1 (metalmark.yaml:7:39)
capz
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:145) holds 1.34.1 (metalmark.yaml:7:39)
capv
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:145) holds 1.34.1 (metalmark.yaml:7:39)
capo
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:145) holds 1.34.1 (metalmark.yaml:7:39)
capg
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:145) holds 1.34.1 (metalmark.yaml:7:39)
docker
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:149) holds 1.34.1 (metalmark.yaml:7:39)
hetzner
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:151) holds 1.34.1 (metalmark.yaml:7:39)
kubevirt
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:153) holds 1.34.1 (metalmark.yaml:7:39)
proxmox
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:151) holds 1.34.1 (metalmark.yaml:7:39)
tinkerbell
    edge/control-plane v1.34.1 (edge.yaml:1:24): proven, noble (edge.yaml:1:157) holds 1.34.1 (metalmark.yaml:7:39)

"#]],
    );
}

/// What a record and a machine template both state.
#[derive(Clone, Copy, Debug)]
enum Stated {
    Format,
    Sha256,
    Md5,
    Version,
    Release,
}

/// Something that both state, and what either says of it.
fn stated() -> impl Strategy<Value = (Stated, [String; 2])> {
    let both = |stated, pattern: &'static str| (Just(stated), [pattern; 2]);
    prop_oneof![
        both(Stated::Format, "raw|qcow2|vdi"),
        both(Stated::Sha256, "[0-9]{63}[a-f]"),
        both(Stated::Md5, "[0-9]{31}[a-f]"),
        both(Stated::Version, "1\\.3[0-4]\\.[0-9]"),
        both(Stated::Release, "(20|22|24)\\.04"),
    ]
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    /// Of a record and a manifest that differ in something that both state, the pool is never proven.
    #[test]
    fn what_differs_is_never_proven((stated, [one, other]) in stated()) {
        let says = |text: &str| {
            let or = |known, default: &str| match (stated, known) {
                (Stated::Format, 0) | (Stated::Version, 3) | (Stated::Release, 4) => text.to_owned(),
                (Stated::Sha256, 1) => format!("sha256: '{text}'"),
                (Stated::Md5, 1) => format!("md5: '{text}'"),
                _ => default.to_owned(),
            };
            [or(0, "raw"), or(1, &format!("sha256: '{ONE}'")), or(3, "1.34.1"), or(4, "24.04")]
        };
        let [format, sum, version, release] = says(&one);
        let url = format!("https://images.example.org/ubuntu-{}-kube-v{version}.img", release.replace('.', ""));
        let (kind, sum) = sum.split_once(": ").expect("a digest");
        let image = format!("url: '{url}', checksum: {sum}, checksumType: {kind}, format: {format}");
        let manifest = cluster("Metal3MachineTemplate", &format!("{{image: {{{image}}}}}"));
        let [format, sum, version, release] = says(&other);
        let record = format!(
            "os: {{name: ubuntu, version: '{release}'}}, k8s: {{flavor: kubeadm, version: {version}}}, format: {format}, \
             digests: {{uncompressed: {{{sum}}}}}, locations: {{https: '{url}'}}"
        );
        let pools = with_images(&manifest, &format!("records: {{noble: {{{record}}}}}")).check().pools;
        let is_mismatch = pools.iter().all(|pool| pool.contains(": mismatched"));
        prop_assert!(one == other || is_mismatch, "{image} {record}: {pools:?}");
    }
}

/// Each region has ids of its own, and no two images have one.
#[test]
fn two_records_of_one_ami_have_to_agree() {
    let aws = |other: &str| {
        let manifest = cluster("AWSMachineTemplate", "{ami: {id: ami-0123}}");
        let record = |version: &str| {
            format!(
                "{{k8s: {{flavor: kubeadm, version: {version}}}, locations: {{ami: {{eu-west-1: ami-0123}}}}}}"
            )
        };
        let records = format!(
            "records: {{noble: {}, other: {}}}",
            record("1.34.1"),
            record(other)
        );
        with_images(&manifest, &records)
    };
    let cases = [
        ("they agree", aws("1.34.1")),
        ("they do not", aws("1.33.1")),
    ];
    assert_text(
        &checked(cases),
        str![[r#"
they agree
    edge/control-plane v1.34.1 (edge.yaml:10:30): proven, noble (edge.yaml:15:36) holds 1.34.1 (metalmark.yaml:3:60)
they do not
    error[image-disagrees] edge/control-plane metalmark.yaml:3:60 `1.34.1` metalmark.yaml:3:151 `1.33.1` edge.yaml:15:36 `ami-0123`
    edge/control-plane v1.34.1 (edge.yaml:10:30): mismatched, noble (edge.yaml:15:36) holds 1.34.1 (metalmark.yaml:3:60)

"#]],
    );
}
