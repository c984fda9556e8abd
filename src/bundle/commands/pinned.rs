//! Which bytes a reference stands for: a tag may move, so that its digest has to be known from elsewhere.

use std::path::PathBuf;

use crate::artifacts::signature::{self, PublicKey, Verdict as Signatures};
use crate::catalog::sources::Stores;
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::oci::{Digest, Failure, FailureKind, Manifest, Reference, Store as _};
use crate::read::Workspace;

use super::failed;
use crate::pipeline::fleet;

/// Whether a tag is taken for what it stands for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// No: its digest is typed, or the lock has it.
    Refuse,
    /// Yes.
    Allow,
}

/// The reference with the digest that it stands for, or why it is not taken (R3). The digest is typed, or the lock's, or the
/// registry's own where that is allowed.
///
/// # Errors
/// The lock or the registry cannot be asked.
pub(super) fn pinned(
    workspace: &mut Workspace,
    stores: &Stores,
    reference: &Reference,
    tags: Tags,
    today: Date,
) -> Result<Result<Reference, Finding>, Error> {
    if reference.digest.is_some() {
        return Ok(Ok(reference.clone()));
    }
    let tools = fleet::tools(workspace, today)?;
    let is_it = |written: &str| {
        let parsed = Reference::parse(written);
        parsed.is_ok_and(|it| it.name() == reference.name() && it.target() == reference.target())
    };
    let locked: Vec<&Digest> = tools
        .lock()
        .images()
        .iter()
        .filter(|entry| is_it(&entry.reference.value))
        .map(|entry| &entry.digest.value)
        .collect();
    if let [first, others @ ..] = locked.as_slice()
        && others.iter().all(|other| other == first)
    {
        return Ok(Ok(reference.at(first)));
    }
    let now = manifest(stores, reference).map(|manifest| manifest.digest);
    match (tags, now) {
        (Tags::Allow, now) => Ok(Ok(reference.at(&now.map_err(failed)?))),
        (Tags::Refuse, now) => Ok(Err(unpinned(reference, now.ok().as_ref()))),
    }
}

fn unpinned(reference: &Reference, now: Option<&Digest>) -> Finding {
    let message =
        format!("`{reference}` names a tag, which may move, and the lock does not know it");
    let finding = Finding::new(RuleId::BundleUnpinned, message);
    match now {
        Some(now) => finding.help(format!(
            "write the digest that is meant; it stands for `{}` now",
            reference.at(now)
        )),
        None => finding.help("write the digest that is meant: `oci://…@sha256:…`"),
    }
}

/// The manifest that a reference names.
pub(super) fn manifest(stores: &Stores, reference: &Reference) -> Result<Manifest, Failure> {
    let found = stores.manifests(std::slice::from_ref(reference)).pop();
    found.unwrap_or_else(|| {
        let message = "it was not asked for";
        Err(Failure::new(reference, FailureKind::Unreachable, message))
    })
}

/// Whether the key signed what a reference names by its digest: the clause that says so, or what is wrong.
///
/// # Errors
/// The registry cannot be asked.
pub(super) fn signed(
    stores: &Stores,
    reference: &Reference,
    key: (&PublicKey, &PathBuf),
) -> Result<Result<String, Finding>, Error> {
    let Some(digest) = reference.digest.clone() else {
        let message = format!("`{reference}` has no digest");
        return Err(Error::Usage { message });
    };
    let wanted = [(reference.clone(), digest, key.0.clone())];
    let Some(verdict) = signature::check(stores, &wanted).pop() else {
        let message = format!("`{reference}` was not asked for");
        return Err(Error::Usage { message });
    };
    let verdict = verdict.map_err(failed)?;
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
        key.1.display()
    );
    let finding = Finding::new(rule, message);
    Ok(Err(finding.help(
        "do not use it; or name the key that its publisher signs with",
    )))
}
