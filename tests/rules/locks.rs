//! The lock, and the registry that it was made from: what is missing, stale, moved, tampered with, or signed by somebody else.

use oci_artifacts::Digest;
use serde_json::json;
use snapbox::str;
use yaml_tree::bytes::BASE64;

use super::super::support::cosign::{ANNOTATION, Key, SIMPLE, Signs, payload};
use super::super::support::layout::LayoutWriter;
use super::super::support::stage::{Is, Stage, project};
use super::{fails, passes, values, warns};

/// Where the registry's images are, and where its clients look for them.
const REPOSITORY: &str = "registry.example.org/os";

/// A cluster that boots `noble-31` of a registry with these images; `more` describes the registry further.
fn boots(images: &str, more: &str) -> Stage {
    let others = format!(
        "os_images_oci_registries: {{lab: {{url: 'oci://{REPOSITORY}', tag: 1.0.0{more}}}}}\nsylva_diskimagebuilder_images: {{{images}}}"
    );
    project()
        .settings("registries: {mirrors: {registry.example.org/os: oci-layout:registry}}")
        .cluster("edge", &values(&others, "capm3: {image_key: noble-31}"))
}

const NOBLE_31: &str = "noble-31: {os_images_oci_registry: lab}";
const BOTH: &str =
    "noble-31: {os_images_oci_registry: lab}, noble-30: {os_images_oci_registry: lab}";

/// An image of the registry whose facts the values have too.
fn described(key: &str) -> String {
    let sum = "a".repeat(64);
    format!(
        "{key}: {{os_images_oci_registry: lab, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: {sum}}}"
    )
}

/// An empty registry in the project's folder.
fn registry(project: &Stage) -> LayoutWriter {
    LayoutWriter::new(&project.path().join("registry"))
}

/// Pushes an image that holds a version and the bytes of a sum.
fn push(registry: &mut LayoutWriter, name: &str, version: &str, sum: char) -> Digest {
    let sum = sum.to_string().repeat(64);
    let facts = [
        ("sylvaproject.org/diskimage/filename", "noble.raw"),
        ("sylvaproject.org/diskimage/image-format", "raw"),
        ("sylvaproject.org/diskimage/k8s-version", version),
        ("sylvaproject.org/diskimage/sha256", &sum),
    ];
    registry.image(Some(&format!("{REPOSITORY}/{name}")), &facts)
}

fn push_noble(registry: &mut LayoutWriter) -> Digest {
    push(registry, "noble-31:1.0.0", "1.31.8+rke2r1", 'a')
}

/// Signs an artifact of `noble-31` under a name, as cosign stores it at a tag.
fn sign(registry: &mut LayoutWriter, digest: &Digest, name: &str, key: &Key) {
    let text = payload(digest, &format!("{REPOSITORY}/{name}"));
    let mut layer = registry.blob(SIMPLE, text.as_bytes());
    layer["annotations"] = json!({ANNOTATION: BASE64.encode(&key.sign(text.as_bytes()))});
    let name = format!("{REPOSITORY}/noble-31:sha256-{}.sig", digest.hex());
    registry.manifest(Some(&name), json!({"layers": [layer]}));
}

/// A cluster on one image, locked.
fn locked() -> Stage {
    let project = boots(NOBLE_31, "");
    push_noble(&mut registry(&project));
    let _ = project.run("lock").exit(0);
    project
}

/// The same with a registry whose images that key signs.
fn locked_signed(key: &Key) -> Stage {
    let project = boots(NOBLE_31, ", cosign_publickey: cosign.pub").file("cosign.pub", key.pem());
    push_signed(&project, "noble-31", key);
    let _ = project.run("lock").exit(0);
    project
}

/// A registry with `noble-31`, signed under that name with that key.
fn push_signed(project: &Stage, name: &str, key: &Key) {
    let mut registry = registry(project);
    let digest = push_noble(&mut registry);
    sign(&mut registry, &digest, name, key);
}

