//! Determines which keys must have signed each image: the keys that the values name, and what the project requires.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use capi::image::Image;
use oci_artifacts::evidence::Witness;
use oci_artifacts::signature::{self, PublicKey, Verdict};
use oci_artifacts::{Address, Digest, Reference};
use parking_lot::Mutex;

use super::RequirementKind;
use super::demands::Provenances;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::lock::{LockedImage, is_lockable};
use crate::model::rule::RuleId;
use crate::model::signing::{
    KeyNamer, NamedKey, RequiredSignatures, SignatureDemand, TrustedKeys, own_key,
};

/// Who has to have signed an image. Of two, the one that trusts less counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Nobody: no key is known, or the values say not to look.
    Unrequired,
    /// The holders of keys that clusters or the project file name: of each set the number that it requires.
    By(Vec<TrustedKeys>),
    /// Somebody, because the project requires it, and the values name no key: nothing can be proven.
    Unknown,
    /// The holder of a key that cannot be used: nothing can be proven.
    Unusable,
}

impl Signing {
    /// What two clusters demand together.
    pub(super) fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::By(keys), Self::By(more)) => {
                let is_new = |demand: &TrustedKeys| !keys.contains(demand);
                let more: Vec<TrustedKeys> = more.into_iter().filter(is_new).collect();
                keys.extend(more);
                keys.sort_by(|a, b| a.order(b));
            }
            (known, other) => {
                if other.rank() > known.rank() {
                    *self = other;
                }
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Unrequired => 0,
            Self::By(_) => 1,
            Self::Unknown => 2,
            Self::Unusable => 3,
        }
    }
}

/// Public keys and what signatures in the lock prove under them, each read and verified once a run.
pub struct Keyring {
    text: Box<TextOf>,
    signed_as: Box<SignedAs>,
    provenances: Provenances,
    keys: Mutex<HashMap<Arc<str>, Result<PublicKey, String>>>,
    verdicts: Mutex<HashMap<Question, signature::Proof>>,
}

/// The PEM text of a key that values name: itself, or a file's.
type TextOf = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// The other name under which an artifact may have been signed.
type SignedAs = dyn Fn(&Reference) -> Option<Reference> + Send + Sync;

/// A reference, the digest that it is locked to, and a key's fingerprint.
type Question = (Address, Digest, Digest);

impl Keyring {
    /// None yet. `text` gives the PEM text of a key that values name, `signed_as` the other name that signatures may have.
    pub fn new(
        text: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
        signed_as: impl Fn(&Reference) -> Option<Reference> + Send + Sync + 'static,
    ) -> Self {
        Self {
            text: Box::new(text),
            signed_as: Box::new(signed_as),
            provenances: Provenances::default(),
            keys: Mutex::default(),
            verdicts: Mutex::default(),
        }
    }

    /// The same, with what the project demands of the origin of images.
    pub fn with_provenances(self, provenances: Provenances) -> Self {
        Self {
            provenances,
            ..self
        }
    }

    pub(super) fn provenances(&self) -> &Provenances {
        &self.provenances
    }

    /// The reference that an artifact was signed as before it was copied, where the project says so.
    pub(super) fn find_signing_name(&self, of: &Reference) -> Option<Reference> {
        (self.signed_as)(of)
    }

    fn key(&self, named: &Arc<str>) -> Result<PublicKey, String> {
        let known = || self.keys.lock();
        if let Some(known) = known().get(named) {
            return known.clone();
        }
        let pem = (self.text)(named);
        let read = pem.and_then(|pem| PublicKey::read(&pem).map_err(|error| error.to_string()));
        known().insert(Arc::clone(named), read.clone());
        read
    }

    /// Whether a key signed what an entry is locked to; none of an entry that is in no registry.
    pub(super) fn question(
        &self,
        image: &LockedImage,
        key: &PublicKey,
    ) -> Option<signature::Question> {
        let of = Reference::parse(&image.reference.value).ok()?;
        Some(signature::Question {
            signed_as: self.find_signing_name(&of),
            of,
            digest: image.digest.value.clone(),
            key: key.clone(),
        })
    }

    /// What the evidence of a lock entry proves under a key; none where it has no evidence.
    pub(super) fn recheck(&self, image: &LockedImage, key: &PublicKey) -> Option<signature::Proof> {
        let evidence = image.evidence.as_ref()?;
        let question = (
            image.reference.value.clone(),
            image.digest.value.clone(),
            key.fingerprint().clone(),
        );
        let known = || self.verdicts.lock();
        if let Some(known) = known().get(&question) {
            return Some(known.clone());
        }
        let query = self.question(image, key)?;
        let proof = signature::recheck(&query, &evidence.manifest, &evidence.signatures);
        known().insert(question, proof.clone());
        Some(proof)
    }
}

