//! What goes wrong on the way to a registry: connections, busy and lying registries, content that changes meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use oci_artifacts::{Blob, FailureKind, Sink};
use serde_json::json;

use super::super::support::artifact::{artifact, blob, made};
use super::super::support::registry::{Early, Registry, Reply, Request, fault};
use super::client;

const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Pieces of 1 MiB are sent here: this is three and a bit.
const LONG: u64 = (3 << 20) + 17;

/// Acts at the requests of a method whose numbers, from 0, are given.
fn at(
    registry: &Registry,
    method: &'static str,
    numbers: &'static [usize],
    early: impl Fn() -> Early + Send + Sync + 'static,
) {
    let count = AtomicUsize::new(0);
    registry.early(move |request| {
        let is_big = request
            .header("content-length")
            .is_some_and(|length| length.len() > 3);
        let number =
            (request.method == method && is_big).then(|| count.fetch_add(1, Ordering::SeqCst));
        number
            .filter(|number| numbers.contains(number))
            .map(|_| early())
    });
}

fn of(registry: &Registry, method: &str) -> Vec<Request> {
    let mut seen = registry.seen();
    seen.retain(|request| request.method == method && !request.path.contains("/manifests/"));
    seen
}

fn push(registry: &Registry, layer: &Blob) -> Result<usize, oci_artifacts::Failure> {
    let artifact = artifact(vec![layer.clone()], json!({}));
    let put = client(registry).put(&registry.reference("group/one:1"), &artifact)?;
    let stored = registry
        .stored(&layer.descriptor.digest)
        .expect("it is there");
    assert_eq!(stored.len() as u64, layer.descriptor.size);
    Ok(put.sent)
}

#[test]
fn a_broken_upload_begins_again() {
    let registry = Registry::plain();
    let layer = made(1 << 20);
    at(&registry, "PUT", &[0, 1], || Early::CutAfter(300_000));
    assert_eq!(push(&registry, &layer), Ok(2));
    assert_eq!(
        of(&registry, "POST").len(),
        4,
        "one more for each that broke, one for the other blob"
    );
}

#[test]
fn a_broken_piece_goes_on_where_the_registry_stopped() {
    let registry = Registry::plain();
    registry.keep_parts();
    at(&registry, "PATCH", &[1], || Early::CutAfter(300_000));
    assert_eq!(push(&registry, &made(LONG)), Ok(2));
    let ranges: Vec<String> = of(&registry, "PATCH")
        .iter()
        .filter_map(|request| request.header("content-range").map(str::to_owned))
        .collect();
    let mib = 1 << 20;
    let broken = mib + 300_000;
    assert_eq!(
        ranges,
        [
            format!("0-{}", mib - 1),
            format!("{mib}-{}", 2 * mib - 1),
            format!("{broken}-{}", broken + mib - 1),
            format!("{}-{}", broken + mib, LONG - 1),
        ]
    );
    assert_eq!(of(&registry, "POST").len(), 2);
}

#[test]
fn an_upload_that_the_registry_lost_begins_again() {
    let registry = Registry::plain();
    // The first upload in pieces; the configuration's may have begun before it or after.
    let lost = OnceLock::new();
    registry.hook(move |request, before| {
        let is_lost = match request.method.as_str() {
            "PATCH" => before == 1 && lost.get_or_init(|| request.path.clone()) == &request.path,
            "GET" => before == 2 && lost.get() == Some(&request.path),
            _ => false,
        };
        is_lost.then(|| fault(404, "BLOB_UPLOAD_UNKNOWN", "lost"))
    });
    assert_eq!(push(&registry, &made(LONG)), Ok(2));
    assert_eq!(of(&registry, "POST").len(), 3);
}

#[test]
fn a_registry_that_takes_no_pieces_is_sent_all_at_once() {
    let registry = Registry::plain();
    registry.hook(|request, _| {
        (request.method == "PATCH").then(|| fault(405, "UNSUPPORTED", "no pieces"))
    });
    assert_eq!(push(&registry, &made(LONG)), Ok(2));
    assert_eq!(of(&registry, "PATCH").len(), 1);
}

#[test]
fn a_registry_that_takes_less_at_once_is_sent_pieces() {
    let registry = Registry::plain();
    // Where the connection ends before the answer is read, it is asked again.
    let answer = || Early::Reply(Reply::new(413, ""));
    at(&registry, "PUT", &[0, 1, 2, 3, 4, 5, 6, 7], answer);
    assert_eq!(push(&registry, &made(1 << 20)), Ok(2));
    assert_eq!(of(&registry, "PATCH").len(), 1);
}

#[test]
fn a_busy_registry_is_queried_again_and_not_forever() {
    let registry = Registry::plain();
    let counts = Mutex::new(std::collections::BTreeMap::<String, usize>::new());
    registry.hook(move |request, _| {
        let mut counts = counts.lock().expect("held");
        let count = counts.entry(request.method.clone()).or_default();
        *count += 1;
        let status = [429, 503].get(*count - 1)?;
        (request.method != "GET").then(|| Reply::new(*status, "").header("Retry-After", "0"))
    });
    let layer = blob(LAYER, b"some bytes");
    assert_eq!(push(&registry, &layer), Ok(2));
    let registry = Registry::plain();
    registry.hook(|request, _| {
        let is_end = request.method == "PUT" && request.path.contains("uploads");
        is_end.then(|| Reply::new(503, ""))
    });
    let refused = push(&registry, &layer).expect_err("always busy");
    assert_eq!(refused.kind, FailureKind::Unreachable);
    assert!(refused.message.contains("answered 503"), "{refused}");
}

#[test]
fn a_registry_that_names_other_content_is_not_believed() {
    for path in ["/manifests/", "/uploads/"] {
        let registry = Registry::plain();
        registry.hook(move |request, _| {
            let is_it = request.method == "PUT" && request.path.contains(path);
            let other = oci_artifacts::Digest::compute(b"other");
            is_it.then(|| Reply::new(201, "").header("Docker-Content-Digest", other.as_str()))
        });
        let artifact = artifact(vec![blob(LAYER, b"some bytes")], json!({}));
        let refused = client(&registry).put(&registry.reference("group/one:1"), &artifact);
        let refused = refused.expect_err("another digest");
        assert_eq!(refused.kind, FailureKind::Corrupt);
        assert!(refused.message.contains("was sent `sha256:"), "{refused}");
    }
}

#[test]
fn content_that_is_not_as_declared_never_arrives_whole() {
    let declared = made(LONG);
    let all = |content: Vec<u8>| Blob {
        content: Arc::new(content),
        ..declared.clone()
    };
    let mut bytes = Vec::new();
    declared
        .content
        .open()
        .expect("made")
        .read_to_end(&mut bytes)
        .expect("made");
    let mut changed = bytes.clone();
    changed[5] ^= 1;
    let longer = [bytes.as_slice(), b"x"].concat();
    let shorter = bytes[..bytes.len() - 1].to_vec();
    for (content, reason) in [
        (changed, "has the digest `sha256:"),
        (longer, "more bytes"),
        (shorter, "has 3145744 bytes"),
    ] {
        let registry = Registry::plain();
        let artifact = artifact(vec![all(content)], json!({}));
        let refused = client(&registry).put(&registry.reference("group/one:1"), &artifact);
        let refused = refused.expect_err("not what was declared");
        assert_eq!(refused.kind, FailureKind::Corrupt);
        assert!(refused.message.contains(reason), "{refused}");
        assert_eq!(registry.stored(&declared.descriptor.digest), None);
        assert!(registry.manifest_at("group/one", "1").is_none());
    }
}
