//! The requests to a store, counted; and the use of its answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};
use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};
use yaml_tree::place::Sources;

use super::{
    Keyring, LockChangeKind, LockRequest, Locked, Pages, Requirement, RequirementKind,
    Requirements, Signing, Upgrade, add, lock, verify,
};
use crate::catalog::sources::lock_text;
use crate::model::lock::{Lock, LockOrigin};
use crate::model::rule::RuleId;

/// Manifests by reference, and by digest.
#[derive(Default)]
struct Memory {
    manifests: BTreeMap<String, Vec<u8>>,
    requested: AtomicUsize,
    broken: Mutex<Vec<String>>,
    sizes: BTreeMap<Digest, u64>,
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

    /// An index over what lies at another reference.
    fn index(&mut self, reference: &str, of: &str, architecture: &str) {
        let part = self.manifests[of].clone();
        let digest = Digest::compute(&part);
        let text = format!(
            r#"{{"manifests":[{{"mediaType":"m","digest":"{digest}","size":{},"platform":{{"architecture":"{architecture}"}}}}]}}"#,
            part.len()
        );
        self.manifests.insert(digest.to_string(), part);
        self.manifests
            .insert(reference.to_owned(), text.into_bytes());
    }
}

impl Store for Memory {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        self.requested.fetch_add(wanted.len(), Ordering::Relaxed);
        let broken = self.broken.lock().expect("not poisoned").clone();
        let one = |reference: &Reference| {
            let name = match &reference.digest {
                Some(digest) => digest.to_string(),
                None => reference.to_string(),
            };
            if broken.contains(&name) {
                return Err(Failure::new(
                    reference,
                    FailureKind::Unreachable,
                    "it is down",
                ));
            }
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
        let size = |(_, digest): &(Reference, Digest)| Ok(self.sizes.get(digest).copied());
        wanted.iter().map(size).collect()
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
            reference: (*reference).into(),
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
        architecture: "amd64".into(),
        ..LockRequest::default()
    }
}

