//! What is written is read back; what is wrong is reported at its line and never used.

use std::collections::BTreeMap;
use std::sync::Arc;

use oci_artifacts::Digest;
use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, proptest,
};
use yaml_tree::place::{FileId, Located, Place};

use super::{read, text};
use crate::model::lock::{Lock, LockOrigin, LockedImage, Verified};

const FILE: FileId = FileId(7);

/// The entry of one image, in the shape that people see.
const ENTRY: &str = "
- key: noble
  reference: oci://r.example/os/noble:0.4.12
  digest: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
  facts:
    hardened: \"true\"
    k8s-version: \"1.31.8+rke2r1\"
  origin:
    registry: sylva
    version: \"0.4.12\"
";

fn with(entries: &str) -> String {
    format!(
        "# Written by `metalmark lock`; commit it. Each image's digest, and what the artifact says of itself.\nversion: 1\nimages:\n{entries}"
    )
}

#[test]
fn a_lock_is_written_as_people_read_it_and_read_back() {
    let written = with(ENTRY);
    let (lock, faults) = read::lock(&written, FILE);
    assert!(faults.is_empty());
    assert_eq!(text(&lock), written);
    let image = &lock.images()[0];
    assert_eq!(image.digest.value, Digest::compute(b""));
    assert_eq!(&*image.facts["hardened"].value, "true");
    assert_eq!(text(&Lock::default()).lines().last(), Some("images: []"));
    assert!(read::lock(&text(&Lock::default()), FILE).1.is_empty());
}

#[test]
fn signers_are_the_same_in_any_order() {
    let signers = signers(3);
    let of = |verified: Vec<Verified>| {
        let (mut lock, _) = read::lock(&with(ENTRY), FILE);
        let mut image = lock.images()[0].clone();
        image.verified = verified;
        lock = Lock::new(vec![image]);
        text(&lock)
    };
    let backward = of(signers.iter().rev().cloned().collect());
    assert_ne!(backward, of(signers.clone()));
    let (lock, faults) = read::lock(&backward, FILE);
    assert!(faults.is_empty());
    assert_eq!(lock.images()[0].verified, signers);
}

#[test]
fn what_has_a_fault_is_never_used() {
    for (from, to) in [
        ("\"true\"", "true"),
        ("version: 1\n", "version: 2\n"),
        ("version: 1\n", "version: one\n"),
        ("version: 1\n", ""),
    ] {
        let (lock, faults) = read::lock(&with(ENTRY).replacen(from, to, 1), FILE);
        assert_eq!((lock.images().len(), faults.len()), (0, 1), "{to}");
    }
}

fn nowhere<T>(value: T) -> Located<T> {
    Located::new(value, Place::NONE)
}

fn signers(count: u8) -> Vec<Verified> {
    let signer = |number| Verified {
        key: Digest::compute(&[number]).as_str().into(),
        form: "tag".into(),
    };
    let mut signers: Vec<Verified> = (0..count).map(signer).collect();
    signers.sort();
    signers
}

fn image() -> impl Strategy<Value = LockedImage> {
    let texts = || prop::option::of(TEXT.prop_map(Arc::<str>::from));
    let facts = prop::collection::btree_map("[a-z0-9.:# -]{1,9}", TEXT, 0..4);
    let reference = "oci://[a-z]{1,4}/[a-z]{1,3}:[a-zA-Z0-9_][a-z0-9._-]{0,5}";
    let key = "[a-z0-9][a-z0-9.-]{0,4}";
    let provenance =
        prop::collection::btree_map("signer|source|revision|builder", "[ -~]{1,12}", 0..4);
    let rest = (facts, provenance, texts(), texts(), texts(), 0..3u8);
    (key, reference, any::<u8>(), rest).prop_map(|(key, reference, byte, rest)| {
        let (facts, provenance, mirror, registry, version, verified) = rest;
        let located = |(name, value): (String, String)| (name.into(), nowhere(value.into()));
        LockedImage {
            key: nowhere(key.into()),
            reference: nowhere(oci_artifacts::Address::new(reference)),
            digest: nowhere(Digest::compute(&[byte])),
            mirror,
            facts: facts.into_iter().map(located).collect::<BTreeMap<_, _>>(),
            provenance: provenance
                .into_iter()
                .map(located)
                .collect::<BTreeMap<_, _>>(),
            origin: LockOrigin { registry, version },
            verified: signers(verified),
            evidence: None,
        }
    })
}

/// Half of it what YAML readers take for something else.
const TEXT: &str =
    r#"[ -~]{0,12}|yes|no|~|null|1e10|012|1\.30|12:30:45|0x1f|[<>=]{7}|\PC{0,6}|a\nb"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_written_is_read_back_whatever_it_holds(images in prop::collection::vec(image(), 0..6)) {
        let lock = Lock::new(images);
        let written = text(&lock);
        let (again, faults) = read::lock(&written, FILE);
        prop_assert!(faults.is_empty(), "{}\n{}", written, faults[0].message);
        prop_assert_eq!(&written, &text(&again));
        for (one, other) in lock.images().iter().zip(again.images()) {
            prop_assert_eq!(one.identity(), other.identity());
            prop_assert_eq!(&one.digest.value, &other.digest.value);
            prop_assert_eq!(&one.origin, &other.origin);
            prop_assert_eq!(&one.verified, &other.verified);
            prop_assert_eq!(&one.mirror, &other.mirror);
            let values = |image: &LockedImage| -> Vec<_> {
                image.facts.iter().map(|(name, fact)| (name.clone(), fact.value.clone())).collect()
            };
            prop_assert_eq!(values(one), values(other));
        }
        prop_assert_eq!(lock.images().len(), again.images().len());
    }

    #[test]
    fn no_text_breaks_the_reader(text in r"(version: 1\n)?(images:\n)?([-a-z0-9: {}\[\],'\n]|key|digest){0,40}|\PC{0,40}") {
        let (_, faults) = read::lock(&text, FILE);
        for fault in faults {
            prop_assert!(text.get(fault.place.start as usize..fault.place.end as usize).is_some());
        }
    }
}
