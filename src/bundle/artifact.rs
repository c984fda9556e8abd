//! A bundle as an artifact: one layer with its files, a configuration, a manifest.
//!
//! The same bundle is the same artifact, to the byte, wherever and whenever it is made. The configuration is an image's, as
//! `FROM scratch` and `COPY` make it, so that every container tool reads it.

use std::collections::BTreeMap;
use std::io;

use oci_artifacts::archive::{self, Member, Packed};
use oci_artifacts::{Artifact, Blob, Descriptor, Digest, MANIFEST_TYPE};
use serde::Serialize;

use super::{Bundle, BundleKind, CREATED};
use crate::model::component::ARTIFACT_TYPE;

#[derive(Serialize)]
struct Config<'a> {
    created: &'a str,
    architecture: &'a str,
    os: &'a str,
    config: BTreeMap<&'a str, &'a str>,
    rootfs: RootFs<'a>,
    history: [History<'a>; 1],
}

#[derive(Serialize)]
struct RootFs<'a> {
    r#type: &'a str,
    diff_ids: [&'a str; 1],
}

#[derive(Serialize)]
struct History<'a> {
    created: &'a str,
    created_by: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u8,
    media_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_type: Option<&'a str>,
    config: &'a Descriptor,
    layers: [&'a Descriptor; 1],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: &'a BTreeMap<String, String>,
}

impl Bundle {
    /// The one archive of all its files. Reports after each file how many are in.
    ///
    /// # Errors
    /// A file cannot be read, or changes its length; there is no room.
    pub fn pack(&self, progress: &dyn Fn(usize)) -> io::Result<Packed> {
        archive::pack(self.members(), progress)
    }

    /// The digest of all its files together, which no compressor and no annotation changes.
    ///
    /// # Errors
    /// A file cannot be read, or changes its length.
    pub fn content_digest(&self, progress: &dyn Fn(usize)) -> io::Result<Digest> {
        archive::digest(self.members(), progress)
    }

    fn members(&self) -> Vec<Member<'_>> {
        let members = self.files().iter().map(|file| Member {
            path: &file.path,
            is_executable: file.mode.is_executable(),
            size: file.size,
            content: &*file.content,
        });
        members.collect()
    }

    /// The artifact, said to be made `created` seconds after 1970. Reports after each file how many are in its layer.
    ///
    /// # Errors
    /// A file cannot be read, or changes its length; there is no room.
    pub fn artifact(&self, created: u64, progress: &dyn Fn(usize)) -> io::Result<Artifact> {
        let layer = self.pack(progress)?;
        let created = rfc3339(created);
        let mut annotations = self.annotations.clone();
        if matches!(self.kind, BundleKind::Artifact(_)) {
            annotations
                .entry(CREATED.to_owned())
                .or_insert_with(|| created.clone());
        }
        let config = json(&self.config(&created, &layer))?;
        let config = Blob::new(self.kind.config_type(), config);
        let layer = Blob {
            descriptor: Descriptor::new(self.kind.layer_type(), layer.digest, layer.size),
            content: layer.content,
        };
        let manifest = json(&Manifest {
            schema_version: 2,
            media_type: MANIFEST_TYPE,
            artifact_type: (self.kind == BundleKind::Components).then_some(ARTIFACT_TYPE),
            config: &config.descriptor,
            layers: [&layer.descriptor],
            annotations: &annotations,
        })?;
        Ok(Artifact::new(manifest, vec![config, layer]))
    }

    fn config<'a>(&self, created: &'a str, layer: &'a Packed) -> Config<'a> {
        Config {
            created,
            architecture: "amd64",
            os: "linux",
            config: BTreeMap::new(),
            rootfs: RootFs {
                r#type: "layers",
                diff_ids: [layer.unpacked.as_str()],
            },
            history: [History {
                created,
                created_by: match self.kind {
                    BundleKind::Plain => "COPY manifests /manifests",
                    _ => "COPY . /",
                },
            }],
        }
    }
}

fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(io::Error::other)
}

/// `1970-01-01T00:00:00Z`: in UTC, whatever the machine's zone.
fn rfc3339(seconds: u64) -> String {
    let date = crate::model::date::Date::from_unix(seconds);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{date}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::rfc3339;
    use crate::bundle::{Bundle, BundleKind, File, LayerType};
    use oci_artifacts::{Content, Digest, Manifest};

    #[test]
    fn a_time_is_printed_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_763_757_303), "2025-11-21T20:35:03Z");
    }

    #[test]
    fn an_artifact_says_of_its_blobs_what_they_are() {
        for kind in [
            BundleKind::Plain,
            BundleKind::Artifact(LayerType::Oci),
            BundleKind::Artifact(LayerType::Flux),
        ] {
            let file = File::text("manifests/a.yaml", b"a: 1\n".to_vec());
            let bundle = Bundle::new(kind, vec![file]).expect("one file");
            let artifact = bundle.artifact(0, &|_| {}).expect("memory");
            for blob in &artifact.blobs {
                let mut bytes = Vec::new();
                let mut reader = blob.content.open().expect("kept");
                reader.read_to_end(&mut bytes).expect("kept");
                assert_eq!(blob.descriptor.digest, Digest::compute(&bytes));
                assert_eq!(blob.descriptor.size, bytes.len() as u64);
            }
            let read = Manifest::read(artifact.manifest.clone()).expect("a manifest");
            assert_eq!(read.digest, artifact.descriptor.digest);
            let Content::Image {
                config,
                layers,
                annotations,
                ..
            } = read.content
            else {
                panic!("an image");
            };
            assert_eq!(config.media_type, kind.config_type());
            assert_eq!(layers.len(), 1);
            assert_eq!(
                annotations.contains_key(super::CREATED),
                kind != BundleKind::Plain
            );
        }
    }

    #[test]
    fn a_repeated_path_is_named() {
        let files = ["b", "a", "b"].map(|path| File::text(path, Vec::new()));
        let twice = Bundle::new(BundleKind::Plain, files.to_vec()).map(|_| ());
        assert_eq!(twice.expect_err("twice").as_ref(), "b");
    }
}
