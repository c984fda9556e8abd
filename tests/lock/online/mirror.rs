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
    // A list of referrers keeps what was deleted.
    let gone = Digest::compute(b"gone");
    let entry = json!({"mediaType": MANIFEST, "digest": gone.as_str(), "size": 4});
    origin.refer(&noble, &entry.to_string());
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
    let dry = site.stage.data(&format!("{to} --dry-run"));
    let jammy = &dry["images"][0];
    let expected = json!({
        "key": JAMMY,
        "reference": jammy["reference"],
        "to": format!("oci://{}/site/os/{JAMMY}:0.4.12", copy.host()),
        "state": "lacking",
        "attached": 2,
        "bytes": 674,
    });
    assert_eq!(*jammy, expected);
    let lock = site.stage.read("metalmark.lock");
    let digest = jammy["reference"]
        .as_str()
        .and_then(|it| it.split_once('@'));
    assert!(digest.is_some_and(|(_, digest)| lock.contains(digest)));
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
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ mirror --to oci://COPY/site --dry-run => 0
IMAGE                           STATE    SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  lacking  2                      674 B  oci://COPY/site/os/JAMMY:0.4.12
NOBLE  lacking  4                      391 B  oci://COPY/site/os/NOBLE:0.4.12
$ mirror --to oci://COPY/site => 0
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci://COPY/site/os/JAMMY:0.4.12
NOBLE  copied  4                      391 B  oci://COPY/site/os/NOBLE:0.4.12
1 of 2: JAMMY, 674 B
2 of 2: NOBLE, 391 B
# again
$ mirror --to oci://COPY/site => 0
IMAGE                           STATE  SIGNATURES AND OTHERS  SIZE  COPY
JAMMY  there  2                      –     oci://COPY/site/os/JAMMY:0.4.12
NOBLE  there  4                      –     oci://COPY/site/os/NOBLE:0.4.12
# the source is gone
$ lock --upgrade => 0
updated JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
updated NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY            REFERENCE
JAMMY  as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  SYLVA  oci://HOST/os/NOBLE:0.4.12
$ check --frozen => 0
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
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
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# an empty mirror
$ mirror --dry-run => 0
IMAGE                           STATE    SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  lacking  2                      674 B  oci-layout:images:HOST/os/JAMMY:0.4.12
NOBLE  lacking  4                      391 B  oci-layout:images:HOST/os/NOBLE:0.4.12
$ mirror => 0
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci-layout:images:HOST/os/JAMMY:0.4.12
NOBLE  copied  4                      391 B  oci-layout:images:HOST/os/NOBLE:0.4.12
1 of 2: JAMMY, 674 B
2 of 2: NOBLE, 391 B
$ mirror => 0
IMAGE                           STATE  SIGNATURES AND OTHERS  SIZE  COPY
JAMMY  there  2                      –     oci-layout:images:HOST/os/JAMMY:0.4.12
NOBLE  there  4                      –     oci-layout:images:HOST/os/NOBLE:0.4.12
# a blob is lost
$ mirror => 0
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE  COPY
JAMMY  there   2                      –     oci-layout:images:HOST/os/JAMMY:0.4.12
NOBLE  copied  4                      68 B  oci-layout:images:HOST/os/NOBLE:0.4.12
2 of 2: NOBLE, 68 B
# the source is gone
$ mirror --to oci-layout:images => 2
IMAGE  STATE  SIGNATURES AND OTHERS  SIZE  COPY
error: oci://HOST/os/JAMMY:0.4.12@sha256:0d8fc588b38ab814ba931b8367f3daebcc04de70da42e80b93812963375f1758: `HOST` refused the connection --> metalmark.lock:6:14 (`JAMMY`) --> metalmark.lock:21:14 (`NOBLE`)
$ lock --upgrade => 0
updated JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
updated NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 0 added, 2 updated, 0 dropped; written
$ verify => 0
IMAGE                           TAG        SIGNED BY            REFERENCE
JAMMY  as locked  SYLVA  oci://HOST/os/JAMMY:0.4.12
NOBLE  as locked  SYLVA  oci://HOST/os/NOBLE:0.4.12

"#]]);
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
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ mirror --to oci://COPY => 2
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci://COPY/os/JAMMY:0.4.12
1 of 2: JAMMY, 674 B
error: oci://COPY/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: `COPY` answered 403 to a request for os/NOBLE without credentials, to write to it --> metalmark.lock:21:14 (`NOBLE`)
# now it is taken
$ mirror --to oci://COPY => 0
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  there   2                      –      oci://COPY/os/JAMMY:0.4.12
NOBLE  copied  4                      313 B  oci://COPY/os/NOBLE:0.4.12
2 of 2: NOBLE, 313 B

"#]]);
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
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ mirror --to oci://COPY => 2
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      666 B  oci://COPY/os/JAMMY:0.4.12
1 of 2: JAMMY, 666 B
error: oci://COPY/os/NOBLE:TAG: other signatures are stored there under this tag, and are not replaced --> metalmark.lock:21:14 (`NOBLE`)

"#]]);
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
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# another key signed it
$ mirror --to oci://COPY => 2
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci://COPY/os/JAMMY:0.4.12
1 of 2: JAMMY, 674 B
error: oci://HOST/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: the lock rests on a signature of it that is not there any more, so a copy would not be trusted --> metalmark.lock:21:14 (`NOBLE`)

"#]]);
    assert_eq!(copy.manifest_at(&format!("os/{NOBLE}"), "0.4.12"), None);
}

