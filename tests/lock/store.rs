//! Locking and verifying against a store that answers what a test says: indexes, bundles, layers, failures.

use std::collections::BTreeMap;
use std::sync::Arc;

use metalmark::catalog::locking::{
    Keyring, LockChangeKind, LockRequest, Locked, Pages, Requirement, RequirementKind,
    Requirements, Signing, Verification, add, lock, verify,
};
use metalmark::catalog::sources::Artifact;
use metalmark::model::lock::{Lock, LockOrigin};
use metalmark::model::rule::RuleId;
use oci_artifacts::evidence::Evidence;
use oci_artifacts::{Address, Digest, FailureKind, Platform};
use serde_json::{Value, json};
use yaml_tree::place::Sources;

use crate::support::stub::Stub;

fn requirement(kind: RequirementKind, key: &str, reference: &str) -> Requirement {
    Requirement {
        key: key.into(),
        reference: Address::new(reference),
        kind,
        origin: LockOrigin::default(),
        signing: Signing::Unrequired,
        spot: None,
    }
}

fn requirements(all: impl IntoIterator<Item = Requirement>) -> Requirements {
    let mut requirements = Requirements::new();
    for requirement in all {
        add(&mut requirements, requirement);
    }
    requirements
}

fn images(all: &[(&str, &str)]) -> Requirements {
    requirements(
        all.iter()
            .map(|(key, reference)| requirement(RequirementKind::Image, key, reference)),
    )
}

/// No key is named.
fn keyring() -> Keyring {
    Keyring::new(|_| Err("there is no key".to_owned()), |_| None)
}

fn locked(old: &Lock, requirements: &Requirements, store: &Stub) -> Locked {
    let request = LockRequest {
        platform: Platform::default(),
        ..LockRequest::default()
    };
    lock(
        old,
        &Sources::default(),
        requirements,
        &request,
        &keyring(),
        store,
    )
}

fn verified(lock: &Lock, store: &Stub) -> Verification {
    let (sources, requirements) = (Sources::default(), Requirements::new());
    let pages = Pages::default();
    verify(
        lock,
        &sources,
        &requirements,
        &keyring(),
        &Platform::default(),
        &pages,
        store,
    )
}

/// The facts of a lock's entry.
fn facts(lock: &Lock, entry: usize) -> BTreeMap<&str, &str> {
    let facts = lock.images()[entry].facts.iter();
    facts.map(|(name, fact)| (&**name, &*fact.value)).collect()
}

/// Puts an index of manifests for these architectures.
fn index(store: &mut Stub, reference: &str, parts: &[(Option<&str>, Digest)], annotations: Value) {
    let part = |(architecture, digest): &(Option<&str>, Digest)| {
        let mut part = json!({"mediaType": "m", "digest": digest.as_str(), "size": 1});
        if let Some(architecture) = architecture {
            part["platform"] = json!({"architecture": architecture});
        }
        part
    };
    let parts: Vec<Value> = parts.iter().map(part).collect();
    let index = json!({"manifests": parts, "annotations": annotations}).to_string();
    store
        .manifests
        .insert(reference.to_owned(), Ok(index.into_bytes()));
}

