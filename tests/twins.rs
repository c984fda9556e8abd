//! Which image a URL or a name in a provider's store means, where the catalog has several or none.

use snapbox::str;

use super::support::stage::{Is, project, table};

/// What is said of the control plane of a cluster with this way to its image, in a catalog of these images.
fn pools(provider: &str, choice: &str, images: &[&str]) -> Vec<String> {
    let image = |image: &&str| {
        let (key, facts) = image.split_once(' ').expect("a key and facts");
        format!(
            "  {key}: {{k8s-flavor: rke2, image-format: raw, sha256: {}, {facts}}}\n",
            "a".repeat(64)
        )
    };
    let images: String = images.iter().map(image).collect();
    let values = format!(
        "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: {provider}, bootstrap_provider: cabpr}}\n  \
         control_plane_replicas: 3\n  {provider}: {choice}\n"
    );
    let stage = project()
        .settings("values: [catalog.yaml]")
        .file("catalog.yaml", format!("os_images:\n{images}"))
        .cluster("edge", &values);
    stage.check().pools.clone()
}

const URL: &str = "uri: 'https://h.example/a.raw'";

#[test]
fn two_images_at_one_url_that_differ_are_a_mismatch() {
    let right = format!("right k8s-version: 1.31.8+rke2r1, {URL}");
    let old = format!("old k8s-version: 1.30.2+rke2r1, {URL}");
    let elsewhere = "elsewhere k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/b.raw'";
    let cases = [
        vec![&*right],
        vec![&*right, elsewhere],
        vec![&*right, &*old],
        vec![elsewhere],
    ];
    let results = table(cases.map(|images| images.join("; ")), |images| {
        let choice = "{machine_image_url: 'https://h.example/a.raw', machine_image_checksum: abc}";
        pools("capm3", choice, &images.split("; ").collect::<Vec<_>>())
    });
    results.is(str![[r#"
right k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/a.raw'
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, right (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:2:135)
right k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/a.raw'; elsewhere k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/b.raw'
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, right (edge.yaml:5:30) holds 1.31.8+rke2r1 (catalog.yaml:2:135)
right k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/a.raw'; old k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/a.raw'
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): mismatched, old (edge.yaml:5:30) holds 1.30.2+rke2r1 (catalog.yaml:3:133)
elsewhere k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/b.raw'
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unproven, a.raw (edge.yaml:5:30)

"#]]);
}

#[test]
fn two_images_of_one_name_in_the_providers_store_mean_none() {
    let named = |key: &str, version: &str, name: &str| {
        format!(
            "{key} k8s-version: {version}+rke2r1, uri: 'https://h.example/{key}.raw', locations.glance.name: {name}"
        )
    };
    let cases = [
        vec![
            named("right", "1.31.8", "same"),
            named("old", "1.30.2", "other"),
        ],
        vec![
            named("right", "1.31.8", "same"),
            named("old", "1.30.2", "same"),
        ],
        // Under its key, although the store has it under another name.
        vec![named("same", "1.31.8", "other")],
    ];
    let results = table(cases.map(|images| images.join("; ")), |images| {
        pools(
            "capo",
            "{image_name: same}",
            &images.split("; ").collect::<Vec<_>>(),
        )
    });
    results.is(str![[r#"
right k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/right.raw', locations.glance.name: same; old k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/old.raw', locations.glance.name: other
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, right (edge.yaml:5:22) holds 1.31.8+rke2r1 (catalog.yaml:2:135)
right k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/right.raw', locations.glance.name: same; old k8s-version: 1.30.2+rke2r1, uri: 'https://h.example/old.raw', locations.glance.name: same
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unproven, same (edge.yaml:5:22)
same k8s-version: 1.31.8+rke2r1, uri: 'https://h.example/same.raw', locations.glance.name: other
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): proven, same (edge.yaml:5:22) holds 1.31.8+rke2r1 (catalog.yaml:2:134)

"#]]);
}

/// Of a built image of which nothing else is known, the name foretells the annotations; a record is what is known.
#[test]
fn in_exact_matching_a_record_comes_before_what_a_name_foretells() {
    let key = "ubuntu-noble-plain-rke2-1-31-8";
    let catalog = format!(
        "sylva_diskimagebuilder_version: 0.4.12\n\
         os_images_oci_registries: {{sylva: {{url: 'oci://r.example/d', tag: 0.4.12, cosign_publickey: ''}}}}\n\
         sylva_diskimagebuilder_images: {{{key}: {{os_images_oci_registry: sylva}}}}\n"
    );
    let values = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n  \
                  control_plane_replicas: 3\n  capm3: {os_image_selector: {os: ubuntu, k8s-version: '1\\.31\\.8'}}\n";
    let records = ["", "{format: raw}"];
    let results = table(records, |record| {
        let settings = match *record {
            "" => "matching: exact\nvalues: [catalog.yaml]".to_owned(),
            record => format!(
                "matching: exact\nvalues: [catalog.yaml]\nimages: {{records: {{{key}: {record}}}}}"
            ),
        };
        let stage = project()
            .settings(&settings)
            .file("catalog.yaml", &catalog)
            .cluster("edge", values);
        stage.check().pools.clone()
    });
    results.is(str![[r#"

    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): by_name, ubuntu-noble-plain-rke2-1-31-8 (edge.yaml:5:30) holds 1.31.8 (catalog.yaml:3:33)
{format: raw}
    edge/control-plane v1.31.8+rke2r1 (edge.yaml:2:16): unknown (no image matches its selector)

"#]]);
}
