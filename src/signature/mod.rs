//! Was this artifact signed by the holder of a key? And to sign it. Cosign's signatures with a key pair, in the forms that
//! cosign 2 and 3 store them, as Sylva signs its images (S19): without a transparency log.
//!
//! Bytes in, verdict out; where the bytes lie is a [`Store`]'s affair. Never asks a transparency log or a certificate
//! authority: a key proves who signed, and not when.

mod bundle;
mod encrypted;
mod gather;
mod key;
mod payload;
mod secret;
mod sign;
#[cfg(test)]
mod tests;
mod verdict;

pub use key::{KeyError, PublicKey};
pub use secret::{SecretKeyError, SigningKey};
pub use sign::{SignatureForm, Signed, sign};
pub use verdict::{Form, Signature, Verdict};

use crate::oci::{Digest, Failure, Reference, Store};

use gather::{Evidence, Wanted};

/// What the signatures of artifacts come to, each under its key, in the order asked. The digests are those of the manifests
/// that were resolved: nothing that a signature says of itself replaces them. The references are the originals, not a
/// mirror's: signatures name the repository that they were made in.
///
/// Few questions: the tags `sha256-<hex>.sig` in one batch, their payloads in another; the referrers only of what is not
/// proven by then.
pub fn check(
    store: &dyn Store,
    wanted: &[(Reference, Digest, PublicKey)],
) -> Vec<Result<Verdict, Failure>> {
    let targets: Vec<Wanted> = wanted
        .iter()
        .map(|(reference, digest, _)| (reference.clone(), digest.clone()))
        .collect();
    let mut found = gather::at_tags(store, &targets);
    let open: Vec<usize> = (0..wanted.len())
        .filter(|place| match &found[*place] {
            Ok(evidence) => !judge(&wanted[*place], evidence).is_ok_and(|found| found.is_proven()),
            // Who does not answer is not asked again.
            Err(_) => false,
        })
        .collect();
    let left: Vec<Wanted> = open.iter().map(|place| targets[*place].clone()).collect();
    let referring = match left.is_empty() {
        true => Vec::new(),
        false => gather::referring(store, &left),
    };
    for (place, more) in open.into_iter().zip(referring) {
        match (&mut found[place], more) {
            (Ok(evidence), Ok(more)) => evidence.extend(more),
            (evidence, more) => *evidence = more,
        }
    }
    let judged = |(wanted, found): (_, Result<Vec<Evidence>, Failure>)| judge(wanted, &found?);
    wanted.iter().zip(found).map(judged).collect()
}

/// The verdict of what was found. What could not be had fails it, unless something else is good.
fn judge(
    (reference, digest, key): &(Reference, Digest, PublicKey),
    found: &[Evidence],
) -> Result<Verdict, Failure> {
    let mut failed = None;
    let claims = found.iter().filter_map(|evidence| {
        let claim = evidence.claim(key, digest).map_err(|failure| {
            failed.get_or_insert(failure);
        });
        Some((evidence.form, claim.ok()?))
    });
    let verdict = verdict::of(claims, reference, key.fingerprint());
    match failed {
        Some(failure) if !verdict.is_proven() => Err(failure),
        _ => Ok(verdict),
    }
}