#[test]
fn an_index_has_the_facts_of_its_own_and_of_the_wanted_part_which_count_first() {
    let mut store = Stub::default();
    let of =
        |store: &mut Stub, value: &str| store.put("", json!({"annotations": {"sylva/a": value}}));
    let (amd, arm) = (of(&mut store, "amd"), of(&mut store, "arm"));
    let gone = Digest::compute(b"gone");
    let own = json!({"sylva/b": "index"});
    let [amd64, arm64, none] = [Some("amd64"), Some("arm64"), None];
    type Listed<'a> = Vec<(Option<&'a str>, Digest)>;
    let rows: [(&str, Listed<'_>, Result<&str, FailureKind>); 7] = [
        (
            "both",
            vec![(arm64, arm.clone()), (amd64, amd.clone())],
            Ok("amd"),
        ),
        ("the only one", vec![(none, arm.clone())], Ok("arm")),
        (
            "the only one, of another",
            vec![(arm64, arm.clone())],
            Err(FailureKind::Unsupported),
        ),
        (
            "two without a name",
            vec![(none, arm.clone()), (none, amd.clone())],
            Err(FailureKind::Unsupported),
        ),
        (
            "one named of two",
            vec![(none, arm), (amd64, amd)],
            Ok("amd"),
        ),
        ("none", vec![], Err(FailureKind::Unsupported)),
        // An index that names what is not there is broken; the catalog is right.
        ("gone", vec![(amd64, gone)], Err(FailureKind::Corrupt)),
    ];
    for (name, parts, expected) in rows {
        index(&mut store, "oci://r/i:1", &parts, own.clone());
        let run = locked(&Lock::EMPTY, &images(&[("i", "oci://r/i:1")]), &store);
        assert!(run.findings.is_empty(), "{name}: {:?}", run.findings);
        match expected {
            Ok(value) => {
                let expected = BTreeMap::from([("a", value), ("b", "index")]);
                assert_eq!(facts(&run.lock, 0), expected, "{name}");
            }
            Err(kind) => {
                let kinds: Vec<_> = run.failures.iter().map(|it| it.kind).collect();
                assert_eq!(kinds, [kind], "{name}");
                assert!(run.lock.images().is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn a_component_bundle_has_the_digest_of_its_one_layer_unless_an_annotation_says_one() {
    let mut store = Stub::default();
    let layers = [b"one", b"two"].map(|bytes| store.layer("a", bytes));
    let hex = Digest::compute(b"one").hex().to_owned();
    let own = json!({"sylva/sha256": "00"});
    for (kind, layers, annotations, expected) in [
        (
            RequirementKind::Bundle,
            &layers[..1],
            json!({}),
            Some(&*hex),
        ),
        (
            RequirementKind::Bundle,
            &layers[..1],
            own.clone(),
            Some("00"),
        ),
        (RequirementKind::Bundle, &layers[..], json!({}), None),
        (RequirementKind::Bundle, &[], json!({}), None),
        (RequirementKind::Image, &layers[..1], json!({}), None),
        (RequirementKind::Image, &layers[..1], own, Some("00")),
    ] {
        store.put(
            "oci://r/b:1",
            json!({"layers": layers, "annotations": annotations}),
        );
        let run = locked(
            &Lock::EMPTY,
            &requirements([requirement(kind, "b", "oci://r/b:1")]),
            &store,
        );
        let facts = facts(&run.lock, 0);
        assert_eq!(
            facts.get("sha256").copied(),
            expected,
            "{kind:?} {layers:?}"
        );
        assert!(verified(&run.lock, &store).findings.is_empty(), "{kind:?}");
    }
}

#[test]
fn what_is_absent_is_named_for_what_it_is() {
    for (kind, what) in [
        (RequirementKind::Image, "image"),
        (RequirementKind::Bundle, "component bundle"),
    ] {
        let run = locked(
            &Lock::EMPTY,
            &requirements([requirement(kind, "x", "oci://r/x:1")]),
            &Stub::default(),
        );
        let message = format!("the catalog names {what} `x`, and the stub says NotFound");
        assert_eq!(run.findings[0].message, message);
    }
}

#[test]
fn of_two_requirements_the_smaller_origin_is_written_in_either_order() {
    let mut store = Stub::default();
    store.put("oci://r/x:1", json!({}));
    let of = |registry: Option<&str>| Requirement {
        origin: LockOrigin {
            registry: registry.map(Arc::from),
            version: None,
        },
        ..requirement(RequirementKind::Image, "x", "oci://r/x:1")
    };
    for (one, other, expected) in [(Some("a"), Some("b"), Some("a")), (None, Some("b"), None)] {
        for pair in [[one, other], [other, one]] {
            let run = locked(&Lock::EMPTY, &requirements(pair.map(of)), &store);
            let registry = run.lock.images()[0].origin.registry.as_deref();
            assert_eq!(registry, expected, "{pair:?}");
        }
    }
}

#[test]
fn each_layer_is_judged_for_each_image_and_each_failure_is_reported_once() {
    let mut store = Stub::default();
    let mut put = |reference: &str, layers: &[(&[u8], u64)]| {
        let layer = |(bytes, size): &(&[u8], u64)| json!({"mediaType": "a", "digest": Digest::compute(bytes).as_str(), "size": size});
        let layers: Vec<Value> = layers.iter().map(layer).collect();
        store.put(reference, json!({"layers": layers}));
    };
    put("oci://r/a:1", &[(b"down", 5), (b"right", 5)]);
    put("oci://r/a:2", &[(b"down", 5), (b"unknown", 5)]);
    put("oci://r/b:1", &[(b"long", 5), (b"long", 5)]);
    put("oci://r/c:1", &[(b"long", 6), (b"short", 5)]);
    put("oci://r/d:1", &[(b"gone", 5)]);
    for (bytes, answer) in [
        (&b"down"[..], Err(FailureKind::Unreachable)),
        (b"right", Ok(5)),
        (b"long", Ok(6)),
        (b"short", Ok(4)),
        (b"gone", Err(FailureKind::NotFound)),
    ] {
        store.sizes.insert(Digest::compute(bytes), answer);
    }
    let all = [
        ("a", "oci://r/a:1"),
        ("a2", "oci://r/a:2"),
        ("b", "oci://r/b:1"),
        ("c", "oci://r/c:1"),
        ("d", "oci://r/d:1"),
    ];
    let lock = locked(&Lock::EMPTY, &images(&all), &store).lock;
    let out = verified(&lock, &store);
    let reported: Vec<(RuleId, &str, bool)> = out
        .findings
        .iter()
        .map(|finding| {
            let image = finding.subject.image.as_deref().expect("an image");
            (finding.rule, image, finding.message.contains(" is gone: "))
        })
        .collect();
    let rule = RuleId::ImageIncomplete;
    assert_eq!(
        reported,
        [(rule, "b", false), (rule, "c", false), (rule, "d", true)]
    );
    assert_eq!(out.failures.len(), 1, "{:?}", out.failures);
    // Once each repository: a has three layers, the others one, two and one.
    assert_eq!(store.requested("sizes"), 7);
    assert!(out.images.iter().all(|image| image.in_place == Some(true)));
    // Of what is not in place no layer is requested.
    store.put("oci://r/b:1", json!({"annotations": {"moved": ""}}));
    store.manifests.remove("oci://r/c:1");
    let before = store.requested("sizes");
    assert_eq!(verified(&lock, &store).findings.len(), 3);
    assert_eq!(store.requested("sizes") - before, 4);
}

#[test]
fn what_cannot_be_queried_is_unknown_and_reported_once_for_all_its_keys() {
    let mut store = Stub::default();
    store.put("oci://r/x:1", json!({}));
    let all = images(&[("x", "oci://r/x:1"), ("y", "oci://r/x:1")]);
    let lock = locked(&Lock::EMPTY, &all, &store).lock;
    store
        .manifests
        .insert("oci://r/x:1".to_owned(), Err(FailureKind::Denied));
    let out = verified(&lock, &store);
    assert!(
        out.findings.is_empty() && out.failures.len() == 1,
        "{:?}",
        out.failures
    );
    let places: Vec<_> = out.images.iter().map(|image| image.in_place).collect();
    assert_eq!(places, [None, None]);
}

#[test]
fn changes_are_reported_by_key_and_reference() {
    let mut store = Stub::default();
    for name in ["oci://r/a:1", "oci://r/b:1", "oci://r/b:2", "oci://r/c:1"] {
        store.put(name, json!({"annotations": {"name": name}}));
    }
    let old = images(&[
        ("a", "oci://r/a:1"),
        ("b", "oci://r/b:2"),
        ("c", "oci://r/c:1"),
    ]);
    let lock = locked(&Lock::EMPTY, &old, &store).lock;
    let run = locked(
        &lock,
        &images(&[("b", "oci://r/b:1"), ("c", "oci://r/c:1")]),
        &store,
    );
    let changes: Vec<(&str, &str, LockChangeKind)> = run
        .changes
        .iter()
        .map(|change| (&*change.key, &*change.reference, change.kind))
        .collect();
    let (dropped, added, kept) = (
        LockChangeKind::Dropped,
        LockChangeKind::Added,
        LockChangeKind::Kept,
    );
    assert_eq!(
        changes,
        [
            ("a", "oci://r/a:1", dropped),
            ("b", "oci://r/b:1", added),
            ("b", "oci://r/b:2", dropped),
            ("c", "oci://r/c:1", kept),
        ]
    );
}

#[test]
fn the_evidence_of_an_index_is_its_bytes_and_those_of_its_part() {
    let mut store = Stub::default();
    let of =
        |store: &mut Stub, value: &str| store.put("", json!({"annotations": {"sylva/a": value}}));
    let parts = [
        (Some("amd64"), of(&mut store, "amd")),
        (Some("arm64"), of(&mut store, "arm")),
    ];
    index(
        &mut store,
        "oci://r/i:1",
        &parts,
        json!({"sylva/b": "index"}),
    );
    let wanted = images(&[("i", "oci://r/i:1")]);
    let run = locked(&Lock::EMPTY, &wanted, &store);
    let image = &run.lock.images()[0];
    let whole = Evidence::clone(image.evidence.as_ref().expect("evidence"));
    let read = |evidence: &Evidence, architecture: &str| {
        let platform = Platform {
            architecture: architecture.into(),
            ..Platform::default()
        };
        Artifact::from_evidence(evidence, &image.digest.value, &platform)
    };
    let facts_of = |artifact: Artifact| artifact.facts;
    let found = read(&whole, "amd64").map(facts_of).expect("facts");
    let expected = [("a", "amd"), ("b", "index")];
    let expected: BTreeMap<Arc<str>, Arc<str>> = { expected.into_iter() }
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    assert_eq!(found, expected);
    let part = whole.part.clone().expect("a part");
    let with = |part: Option<String>| Evidence {
        part: part.map(Arc::from),
        ..whole.clone()
    };
    let edited = part.replace("\"amd\"", "\"edited\"");
    assert_ne!(edited, *part);
    let no_part = "it has no manifest for `amd64`";
    for (evidence, architecture, why) in [
        (with(Some(edited.clone())), "amd64", no_part),
        (with(Some(part.replace("amd", "arm"))), "amd64", no_part),
        (with(None), "amd64", no_part),
        (whole.clone(), "arm64", "it has no manifest for `arm64`"),
        (
            whole.clone(),
            "s390x",
            "its index has no manifest for `linux/s390x`",
        ),
    ] {
        let found = read(&evidence, architecture).map(facts_of);
        assert_eq!(found, Err(why.to_owned()), "{evidence:?}");
    }
    let manifest = format!("{} ", whole.manifest);
    let other = Evidence {
        manifest: manifest.into(),
        ..whole.clone()
    };
    let why = read(&other, "amd64")
        .map(facts_of)
        .expect_err("other bytes");
    assert!(
        why.starts_with("its manifest has another digest than"),
        "{why}"
    );
    // A lock whose evidence somebody edited is not believed: the artifact is requested again.
    let mut entry = image.clone();
    entry.evidence = Some(Arc::new(with(Some(edited))));
    let again = locked(&Lock::new(vec![entry]), &wanted, &store);
    assert_eq!(facts(&again.lock, 0)["a"], "amd");
    assert_eq!(again.lock.images()[0].evidence.as_deref(), Some(&whole));
}
