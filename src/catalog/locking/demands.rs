//! What the project demands of the origin of images (`policy.provenance`), with the keys and roots that it names, and what witnesses
//! prove of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::fact;
use oci_artifacts::evidence::Witness;
use oci_artifacts::signature::{
    Attested, Demand, Identity, Policy, PublicKey, Refusal, Signer, Subject, TrustedRoot,
};
use oci_artifacts::{Address, Reference};

use crate::model::finding::Finding;
use crate::model::lock::LockedImage;
use crate::model::policy;
use crate::model::provenance::{NamedSigner, SIGNER};
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
pub(super) struct Proven {
    /// Who signed, and where the image comes from: what the lock says of it.
    pub(super) words: BTreeMap<Arc<str>, Arc<str>>,
    /// The witnesses that prove it.
    pub(super) used: BTreeSet<Witness>,
}

impl Provenances {
    /// Reads the keys and roots; what cannot be read is reported. `text`: the text that a value names.
    pub fn load(
        policy: &policy::Policy,
        text: impl Fn(&str) -> Result<String, String>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let mut roots: BTreeMap<&str, Result<TrustedRoot, String>> = BTreeMap::new();
        let mut all = Vec::new();
        for demand in &policy.provenance {
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
                Ok(Signer::Key(key)) if policy.signatures.denied.contains(key.fingerprint()) => {
                    let message = format!(
                        "the key {} is denied by `denied-keys`, and has to have signed images here",
                        key.fingerprint()
                    );
                    let finding = Finding::new(RuleId::ProjectFile, message);
                    let help = "remove it from one of the two places";
                    findings.push(finding.with_label(demand.spot.clone(), "").help(help));
                }
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

    /// What some witnesses prove of an entry. `signing_name`: the reference that an image was signed as before it was copied.
    ///
    /// # Errors
    /// The demands that are not met.
    pub(super) fn judge(
        &self,
        image: &LockedImage,
        witnesses: &[Witness],
        signing_name: impl Fn(&Reference) -> Option<Reference>,
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
        let signed_as = signing_name(&of);
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
