//! Selectors and keys that mean no image, or several.

use metalmark::model::rule::Level;
use snapbox::str;

use super::super::support::project::Project;
use super::rows::{IMAGES, each};
use super::{bare, booting, edge, fails, passes};

#[test]
fn a_selector_that_no_image_matches() {
    each("no-image-matches").finds(str![[r#"
cluster: {capm3: {os_image_selector: {os: ubuntu}}}
cluster: {capm3: {os_image_selector: {os: opensuse}}}
cluster: {capm3: {image_key: gone}}
# One term keeps the nearest image away: the edit of it, at the level that wrote it.
cluster: {capm3: {os_image_selector: {os: ubuntu, os-release: '24.04'}}}
    error control-plane [{os: ubuntu, os-release: '24.04'}, '24.04'] => noble-31 | cluster.capm3.os_image_selector.os-release: noble
cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {os_image_selector: {hardened: true}}}}
    error control-plane [{hardened: true}, true] => noble-31 | hardened: false | true | suse-hard-31 | os: opensuse | ubuntu
cluster: {capm3: {os_image_selector: {os: ubuntu}}, machine_deployments: {md0: {capm3: {os_image_selector: {hardened: true}}}}}
    error md0 [{hardened: true}, true] => noble-31 | hardened: false | true | suse-hard-31 | os: opensuse | ubuntu
# The version is the cluster's: it is edited there, unless the pool or the selector has its own.
cluster: {k8s_version: v1.31.9+rke2r1, capm3: {os_image_selector: {os: ubuntu}}}
    error control-plane [{os: ubuntu}, v1.31.9+rke2r1] => noble-31 | k8s-version: 1.31.8+rke2r1 | 1.31.9\+rke2r1 | noble-30 | k8s-version: 1.30.12+rke2r1 | 1.31.9\+rke2r1
cluster: {k8s_version: 1.31.9+rke2r1, capm3: {os_image_selector: {os: ubuntu, _os_images_key_: noble-31}}}
    error control-plane [{os: ubuntu, _os_images_key_: noble-31}, 1.31.9+rke2r1] => noble-31 | k8s-version: 1.31.8+rke2r1 | 1.31.9\+rke2r1
cluster: {capm3: {os_image_selector: {os: ubuntu, k8s-version: '1.29.*'}}}
    error control-plane [{os: ubuntu, k8s-version: '1.29.*'}, '1.29.*'] => noble-31 | cluster.capm3.os_image_selector.k8s-version: '1\.31\.8\+rke2r1' | noble-30 | k8s-version: 1.30.12+rke2r1 | 1.29.*
# Several facts differ, or the image lacks the one: it is near, and there is no edit.
cluster: {capm3: {os_image_selector: {os: ubuntu, os-release: jammy, hardened: true, _os_images_key_: noble-31}}}
    error control-plane [{os: ubuntu, os-release: jammy, hardened: true, _os_images_key_: noble-31}] => noble-31 | hardened: false | true | os-release: noble | jammy
cluster: {capm3: {os_image_selector: {os: ubuntu, commit-tag: x, _os_images_key_: noble-31}}}
    error control-plane [{os: ubuntu, commit-tag: x, _os_images_key_: noble-31}, x] => noble-31 | commit-tag | x
# No regular expression matches nothing, and is named.
cluster: {capm3: {os_image_selector: {os: 'ubuntu(', _os_images_key_: noble-31}}}
    error control-plane [{os: 'ubuntu(', _os_images_key_: noble-31}, 'ubuntu('] => noble-31 | cluster.capm3.os_image_selector.os: ubuntu | os | ubuntu(
cluster: {capm3: {os_image_selector: {os: '(?!u)', _os_images_key_: noble-31}}}
    error control-plane [{os: '(?!u)', _os_images_key_: noble-31}, '(?!u)'] => os | (?!u) | noble-31 | os: ubuntu | (?!u)
# A selector that cannot be matched: reported here unless another rule reports what is wrong with it.
cluster: {k8s_version: null, capm3: {os_image_selector: {os: ubuntu}}}
    error control-plane [{os: ubuntu}]
cluster: {capi_providers: {bootstrap_provider: cabpx}, capm3: {os_image_selector: {os: ubuntu}}}
    error control-plane [{os: ubuntu}]
cluster: {k8s_version: null, capm3: {os_image_selector: {os: ubuntu, os-version: x}}}
cluster: {k8s_version: null, capm3: {os_image_selector: {os: 3}}}
cluster: {k8s_version: null, capm3: {os_image_selector: {os: ubuntu, mine: x, _use_extra_keys_: true}}}
    error control-plane [{os: ubuntu, mine: x, _use_extra_keys_: true}]
cluster: {k8s_version: null, capm3: {os_image_selector: {os: 3, mine: x, _use_extra_keys_: true}}}
cluster: {k8s_version: null, capm3: {os_image_selector: {mine: x, _use_extra_keys_: null}}}

"#]]);
}

/// A pool with a version of its own is finalized with the cluster's all the same, so no edit of the cluster's is offered.
#[test]
fn no_edit_of_the_clusters_version_for_a_pool_with_its_own() {
    each("no-image-matches").finds(str![[r#"
cluster: {k8s_version: v1.31.9+rke2r1, capm3: {os_image_selector: {_os_images_key_: noble-31}}, control_plane: {capm3: {image_key: noble-31, os_image_selector: null}}, machine_deployments: {md0: {k8s_version: v1.31.8+rke2r1}}}
    error md0 [{_os_images_key_: noble-31}, v1.31.8+rke2r1] => noble-31 | cluster.machine_deployments.md0.capm3.os_image_selector.k8s-version: '1\.31\.8\+rke2r1'

"#]]);
}

#[test]
fn near_misses_are_the_nearest_three() {
    let images: String = ["a", "b", "c", "d", "e"]
        .iter()
        .map(|name| format!("  im-{name}: {{uri: 'https://s/{name}', os: ubuntu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}}\n"))
        .collect();
    let far =
        "  far: {uri: 'https://s/f', os: suse, k8s-flavor: kubeadm, k8s-version: 1.31.8+rke2r1}\n";
    let found = |images: &str| {
        let cluster = "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {os_image_selector: {os: bsd}}}";
        Project::of(&format!("os_images:\n{far}{images}{cluster}"), "")
            .found("no-image-matches")
            .join("")
    };
    let edit = "os: ubuntu | bsd";
    assert_eq!(
        found(&images),
        format!(
            "error control-plane [{{os: bsd}}, bsd] => im-a | {edit} | im-b | {edit} | im-c | {edit}"
        )
    );
    assert_eq!(
        found(""),
        "error control-plane [{os: bsd}] => far | k8s-flavor: kubeadm | rke2 | os: suse | bsd"
    );
}

#[test]
fn a_selector_that_several_images_match() {
    each("several-images-match").finds(str![[r#"
cluster: {capm3: {os_image_selector: {os: ubuntu}}}
cluster: {capm3: {os_image_selector: {os: opensuse}}}
    error control-plane [{os: opensuse}] => suse-31 | cluster.capm3.os_image_selector.hardened: false | suse-hard-31 | cluster.capm3.os_image_selector.hardened: true
cluster: {capm3: {os_image_selector: {os: opensuse}, image_key: suse-31}}
    error control-plane [suse-31] => suse-31 | cluster.capm3.os_image_selector.hardened: false | suse-hard-31 | cluster.capm3.os_image_selector.hardened: true
cluster: {capm3: {os_image_selector: {os: opensuse}}, control_plane: {capm3: {os_image_selector: {hardened: true}}}, machine_deployments: {md0: {}}}
    error md0 [{os: opensuse}] => suse-31 | cluster.capm3.os_image_selector.hardened: false | suse-hard-31 | cluster.capm3.os_image_selector.hardened: true
# Told apart by the system, which two of three share; the third by nothing but its key.
cluster: {capm3: {os_image_selector: {hardened: 'false'}}}
    error control-plane [{hardened: 'false'}] => noble-31 | cluster.capm3.os_image_selector.os: ubuntu | suse-31 | cluster.capm3.os_image_selector.os: opensuse
os_images: {twin: {uri: x, os: ubuntu, os-release: noble, hardened: 'false', flavor: plain, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}}; cluster: {capm3: {os_image_selector: {os: ubuntu}}}
    error control-plane [{os: ubuntu}] => noble-31 | cluster.capm3.os_image_selector._os_images_key_: noble-31 | twin | cluster.capm3.os_image_selector._os_images_key_: twin

"#]]);
}

#[test]
fn a_key_that_no_image_has() {
    each("unknown-image").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {image_key: ''}}
cluster: {capm3: {image_key: zzzzzzzz}}
    error control-plane [zzzzzzzz]
cluster: {capm3: {image_key: blnak}}
    error control-plane [blnak] => blank
# One key is meant for certain: as many digits, two slips at most, no other as near.
cluster: {capm3: {image_key: nolbe-31}}
    error control-plane [nolbe-31] fix noble-31 => cluster.capm3.image_key: noble-31
cluster: {capm3: {image_key: noble-32}}
    error control-plane [noble-32]
# The builder's next name of the same line.
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-9: {}, ubuntu-noble-plain-rke2-1-32-1: {}, ubuntu-noble-hardened-rke2-1-31-10: {}}; cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-7}}
    error control-plane [ubuntu-noble-plain-rke2-1-31-7] fix ubuntu-noble-plain-rke2-1-31-9 => cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-9
os_images_oci_registries: {lab: {enabled: false}}; cluster: {capm3: {image_key: zzzzzzzz}}
    error control-plane [zzzzzzzz, lab] => os_images_oci_registries.lab.enabled: true

"#]]);
}

#[test]
fn a_registry_that_nobody_defines() {
    each("registry-unknown").finds(str![[r#"
sylva_diskimagebuilder_images: {img-a: {os_images_oci_registry: lab}}
sylva_diskimagebuilder_images: {img-a: {os_images_oci_registry: lba}}
    error - [img-a] => os_images_oci_registry: lab
sylva_diskimagebuilder_images: {img-a: {os_images_oci_registry: elsewhere}}
    error - [img-a] => os_images_oci_registries: {elsewhere: {url: oci://…, tag: …}}

"#]]);
}

/// The catalog of [`IMAGES`] is right in itself, so that what the rows find is what they are about.
#[test]
fn the_images_of_the_rows_have_no_error() {
    let project = Project::layered(IMAGES, "cluster: {capm3: {image_key: noble-31}}", "");
    let judged = project.judged();
    let errors = judged.iter().filter(|judged| judged.level == Level::Error);
    let errors: Vec<&str> = errors.map(|judged| judged.finding.rule.as_str()).collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn unknown_image() {
    let project = edge("capm3: {image_key: nobel-31}\nmachine_deployments: {md0: {}}");
    fails("unknown-image", &project, "check").brief(str![[r#"
error[unknown-image]: image `nobel-31` is not in the catalog
  edge.yaml:4:22 `nobel-31` none of the 2 images of the catalog
  cluster: edge, pool control-plane
  also in pools: md0
  help: did you mean `cluster.capm3.image_key: noble-31`?
1 error in 1 cluster; 0 node pools checked; 2 skipped: its image key is not in the catalog

"#]]);
    project.edit("edge.yaml", "nobel-31", "noble-31");
    passes("unknown-image", &project, "check");
}

#[test]
fn no_image_matches() {
    let project = edge("capm3: {os_image_selector: {os: ubuntu, os-release: '24.04'}}");
    fails("no-image-matches", &project, "check").brief(str![[r#"
error[no-image-matches]: no image matches the selector
  edge.yaml:4:30 `{os: ubuntu, os-release: '24.04'}` each of the catalog's 2 images differs
  edge.yaml:4:55 `'24.04'` the nearest image has `os-release: noble`
  cluster: edge, pool control-plane
  help: to boot `noble-31`: `cluster.capm3.os_image_selector.os-release: noble`
1 error in 1 cluster; 0 node pools checked; 1 skipped: no image matches its selector

"#]]);
    project.edit("edge.yaml", "'24.04'", "noble");
    passes("no-image-matches", &project, "check");
}

#[test]
fn several_images_match() {
    let project = booting(
        &[
            "noble-31 rke2 1.31.8+rke2r1 os=ubuntu hardened=false",
            "hard-31 rke2 1.31.8+rke2r1 os=ubuntu hardened=true",
        ],
        "capm3: {os_image_selector: {os: ubuntu}}",
    );
    fails("several-images-match", &project, "check").brief(str![[r#"
error[several-images-match]: 2 images match the selector: `hard-31`, `noble-31`
  edge.yaml:4:30 `{os: ubuntu}` one image is needed
  cluster: edge, pool control-plane
  help: to boot `hard-31`: `cluster.capm3.os_image_selector.hardened: true`
  help: to boot `noble-31`: `cluster.capm3.os_image_selector.hardened: false`
1 error in 1 cluster; 0 node pools checked; 1 skipped: several images match its selector

"#]]);
    project.edit("edge.yaml", "os: ubuntu", "os: ubuntu, hardened: false");
    passes("several-images-match", &project, "check");
}

#[test]
fn registry_unknown() {
    let project = bare("\
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
sylva_diskimagebuilder_images:
  noble-31: {os_images_oci_registry: silva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}", "capm3: {image_key: noble-31}");
    fails("registry-unknown", &project, "check").brief(str![[r#"
error[registry-unknown]: image `noble-31` comes from registry `silva`, which is not defined
  edge.yaml:3:3 `noble-31` this image
  cluster: edge
  help: did you mean `os_images_oci_registry: sylva`?
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "silva", "sylva");
    passes("registry-unknown", &project, "check");
}

#[test]
fn image_name_invalid() {
    let project = booting(
        &[
            "noble-31 rke2 1.31.8+rke2r1",
            "Ubuntu_Noble rke2 1.31.8+rke2r1",
        ],
        "capm3: {image_key: noble-31}",
    );
    fails("image-name-invalid", &project, "check").brief(str![[r#"
error[image-name-invalid]: `Ubuntu_Noble` cannot name an image
  catalog.yaml:3:3 `Ubuntu_Noble` it holds 'U'
  cluster: edge
  help: use 3 to 52 lower-case letters, digits and dashes
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("catalog.yaml", "  Ubuntu_Noble:", "  ubuntu-noble:");
    passes("image-name-invalid", &project, "check");
}

#[test]
fn image_name_collision() {
    let project = bare("\
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
sylva_diskimagebuilder_images:
  noble-1.31: {os_images_oci_registry: sylva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}
  noble-1-31: {os_images_oci_registry: sylva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}", "capm3: {image_key: noble-1-31}");
    fails("image-name-collision", &project, "check").brief(str![[r#"
error[image-name-collision]: the images `noble-1.31` and `noble-1-31` have the same key, `noble-1-31`
  edge.yaml:4:3 `noble-1-31` this one counts
  edge.yaml:3:3 `noble-1.31` this one is lost
  help: remove one of them, or give it another name
1 error; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "  noble-1-31: {os_images_oci_registry: sylva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}\n", "");
    passes("image-name-collision", &project, "check");
}
