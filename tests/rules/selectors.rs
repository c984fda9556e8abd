//! Selectors that name unknown facts, match more than they mean, or mean another image to Sylva.

use snapbox::str;

use super::super::support::project::Project;
use super::super::support::stage::project;
use super::rows::{IMAGES, assert_cases, each, each_with};
use super::{booting, edge, fails, passes, warns};

#[test]
fn selectors_name_facts_that_there_are() {
    each("selector-key-unknown").finds(str![[r#"
cluster: {capm3: {os_image_selector: {os: ubuntu, os-release: noble, k8s-flavor: rke2, k8s-version: x, hardened: true, commit-tag: x, flavor: plain, _os_images_key_: x, oci-image-registry-key: x}}}
cluster: {capm3: {os_image_selector: {os-version: noble}}}
    error control-plane [os-version] => os-release
cluster: {capm3: {os_image_selector: {release: noble, version: x}}}
    error control-plane [release] => os-release
    error control-plane [version] => os-release
cluster: {capm3: {os_image_selector: {hardend: true}}}
    error control-plane [hardend] => hardened
cluster: {capm3: {os_image_selector: {gpu: true}}}
    error control-plane [gpu] => os | os-release | k8s-flavor | k8s-version | hardened | commit-tag | flavor | oci-image-registry-key | _use_extra_keys_: true
cluster: {capm3: {os_image_selector: {gpu: true, _use_extra_keys_: false}}}
cluster: {capm3: {os_image_selector: {os: ubuntu}}, machine_deployments: {md0: {capm3: {os_image_selector: {hardend: true}}}}}
    error md0 [hardend] => hardened
os_image_server_additional_selectors: {x: {hardend: 'true'}, y: {gpu: x, _use_extra_keys_: true}}
    error - [hardend] => hardened

"#]]);
}

#[test]
fn an_additional_selector_serves_one_release_of_a_builder() {
    let images = |terms: &str| {
        let image = |registry: &str, tag: &str| {
            format!(
                "{registry}--noble: {{uri: 'oci://r.org/os/noble:{tag}', os: ubuntu, oci-image-registry-key: {registry}}}"
            )
        };
        let values = format!(
            "os_images: {{{}, {}, own: {{uri: 'https://s/x.raw', os: ubuntu}}}}\nos_image_server_additional_selectors: {{more: {{{terms}}}}}",
            image("sylva", "0.7.4"),
            image("sylva-n-1", "0.5.13")
        );
        Project::layered(IMAGES, &values, "").found("selector-too-broad")
    };
    assert_cases(
        str![[r#"
os: ubuntu
    warning - [os] => sylva | os_image_server_additional_selectors.more.oci-image-registry-key: sylva | sylva-n-1 | os_image_server_additional_selectors.more.oci-image-registry-key: sylva-n-1
os: ubuntu, oci-image-registry-key: sylva
os: ubuntu, oci-image-registry-key: '.*'
    warning - [oci-image-registry-key] => sylva | os_image_server_additional_selectors.more.oci-image-registry-key: sylva | sylva-n-1 | os_image_server_additional_selectors.more.oci-image-registry-key: sylva-n-1
os: opensuse
hardend: true

"#]],
        images,
    );
}

#[test]
fn selectors_match_what_they_mean() {
    let of = |case: &str| {
        let (facts, term) = case.split_once(" <- ").expect("facts and a term");
        let values = format!(
            "os_images: {{im: {{uri: x, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, {facts}}}}}\ncluster: {{capm3: {{os_image_selector: {{_os_images_key_: im, {term}}}}}}}"
        );
        Project::layered(IMAGES, &values, "").found("selector-too-broad")
    };
    assert_cases(
        str![[r#"
os: ubuntu <- os: ubuntu
os: ubuntu <- os: 'u.*'
os: ubuntu <- os: '(ubuntu|suse)'
os: ubuntu <- os: ubuntu|suse
os: ubuntu <- os: 'ubuntu)|(.*'
    warning control-plane ['ubuntu)|(.*'] => (ubuntu|opensuse)
os: ubuntu <- os: '[(]?ubuntu)|(.*'
    warning control-plane ['[(]?ubuntu)|(.*'] => (ubuntu|opensuse)
os: ubuntu <- os: 'ubuntu[)]?'
os: ubuntu <- os: 'ubuntu\)?'
# A missing fact is matched by what matches anything.
os: ubuntu <- hardened: '.*'
    warning control-plane ['.*'] => hardened
hardened: 'true' <- hardened: '.*'
os: ubuntu <- hardened: '//unset'
    warning control-plane ['//unset'] => hardened
# A dot stands for any character, where it makes a difference.
os-release: '15x6' <- os-release: '15.6'
    warning control-plane ['15.6'] => os-release: '15\.6'
os-release: '15.6' <- os-release: '15.6'
os-release: '15.6' <- os-release: '15\.6'
os-release: '15x6+a' <- os-release: '15.6\+a'
    warning control-plane ['15.6\+a'] => os-release: '15\.6\+a'
os-release: '15x6' <- os-release: '15.6?'
os-release: '15x6' <- os-release: '15.\d'

"#]],
        of,
    );
    // The cluster's own version has dots too; only Sylva's matching takes them for any character.
    each_with("matching: exact\n", "selector-too-broad").finds(str![[r#"
os_images: {im: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1x31y8}}; cluster: {k8s_version: v1.31.8, capm3: {os_image_selector: {os: beos}}}
    warning control-plane [v1.31.8] => k8s-version: '1\.31\.8'

"#]]);
}

#[test]
fn both_ways_to_match_agree() {
    each("matching-differs").finds(str![[r#"
cluster: {capm3: {os_image_selector: {os: ubuntu}}}
os_images: {im: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1}}; cluster: {capm3: {os_image_selector: {os: beos}}}
    warning control-plane [{os: beos}] => cluster.capm3.image_key: im
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {flatcar-4230-plain-rke2-1-31-8: {}, ubuntu-jammy-plain-rke2-1-31: {}}; cluster: {capm3: {os_image_selector: {os-release: jammy}}}

"#]]);
    each_with("matching: exact\n", "matching-differs").finds(str![[r#"
cluster: {capm3: {os_image_selector: {os: ubuntu}}}
os_images: {im: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1}}; cluster: {capm3: {os_image_selector: {os: beos}}}
    warning control-plane [{os: beos}] => matching: normalized
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {flatcar-4230-plain-rke2-1-31-8: {}, ubuntu-jammy-plain-rke2-1-31: {}}; cluster: {capm3: {os_image_selector: {os-release: jammy}}}
    warning control-plane [{os-release: jammy}] => matching: normalized

"#]]);
}

#[test]
fn selector_key_unknown() {
    let project = edge("capm3: {os_image_selector: {os: ubuntu, os-version: noble}}");
    fails("selector-key-unknown", &project, "check").brief(str![[r#"
error[selector-key-unknown]: selectors do not know a fact `os-version`
  edge.yaml:4:43 `os-version` matches no image
  cluster: edge, pool control-plane
  help: did you mean `os-release`?
1 error in 1 cluster; 0 node pools checked; 1 skipped: its selector is wrong

"#]]);
    project.edit("edge.yaml", "os-version", "os-release");
    passes("selector-key-unknown", &project, "check");
}

#[test]
fn selector_too_broad() {
    let project = edge("capm3: {os_image_selector: {os: 'ubuntu)|(.*'}}");
    warns("selector-too-broad", &project, "check").brief(str![[r#"
warning[selector-too-broad]: the pattern of `os` breaks out of its parentheses
  edge.yaml:4:35 `'ubuntu)|(.*'` it is read as `^(ubuntu)|(.*)$`
  cluster: edge, pool control-plane
  help: put the alternatives in one pair of parentheses: `(ubuntu|opensuse)`
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "'ubuntu)|(.*'", "'(ubuntu|opensuse)'");
    passes("selector-too-broad", &project, "check");
}

#[test]
fn matching_differs() {
    let project = project()
        .catalog(&["jammy-29 rke2 1.29.8-rke2r1 os=ubuntu"])
        .cluster(
            "edge",
            "\
cluster:
  k8s_version: v1.29.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3: {os_image_selector: {os: ubuntu}}
",
        );
    warns("matching-differs", &project, "check").brief(str![[r#"
warning[matching-differs]: Sylva's own matching resolves to no image, not to `jammy-29`
  edge.yaml:4:30 `{os: ubuntu}` this selector
  cluster: edge, pool control-plane
  help: `cluster.capm3.image_key: jammy-29` in place of the selector means one image to both
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("catalog.yaml", "1.29.8-rke2r1", "1.29.8+rke2r1");
    passes("matching-differs", &project, "check");
}

#[test]
fn value_type() {
    let project = booting(
        &["suse-31 rke2 1.31.8+rke2r1 os=opensuse os-release=15.6"],
        "capm3: {os_image_selector: {os: opensuse, os-release: 15.6}}",
    );
    fails("value-type", &project, "check").brief(str![[r#"
error[value-type]: the selector's `os-release` is a number, not a pattern
  edge.yaml:4:57 `15.6` a text, `true` or `false` is expected
  cluster: edge, pool control-plane
  help: quote it: `os-release: "15.6"`
1 error in 1 cluster; 0 node pools checked; 1 skipped: its selector is wrong

"#]]);
    project.edit("edge.yaml", "os-release: 15.6", r#"os-release: "15.6""#);
    passes("value-type", &project, "check");
}