/// Who has to have signed the images of a cluster.
pub(super) struct Signers<'a> {
    /// Every image and component bundle that can be locked.
    pub(super) images: Vec<(&'a Image, RequirementKind, Signing)>,
    /// What is wrong with the keys themselves, and what is required and not named.
    pub(super) findings: Vec<Finding>,
}

/// Evaluates who has to have signed a cluster's images.
pub(super) fn signers<'a>(
    view: &'a ClusterView,
    required: &RequiredSignatures,
    keyring: &Keyring,
) -> Signers<'a> {
    let mut faults = Faults {
        view,
        findings: Vec::new(),
    };
    let images = view
        .images
        .values()
        .map(|image| (image, RequirementKind::Image));
    let bundles = view.bundles.values();
    let all = images.chain(bundles.map(|bundle| (bundle, RequirementKind::Bundle)));
    let all = all.filter(|(image, _)| is_lockable(image));
    let images = all.map(|(image, kind)| {
        let demand = image.uri.as_ref();
        let demand = demand.and_then(|uri| required.demand(&uri.value));
        if let Some(SignatureDemand::Keys(keys)) = demand {
            return (image, kind, Signing::By(vec![keys.clone()]));
        }
        // Whose certificate signs is no matter of keys that values name.
        let is_certified = |uri: &Address| keyring.provenances().demand_signature(uri);
        let demand =
            demand.filter(|_| { image.uri.as_ref() }.is_some_and(|uri| !is_certified(&uri.value)));
        let skips = view.signing.skip && demand.is_none();
        let signing = match view.signing.find_key(image).filter(|_| !skips) {
            None if demand.is_some() => {
                faults.report_missing_key(image);
                Signing::Unknown
            }
            None => Signing::Unrequired,
            Some(named @ NamedKey::Failed(_)) => {
                faults.unusable(image, &named, "its value cannot be evaluated");
                Signing::Unusable
            }
            Some(NamedKey::Text(text)) => match keyring.key(&text.value) {
                Ok(key) if required.denied.contains(key.fingerprint()) => {
                    let reason = "the project file denies it: `policy.denied-keys`";
                    faults.unusable(image, &NamedKey::Text(text), reason);
                    Signing::Unusable
                }
                Ok(key) => Signing::By(vec![TrustedKeys::new(vec![key], 1, KeyNamer::Values)]),
                Err(reason) => {
                    faults.unusable(image, &NamedKey::Text(text), &reason);
                    Signing::Unusable
                }
            },
        };
        (image, kind, signing)
    });
    Signers {
        images: images.collect(),
        findings: faults.findings,
    }
}

/// Findings about keys, one for each image, so that a waiver reaches it. Those of images that share a key say the same at the
/// same place, and are shown once.
struct Faults<'a> {
    view: &'a ClusterView,
    findings: Vec<Finding>,
}

impl Faults<'_> {
    /// The images whose key is the same one, in words.
    fn whose(image: &Image) -> String {
        let is_shared = image.built && own_key(image).is_none();
        let of = image.registry.as_ref().filter(|_| is_shared);
        of.map_or(format!("image `{}`", image.key), |name| {
            format!("registry `{name}`")
        })
    }

    fn subject(&self, image: &Image) -> Subject {
        Subject {
            image: Some(image.key.to_string()),
            ..Subject::cluster(&self.view.cluster.name)
        }
    }

    fn unusable(&mut self, image: &Image, named: &NamedKey, reason: &str) {
        let of = Self::whose(image);
        let message =
            format!("the key that images of {of} are signed with cannot be used: {reason}");
        let finding = Finding::new(RuleId::SignatureInvalid, message)
            .with_subject(Subject::cluster(&self.view.cluster.name))
            .with_label(self.view.sources.resolve(named.place()), "")
            .help("write the PEM text that `cosign generate-key-pair` left in cosign.pub, or the path of that file");
        self.findings.push(finding);
    }

    fn report_missing_key(&mut self, image: &Image) {
        let of = Self::whose(image);
        let registry = image.registry.as_ref().filter(|_| image.built);
        let registry = registry.and_then(|name| self.view.registries.get(name));
        let place = registry.map_or(image.place, |registry| registry.place);
        let message = format!(
            "`policy.signatures` requires signatures, and the values name no key for images of {of}"
        );
        let finding = Finding::new(RuleId::SignatureUnchecked, message)
            .with_subject(self.subject(image))
            .with_label(self.view.sources.resolve(place), "")
            .help(NAME_KEY);
        self.findings.push(finding);
    }
}

/// That a signature is not good, and what to do about it. `found`: where the answer is from.
pub(super) fn refusal(
    key: &str,
    reference: &str,
    verdict: &Verdict,
    found: Found,
    namer: KeyNamer,
) -> Finding {
    let (rule, help) = advice(verdict, found);
    let message = match (verdict, found) {
        (Verdict::Missing, Found::Lock) => {
            format!(
                "`{reference}` is not trusted: the lock has no signature of it under the key of {}",
                namer.words()
            )
        }
        _ => format!("`{reference}` is not trusted: {verdict}"),
    };
    let subject = Subject::image(key);
    Finding::new(rule, message).with_subject(subject).help(help)
}

