//! Pools that choose in more ways than one, or not at all, and images that nobody serves or uses.

use super::super::support::project::Project;
use super::rows::each;

#[test]
fn one_pool_says_in_one_way_which_image_it_boots() {
    each(
        "choice-conflict",
        &[
            ("cluster: {capm3: {image_key: noble-31}}", &[]),
            (
                "cluster: {capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}}",
                &["error control-plane [noble-31, 'https://s/x']"],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}, machine_image_url: 'https://s/x'}}",
                &["error control-plane [{os: ubuntu}, 'https://s/x']"],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {machine_image_url: 'https://s/x'}}}",
                &["error control-plane [{os: ubuntu}, 'https://s/x']"],
            ),
            (
                "cluster: {capm3: {image_key: '', machine_image_url: 'https://s/x'}}",
                &[],
            ),
            (
                "cluster: {capm3: {image_key: noble-31, machine_image_url: ''}}",
                &[],
            ),
            (
                "cluster: {capm3: {image_key: noble-31, os_image_selector: {}}}",
                &[],
            ),
            (
                "cluster: {capm3: {image_key: noble-31, os_image_selector: false}}",
                &[],
            ),
            // A selector from below beside a key: both mean one image, or it is a disagreement.
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: noble-31}}}",
                &[],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: suse-31}}}",
                &["error control-plane [suse-31, {os: ubuntu}] => suse-31 | noble-31"],
            ),
            (
                "cluster: {capm3: {image_key: suse-31}, control_plane: {capm3: {os_image_selector: {os: ubuntu}}}}",
                &["error control-plane [suse-31, {os: ubuntu}] => suse-31 | noble-31"],
            ),
            // A selector that matches two or none leaves two ways that name no one image.
            (
                "cluster: {capm3: {os_image_selector: {os: opensuse}}, control_plane: {capm3: {image_key: suse-31}}}",
                &["error control-plane [suse-31, {os: opensuse}]"],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os: windows}}, control_plane: {capm3: {image_key: suse-31}}}",
                &["error control-plane [suse-31, {os: windows}]"],
            ),
            // What one level of another pool writes is not this pool's.
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}}}}",
                &["error md0 [noble-31, {os: ubuntu}, 'https://s/x']"],
            ),
        ],
    );
    // One level may write a key and a selector that mean one image: so do the library's own tests.
    each(
        "choice-conflict",
        &[(
            "cluster: {capm3: {image_key: noble-31, os_image_selector: {os: ubuntu}}}",
            &[],
        )],
    );
}

#[test]
fn metal3_needs_an_image_in_every_pool() {
    each(
        "image-not-chosen",
        &[
            ("cluster: {capm3: {image_key: noble-31}}", &[]),
            (
                "cluster: {}",
                &["error - [capm3] => cluster.capm3.image_key: …"],
            ),
            (
                "cluster: {machine_deployments: {md0: {}}}",
                &["error - [capm3] => cluster.capm3.image_key: …"],
            ),
            (
                "cluster: {control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {}, md1: {capm3: {image_key: ''}}}}",
                &[
                    "error md0 [md0, capm3] => cluster.capm3.image_key: …",
                    "error md1 ['', capm3] => cluster.capm3.image_key: …",
                ],
            ),
            // Another outcome is another rule's.
            ("cluster: {capm3: {image_key: gone}}", &[]),
            ("cluster: {capm3: {os_image_selector: {os: windows}}}", &[]),
            ("cluster: {capm3: {machine_image_url: 'https://s/x'}}", &[]),
            // A custom deploy step boots what it likes; null is none.
            ("cluster: {capm3: {customDeploy: {method: install}}}", &[]),
            (
                "cluster: {capm3: {customDeploy: null}}",
                &["error - [capm3] => cluster.capm3.image_key: …"],
            ),
            (
                "cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {capm3: {image_key: '', customDeploy: null}}, md1: {capm3: {image_key: '', customDeploy: {method: install}}}}}",
                &["error md0 ['', capm3] => cluster.capm3.image_key: …"],
            ),
            // Other providers have images of their own.
            ("cluster: {capi_providers: {infra_provider: capo}}", &[]),
            // An expression names the provider as well as text does.
            (
                "it: capm3\ncluster: {capi_providers: {infra_provider: '{{ .Values.it }}'}}",
                &["error - ['{{ .Values.it }}'] => cluster.capm3.image_key: …"],
            ),
            // A choice that could not be read may be there.
            ("cluster: {capm3: {image_key: '{{ fail \"x\" }}'}}", &[]),
            (
                "cluster: {capm3: {image_key: '{{ .Values.no.such.thing }}'}}",
                &[],
            ),
            ("cluster: {capm3: {image_key: [a]}}", &[]),
            // What else was found hides nothing.
            (
                "os_images: {Wrong_Name: {uri: x}}\ncluster: {}",
                &["error - [capm3] => cluster.capm3.image_key: …"],
            ),
        ],
    );
    // Nobody wrote the provider: it is only presumed.
    let project = Project::of("cluster: {k8s_version: v1.31.8}", "");
    assert!(project.found("image-not-chosen").is_empty());
}

