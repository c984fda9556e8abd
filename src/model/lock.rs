//! The lock: which bytes every image reference referred to when it was last queried, and what those bytes declare.
//!
//! One entry for each image key and reference: clusters may mean different versions of an image by one key. Holds no time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, ImageKey};
use oci_artifacts::evidence::Evidence;
use oci_artifacts::{Address, Digest, is_oci};
use yaml_tree::place::{Located, Place};

use super::checksum::is_url;
use super::provenance::SIGNER;

/// The lock's file name, beside the project file.
pub const LOCK_FILE: &str = "metalmark.lock";

/// The extension of the file beside the lock with the evidence of its entries.
pub const EVIDENCE: &str = "evidence";

/// The version of the file's format that this program reads and writes.
pub const LOCK_VERSION: i64 = 1;

/// The entries, sorted by key and reference, each pair once, and those that are in dispute.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    images: Vec<LockedImage>,
    /// Entries of one pair with different digests, as a merge can leave them, sorted: none of them counts.
    disputed: Vec<LockedImage>,
}

/// One image as it was locked.
#[derive(Clone, Debug)]
pub struct LockedImage {
    /// Its key.
    pub key: Located<ImageKey>,
    /// The reference that the values write; the entry counts for no other.
    pub reference: Located<Address>,
    /// The digest of the manifest that the reference referred to.
    pub digest: Located<Digest>,
    /// Where it was had, where that is not the registry of its reference.
    pub mirror: Option<Arc<str>>,
    /// What the manifest's annotations say, by fact.
    pub facts: BTreeMap<Arc<str>, Located<Arc<str>>>,
    /// What requested it.
    pub origin: LockOrigin,
    /// The keys that were known, with the signature that was good under each; sorted.
    pub verified: Vec<Verified>,
    /// Where it comes from, as far as the project demands proof of that: `source`, `revision`, `builder`, and the `signer` who
    /// says so.
    pub provenance: BTreeMap<Arc<str>, Located<Arc<str>>>,
    /// What proves the entry; none in a lock of an earlier metalmark, and for files of a web server.
    pub evidence: Option<Arc<Evidence>>,
}

/// What in the values requested an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockOrigin {
    /// The entry of `os_images_oci_registries`; none for an image that gives its own `uri`.
    pub registry: Option<Arc<str>>,
    /// The version that the catalog requires.
    pub version: Option<Arc<str>>,
}

/// A signature that was found good.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verified {
    /// `sha256:` and the digest of the public key (DER, SubjectPublicKeyInfo).
    pub key: Arc<str>,
    /// The form that the signature has.
    pub form: Arc<str>,
}

impl Lock {
    /// No entry.
    pub const EMPTY: Self = Self {
        images: Vec::new(),
        disputed: Vec::new(),
    };

    /// A lock of these entries; of two for one key and reference the first one stays if their digest is the same, and none counts
    /// otherwise.
    pub fn new(mut entries: Vec<LockedImage>) -> Self {
        entries.sort_by(|a, b| a.identity().cmp(&b.identity()));
        let mut lock = Self::EMPTY;
        for same in entries.chunk_by(|a, b| a.identity() == b.identity()) {
            let digest = &same[0].digest.value;
            if same.iter().all(|entry| entry.digest.value == *digest) {
                lock.images.push(same[0].clone());
            } else {
                lock.disputed.extend_from_slice(same);
            }
        }
        lock
    }

    /// Every entry that counts, by key and reference.
    pub fn images(&self) -> &[LockedImage] {
        &self.images
    }

    /// The entries of which none counts, because they name different digests for one key and reference.
    pub fn disputes(&self) -> &[LockedImage] {
        &self.disputed
    }

    /// Every entry, in dispute or not, by key and reference.
    pub fn entries(&self) -> Vec<&LockedImage> {
        let mut entries: Vec<&LockedImage> = self.images.iter().chain(&self.disputed).collect();
        entries.sort_by_key(|entry| entry.identity());
        entries
    }

    /// The entries of a key.
    pub fn entries_of(&self, key: &str) -> &[LockedImage] {
        let images = &self.images;
        let start = images.partition_point(|image| &*image.key.value < key);
        let count = images[start..].partition_point(|image| &*image.key.value == key);
        &images[start..start + count]
    }

    /// The entry of a key and the reference that the values give it.
    pub fn get(&self, key: &str, reference: &Address) -> Option<&LockedImage> {
        self.position(key, reference)
            .map(|index| &self.images[index])
    }

    /// The entries of a key and a reference: one, or those that are in dispute.
    pub fn sides(&self, key: &str, reference: &Address) -> impl Iterator<Item = &LockedImage> {
        let identity = (key, reference);
        let disputed = &self.disputed;
        let first = disputed.partition_point(|entry| entry.identity() < identity);
        let end = disputed.partition_point(|entry| entry.identity() <= identity);
        self.get(key, reference)
            .into_iter()
            .chain(&disputed[first..end])
    }

    /// The number of that entry among [`Lock::images`].
    pub fn position(&self, key: &str, reference: &Address) -> Option<usize> {
        let identity = (key, reference);
        let found = self
            .images
            .binary_search_by(|image| image.identity().cmp(&identity));
        found.ok()
    }
}

impl LockedImage {
    /// What distinguishes it from other entries.
    pub fn identity(&self) -> (&str, &Address) {
        (&self.key.value, &self.reference.value)
    }

