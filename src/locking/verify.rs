//! The lock against the world: do tags still stand for what was locked, is it whole and signed, does it say what the
//! lock says?

use std::collections::BTreeMap;
use std::sync::Arc;

use super::layers::{self, Promised};
use super::{Asks, Signing, moved, pages, proof};
use crate::model::finding::{Finding, Subject};
use crate::model::image::fact;
use crate::model::lock::{Lock, LockedImage};
use crate::model::place::Sources;
use crate::oci::{Digest, Failure, FailureKind, Reference, Store};
use crate::signature::{PublicKey, Verdict};
use crate::sources::{Artifact, OfferedImage, artifacts};

/// What verifying a lock came to.
#[derive(Debug, Default)]
pub struct Verification {
    /// One line for each entry, in the lock's order.
    pub images: Vec<VerifiedImage>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What could not be asked.
    pub failures: Vec<Failure>,
}

/// What became of one entry.
#[derive(Clone, Debug)]
pub struct VerifiedImage {
    /// Its key.
    pub key: Arc<str>,
    /// Its reference.
    pub reference: Arc<str>,
    /// Whether its tag stands for the locked digest; none where nobody answered.
    pub in_place: Option<bool>,
    /// The fingerprint of the key that it is signed by; none where no key is known or it is not signed by it.
    pub signed_by: Option<Arc<str>>,
}

/// Asks for every entry of the lock once, and for each of its layers how long it is. What clusters ask for says which key counts.
/// Files that index pages list were asked for already.
pub fn verify(
    lock: &Lock,
    sources: &Sources,
    asks: &Asks,
    (architecture, offered): (&str, &[OfferedImage]),
    store: &dyn Store,
) -> Verification {
    let mut out = Verification::default();
    let mut references: BTreeMap<&str, Reference> = BTreeMap::new();
    for image in lock.images() {
        // The reader has proven it.
        if let Ok(reference) = Reference::parse(&image.reference.value) {
            references.insert(&image.reference.value, reference);
        }
    }
    let batch: Vec<Reference> = references.values().cloned().collect();
    let answers: BTreeMap<&str, Result<Artifact, Failure>> = references
        .keys()
        .copied()
        .zip(artifacts(&batch, architecture, store))
        .collect();
    let mut promised = Vec::new();
    for image in lock.images() {
        let name = &*image.reference.value;
        let in_place = match answers.get(name) {
            Some(Ok(arrived)) => Some(compare(image, arrived, sources, &mut out.findings)),
            Some(Err(failure)) => failed(image, failure, sources, &mut out),
            None => pages::compare(image, offered, sources, &mut out.findings),
        };
        if let (Some(true), Some(Ok(arrived)), Some(reference)) =
            (in_place, answers.get(name), references.get(name))
        {
            promised.push(Promised {
                image,
                reference,
                layers: &arrived.layers,
            });
        }
        out.images.push(VerifiedImage {
            key: Arc::clone(&image.key.value),
            reference: Arc::clone(&image.reference.value),
            in_place,
            signed_by: None,
        });
    }
    layers::compare(&promised, sources, store, &mut out);
    signatures(lock, sources, asks, store, &mut out);
    out
}

/// Whether the tag stands for the locked digest; and, if it does, whether the lock says what the annotations say.
fn compare(
    image: &LockedImage,
    arrived: &Artifact,
    sources: &Sources,
    findings: &mut Vec<Finding>,
) -> bool {
    if image.digest.value != arrived.digest {
        let help = format!(
            "find out who moved it; the lock still names the bytes that were tested: `{}`",
            image.digest.value
        );
        findings.push(moved(image, arrived.digest.as_str(), sources).help(help));
        return false;
    }
    let key = &image.key.value;
    for (name, locked) in &image.facts {
        let (theirs, text) = (arrived.facts.get(name), &locked.value);
        // Of a component bundle the lock has the digest of the layer, which stands in no annotation.
        let is_tarball = &**name == fact::SHA256 && arrived.tarball() == Some(&**text);
        if theirs == Some(text) || is_tarball && theirs.is_none() {
            continue;
        }
        let theirs = theirs.map_or("nothing".to_owned(), |theirs| format!("`{theirs}`"));
        let message = format!(
            "`{name}` of `{key}` is `{text}` by the lock, {theirs} by the artifact's annotations"
        );
        let finding = about(image, "fact-conflict", message);
        findings.push(finding.at(sources.resolve(locked.place), "").help(EDITED));
    }
    for (name, theirs) in &arrived.facts {
        if !image.facts.contains_key(name) {
            let message = format!("the lock leaves out that `{name}` of `{key}` is `{theirs}`");
            let finding = about(image, "fact-conflict", message);
            findings.push(
                finding
                    .at(sources.resolve(image.key.place), "")
                    .help(EDITED),
            );
        }
    }
    findings.extend(too_small(image, arrived, sources));
    true
}

