//! What registries and layouts hold: manifests, indexes, references and digests.

use oci_artifacts::{Content, Descriptor, Digest, Manifest, Reference};

pub(super) fn run(data: &[u8]) -> bool {
    let manifest = Manifest::read(data.to_vec());
    if let Ok(manifest) = &manifest {
        assert!(manifest.digest.is_of(&manifest.bytes));
        let all: Vec<&Descriptor> = match &manifest.content {
            Content::Image { config, layers, .. } => layers.iter().chain([&**config]).collect(),
            Content::Index { manifests, .. } => manifests.iter().collect(),
        };
        for descriptor in all {
            let text = descriptor.digest.as_str();
            assert_eq!(Digest::parse(text).as_ref(), Ok(&descriptor.digest));
        }
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return manifest.is_ok();
    };
    if let Ok(digest) = Digest::parse(text) {
        assert_eq!(digest.as_str(), text);
    }
    if let Ok(reference) = Reference::parse(text) {
        let written = reference.to_string();
        assert_eq!(
            Reference::parse(&written),
            Ok(reference.clone()),
            "{text:?} is {written:?}"
        );
        let name = reference.name();
        assert!(
            !name.contains("..") && !name.contains("//"),
            "{text:?} is {name:?}"
        );
        let _ = (
            reference.target(),
            reference.with_digest(&Digest::compute(data)),
            reference.with_tag("x"),
        );
    }
    manifest.is_ok()
}
