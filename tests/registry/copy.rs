//! Blobs that come in pieces: whole, broken, lying.

use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Store};

use super::super::support::artifact::made;
use super::super::support::registry::{Registry, Reply, Way};
use super::client;

const LONG: u64 = (3 << 20) + 17;

fn bytes(size: u64) -> (Descriptor, Vec<u8>) {
    let blob = made(size);
    let mut bytes = Vec::new();
    blob.content
        .open()
        .expect("made")
        .read_to_end(&mut bytes)
        .expect("made");
    (blob.descriptor, bytes)
}

fn copied(registry: &Registry, blob: &Descriptor) -> Result<Vec<u8>, Failure> {
    let mut into = Vec::new();
    client(registry).copy(&registry.reference("group/one"), blob, &mut into)?;
    Ok(into)
}

#[test]
fn a_blob_is_copied_and_a_broken_one_goes_on_where_it_broke() {
    let (descriptor, content) = bytes(LONG);
    let registry = Registry::plain();
    registry.blob(&content);
    assert!(copied(&registry, &descriptor) == Ok(content.clone()));
    let empty = Descriptor {
        size: 0,
        digest: Digest::compute(b""),
        ..descriptor.clone()
    };
    assert_eq!(copied(&registry, &empty), Ok(Vec::new()));
    // Half of what is asked for comes, three times.
    let whole = content.clone();
    registry.hook(move |request, before| {
        let first: usize = match request.header("range") {
            Some(range) => range
                .trim_start_matches("bytes=")
                .trim_end_matches('-')
                .parse()
                .ok()?,
            None => 0,
        };
        let reply = match first {
            0 => Reply::new(200, whole.clone()),
            first => Reply::new(206, &whole[first..]).header(
                "Content-Range",
                format!("bytes {first}-{}/{}", whole.len() - 1, whole.len()),
            ),
        };
        (before < 4).then(|| reply.way(Way::CutBody))
    });
    let before = registry.count();
    assert!(copied(&registry, &descriptor) == Ok(content));
    let ranges = registry.seen().split_off(before);
    let ranges: Vec<_> = ranges
        .iter()
        .map(|request| request.header("range").is_some())
        .collect();
    assert_eq!(
        ranges.iter().filter(|has| **has).count(),
        ranges.len() - 1,
        "{ranges:?}"
    );
}

#[test]
fn a_registry_that_knows_no_ranges_sends_all_again() {
    let (descriptor, content) = bytes(LONG);
    let registry = Registry::plain();
    let whole = content.clone();
    registry.hook(move |_, before| {
        let reply = Reply::new(200, whole.clone());
        Some(match before {
            0 => reply.way(Way::CutBody),
            _ => reply,
        })
    });
    assert!(copied(&registry, &descriptor) == Ok(content));
    assert_eq!(registry.count(), 2);
}

#[test]
fn other_than_the_requested_content_is_refused() {
    let (descriptor, content) = bytes(LONG);
    let mut changed = content.clone();
    changed[9] ^= 1;
    let longer = [content.as_slice(), b"more"].concat();
    let shorter = content[..1000].to_vec();
    for (sent, reason) in [
        (changed, "not the requested digest"),
        (longer, "more bytes of blob"),
        (shorter, "which has 3145745"),
    ] {
        let registry = Registry::plain();
        registry.hook(move |request, _| {
            let is_again = request.header("range").is_some();
            Some(if is_again {
                Reply::new(206, "").header("Content-Range", "bytes 1000-3145744/3145745")
            } else {
                Reply::new(200, sent.clone())
            })
        });
        let refused = copied(&registry, &descriptor).expect_err("not it");
        assert_eq!(refused.kind, FailureKind::Corrupt);
        assert!(refused.message.contains(reason), "{refused}");
    }
    let registry = Registry::plain();
    let refused = copied(&registry, &descriptor).expect_err("not there");
    assert_eq!(refused.kind, FailureKind::NotFound);
}
