//! Signatures: nothing new is locked that does not verify where a key is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Ask, Asks, Run, Signing};
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{LockedImage, Verified};
use crate::model::place::Spot;
use crate::oci::{Digest, Failure, Reference, Store};
use crate::signature::{self, PublicKey, Verdict};

/// The image key and the reference of an entry.
type Identity = (Arc<str>, Arc<str>);

/// Verifies what is new, and what was not yet verified by the key that counts now. What does not verify is not locked; an
/// entry that stood in the lock before stays, and the finding with it.
pub(super) fn prove(
    asks: &Asks,
    entries: &mut BTreeMap<Identity, LockedImage>,
    store: &dyn Store,
    run: &mut Run<'_>,
) {
    let mut wanted: Vec<(&Ask, (Reference, Digest, PublicKey))> = Vec::new();
    for (identity, ask) in asks {
        let Some(image) = entries.get(identity) else {
            continue;
        };
        match &ask.signing {
            Signing::Unasked => {}
            Signing::Unusable => run.withdraw(identity, entries),
            Signing::By(key) if is_proven(image, key) => {}
            Signing::By(key) => {
                let digest = image.digest.value.clone();
                if let Ok(reference) = Reference::parse(&ask.reference) {
                    wanted.push((ask, (reference, digest, key.clone())));
                }
            }
        }
    }
    let (asks, questions): (Vec<&Ask>, Vec<_>) = wanted.into_iter().unzip();
    for (ask, answer) in asks.into_iter().zip(answers(store, &questions)) {
        let identity = ask.identity();
        match answer {
            Ok(Verdict::Good(signature)) => {
                if let Some(image) = entries.get_mut(&identity) {
                    image.verified = Some(Verified {
                        key: signature.fingerprint.as_str().into(),
                        form: signature.form.name().into(),
                    });
                }
            }
            Ok(verdict) => {
                let finding = unsigned(&ask.key, &ask.reference, &verdict, ask.spot.clone());
                run.out.findings.push(finding);
                run.withdraw(&identity, entries);
            }
            Err(failure) => {
                run.out.failures.push(failure);
                run.withdraw(&identity, entries);
            }
        }
    }
}

/// Asks nothing where nothing is wanted.
pub(super) fn answers(
    store: &dyn Store,
    questions: &[(Reference, Digest, PublicKey)],
) -> Vec<Result<Verdict, Failure>> {
    match questions.is_empty() {
        true => Vec::new(),
        false => signature::check(store, questions),
    }
}

/// What a verdict that is not good says.
pub(super) fn unsigned(
    key: &str,
    reference: &str,
    verdict: &Verdict,
    spot: Option<Spot>,
) -> Finding {
    let is_missing = matches!(verdict, Verdict::Missing | Verdict::NotASignature);
    let (rule, help) = if is_missing {
        (
            "signature-missing",
            "ask for a signed image, or set `security.os_images.skip_signing_check: true` to lock unsigned ones",
        )
    } else {
        (
            "signature-invalid",
            "compare the key with the publisher's; if it is right, do not use the image",
        )
    };
    let message = format!("`{reference}` is not trusted: {verdict}");
    Finding::new(rule, message)
        .about(Subject {
            image: Some(key.to_owned()),
            ..Subject::default()
        })
        .at(spot, "")
        .help(help)
}

fn is_proven(image: &LockedImage, key: &PublicKey) -> bool {
    let fingerprint = key.fingerprint().as_str();
    let verified = image.verified.as_ref();
    verified.is_some_and(|verified| *verified.key == *fingerprint)
}

impl Run<'_> {
    /// Puts the old entry back, or leaves a gap.
    fn withdraw(&self, identity: &Identity, entries: &mut BTreeMap<Identity, LockedImage>) {
        match self.old.get(&identity.0, &identity.1) {
            Some(known) => entries.insert(identity.clone(), known.clone()),
            None => entries.remove(identity),
        };
    }
}
