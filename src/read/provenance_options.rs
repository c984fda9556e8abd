//! The project file's `policy.provenance`, as written.

use std::collections::BTreeMap;

use oci_artifacts::signature::{Contents, Demand, Pattern};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::provenance::NamedSigner;

/// Which signatures some images need, and from whom: a `key`, or an `identity` whose certificate an `issuer` grants.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ProvenanceOptions {
    /// The start of the images' references, such as `registry.example.org/os`.
    pub images: String,
    /// The public key that signs: its PEM text, or the path of a file that holds one.
    #[serde(default)]
    pub key: Option<String>,
    /// The identity that signs under a certificate: the address of a build's configuration, or an e-mail address. `*` means
    /// any characters: `https://gitlab.com/GROUP/PROJECT//.gitlab-ci.yml@refs/tags/*`.
    #[serde(default)]
    pub identity: Option<String>,
    /// The issuer that vouches for the identity, exactly: `https://gitlab.com`, `https://token.actions.githubusercontent.com`.
    #[serde(default)]
    pub issuer: Option<String>,
    /// The path of the file with the authorities, logs and timestamp authorities that are trusted: `trusted_root.json`.
    #[serde(default)]
    pub trusted_root: Option<String>,
    /// Whether the image itself must be signed (`cosign sign`). If nothing else is demanded, it must.
    #[serde(default)]
    pub signature: bool,
    /// Provenance of SLSA (0.2 or 1) that says this; `{}` for any.
    #[serde(default)]
    pub slsa: Option<SlsaOptions>,
    /// The form of the attested list of contents.
    #[serde(default)]
    pub sbom: Option<SbomOptions>,
    /// Other attestations: fields that must have these values, by type of the predicate. The names that lead to a field have dots
    /// in between.
    #[serde(default)]
    pub predicates: BTreeMap<String, BTreeMap<String, String>>,
}

/// The provenance that is required; `*` means any characters.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SlsaOptions {
    /// The builder's id.
    #[serde(default)]
    pub builder: Option<String>,
    /// The address of the repository that was built from, without `git+` and `.git`.
    #[serde(default)]
    pub source: Option<String>,
    /// The branch or tag, such as `refs/tags/*`.
    #[serde(default)]
    pub r#ref: Option<String>,
}

/// A form of lists of contents.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SbomOptions {
    /// SPDX or CycloneDX.
    Any,
    /// SPDX.
    Spdx,
    /// CycloneDX.
    CycloneDx,
}

impl ProvenanceOptions {
    /// Who has to have signed.
    ///
    /// # Errors
    /// It does not say so, in one clause.
    pub(super) fn signer(&self) -> Result<NamedSigner, &'static str> {
        match (&self.key, &self.identity, &self.issuer, &self.trusted_root) {
            (Some(key), None, None, None) => Ok(NamedSigner::Key(key.clone())),
            (None, Some(identity), _, _) if identity.trim_matches('*').is_empty() => {
                Err("`identity` means everybody")
            }
            (None, Some(identity), Some(issuer), Some(root)) => Ok(NamedSigner::Certified {
                subject: Pattern::new(identity),
                issuer: issuer.clone(),
                root: root.clone(),
            }),
            _ => Err(
                "it does not say who has to have signed: a key, or an identity with all that proves it",
            ),
        }
    }

    /// What has to be signed: the image itself where nothing else is said.
    pub(super) fn demands(&self) -> Vec<Demand> {
        let pattern = |text: &Option<String>| text.as_ref().map(Pattern::new);
        let slsa = self.slsa.iter().map(|slsa| Demand::Provenance {
            builder: pattern(&slsa.builder),
            source: pattern(&slsa.source),
            reference: pattern(&slsa.r#ref),
        });
        let sbom = self.sbom.iter().map(|form| {
            Demand::Contents(match form {
                SbomOptions::Any => Contents::Any,
                SbomOptions::Spdx => Contents::Spdx,
                SbomOptions::CycloneDx => Contents::CycloneDx,
            })
        });
        let predicates = self.predicates.iter().map(|(kind, fields)| {
            let fields = fields.iter();
            Demand::Predicate {
                kind: kind.clone(),
                fields: fields
                    .map(|(path, value)| (path.clone(), Pattern::new(value)))
                    .collect(),
            }
        });
        let mut demands: Vec<Demand> = slsa.chain(sbom).chain(predicates).collect();
        if self.signature || demands.is_empty() {
            demands.insert(0, Demand::Signature);
        }
        demands
    }
}
