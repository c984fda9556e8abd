//! Verifies and makes cosign's signatures, in the forms that cosign 2 and 3 store, and verifies its attestations.
//!
//! Two questions, both put to a [`Store`] and to what was kept of it: whether a key signed an artifact ([`prove`], [`recheck`]), as Sylva signs its images
//! (docs/sylva.md#signatures); and whether everything that a project demands of its origin is signed ([`find_witnesses`],
//! [`Policy::judge`]), under a key or under a certificate. A key proves who signed, and not when: logs and timestamps are for certificates.

mod annotated;
mod attestation;
mod bundle;
mod gather;
mod key;
mod keyless;
mod pattern;
mod payload;
mod predicate;
mod secret;
mod sign;
#[cfg(test)]
mod tests;
mod verdict;

pub use attestation::{Attested, Contents, Demand, Identity, Origin, Policy, Refusal, Signer};
pub use key::{KeyError, PublicKey};
pub use keyless::TrustedRoot;
pub use pattern::Pattern;
pub use secret::{SecretKeyError, SigningKey};
pub use sign::{SignatureForm, Signed, sign};
use verdict::Decision;
pub use verdict::Subject;
pub use verdict::{Form, Signature, Verdict};

use crate::evidence::Witness;
use crate::{Digest, Failure, Reference, Store};

use gather::Evidence;
pub use gather::Wanted;

/// A verdict and the signature that decided it, if it can be kept.
pub type Proof = (Verdict, Option<Witness>);

/// Whether a key signed the manifest of a digest under the name of a reference.
#[derive(Clone, Debug)]
pub struct Question {
    /// The original reference, not a mirror's: signatures name the repository that they were made in.
    pub of: Reference,
    /// The reference that it was signed as before it was copied, where the project says so.
    pub signed_as: Option<Reference>,
    /// The digest of the resolved manifest: nothing in a signature replaces it.
    pub digest: Digest,
    /// The key.
    pub key: PublicKey,
}

impl Question {
    /// What the question is about. `manifest`: the bytes of the digest.
    fn subject<'a>(&'a self, manifest: &'a str) -> Subject<'a> {
        Subject {
            of: &self.of,
            signed_as: self.signed_as.as_ref(),
            digest: &self.digest,
            manifest,
        }
    }
}

/// The verdict on one artifact.
///
/// # Errors
/// The store cannot be read.
pub fn check_one(store: &dyn Store, question: Question) -> Result<Verdict, Failure> {
    let verdict = check(store, std::slice::from_ref(&question)).pop();
    verdict.unwrap_or_else(|| Err(Failure::no_answer(&question.of)))
}

/// The verdicts on artifacts, in the order of the questions.
pub fn check(store: &dyn Store, questions: &[Question]) -> Vec<Result<Verdict, Failure>> {
    let proofs = prove(store, questions).into_iter();
    proofs
        .map(|proof| proof.map(|(verdict, _)| verdict))
        .collect()
}

/// The same, each with the signature that decided it.
///
/// Sends few requests: the tags `sha256-<hex>.sig` in one batch, their payloads in another; the referrers only of what is not
/// proven by then.
pub fn prove(store: &dyn Store, questions: &[Question]) -> Vec<Result<Proof, Failure>> {
    if questions.is_empty() {
        return Vec::new();
    }
    let targets: Vec<Wanted> = questions
        .iter()
        .map(|question| (question.of.clone(), question.digest.clone()))
        .collect();
    let mut found = gather::find_at_tags(store, &targets, "sig", gather::LIMIT);
    let open: Vec<usize> = (0..questions.len())
        .filter(|place| match &found[*place] {
            Ok(evidence) => {
                !judge(&questions[*place], evidence).is_ok_and(|(verdict, _)| verdict.is_proven())
            }
            // A store that does not answer is not queried again.
            Err(_) => false,
        })
        .collect();
    let left: Vec<Wanted> = open.iter().map(|place| targets[*place].clone()).collect();
    let referring = if left.is_empty() {
        Vec::new()
    } else {
        gather::referring(store, &left, gather::LIMIT)
    };
    for (place, more) in open.into_iter().zip(referring) {
        match (&mut found[place], more) {
            (Ok(evidence), Ok(more)) => evidence.extend(more),
            (evidence, more) => *evidence = more,
        }
    }
    let judged = |(question, found): (_, Result<Vec<Evidence>, Failure>)| judge(question, &found?);
    questions.iter().zip(found).map(judged).collect()
}

/// What signatures that were kept prove of the manifest with these bytes, and which of them decided it. Sends no request.
pub fn recheck(question: &Question, manifest: &str, witnesses: &[Witness]) -> Proof {
    let Question { digest, key, .. } = question;
    let claims = witnesses.iter().map(|witness| {
        let form = match witness {
            Witness::Referrer { .. } => Form::Referrer,
            Witness::Bundle { .. } => Form::Bundle,
            Witness::Tag { .. } | Witness::Certified { .. } | Witness::Malformed { .. } => {
                Form::Tag
            }
        };
        let claim = gather::claim(witness, key, digest, Some(manifest.as_bytes()));
        (form, claim)
    });
    let decision = verdict::decide(claims, question);
    let witness = decision.claim.and_then(|index| witnesses.get(index));
    (decision.verdict, witness.cloned())
}

/// The verdict on what was found. What could not be fetched fails it, unless something else is good.
fn judge(question: &Question, found: &[Evidence]) -> Result<Proof, Failure> {
    let Question { digest, key, .. } = question;
    let mut failed = None;
    let mut had = Vec::new();
    for evidence in found {
        match evidence.claim(key, digest) {
            Ok(claim) => had.push((evidence, claim)),
            Err(failure) => {
                failed.get_or_insert(failure);
            }
        }
    }
    let claims = had
        .iter()
        .map(|(evidence, claim)| (evidence.form, claim.clone()));
    let Decision { verdict, claim } = verdict::decide(claims, question);
    match failed {
        Some(failure) if !verdict.is_proven() => Err(failure),
        _ => {
            let decided = claim.and_then(|index| had.get(index));
            let witness = decided.and_then(|(evidence, _)| evidence.witness().cloned());
            Ok((verdict, witness))
        }
    }
}

/// Everything that a store has about an artifact that may be a signature or an attestation.
#[derive(Debug, Default)]
pub struct Witnesses {
    /// What can be kept.
    pub all: Vec<Witness>,
    /// What exists, and could not be fetched: none of it may be what is missing.
    pub failed: Option<Failure>,
    /// How many attestations are longer than [`LONGEST`], which are not kept.
    pub too_long: usize,
}

/// The longest attestation that is read, in bytes: what is kept beside a lock is read by every command.
pub const LONGEST: u64 = 1 << 20;

/// What a store has about artifacts: at cosign's tags for signatures and attestations, and among what refers to them.
pub fn find_witnesses(store: &dyn Store, wanted: &[Wanted]) -> Vec<Result<Witnesses, Failure>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let signatures = gather::find_at_tags(store, wanted, "sig", LONGEST);
    let attestations = gather::find_at_tags(store, wanted, "att", LONGEST);
    let referring = gather::referring(store, wanted, LONGEST);
    let found = signatures.into_iter().zip(attestations).zip(referring);
    found
        .map(|((signatures, attestations), referring)| {
            let mut out = Witnesses::default();
            for evidence in [signatures?, attestations?, referring?]
                .into_iter()
                .flatten()
            {
                evidence.collect(&mut out);
            }
            Ok(out)
        })
        .collect()
}
