//! What is pushed to a registry: in which order, where to, with what proof.

use std::sync::{Arc, Mutex};

use oci_artifacts::registry::Registries;
use oci_artifacts::{Digest, FailureKind, Sink, Store};
use serde_json::{Value, json};

use super::super::support::artifact::{artifact, blob, made};
use super::super::support::distribution::plain_http;
use super::super::support::registry::{Lock, MANIFEST, Registry, Reply, Request};
use super::{client, client_with, options, options_with, plain};

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

fn requests(registry: &Registry) -> Vec<String> {
    let seen = registry.seen();
    let line = |request: &Request| {
        let path = request.path.split('?').next().unwrap_or_default();
        format!("{} {}", request.method, path.replace("/v2/group/one/", ""))
    };
    seen.iter().map(line).collect()
}

/// A login of `bob`.
fn auth(registry: &Registry, password: &str) -> String {
    let login = json!({"username": "bob", "password": password});
    json!({"auths": {registry.host(): login}}).to_string()
}

#[test]
fn blobs_go_first_and_nothing_is_sent_twice() {
    let registry = Registry::plain();
    let client = client(&registry);
    let layer = blob(LAYER, b"some bytes");
    let artifact = artifact(vec![layer.clone()], json!({}));
    let to = registry.reference("group/one:1.0");
    let put = client.put(&to, &artifact).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (2, false));
    let stored = registry.stored(&layer.descriptor.digest);
    assert_eq!(stored.as_deref(), Some(&b"some bytes"[..]));
    let (media_type, bytes) = registry
        .manifest_at("group/one", "1.0")
        .expect("a manifest");
    assert_eq!(
        (media_type.as_str(), bytes),
        (MANIFEST, artifact.manifest.clone())
    );
    assert_eq!(
        requests(&registry).last().map(String::as_str),
        Some("PUT manifests/1.0")
    );
    let before = registry.count();
    let put = client.put(&to, &artifact).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (0, true));
    let writes = registry.seen().split_off(before);
    assert!(
        writes
            .iter()
            .all(|request| matches!(request.method.as_str(), "GET" | "HEAD"))
    );
    let by_digest = registry
        .reference("group/one")
        .with_digest(&artifact.descriptor.digest);
    let put = client.put(&by_digest, &artifact).expect("put");
    assert_eq!((put.sent, put.is_unchanged), (0, true));
    let other = registry
        .reference("group/one")
        .with_digest(&Digest::compute(b"other"));
    let refused = client.put(&other, &artifact).expect_err("another digest");
    assert_eq!(refused.kind, FailureKind::Corrupt);
}

#[test]
fn uploads_go_on_wherever_the_registry_says() {
    for location in [
        "{own}/v2/{repository}/blobs/uploads/{id}",
        "/v2/{repository}/blobs/uploads/{id}?_state=a%2Fb%3D&x=y",
        "../uploads/{id}",
    ] {
        let registry = Registry::plain();
        let own = format!("http://{}", registry.host());
        registry.upload_at(&location.replace("{own}", &own));
        let layer = blob(LAYER, b"some bytes");
        let put = client(&registry).put(
            &registry.reference("group/one:1"),
            &artifact(vec![layer.clone()], json!({})),
        );
        assert_eq!(put.map(|put| put.sent), Ok(2), "{location}");
        assert!(registry.stored(&layer.descriptor.digest).is_some());
        let finish = registry.seen();
        let finish = finish
            .iter()
            .find(|request| request.method == "PUT")
            .expect("one");
        let state = location
            .split_once('?')
            .map_or("digest=", |(_, query)| query);
        assert!(finish.path.contains(state), "{}", finish.path);
    }
}

