//! Formats of images, images by a URL, and the room that an image takes.

use snapbox::str;

use super::super::support::stage::{Is, project};
use super::rows::{assert_cases, boots, each, found};
use super::{bare, booting, edge, fails, passes, warns};

#[test]
fn an_image_by_its_url_needs_its_checksum_and_format() {
    let of = |case: &str| {
        let (provider, settings) = case.split_once(' ').expect("a provider");
        let (url, more) = settings.split_once(", ").unwrap_or((settings, ""));
        let values = format!(
            "cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: {provider}}}, {provider}: {{machine_image_url: '{url}', {more}}}}}\n"
        );
        [
            found("checksum-missing", &values, ""),
            found("format-missing", &values, ""),
        ]
        .concat()
    };
    assert_cases(
        str![[r#"
capm3 https://s/a.raw
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_checksum: … | sha256sum
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_format: raw
capm3 https://s/a.raw, machine_image_checksum: ''
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_checksum: … | sha256sum
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_format: raw
capm3 https://s/a.raw, machine_image_checksum: aa
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_format: raw
capm3 https://s/a.raw, machine_image_format: raw
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_checksum: … | sha256sum
capm3 https://s/a.raw, machine_image_format: ''
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_checksum: … | sha256sum
    error control-plane ['https://s/a.raw'] => cluster.capm3.machine_image_format: raw
capm3 https://s/a.raw, machine_image_format: live-iso
capm3 oci://s/a:1
    error control-plane ['oci://s/a:1'] => cluster.capm3.machine_image_format: raw
capo https://s/a.raw

"#]],
        of,
    );
    // The edit is for the level that gives the URL.
    each("format-missing").finds(str![[r#"
cluster: {control_plane: {capm3: {machine_image_url: 'https://s/a'}}}
    error control-plane ['https://s/a'] => cluster.control_plane.capm3.machine_image_format: raw

"#]]);
    each("checksum-missing").finds(str![[r#"
cluster: {machine_deployments: {md0: {capm3: {machine_image_url: 'https://s/a'}}}}
    error md0 ['https://s/a'] => cluster.machine_deployments.md0.capm3.machine_image_checksum: … | sha256sum

"#]]);
}

#[test]
fn every_image_of_metal3_has_a_format() {
    let of = |case: &str| {
        let (given, facts) = case.split_once(" <-").expect("what is given, and facts");
        let (provider, list) = given.split_once(' ').expect("two words");
        found("format-missing", &boots(provider, list, facts.trim()), "")
    };
    assert_cases(
        str![[r#"
capm3 os_images <- uri: 'https://s/a'
    error control-plane [img-a, img-a] => os_images.img-a.image-format: raw
capm3 os_images <- uri: 'https://s/a', image-format: ''
    error control-plane [img-a, img-a] => os_images.img-a.image-format: raw
capm3 os_images <- uri: 'https://s/a', image-format: qcow2
capm3 os_images <- uri: 'oci://r/a:1'
    error control-plane [img-a, img-a] => metalmark lock | os_images.img-a.image-format: raw
capm3 sylva_diskimagebuilder_images <-
    error control-plane [img-a, img-a] => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]}
capo os_images <- uri: 'https://s/a'

"#]],
        of,
    );
}

#[test]
fn a_format_is_one_that_the_provider_boots() {
    let of = |case: &str| {
        let (provider, format) = case.split_once(' ').expect("two words");
        let facts = format!("uri: 'https://s/a', image-format: {format}");
        let by_key = boots(provider, "os_images", &facts);
        let by_url = format!(
            "cluster: {{capi_providers: {{infra_provider: {provider}}}, {provider}: {{machine_image_url: 'https://s/a', machine_image_format: {format}}}}}"
        );
        let by_url = found("format-unsupported", &by_url, "");
        assert_eq!(found("format-unsupported", &by_key, ""), by_url, "{case}");
        by_url
    };
    assert_cases(
        str![[r#"
capm3 raw
capm3 qcow2
capm3 live-iso
capm3 vmdk
    warning control-plane [vmdk] => qemu-img convert -O raw
capm3 vdi
    warning control-plane [vdi] => qemu-img convert -O raw
capm3 ova
    error control-plane [ova] => qemu-img convert -O raw
capm3 raw.gz
    error control-plane [raw.gz] => qemu-img convert -O raw
capm3 RAW
    error control-plane [RAW] => raw
capm3 ''
nobody ova
kubevirt vmdk
    error control-plane [vmdk] => qemu-img convert -O raw
# One of its two kinds boots whatever a snapshot was made from.
hetzner vmdk

"#]],
        of,
    );
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
    let of = |case: &str| {
        let (set, more) = case.split_once(", ").unwrap_or((case, ""));
        let values = values(&format!("{default}: {set}\n"), &format!(", {more}"));
        found("storage-too-small", &values, "")
    };
    assert_cases(
        str![[r#"
30Gi
3Gi
2Gi
    warning - [2Gi] => os_images_default_download_storage_space: 3Gi
1Gi, persistence: {size: 2136Mi}
    error - [2136Mi] => os_images.img-a.persistence.size: 3Gi
1Gi, persistence: {size: 2137Mi}
1Gi, persistence: {size: 1Ti}
1Gi, persistence: {size: 2240M}
    error - [2240M] => os_images.img-a.persistence.size: 3Gi
1Gi, persistence: {size: 2241M}
1Gi, persistence: {size: 3G}
1Gi, persistence: {size: lots}
    warning - [1Gi] => os_images_default_download_storage_space: 3Gi

"#]],
        of,
    );
    assert!(found("storage-too-small", &values("", ""), "").is_empty());
    // What is not served needs no room.
    let unused =
        values(&format!("{default}: 2Gi\n"), "").replace("image_key: img-a", "image_key: ''");
    assert!(found("storage-too-small", &unused, "").is_empty());
}

#[test]
fn format_missing() {
    let project = bare("\
os_images:
  own: {uri: 'oci://registry.example.org/own:1', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}", "capm3: {image_key: own}\nmachine_deployments: {md0: {}}");
    fails("format-missing", &project, "check").brief(str![[r#"
error[format-missing]: the format of image `own` is not known
  edge.yaml:6:22 `own` this image is selected here
  edge.yaml:2:3 `own` the catalog's entry has no `image-format`
  cluster: edge, pool control-plane
  also in pools: md0
  help: run `metalmark lock` to query its registry, and commit the lock
  help: `os_images.own.image-format: raw`
1 error in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    project.edit("edge.yaml", "own: {", "own: {image-format: raw, ");
    passes("format-missing", &project, "check");
}

#[test]
fn format_unsupported() {
    let project = bare("\
os_images:
  own: {uri: 'oci://registry.example.org/own:1', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8, image-format: raw.gz}", "capm3: {image_key: own}");
    fails("format-unsupported", &project, "check").brief(str![[r#"
error[format-unsupported]: `capm3` does not boot images of format `raw.gz`
  edge.yaml:2:184 `raw.gz` one of raw, qcow2, live-iso
  cluster: edge, pool control-plane
  help: build or convert the image: `qemu-img convert -O raw`
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "raw.gz", "raw");
    passes("format-unsupported", &project, "check");
}

#[test]
fn storage_too_small() {
    let project = booting(
        &["noble-31 rke2 1.31.8+rke2r1 size=22000000000 archive-size=2067967998"],
        "capm3: {image_key: noble-31}",
    );
    project.edit(
        "edge.yaml",
        "cluster:\n",
        "os_images_default_download_storage_space: 2Gi\ncluster:\n",
    );
    warns("storage-too-small", &project, "check").brief(str![[r#"
warning[storage-too-small]: image `noble-31` needs 23766Mi of storage
  edge.yaml:1:43 `2Gi` 2048Mi are set aside
  cluster: edge
  help: `os_images_default_download_storage_space: 24Gi`
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", ": 2Gi", ": 30Gi");
    passes("storage-too-small", &project, "check");
}

#[test]
fn image_disagrees() {
    let sum = "293d6172dccbbae5ac579b2419480058fe25f37e3bde8a1dcfe06a59a1cd0b99";
    let image = format!(
        "capm3: {{machine_image_url: 'https://images.example/noble-31.raw', machine_image_checksum: {sum}, machine_image_checksum_type: sha256, machine_image_format: qcow2}}"
    );
    let project = edge(&image);
    fails("image-disagrees", &project, "check").brief(str![[r#"
error[image-disagrees]: `image-format` of image `noble-31` is `qcow2` by what is booted, and `raw` by the values
  edge.yaml:4:218 `qcow2` `qcow2` here
  catalog.yaml:2:76 `raw` `raw` here
  cluster: edge, pool control-plane
  help: correct the one that is wrong, or describe the other file by itself: a record, or a location with a format and digests of its own
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    project.edit("edge.yaml", "qcow2", "raw");
    passes("image-disagrees", &project, "check");
}

/// A cluster on vSphere, and what is said of the image that it is installed from, which no pool boots.
fn installed(install: &str, more: &str) -> String {
    format!(
        "\
os_images:
  node: {{uri: 'https://images.example.org/ubuntu-2404-kube-v1.31.8.ova', image-format: ova, k8s-flavor: kubeadm, k8s-version: 1.31.8, locations.vsphere.template: node}}
  install: {{uri: 'https://images.example.org/install.ova', {install}}}
cluster:
  k8s_version: v1.31.8
  capi_providers: {{infra_provider: capv, bootstrap_provider: cabpk}}
  capv: {{image_key: node}}
{more}"
    )
}

#[test]
fn an_image_to_install_from_fits_the_cluster_that_names_it() {
    let of = |case: &str| {
        let (key, install) = case.split_once(' ').expect("a key");
        let values = installed(install, &format!("  install_image_key: {key}\n"));
        found("install-image", &values, "")
    };
    assert_cases(
        str![[r#"
install image-format: ova, k8s-version: 1.31.8
install image-format: ova, k8s-version: v1.31.8+vmware.1
    error - [install, v1.31.8+vmware.1] => install_image_key: …
install k8s-version: 1.31.8
install image-format: ova, k8s-version: 1.30.4
    error - [install, 1.30.4] => install_image_key: …
install image-format: ova, k8s-version: '1.31'
    error - [install, '1.31'] => install_image_key: …
install image-format: ova
    error - [install, install] => install_image_key: …
install image-format: qcow2, k8s-version: 1.30.4
    error - [install, 1.30.4] => install_image_key: …
    error - [install, qcow2]
installs image-format: ova, k8s-version: 1.31.8
    error - [installs] => install
other image-format: ova, k8s-version: 1.31.8
    error - [other] => os_images.other
'' image-format: ova, k8s-version: 1.31.8

"#]],
        of,
    );
}

#[test]
fn install_image() {
    let named = "  install_image_key: install\n";
    let project = project().cluster(
        "edge",
        &installed("image-format: ova, k8s-version: 1.30.4", named),
    );
    fails("install-image", &project, "check").brief(str![[r#"
error[install-image]: `install` installs Kubernetes `1.30.4`, and the cluster is to have `v1.31.8`
  edge.yaml:8:22 `install` installed from this image
  edge.yaml:3:92 `1.30.4` said of it here
  cluster: edge
  help: `install_image_key: …`, an image that installs the cluster's version
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "1.30.4", "1.31.8");
    passes("install-image", &project, "check");
}

/// No pool boots it, and it is in use as long as a cluster names it.
#[test]
fn an_image_to_install_from_is_used() {
    let values = installed("image-format: ova, k8s-version: 1.31.8", "");
    let (catalog, cluster) = values.split_at(values.find("cluster:\n").expect("a cluster"));
    let project = project()
        .file("catalog.yaml", catalog)
        .settings("values: [catalog.yaml]")
        .cluster("edge", cluster);
    let screen = warns("image-unused", &project, "check").outcome.stdout;
    assert!(
        screen.contains("no cluster uses image `install`"),
        "{screen}"
    );
    project.write(
        "edge.yaml",
        format!("{cluster}  install_image_key: install\n"),
    );
    passes("image-unused", &project, "check");
    let account = project.run("explain install").exit(0).outcome.stdout;
    assert!(account.contains("used by: edge\n"), "{account}");
}

/// Only an image that manifests or values give by its URL was compared, and a record's `raw` was rendered beside a `.qcow2`.
#[test]
fn the_file_at_a_records_location_is_of_its_format() {
    let check = |format: &str, https: &str| {
        let record = format!(
            "images:\n  records:\n    golden:\n      k8s: {{flavor: kubeadm, version: 1.34.1}}\n      format: {format}\n      SUM\n      \
             locations:\n        https: {https}\n        vsphere: {{template: /dc1/golden.qcow2, format: ova}}\n"
        );
        let sum = "digests: {uncompressed: {sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}}";
        let record = record.replace("SUM", sum);
        let values = |provider: &str| {
            format!(
                "cluster: {{k8s_version: v1.34.1, capi_providers: {{infra_provider: {provider}}}, {provider}: {{image_key: golden}}}}\n"
            )
        };
        let stage = project().settings(&record);
        let stage = stage.cluster("metal", &values("capm3"));
        let stage = stage.cluster("sphere", &values("capv"));
        stage.check().findings
    };
    let found = [
        check("raw", "https://h/golden.qcow2"),
        check("qcow2", "{url: 'https://h/golden.qcow2', format: raw, SUM}"),
        check("qcow2", "https://h/golden.qcow2"),
        check("qcow2", "https://h/golden"),
    ];
    let found = found.map(|lines| lines.join("\n"));
    found.join("\n--\n").is(str![[r#"
warning[format-differs] metal/control-plane metalmark.yaml:7:15 `raw` metalmark.yaml:10:16 `https://h/golden.qcow2` => qcow2
--
warning[format-differs] metal/control-plane metalmark.yaml:10:56 `raw` metalmark.yaml:10:22 `'https://h/golden.qcow2'` => qcow2
--

--

"#]]);
}
