//! Pools that choose in more ways than one, or not at all, and images that nobody serves or uses.

use super::super::support::project::Project;
use super::rows::{IMAGES, each};

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

/// A slip in a key leaves the pool on the image that it inherits.
#[test]
fn a_key_that_is_almost_known_is_reported() {
    each(
        "key-misspelled",
        &[
            (
                "cluster: {capm3: {image_key: noble-31}, control_plane: {capm3: {image_kye: suse-31}}}",
                &["error - [image_kye] => image_key"],
            ),
            (
                "cluster: {capm3: {image_key: noble-31, os_image_selctor: {os: ubuntu}, machine_image_urls: x}}",
                &[
                    "error - [machine_image_urls] => machine_image_url",
                    "error - [os_image_selctor] => os_image_selector",
                ],
            ),
            (
                "clutser: {capm3: {image_key: suse-31}}\nsylva_diskimagebuilder_imges: {}\ncluster: {capm3: {image_key: noble-31}}",
                &[
                    "error - [clutser] => cluster",
                    "error - [sylva_diskimagebuilder_imges] => sylva_diskimagebuilder_images",
                ],
            ),
            (
                "cluster: {capi_providers: {infra_providr: capo}, capm3: {image_key: noble-31}}",
                &["error - [infra_providr] => infra_provider"],
            ),
            (
                "cluster: {k8s_verison: v1.31.8+rke2r1, capi_provider: {}, machine_deployment: {}, capm3: {image_key: noble-31}, machine_deployments: {md0: {k8s_versions: v1.30.1}}}",
                &[
                    "error - [capi_provider] => capi_providers",
                    "error - [k8s_verison] => k8s_version",
                    "error - [machine_deployment] => machine_deployments",
                    "error - [k8s_versions] => k8s_version",
                ],
            ),
            // Keys of the chart's own, and words that are near none.
            (
                "cluster_virtual_ip: x\nunits: {cluster: {}}\ncluster: {cni: {}, capo: {image_name: x}, capm3: {image_key: noble-31, hostSelector: {}, networks: {}, machine_image: x}}",
                &[],
            ),
        ],
    );
}

/// Where nothing is known of the provider, or several select an image, the image that boots is not the one that was checked.
#[test]
fn an_infrastructure_provider_is_known_and_the_only_one() {
    let provider = |name: &str| {
        format!(
            "cluster: {{capi_providers: {{infra_provider: {name}}}, capm3: {{image_key: noble-31}}}}"
        )
    };
    for (name, expected) in [
        ("capm3", &[][..]),
        ("capm33", &["error - [capm33] => capm3"]),
        (
            "spaceship",
            &[
                "error - [spaceship] => capa | capg | capm3 | capo | capv | capz | docker | elemental | hetzner | kubevirt | proxmox | tinkerbell",
            ],
        ),
    ] {
        let project = Project::layered(IMAGES, &provider(name), "");
        assert_eq!(project.found("provider-unknown"), expected, "{name}");
    }
    let unset = |cluster: &str| {
        let values = format!(
            "os_images: {{a: {{uri: x, k8s-version: 1.30.1}}}}\ncluster: {{k8s_version: v1.31.8, {cluster}}}"
        );
        let project = Project::of(&values, "");
        let infra = project.view().cluster.infra_provider;
        let infra = infra.map(|infra| infra.value.to_string());
        (
            infra.unwrap_or_default(),
            project.found("provider-unknown").len(),
        )
    };
    for (cluster, expected) in [
        ("capo: {image_key: a}", "capo"),
        ("capv: {image_name: a}", "capv"),
        ("capm3: {}, capo: {image_key: a}", "capo"),
        (
            "capm3: {}, capo: {}, control_plane: {capo: {image_key: a}}",
            "capo",
        ),
        (
            "capm3: {}, capo: {}, machine_deployments: {md0: {capo: {image_key: a}}}",
            "capo",
        ),
        ("capm3: {}, capo: {}", "capm3"),
    ] {
        assert_eq!(unset(cluster), (expected.to_owned(), 0), "{cluster}");
    }
    let both = "capm3: {image_key: a}, control_plane: {capo: {image_key: a}}";
    assert_eq!(unset(both), ("capm3".to_owned(), 1));
}

/// `image_key` and `os_image_key` are one setting: at one level they agree.
#[test]
fn the_two_names_of_a_key_agree() {
    each(
        "choice-conflict",
        &[
            (
                "cluster: {capm3: {image_key: noble-31, os_image_key: noble-31}}",
                &[],
            ),
            (
                "cluster: {capm3: {image_key: noble-31, os_image_key: suse-31}}",
                &["error control-plane [noble-31, suse-31]"],
            ),
            (
                "cluster: {capm3: {os_image_key: suse-31}, control_plane: {capm3: {image_key: noble-31}}}",
                &[],
            ),
        ],
    );
}

/// Help names lists and keys as the user wrote them: both names of the builder's list at once would be two images.
#[test]
fn help_uses_the_names_that_the_user_wrote() {
    let values = "diskimage_builder_version: 1\n\
                  diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {enabled: false}, ubuntu-noble-plain-rke2-1-31-9: {enabled: true}}\n\
                  cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {os_image_key: ubuntu-noble-plain-rke2-1-31-8}}";
    let found = Project::of(values, "").found("image-not-enabled");
    let edit = "diskimage_builder_os_images.ubuntu-noble-plain-rke2-1-31-8.enabled: true";
    assert!(found[0].ends_with(edit), "{found:?}");
}
