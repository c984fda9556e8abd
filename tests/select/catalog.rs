//! The catalog that pools select from: references, registries, and which images are served.

use super::super::support::project::Project;
use super::{CLUSTER, answer, rows};

/// The reference of the image `img-a`, and the rules that report at error level that it has none.
fn reference(values: &str) -> (Option<String>, bool) {
    let project = Project::of(&format!("{values}{CLUSTER}"), "");
    let view = project.view();
    let uri = view
        .images
        .get("img-a")
        .and_then(|image| image.uri.as_ref());
    let incomplete = !project.found("registry-unknown").is_empty();
    (uri.map(|uri| uri.value.to_string()), incomplete)
}

#[test]
fn a_reference_is_the_registrys_url_and_tag_and_the_version_only_where_there_is_no_tag() {
    let image = "sylva_diskimagebuilder_images: {img-a: {os_images_oci_registry: lab}}\n";
    let bare = "sylva_diskimagebuilder_images: {img-a: {}}\n";
    let own = "os_images: {img-a: {uri: 'oci://own.org/x:7'}}\n";
    let version = "sylva_diskimagebuilder_version: 0.4.12\n";
    let old = "diskimage_builder_version: 0.1.1\n";
    let tagged = "os_images_oci_registries: {lab: {url: 'oci://lab.org/os/', tag: 0.4.11}}\n";
    let untagged = "os_images_oci_registries: {lab: {url: 'oci://lab.org/os'}}\n";
    let no_url = "os_images_oci_registries: {lab: {tag: 0.4.11}}\n";
    let base = "sylva_base_oci_registry: 'oci://base.org/mirror/'\n";
    let other = "os_images: {img-b: {uri: 'oci://own.org/b:7'}}\n";
    let layer = |name: &str| match name {
        "image" => image,
        "bare" => bare,
        "own" => own,
        "other" => other,
        "nameless" => "os_images: {img-a: {sha256: x}}\n",
        "version" => version,
        "old" => old,
        "tagged" => tagged,
        "untagged" => untagged,
        "no_url" => no_url,
        "base" => base,
        name => panic!("{name}"),
    };
    for [layers, expected] in rows(
        "
        image tagged version | oci://lab.org/os/img-a:0.4.11
        image untagged version | oci://lab.org/os/img-a:0.4.12
        image untagged old | oci://lab.org/os/img-a:0.1.1
        image untagged old version | oci://lab.org/os/img-a:0.4.12
        image tagged | oci://lab.org/os/img-a:0.4.11
        image untagged |
        image no_url version |
        image tagged version base | oci://lab.org/os/img-a:0.4.11
        bare tagged version | oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder/img-a:0.4.12
        bare version base | oci://base.org/mirror/sylva-elements/diskimage-builder/img-a:0.4.12
        bare tagged |
        other image untagged version | oci://lab.org/os/img-a:0.4.12
        other bare version base | oci://base.org/mirror/sylva-elements/diskimage-builder/img-a:0.4.12
        own tagged version base | oci://own.org/x:7
        nameless tagged version |
        ",
    ) {
        let values: String = layers.split(' ').map(layer).collect();
        let (found, incomplete) = reference(&values);
        assert_eq!(found.unwrap_or_default(), expected, "{values}");
        assert_eq!(incomplete, expected.is_empty(), "{values}");
    }
}

#[test]
fn enabled_decides_what_is_served_as_soon_as_any_image_has_it() {
    for [entries, expected] in rows(
        "
        a: {}, b: {} | img-a
        a: {enabled: true}, b: {} | img-a
        a: {}, b: {enabled: true} | img-b
        a: {enabled: false}, b: {} |
        a: {enabled: false}, b: {enabled: false} |
        a: {enabled: true}, b: {enabled: true} | img-a img-b
        a: {default_enabled: true}, b: {enabled: true} | img-a img-b
        a: {default_enabled: true}, b: {default_enabled: false} | img-a
        a: {default_enabled: true, enabled: false}, b: {} | img-a
        a: {default_enabled: false, enabled: true}, b: {} | img-a
        a: {enabled: ''}, b: {enabled: 'true'} | img-b
        ",
    ) {
        let entries = entries.replace("a:", "img-a:").replace("b:", "img-b:");
        let values = format!(
            "sylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images: {{{entries}}}\n{CLUSTER}  capm3: {{image_key: img-a}}\n"
        );
        let served = Project::of(&values, "").view().served.join(" ");
        assert_eq!(served, expected, "{values}");
    }
}

