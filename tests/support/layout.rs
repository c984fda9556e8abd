//! Writes OCI image layouts for tests: images with annotations, indexes, signatures, whatever a test says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use oci_artifacts::Digest;
use serde_json::{Value, json};

pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const NAME: &str = "org.opencontainers.image.ref.name";

/// A layout that grows; its index is whole after each step.
pub(crate) struct LayoutWriter {
    root: PathBuf,
    entries: Vec<Value>,
}

impl LayoutWriter {
    pub(crate) fn new(root: &Path) -> Self {
        fs::create_dir_all(root.join("blobs/sha256")).expect("created");
        fs::write(root.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).expect("written");
        let writer = Self {
            root: root.to_owned(),
            entries: Vec::new(),
        };
        writer.save();
        writer
    }

    /// Stores a blob and describes it.
    pub(crate) fn blob(&self, media_type: &str, bytes: &[u8]) -> Value {
        let digest = Digest::compute(bytes);
        let file = self.root.join("blobs/sha256").join(digest.hex());
        fs::write(file, bytes).expect("written");
        json!({"mediaType": media_type, "digest": digest.as_str(), "size": bytes.len()})
    }

    /// An image with one layer, which is never looked into.
    pub(crate) fn image(&mut self, name: Option<&str>, annotations: &[(&str, &str)]) -> Digest {
        let layer = self.blob("application/vnd.cncf.flux.content.v1.tar+gzip", b"layer");
        let annotations: BTreeMap<&str, &str> = annotations.iter().copied().collect();
        self.manifest(name, json!({"layers": [layer], "annotations": annotations}))
    }

    /// An image of other layers: what `fields` has beside schema, media type and an empty configuration.
    pub(crate) fn manifest(&mut self, name: Option<&str>, fields: Value) -> Digest {
        let mut manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.blob("application/vnd.oci.image.config.v1+json", b"{}"),
            "layers": [],
        });
        for (key, value) in fields.as_object().expect("an object") {
            manifest[key] = value.clone();
        }
        self.entry(name, MANIFEST, &manifest)
    }

    /// An index over what lies there already, one architecture each.
    pub(crate) fn index(&mut self, name: Option<&str>, of: &[(&str, &Digest)]) -> Digest {
        let child = |(architecture, digest): &(&str, &Digest)| {
            let mut descriptor = self.describe(digest, MANIFEST);
            descriptor["platform"] = json!({"architecture": architecture, "os": "linux"});
            descriptor
        };
        let children: Vec<Value> = of.iter().map(child).collect();
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": children});
        self.entry(name, INDEX, &index)
    }

    /// An index with these fields.
    pub(crate) fn put_index(&mut self, name: &str, index: Value) -> Digest {
        self.entry(Some(name), INDEX, &index)
    }

    /// The descriptor of what lies there.
    pub(crate) fn describe(&self, digest: &Digest, media_type: &str) -> Value {
        let bytes = fs::read(self.file(digest)).expect("a blob");
        json!({"mediaType": media_type, "digest": digest.as_str(), "size": bytes.len()})
    }

    /// The file of a blob.
    pub(crate) fn file(&self, digest: &Digest) -> PathBuf {
        self.root.join("blobs/sha256").join(digest.hex())
    }

    fn entry(&mut self, name: Option<&str>, media_type: &str, content: &Value) -> Digest {
        let bytes = serde_json::to_vec(content).expect("JSON");
        let mut descriptor = self.blob(media_type, &bytes);
        if let Some(name) = name {
            descriptor["annotations"] = json!({NAME: name});
        }
        self.entries.push(descriptor);
        self.save();
        Digest::compute(&bytes)
    }

    fn save(&self) {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": self.entries});
        let bytes = serde_json::to_vec(&index).expect("JSON");
        fs::write(self.root.join("index.json"), bytes).expect("written");
    }
}