#[test]
fn what_the_source_cannot_give_is_not_copied() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    let mut story = site.story().name(copy.host(), "COPY");
    story.run("lock");
    let layer = Digest::compute(super::layer(NOBLE, "a").as_bytes());
    let path = format!("os/{NOBLE}/blobs/{layer}");
    origin.hook(move |request, _| {
        let is_asked =
            request.path.ends_with(&path) && request.header("range") != Some("bytes=0-0");
        is_asked.then(|| Reply::new(200, super::layer(NOBLE, "b")))
    });
    story.note("other bytes");
    story.runs(&[
        &format!("mirror --to oci://{}", copy.host()),
        "mirror --to oci-layout:images",
    ]);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
# other bytes
$ mirror --to oci://COPY => 2
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci://COPY/os/JAMMY:0.4.12
1 of 2: JAMMY, 674 B
error: oci://COPY/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: blob `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` cannot be read: oci://HOST/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: `HOST` sent 68 bytes with the digest `sha256:dc71a7d102fda394edde3c9fb048c7d5d017097a418701f5fc22b98441398af4`, not the requested digest `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` --> metalmark.lock:21:14 (`NOBLE`)
$ mirror --to oci-layout:images => 2
IMAGE                           STATE   SIGNATURES AND OTHERS  SIZE   COPY
JAMMY  copied  2                      674 B  oci-layout:images:HOST/os/JAMMY:0.4.12
1 of 2: JAMMY, 674 B
error: oci-layout:images:HOST/os/NOBLE:0.4.12: it cannot be written: oci://HOST/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: `HOST` sent 68 bytes with the digest `sha256:dc71a7d102fda394edde3c9fb048c7d5d017097a418701f5fc22b98441398af4`, not the requested digest `sha256:faef16159ce4af984fd3869428e9d8b6d9ea33330ba503f58b5144b2c0c452be` --> metalmark.lock:21:14 (`NOBLE`)

"#]]);
    assert_eq!(copy.stored(&layer), None);
}

#[test]
fn a_destination_is_named() {
    let origin = Registry::plain();
    let site = write_site(&origin);
    let mut story = site.story();
    story.runs(&["mirror", "lock", "mirror", "mirror --to images"]);
    // A folder of something else is left alone.
    story.run("mirror --to oci-layout:.");
    assert!(!site.stage.path().join("blobs").exists());
    story.is(str![[r#"
$ mirror => 2
error: there is nothing to copy: `metalmark.lock` holds no image that has a mirror under `registries.mirrors`
help: name one there, or `--to oci-layout:DIR`
$ lock => 0
added   JAMMY sha256:0d8fc588b38a… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ mirror => 2
error: there is nothing to copy: `metalmark.lock` holds no image that has a mirror under `registries.mirrors`
help: name one there, or `--to oci-layout:DIR`
$ mirror --to images => 2
error: invalid value 'images' for '--to <TO>': write `oci-layout:DIR`, or `oci://REGISTRY` with or without a path
For more information, try '--help'.
$ mirror --to oci-layout:. => 2
IMAGE  STATE  SIGNATURES AND OTHERS  SIZE  COPY
error: oci-layout:.: it is not an image layout: it has no file `oci-layout` --> metalmark.lock:6:14 (`JAMMY`) --> metalmark.lock:21:14 (`NOBLE`)

"#]]);
}

#[test]
fn what_cannot_be_copied_whole_is_not_copied() {
    let (origin, copy) = (Registry::plain(), Registry::plain());
    let site = write_site(&origin);
    write_registries(&site, &copy, "");
    // The index of another architecture in an index.
    let repository = format!("os/{JAMMY}");
    let (_, index) = origin.manifest_at(&repository, "0.4.12").expect("there");
    let inner = Digest::compute(&index);
    let mut outer: Value = serde_json::from_slice(&index).expect("JSON");
    outer["manifests"][1]["digest"] = json!(inner.as_str());
    outer["manifests"][1]["size"] = json!(index.len());
    let outer = outer.to_string();
    let digest = origin.put(&repository, "0.4.12", INDEX, outer.as_bytes());
    sign(&origin, JAMMY, &digest, &site.key);
    // More artifacts than can be looked for refer to the other image.
    let (_, noble) = origin
        .manifest_at(&format!("os/{NOBLE}"), "0.4.12")
        .expect("there");
    let noble = Digest::compute(&noble);
    for number in 0..10_000 {
        let other = Digest::compute(format!("{number}").as_bytes());
        let entry = json!({"mediaType": MANIFEST, "digest": other.as_str(), "size": 2});
        origin.refer(&noble, &entry.to_string());
    }
    let mut story = site.story().name(copy.host(), "COPY");
    story.runs(&["lock", &format!("mirror --to oci://{}", copy.host())]);
    story.is(str![[r#"
$ lock => 0
added   JAMMY sha256:85e02ef68dba… oci://HOST/os/JAMMY:0.4.12
added   NOBLE sha256:b9d75cfd7c79… oci://HOST/os/NOBLE:0.4.12
metalmark.lock: 0 kept, 2 added, 0 updated, 0 dropped; written
$ mirror --to oci://COPY => 2
IMAGE  STATE  SIGNATURES AND OTHERS  SIZE  COPY
error: oci://HOST/os/JAMMY@sha256:0d8fc588b38ab814ba931b8367f3daebcc04de70da42e80b93812963375f1758: its index names another index, which is not followed --> metalmark.lock:6:14 (`JAMMY`)
oci://HOST/os/NOBLE:0.4.12@sha256:b9d75cfd7c79098e03ecef4b2904446fa8b92e6eae9a5ee97e3720f344e7dc74: more than 10000 manifests may belong to it --> metalmark.lock:21:14 (`NOBLE`)

"#]]);
    assert_eq!(writes(&copy), 0);
}
