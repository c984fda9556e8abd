//! A store in memory that answers what a test says, also what no honest store answers.

use std::collections::BTreeMap;
use std::sync::Mutex;

use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};
use serde_json::{Value, json};

use super::registry::MANIFEST;

/// What is answered: bytes, or a failure of that kind.
pub(crate) type Answer = Result<Vec<u8>, FailureKind>;

/// Answers by reference, or by digest where a reference has one. What is not in it is not found; nothing refers to what is
/// not in `referrers`; a layer that is not in `sizes` has a length that nobody knows.
#[derive(Default)]
pub(crate) struct Stub {
    pub(crate) manifests: BTreeMap<String, Answer>,
    pub(crate) blobs: BTreeMap<Digest, Answer>,
    pub(crate) referrers: BTreeMap<Digest, Result<Vec<Descriptor>, FailureKind>>,
    pub(crate) sizes: BTreeMap<Digest, Result<u64, FailureKind>>,
    /// How often it was asked for manifests, blobs, referrers and sizes.
    pub(crate) asked: Mutex<BTreeMap<&'static str, usize>>,
}

impl Stub {
    /// Puts a manifest with these fields beside a configuration, at a reference and at its digest.
    pub(crate) fn put(&mut self, reference: &str, fields: Value) -> Digest {
        let mut manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": "a", "digest": Digest::compute(b"{}").as_str(), "size": 2},
            "layers": [],
        });
        for (key, value) in fields.as_object().expect("an object") {
            manifest[key] = value.clone();
        }
        let bytes = manifest.to_string().into_bytes();
        let digest = Digest::compute(&bytes);
        self.manifests.insert(digest.to_string(), Ok(bytes.clone()));
        self.manifests.insert(reference.to_owned(), Ok(bytes));
        digest
    }

    /// Puts a blob, and describes it as a layer.
    pub(crate) fn layer(&mut self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = Digest::compute(bytes);
        self.blobs.insert(digest.clone(), Ok(bytes.to_vec()));
        json!({"mediaType": media_type, "digest": digest.as_str(), "size": bytes.len()})
    }

    /// Puts an artifact of these layers that refers to a manifest.
    pub(crate) fn refer(&mut self, to: &Digest, artifact_type: Option<&str>, layers: &[Value]) {
        // Each of its own, also where the layers are the same.
        let known = self.referrers.entry(to.clone()).or_insert(Ok(Vec::new()));
        let known = known.as_ref().map_or(0, Vec::len);
        let count = json!({"n": known.to_string()});
        let digest = self.put("", json!({"layers": layers, "annotations": count}));
        let descriptor = Descriptor {
            media_type: MANIFEST.to_owned(),
            digest,
            size: 1,
            annotations: BTreeMap::new(),
            architecture: None,
            os: None,
            artifact_type: artifact_type.map(str::to_owned),
        };
        if let Some(Ok(list)) = self.referrers.get_mut(to) {
            list.push(descriptor);
        }
    }

    /// How often these were requested.
    pub(crate) fn requested(&self, what: &str) -> usize {
        let asked = self.asked.lock().expect("not poisoned");
        asked.get(what).copied().unwrap_or_default()
    }

    fn count(&self, what: &'static str, count: usize) {
        let mut asked = self.asked.lock().expect("not poisoned");
        *asked.entry(what).or_default() += count;
    }
}

fn failure(reference: &Reference, kind: FailureKind) -> Failure {
    Failure::new(reference, kind, format!("the stub says {kind:?}"))
}

impl Store for Stub {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        self.count("manifests", wanted.len());
        let one = |reference: &Reference| {
            let name = match &reference.digest {
                Some(digest) => digest.to_string(),
                None => reference.to_string(),
            };
            let answer = self.manifests.get(&name).cloned();
            let bytes = answer
                .unwrap_or(Err(FailureKind::NotFound))
                .map_err(|kind| failure(reference, kind))?;
            Manifest::read(bytes).map_err(|_| failure(reference, FailureKind::Corrupt))
        };
        wanted.iter().map(one).collect()
    }

    fn blobs(&self, wanted: &[(Reference, Descriptor)], _: u64) -> Vec<Result<Vec<u8>, Failure>> {
        self.count("blobs", wanted.len());
        let one = |(reference, descriptor): &(Reference, Descriptor)| {
            let answer = self.blobs.get(&descriptor.digest).cloned();
            let answer = answer.unwrap_or(Err(FailureKind::NotFound));
            answer.map_err(|kind| failure(reference, kind))
        };
        wanted.iter().map(one).collect()
    }

    fn sizes(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Option<u64>, Failure>> {
        self.count("sizes", wanted.len());
        let one = |(reference, digest): &(Reference, Digest)| match self.sizes.get(digest) {
            None => Ok(None),
            Some(Ok(size)) => Ok(Some(*size)),
            Some(Err(kind)) => Err(failure(reference, *kind)),
        };
        wanted.iter().map(one).collect()
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        self.count("referrers", wanted.len());
        let one = |(reference, digest): &(Reference, Digest)| {
            let answer = self.referrers.get(digest).cloned();
            let answer = answer.unwrap_or(Ok(Vec::new()));
            answer.map_err(|kind| failure(reference, kind))
        };
        wanted.iter().map(one).collect()
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        Err(failure(of, FailureKind::Unsupported))
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        Err(failure(of, FailureKind::Unsupported))
    }
}
