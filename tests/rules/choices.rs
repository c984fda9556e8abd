//! Pools that choose in more ways than one, or not at all, and images that nobody serves or uses.

use snapbox::str;

use super::super::support::project::Project;
use super::super::support::stage::project;
use super::rows::{IMAGES, assert_cases, each};
use super::{bare, edge, fails, passes, warns};

#[test]
fn one_pool_says_in_one_way_which_image_it_boots() {
    each("choice-conflict").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}}
    error control-plane [noble-31, 'https://s/x']
cluster: {capm3: {os_image_selector: {os: ubuntu}, machine_image_url: 'https://s/x'}}
    error control-plane [{os: ubuntu}, 'https://s/x']
cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {machine_image_url: 'https://s/x'}}}
    error control-plane [{os: ubuntu}, 'https://s/x']
cluster: {capm3: {image_key: '', machine_image_url: 'https://s/x'}}
cluster: {capm3: {image_key: noble-31, machine_image_url: ''}}
cluster: {capm3: {image_key: noble-31, os_image_selector: {}}}
cluster: {capm3: {image_key: noble-31, os_image_selector: false}}
# A selector from below beside a key: both mean one image, or it is a disagreement.
cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: noble-31}}}
cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: suse-31}}}
    error control-plane [suse-31, {os: ubuntu}] => suse-31 | noble-31
cluster: {capm3: {image_key: suse-31}, control_plane: {capm3: {os_image_selector: {os: ubuntu}}}}
    error control-plane [suse-31, {os: ubuntu}] => suse-31 | noble-31
# A selector that matches two or none leaves two ways that name no one image.
cluster: {capm3: {os_image_selector: {os: opensuse}}, control_plane: {capm3: {image_key: suse-31}}}
    error control-plane [suse-31, {os: opensuse}]
cluster: {capm3: {os_image_selector: {os: windows}}, control_plane: {capm3: {image_key: suse-31}}}
    error control-plane [suse-31, {os: windows}]
# What one level of another pool writes is not this pool's.
cluster: {capm3: {os_image_selector: {os: ubuntu}}, control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}}}}
    error md0 [noble-31, {os: ubuntu}, 'https://s/x']

"#]]);
    // One level may write a key and a selector that mean one image: so do the library's own tests.
    each("choice-conflict").finds(str![[r#"
cluster: {capm3: {image_key: noble-31, os_image_selector: {os: ubuntu}}}

"#]]);
}

#[test]
fn metal3_needs_an_image_in_every_pool() {
    each("image-not-chosen").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {}
    error - [capm3] => cluster.capm3.image_key: …
cluster: {machine_deployments: {md0: {}}}
    error - [capm3] => cluster.capm3.image_key: …
cluster: {control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {}, md1: {capm3: {image_key: ''}}}}
    error md0 [md0, capm3] => cluster.capm3.image_key: …
    error md1 ['', capm3] => cluster.capm3.image_key: …
# Another outcome is another rule's.
cluster: {capm3: {image_key: gone}}
cluster: {capm3: {os_image_selector: {os: windows}}}
cluster: {capm3: {machine_image_url: 'https://s/x'}}
# A custom deploy step boots what it likes; null is none.
cluster: {capm3: {customDeploy: {method: install}}}
cluster: {capm3: {customDeploy: null}}
    error - [capm3] => cluster.capm3.image_key: …
cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {capm3: {image_key: '', customDeploy: null}}, md1: {capm3: {image_key: '', customDeploy: {method: install}}}}}
    error md0 ['', capm3] => cluster.capm3.image_key: …
# Other providers have images of their own.
cluster: {capi_providers: {infra_provider: capo}}
# An expression names the provider as well as text does.
it: capm3; cluster: {capi_providers: {infra_provider: '{{ .Values.it }}'}}
    error - ['{{ .Values.it }}'] => cluster.capm3.image_key: …
# A choice that could not be read may be there.
cluster: {capm3: {image_key: '{{ fail "x" }}'}}
cluster: {capm3: {image_key: '{{ .Values.no.such.thing }}'}}
cluster: {capm3: {image_key: [a]}}
# What else was found hides nothing.
os_images: {Wrong_Name: {uri: x}}; cluster: {}
    error - [capm3] => cluster.capm3.image_key: …

"#]]);
    // Nobody wrote the provider: it is only presumed.
    let project = Project::of("cluster: {k8s_version: v1.31.8}", "");
    assert!(project.found("image-not-chosen").is_empty());
}

