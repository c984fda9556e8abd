//! The keys that images are signed with, and the registries that name them.

use snapbox::str;

use super::{gathered, serve, two_releases};
use crate::support::cosign::Key;
use crate::support::layout::LayoutWriter;
use crate::support::stage::{Is, Run, project, table};

/// Locks unsigned images of a catalog whose values name a key.
fn lock_under_a_key(catalog: &str) -> Run {
    lock_under(&Key::new().pem(), catalog)
}

fn lock_under(key: &str, catalog: &str) -> Run {
    let security = format!("security: {{os_images: {{cosign_public_key: {key:?}}}}}");
    lock(&format!("{catalog}\n{security}"), "")
}

fn lock(catalog: &str, settings: &str) -> Run {
    let values = format!(
        "diskimage_builder_version: 0.4.12\nsylva_base_oci_registry: oci://registry.example.org/acme\n{catalog}\n\
         cluster: {{k8s_version: v1.31.8+rke2r1, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, \
         capm3: {{image_key: ubuntu-noble-plain-rke2-1-31-8}}}}\n"
    );
    let mirrors = "registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}";
    let stage = project().cluster("edge", &values);
    let stage = stage.settings(mirrors).settings(settings);
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
fn the_key_of_a_registry_is_used_for_each_image_that_is_of_it() {
    let pem = Key::new().pem();
    the_key_is_used(&format!(", cosign_publickey: {pem:?}"));
    // As an image's own may be called.
    the_key_is_used(&format!(", public_key: {pem:?}"));
    the_key_is_used(&format!(
        ", cosign_publickey: '', signature: {{public-key: {pem:?}}}"
    ));
}

#[track_caller]
fn the_key_is_used(named: &str) {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let uri = format!("uri: 'oci://registry.example.org/dib/{image}:0.7.14'");
    let signed_by = |registry: &str, fact: &str| {
        let images = format!("os_images: {{{registry}{image}: {{{uri}{fact}}}}}\n");
        let mirror = "registries: {mirrors: {registry.example.org: 'oci-layout:registry'}}";
        let stage = project()
            .cluster("edge", &two_releases(named, &images))
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
    // By its reference, whatever it is called.
    assert_eq!(signed_by("acme--", ""), unsigned);
    assert_eq!(signed_by("", ""), unsigned);
    // Of another registry, which names no key.
    assert_eq!(
        signed_by("sylva--", ""),
        format!(
            "warning[fact-conflict]: `sylva--{image}` is of registry `sylva`, and its `uri` is an image of `sylva-n-1`"
        )
    );
}

/// An image of the builder with this beside it.
fn entry(more: &str) -> String {
    PROPOSAL.replace("{}", &format!("{{{more}}}"))
}

#[test]
fn a_key_that_an_image_names_itself_is_used() {
    let pem = Key::new().pem();
    let record = |name: &str| {
        format!("images: {{records: {{{name}: {{signature: {{public-key: {pem:?}}}}}}}}}\n")
    };
    let own = OWN.replace("-own-", "-plain-");
    let beside = own.replace(
        "{uri:",
        &format!("{{signature: {{public_key: {pem:?}}}, uri:"),
    );
    let named = "ubuntu-noble-plain-rke2-1-31-8";
    let cases = [
        (
            "an entry of the builder's list",
            entry(&format!("cosign_publickey: {pem:?}")),
            String::new(),
        ),
        (
            "the same in a record's words",
            entry(&format!("signature: {{public-key: {pem:?}}}")),
            String::new(),
        ),
        (
            "the record of an image of the builder",
            PROPOSAL.to_owned(),
            record(named),
        ),
        ("an entry of os_images", beside, String::new()),
        ("its record", own, record(named)),
        ("no text", entry("cosign_publickey: 5"), String::new()),
        (
            "an expression that fails",
            entry("signature: {public-key: '{{ .Values.a.b }}'}"),
            String::new(),
        ),
        (
            "a list",
            entry("signature: {public-key: []}"),
            String::new(),
        ),
    ];
    let mut said = String::new();
    for (case, catalog, settings) in cases {
        let stderr = lock(&catalog, &settings).exit(1).outcome.stderr;
        let errors = stderr.lines().filter(|line| line.starts_with("error["));
        let errors: Vec<&str> = errors.collect();
        said += &format!("{case}: {}\n", errors.join("; "));
    }
    said.is(str![[r#"
an entry of the builder's list: error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
the same in a record's words: error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
the record of an image of the builder: error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
an entry of os_images: error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
its record: error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
no text: error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: it is not a PEM public key, and there is no such file
an expression that fails: error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated; error[value-missing]: cannot read `.b` of nil
a list: error[signature-invalid]: the key that images of image `ubuntu-noble-plain-rke2-1-31-8` are signed with cannot be used: its value cannot be evaluated

"#]]);
}

#[test]
fn an_artifact_does_not_name_the_key_that_signs_it() {
    let image = "registry.example.org/acme/noble:1";
    let stage = project()
        .cluster(
            "edge",
            &format!("os_images: {{noble: {{uri: 'oci://{image}'}}}}\ncluster: {{name: edge}}\n"),
        )
        .settings("registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}");
    let key = Key::new().pem();
    let named = ("sylvaproject.org/diskimage/cosign_publickey", &*key);
    LayoutWriter::new(&stage.path().join("registry")).image(Some(image), &[named]);
    for _ in 0..2 {
        let run = stage.run("lock").exit(0);
        assert!(!run.outcome.stderr.contains("signature-"));
    }
    assert!(stage.read("metalmark.lock").contains("cosign_publickey"));
}

#[test]
fn a_misspelled_key_of_an_entry_is_an_error() {
    let said = table(
        [
            "cosign_public_key: k.pub",
            "cosign-publickey: k.pub",
            "os_images_oci_registryy: lab",
            "k8s_version: 1.31.8+rke2r1",
            "imageformat: raw",
            "team-note: ours",
            "signature: pub.pem",
            "signature: {key: pub.pem}",
            "cosign_pub_key: pub.pem",
            "signing_key: pub.pem",
            "signature: {}",
        ],
        |more| {
            let stage = project().cluster("edge", &format!("{}\n", entry(more)));
            let found = stage.check();
            let found = found.of_rule("key-misspelled").into_iter();
            found.map(str::to_owned).collect()
        },
    );
    said.is(str![[r#"
cosign_public_key: k.pub
    error[key-misspelled] edge edge.yaml:1:64 `cosign_public_key` => cosign_publickey
cosign-publickey: k.pub
    error[key-misspelled] edge edge.yaml:1:64 `cosign-publickey` => cosign_publickey
os_images_oci_registryy: lab
    error[key-misspelled] edge edge.yaml:1:64 `os_images_oci_registryy` => os_images_oci_registry
k8s_version: 1.31.8+rke2r1
    error[key-misspelled] edge edge.yaml:1:64 `k8s_version` => k8s-version
imageformat: raw
    error[key-misspelled] edge edge.yaml:1:64 `imageformat` => image-format
team-note: ours
signature: pub.pem
    error[key-misspelled] edge edge.yaml:1:75 `pub.pem` => cosign_publickey
signature: {key: pub.pem}
    error[key-misspelled] edge edge.yaml:1:76 `key` => cosign_publickey
cosign_pub_key: pub.pem
    error[key-misspelled] edge edge.yaml:1:80 `pub.pem` => cosign_publickey
signing_key: pub.pem
    error[key-misspelled] edge edge.yaml:1:77 `pub.pem` => cosign_publickey
signature: {}

"#]]);
}

#[test]
fn a_key_with_which_nothing_is_verified_is_reported() {
    let pem = Key::new().pem();
    let record = format!(
        "images: {{records: {{noble: {{k8s: {{version: 1.31.8+rke2r1, flavor: rke2}}, signature: {{public-key: {pem:?}}}}}}}}}\n"
    );
    let key = format!("cosign_publickey: {pem:?}");
    let cases = [
        (
            "in a registry",
            "uri: 'oci://registry.example.org/noble:1'".to_owned(),
            record.clone(),
        ),
        (
            "on a web server",
            format!("uri: 'https://h/noble.raw', {key}"),
            String::new(),
        ),
        (
            "exported",
            "uri: 'oci://registry.example.org/noble:1'".to_owned(),
            "images: {facts: [info.yaml]}\n".to_owned(),
        ),
    ];
    let mut said = String::new();
    for (case, image, settings) in cases {
        let stage = project()
            .cluster("edge", &format!("os_images: {{noble: {{{image}}}}}\n"))
            .settings(&settings)
            .file("info.yaml", format!("os_images: {{noble: {{{key}}}}}\n"));
        let found = stage.run("check --output concise").outcome.stdout;
        let found = found.lines().filter(|line| line.contains("signature-"));
        let found: Vec<&str> = found.collect();
        said += &format!("{case}: {}\n", found.join("; "));
    }
    said.is(str![[r#"
in a registry: metalmark.yaml:3:97: warning[signature-unchecked]: a key is named for image `noble`, and nothing is locked, so no signature is checked (cluster edge)
on a web server: edge.yaml:1:67: warning[signature-unchecked]: a key is named for image `noble`, and only images in a registry are signed (cluster edge)
exported: 

"#]]);
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

#[test]
fn what_a_registry_says_of_its_key_has_to_name_one() {
    let said = table(
        [
            "signature: k.pub",
            "signature: {key: k.pub}",
            "signing_key: k.pub",
            "cosign_public_key: k.pub",
        ],
        |more| {
            let stage = project().cluster("edge", &two_releases(&format!(", {more}"), ""));
            let found = stage.check();
            let found = found.of_rule("key-misspelled").into_iter();
            found.map(str::to_owned).collect()
        },
    );
    said.is(str![[r#"
signature: k.pub
    error[key-misspelled] edge edge.yaml:3:78 `k.pub` => cosign_publickey
signature: {key: k.pub}
    error[key-misspelled] edge edge.yaml:3:79 `key` => cosign_publickey
signing_key: k.pub
    error[key-misspelled] edge edge.yaml:3:80 `k.pub` => cosign_publickey
cosign_public_key: k.pub
    error[key-misspelled] edge edge.yaml:3:67 `cosign_public_key` => cosign_publickey

"#]]);
}

#[test]
fn a_prefix_of_the_policy_without_an_image_is_reported() {
    let pem = Key::new().pem();
    let demand = |prefix: &str| {
        let list = "sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-35: {os_images_oci_registry: sylva}}\n";
        let stage = project()
            .cluster("edge", &two_releases("", list))
            .file("k.pub", &*pem)
            .settings(&format!(
                "policy:\n  signatures: {{{prefix}: {{keys: [k.pub]}}}}\n  provenance: [{{images: {prefix}, key: k.pub, slsa: {{}}}}]\n"
            ));
        let found = stage.check();
        let found = found.of_rule("project-file").into_iter();
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    table(
        ["registry.example.org/dib", "registryy.example.org"],
        |prefix| demand(prefix),
    )
    .is(str![[r#"
registry.example.org/dib
registryy.example.org
    warning[project-file] metalmark.yaml:4:39 `{keys: [k.pub]}`
    warning[project-file] metalmark.yaml:5:16 `{images: registryy.example.org, key: k.pub, slsa: {}}`

"#]]);
}
