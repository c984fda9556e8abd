//! Selectors that name unknown facts, match more than they mean, or mean another image to Sylva.

use super::rows::{each, each_with};

#[test]
fn selectors_name_facts_that_there_are() {
    each(
        "selector-key-unknown",
        &[
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu, os-release: noble, k8s-flavor: rke2, k8s-version: x, hardened: true, commit-tag: x, flavor: plain, _os_images_key_: x, oci-image-registry-key: x}}}",
                &[],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os-version: noble}}}",
                &["error control-plane [os-version] => os-release"],
            ),
            (
                "cluster: {capm3: {os_image_selector: {release: noble, version: x}}}",
                &[
                    "error control-plane [release] => os-release",
                    "error control-plane [version] => os-release",
                ],
            ),
            (
                "cluster: {capm3: {os_image_selector: {hardend: true}}}",
                &["error control-plane [hardend] => hardened"],
            ),
            (
                "cluster: {capm3: {os_image_selector: {gpu: true}}}",
                &[
                    "error control-plane [gpu] => os | os-release | k8s-flavor | k8s-version | hardened | commit-tag | flavor | oci-image-registry-key | _use_extra_keys_: true",
                ],
            ),
            (
                "cluster: {capm3: {os_image_selector: {gpu: true, _use_extra_keys_: false}}}",
                &[],
            ),
            (
                "cluster: {capm3: {os_image_selector: {os: ubuntu}}, machine_deployments: {md0: {capm3: {os_image_selector: {hardend: true}}}}}",
                &["error md0 [hardend] => hardened"],
            ),
            (
                "os_image_server_additional_selectors: {x: {hardend: 'true'}, y: {gpu: x, _use_extra_keys_: true}}",
                &["error - [hardend] => hardened"],
            ),
        ],
    );
}

#[test]
fn selectors_match_what_they_mean() {
    let image = |facts: &str, term: &str| {
        format!(
            "os_images: {{im: {{uri: x, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, {facts}}}}}\ncluster: {{capm3: {{os_image_selector: {{_os_images_key_: im, {term}}}}}}}"
        )
    };
    let rows: [(String, &[&str]); 17] = [
        (image("os: ubuntu", "os: ubuntu"), &[]),
        (image("os: ubuntu", "os: 'u.*'"), &[]),
        (image("os: ubuntu", "os: '(ubuntu|suse)'"), &[]),
        (image("os: ubuntu", "os: ubuntu|suse"), &[]),
        (
            image("os: ubuntu", "os: 'ubuntu)|(.*'"),
            &["warning control-plane ['ubuntu)|(.*'] => (ubuntu|opensuse)"],
        ),
        (
            image("os: ubuntu", "os: '[(]?ubuntu)|(.*'"),
            &["warning control-plane ['[(]?ubuntu)|(.*'] => (ubuntu|opensuse)"],
        ),
        (image("os: ubuntu", "os: 'ubuntu[)]?'"), &[]),
        (image("os: ubuntu", "os: 'ubuntu\\)?'"), &[]),
        // A missing fact is matched by what matches anything.
        (
            image("os: ubuntu", "hardened: '.*'"),
            &["warning control-plane ['.*'] => hardened"],
        ),
        (image("hardened: 'true'", "hardened: '.*'"), &[]),
        (
            image("os: ubuntu", "hardened: '//unset'"),
            &["warning control-plane ['//unset'] => hardened"],
        ),
        // A dot stands for any character, where it makes a difference.
        (
            image("os-release: '15x6'", "os-release: '15.6'"),
            &["warning control-plane ['15.6'] => os-release: '15\\.6'"],
        ),
        (image("os-release: '15.6'", "os-release: '15.6'"), &[]),
        (image("os-release: '15.6'", "os-release: '15\\.6'"), &[]),
        (
            image("os-release: '15x6+a'", "os-release: '15.6\\+a'"),
            &["warning control-plane ['15.6\\+a'] => os-release: '15\\.6\\+a'"],
        ),
        (image("os-release: '15x6'", "os-release: '15.6?'"), &[]),
        (image("os-release: '15x6'", "os-release: '15.\\d'"), &[]),
    ];
    for (values, expected) in &rows {
        each("selector-too-broad", &[(values, expected)]);
    }
    // The cluster's own version has dots too; only Sylva's matching takes them for any character.
    let odd = "os_images: {im: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1x31y8}}\ncluster: {k8s_version: v1.31.8, capm3: {os_image_selector: {os: beos}}}";
    each_with(
        "matching: exact\n",
        "selector-too-broad",
        &[(
            odd,
            &["warning control-plane [v1.31.8] => k8s-version: '1\\.31\\.8'"],
        )],
    );
}

#[test]
fn both_ways_to_match_agree() {
    let old = "os_images: {im: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1}}\ncluster: {capm3: {os_image_selector: {os: beos}}}";
    let named = "sylva_diskimagebuilder_version: 1\nsylva_diskimagebuilder_images: {flatcar-4230-plain-rke2-1-31-8: {}, ubuntu-jammy-plain-rke2-1-31: {}}\ncluster: {capm3: {os_image_selector: {os-release: jammy}}}";
    each(
        "matching-differs",
        &[
            ("cluster: {capm3: {os_image_selector: {os: ubuntu}}}", &[]),
            (
                old,
                &["warning control-plane [{os: beos}] => cluster.capm3.image_key: im"],
            ),
            (named, &[]),
        ],
    );
    each_with(
        "matching: exact\n",
        "matching-differs",
        &[
            ("cluster: {capm3: {os_image_selector: {os: ubuntu}}}", &[]),
            (
                old,
                &["warning control-plane [{os: beos}] => matching: normalized"],
            ),
            (
                named,
                &["warning control-plane [{os-release: jammy}] => matching: normalized"],
            ),
        ],
    );
}
