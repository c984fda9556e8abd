//! What the project demands of the origin of images (`policy.provenance`): what the evidence of a lock entry proves of it, at every
//! gate; and what registries have of it, where an image is locked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{ImageKey, fact};
use oci_artifacts::evidence::{Evidence, Witness};
use oci_artifacts::signature::{
    self, Attested, Demand, Identity, LONGEST, Policy, PublicKey, Refusal, Signer, Subject,
    TrustedRoot, Witnesses,
};
use oci_artifacts::{Address, Reference, Store};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::{Located, Place, Sources};

use super::signers::{Found, Keyring, Signing};
use super::verification::entry_finding;
use super::{LockRequest, Requirement, Requirements, Run};
use crate::catalog::sources::RESTORE;
use crate::model::finding::Finding;
use crate::model::lock::{Lock, LockedImage};
use crate::model::provenance::{NamedSigner, ProvenanceDemand};
use crate::model::rule::RuleId;

/// The demands of a project, with the keys and roots that they name.
#[derive(Default)]
pub struct Provenances(Vec<Loaded>);

struct Loaded {
    below: [Reference; 1],
    policy: Policy,
}

/// What the demands on one entry prove.
#[derive(Default)]
struct Proven {
    /// Who signed, and where the image comes from: what the lock says of it.
    words: BTreeMap<Arc<str>, Arc<str>>,
    /// The witnesses that prove it.
    used: BTreeSet<Witness>,
}

impl Provenances {
    /// Reads the keys and roots; what cannot be read is reported. `text`: the text that a value names.
    pub fn load(
        written: &[ProvenanceDemand],
        text: impl Fn(&str) -> Result<String, String>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut roots: BTreeMap<&str, Result<TrustedRoot, String>> = BTreeMap::new();
        let mut all = Vec::new();
        for demand in written {
            let signer = match &demand.signer {
                NamedSigner::Key(key) => {
                    let read = |text: String| PublicKey::read(&text).map_err(|it| it.to_string());
                    text(key).and_then(read).map(Signer::Key)
                }
                NamedSigner::Certified {
                    subject,
                    issuer,
                    root,
                } => {
                    let read = || text(root).and_then(|text| TrustedRoot::read(&text));
                    let root = roots.entry(root).or_insert_with(read).clone();
                    root.map(|root| {
                        Signer::Certified(Identity {
                            subject: subject.clone(),
                            issuer: issuer.clone(),
                            root,
                        })
                    })
                }
            };
            match signer {
                Ok(signer) => all.push(Loaded {
                    below: [demand.below.clone()],
                    policy: Policy {
                        signer,
                        demands: demand.demands.clone(),
                    },
                }),
                Err(reason) => {
                    let message =
                        format!("what has to have signed images cannot be used: {reason}");
                    let finding = Finding::new(RuleId::ProjectFile, message);
                    findings.push(finding.with_label(demand.spot.clone(), "").help(
                        "name the file of a PEM public key, or of a `trusted_root.json`: `cosign trusted-root create`",
                    ));
                }
            }
        }
        Self(all)
    }

    /// Whether nothing is demanded.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn policies(&self, address: &Address) -> impl Iterator<Item = &Policy> {
        let all = self.0.iter();
        all.filter(|it| address.is_below(&it.below))
            .map(|it| &it.policy)
    }

    /// Whether something has to be signed of an image.
    pub(super) fn cover(&self, address: &Address) -> bool {
        self.policies(address).next().is_some()
    }

    /// Whether the image itself has to be signed.
    pub(super) fn demand_signature(&self, address: &Address) -> bool {
        let mut policies = self.policies(address);
        policies.any(|policy| policy.demands.contains(&Demand::Signature))
    }

    /// What some witnesses prove of an entry.
    ///
    /// # Errors
    /// The demands that are not met.
    fn judge(
        &self,
        image: &LockedImage,
        witnesses: &[Witness],
        keyring: &Keyring,
    ) -> Result<Proven, Vec<Refusal>> {
        let address = &image.reference.value;
        if !self.cover(address) {
            return Ok(Proven::default());
        }
        // Nothing can be signed of a file of a web server.
        let (Ok(of), Some(evidence)) = (Reference::parse(address), &image.evidence) else {
            let nothing = |demand: &Demand| Refusal {
                demand: demand.to_string(),
                reason: None,
            };
            let demands = self.policies(address).flat_map(|policy| &policy.demands);
            return Err(demands.map(nothing).collect());
        };
        let signed_as = keyring.find_signing_name(&of);
        let subject = Subject {
            of: &of,
            signed_as: signed_as.as_ref(),
            digest: &image.digest.value,
            manifest: &evidence.manifest,
        };
        let (mut proven, mut refusals) = (Vec::new(), Vec::new());
        for policy in self.policies(address) {
            match policy.judge(&subject, witnesses) {
                Ok(attested) => proven.push(attested),
                Err(reasons) => refusals.extend(reasons),
            }
        }
        if refusals.is_empty() {
            Ok(Proven::join(&proven, witnesses))
        } else {
            Err(refusals)
        }
    }
}

/// The name that the signers have in the lock.
const SIGNER: &str = "signer";

impl Proven {
    /// What several demands prove together; of two that say where an image comes from, the first counts.
    fn join(all: &[Attested], witnesses: &[Witness]) -> Self {
        let signers: BTreeSet<&str> = all.iter().map(|it| it.signer.as_str()).collect();
        let signers: Vec<&str> = signers.into_iter().collect();
        let find = |of: fn(&Attested) -> &Option<String>| all.iter().find_map(|it| of(it).clone());
        let words = [
            (SIGNER, Some(signers.join(", "))),
            (fact::SOURCE, find(|it| &it.origin.source)),
            (fact::REVISION, find(|it| &it.origin.revision)),
            (fact::BUILDER, find(|it| &it.origin.builder)),
        ];
        let words = words.into_iter().filter_map(|(name, text)| {
            let text = text.filter(|text| !text.is_empty())?;
            Some((name.into(), text.into()))
        });
        let used = all.iter().flat_map(|it| &it.used);
        Self {
            words: words.collect(),
            used: used.filter_map(|at| witnesses.get(*at).cloned()).collect(),
        }
    }
}

/// What is wrong with the origin of the entries of a lock, by their evidence.
pub fn check_provenance(lock: &Lock, keyring: &Keyring, sources: &Sources) -> Vec<Finding> {
    let check = |image: &LockedImage| {
        let witnesses = image.evidence.as_ref().map(|it| it.signatures.as_slice());
        let proven = keyring
            .provenances()
            .judge(image, witnesses.unwrap_or_default(), keyring);
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
        match provenances.judge(image, &known, keyring) {
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
        match (provenances.judge(image, &all, keyring), failed) {
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

/// An entry that the registry is asked about.
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
