//! Which images there are: what the lists of the values, the records of the project file and the sources of facts make of them.

use serde_json::Value;

use crate::support::stage::{Stage, project};

const SHA256: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A project whose files describe an image each: a record, a source of facts, and the catalog given. Its cluster boots the record.
fn site(catalog: &str) -> Stage {
    let file = format!(
        "version: 1\nvalues: [catalog.yaml]\nclusters: [{{values: [edge.yaml], name: edge}}]\nimages:\n  facts: [info.yaml]\n  \
         records:\n    recorded:\n      os: {{name: ubuntu}}\n      k8s: {{flavor: kubeadm, version: 1.30.4}}\n      format: raw\n      \
         digests: {{uncompressed: {{sha256: {SHA256}}}}}\n      locations: {{https: 'https://images.example.org/recorded.raw'}}\n"
    );
    let facts = format!(
        "filename: x.raw, image-format: raw, sha256: {SHA256}, k8s-flavor: kubeadm, k8s-version: 1.30.4"
    );
    let info = format!(
        "os_images:\n  described: {{{facts}, uri: 'oci://registry.example.org/described:1'}}\n"
    );
    let cluster = "cluster:\n  k8s_version: v1.30.4\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                   capm3: {image_key: recorded}\n";
    project().files(&[
        ("metalmark.yaml", &file),
        ("catalog.yaml", catalog),
        ("info.yaml", &info),
        ("edge.yaml", cluster),
    ])
}

/// The images of a catalog with the `uri` among their facts, and what `check` finds.
fn images(catalog: &str) -> (Vec<(String, Option<String>)>, String) {
    let stage = site(catalog);
    let listed = stage.run("images --output json").outcome.stdout;
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let images = listed.as_array().expect("a list").iter().map(|image| {
        (
            text(&image["key"]).expect("a key"),
            text(&image["facts"]["uri"]),
        )
    });
    (images.collect(), stage.run("check").outcome.stdout)
}

fn keys(catalog: &str) -> Vec<String> {
    images(catalog).0.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn a_record_is_always_an_image_and_what_a_source_lists_only_without_a_builders_list() {
    assert_eq!(keys("os_images: {}\n"), ["described", "recorded"]);
    let built =
        "sylva_diskimagebuilder_version: 0.6.3\nsylva_diskimagebuilder_images: {built: {}}\n";
    assert_eq!(keys(built), ["built", "recorded"]);
}

#[test]
fn an_entry_without_a_uri_takes_the_one_of_a_source() {
    let (images, _) = images("os_images: {described: {}}\n");
    let uri = Some("oci://registry.example.org/described:1".to_owned());
    assert_eq!(images[0], ("described".to_owned(), uri));
}

#[test]
fn an_entry_of_the_users_own_list_is_never_one_of_the_builders_release() {
    // The builder's registry and version would make a reference of it.
    let catalog = "sylva_diskimagebuilder_version: 0.6.3\nos_images: {lost: {os_images_oci_registry: sylva}}\n\
                   os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.6.3}}\n";
    let (_, found) = images(catalog);
    let expected = "error[registry-unknown]: `lost` of `os_images` has no `uri`\n";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn an_image_whose_expression_fails_is_reported_and_stays_in_the_catalog() {
    let (listed, check) = images("os_images:\n  failing: '{{ .Values.missing.deep }}'\n");
    assert!(listed.iter().any(|(key, _)| key == "failing"), "{listed:?}");
    let reported = "error[value-missing]: cannot read `.deep` of nil\n --> catalog.yaml:2:16\n";
    assert_eq!(check.matches(reported).count(), 1, "{check}");
}