#[test]
fn artifact_other_image() {
    let key = Key::new();
    let project = locked_signed(&key);
    push_signed(&project, "noble-30", &key);
    fails("artifact-other-image", &project, "verify").brief(str![[r#"
IMAGE     TAG        SIGNED BY  REFERENCE
noble-31  as locked  –          oci://registry.example.org/os/noble-31:1.0.0
error[artifact-other-image]: `oci://registry.example.org/os/noble-31:1.0.0` is not trusted: its signature was made for `registry.example.org/os/noble-30`
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1`
  help: the key is right: compare the two names; where images are copied on purpose, name the prefix that they were signed below: `registries: {signed-as: {PREFIX: PREFIX}}` in the project file
1 error

"#]]);
    push_signed(&project, "noble-31", &key);
    passes("artifact-other-image", &project, "verify");
}

#[test]
fn provenance_unproven() {
    let key = Key::new();
    // Locked before anybody asked who signs.
    let project = boots(NOBLE_31, "").file("ci.pub", key.pem());
    push_noble(&mut registry(&project));
    let _ = project.run("lock").exit(0);
    let policy = "policy: {provenance: [{images: registry.example.org/os, key: ci.pub}]}";
    let project = project.settings(policy);
    fails("provenance-unproven", &project, "check").brief(str![[r#"
error[provenance-unproven]: `oci://registry.example.org/os/noble-31:1.0.0` is not proven to come from where the project says: it has no signature
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1` locked here
  help: run `metalmark lock`: it looks for signatures and attestations, and locks nothing that lacks one
1 error; 1 node pool checked: 1 proven

"#]]);
    push_signed(&project, "noble-31", &key);
    let _ = project.run("lock").exit(0);
    passes("provenance-unproven", &project, "check");
}

#[test]
fn reference_unpinned() {
    let project = boots(&described("noble-31"), "");
    project.edit(
        "metalmark.yaml",
        "registries:",
        "images: {url: '{{ image.uri }}'}\nregistries:",
    );
    push_noble(&mut registry(&project));
    warns("reference-unpinned", &project, "check").brief(str![[r#"
warning[reference-unpinned]: image `noble-31` is not locked, so that its tag is rendered
  edge.yaml:6:22 `noble-31` machines pull this image
  edge.yaml:2:33 `noble-31` by this reference
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    let _ = project.run("lock").exit(0);
    passes("reference-unpinned", &project, "check");
    let url = "oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:1.0.0";
    let own = values(
        "",
        &format!("capm3: {{machine_image_url: '{url}', machine_image_format: raw}}"),
    );
    project.write("edge.yaml", &own);
    warns("reference-unpinned", &project, "check").brief(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8:1.0.0` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:4:30 `'oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:1.0.0'` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: select the image by `image_key`, so that its facts are known
warning[reference-unpinned]: `oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:1.0.0` names a tag, which may move
  edge.yaml:4:30 `'oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:1.0.0'` machines pull this image
  cluster: edge, pool control-plane
  help: name it by its digest: `oci://…@sha256:…`
warning[lock-unused]: the lock holds `oci://registry.example.org/os/noble-31:1.0.0`, which no cluster requires
  metalmark.lock:5:8 `noble-31`
  help: run `metalmark lock`
3 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    let digest = Digest::compute(b"");
    project.write("edge.yaml", own.replace(":1.0.0", &format!("@{digest}")));
    passes("reference-unpinned", &project, "check");
}

#[test]
fn catalog_drift() {
    let project = boots(BOTH, "");
    let mut registry = registry(&project);
    push_noble(&mut registry);
    push(&mut registry, "noble-30-14:1.0.0", "1.30.14+rke2r1", 'b');
    fails("catalog-drift", &project, "lock").brief(str![[r#"
added   noble-31 sha256:1763bf0b5ca5… oci://registry.example.org/os/noble-31:1.0.0
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
error[catalog-drift]: the catalog names image `noble-30`, and oci-layout:registry has no artifact of that name
  edge.yaml:2:74 `noble-30` required here
  help: it has `registry.example.org/os/noble-30-14:1.0.0`, `registry.example.org/os/noble-31:1.0.0`
1 error

"#]]);
    project.edit("edge.yaml", BOTH, NOBLE_31);
    passes("catalog-drift", &project, "lock");
}

#[test]
fn image_incomplete() {
    let project = locked();
    let layer = Digest::compute(b"layer");
    let blob = format!("registry/blobs/sha256/{}", layer.hex());
    project.edit(&blob, "layer", "la");
    fails("image-incomplete", &project, "verify").brief(str![[r#"
IMAGE     TAG        SIGNED BY  REFERENCE
noble-31  as locked  –          oci://registry.example.org/os/noble-31:1.0.0
error[image-incomplete]: layer `sha256:dac1d7cfa95021764849fd102524e141488c5e3a90f861dbb5a12d9ac8584f85` of `noble-31` has 2 bytes, and its manifest says 5
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1` of this artifact
  help: no node can pull it: have the same artifact pushed or copied there again; its digest stays the same
1 error

"#]]);
    project.write(&blob, "layer");
    passes("image-incomplete", &project, "verify");
}

#[test]
fn tag_moved() {
    let project = locked();
    push(
        &mut registry(&project),
        "noble-31:1.0.0",
        "1.31.8+rke2r1",
        'b',
    );
    fails("tag-moved", &project, "lock --upgrade").brief(str![[r#"
metalmark.lock: 1 kept, 0 added, 0 updated, 0 dropped; unchanged
error[tag-moved]: `oci://registry.example.org/os/noble-31:1.0.0` has moved: it is `sha256:97923c5f43f9a4c3d50a412f9c0ff30bdad069345a5063223221160942798cd4` now
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1` locked to this digest
  help: find out who moved it; if it is meant, `metalmark lock --accept-moved noble-31`
1 error

"#]]);
    push_noble(&mut registry(&project));
    passes("tag-moved", &project, "lock --upgrade");
}

#[test]
fn lock_conflict() {
    let project = locked();
    let text = project.read("metalmark.lock");
    let text = text.replace("- key: ", "<<<<<<< HEAD\n=======\n>>>>>>> topic\n- key: ");
    project.write("metalmark.lock", text);
    fails("lock-conflict", &project, "check").brief(str![[r#"
error[lock-conflict]: git left a conflict here
  metalmark.lock:5:1 `<<<<<<< HEAD`
  help: `metalmark lock` merges both sides
1 error; 1 node pool checked: 1 proven

"#]]);
    project.run("lock").exit(0);
    passes("lock-conflict", &project, "check");
}

#[test]
fn lock_invalid() {
    let project = locked();
    project.edit("metalmark.lock", "digest: sha256:", "digest: sha256:?");
    fails("lock-invalid", &project, "check").brief(str![[r#"
error[lock-invalid]: `sha256:?1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1` is not a digest: write `sha256:` and 64 lower-case hex digits
  metalmark.lock:7:11 `sha256:?1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1`
  help: remove the entry and run `metalmark lock`
  help: repair this first: 1 more finding follows from it
error[checksum-missing]: the sha256 of image `noble-31` is not known
  edge.yaml:6:22 `noble-31` this image is selected here
  edge.yaml:2:33 `noble-31` the catalog's entry has no checksum
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
  help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
error[format-missing]: the format of image `noble-31` is not known
  edge.yaml:6:22 `noble-31` this image is selected here
  edge.yaml:2:33 `noble-31` the catalog's entry has no `image-format`
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
error[k8s-version-unproven]: nothing proves that image `noble-31` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:6:22 `noble-31` no source says which version it holds
  edge.yaml:4:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
4 errors in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
    project.edit("metalmark.lock", "sha256:?", "sha256:");
    passes("lock-invalid", &project, "check");
}

#[test]
fn lock_tampered() {
    let project = locked();
    project.edit("metalmark.lock", &"a".repeat(64), &"b".repeat(64));
    fails("lock-tampered", &project, "check").brief(str![[r#"
error[lock-tampered]: `sha256` of `noble-31` is `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` by the lock, `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` by the artifact's annotations
  metalmark.lock:13:13 `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb`
  help: find out who edited the lock; `metalmark lock` takes the facts from the artifact again
1 error; 1 node pool checked: 1 proven

"#]]);
    let _ = project.run("lock").exit(0);
    passes("lock-tampered", &project, "check");
}

#[test]
fn lock_missing_image() {
    let project = locked();
    push(
        &mut registry(&project),
        "noble-30:1.0.0",
        "1.31.8+rke2r1",
        'a',
    );
    project.edit("edge.yaml", NOBLE_31, &described("noble-30"));
    project.edit("edge.yaml", "key: noble-31", "key: noble-30");
    fails("lock-missing-image", &project, "check").brief(str![[r#"
error[lock-missing-image]: the lock does not hold image `noble-30`
  edge.yaml:2:33 `noble-30` is not locked
  cluster: edge
  help: run `metalmark lock` and commit the lock
warning[lock-unused]: the lock holds `oci://registry.example.org/os/noble-31:1.0.0`, which no cluster requires
  metalmark.lock:5:8 `noble-31`
  help: run `metalmark lock`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    let _ = project.run("lock").exit(0);
    passes("lock-missing-image", &project, "check --frozen");
}

#[test]
fn lock_stale() {
    let project = locked();
    project.edit("edge.yaml", NOBLE_31, &described("noble-31"));
    project.edit("edge.yaml", "1.0.0", "1.0.1");
    fails("lock-stale", &project, "check").brief(str![[r#"
error[lock-stale]: the lock holds another reference of image `noble-31`
  edge.yaml:2:33 `noble-31` required here
  metalmark.lock:6:14 `oci://registry.example.org/os/noble-31:1.0.0` locked for this one
  cluster: edge
  help: run `metalmark lock` and commit the lock
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    push(
        &mut registry(&project),
        "noble-31:1.0.1",
        "1.31.8+rke2r1",
        'a',
    );
    let _ = project.run("lock").exit(0);
    passes("lock-stale", &project, "check");
}

#[test]
fn lock_unused() {
    let project = boots(BOTH, "");
    let mut registry = registry(&project);
    push_noble(&mut registry);
    push(&mut registry, "noble-30:1.0.0", "1.30.12+rke2r1", 'b');
    let _ = project.run("lock").exit(0);
    project.edit("edge.yaml", BOTH, NOBLE_31);
    warns("lock-unused", &project, "check").brief(str![[r#"
warning[lock-unused]: the lock holds `oci://registry.example.org/os/noble-30:1.0.0`, which no cluster requires
  metalmark.lock:5:8 `noble-30`
  help: run `metalmark lock`
1 warning; 1 node pool checked: 1 proven

"#]]);
    let _ = project.run("lock").exit(0);
    passes("lock-unused", &project, "check");
}

#[test]
fn signature_missing() {
    let key = Key::new();
    let project = locked_signed(&key);
    push_noble(&mut registry(&project));
    fails("signature-missing", &project, "verify").brief(str![[r#"
IMAGE     TAG        SIGNED BY  REFERENCE
noble-31  as locked  –          oci://registry.example.org/os/noble-31:1.0.0
error[signature-missing]: `oci://registry.example.org/os/noble-31:1.0.0` is not trusted: it has no signature
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1`
  help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`
1 error

"#]]);
    push_signed(&project, "noble-31", &key);
    passes("signature-missing", &project, "verify");
}

#[test]
fn signature_invalid() {
    let key = Key::new();
    let project = locked_signed(&key);
    push_signed(&project, "noble-31", &Key::new());
    fails("signature-invalid", &project, "verify").brief(str![[r#"
IMAGE     TAG        SIGNED BY  REFERENCE
noble-31  as locked  –          oci://registry.example.org/os/noble-31:1.0.0
error[signature-invalid]: `oci://registry.example.org/os/noble-31:1.0.0` is not trusted: its signature was made by another key, or in a way that is not read
  metalmark.lock:7:11 `sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1`
  help: compare the key with the publisher's; if it is right, do not use the image
1 error

"#]]);
    push_signed(&project, "noble-31", &key);
    passes("signature-invalid", &project, "verify");
}

#[test]
fn signature_unchecked() {
    let key = Key::new();
    let project = locked_signed(&key);
    project.edit("edge.yaml", "cosign.pub", "''");
    let run = fails("signature-unchecked", &project, "check");
    let screen = run
        .outcome
        .stdout
        .replace(key.fingerprint().as_str(), "[KEY]");
    screen.is(str![[r#"
error[signature-unchecked]: `oci://registry.example.org/os/noble-31:1.0.0` is locked as signed by the key [KEY], and the values name no key for it any more
 --> metalmark.lock:7:11
  |
7 |   digest: sha256:1763bf0b5ca5675eef9b3ce767975dd88fff9d754877400f02a6330d929a1ac1
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ locked here
  |
  = help: name the key again; or, if the image is not signed any more, run `metalmark lock --upgrade noble-31`

1 error; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "''", "cosign.pub");
    passes("signature-unchecked", &project, "check");
}
