//! What has to be signed of an artifact, by whom, and what the signatures and attestations that were found prove of it.
//!
//! One pure function, [`Policy::judge`]: a run that locks an artifact judges what its registry has, and every gate judges the evidence
//! that was kept of it. Nothing of a witness is used before its signature is proven, but for the reason of a refusal.

use std::fmt;

use serde_json::Value;

use crate::evidence::Witness;

use super::bundle::{Bundle, PREDICATE};
use super::gather;
use super::key::PublicKey;
use super::keyless::{Certificate, TrustedRoot};
use super::pattern::Pattern;
use super::payload;
use super::predicate::{Provenance, STATEMENT, Statement, field, repository_name};
use super::verdict::{Claim, Subject, Verdict, is_named};

/// What somebody has to have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Who.
    pub signer: Signer,
    /// What: all of these.
    pub demands: Vec<Demand>,
}

/// Who has to have signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signer {
    /// The holder of a key.
    Key(PublicKey),
    /// The holder of a certificate for an identity.
    Certified(Identity),
}

/// An identity in certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The URI or e-mail address of the certificate's subject.
    pub subject: Pattern,
    /// Who identified it, exactly.
    pub issuer: String,
    /// What the certificate and its time are proven with.
    pub root: TrustedRoot,
}

/// One thing that has to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The artifact itself, as `cosign sign` does it.
    Signature,
    /// SLSA's provenance, which says this. What is none may be anything.
    Provenance {
        /// The builder's id.
        builder: Option<Pattern>,
        /// The repository that was built from.
        source: Option<Pattern>,
        /// The branch or tag, such as `refs/tags/*`.
        reference: Option<Pattern>,
    },
    /// A list of contents.
    Contents(Contents),
    /// An attestation of this type whose fields say this, by the names that lead to them.
    Predicate {
        /// The type, exactly.
        kind: String,
        /// Fields by path, with dots in between.
        fields: Vec<(String, Pattern)>,
    },
}

/// The form of a list of contents (SBOM).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Either.
    Any,
    /// SPDX.
    Spdx,
    /// CycloneDX.
    CycloneDx,
}

/// That all demands are met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attested {
    /// Who signed: the subject and issuer of a certificate, the fingerprint of a key.
    pub signer: String,
    /// Where the artifact comes from, as far as anything that was demanded says so.
    pub origin: Origin,
    /// The witnesses that prove it, by their numbers; sorted, each once.
    pub used: Vec<usize>,
}

/// Where an artifact comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The repository that it was built from.
    pub source: Option<String>,
    /// The commit.
    pub revision: Option<String>,
    /// Who built it: the builder's id, or the build configuration that a certificate names.
    pub builder: Option<String>,
}

/// Why a demand is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was demanded, as a noun.
    pub demand: String,
    /// Why nothing that was found is it; none where nothing was found.
    pub reason: Option<String>,
}

/// A witness whose signature is proven.
struct Opened {
    content: What,
    /// Who signed, where that is a certificate.
    certificate: Option<Certificate>,
}

enum What {
    /// The artifact itself; with the name that it was signed under.
    Signature(Option<String>),
    Attestation(Statement),
}

impl Policy {
    /// What the witnesses prove of an artifact. Sends no request.
    ///
    /// # Errors
    /// The demands that are not met.
    pub fn judge(
        &self,
        subject: &Subject<'_>,
        witnesses: &[Witness],
    ) -> Result<Attested, Vec<Refusal>> {
        let opened: Vec<Result<Opened, String>> = witnesses
            .iter()
            .map(|witness| self.signer.open(witness, subject))
            .collect();
        let mut attested = Attested::default();
        let mut refusals = Vec::new();
        for demand in &self.demands {
            match find(demand, &opened, subject) {
                Ok(found) => attested.learn(found, &opened, &self.signer),
                Err(reason) => refusals.push(Refusal {
                    demand: demand.to_string(),
                    reason,
                }),
            }
        }
        if refusals.is_empty() {
            Ok(attested)
        } else {
            Err(refusals)
        }
    }
}

/// What meets a demand.
struct Found {
    /// The witness.
    place: usize,
    /// Where the artifact comes from, where that was demanded.
    provenance: Option<Provenance>,
}

