//! What the project demands of the origin of images (`policy.provenance`): what the evidence of a lock entry proves of it, at every
//! gate; and what registries have of it, where an image is locked.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::ImageKey;
use oci_artifacts::evidence::{Evidence, Witness};
use oci_artifacts::signature::{self, LONGEST, Refusal, Witnesses};
use oci_artifacts::{Address, Reference, Store};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::{Located, Place, Sources};

use super::demands::Proven;
use super::signers::{Found, Keyring, Signing};
use super::verification::entry_finding;
use super::{LockRequest, Requirement, Requirements, Run};
use crate::catalog::sources::RESTORE;
use crate::model::finding::Finding;
use crate::model::lock::{Lock, LockedImage};
use crate::model::rule::RuleId;

/// What is wrong with the origin of the entries of a lock, by their evidence.
pub fn check_provenance(lock: &Lock, keyring: &Keyring, sources: &Sources) -> Vec<Finding> {
    let check = |image: &LockedImage| {
        let witnesses = image.evidence.as_ref().map(|it| it.signatures.as_slice());
        let proven = keyring
            .provenances()
            .judge(image, witnesses.unwrap_or_default(), |of| {
                keyring.find_signing_name(of)
            });
        let finding = match proven {
            Err(refusals) => refusal(image, &refusals, Found::Lock),
            Ok(proven) => difference(image, &proven.words)?,
        };
        Some(finding.with_label(sources.resolve(image.digest.place), "locked here"))
    };
    lock.images().par_iter().filter_map(check).collect()
}

/// What an entry says otherwise of its origin than is proven.
fn difference(image: &LockedImage, proven: &BTreeMap<Arc<str>, Arc<str>>) -> Option<Finding> {
    let key = &image.key.value;
    let locked = image.provenance.iter().map(|(name, it)| (name, &it.value));
    if locked.clone().eq(proven) {
        return None;
    }
    let contradicted = locked.clone().find_map(|(name, said)| {
        let proven = proven.get(name).filter(|proven| *proven != said)?;
        Some(format!(
            "`{name}` of `{key}` is `{said}` by the lock, `{proven}` by what is attested"
        ))
    });
    Some(match contradicted {
        Some(message) => entry_finding(image, RuleId::LockTampered, message).help(RESTORE),
        None => {
            let message = format!(
                "the lock says otherwise where `{key}` comes from than the project demands proof of"
            );
            let finding = entry_finding(image, RuleId::LockStale, message);
            finding.help("run `metalmark lock`, which writes what is proven")
        }
    })
}

/// That the demands on an entry are not met. `found`: where witnesses were looked for.
fn refusal(image: &LockedImage, refusals: &[Refusal], found: Found) -> Finding {
    let reasons: Vec<String> = refusals.iter().map(Refusal::to_string).collect();
    let message = format!(
        "`{}` is not proven to come from where the project says: {}",
        image.reference.value,
        reasons.join("; ")
    );
    let finding = entry_finding(image, RuleId::ProvenanceUnproven, message);
    finding.help(match found {
        Found::Lock => {
            "run `metalmark lock`: it looks for signatures and attestations, and locks nothing that lacks one"
        }
        Found::Registry => {
            "have its publisher sign or attest it (`cosign sign`, `cosign attest`), or correct `policy.provenance` in the project file"
        }
    })
}

/// Proves the origin of every entry that the project demands it of: by the evidence that there is, else by what its registry has.
/// What is not proven is not locked; an entry that the lock had before stays, and the finding with it.
pub(super) fn prove(
    requirements: &Requirements,
    entries: &mut BTreeMap<(ImageKey, Address), LockedImage>,
    request: &LockRequest<'_>,
    keyring: &Keyring,
    store: &dyn Store,
    run: &mut Run<'_>,
) {
    let provenances = keyring.provenances();
    let signing_name = |of: &Reference| keyring.find_signing_name(of);
    let mut wanted = Vec::new();
    for (identity, requirement) in requirements {
        let Some(image) = entries.get_mut(identity) else {
            continue;
        };
        if !provenances.cover(&image.reference.value) {
            image.provenance.clear();
            continue;
        }
        // It could not be fetched, which is reported.
        let Some(evidence) = &image.evidence else {
            continue;
        };
        let old = run.old.get(&requirement.key, &requirement.reference);
        let old = old.and_then(|old| old.evidence.as_ref());
        let known = { old.into_iter().chain([evidence]) }.flat_map(|it| it.signatures.clone());
        let known: Vec<Witness> = known.collect();
        match provenances.judge(image, &known, signing_name) {
            Ok(proven) => attest(image, &requirement.signing, proven),
            Err(_) => {
                let of = Reference::parse(&image.reference.value).ok();
                let digest = image.digest.value.clone();
                wanted.extend(of.map(|of| Wanted {
                    requirement,
                    of: (of, digest),
                    known,
                }));
            }
        }
    }
    let targets: Vec<signature::Wanted> = wanted.iter().map(|it| it.of.clone()).collect();
    let answers = signature::find_witnesses(store, &targets);
    for (wanted, answer) in wanted.into_iter().zip(answers) {
        let requirement = wanted.requirement;
        let Some(image) = entries.get_mut(&requirement.identity()) else {
            continue;
        };
        let Witnesses {
            all,
            failed,
            too_long,
        } = answer.unwrap_or_else(|failure| Witnesses {
            failed: Some(failure),
            ..Witnesses::default()
        });
        let all = [wanted.known, all].concat();
        match (provenances.judge(image, &all, signing_name), failed) {
            (Ok(proven), _) => attest(image, &requirement.signing, proven),
            (Err(_), Some(failure)) => {
                run.fail(failure, requirement);
                run.withdraw(requirement, request, entries);
            }
            (Err(refusals), None) => {
                let mut finding = refusal(image, &refusals, Found::Registry);
                if too_long > 0 {
                    finding = finding.help(format!(
                        "attestations of more than {LONGEST} bytes are not read, and it has {too_long}: attest where the list lies, and its digest"
                    ));
                }
                run.refuse(finding, requirement, request, entries);
            }
        }
    }
}

/// An entry whose registry is queried.
struct Wanted<'a> {
    requirement: &'a Requirement,
    of: signature::Wanted,
    /// What there is already.
    known: Vec<Witness>,
}

/// Writes what is proven into an entry. Of the other evidence only what the keys of values need stays.
fn attest(image: &mut LockedImage, signing: &Signing, proven: Proven) {
    let located = |(name, text)| (name, Located::new(text, Place::NONE));
    image.provenance = proven.words.into_iter().map(located).collect();
    let Some(evidence) = &image.evidence else {
        return;
    };
    let mut signatures = proven.used;
    if matches!(signing, Signing::By(_)) {
        signatures.extend(evidence.signatures.iter().cloned());
    }
    image.evidence = Some(Arc::new(Evidence {
        signatures: signatures.into_iter().collect(),
        ..Evidence::clone(evidence)
    }));
}
