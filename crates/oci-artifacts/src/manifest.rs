//! Manifests and indexes, parsed from the exact bytes of their digest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::digest::Digest;

/// The media type of an image's manifest.
pub const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// The media type of an index.
pub const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";

/// The media type of an image's configuration.
pub const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";

/// The most bytes of a manifest: what registries must accept (distribution-spec, "Pushing manifests").
pub const MANIFEST_LIMIT: usize = 4 << 20;

/// A manifest or an index, with its bytes.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The digest, computed from the bytes.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The parsed content.
    pub content: Content,
    /// The source, if it is not the registry of its reference: a mirror's reference, or `oci-layout:DIR`.
    pub mirror: Option<String>,
}

/// The content of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// One artifact.
    Image {
        /// The descriptor of its configuration.
        config: Box<Descriptor>,
        /// The descriptors of its layers, in order.
        layers: Vec<Descriptor>,
        /// Its annotations.
        annotations: BTreeMap<String, String>,
        /// The type of artifact, if declared.
        artifact_type: Option<String>,
        /// The manifest that it refers to.
        subject: Option<Box<Descriptor>>,
    },
    /// One artifact for each platform.
    Index {
        /// The descriptors of the manifests.
        manifests: Vec<Descriptor>,
        /// Its annotations.
        annotations: BTreeMap<String, String>,
    },
}

impl Content {
    /// The descriptor for a list of referrers: with the annotations, and with the type of the configuration if no artifact type
    /// is declared (distribution-spec, "Listing Referrers"). That of an index is returned as it is.
    pub fn describe(&self, base: Descriptor) -> Descriptor {
        match self {
            Self::Index { .. } => base,
            Self::Image {
                config,
                annotations,
                artifact_type,
                ..
            } => Descriptor {
                annotations: annotations.clone(),
                artifact_type: Some(artifact_type.as_ref().unwrap_or(&config.media_type).clone()),
                ..base
            },
        }
    }

    /// The manifest that it refers to; an index refers to none.
    pub fn subject(&self) -> Option<&Descriptor> {
        match self {
            Self::Image { subject, .. } => subject.as_deref(),
            Self::Index { .. } => None,
        }
    }
}

/// A descriptor of some content.
///
/// Source: image-spec, descriptor.md.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "RawDescriptor", rename_all = "camelCase")]
pub struct Descriptor {
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Its length in bytes.
    pub size: u64,
    /// Its annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// `arm64`, `amd64` …, if the content is for one architecture. It is read from `platform`, and not written.
    #[serde(skip_serializing)]
    pub architecture: Option<String>,
    /// `linux`, `windows` …, if the content is for one system. It is read from `platform`, and not written.
    #[serde(skip_serializing)]
    pub os: Option<String>,
    /// The type of artifact, in a list of referrers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
}

impl Descriptor {
    /// A descriptor without annotations.
    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest,
            size,
            annotations: BTreeMap::new(),
            architecture: None,
            os: None,
            artifact_type: None,
        }
    }

    /// The descriptor of some bytes.
    pub fn from_bytes(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::compute(bytes), bytes.len() as u64)
    }
}

/// Why bytes are not a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// More than [`MANIFEST_LIMIT`] bytes.
    #[error("its manifest has {0} bytes; at most {MANIFEST_LIMIT} are read")]
    TooLarge(usize),
    /// Not JSON, or JSON of another shape.
    #[error("its manifest cannot be read: {0}")]
    Malformed(String),
}