#[test]
fn an_image_that_nobody_serves() {
    let built = |entries: &str| {
        let values = format!(
            "os_images_oci_registries: {{on: {{url: 'oci://a.b', tag: 1}}}}\nsylva_diskimagebuilder_images: {{{entries}}}\n\
             cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3}}, capm3: {{image_key: img-a}}}}"
        );
        Project::of(&values, "").found("image-not-enabled")
    };
    let none: [&str; 0] = [];
    assert_eq!(built("img-a: {os_images_oci_registry: on}"), none);
    assert_eq!(
        built("img-a: {os_images_oci_registry: on, enabled: true}, img-b: {enabled: false}"),
        none
    );
    assert_eq!(
        built("img-a: {os_images_oci_registry: on, enabled: false}"),
        ["error control-plane [img-a, false] => sylva_diskimagebuilder_images.img-a.enabled: true"]
    );
    assert_eq!(
        built("img-a: {os_images_oci_registry: on}, img-b: {enabled: true}"),
        ["error control-plane [img-a, img-a] => sylva_diskimagebuilder_images.img-a.enabled: true"]
    );
}

#[test]
fn an_image_that_no_cluster_uses() {
    let unused = |values: &str, more: &str| {
        let values =
            format!("cluster: {{k8s_version: v1.31.8, capm3: {{image_key: img-a}}}}\n{values}");
        Project::layered(&values, "{}", more).found("image-unused")
    };
    let none: [&str; 0] = [];
    assert_eq!(unused("os_images: {img-a: {uri: x}}", ""), none);
    assert_eq!(
        unused("os_images: {img-a: {uri: x}, img-b: {uri: y}}", ""),
        ["warning - [img-b] => os_images.img-b"]
    );
    assert_eq!(
        unused(
            "os_images: {img-a: {uri: x}, img-b: {uri: y}}",
            "images: {serve-all: true}\n"
        ),
        none
    );
    assert_eq!(
        unused(
            "os_images: {img-a: {uri: x}, img-b: {uri: y, os: suse}}\nos_image_server_additional_selectors: {x: {os: suse}}",
            ""
        ),
        none
    );
    assert_eq!(
        unused(
            "os_images: {img-a: {uri: x, enabled: true}, img-b: {uri: y, enabled: true}}",
            ""
        ),
        ["warning - [true] => os_images.img-b.enabled: false"]
    );
    assert_eq!(
        unused(
            "os_images: {img-a: {uri: x, enabled: true}, img-b: {uri: y, enabled: false}}",
            ""
        ),
        none
    );
    assert_eq!(
        unused(
            "os_images: {img-a: {uri: x}}\nsylva_diskimagebuilder_version: 1\nsylva_diskimagebuilder_images: {img-b: {}}",
            ""
        ),
        none
    );
}
