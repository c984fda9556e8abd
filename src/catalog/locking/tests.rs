//! The requests to a store, counted; and the use of its answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};
use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};
use yaml_tree::place::Sources;

use super::{
    Keyring, LockChangeKind, LockRequest, Locked, Requirement, RequirementKind, Requirements,
    Signing, add, lock,
};
use crate::catalog::sources::lock_text;
use crate::model::lock::{Lock, LockOrigin};

/// Manifests by reference, and by digest.
#[derive(Default)]
struct Memory {
    manifests: BTreeMap<String, Vec<u8>>,
    requested: AtomicUsize,
}

impl Memory {
    /// An image with one annotation.
    fn image(&mut self, reference: &str, version: &str) {
        let empty = Digest::compute(b"");
        let text = format!(
            r#"{{"config":{{"mediaType":"a","digest":"{empty}","size":0}},"annotations":{{"sylva/k8s-version":"{version}"}}}}"#
        );
        self.manifests
            .insert(reference.to_owned(), text.into_bytes());
    }
}

impl Store for Memory {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        self.requested.fetch_add(wanted.len(), Ordering::Relaxed);
        let one = |reference: &Reference| {
            let name = match &reference.digest {
                Some(digest) => digest.to_string(),
                None => reference.to_string(),
            };
            let bytes = self.manifests.get(&name).cloned();
            let bytes = bytes
                .ok_or_else(|| Failure::new(reference, FailureKind::NotFound, "it is not there"))?;
            Manifest::read(bytes)
                .map_err(|error| Failure::new(reference, FailureKind::Corrupt, error.to_string()))
        };
        wanted.iter().map(one).collect()
    }

    fn blobs(&self, wanted: &[(Reference, Descriptor)], _: u64) -> Vec<Result<Vec<u8>, Failure>> {
        wanted
            .iter()
            .map(|(reference, _)| none(reference))
            .collect()
    }

    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        self.requested.fetch_add(wanted.len(), Ordering::Relaxed);
        wanted.iter().map(|_| Ok(None)).collect()
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        wanted.iter().map(|_| Ok(Vec::new())).collect()
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        none(of)
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        none(of)
    }
}

fn none<T>(of: &Reference) -> Result<T, Failure> {
    Err(Failure::new(of, FailureKind::NotFound, "it is not there"))
}

fn requirements(list: &[(&str, &str)]) -> Requirements {
    let mut requirements = Requirements::new();
    for (key, reference) in list {
        let requirement = Requirement {
            kind: RequirementKind::Image,
            key: (*key).into(),
            reference: oci_artifacts::Address::new(*reference),
            origin: LockOrigin::default(),
            signing: Signing::Unrequired,
            spot: None,
        };
        add(&mut requirements, requirement);
    }
    requirements
}

fn request() -> LockRequest<'static> {
    LockRequest {
        ..LockRequest::default()
    }
}

/// No key is named.
fn keyring() -> Keyring {
    Keyring::new(|_| Err("there is no key".to_owned()), |_| None)
}

fn run(old: &Lock, list: &[(&str, &str)], request: &LockRequest<'_>, store: &Memory) -> Locked {
    store.requested.store(0, Ordering::Relaxed);
    lock(
        old,
        &Sources::default(),
        &requirements(list),
        request,
        &keyring(),
        store,
    )
}

const A: (&str, &str) = ("a", "oci://r/a:1");
const B: (&str, &str) = ("b", "oci://r/b:1");

fn store() -> Memory {
    let mut store = Memory::default();
    store.image(A.1, "1.31.8");
    store.image(B.1, "1.31.9");
    store
}

fn kinds(locked: &Locked) -> Vec<LockChangeKind> {
    locked.changes.iter().map(|change| change.kind).collect()
}

#[test]
fn one_request_a_reference_and_none_for_what_is_locked() {
    let store = store();
    let first = run(
        &Lock::EMPTY,
        &[A, B, ("other-name", A.1)],
        &request(),
        &store,
    );
    assert_eq!(
        store.requested.load(Ordering::Relaxed),
        2,
        "two keys share a reference"
    );
    assert_eq!(first.lock.images().len(), 3);
    assert_eq!(
        &*first.lock.images()[0].facts["k8s-version"].value,
        "1.31.8"
    );
    let second = run(
        &first.lock,
        &[A, B, ("other-name", A.1)],
        &request(),
        &store,
    );
    assert_eq!(store.requested.load(Ordering::Relaxed), 0);
    assert_eq!(lock_text(&second.lock), lock_text(&first.lock));
    assert_eq!(kinds(&second), [LockChangeKind::Kept; 3]);
    let third = run(&first.lock, &[B], &request(), &store);
    assert_eq!(store.requested.load(Ordering::Relaxed), 0);
    let (dropped, kept) = (LockChangeKind::Dropped, LockChangeKind::Kept);
    assert_eq!(kinds(&third), [dropped, kept, dropped]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn locking_what_is_locked_changes_nothing_whatever_came_before(
        before in prop::collection::btree_map("[a-d]", 1u8..4, 0..4),
        now in prop::collection::btree_map("[a-d]", 1u8..4, 0..4),
    ) {
        let mut store = Memory::default();
        let list = |images: &BTreeMap<String, u8>| -> Vec<(String, String)> {
            images.iter().map(|(key, tag)| (key.clone(), format!("oci://r/{key}:{tag}"))).collect()
        };
        for (key, reference) in list(&before).into_iter().chain(list(&now)) {
            store.image(&reference, &key);
        }
        let lock_of = |old: &Lock, images: &BTreeMap<String, u8>| {
            let list = list(images);
            let list: Vec<(&str, &str)> = list.iter().map(|(key, reference)| (&**key, &**reference)).collect();
            run(old, &list, &request(), &store).lock
        };
        let old = lock_of(&Lock::EMPTY, &before);
        let new = lock_of(&old, &now);
        prop_assert_eq!(lock_text(&new), lock_text(&lock_of(&Lock::EMPTY, &now)));
        prop_assert_eq!(lock_text(&new), lock_text(&lock_of(&new, &now)));
        prop_assert_eq!(store.requested.load(Ordering::Relaxed), 0);
    }
}
