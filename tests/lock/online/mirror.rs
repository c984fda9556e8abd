//! `metalmark mirror`: what is locked arrives whole, and is read there without its source.

use std::fs;

use oci_artifacts::Digest;
use serde_json::{Value, json};
use snapbox::str;

use super::{PLAIN, Site, manifest, publish, sign};
use crate::lock::{JAMMY, NOBLE};
use crate::support::cosign::{BUNDLE, Key};
use crate::support::registry::{INDEX, MANIFEST, Registry, Reply, Request};

/// A site with an image that much belongs to, and an index of two parts; all is signed at tags.
fn write_site(origin: &Registry) -> Site {
    let site = Site::signed(origin, PLAIN);
    let repository = format!("os/{NOBLE}");
    let noble = Digest::compute(&origin.manifest_at(&repository, "0.4.12").expect("there").1);
    // An attestation at a tag, another that refers to the image, and a signature of that one.
    let tag = format!("sha256-{}.att", noble.hex());
    store(origin, &repository, &tag, "first attestation", None);
    let second = store(origin, &repository, "b", "second attestation", Some(&noble));
    store(origin, &repository, "c", "its signature", Some(&second));
    let repository = format!("os/{JAMMY}");
    let part = |tag: &str, architecture: &str, build: &str| {
        let digest = publish(origin, JAMMY, tag, build);
        let (_, bytes) = origin.manifest_at(&repository, tag).expect("published");
        json!({
            "mediaType": MANIFEST, "digest": digest.as_str(), "size": bytes.len(),
            "platform": {"architecture": architecture, "os": "linux"},
        })
    };
    let parts = [part("0.4.12", "amd64", "a"), part("arm", "arm64", "b")];
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": parts}).to_string();
    let jammy = origin.put(&repository, "0.4.12", INDEX, index.as_bytes());
    sign(origin, JAMMY, &jammy, &site.key);
    site
}

/// Stores a manifest with one layer of that text, which may refer to another one.
fn store(
    origin: &Registry,
    repository: &str,
    tag: &str,
    text: &str,
    subject: Option<&Digest>,
) -> Digest {
    let layer = origin.blob(text.as_bytes());
    let layer = json!({"mediaType": BUNDLE, "digest": layer.as_str(), "size": text.len()});
    let mut manifest: Value = serde_json::from_str(&manifest(layer, &[])).expect("JSON");
    let Some(subject) = subject else {
        return origin.put(repository, tag, MANIFEST, manifest.to_string().as_bytes());
    };
    manifest["subject"] = json!({"mediaType": MANIFEST, "digest": subject.as_str(), "size": 2});
    let manifest = manifest.to_string();
    let digest = origin.put(repository, tag, MANIFEST, manifest.as_bytes());
    let entry = json!({"mediaType": MANIFEST, "digest": digest.as_str(), "size": manifest.len()});
    origin.refer(subject, &entry.to_string());
    digest
}

/// The section of the project file: both registries over plain HTTP, and mirrors.
fn write_registries(site: &Site, copy: &Registry, mirrors: &str) {
    let hosts = format!("'{}': {PLAIN}, '{}': {PLAIN}", site.host, copy.host());
    site.write_registries(&format!("hosts: {{{hosts}}}, mirrors: {{{mirrors}}}"));
}

/// How many requests wrote something.
fn writes(registry: &Registry) -> usize {
    let is_write = |request: &&Request| request.method != "GET" && request.method != "HEAD";
    registry.seen().iter().filter(is_write).count()
}

#[test]
fn a_mirror_serves_without_its_source() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    let to = format!("mirror --to oci://{}/site", copy.host());
    let mut story = site.story().name(copy.host(), "COPY");
    story.runs(&["lock", &format!("{to} --dry-run")]);
    assert_eq!(writes(&copy), 0);
    story.run(&to);
    let written = writes(&copy);
    story.note("again").run(&to);
    assert_eq!(writes(&copy), written, "what is there is not sent again");
    drop(origin);
    let mirrors = format!("'{}/os': '{}/site/os'", site.host, copy.host());
    write_registries(&site, &copy, &mirrors);
    let commands = ["lock --upgrade", "verify", "check --frozen"];
    story.note("the source is gone").runs(&commands);
    story.is(str![]);
    // All that belonged to it came along, also what belongs to what belongs to it.
    for text in ["first attestation", "second attestation", "its signature"] {
        let digest = Digest::compute(text.as_bytes());
        assert!(copy.stored(&digest).is_some(), "{text}");
    }
}

