//! What is written is read back; what is wrong is reported at its line and never used.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::Origin;
use oci_artifacts::Digest;
use proptest::prelude::{
    ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, proptest,
};
use yaml_tree::place::{FileId, Located, Place};

use super::{LockFile, read, text};
use crate::catalog::sources::{ImageSource, Wanted};
use crate::model::lock::{Lock, LockOrigin, LockedImage, Verified};
use crate::model::rule::RuleId;

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

/// The faults of a text, each with the text at its place.
fn faults(text: &str) -> Vec<String> {
    let (_, faults) = read::lock(text, FILE);
    let reported = faults.iter().map(|fault| {
        assert_eq!(fault.rule, RuleId::LockInvalid);
        let (start, end) = (fault.place.start as usize, fault.place.end as usize);
        let line = text[..start].matches('\n').count() + 1;
        format!("{line}: {} [{}]", fault.message, &text[start..end])
    });
    reported.collect()
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
fn its_facts_are_the_strongest_and_count_for_their_reference_alone() {
    let (lock, _) = read::lock(&with(ENTRY), FILE);
    let file = LockFile::new(Arc::new(lock));
    let key: Arc<str> = "noble".into();
    let describe = |uri| {
        let wanted = Wanted { key: &key, uri };
        file.describe(&[wanted]).remove(0).expect("no disk is read")
    };
    let described = describe(Some("oci://r.example/os/noble:0.4.12")).expect("locked");
    let version = described.facts.get("k8s-version").expect("a fact");
    assert_eq!(
        (&*version.value, version.origin),
        ("1.31.8+rke2r1", Origin::Lock)
    );
    assert_eq!(
        described.digest.as_ref().map(|digest| &digest.value),
        Some(&Digest::compute(b""))
    );
    assert!(describe(Some("oci://r.example/os/noble:0.4.13")).is_none());
    assert!(describe(Some("oci://mirror.example/os/noble:0.4.12")).is_none());
    assert!(describe(None).is_none());
    assert!(file.list().is_empty());
}

#[test]
fn a_conflict_that_git_left_is_reported_at_its_line() {
    let conflict = format!("{ENTRY}<<<<<<< HEAD\n=======\n>>>>>>> other\n");
    assert_eq!(
        faults(&with(&conflict)),
        ["14: git left a conflict here [<<<<<<< HEAD]"]
    );
}

#[test]
fn another_format_version_is_refused_and_nothing_of_it_read() {
    let newer = with(ENTRY).replace("version: 1\n", "version: 2\n");
    let (lock, _) = read::lock(&newer, FILE);
    assert!(lock.images().is_empty());
    let expected = "2: the lock has format version 2, and this metalmark reads version 1 [2]";
    assert_eq!(faults(&newer), [expected]);
    let odd = with(ENTRY).replace("version: 1\n", "version: one\n");
    assert_eq!(
        faults(&odd),
        ["2: the lock's `version` is none that metalmark ever wrote [one]"]
    );
    let none = with(ENTRY).replace("version: 1\n", "");
    assert_eq!(faults(&none), ["2: the lock does not say its `version` []"]);
    for unread in [odd, none] {
        assert!(read::lock(&unread, FILE).0.images().is_empty());
    }
}

#[test]
fn nonsense_is_reported_at_its_line_and_never_used() {
    let cases: [(&str, &str, &str); 9] = [
        ("sha256:e3b0c442", "sha256:E3B0C442", "7: `sha256:E3B0C442"),
        (
            "  facts:",
            "  fact:",
            "8: an image of a lock has no `fact` [fact]",
        ),
        (
            "\"true\"",
            "true",
            "9: `hardened` is a boolean where a string is needed [true]",
        ),
        (
            "oci://r.example/os/noble:0.4.12",
            "noble",
            "6: `noble` is not an OCI reference",
        ),
        ("key: noble", "key: ''", "5: `key` is empty ['']"),
        (
            "- key: noble\n  reference",
            "- reference",
            "5: `key` is missing [r]",
        ),
        (
            "0.4.12\n  digest",
            "0.4.12@sha512:{0}\n  digest",
            "7: the reference names another digest",
        ),
        (
            "    version: \"0.4.12\"",
            "    tag: '1'",
            "13: `origin` has no `tag` [tag]",
        ),
        (
            "    registry: sylva",
            "    version: '1'",
            "13: `version` occurs twice in one map",
        ),
    ];
    for (from, to, expected) in cases {
        let to = to.replace("{0}", &"0".repeat(128));
        let broken = with(ENTRY).replacen(from, &to, 1);
        assert_ne!(broken, with(ENTRY));
        let found = faults(&broken);
        assert!(
            found.len() == 1 && found[0].starts_with(expected),
            "{expected}: {found:?}"
        );
    }
    for broken in [
        "version: 1",
        "version: 1\nimages: {}",
        "version: 1\nimages: [1]",
        "[]",
        "a: [",
        "---\n---\n",
    ] {
        assert!(!faults(broken).is_empty(), "{broken}");
    }
    let (lock, _) = read::lock(&with(&ENTRY.replace("\"true\"", "true")), FILE);
    assert!(lock.images().is_empty());
}

#[test]
fn a_repeated_entry_is_reported() {
    let same = with(&format!("{ENTRY}{ENTRY}"));
    assert_eq!(
        faults(&same),
        ["15: `noble` is locked twice for one reference [noble]"]
    );
    let other = ENTRY.replace("e3b0", "e3b1");
    let other = with(&format!("{ENTRY}{other}"));
    let expected = "15: `noble` is locked twice for one reference, to different digests [noble]";
    assert_eq!(faults(&other), [expected]);
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
    let rest = (facts, texts(), texts(), texts(), 0..3u8);
    (key, reference, any::<u8>(), rest).prop_map(|(key, reference, byte, rest)| {
        let (facts, mirror, registry, version, verified) = rest;
        LockedImage {
            key: nowhere(key.into()),
            reference: nowhere(reference.into()),
            digest: nowhere(Digest::compute(&[byte])),
            mirror,
            facts: facts
                .into_iter()
                .map(|(name, value)| (name.into(), nowhere(value.into())))
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