#[test]
fn an_image_that_nobody_serves() {
    let of = |entries: &str| {
        let values = format!(
            "os_images_oci_registries: {{on: {{url: 'oci://a.b', tag: 1}}}}\nsylva_diskimagebuilder_images: {{{entries}}}\n\
             cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3}}, capm3: {{image_key: img-a}}}}"
        );
        Project::of(&values, "").found("image-not-enabled")
    };
    assert_cases(
        str![[r#"
img-a: {os_images_oci_registry: on}
img-a: {os_images_oci_registry: on, enabled: true}, img-b: {enabled: false}
img-a: {os_images_oci_registry: on, enabled: false}
    error control-plane [img-a, false] => sylva_diskimagebuilder_images.img-a.enabled: true
img-a: {os_images_oci_registry: on}, img-b: {enabled: true}
    error control-plane [img-a, img-a] => sylva_diskimagebuilder_images.img-a.enabled: true

"#]],
        of,
    );
}

#[test]
fn an_image_that_no_cluster_uses() {
    let unused = |values: &str, more: &str| {
        let values =
            format!("cluster: {{k8s_version: v1.31.8, capm3: {{image_key: img-a}}}}\n{values}");
        Project::layered(&values, "{}", more).found("image-unused")
    };
    assert_cases(
        str![[r#"
os_images: {img-a: {uri: x}}
os_images: {img-a: {uri: x}, img-b: {uri: y}}
    warning - [img-b] => os_images.img-b
os_images: {img-a: {uri: x}, img-b: {uri: y, os: suse}}; os_image_server_additional_selectors: {x: {os: suse}}
os_images: {img-a: {uri: x, enabled: true}, img-b: {uri: y, enabled: true}}
    warning - [true] => os_images.img-b.enabled: false
os_images: {img-a: {uri: x, enabled: true}, img-b: {uri: y, enabled: false}}
os_images: {img-a: {uri: x}}; sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {img-b: {}}

"#]],
        |case| unused(case, ""),
    );
    let both = "os_images: {img-a: {uri: x}, img-b: {uri: y}}";
    assert_eq!(unused(both, "images: {serve-all: true}\n"), [""; 0]);
    // Which image of the catalog a pool means is not known, and a chart's list says what exists.
    assert_eq!(unused(&both.replace("img-a", "img-c"), ""), [""; 0]);
    let listed = both.replace("img-b", "lab--img-b");
    let registries = "; os_images_oci_registries: {lab: {url: 'oci://r.example/os', tag: 1}}";
    assert_eq!(unused(&(listed.clone() + registries), ""), [""; 0]);
    assert_eq!(unused(&listed, "").len(), 1);
}

/// A slip in a key leaves the pool on the image that it inherits.
#[test]
fn a_key_that_is_almost_known_is_reported() {
    each("key-misspelled").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}, control_plane: {capm3: {image_kye: suse-31}}}
    error - [image_kye] => image_key
cluster: {capm3: {image_key: noble-31, os_image_selctor: {os: ubuntu}, machine_image_urls: x}}
    error - [machine_image_urls] => machine_image_url
    error - [os_image_selctor] => os_image_selector
clutser: {capm3: {image_key: suse-31}}; sylva_diskimagebuilder_imges: {}; cluster: {capm3: {image_key: noble-31}}
    error - [clutser] => cluster
    error - [sylva_diskimagebuilder_imges] => sylva_diskimagebuilder_images
cluster: {capi_providers: {infra_providr: capo}, capm3: {image_key: noble-31}}
    error - [infra_providr] => infra_provider
cluster: {k8s_verison: v1.31.8+rke2r1, capi_provider: {}, machine_deployment: {}, capm3: {image_key: noble-31}, machine_deployments: {md0: {k8s_versions: v1.30.1}}}
    error - [capi_provider] => capi_providers
    error - [k8s_verison] => k8s_version
    error - [machine_deployment] => machine_deployments
    error - [k8s_versions] => k8s_version
os_images_oci_registries: {own: {url: x, cosign_public_key: x}}; security: {os_images: {cosign_publickey: x}}; cluster: {capm3: {image_key: noble-31}}
    error - [cosign_public_key] => cosign_publickey
    error - [cosign_publickey] => cosign_public_key
# Keys of the chart's own, and words that are near none.
cluster_virtual_ip: x; units: {cluster: {}}; cluster: {cni: {}, capo: {image_name: x}, capm3: {image_key: noble-31, hostSelector: {}, networks: {}, machine_image: x}}

"#]]);
}

/// Where nothing is known of the provider, or several select an image, the image that boots is not the one that was checked.
#[test]
fn an_infrastructure_provider_is_known_and_the_only_one() {
    let of = |name: &str| {
        let values = format!(
            "cluster: {{capi_providers: {{infra_provider: {name}}}, capm3: {{image_key: noble-31}}}}"
        );
        Project::layered(IMAGES, &values, "").found("provider-unknown")
    };
    assert_cases(
        str![[r#"
capm3
capm33
    error - [capm33] => capm3
spaceship
    error - [spaceship] => capa | capg | capm3 | capo | capv | capz | docker | elemental | hetzner | kubevirt | proxmox | tinkerbell

"#]],
        of,
    );
    // Where it is unset, it is that of the pools' keys, or of Metal3.
    let of = |cluster: &str| {
        let values = format!(
            "os_images: {{a: {{uri: x, k8s-version: 1.30.1}}}}\ncluster: {{k8s_version: v1.31.8, {cluster}}}"
        );
        let project = Project::of(&values, "");
        let infra = project.view().cluster.infra_provider;
        let infra = infra.map(|infra| infra.value.to_string());
        let unknown = project.found("provider-unknown").len();
        vec![format!("{}, {unknown} unknown", infra.unwrap_or_default())]
    };
    assert_cases(
        str![[r#"
capo: {image_key: a}
    capo, 0 unknown
capv: {image_name: a}
    capv, 0 unknown
capm3: {}, capo: {image_key: a}
    capo, 0 unknown
# Of two providers, the one that selects an image; other settings select nothing.
capm3: {nodeReuse: true}, capo: {image_key: a}
    capo, 0 unknown
capm3: {}, capo: {}, control_plane: {capo: {image_key: a}}
    capo, 0 unknown
capm3: {}, capo: {}, machine_deployments: {md0: {capo: {image_key: a}}}
    capo, 0 unknown
capm3: {}, capo: {}
    capm3, 0 unknown
capm3: {image_key: a}, control_plane: {capo: {image_key: a}}
    capm3, 1 unknown

"#]],
        of,
    );
}

/// `image_key` and `os_image_key` are one setting: at one level they agree.
#[test]
fn the_two_names_of_a_key_agree() {
    each("choice-conflict").finds(str![[r#"
cluster: {capm3: {image_key: noble-31, os_image_key: noble-31}}
cluster: {capm3: {image_key: noble-31, os_image_key: suse-31}}
    error control-plane [noble-31, suse-31]
cluster: {capm3: {os_image_key: suse-31}, control_plane: {capm3: {image_key: noble-31}}}

"#]]);
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

#[test]
fn choice_conflict() {
    let project = edge("capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}");
    fails("choice-conflict", &project, "check").screen(str![[r#"
error[choice-conflict]: `image_key` and `machine_image_url` each select an image
 --> edge.yaml:4:22
  |
4 |   capm3: {image_key: noble-31, machine_image_url: 'https://s/x'}
  |                      ^^^^^^^^ `image_key` selects ------------- `machine_image_url` selects
  |
  = cluster: edge, pool control-plane
  = help: keep one of them

1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", ", machine_image_url: 'https://s/x'", "");
    passes("choice-conflict", &project, "check");
}

#[test]
fn image_not_chosen() {
    let project = edge("capm3: {imagekey: noble-31}\nmachine_deployments: {md0: {}}");
    fails("image-not-chosen", &project, "check").brief(str![[r#"
error[key-misspelled]: `cluster.capm3.imagekey` has no effect, and is almost `cluster.capm3.image_key`
  edge.yaml:4:11 `imagekey` this key
  cluster: edge
  help: write `image_key`
error[image-not-chosen]: no node pool selects an image
  edge.yaml:3:36 `capm3` Metal3 needs an image
  cluster: edge
  help: `cluster.capm3.image_key: …`
2 errors in 1 cluster; 0 node pools checked; 2 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "imagekey", "image_key");
    passes("image-not-chosen", &project, "check");
}

#[test]
fn image_not_enabled() {
    let project = bare("\
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
sylva_diskimagebuilder_images:
  noble-31: {enabled: false, os_images_oci_registry: sylva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}
  noble-30: {enabled: true, os_images_oci_registry: sylva}", "capm3: {image_key: noble-31}");
    fails("image-not-enabled", &project, "check").brief(str![[r#"
error[image-not-enabled]: image `noble-31` is not served
  edge.yaml:8:22 `noble-31` selected here
  edge.yaml:3:23 `false` not enabled here
  cluster: edge, pool control-plane
  help: `sylva_diskimagebuilder_images.noble-31.enabled: true`
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "enabled: false", "enabled: true");
    passes("image-not-enabled", &project, "check");
}

#[test]
fn cluster_unlisted() {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}";
    let mut project = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .settings("clusters: [{each: 'sites/*/values.yaml'}]");
    for site in ["paris", "north/lyon", "north/lille"] {
        project = project.file(&format!("sites/{site}/values.yaml"), values);
    }
    warns("cluster-unlisted", &project, "check").brief(str![[r#"
warning[cluster-unlisted]: no cluster reads `sites/north/lille/values.yaml`, which has the key `cluster`, and 1 more
  sites/north/lille/values.yaml
  help: name it below `clusters`, by itself or by a pattern: `**/` matches folders of any depth
  help: so is `sites/north/lyon/values.yaml`
1 warning; 1 node pool checked: 1 proven

"#]]);
    project.edit("metalmark.yaml", "sites/*/", "sites/**/");
    passes("cluster-unlisted", &project, "check");
}

#[test]
fn image_unused() {
    let project = project()
        .catalog(&[
            "noble-31 rke2 1.31.8+rke2r1",
            "noble-30 rke2 1.30.12+rke2r1",
        ])
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
        );
    warns("image-unused", &project, "check").brief(str![[r#"
warning[image-unused]: no cluster uses image `noble-30`
  catalog.yaml:3:3 `noble-30` declared here
  help: remove `os_images.noble-30`
1 warning; 1 node pool checked: 1 proven

"#]]);
    project.edit("catalog.yaml", "noble-30: {", "noble-30: {enabled: false, ");
    project.edit("catalog.yaml", "noble-31: {", "noble-31: {enabled: true, ");
    passes("image-unused", &project, "check");
}

#[test]
fn key_misspelled() {
    let project =
        edge("capm3: {image_key: noble-31}\ncontrol_plane: {capm3: {image_kye: noble-30}}");
    fails("key-misspelled", &project, "check").brief(str![[r#"
error[key-misspelled]: `cluster.control_plane.capm3.image_kye` has no effect, and is almost `cluster.control_plane.capm3.image_key`
  edge.yaml:5:27 `image_kye` this key
  cluster: edge
  help: write `image_key`
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit(
        "edge.yaml",
        "  control_plane: {capm3: {image_kye: noble-30}}\n",
        "",
    );
    passes("key-misspelled", &project, "check");
}

#[test]
fn a_misspelled_key_at_the_root_of_an_environment_names_the_nearest_one() {
    let root = "\
k8s_version_shrt: '1.30'
os_imges: {}
osimages: {}
securityy: {os_images: {skip_signing_check: true}}
";
    let project = edge("capm3: {image_key: noble-31}");
    project.write("edge.yaml", project.read("edge.yaml") + root);
    fails("key-misspelled", &project, "check").brief(str![[r#"
error[key-misspelled]: `k8s_version_shrt` has no effect, and is almost `k8s_version_short`
  edge.yaml:5:1 `k8s_version_shrt` this key
  cluster: edge
  help: write `k8s_version_short`
error[key-misspelled]: `os_imges` has no effect, and is almost `os_images`
  edge.yaml:6:1 `os_imges` this key
  cluster: edge
  help: write `os_images`
error[key-misspelled]: `osimages` has no effect, and is almost `os_images`
  edge.yaml:7:1 `osimages` this key
  cluster: edge
error[key-misspelled]: `securityy` has no effect, and is almost `security`
  edge.yaml:8:1 `securityy` this key
  cluster: edge
  help: write `security`
4 errors in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    // A key that is near none.
    project.write(
        "edge.yaml",
        project
            .read("edge.yaml")
            .replace(root, "k8s_versions: {}\n"),
    );
    passes("key-misspelled", &project, "check");
}

#[test]
fn provider_unknown() {
    let project = edge("capm3: {image_key: noble-31}");
    project.edit(
        "edge.yaml",
        "infra_provider: capm3",
        "infra_provider: capm33",
    );
    fails("provider-unknown", &project, "check").brief(str![[r#"
error[provider-unknown]: nothing is known of the infrastructure provider `capm33`
  edge.yaml:3:36 `capm33` its images are not checked
  cluster: edge
  help: did you mean `capm3`?
1 error in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    // What its pools boot is not known, so no image is unused.
    project.check().findings(str![[r#"
error[provider-unknown] edge edge.yaml:3:36 `capm33` => capm3

"#]]);
    project.edit("edge.yaml", "capm33", "capm3");
    passes("provider-unknown", &project, "check");
}

/// A component in the folder of the environments changes nothing before one of them lists it.
#[test]
fn a_component_that_no_environment_lists_is_reported() {
    let mut project = project().folder("fixtures/workspaces/sylva-flux");
    for name in ["hardened", "proxy"] {
        project = project.file(
            &format!("environment-values/components/{name}/kustomization.yaml"),
            format!(
                "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nconfigMapGenerator: [{{name: {name}, literals: [a=b]}}]\n"
            ),
        );
    }
    warns("cluster-unlisted", &project, "check").brief(str![[r#"
warning[cluster-unlisted]: no environment lists the component `environment-values/components/hardened`, and 1 more
  environment-values/components/hardened
  help: list it under `components` in the kustomization.yaml of each environment that it is for
  help: so is `environment-values/components/proxy`
1 warning; 6 node pools checked: 6 proven

"#]]);
    project.edit(
        "environment-values/paris/kustomization.yaml",
        "components: [../virt-base/ha]",
        "components: [../virt-base/ha, ../components/hardened, ../components/proxy]",
    );
    passes("cluster-unlisted", &project, "check");
}
