//! Checks the lock against the keys of the values without a network, as every gate does.
//!
//! Manifests and facts were compared when the lock was read ([`crate::catalog::sources`]); here the signatures are.

use std::collections::BTreeSet;

use capi::image::Image;
use oci_artifacts::signature::{PublicKey, Verdict};
use oci_artifacts::{Address, is_oci};

use super::demands::Provenances;
use super::signers::{self, Found, Keyring, Signing, refusal};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{LockedImage, Locking, SignedEntries, Verified, is_lockable};
use crate::model::lock_gaps::gaps;
use crate::model::rule::RuleId;
use crate::model::selection::Outcome;
use crate::model::signing::{KeyNamer, RequiredSignatures, TrustedKeys};
use crate::rules;

/// What a cluster's lock entries prove.
#[derive(Debug, Default)]
pub struct Trust {
    /// What is not proven.
    pub findings: Vec<Finding>,
    /// The entries that the keys apply to; the rules over the whole lock need those of all clusters.
    pub signed: SignedEntries,
}

/// Verifies the signature of every locked image of a cluster under the keys that its values name.
pub fn trust(
    view: &ClusterView,
    required: &RequiredSignatures,
    locking: Locking,
    keyring: &Keyring,
) -> Trust {
    let mut trust = Trust::default();
    let lock = view.lock.as_deref();
    let is_empty = lock.is_none_or(|lock| lock.images().is_empty());
    let provenances = keyring.provenances();
    if is_empty && required.is_empty() && provenances.is_empty() {
        return trust;
    }
    let signers = signers::signers(view, required, keyring);
    trust.findings.extend(signers.findings);
    let (mut unproven, mut missing) = (Vec::new(), Vec::new());
    for (image, _, signing) in signers.images {
        let uri = image.uri.as_ref().map(|uri| &uri.value);
        match lock.and_then(|lock| lock.get(&image.key, uri?)) {
            Some(entry) => trust.entry(entry, &signing, view, keyring, &mut unproven),
            None if covers(required, image) || uri.is_some_and(|uri| provenances.cover(uri)) => {
                missing.push(image);
            }
            None => {}
        }
    }
    let stale = rules::unproven(&unproven, &view.sources);
    trust.findings.extend(stale);
    if lock.is_none() {
        // Where a lock is required in any case, the rule of that says so.
        let known = gaps(view, locking).missing.into_iter();
        let known: BTreeSet<_> = known.map(|gap| &gap.image.key).collect();
        missing.retain(|image| !known.contains(&image.key));
        trust.findings.extend(missing_lock(view, &missing));
    }
    trust
        .findings
        .extend(address_findings(view, required, provenances));
    trust
}

/// Reports a missing lock if images have to be signed: nothing else proves the content of a tag.
fn missing_lock(view: &ClusterView, missing: &[&Image]) -> Option<Finding> {
    let first = missing.first()?;
    let keys: Vec<String> = missing.iter().map(|it| format!("`{}`", it.key)).collect();
    let message = format!(
        "the policy requires signatures, and there is no lock with those of {}",
        keys.join(", ")
    );
    let subject = Subject::cluster(&view.cluster.name);
    let finding = Finding::new(RuleId::LockMissingImage, message).with_subject(subject);
    Some(
        finding
            .with_label(view.sources.resolve(first.place), "")
            .help("run `metalmark lock` and commit the lock and its evidence"),
    )
}

impl Trust {
    fn entry<'a>(
        &mut self,
        entry: &'a LockedImage,
        signing: &Signing,
        view: &ClusterView,
        keyring: &Keyring,
        unproven: &mut Vec<&'a LockedImage>,
    ) {
        if *signing != Signing::Unrequired {
            self.signed.keyed.insert(entry.place().start);
        }
        // Of a key that is missing or cannot be used the finding is at the key.
        let Signing::By(demands) = signing else {
            return;
        };
        for demand in demands {
            match check_entry(entry, demand, keyring) {
                Proven::Good => {}
                Proven::WithoutEvidence => {
                    self.signed.unproven.insert(entry.place().start);
                    unproven.push(entry);
                }
                Proven::Not(finding) => {
                    let spot = view.sources.resolve(entry.digest.place);
                    self.findings.push(finding.with_label(spot, "locked here"));
                }
            }
        }
    }
}

/// What a lock entry proves under keys.
pub(super) enum Proven {
    /// As many of their holders signed it as have to.
    Good,
    /// It says so, and has no evidence.
    WithoutEvidence,
    /// Not that.
    Not(Box<Finding>),
}

/// Compares a lock entry with keys, by its evidence; where it has none, by what it says of itself.
pub(super) fn check_entry(entry: &LockedImage, demand: &TrustedKeys, keyring: &Keyring) -> Proven {
    let keys = demand.keys().iter();
    let proofs: Vec<Proven> = keys
        .map(|key| check_key(entry, key, demand.namer, keyring))
        .collect();
    let count = |wanted: fn(&Proven) -> bool| proofs.iter().filter(|proven| wanted(proven)).count();
    let good = count(|proven| matches!(proven, Proven::Good));
    let claimed = count(|proven| matches!(proven, Proven::WithoutEvidence));
    if good >= demand.threshold() {
        return Proven::Good;
    }
    if good + claimed >= demand.threshold() {
        return Proven::WithoutEvidence;
    }
    let refused = proofs.into_iter().filter_map(|proven| match proven {
        Proven::Not(finding) => Some(*finding),
        Proven::Good | Proven::WithoutEvidence => None,
    });
    match signers::join(refused, demand, good) {
        Some(finding) => Proven::Not(Box::new(finding)),
        None => Proven::WithoutEvidence,
    }
}

