//! Verifies signatures before locking: an artifact is locked only if it verifies under every known key.

use std::collections::BTreeMap;
use std::sync::Arc;

use oci_artifacts::evidence::{Evidence, Witness};
use oci_artifacts::signature::{self, PublicKey, Verdict};
use oci_artifacts::{Address, Failure, Store};

use super::signers::{Found, Keyring, Signing, join, refusal, witnesses};
use super::{Accepted, LockRequest, Requirement, Requirements, Run};
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{LockedImage, Verified};
use crate::model::rule::RuleId;
use crate::model::signing::TrustedKeys;
use crate::rules;

/// The image key and the reference of an entry.
type Identity = (Arc<str>, Address);

/// What one key says of one entry: where the answer is from, and the answer.
type Answered = (Found, Result<signature::Proof, Failure>);

/// Verifies every entry that a key is known for: by the evidence that it has, else at the registry. What does not verify is not
/// locked; an entry that the lock had before stays, and the finding with it.
pub(super) fn prove(
    requirements: &Requirements,
    entries: &mut BTreeMap<Identity, LockedImage>,
    request: &LockRequest<'_>,
    keyring: &Keyring,
    store: &dyn Store,
    run: &mut Run<'_>,
) {
    let mut answers: BTreeMap<Identity, Vec<(&PublicKey, Answered)>> = BTreeMap::new();
    let mut wanted: Vec<(Identity, &PublicKey)> = Vec::new();
    let mut questions: Vec<signature::Question> = Vec::new();
    for (identity, requirement) in requirements {
        let Some(image) = entries.get(identity) else {
            continue;
        };
        match &requirement.signing {
            Signing::Unrequired => run.keep_proof(requirement, request, entries),
            Signing::Unknown => run.accept_unchecked(requirement, request, entries),
            Signing::Unusable => run.withdraw(requirement, request, entries),
            // It could not be fetched, which is reported.
            Signing::By(_) if image.lacks_evidence() => {}
            Signing::By(demands) => {
                let is_new = !run.is_kept(image);
                for demand in demands {
                    let of_image = answers.entry(identity.clone()).or_default();
                    let mut open = Vec::new();
                    let mut good = 0;
                    for key in demand.keys() {
                        let known = keyring.recheck(image, key).filter(|(verdict, _)| {
                            let settled = || {
                                let (of, reference) = (&requirement.key, &requirement.reference);
                                let finding =
                                    refusal(of, reference, verdict, Found::Lock, demand.namer);
                                (request.accepts)(&finding).is_some()
                            };
                            matches!(verdict, Verdict::Good(_)) || !is_new && settled()
                        });
                        match known {
                            Some(proof) => {
                                good += usize::from(matches!(proof.0, Verdict::Good(_)));
                                of_image.push((key, (Found::Lock, Ok(proof))));
                            }
                            None => open.push(key),
                        }
                    }
                    // Where enough have signed, nobody else is looked for.
                    let open = open.into_iter().filter(|_| good < demand.threshold());
                    for key in open {
                        if let Some(question) = keyring.question(image, key) {
                            questions.push(question);
                            wanted.push((identity.clone(), key));
                        }
                    }
                }
            }
        }
    }
    for ((identity, key), answer) in wanted.into_iter().zip(signature::prove(store, &questions)) {
        let answered = (Found::Registry, answer);
        answers.entry(identity).or_default().push((key, answered));
    }
    for (identity, answers) in answers {
        if let Some(requirement) = requirements.get(&identity)
            && let Signing::By(demands) = &requirement.signing
            && !run.settle_signatures(requirement, demands, answers, entries, request)
        {
            run.withdraw(requirement, request, entries);
        }
    }
}