impl Manifest {
    /// Parses a manifest or an index. Its fields determine which: some registries send a wrong media type. One that calls itself the
    /// other sort is refused, for another program may read it as that (CVE-2021-41190).
    ///
    /// # Errors
    /// There are too many bytes, or they are neither.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ManifestError> {
        if bytes.len() > MANIFEST_LIMIT {
            return Err(ManifestError::TooLarge(bytes.len()));
        }
        // JSON is UTF-8 (RFC 8259, 8.1), and the lock stores it as text.
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| ManifestError::Malformed("it is not UTF-8".to_owned()))?;
        let raw: RawManifest = serde_json::from_str(text)
            .map_err(|error| ManifestError::Malformed(error.to_string()))?;
        let content = match (raw.manifests, raw.config, raw.layers) {
            (Some(manifests), None, None) => Content::Index {
                manifests,
                annotations: raw.annotations.unwrap_or_default(),
            },
            (None, Some(config), layers) => Content::Image {
                config: Box::new(config),
                layers: layers.unwrap_or_default(),
                annotations: raw.annotations.unwrap_or_default(),
                artifact_type: raw.artifact_type,
                subject: raw.subject.map(Box::new),
            },
            _ => {
                let reason = "it is neither an image manifest nor an index".to_owned();
                return Err(ManifestError::Malformed(reason));
            }
        };
        let is_index = matches!(content, Content::Index { .. });
        let other = if is_index { MANIFEST_TYPE } else { INDEX_TYPE };
        if raw.media_type.is_some_and(|own| own == other) {
            let reason = format!("it has not the fields of its media type `{other}`");
            return Err(ManifestError::Malformed(reason));
        }
        Ok(Self {
            digest: Digest::compute(&bytes),
            bytes,
            content,
            mirror: None,
        })
    }

    /// Its media type: what it says, else that of its content.
    pub fn media_type(&self) -> String {
        let raw = serde_json::from_slice(&self.bytes).ok();
        let own = raw.and_then(|raw: RawManifest| raw.media_type);
        let usual = match self.content {
            Content::Image { .. } => MANIFEST_TYPE,
            Content::Index { .. } => INDEX_TYPE,
        };
        own.unwrap_or_else(|| usual.to_owned())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawManifest {
    media_type: Option<String>,
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    annotations: Option<BTreeMap<String, String>>,
    artifact_type: Option<String>,
    subject: Option<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    media_type: String,
    digest: String,
    size: u64,
    annotations: Option<BTreeMap<String, String>>,
    platform: Option<RawPlatform>,
    artifact_type: Option<String>,
}

#[derive(Deserialize)]
struct RawPlatform {
    architecture: String,
    os: Option<String>,
}

impl TryFrom<RawDescriptor> for Descriptor {
    type Error = super::digest::DigestError;

    fn try_from(raw: RawDescriptor) -> Result<Self, Self::Error> {
        let (architecture, os) = match raw.platform {
            Some(platform) => (Some(platform.architecture), platform.os),
            None => (None, None),
        };
        Ok(Self {
            media_type: raw.media_type,
            digest: Digest::parse(&raw.digest)?,
            size: raw.size,
            annotations: raw.annotations.unwrap_or_default(),
            architecture,
            os,
            artifact_type: raw.artifact_type,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, Digest, MANIFEST_LIMIT, Manifest, ManifestError};

    fn descriptor() -> String {
        let digest = Digest::compute(b"");
        format!(r#"{{"mediaType":"application/octet-stream","digest":"{digest}","size":0}}"#)
    }

    #[test]
    fn a_manifest_has_layers_and_annotations() {
        let layer = descriptor();
        let text = format!(
            r#"{{"schemaVersion":2,"config":{layer},"layers":[{layer}],"annotations":{{"a":"b"}}}}"#
        );
        let manifest = Manifest::read(text.clone().into_bytes()).expect("a manifest");
        assert_eq!(manifest.digest, Digest::compute(text.as_bytes()));
        let Content::Image {
            layers,
            annotations,
            ..
        } = manifest.content
        else {
            panic!("an image");
        };
        assert_eq!(layers.len(), 1);
        assert_eq!(annotations["a"], "b");
    }

    #[test]
    fn the_media_type_is_the_own_one_or_that_of_the_content() {
        let (own, layer) = (
            "application/vnd.docker.distribution.manifest.v2+json",
            descriptor(),
        );
        for (text, expected) in [
            (format!(r#"{{"mediaType":"{own}","config":{layer}}}"#), own),
            (format!(r#"{{"config":{layer}}}"#), super::MANIFEST_TYPE),
            (r#"{"manifests":[]}"#.to_owned(), super::INDEX_TYPE),
        ] {
            let manifest = Manifest::read(text.into_bytes()).expect("a manifest");
            assert_eq!(manifest.media_type(), expected);
        }
    }

    #[test]
    fn an_index_is_distinguished_from_a_manifest() {
        let text = format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, descriptor());
        let manifest = Manifest::read(text.into_bytes()).expect("an index");
        assert!(matches!(manifest.content, Content::Index { .. }));
    }

    #[test]
    fn invalid_manifests_are_refused() {
        let typed = |kind: &str| format!(r#"{{"mediaType":"{kind}","manifests":[]}}"#);
        assert!(Manifest::read(typed(super::INDEX_TYPE).into()).is_ok());
        let other = typed(super::MANIFEST_TYPE);
        for text in [
            "",
            "[]",
            "{}",
            r#"{"config":{"digest":"x"}}"#,
            "<html>",
            &other,
        ] {
            let read = Manifest::read(text.as_bytes().to_vec());
            assert!(matches!(read, Err(ManifestError::Malformed(_))), "{text}");
        }
        let read = Manifest::read(vec![b' '; MANIFEST_LIMIT + 1]);
        assert!(matches!(read, Err(ManifestError::TooLarge(_))));
    }
}
