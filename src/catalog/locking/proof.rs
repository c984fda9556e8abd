//! Signatures: nothing new is locked that does not verify under every key that is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::signers::{Found, Keyring, Signing, refused, witnesses};
use super::{Accepted, Ask, Asks, Run, Wish};
use crate::artifacts::signature::{self, PublicKey, Verdict};
use crate::model::evidence::{Evidence, Witness};
use crate::model::lock::{LockedImage, Verified};
use crate::model::rule::RuleId;
use crate::oci::{Digest, Failure, Reference, Store};
use crate::rules;

/// The image key and the reference of an entry.
type Identity = (Arc<str>, Arc<str>);

/// What one key says of one entry: where the answer is from, and the answer.
type Answered = (Found, Result<signature::Proof, Failure>);

/// Verifies every entry that a key is known for: by the evidence that it has, else at the registry. What does not verify is not
/// locked; an entry that the lock had before stays, and the finding with it.
pub(super) fn prove(
    asks: &Asks,
    entries: &mut BTreeMap<Identity, LockedImage>,
    (wish, keyring): (&Wish<'_>, &Keyring),
    store: &dyn Store,
    run: &mut Run<'_>,
) {
    let mut answers: BTreeMap<Identity, Vec<(&PublicKey, Answered)>> = BTreeMap::new();
    let mut wanted: Vec<(Identity, &PublicKey)> = Vec::new();
    let mut questions: Vec<(Reference, Digest, PublicKey)> = Vec::new();
    for (identity, ask) in asks {
        let Some(image) = entries.get(identity) else {
            continue;
        };
        match &ask.signing {
            Signing::Unasked => run.unasked(ask, wish, entries),
            Signing::Unknown | Signing::Unusable => run.withdraw(ask, wish, entries),
            // It could not be fetched, which is reported.
            Signing::By(_) if image.lacks_evidence() => {}
            Signing::By(keys) => {
                let is_new = !run.is_kept(image);
                for key in keys {
                    let known = keyring.recheck(image, key).filter(|(verdict, _)| {
                        let settled = || run.accepts(ask, verdict, Found::Lock, wish).is_some();
                        matches!(verdict, Verdict::Good(_)) || !is_new && settled()
                    });
                    let reference = Reference::parse(&ask.reference);
                    match (known, reference) {
                        (Some(proof), _) => {
                            let answered = (Found::Lock, Ok(proof));
                            answers
                                .entry(identity.clone())
                                .or_default()
                                .push((key, answered));
                        }
                        (None, Ok(reference)) => {
                            questions.push((reference, image.digest.value.clone(), key.clone()));
                            wanted.push((identity.clone(), key));
                        }
                        (None, Err(_)) => {}
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
        if let Some(ask) = asks.get(&identity)
            && !run.settle_signatures(ask, answers, entries, wish)
        {
            run.withdraw(ask, wish, entries);
        }
    }
}

impl Run<'_> {
    /// Whether an entry is the old one, not one that was just asked for.
    fn is_kept(&self, image: &LockedImage) -> bool {
        let (key, reference) = image.identity();
        let known = self.old.get(key, reference);
        known.is_some_and(|known| known.digest.place == image.digest.place)
    }

    /// An entry without any key: what was verified once stays so, until this image is requested again.
    fn unasked(
        &mut self,
        ask: &Ask,
        wish: &Wish<'_>,
        entries: &mut BTreeMap<Identity, LockedImage>,
    ) {
        let Some(known) = self.old.get(&ask.key, &ask.reference) else {
            return;
        };
        if known.verified.is_empty() || wish.names(&ask.key) {
            return;
        }
        let spot = self.sources.resolve(known.digest.place);
        let finding = rules::signature_unchecked(known).at(spot, "locked here");
        self.out.findings.push(finding);
        self.withdraw(ask, wish, entries);
    }

    /// Why the policy accepts a verdict that is not good; none where it does not.
    fn accepts(
        &self,
        ask: &Ask,
        verdict: &Verdict,
        found: Found,
        wish: &Wish<'_>,
    ) -> Option<(RuleId, String)> {
        let finding = refused((&ask.key, &ask.reference), verdict, found);
        let reason = (wish.accepts)(&finding)?;
        Some((finding.rule, reason))
    }

    /// Writes what is proven into an entry. False where it is not to be locked.
    fn settle_signatures(
        &mut self,
        ask: &Ask,
        answers: Vec<(&PublicKey, Answered)>,
        entries: &mut BTreeMap<Identity, LockedImage>,
        wish: &Wish<'_>,
    ) -> bool {
        let mut verified = Vec::new();
        let mut found: Vec<Option<Witness>> = Vec::new();
        let mut accepted = Vec::new();
        let mut is_lockable = true;
        for (key, (place, answer)) in answers {
            let (verdict, witness) = match answer {
                Ok(proof) => proof,
                Err(failure) => {
                    self.fail(failure, ask);
                    is_lockable = false;
                    continue;
                }
            };
            found.push(witness);
            if let Verdict::Good(signature) = &verdict {
                verified.push(Verified {
                    key: key.fingerprint().as_str().into(),
                    form: signature.form.name().into(),
                });
                continue;
            }
            match self.accepts(ask, &verdict, place, wish) {
                Some((rule, reason)) => accepted.push(Accepted {
                    key: Arc::clone(&ask.key),
                    rule,
                    reason,
                }),
                None => is_lockable = false,
            }
            let finding = refused((&ask.key, &ask.reference), &verdict, place);
            self.out.findings.push(finding.at(ask.spot.clone(), ""));
        }
        if let Some(image) = entries.get_mut(&ask.identity()).filter(|_| is_lockable) {
            verified.sort();
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
    fn withdraw(&self, ask: &Ask, wish: &Wish<'_>, entries: &mut BTreeMap<Identity, LockedImage>) {
        let identity = ask.identity();
        let Some(known) = self.old.get(&identity.0, &identity.1) else {
            entries.remove(&identity);
            return;
        };
        let kept = ask.kept(known, &wish.architecture);
        entries.insert(identity, kept.unwrap_or_else(|| ask.unchanged(known)));
    }
}