#[test]
fn another_host_is_sent_the_blob_and_never_the_credentials() {
    let (registry, storage) = (Registry::plain(), Registry::plain());
    registry.lock(Lock::Basic {
        user: "bob".to_owned(),
        password: "hunter2".to_owned(),
    });
    storage.hook(|request, _| (request.method == "PUT").then(|| Reply::new(201, "")));
    registry.upload_at(&format!(
        "http://u:p@{}/store/{{id}}?signed=yes",
        storage.host()
    ));
    let both = plain_http(&[registry.host(), storage.host()]);
    let (options, _stage) = options_with(both, &auth(&registry, "hunter2"));
    let layer = artifact(vec![blob(LAYER, b"some bytes")], json!({}));
    // The registry itself never gets the blobs, and says so of the manifest.
    let refused = Registries::new(options).put(&registry.reference("group/one:1"), &layer);
    let refused = refused.expect_err("no blobs").to_string();
    assert!(
        refused.contains("answered 400 (a blob is not there)"),
        "{refused}"
    );
    let seen = storage.seen();
    assert_eq!(seen.len(), 2);
    for request in seen {
        assert!(
            request.path.contains("signed=yes&digest=sha256%3A"),
            "{}",
            request.path
        );
        assert_eq!(request.header("authorization"), None);
    }
}

#[test]
fn a_token_is_for_pushing_and_bought_again_when_it_ends() {
    let registry = Registry::plain();
    registry.lock(Lock::Bearer {
        realm: None,
        password: Some(("bob".to_owned(), "hunter2".to_owned())),
        identity: None,
        life: 3600,
    });
    let (client, _stage) = client_with(&registry, &auth(&registry, "hunter2"));
    let artifact = artifact(vec![made(3 << 20)], json!({}));
    // It ends for this one request: the other blob's, which come at the same time, do not meet it.
    let once = Mutex::new(true);
    registry.hook(move |request, _| {
        let is_first =
            request.method == "PATCH" && std::mem::take(&mut *once.lock().expect("held"));
        is_first.then(|| Reply::new(401, ""))
    });
    let put = client.put(&registry.reference("group/one:1"), &artifact);
    assert_eq!(put.map(|put| put.sent), Ok(2));
    let seen = registry.seen();
    let bought: Vec<_> = seen
        .iter()
        .filter(|request| request.path.starts_with("/token"))
        .collect();
    assert_eq!(bought.len(), 2);
    for request in bought {
        assert!(
            request
                .path
                .contains("scope=repository%3Agroup%2Fone%3Apull%2Cpush"),
            "{}",
            request.path
        );
    }
    let proofs: Vec<_> = seen
        .iter()
        .filter(|request| request.method == "PATCH")
        .map(|request| request.header("authorization"))
        .collect();
    assert_eq!(proofs.len(), 4, "three pieces, the first of them twice");
    assert!(proofs[0] != proofs[1] && proofs[1] == proofs[3]);
}

#[test]
fn a_registry_that_everyone_may_read_wants_a_password_to_write() {
    let registry = Registry::plain();
    registry.lock(Lock::Writers {
        user: "bob".to_owned(),
        password: "hunter2".to_owned(),
    });
    let artifact = artifact(vec![blob(LAYER, b"some bytes")], json!({}));
    let to = registry.reference("group/one:1");
    let refused = client(&registry)
        .put(&to, &artifact)
        .expect_err("no password");
    assert_eq!(refused.kind, FailureKind::Denied);
    assert!(refused.message.contains("to write to it"), "{refused}");
    let (wrong, _stage) = client_with(&registry, &auth(&registry, "hunter3"));
    let refused = wrong
        .put(&to, &artifact)
        .expect_err("another password")
        .to_string();
    assert!(refused.contains("may write to the repository"), "{refused}");
    assert!(!refused.contains("hunter3"), "{refused}");
    let (right, _stage) = client_with(&registry, &auth(&registry, "hunter2"));
    assert_eq!(right.put(&to, &artifact).map(|put| put.sent), Ok(2));
}

