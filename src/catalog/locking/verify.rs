//! The lock compared with registries: do tags still refer to what was locked, is it whole and signed, does it say what the
//! lock says?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::fact;
use oci_artifacts::signature::{self, Verdict};
use oci_artifacts::{Descriptor, Digest, Failure, FailureKind, Platform, Reference, Store};
use yaml_tree::place::Sources;

use super::pages::Pages;
use super::signers::{Found, Keyring, Signing, join, refusal};
use super::trust::{self, Proven};
use super::verification::{Verification, VerifiedImage, entry_finding};
use super::{Requirements, pages, tag_moved};
use crate::catalog::sources::{Artifact, RESTORE, artifacts};
use crate::model::finding::Finding;
use crate::model::lock::{Lock, LockedImage};
use crate::model::rule::RuleId;
use crate::model::signing::TrustedKeys;
use crate::rules;

/// Queries every entry of the lock once, and the length of each of its layers. What clusters require decides which key counts.
/// Files that index pages list were queried already.
pub fn verify(
    lock: &Lock,
    sources: &Sources,
    requirements: &Requirements,
    keyring: &Keyring,
    platform: &Platform,
    pages: &Pages,
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
        .zip(artifacts(&batch, platform, store))
        .collect();
    let mut promised = Vec::new();
    for image in lock.images() {
        let name = &*image.reference.value;
        let in_place = match answers.get(name) {
            Some(Ok(arrived)) => Some(compare(image, arrived, sources, &mut out.findings)),
            Some(Err(failure)) => report_failure(image, failure, sources, &mut out),
            None => pages::compare(image, pages, sources, &mut out.findings),
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
            reference: Arc::clone(image.reference.value.text()),
            in_place,
            signed_by: BTreeSet::new(),
        });
    }
    compare_layers(&promised, sources, store, &mut out);
    signatures(lock, sources, requirements, keyring, store, &mut out);
    out
}

/// Whether the tag refers to the locked digest; and, if it does, whether the lock says what the annotations say.
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
        findings.push(tag_moved(image, arrived.digest.as_str(), sources).help(help));
        return false;
    }
    // What has evidence was compared when the lock was read.
    if image.evidence.is_none() {
        for difference in arrived.differences(image) {
            let (message, place) = difference.message(image);
            let finding = entry_finding(image, RuleId::LockTampered, message);
            findings.push(finding.with_label(sources.resolve(place), "").help(RESTORE));
        }
    }
    findings.extend(too_small(image, arrived, sources));
    true
}

/// That the layers cannot hold the archive that the annotations promise. They hold it compressed once more, which takes
/// nearly nothing off what is compressed already (docs/sylva.md#facts); a tenth is far more than that.
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
    let finding = entry_finding(image, RuleId::FactConflict, message);
    Some(finding.with_label(sources.resolve(archive.place), "more than there is"))
}

/// What is not there any more is a finding; what could not be queried is unknown.
fn report_failure(
    image: &LockedImage,
    failure: &Failure,
    sources: &Sources,
    out: &mut Verification,
) -> Option<bool> {
    if failure.kind == FailureKind::NotFound {
        let message = format!("`{}` is gone: {}", image.reference.value, failure.message);
        let finding = entry_finding(image, RuleId::CatalogDrift, message);
        let finding = finding.with_label(sources.resolve(image.reference.place), "locked here");
        let finding = finding.helps(failure.help.iter().cloned());
        out.findings.push(finding);
        return Some(false);
    }
    out.fail(failure.clone(), image, sources);
    None
}

/// Signatures of the locked digests, at the registry wherever the tags are by now, and in the lock's evidence. One finding an
/// entry and key: what the registry says is more exact than the lock.
fn signatures(
    lock: &Lock,
    sources: &Sources,
    requirements: &Requirements,
    keyring: &Keyring,
    store: &dyn Store,
    out: &mut Verification,
) {
    let mut wanted: Vec<Wanted<'_>> = Vec::new();
    let mut unproven = BTreeSet::new();
    for (index, image) in lock.images().iter().enumerate() {
        let identity = (Arc::clone(&image.key.value), image.reference.value.clone());
        let spot = || sources.resolve(image.digest.place);
        let demands = match requirements
            .get(&identity)
            .map(|requirement| &requirement.signing)
        {
            Some(Signing::By(demands)) => demands,
            Some(Signing::Unrequired) if !image.verified.is_empty() => {
                let finding = rules::signature_unchecked(image);
                out.findings.push(finding.with_label(spot(), "locked here"));
                continue;
            }
            _ => continue,
        };
        for demand in demands {
            let is_reachable = out.images[index].in_place.is_some();
            let keys = demand.keys().iter().filter(|_| is_reachable);
            let questions = keys.filter_map(|key| keyring.question(image, key));
            wanted.push(Wanted {
                index,
                demand,
                questions: questions.collect(),
            });
        }
    }
    let questions: Vec<signature::Question> = wanted
        .iter()
        .flat_map(|wanted| wanted.questions.iter().cloned())
        .collect();
    let mut answers = signature::check(store, &questions).into_iter();
    let mut signers: BTreeMap<usize, Option<BTreeSet<String>>> = BTreeMap::new();
    for Wanted {
        index,
        demand,
        questions,
    } in wanted
    {
        let answers = answers.by_ref().take(questions.len()).collect();
        let image = &lock.images()[index];
        let signed = match registry_signers(image, demand, answers, sources, out) {
            Ok(signed) => {
                offline(image, demand, keyring, sources, &mut unproven, out);
                signed
            }
            // More exact than what the lock says.
            Err(finding) => {
                let spot = sources.resolve(image.digest.place);
                out.findings.push(finding.with_label(spot, ""));
                None
            }
        };
        let known = signers
            .entry(index)
            .or_insert_with(|| Some(BTreeSet::new()));
        *known = known.take().zip(signed).map(|(mut known, signed)| {
            known.extend(signed);
            known
        });
    }
    for (index, signers) in signers {
        out.images[index].signed_by = signers.unwrap_or_default();
    }
    let images = lock.images().iter();
    let stale: Vec<&LockedImage> = images
        .filter(|image| unproven.contains(&image.place().start))
        .collect();
    out.findings.extend(rules::unproven(&stale, sources));
    out.unproven = unproven;
}