/// What to do about a lock that says other things than the artifact that it names.
const EDITED: &str = "the lock was edited: remove the entry and run `metalmark lock`";

/// That the layers cannot hold the archive that the annotations promise. They hold it compressed once more, which takes
/// nearly nothing off what is compressed already (S18); a tenth is far more than that.
fn too_small(image: &LockedImage, arrived: &Artifact, sources: &Sources) -> Option<Finding> {
    let archive = image.facts.get(fact::ARCHIVE_SIZE)?;
    let bytes: u64 = archive.value.parse().ok()?;
    let sizes = arrived.layers.iter().map(|layer| layer.size);
    let size = sizes.fold(0, u64::saturating_add);
    if size >= bytes - bytes / 10 {
        return None;
    }
    let message = format!(
        "`archive-size` of `{}` is {bytes} bytes, and the artifact's layers have {size}",
        image.key.value
    );
    let finding = about(image, "fact-conflict", message);
    Some(finding.at(sources.resolve(archive.place), "more than there is"))
}

/// What is not there any more is a finding; what could not be asked is not known.
fn failed(
    image: &LockedImage,
    failure: &Failure,
    sources: &Sources,
    out: &mut Verification,
) -> Option<bool> {
    if failure.kind == FailureKind::NotFound {
        let message = format!("`{}` is gone: {}", image.reference.value, failure.message);
        let finding = about(image, "catalog-drift", message);
        let finding = finding.at(sources.resolve(image.reference.place), "locked here");
        let finding = failure.help.iter().cloned().fold(finding, Finding::help);
        out.findings.push(finding);
        return Some(false);
    }
    if !out.failures.contains(failure) {
        out.failures.push(failure.clone());
    }
    None
}

/// Signatures of the locked digests, wherever the tags are by now.
fn signatures(
    lock: &Lock,
    sources: &Sources,
    asks: &Asks,
    store: &dyn Store,
    out: &mut Verification,
) {
    let mut wanted: Vec<(usize, (Reference, Digest, PublicKey))> = Vec::new();
    for (index, image) in lock.images().iter().enumerate() {
        let identity = (
            Arc::clone(&image.key.value),
            Arc::clone(&image.reference.value),
        );
        let Some(Signing::By(key)) = asks.get(&identity).map(|ask| &ask.signing) else {
            continue;
        };
        if let (Ok(reference), Some(_)) =
            (Reference::parse(&identity.1), out.images[index].in_place)
        {
            wanted.push((index, (reference, image.digest.value.clone(), key.clone())));
        }
    }
    let (indexes, questions): (Vec<usize>, Vec<_>) = wanted.into_iter().unzip();
    for (index, answer) in indexes.into_iter().zip(proof::answers(store, &questions)) {
        let image = &lock.images()[index];
        match answer {
            Ok(Verdict::Good(signature)) => {
                out.images[index].signed_by = Some(signature.fingerprint.as_str().into());
            }
            Ok(verdict) => {
                let (key, reference) = image.identity();
                let spot = sources.resolve(image.digest.place);
                let finding = proof::unsigned(key, reference, &verdict, spot);
                out.findings.push(finding);
            }
            Err(failure) => out.failures.push(failure),
        }
    }
}

/// A finding about an entry of the lock.
pub(super) fn about(image: &LockedImage, rule: &'static str, message: String) -> Finding {
    Finding::new(rule, message).about(Subject {
        image: Some(image.key.value.to_string()),
        ..Subject::default()
    })
}
