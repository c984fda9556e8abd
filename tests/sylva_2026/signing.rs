//! The keys that images are signed with, and the registries that name them.

use snapbox::str;

use super::{gathered, serve, two_releases};
use crate::support::cosign::Key;
use crate::support::stage::{Run, project};

/// Locks unsigned images of a catalog whose values name a key.
fn lock_under_a_key(catalog: &str) -> Run {
    lock_under(&Key::new().pem(), catalog)
}

fn lock_under(key: &str, catalog: &str) -> Run {
    let values = format!(
        "diskimage_builder_version: 0.4.12\nsylva_base_oci_registry: oci://registry.example.org/acme\n{catalog}\n\
         security: {{os_images: {{cosign_public_key: {key:?}}}}}\n\
         cluster: {{k8s_version: v1.31.8+rke2r1, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, \
         capm3: {{image_key: ubuntu-noble-plain-rke2-1-31-8}}}}\n"
    );
    let mirrors = "registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}";
    let stage = project().cluster("edge", &values).settings(mirrors);
    let names = [
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-own-rke2-1-31-8",
    ];
    let artifacts = names.map(|name| {
        format!("registry.example.org/acme/sylva-elements/diskimage-builder/{name}:0.4.12 1.31.8+rke2r1\n")
    });
    stage.write("artifacts.txt", artifacts.concat());
    serve(&stage);
    stage.run("lock")
}

/// The builder's list in the proposal's words, and an image with a reference of its own.
const PROPOSAL: &str = "diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}";
const OWN: &str = "os_images: {ubuntu-noble-own-rke2-1-31-8: {uri: 'oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-own-rke2-1-31-8:0.4.12'}}";

#[test]
fn a_key_that_is_named_is_used_for_images_that_name_no_registry() {
    let _ = lock_under_a_key(PROPOSAL).exit(1).stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:31
  |
3 | diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}

#[test]
fn a_key_that_is_named_is_used_where_all_images_have_references_of_their_own() {
    let own = OWN.replace("-own-", "-plain-");
    let _ = lock_under_a_key(&own).exit(1).stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:13
  |
3 | os_images: {ubuntu-noble-plain-rke2-1-31-8: {uri: 'oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plai...
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}

/// Unlike one that is written empty, it was to prove something.
#[test]
fn a_key_that_an_expression_leaves_empty_locks_nothing() {
    let _ = lock_under("", PROPOSAL).exit(0).stderr(str![]);
    let _ = lock_under("{{ .Values.nokey }}", PROPOSAL)
        .exit(1)
        .stderr(str![[r#"
error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated
 --> edge.yaml:4:43
  |
4 | security: {os_images: {cosign_public_key: "{{ .Values.nokey }}"}}
  |                                           ^^^^^^^^^^^^^^^^^^^^^
  |
  = cluster: edge
  = help: write the PEM text that `cosign generate-key-pair` left in cosign.pub, or the path of that file

error[value-type]: `security.os_images.cosign_public_key` is empty, and an expression makes it
 --> edge.yaml:4:43
  |
4 | security: {os_images: {cosign_public_key: "{{ .Values.nokey }}"}}
  |                                           ^^^^^^^^^^^^^^^^^^^^^ nothing comes of this
  |
  = cluster: edge
  = help: set the value that it reads; write an empty text if the images are not signed

2 errors in 1 cluster

"#]]);
}

#[test]
fn the_key_of_a_registry_is_used_for_images_that_the_chart_calls_by_it() {
    let key = Key::new();
    let named = format!(", cosign_publickey: {:?}", key.pem());
    let image = "ubuntu-noble-plain-rke2-1-35";
    let uri = format!("uri: 'oci://registry.example.org/dib/{image}:0.7.14'");
    let signed_by = |registry: &str, fact: &str| {
        let images = format!("os_images: {{{registry}{image}: {{{uri}{fact}}}}}\n");
        let mirror = "registries: {mirrors: {registry.example.org: 'oci-layout:registry'}}";
        let stage = project()
            .cluster("edge", &two_releases(&named, &images))
            .settings(mirror);
        stage.write(
            "artifacts.txt",
            format!("registry.example.org/dib/{image}:0.7.14 1.35.6+rke2r1\n"),
        );
        serve(&stage);
        let stderr = stage.run("lock").outcome.stderr;
        stderr.lines().next().unwrap_or_default().to_owned()
    };
    let unsigned = format!(
        "error[signature-missing]: `oci://registry.example.org/dib/{image}:0.7.14` is not trusted: it has no signature"
    );
    let fact = ", oci-image-registry-key: sylva-n-1";
    assert_eq!(signed_by("sylva-n-1--", ""), unsigned);
    assert_eq!(signed_by("", fact), unsigned);
    // Of another registry, which names no key, and of none.
    assert_eq!(
        signed_by("sylva--", ""),
        format!(
            "warning[fact-conflict]: `sylva--{image}` is of registry `sylva`, and its `uri` is an image of `sylva-n-1`"
        )
    );
    assert_eq!(signed_by("acme--", ""), "");
    assert_eq!(signed_by("", ""), "");
}

#[test]
fn facts_that_the_chart_gathered_are_those_of_the_image_of_that_registry() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed =
        format!("sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}}}\n");
    let older = gathered(
        &format!("sylva-n-1--{image}"),
        image,
        "0.7.14",
        "1.35.1+rke2r1",
    );
    let newer = gathered(
        &format!("sylva--{image}"),
        image,
        "0.11.13",
        "1.35.6+rke2r1",
    );
    let judged = |facts: &str| {
        let stage = project()
            .cluster("edge", &two_releases("", &listed))
            .settings("images: {facts: [info.yaml]}")
            .file("info.yaml", format!("os_images:\n{facts}"));
        let stdout = stage.run("check").outcome.stdout;
        let (_, count) = stdout.rsplit_once("checked: ").expect("a count");
        count.trim().to_owned()
    };
    assert_eq!(judged(&(older.clone() + &newer)), "1 proven");
    assert_eq!(judged(&older), "1 unproven");
}

#[test]
fn the_key_of_the_builder_is_for_no_image_of_the_user() {
    let _ = lock_under_a_key(&format!("{PROPOSAL}\n{OWN}"))
        .exit(1)
        .stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:31
  |
3 | diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}