/// Beside what pools boot, the image server serves what additional selectors match; an image whose facts only its name
/// gives is one of those (docs/sylva.md#the-image-server).
#[test]
fn additional_selectors_serve_what_they_match_as_they_are_written() {
    let names = "\
sylva_diskimagebuilder_version: 0.4.12
sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {}, ubuntu-jammy-plain-rke2-1-30-12: {}, opensuse-15-6-plain-rke2-1-31-8: {}}
os_images: {mine: {uri: 'https://s/m', os: ubuntu, k8s-version: 1.31.8+rke2r1}}
";
    let (noble, jammy, suse) = (
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-jammy-plain-rke2-1-30-12",
        "opensuse-15-6-plain-rke2-1-31-8",
    );
    let cases = [
        ("", vec![]),
        ("x: {os-release: noble}", vec![noble]),
        ("x: {os: ubuntu}", vec!["mine", jammy, noble]),
        (
            "x: {os-release: noble}, y: {os: opensuse}",
            vec![suse, noble],
        ),
        // The name lacks the build, so no version is proven: it may be that version.
        (
            "x: {k8s-version: '1.31.8\\+rke2r1'}",
            vec!["mine", suse, noble],
        ),
        ("x: {k8s-version: '1.30.*'}", vec![jammy]),
        // Not finalized: neither version nor flavor is added, and what is refused serves nothing.
        ("x: {os-version: noble}", vec![]),
        ("x: {os-version: '.*'}", vec![]),
        ("x: {os: ubuntu, os-release: 3}", vec![]),
        (
            "x: {os-version: noble}, y: {os-release: jammy}",
            vec![jammy],
        ),
    ];
    for (selectors, expected) in cases {
        let values =
            format!("{names}os_image_server_additional_selectors: {{{selectors}}}\n{CLUSTER}");
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(
            Project::of(&values, "").view().served.join(" "),
            expected.join(" "),
            "{values}"
        );
    }
}

#[test]
fn a_dotted_name_beside_a_selector_is_the_image_of_that_artifact() {
    let values = |key: &str| {
        format!(
            "sylva_diskimagebuilder_version: 0.4.12\n\
             sylva_diskimagebuilder_images: {{ubuntu-jammy-plain-rke2-1.31.8: {{}}, opensuse-15-6-plain-rke2-1-31-8: {{}}}}\n\
             {CLUSTER}  capm3: {{image_key: {key}, os_image_selector: {{os: ubuntu}}}}\n"
        )
    };
    let (key, other) = (
        "ubuntu-jammy-plain-rke2-1-31-8",
        "opensuse-15-6-plain-rke2-1-31-8",
    );
    for (written, expected) in [
        ("ubuntu-jammy-plain-rke2-1.31.8", key.to_owned()),
        (key, key.to_owned()),
        (other, format!("(disagree) {other} / {key}")),
        (
            "opensuse-15.6-plain-rke2-1.31.8",
            format!("(disagree) opensuse-15.6-plain-rke2-1.31.8 / {key}"),
        ),
    ] {
        let view = Project::of(&values(written), "").view();
        assert_eq!(answer(&view.selections[0].outcome), expected, "{written}");
    }
}

/// Dots become dashes in a key; a dotted name means the image only if that is its artifact's name.
#[test]
fn a_dotted_name_alone_is_the_image_of_that_artifact() {
    for [artifact, written, expected] in rows(
        "
        ubuntu-jammy-plain-rke2-1.31.8 | ubuntu-jammy-plain-rke2-1.31.8 | ubuntu-jammy-plain-rke2-1-31-8
        ubuntu-jammy-plain-rke2-1.31.8 | ubuntu-jammy-plain-rke2-1-31-8 | ubuntu-jammy-plain-rke2-1-31-8
        ubuntu-jammy-plain-rke2-1-31-8 | ubuntu-jammy-plain-rke2-1.31.8 | (unknown) ubuntu-jammy-plain-rke2-1.31.8
        ",
    ) {
        let values = format!(
            "sylva_diskimagebuilder_version: 1\nsylva_diskimagebuilder_images: {{{artifact}: {{}}}}\n{CLUSTER}  capm3: {{image_key: {written}}}\n"
        );
        let view = Project::of(&values, "").view();
        assert_eq!(
            answer(&view.selections[0].outcome),
            expected,
            "{artifact} {written}"
        );
    }
}

#[test]
fn a_registry_that_is_off_has_no_images() {
    for (enabled, expected) in [
        ("", "img-a img-b"),
        (", enabled: true", "img-a img-b"),
        (", enabled: false", "img-b"),
        (", enabled: ''", "img-b"),
        (", enabled: '{{ \"\" }}'", "img-b"),
    ] {
        let values = format!(
            "os_images_oci_registries: {{lab: {{url: 'oci://lab.org', tag: 1{enabled}}}, other: {{url: 'oci://o.org', tag: 2}}}}\n\
             sylva_diskimagebuilder_images: {{img-a: {{os_images_oci_registry: lab}}, img-b: {{os_images_oci_registry: other}}}}\n{CLUSTER}"
        );
        let view = Project::of(&values, "").view();
        let keys: Vec<&str> = view.images.keys().map(|key| &**key).collect();
        assert_eq!(keys.join(" "), expected, "{values}");
    }
}