#[test]
fn a_layout_that_the_project_names_is_filled_from_the_registry_itself() {
    let origin = Registry::plain();
    let site = write_site(&origin);
    let (_, manifest) = origin
        .manifest_at(&format!("os/{NOBLE}"), "0.4.12")
        .expect("there");
    let mut story = site.story();
    story.run("lock");
    let mirrors = format!("'{}/os': 'oci-layout:images'", site.host);
    write_registries(&site, &origin, &mirrors);
    story
        .note("an empty mirror")
        .runs(&["mirror --dry-run", "mirror", "mirror"]);
    // What was lost of it is copied again, and nothing else.
    let lost = Digest::compute(super::layer(NOBLE, "a").as_bytes());
    let lost = format!("images/blobs/sha256/{}", lost.hex());
    fs::remove_file(site.stage.path().join(&lost)).expect("copied");
    story.note("a blob is lost").run("mirror");
    drop(origin);
    story.note("the source is gone");
    story.runs(&["mirror --to oci-layout:images", "lock --upgrade", "verify"]);
    story.is(str![]);
    let manifest = Digest::compute(&manifest);
    assert!(
        site.stage
            .read("metalmark.lock")
            .contains(manifest.as_str())
    );
}

#[test]
fn a_run_that_was_ended_goes_on_where_it_was() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    let to = format!("mirror --to oci://{}", copy.host());
    let mut story = site.story().name(copy.host(), "COPY");
    story.run("lock");
    // The last image is refused when it was sent in part.
    copy.hook(|request, _| {
        let is_refused =
            request.method == "PUT" && request.path.contains(&format!("{NOBLE}/manifests"));
        is_refused.then(|| Reply::new(403, ""))
    });
    story.run(&to);
    let is_blob = |request: &&Request| request.method == "POST";
    let sent = copy.seen().iter().filter(is_blob).count();
    copy.hook(|_, _| None);
    story.note("now it is taken").run(&to);
    let all = copy.seen().iter().filter(is_blob).count();
    // Two blobs of the image had arrived.
    story.is(str![]);
    assert_eq!(all - sent, 4);
}

/// A site may have signed its copies itself: their tag is not written over.
#[test]
fn signatures_of_the_mirror_are_not_replaced() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    let digest = publish(&copy, NOBLE, "0.4.12", "a");
    sign(&copy, NOBLE, &digest, &Key::new());
    let tag = format!("sha256-{}.sig", digest.hex());
    let mut story = site.story().name(copy.host(), "COPY").name(&tag, "TAG");
    story.run("lock");
    let signed = copy.manifest_at(&format!("os/{NOBLE}"), &tag);
    story.run(&format!("mirror --to oci://{}", copy.host()));
    story.is(str![]);
    assert_eq!(copy.manifest_at(&format!("os/{NOBLE}"), &tag), signed);
}

#[test]
fn a_signature_that_the_lock_rests_on_has_to_come_along() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    let mut story = site.story().name(copy.host(), "COPY");
    story.run("lock");
    let digest = publish(&origin, NOBLE, "0.4.12", "a");
    sign(&origin, NOBLE, &digest, &Key::new());
    story
        .note("another key signed it")
        .run(&format!("mirror --to oci://{}", copy.host()));
    story.is(str![]);
    assert_eq!(copy.manifest_at(&format!("os/{NOBLE}"), "0.4.12"), None);
}

#[test]
fn a_destination_is_named() {
    let origin = Registry::plain();
    let site = write_site(&origin);
    let mut story = site.story();
    story.runs(&["mirror", "lock", "mirror", "mirror --to images"]);
    story.is(str![]);
}