fn check_key(entry: &LockedImage, key: &PublicKey, namer: KeyNamer, keyring: &Keyring) -> Proven {
    let is_claimed = is_claimed(entry, key);
    let verdict = match keyring.recheck(entry, key) {
        Some((Verdict::Good(_), _)) if is_claimed => return Proven::Good,
        Some((Verdict::Good(_), _)) => {
            let (key, of) = (key.fingerprint(), &entry.key.value);
            let message = format!("the lock leaves out that `{of}` is signed by the key {key}");
            let subject = Subject::image(of);
            let finding = Finding::new(RuleId::LockTampered, message).with_subject(subject);
            let finding = finding
                .help("find out who edited the lock; `metalmark lock` writes the signer again");
            return Proven::Not(Box::new(finding));
        }
        Some((verdict, _)) => verdict,
        None if is_claimed => return Proven::WithoutEvidence,
        None if entry.verified.is_empty() => Verdict::Missing,
        None => Verdict::WrongKey,
    };
    let (key, reference) = entry.identity();
    let finding = refusal(key, reference, &verdict, Found::Lock, namer);
    Proven::Not(Box::new(finding))
}

/// Whether the entry says that the holder of a key signed it.
fn is_claimed(entry: &LockedImage, key: &PublicKey) -> bool {
    let fingerprint = key.fingerprint().as_str();
    let is_it = |verified: &Verified| *verified.key == *fingerprint;
    entry.verified.iter().any(is_it)
}

/// Images that machines boot although nothing proves who signed them, where the policy demands that: files of web servers, and what a
/// pool names by an address that is no image's.
fn address_findings(
    view: &ClusterView,
    required: &RequiredSignatures,
    provenances: &Provenances,
) -> Vec<Finding> {
    let demand = |address: Option<&Address>| match address {
        Some(address) if provenances.cover(address) && !required.cover(address) => {
            Some("policy.provenance")
        }
        Some(address) => required.cover(address).then_some("policy.signatures"),
        None => { required.everywhere.as_ref() }.map(|_| "policy.signatures"),
    };
    let finding = |message: String, image: Option<&Image>, place, help| {
        let subject = Subject {
            image: image.map(|image| image.key.to_string()),
            ..Subject::cluster(&view.cluster.name)
        };
        let finding = Finding::new(RuleId::SignatureUnchecked, message).with_subject(subject);
        finding
            .with_label(view.sources.resolve(place), "")
            .help(help)
    };
    let of_server = |what: String, demand: &str| {
        format!(
            "`{demand}` requires signatures, and nothing can sign {what}: it is not an OCI artifact"
        )
    };
    let mut findings = Vec::new();
    if required.is_empty() && provenances.is_empty() {
        return findings;
    }
    let used = view.images.values().filter(|image| !is_lockable(image));
    for image in used.filter(|image| view.is_used(&image.key)) {
        // What is demanded of the origin of a file is compared with its entry of the lock.
        if covers(required, image) {
            let message = of_server(format!("image `{}`", image.key), "policy.signatures");
            findings.push(finding(message, Some(image), image.place, PUBLISH));
        }
    }
    for SelectedPool {
        pool, selection, ..
    } in view.pools()
    {
        let Outcome::Explicit(known) = &selection.outcome else {
            continue;
        };
        let url = pool.choice.url.as_ref();
        let address = url.map(|url| Address::new(&*url.value));
        let image = known.as_ref().and_then(|key| view.images.get(key));
        // What boots is that image, whose entry of the lock is checked.
        let is_locked = image.is_some_and(|image| {
            let uri = image.uri.as_ref().map(|uri| &uri.value);
            is_lockable(image) && uri.is_some() && uri == address.as_ref()
        });
        let Some(demand) = demand(address.as_ref()).filter(|_| !is_locked) else {
            continue;
        };
        let what = format!("the address that node pool `{}` boots", pool.name);
        let (message, help) = match address.filter(|it| is_oci(it)) {
            Some(_) => (
                format!(
                    "`{demand}` requires signatures, and the lock cannot have those of {what}: no image lies there"
                ),
                DESCRIBE,
            ),
            None => (of_server(what, demand), PUBLISH),
        };
        let place = url.map_or(pool.place, |url| url.place);
        findings.push(finding(message, None, place, help));
    }
    findings
}

/// What to do about a file of a web server.
const PUBLISH: &str =
    "publish the image in a registry, sign it with `cosign sign`, and name it by `oci://…`";

/// What to do about an artifact that is no image of the project.
const DESCRIBE: &str = "describe the image, with this address as its `uri`, in the catalog or in `images.records`, and run `metalmark lock`";

fn covers(required: &RequiredSignatures, image: &Image) -> bool {
    match &image.uri {
        Some(uri) => required.cover(&uri.value),
        None => required.everywhere.is_some(),
    }
}