/// The first witness that meets a demand.
///
/// # Errors
/// Why the one that comes nearest does not; none where there is none.
fn find(
    demand: &Demand,
    opened: &[Result<Opened, String>],
    subject: &Subject<'_>,
) -> Result<Found, Option<String>> {
    let (mut unfit, mut refused) = (None, None);
    for (place, opened) in opened.iter().enumerate() {
        match opened {
            Ok(opened) => match demand.compare(opened, subject) {
                Some(Ok(provenance)) => return Ok(Found { place, provenance }),
                Some(Err(reason)) => unfit = unfit.or(Some(reason)),
                None => {}
            },
            Err(reason) => refused = refused.or_else(|| Some(reason.clone())),
        }
    }
    Err(unfit.or(refused))
}

impl Attested {
    fn learn(&mut self, found: Found, opened: &[Result<Opened, String>], signer: &Signer) {
        if let Err(at) = self.used.binary_search(&found.place) {
            self.used.insert(at, found.place);
        }
        let witness = opened.get(found.place).and_then(|it| it.as_ref().ok());
        let certificate = witness.and_then(|it| it.certificate.as_ref());
        if self.signer.is_empty() {
            self.signer = match (certificate, signer) {
                (Some(certificate), _) => {
                    format!("{} (issuer {})", certificate.subject, certificate.issuer)
                }
                (None, Signer::Key(key)) => key.fingerprint().to_string(),
                (None, Signer::Certified(_)) => String::new(),
            };
        }
        // Provenance says it more exactly than the certificate of a signer.
        if let Some(provenance) = found.provenance {
            self.origin = Origin {
                source: provenance.source,
                revision: provenance.revision,
                builder: provenance.builder,
            };
        } else if let Some(certificate) = certificate
            && self.origin == Origin::default()
        {
            self.origin = Origin {
                source: certificate.source.as_deref().map(repository_name),
                revision: certificate.revision.clone(),
                builder: certificate.builder.clone(),
            };
        }
    }
}

impl Signer {
    /// A witness whose signature is this signer's and about the subject.
    ///
    /// # Errors
    /// Why it is not, in one clause.
    fn open(&self, witness: &Witness, subject: &Subject<'_>) -> Result<Opened, String> {
        match self {
            Self::Key(key) => Ok(Opened {
                content: open_with_key(key, witness, subject)?,
                certificate: None,
            }),
            Self::Certified(identity) => identity.open(witness, subject),
        }
    }
}

fn open_with_key(
    key: &PublicKey,
    witness: &Witness,
    subject: &Subject<'_>,
) -> Result<What, String> {
    let manifest = subject.manifest.as_bytes();
    let Witness::Bundle { bundle } = witness else {
        return match gather::claim(witness, key, subject.digest, Some(manifest)) {
            Claim::Good(identity) => Ok(What::Signature(identity)),
            Claim::Bad(flaw) => Err(Verdict::from(flaw).to_string()),
        };
    };
    let bundle = Bundle::read(bundle.as_bytes())?;
    if !bundle.is_signed_by(key, manifest) {
        return Err(format!("it is not signed by the key {}", key.fingerprint()));
    }
    What::read(&bundle, subject)
}

impl Identity {
    fn open(&self, witness: &Witness, subject: &Subject<'_>) -> Result<Opened, String> {
        let (certificate, content) = match witness {
            Witness::Bundle { bundle } => {
                let certificate = self.root.verify(bundle, subject.manifest.as_bytes())?;
                let bundle = Bundle::read(bundle.as_bytes())?;
                (certificate, What::read(&bundle, subject)?)
            }
            Witness::Certified { payload, bundle } => {
                let certificate = self.root.verify(bundle, payload.as_bytes())?;
                // An attestation about the payload would be no signature of it.
                if !Bundle::read(bundle.as_bytes())?.signs_bytes() {
                    return Err("its bundle holds no signature of its payload".to_owned());
                }
                let image = payload::read(payload.as_bytes())?;
                if image.digest != subject.digest.as_str() {
                    return Err(format!("it is about another digest: {}", image.digest));
                }
                (certificate, What::Signature(image.name))
            }
            Witness::Tag { .. } | Witness::Referrer { .. } => {
                return Err("it is signed by a key, and under no certificate".to_owned());
            }
            Witness::Malformed { reason } => return Err(reason.to_string()),
        };
        if !self.subject.matches(&certificate.subject) || self.issuer != certificate.issuer {
            return Err(format!("it was signed by {certificate}"));
        }
        Ok(Opened {
            content,
            certificate: Some(certificate),
        })
    }
}