/// No key is named.
fn keyring() -> Keyring {
    Keyring::new(|_| Err("there is no key".to_owned()))
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

fn rules(locked: &Locked) -> Vec<RuleId> {
    locked.findings.iter().map(|finding| finding.rule).collect()
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

#[test]
fn an_upgrade_queries_again_and_takes_no_moved_tag() {
    let mut store = store();
    let first = run(&Lock::EMPTY, &[A, B], &request(), &store).lock;
    store.image(A.1, "1.32.0");
    let all = LockRequest {
        upgrade: Upgrade::All,
        ..request()
    };
    let again = run(&first, &[A, B], &all, &store);
    assert_eq!(store.requested.load(Ordering::Relaxed), 2);
    assert_eq!(rules(&again), [RuleId::TagMoved]);
    assert_eq!(lock_text(&again.lock), lock_text(&first));
    let accepted = LockRequest {
        accept_moved: ["a".to_owned()].into(),
        ..request()
    };
    let again = run(&first, &[A, B], &accepted, &store);
    assert_eq!(store.requested.load(Ordering::Relaxed), 1);
    assert_eq!(
        kinds(&again),
        [LockChangeKind::Updated, LockChangeKind::Kept]
    );
    assert_eq!(
        &*again.lock.images()[0].facts["k8s-version"].value,
        "1.32.0"
    );
}

#[test]
fn what_is_not_there_is_drift_and_what_is_down_is_a_failure() {
    let store = store();
    *store.broken.lock().expect("not poisoned") = vec![B.1.to_owned()];
    let locked = run(
        &Lock::EMPTY,
        &[A, B, ("c", "oci://r/c:1"), ("d", B.1)],
        &request(),
        &store,
    );
    assert_eq!(rules(&locked), [RuleId::CatalogDrift]);
    assert_eq!(locked.failures.len(), 1, "reported once for both keys");
    assert_eq!(kinds(&locked), [LockChangeKind::Added]);
    let known = lock(
        &Lock::EMPTY,
        &Sources::default(),
        &requirements(&[B]),
        &request(),
        &keyring(),
        &self::store(),
    )
    .lock;
    let upgrade = LockRequest {
        upgrade: Upgrade::All,
        ..request()
    };
    let kept = run(&known, &[B], &upgrade, &store);
    assert_eq!(
        lock_text(&kept.lock),
        lock_text(&known),
        "the old entry stays"
    );
}

#[test]
fn an_index_is_locked_as_a_whole_with_the_facts_of_its_architecture() {
    let mut store = store();
    store.index("oci://r/i:1", A.1, "amd64");
    store.index("oci://r/j:1", A.1, "arm64");
    let locked = run(
        &Lock::EMPTY,
        &[("i", "oci://r/i:1"), ("j", "oci://r/j:1")],
        &request(),
        &store,
    );
    let image = &locked.lock.images()[0];
    assert_eq!(
        image.digest.value,
        Digest::compute(&store.manifests["oci://r/i:1"])
    );
    assert_eq!(&*image.facts["k8s-version"].value, "1.31.8");
    assert_eq!(locked.lock.images().len(), 1);
    assert!(
        locked.failures[0].message.contains("`amd64`"),
        "{:?}",
        locked.failures
    );
}

#[test]
fn verifying_queries_each_reference_once() {
    let mut store = store();
    let locked = run(&Lock::EMPTY, &[A, B, ("c", A.1)], &request(), &store).lock;
    store.requested.store(0, Ordering::Relaxed);
    let check = |store: &Memory| {
        verify(
            &locked,
            &Sources::default(),
            &Requirements::new(),
            &keyring(),
            "amd64",
            &Pages::default(),
            store,
        )
    };
    let clean = check(&store);
    assert_eq!(store.requested.load(Ordering::Relaxed), 2);
    assert!(
        clean.findings.is_empty()
            && clean
                .images
                .iter()
                .all(|image| image.in_place == Some(true))
    );
    store.image(A.1, "1.32.0");
    store.manifests.remove(B.1);
    let found: Vec<RuleId> = check(&store)
        .findings
        .iter()
        .map(|finding| finding.rule)
        .collect();
    assert_eq!(
        found,
        [RuleId::TagMoved, RuleId::CatalogDrift, RuleId::TagMoved]
    );
}

#[test]
fn layers_that_are_not_as_long_as_promised_are_reported_once_a_repository() {
    let mut store = store();
    let layer = |size: u64| {
        let digest = Digest::compute(b"layer");
        format!(r#"{{"mediaType":"a","digest":"{digest}","size":{size}}}"#)
    };
    let image = |layers: &[String]| {
        let layers = layers.join(",");
        format!(r#"{{"config":{},"layers":[{layers}]}}"#, layer(0)).into_bytes()
    };
    let twice = image(&[layer(7), layer(7)]);
    store.manifests.insert(A.1.to_owned(), twice);
    store.manifests.insert(B.1.to_owned(), image(&[layer(9)]));
    let locked = run(&Lock::EMPTY, &[A, B, ("c", A.1)], &request(), &store).lock;
    let check = |store: &Memory| {
        store.requested.store(0, Ordering::Relaxed);
        let out = verify(
            &locked,
            &Sources::default(),
            &Requirements::new(),
            &keyring(),
            "amd64",
            &Pages::default(),
            store,
        );
        // Two manifests, and the layer in two repositories.
        assert_eq!(store.requested.load(Ordering::Relaxed), 4);
        let messages = out.findings.into_iter();
        let messages: Vec<String> = messages.map(|finding| finding.message).collect();
        messages
    };
    assert_eq!(check(&store), Vec::<String>::new(), "nobody knows");
    store.sizes.insert(Digest::compute(b"layer"), 7);
    let reported = check(&store);
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(
        reported[0].ends_with("of `b` has 7 bytes, and its manifest says 9"),
        "{reported:?}"
    );
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