/// The entries of the list of what refers to a digest, under its tag.
fn listed(registry: &Registry, subject: &Digest) -> Vec<Value> {
    let tag = subject.as_str().replace(':', "-");
    let (_, bytes) = registry.manifest_at("group/one", &tag).expect("a list");
    let index: Value = serde_json::from_slice(&bytes).expect("an index");
    index["manifests"].as_array().expect("a list").clone()
}

#[test]
fn what_refers_to_a_manifest_is_listed_where_the_registry_lists_nothing() {
    let registry = Registry::plain();
    let client = client(&registry);
    let subject = artifact(vec![blob(LAYER, b"some bytes")], json!({}));
    let of = &subject.descriptor;
    client
        .put(&registry.reference("group/one:1"), &subject)
        .expect("put");
    let referrer = |number: usize| {
        let subject = json!({"mediaType": MANIFEST, "digest": of.digest.as_str(), "size": of.size});
        let fields = json!({"subject": subject, "artifactType": "a/b", "annotations": {"n": number.to_string()}});
        artifact(vec![blob(LAYER, b"sig")], fields)
    };
    for number in [0, 1, 0] {
        let referrer = referrer(number);
        let to = registry
            .reference("group/one")
            .with_digest(&referrer.descriptor.digest);
        client.put(&to, &referrer).expect("put");
    }
    let entries = listed(&registry, &of.digest);
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1]["artifactType"], "a/b");
    assert_eq!(entries[1]["annotations"]["n"], "1");
    let found = client.referrers(&[(registry.reference("group/one"), of.digest.clone())]);
    assert_eq!(found[0].as_ref().map(Vec::len), Ok(2));
    // One that lists them itself is left to do so.
    let other = Registry::plain();
    other.list_referrers();
    let client = super::client(&other);
    client
        .put(&other.reference("group/one:1"), &subject)
        .expect("put");
    let referrer = referrer(0);
    let to = other
        .reference("group/one")
        .with_digest(&referrer.descriptor.digest);
    client.put(&to, &referrer).expect("put");
    let tag = of.digest.as_str().replace(':', "-");
    assert!(other.manifest_at("group/one", &tag).is_none());
    let found = client.referrers(&[(other.reference("group/one"), of.digest.clone())]);
    assert_eq!(found[0].as_ref().map(Vec::len), Ok(1));
}

#[test]
fn progress_is_reported_by_the_mebibyte() {
    let registry = Registry::plain();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let mut options = options(plain(&registry));
    let seen = Arc::clone(&reported);
    options.progress = Some(Arc::new(move |done, of| {
        seen.lock().expect("held").push((done, of))
    }));
    let artifact = artifact(vec![made(3 << 20)], json!({}));
    let client = Registries::new(options);
    let to = registry.reference("group/one:1");
    for _ in 0..2 {
        client.put(&to, &artifact).expect("put");
        // What reads the blob may let go of it a moment later.
        for _ in 0..500 {
            if reported.lock().expect("held").last() == Some(&(4, 4)) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let reported = std::mem::take(&mut *reported.lock().expect("held"));
        assert!(reported.is_sorted(), "{reported:?}");
        assert_eq!(reported.last(), Some(&(4, 4)));
    }
}

#[test]
fn a_registry_that_sends_on_to_its_storage_has_the_blob() {
    let registry = Registry::plain();
    registry.hook(|request, _| {
        let elsewhere = "https://storage.example/signed-for-get-alone";
        (request.method == "HEAD").then(|| Reply::new(307, "").header("Location", elsewhere))
    });
    let artifact = artifact(vec![blob(LAYER, b"some bytes")], json!({}));
    for blob in &artifact.blobs {
        let mut bytes = Vec::new();
        blob.content
            .open()
            .expect("made")
            .read_to_end(&mut bytes)
            .expect("made");
        registry.blob(&bytes);
    }
    let put = client(&registry).put(&registry.reference("group/one:1"), &artifact);
    assert_eq!(put.map(|put| put.sent), Ok(0));
}