impl What {
    /// What a bundle signs, whose signature is proven.
    fn read(bundle: &Bundle, subject: &Subject<'_>) -> Result<Self, String> {
        let Some(statement) = bundle.statement() else {
            return Ok(Self::Signature(None));
        };
        let statement = statement?;
        if !statement.kind.starts_with(STATEMENT) {
            return Err("its statement is not of in-toto's type".to_owned());
        }
        let Some(named) = statement.find_subject(subject.digest) else {
            let digests = statement.digests();
            return Err(format!("it is about another digest: {digests}"));
        };
        Ok(if statement.predicate_type == PREDICATE {
            let name = named.name.clone();
            Self::Signature(Some(name).filter(|name| !name.is_empty()))
        } else {
            Self::Attestation(statement)
        })
    }
}

impl Demand {
    /// Whether a witness meets it; none where it is about something else.
    ///
    /// # Errors
    /// What it says instead.
    fn compare(
        &self,
        opened: &Opened,
        subject: &Subject<'_>,
    ) -> Option<Result<Option<Provenance>, String>> {
        match (self, &opened.content) {
            (Self::Signature, What::Signature(name)) => Some(match name {
                Some(name) if !is_named(name, subject) => Err(format!("it was made for `{name}`")),
                _ => Ok(None),
            }),
            (Self::Signature, What::Attestation(_)) | (_, What::Signature(_)) => None,
            (Self::Contents(form), What::Attestation(statement)) => {
                form.is_type(&statement.predicate_type).then_some(Ok(None))
            }
            (Self::Predicate { kind, fields }, What::Attestation(statement)) => {
                let is_it = statement.predicate_type == *kind;
                is_it.then(|| compare_fields(fields, &statement.predicate).map(|()| None))
            }
            (
                Self::Provenance {
                    builder,
                    source,
                    reference,
                },
                What::Attestation(statement),
            ) => {
                let said = Provenance::read(statement)?.complete(opened.certificate.as_ref());
                let source = source.as_ref();
                let source = source.map(|source| Pattern::new(repository_name(source.text())));
                let wanted = [
                    ("builder", builder, &said.builder),
                    ("source", &source, &said.source),
                    ("ref", reference, &said.reference),
                ];
                for (name, wanted, said) in wanted {
                    if let Some(wanted) = wanted
                        && let Err(reason) = compare(name, wanted, said.as_deref())
                    {
                        return Some(Err(reason));
                    }
                }
                Some(Ok(Some(said)))
            }
        }
    }
}

fn compare_fields(fields: &[(String, Pattern)], predicate: &Value) -> Result<(), String> {
    let mut fields = fields.iter();
    fields.try_for_each(|(path, wanted)| compare(path, wanted, field(predicate, path).as_deref()))
}

fn compare(name: &str, wanted: &Pattern, said: Option<&str>) -> Result<(), String> {
    match said {
        Some(said) if wanted.matches(said) => Ok(()),
        Some(said) => Err(format!("its `{name}` is `{said}`, not `{}`", wanted.text())),
        None => Err(format!(
            "it says no `{name}`, and `{}` is needed",
            wanted.text()
        )),
    }
}

impl Provenance {
    /// What the certificate of its signer says where it says nothing: the runners of some services leave it to that.
    fn complete(self, certificate: Option<&Certificate>) -> Self {
        let Some(certificate) = certificate else {
            return self;
        };
        let source = certificate.source.as_deref().map(repository_name);
        Self {
            builder: self.builder,
            source: self.source.or(source),
            reference: self.reference.or_else(|| certificate.reference.clone()),
            revision: self.revision.or_else(|| certificate.revision.clone()),
        }
    }
}

impl Contents {
    fn is_type(self, kind: &str) -> bool {
        let is_spdx = kind.starts_with("https://spdx.dev/Document");
        let is_cyclone = kind.starts_with("https://cyclonedx.org/bom");
        match self {
            Self::Any => is_spdx || is_cyclone,
            Self::Spdx => is_spdx,
            Self::CycloneDx => is_cyclone,
        }
    }
}

/// What, as a noun.
impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature => f.write_str("signature"),
            Self::Provenance { .. } => f.write_str("SLSA provenance"),
            Self::Contents(Contents::Any) => f.write_str("SBOM"),
            Self::Contents(Contents::Spdx) => f.write_str("SBOM in SPDX"),
            Self::Contents(Contents::CycloneDx) => f.write_str("SBOM in CycloneDX"),
            Self::Predicate { kind, .. } => write!(f, "attestation of type `{kind}`"),
        }
    }
}

/// One sentence.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            None => write!(f, "it has no {}", self.demand),
            Some(reason) => write!(f, "it has no {} that counts: {reason}", self.demand),
        }
    }
}