impl Run<'_> {
    /// Whether an entry is the old one, not one that was just fetched.
    fn is_kept(&self, image: &LockedImage) -> bool {
        let (key, reference) = image.identity();
        let known = self.old.get(key, reference);
        known.is_some_and(|known| known.digest.place == image.digest.place)
    }

    /// An entry without any key: what was verified once stays so, until this image is requested again.
    fn keep_proof(
        &mut self,
        requirement: &Requirement,
        request: &LockRequest<'_>,
        entries: &mut BTreeMap<Identity, LockedImage>,
    ) {
        let Some(known) = self.old.get(&requirement.key, &requirement.reference) else {
            return;
        };
        if known.verified.is_empty() || request.names(&requirement.key) {
            return;
        }
        let spot = self.sources.resolve(known.digest.place);
        let finding = rules::signature_unchecked(known).with_label(spot, "locked here");
        self.out.findings.push(finding);
        self.withdraw(requirement, request, entries);
    }

    /// Locks an entry that somebody has to have signed, and nobody says who, only where the policy accepts that. It is reported where
    /// the key is missed.
    fn accept_unchecked(
        &mut self,
        requirement: &Requirement,
        request: &LockRequest<'_>,
        entries: &mut BTreeMap<Identity, LockedImage>,
    ) {
        let rule = RuleId::SignatureUnchecked;
        let finding = Finding::new(rule, "").with_subject(Subject::image(&requirement.key));
        match (request.accepts)(&finding) {
            Some(reason) => self.out.accepted.push(Accepted {
                key: Arc::clone(&requirement.key),
                rule,
                reason,
            }),
            None => self.withdraw(requirement, request, entries),
        }
    }

    /// Reports what an entry is, and locks it only where the policy accepts that.
    pub(super) fn refuse(
        &mut self,
        finding: Finding,
        requirement: &Requirement,
        request: &LockRequest<'_>,
        entries: &mut BTreeMap<Identity, LockedImage>,
    ) {
        if let Some(reason) = (request.accepts)(&finding) {
            self.out.accepted.push(Accepted {
                key: Arc::clone(&requirement.key),
                rule: finding.rule,
                reason,
            });
        } else {
            self.withdraw(requirement, request, entries);
        }
        let finding = finding.with_label(requirement.spot.clone(), "");
        self.out.findings.push(finding);
    }

    /// Writes what is proven into an entry. False where it is not to be locked.
    fn settle_signatures(
        &mut self,
        requirement: &Requirement,
        demands: &[TrustedKeys],
        answers: Vec<(&PublicKey, Answered)>,
        entries: &mut BTreeMap<Identity, LockedImage>,
        request: &LockRequest<'_>,
    ) -> bool {
        let mut verified = Vec::new();
        let mut found: Vec<Option<Witness>> = Vec::new();
        let mut refused: Vec<(&PublicKey, Verdict, Found)> = Vec::new();
        let mut failed: Vec<(&PublicKey, Failure)> = Vec::new();
        for (key, (place, answer)) in answers {
            match answer {
                Ok((Verdict::Good(signature), witness)) => {
                    found.push(witness);
                    verified.push(Verified {
                        key: key.fingerprint().as_str().into(),
                        form: signature.form.name().into(),
                    });
                }
                Ok((verdict, witness)) => {
                    found.push(witness);
                    refused.push((key, verdict, place));
                }
                Err(failure) => failed.push((key, failure)),
            }
        }
        verified.sort();
        verified.dedup();
        let mut accepted = Vec::new();
        let mut is_lockable = true;
        for demand in demands {
            let keys = demand.keys();
            let has_signed = |key: &&PublicKey| {
                let fingerprint = key.fingerprint().as_str();
                verified.iter().any(|it| *it.key == *fingerprint)
            };
            let good = keys.iter().filter(has_signed).count();
            if good >= demand.threshold() {
                continue;
            }
            let mut failures = failed.iter().filter(|(key, _)| keys.contains(key));
            if let Some((_, failure)) = failures.next() {
                self.fail(failure.clone(), requirement);
                is_lockable = false;
                continue;
            }
            let (of, reference) = (&requirement.key, &requirement.reference);
            let refused = refused.iter().filter(|(key, ..)| keys.contains(key));
            let refused = refused
                .map(|(_, verdict, place)| refusal(of, reference, verdict, *place, demand.namer));
            let Some(finding) = join(refused, demand, good) else {
                is_lockable = false;
                continue;
            };
            match (request.accepts)(&finding) {
                Some(reason) => accepted.push(Accepted {
                    key: Arc::clone(&requirement.key),
                    rule: finding.rule,
                    reason,
                }),
                None => is_lockable = false,
            }
            let finding = finding.with_label(requirement.spot.clone(), "");
            self.out.findings.push(finding);
        }
        if let Some(image) = entries
            .get_mut(&requirement.identity())
            .filter(|_| is_lockable)
        {
            image.verified = verified;
            let signatures = witnesses(found);
            if let Some(evidence) = &image.evidence
                && evidence.signatures != signatures
            {
                image.evidence = Some(Arc::new(Evidence {
                    signatures,
                    ..Evidence::clone(evidence)
                }));
            }
            self.out.accepted.extend(accepted);
        }
        is_lockable
    }

    /// Puts the old entry back, as its evidence says it, or leaves a gap.
    pub(super) fn withdraw(
        &self,
        requirement: &Requirement,
        request: &LockRequest<'_>,
        entries: &mut BTreeMap<Identity, LockedImage>,
    ) {
        let identity = requirement.identity();
        let Some(known) = self.old.get(&identity.0, &identity.1) else {
            entries.remove(&identity);
            return;
        };
        let kept = requirement.rebuild_entry(known, &request.platform);
        entries.insert(
            identity,
            kept.unwrap_or_else(|| requirement.copy_entry(known)),
        );
    }
}