/// What is requested about a locked image and a set of keys.
struct Wanted<'a> {
    index: usize,
    demand: &'a TrustedKeys,
    questions: Vec<signature::Question>,
}

/// The fingerprints of those who signed an image at its registry; none where that is not known.
///
/// # Errors
/// They are too few: what is wrong with the signatures there.
fn registry_signers(
    image: &LockedImage,
    demand: &TrustedKeys,
    answers: Vec<Result<Verdict, Failure>>,
    sources: &Sources,
    out: &mut Verification,
) -> Result<Option<Vec<String>>, Box<Finding>> {
    let (of, reference) = image.identity();
    let mut signed = Vec::new();
    let mut refused = Vec::new();
    let mut failures = Vec::new();
    for answer in answers {
        match answer {
            Ok(Verdict::Good(signature)) => signed.push(signature.fingerprint.to_string()),
            Ok(verdict) => {
                let namer = demand.namer;
                refused.push(refusal(of, reference, &verdict, Found::Registry, namer));
            }
            Err(failure) => failures.push(failure),
        }
    }
    if signed.len() >= demand.threshold() {
        return Ok(Some(signed));
    }
    if let Some(failure) = failures.into_iter().next() {
        out.fail(failure, image, sources);
        return Ok(None);
    }
    match join(refused.into_iter(), demand, signed.len()) {
        Some(finding) => Err(Box::new(finding)),
        None => Ok(None),
    }
}

/// What the lock itself proves of an entry.
fn offline(
    image: &LockedImage,
    demand: &TrustedKeys,
    keyring: &Keyring,
    sources: &Sources,
    unproven: &mut BTreeSet<u32>,
    out: &mut Verification,
) {
    match trust::check_entry(image, demand, keyring) {
        Proven::Good => {}
        Proven::WithoutEvidence => {
            unproven.insert(image.place().start);
        }
        Proven::Not(finding) => {
            let spot = sources.resolve(image.digest.place);
            out.findings.push(finding.with_label(spot, "locked here"));
        }
    }
}

/// The layers of one locked image.
struct Promised<'a> {
    image: &'a LockedImage,
    reference: &'a Reference,
    layers: &'a [Descriptor],
}

/// Queries the length of each layer, once a repository, and reports those that are not as promised.
fn compare_layers(
    promised: &[Promised<'_>],
    sources: &Sources,
    store: &dyn Store,
    out: &mut Verification,
) {
    let mut wanted: BTreeMap<(String, &Digest), (Reference, Digest)> = BTreeMap::new();
    for image in promised {
        for layer in image.layers {
            let question = (image.reference.clone(), layer.digest.clone());
            wanted.insert((image.reference.name(), &layer.digest), question);
        }
    }
    if wanted.is_empty() {
        return;
    }
    let questions: Vec<(Reference, Digest)> = wanted.values().cloned().collect();
    let answers = store.sizes(&questions);
    let answers: BTreeMap<_, _> = wanted.into_keys().zip(answers).collect();
    for image in promised {
        // A manifest may name one layer twice.
        let layers = image.layers.iter();
        let layers: BTreeSet<_> = layers.map(|layer| (&layer.digest, layer.size)).collect();
        for (digest, size) in layers {
            if let Some(answer) = answers.get(&(image.reference.name(), digest)) {
                judge(image.image, digest, size, answer, sources, out);
            }
        }
    }
}

fn judge(
    image: &LockedImage,
    digest: &Digest,
    promised: u64,
    answer: &Result<Option<u64>, Failure>,
    sources: &Sources,
    out: &mut Verification,
) {
    let key = &image.key.value;
    let message = match answer {
        Ok(Some(size)) if *size != promised => {
            format!(
                "layer `{digest}` of `{key}` has {size} bytes, and its manifest says {promised}"
            )
        }
        Ok(_) => return,
        Err(failure) if failure.kind == FailureKind::NotFound => {
            format!("layer `{digest}` of `{key}` is gone: {}", failure.message)
        }
        Err(failure) => {
            out.fail(failure.clone(), image, sources);
            return;
        }
    };
    let finding = entry_finding(image, RuleId::ImageIncomplete, message);
    let spot = sources.resolve(image.digest.place);
    out.findings.push(
        finding
            .with_label(spot, "of this artifact")
            .help(PUSH_AGAIN),
    );
}

const PUSH_AGAIN: &str = "no node can pull it: have the same artifact pushed or copied there again; \
                          its digest stays the same";