    /// The fingerprints of the keys whose holders signed it, or what is said of its origin.
    pub fn signing_keys(&self) -> BTreeSet<&str> {
        let signers = self.provenance.get(SIGNER);
        let signers = signers.into_iter().flat_map(|it| it.value.split(", "));
        let keys = signers.filter(|signer| Digest::parse(signer).is_ok());
        let verified = self.verified.iter().map(|verified| &*verified.key);
        verified.chain(keys).collect()
    }

    /// The text of a fact; empty where the entry has none.
    pub fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", |fact| &fact.value)
    }

    /// Whether two entries have the same content, regardless of their places.
    pub fn says_the_same(&self, other: &Self) -> bool {
        fn texts(
            all: &BTreeMap<Arc<str>, Located<Arc<str>>>,
        ) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
            all.iter().map(|(name, text)| (name, &text.value))
        }
        self.identity() == other.identity()
            && self.digest.value == other.digest.value
            && self.mirror == other.mirror
            && self.origin == other.origin
            && self.verified == other.verified
            && self.evidence == other.evidence
            && texts(&self.facts).eq(texts(&other.facts))
            && texts(&self.provenance).eq(texts(&other.provenance))
    }

    /// The digest of the manifest that machines pull: of an index, that of its part.
    pub fn manifest_digest(&self) -> Digest {
        let part = self.evidence.as_ref().and_then(|it| it.part.as_ref());
        part.map_or_else(
            || self.digest.value.clone(),
            |part| Digest::compute(part.as_bytes()),
        )
    }

    /// Whether nothing in the lock's files proves what it says, although its artifact could. A web server's file has no
    /// manifest.
    pub fn lacks_evidence(&self) -> bool {
        self.evidence.is_none() && !is_url(&self.reference.value)
    }

    /// The place of its entry; the place of its digest distinguishes entries of one file.
    pub fn place(&self) -> Place {
        self.digest.place
    }
}

/// Which lock entries the keys of a cluster's values apply to, by the start of their places.
#[derive(Clone, Debug, Default)]
pub struct SignedEntries {
    /// Those that a key is named or required for.
    pub keyed: BTreeSet<u32>,
    /// Those of them that have no evidence.
    pub unproven: BTreeSet<u32>,
}

/// Whether everything that is rendered must be in the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// An existing lock has to be complete; a project without a lock needs none.
    #[default]
    Loose,
    /// `--frozen`: there is a lock, and it holds every image.
    Frozen,
}

/// Whether an image can be locked: it is named by a reference into a registry.
pub fn is_lockable(image: &Image) -> bool {
    image.uri.as_ref().is_some_and(|uri| is_oci(&uri.value))
}

#[cfg(test)]
mod tests {
    use super::{Lock, LockOrigin, LockedImage};
    use oci_artifacts::{Address, Digest};
    use yaml_tree::place::{Located, Place};

    fn locked(key: &str, reference: &str, bytes: &[u8]) -> LockedImage {
        LockedImage {
            key: Located::new(key.into(), Place::NONE),
            reference: Located::new(Address::new(reference), Place::NONE),
            digest: Located::new(Digest::compute(bytes), Place::NONE),
            mirror: None,
            facts: std::collections::BTreeMap::new(),
            origin: LockOrigin::default(),
            verified: Vec::new(),
            provenance: std::collections::BTreeMap::new(),
            evidence: None,
        }
    }

    #[test]
    fn an_entry_counts_for_its_own_reference_alone() {
        let lock = Lock::new(vec![
            locked("b", "oci://r/b:1", b"1"),
            locked("a", "oci://r/a:2", b"2"),
            locked("a", "oci://r/a:1", b"3"),
            LockedImage {
                mirror: Some("lost".into()),
                ..locked("a", "oci://r/a:1", b"3")
            },
        ]);
        assert_eq!(lock.images().len(), 3);
        assert_eq!(lock.entries_of("a").len(), 2);
        assert!(lock.entries_of("c").is_empty());
        let found = lock
            .get("a", &Address::new("oci://r/a:1"))
            .map(|image| (&image.digest.value, &image.mirror));
        assert_eq!(found, Some((&Digest::compute(b"3"), &None)));
        assert!(lock.get("a", &Address::new("oci://mirror/a:1")).is_none());
        assert!(lock.get("b", &Address::new("oci://r/a:1")).is_none());
    }

    #[test]
    fn of_two_digests_for_one_reference_none_counts_and_both_stay() {
        let lock = Lock::new(vec![
            locked("b", "oci://r/b:1", b"1"),
            locked("a", "oci://r/a:1", b"2"),
            locked("c", "oci://r/c:1", b"3"),
            locked("b", "oci://r/b:1", b"4"),
        ]);
        let digests = |entries: Vec<&LockedImage>| -> Vec<Digest> {
            let digests = entries.iter().map(|entry| entry.digest.value.clone());
            digests.collect()
        };
        let expected = |all: &[&[u8]]| -> Vec<Digest> {
            all.iter().map(|bytes| Digest::compute(bytes)).collect()
        };
        assert_eq!(
            digests(lock.images().iter().collect()),
            expected(&[b"2", b"3"])
        );
        assert_eq!(
            digests(lock.disputes().iter().collect()),
            expected(&[b"1", b"4"])
        );
        assert_eq!(digests(lock.entries()), expected(&[b"2", b"1", b"4", b"3"]));
        let sides = |key: &str, reference: &str| {
            digests(lock.sides(key, &Address::new(reference)).collect())
        };
        assert_eq!(sides("b", "oci://r/b:1"), expected(&[b"1", b"4"]));
        assert_eq!(sides("a", "oci://r/a:1"), expected(&[b"2"]));
        assert_eq!(sides("b", "oci://r/a:1"), expected(&[]));
    }
}