/// Where signatures were looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// In the lock's evidence.
    Lock,
    /// At the registry.
    Registry,
}

/// What to do where no key is named.
const NAME_KEY: &str = "name the key of its publisher: `cosign_publickey` in the values, or `policy.signatures` in the project file";

/// What is wrong with an image that too few keys signed: of the findings about each key, the one that says most.
pub(super) fn join(
    refused: impl Iterator<Item = Finding>,
    demand: &TrustedKeys,
    good: usize,
) -> Option<Finding> {
    // Of a key that did not sign, the rest of the set says more.
    let mut finding = refused.max_by_key(|finding| match finding.rule {
        RuleId::SignatureMissing => 0,
        RuleId::SignatureInvalid => 1,
        _ => 2,
    })?;
    finding.message += &demand.count_in_words(good);
    Some(finding)
}

/// The rule of a verdict that is not good, and what to do.
fn advice(verdict: &Verdict, found: Found) -> (RuleId, &'static str) {
    match (verdict, found) {
        (Verdict::Missing, Found::Lock) => (
            RuleId::SignatureMissing,
            "run `metalmark lock`: it looks for the signature, and locks nothing that is not signed",
        ),
        (Verdict::Missing | Verdict::Good(_), Found::Registry)
        | (Verdict::Good(_), Found::Lock) => (
            RuleId::SignatureMissing,
            "have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`",
        ),
        (Verdict::NotASignature, _) => (
            RuleId::SignatureMissing,
            "have the image itself signed: `cosign sign`; an attestation is not a release",
        ),
        (Verdict::OtherImage(_), _) => (
            RuleId::ArtifactOtherImage,
            "the key is right: compare the two names; where images are copied on purpose, name the prefix that they were signed below: \
             `registries: {signed-as: {PREFIX: PREFIX}}` in the project file",
        ),
        (Verdict::OtherDigest(_), _) => (
            RuleId::SignatureInvalid,
            "the key is right, and the image is not the one that was signed: do not use it; find out who put the signature there",
        ),
        (Verdict::Certified(_), _) => (
            RuleId::SignatureInvalid,
            "if that is its publisher, demand it in the project file instead of a key: \
             `policy: {provenance: [{images: PREFIX, identity: …, issuer: …, trusted-root: FILE}]}`",
        ),
        (Verdict::Malformed(_), _) => (
            RuleId::SignatureInvalid,
            "have the image signed again: `cosign sign`",
        ),
        (Verdict::WrongKey, Found::Lock) => (
            RuleId::SignatureInvalid,
            "if it is the right key, run `metalmark lock`: it looks for a signature of that key",
        ),
        (Verdict::WrongKey | Verdict::PayloadAltered, _) => (
            RuleId::SignatureInvalid,
            "compare the key with the publisher's; if it is right, do not use the image",
        ),
    }
}

/// The signatures that decided some verdicts, each once.
pub(super) fn witnesses(all: impl IntoIterator<Item = Option<Witness>>) -> Vec<Witness> {
    let all: BTreeSet<Witness> = all.into_iter().flatten().collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Keyring, NAME_KEY, signers};
    use crate::model::signing::{RequiredSignatures, SignatureDemand};
    use crate::testing::{Given, printed};

    #[test]
    fn a_key_is_read_once_a_run() {
        let reads = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&reads);
        let text = move |_: &str| {
            counted.fetch_add(1, Ordering::Relaxed);
            Err("gone".to_owned())
        };
        let keyring = Keyring::new(text, |_| None);
        for _ in 0..2 {
            assert_eq!(keyring.key(&"a.pub".into()), Err("gone".to_owned()));
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_required_key_is_missed_once_a_registry_and_at_each_image_of_the_user() {
        let mut given = Given::new();
        given.registry("lab", true);
        given.declared("mine", &[]);
        for key in ["mine", "noble-a", "noble-b"] {
            given.image(key, &[]).registry = Some("lab".into());
        }
        let keyring = Keyring::new(|_| Err(String::new()), |_| None);
        let view = given.finished();
        let found = signers(
            &view,
            &RequiredSignatures::from_demand(SignatureDemand::Signed),
            &keyring,
        )
        .findings;
        let mut found: Vec<String> = found.iter().map(printed).collect();
        let missed = |of: &str, line: &str| {
            format!(
                "`policy.signatures` requires signatures, and the values name no key for images of {of}\n  \
                 {line}: \n  help: {NAME_KEY}\n"
            )
        };
        let expected = [
            missed("image `mine`", "image: mine"),
            missed("registry `lab`", "registry: lab"),
        ];
        found.dedup();
        assert_eq!(found, expected);
    }
}
