//! The bytes that a reference names, and who signed them. A tag may move, so its digest has to be known from elsewhere.

use std::path::Path;

use oci_artifacts::signature::{self, PublicKey, Question, Verdict as Signatures};
use oci_artifacts::{Digest, Failure, Reference, Store as _};

use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::pipeline::fleet::Fleet;
use crate::read::Workspace;

use super::Run;

impl Run<'_> {
    /// The reference with its digest, or why it is not accepted, and the workspace with what is wrong in its lock. The digest is
    /// in the reference, or in the lock, or the registry's own where that is allowed.
    ///
    /// # Errors
    /// The lock or the registry cannot be read.
    pub(super) fn pin_reference(
        &self,
        workspace: Workspace,
        stores: &Stores,
        reference: &Reference,
        allow_tag: bool,
    ) -> Result<(Workspace, Result<Reference, Finding>), Error> {
        if reference.digest.is_some() {
            return Ok((workspace, Ok(reference.clone())));
        }
        let fleet = Fleet::open(workspace, self.today)?;
        let is_it = |written: &str| {
            let parsed = Reference::parse(written);
            parsed
                .is_ok_and(|it| it.name() == reference.name() && it.target() == reference.target())
        };
        let locked: Vec<&Digest> = fleet
            .lock()
            .images()
            .iter()
            .filter(|entry| is_it(&entry.reference.value))
            .map(|entry| &entry.digest.value)
            .collect();
        let pinned = match locked.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other == first) => {
                Ok(reference.with_digest(first))
            }
            _ => match (allow_tag, current(stores, reference)) {
                (true, current) => Ok(current?),
                (false, current) => Err(movable_tag_finding(reference, current.ok().as_ref())),
            },
        };
        Ok((fleet.workspace, pinned))
    }
}

fn movable_tag_finding(reference: &Reference, current: Option<&Reference>) -> Finding {
    let message =
        format!("`{reference}` names a tag, which may move, and the lock does not know it");
    let finding = Finding::new(RuleId::BundleUnpinned, message);
    match current {
        Some(current) => finding.help(format!(
            "write the digest that is meant; the tag names `{current}` now"
        )),
        None => finding.help("write the digest that is meant: `oci://…@sha256:…`"),
    }
}

/// The reference with the digest that it names now.
pub(super) fn current(stores: &Stores, reference: &Reference) -> Result<Reference, Failure> {
    if reference.digest.is_some() {
        return Ok(reference.clone());
    }
    Ok(reference.with_digest(&stores.manifest(reference)?.digest))
}

/// Whether the key of a file signed what a reference names by its digest: the clause that says so, or what is wrong.
///
/// # Errors
/// The registry cannot be read.
pub(super) fn check_signature(
    stores: &Stores,
    reference: &Reference,
    key: &PublicKey,
    file: &Path,
) -> Result<Result<String, Finding>, Error> {
    let Some(digest) = reference.digest.clone() else {
        return Err(Error::usage(format!("`{reference}` has no digest")));
    };
    let question = Question {
        of: reference.clone(),
        signed_as: stores.find_signing_name(reference),
        digest,
        key: key.clone(),
    };
    let verdict = signature::check_one(stores, question)?;
    let rule = match &verdict {
        Signatures::Good(signature) => {
            let form = signature.form.name();
            return Ok(Ok(format!("{verdict} ({form})")));
        }
        Signatures::Missing => RuleId::SignatureMissing,
        _ => RuleId::SignatureInvalid,
    };
    let message = format!(
        "`{reference}`, under the key `{}`: {verdict}",
        file.display()
    );
    Ok(Err(Finding::new(rule, message).help(
        "do not use it; or name the key that its publisher signs with",
    )))
}