/// `os_image_selector_autoselect_registries` narrows selectors to registries; empty, it is as if it were not set.
#[test]
fn registries_to_select_from() {
    for [setting, expected] in rows(
        "
        other: setting | (several) img-a img-b
        os_image_selector_autoselect_registries: '' | (several) img-a img-b
        os_image_selector_autoselect_registries: '.*' | (several) img-a img-b
        os_image_selector_autoselect_registries: lab | img-a
        os_image_selector_autoselect_registries: la | (none)
        os_image_selector_autoselect_registries: nowhere | (none)
        ",
    ) {
        let values = format!(
            "os_images_oci_registries: {{lab: {{url: 'oci://lab.org', tag: 1}}, other: {{url: 'oci://o.org', tag: 2}}}}\n\
             sylva_diskimagebuilder_images: {{img-a: {{os_images_oci_registry: lab}}, img-b: {{os_images_oci_registry: other}}}}\n\
             {CLUSTER}  capm3: {{os_image_selector: {{os: ubuntu}}}}\n  {setting}\n"
        );
        let facts = "os_images:\n  img-a: &facts {os: ubuntu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1}\n  img-b: *facts\n";
        let project = Project::new(&[
            (
                "metalmark.yaml",
                "version: 1\nclusters: [{name: edge, values: [values.yaml]}]\nimages: {facts: [facts.yaml]}\n",
            ),
            ("values.yaml", &values),
            ("facts.yaml", facts),
        ]);
        assert_eq!(
            answer(&project.view().selections[0].outcome),
            expected,
            "{setting}"
        );
    }
}

/// The provider is named, or it is the one whose settings are there.
#[test]
fn the_provider_that_a_cluster_is_of() {
    for [settings, expected] in rows(
        "
        capo: {image_key: img-o} | img-o
        capm3: {image_key: img-m} | img-m
        capo: {image_key: img-o}, capm3: {image_key: img-m} | img-m
        capo: {image_key: img-o}, capm3: {image_key: img-m}, capi_providers: {infra_provider: capo} | img-o
        capo: {image_key: img-o}, capi_providers: {infra_provider: capv} | (nothing)
        ",
    ) {
        let values = format!(
            "os_images: {{img-o: {{uri: x}}, img-m: {{uri: y}}}}\ncluster: {{k8s_version: v1.31.8, {settings}}}\n"
        );
        let project = Project::of(&values, "");
        let found = answer(&project.view().selections[0].outcome);
        assert_eq!(found, expected, "{settings}");
        let missing = project.found("value-missing");
        assert!(!missing.iter().any(|line| line.contains("cluster")), "{missing:?}");
    }
    // A version is missed where a pool chooses an image, once, and not where it is there and wrong.
    for (version, choice, expected) in [
        ("", "image_key: img-o", 1),
        ("", "", 0),
        ("k8s_version: null, ", "image_key: img-o", 1),
        (
            "k8s_version: '{{ .Values.no.such }}', ",
            "image_key: img-o",
            1,
        ),
        ("k8s_version: v1.31.8, ", "image_key: img-o", 0),
    ] {
        let values = format!(
            "os_images: {{img-o: {{uri: x, sha256: x}}}}\ncluster: {{{version}capo: {{{choice}}}}}\n"
        );
        assert_eq!(
            Project::of(&values, "").found("value-missing").len(),
            expected,
            "{values}"
        );
    }
}

#[test]
fn the_types_of_a_catalog_are_checked_where_an_image_needs_the_value() {
    let own = "os_images: {img-a: {uri: 'oci://own.org/a:7'}}\n";
    let of_lab = "sylva_diskimagebuilder_images: {img-b: {os_images_oci_registry: lab}}\n\
        os_images_oci_registries: {lab: {url: 'oci://lab.org', tag: '1'}}\n";
    let of_base =
        "sylva_diskimagebuilder_images: {img-b: {}}\nsylva_diskimagebuilder_version: '1'\n";
    let cases: [(&[&str], &str, Option<&str>); 12] = [
        (&[own], "sylva_base_oci_registry: 3", None),
        (&[own, of_lab], "sylva_base_oci_registry: 3", None),
        (&[own, of_base], "sylva_base_oci_registry: 3", Some("3")),
        (&[of_base], "sylva_base_oci_registry: 3", Some("3")),
        (&[own], "sylva_diskimagebuilder_version: 3", None),
        (
            &[own, of_lab],
            "sylva_diskimagebuilder_version: 3",
            Some("3"),
        ),
        (&[], "os_images: text", Some("text")),
        (&[], "os_images: {img-a: text}", Some("text")),
        (&[], "os_images: {img-a: {uri: x, enabled: 3}}", Some("3")),
        (
            &[],
            "os_images: {img-a: {uri: x, enabled: 'yes'}}",
            Some("'yes'"),
        ),
        (&[], "os_images: {img-a: {uri: x, enabled: 'true'}}", None),
        (&[], "os_images: {img-a: {uri: x, enabled: null}}", None),
    ];
    for (catalog, setting, wrong) in cases {
        let values = format!("{}{setting}\n{CLUSTER}", catalog.concat());
        let found = Project::of(&values, "").found("value-type");
        let marked = found.iter().map(|line| line.split(['[', ']']).nth(1));
        assert_eq!(
            marked.flatten().collect::<Vec<_>>(),
            Vec::from_iter(wrong),
            "{values}"
        );
    }
}
