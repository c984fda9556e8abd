//! Writes artifacts into a layout: blobs first, the index last and atomically, so that the layout is complete at any moment.
//! Existing entries of the index are kept, except those with the same name.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    Artifact, Blob, Body, Descriptor, Digest, Digesting, Failure, FailureKind, INDEX_TYPE, Put,
    Reference, Sink,
};

use super::SCHEME;
use super::disk::blob_path;
use super::names::{NAME, normal};

/// The prefix of incomplete files. They are beside `blobs`, where no reader of a layout looks.
const STAGED: &str = ".metalmark-tmp-";

/// The longest `index.json` that can be extended, in bytes.
const INDEX_LIMIT: u64 = 64 << 20;

/// A layout to write to; it is created if it does not exist.
pub struct LayoutSink {
    /// The folder as the user wrote it.
    written: String,
    root: PathBuf,
}

impl LayoutSink {
    /// The layout in a folder, which is relative to `base`. Creates nothing.
    pub fn new(base: &Path, folder: &str) -> Self {
        Self {
            written: folder.to_owned(),
            root: base.join(folder),
        }
    }

    /// Writes an artifact under a name such as `1.2` or `group/bundle:1.2`, or without one, to be found by its digest.
    ///
    /// # Errors
    /// The folder contains something else, or cannot be written; a blob does not match its descriptor.
    pub fn put_as(&self, name: Option<&str>, artifact: &Artifact) -> Result<Put, Failure> {
        let requested = match name {
            Some(name) => format!("{SCHEME}{}:{name}", self.written),
            None => format!("{SCHEME}{}", self.written),
        };
        self.put_whole(name, artifact)
            .map_err(|fault| fault.failure(&requested))
    }

    fn put_whole(&self, name: Option<&str>, artifact: &Artifact) -> Result<Put, Fault> {
        let descriptor = &artifact.descriptor;
        let manifest = Blob {
            descriptor: descriptor.clone(),
            content: std::sync::Arc::new(artifact.manifest.clone()),
        };
        let _held = self.begin()?;
        let mut sent = 0;
        for blob in &artifact.blobs {
            sent += usize::from(self.blob(blob)?);
        }
        self.blob(&manifest)?;
        let is_unchanged = self.enter(name, descriptor)?;
        Ok(Put { sent, is_unchanged })
    }

    /// Creates what is missing of the layout, and locks it against other writers.
    fn begin(&self) -> Result<File, Fault> {
        fs::create_dir_all(&self.root)?;
        let held = File::open(&self.root)?;
        // On a file system without locks, concurrent writers are not supported.
        let _ = held.lock();
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                name if name.starts_with(STAGED) => fs::remove_file(self.root.join(name))?,
                "blobs" | "index.json" | "oci-layout" => {}
                _ => others.push(name),
            }
        }
        let marker = self.root.join("oci-layout");
        if marker.exists() {
            return Ok(held);
        }
        others.sort_unstable();
        if let Some(other) = others.first() {
            return Err(Fault::Other(other.clone()));
        }
        fs::create_dir_all(self.root.join("blobs/sha256"))?;
        if !self.root.join("index.json").exists() {
            self.save(&json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}))?;
        }
        self.replace(&marker, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        Ok(held)
    }

    /// Writes a blob unless it exists, and returns whether it did.
    fn blob(&self, blob: &Blob) -> Result<bool, Fault> {
        let Descriptor { digest, size, .. } = &blob.descriptor;
        let path = self.root.join(blob_path(digest));
        let exists =
            fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() == *size);
        if exists && digest_of(&mut File::open(&path)?, digest)? == *digest {
            return Ok(false);
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)?;
        let root = fs::canonicalize(&self.root)?;
        if !fs::canonicalize(folder)?.starts_with(root) {
            return Err(Fault::Outside);
        }
        let staged = self.root.join(format!("{STAGED}{}", digest.hex()));
        let written = write(&*blob.content, &blob.descriptor, &staged)
            .and_then(|()| Ok(fs::rename(&staged, &path)?));
        if written.is_err() {
            let _ = fs::remove_file(&staged);
        }
        written.map(|()| true)
    }

    /// Adds a manifest to the index, and returns whether it was there already.
    fn enter(&self, name: Option<&str>, descriptor: &Descriptor) -> Result<bool, Fault> {
        let path = self.root.join("index.json");
        let mut bytes = Vec::new();
        File::open(&path)?
            .take(INDEX_LIMIT)
            .read_to_end(&mut bytes)?;
        let mut index: Value = serde_json::from_slice(&bytes).map_err(|_| Fault::Index)?;
        let entries = index.get_mut("manifests").and_then(Value::as_array_mut);
        let entries = entries.ok_or(Fault::Index)?;
        let known = name.map(normal);
        let is_it = |entry: &Value| entry["annotations"][NAME].as_str().map(normal) == known;
        let is_same = |entry: &Value| entry["digest"].as_str() == Some(descriptor.digest.as_str());
        let mut existing = entries.iter().filter(|entry| is_it(entry));
        let is_unchanged = match name {
            Some(_) => existing.next().is_some_and(is_same) && existing.next().is_none(),
            None => existing.any(is_same),
        };
        if is_unchanged {
            return Ok(true);
        }
        if name.is_some() {
            entries.retain(|entry| !is_it(entry));
        }
        entries.push(entry(name, descriptor));
        self.save(&index)?;
        Ok(false)
    }

    fn save(&self, index: &Value) -> Result<(), Fault> {
        let text = index.to_string();
        self.replace(&self.root.join("index.json"), text.as_bytes())
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let staged = self.root.join(format!("{STAGED}{name}"));
        let mut file = File::create(&staged)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        Ok(fs::rename(&staged, path)?)
    }
}

impl Sink for LayoutSink {
    /// The name is `registry/repository:tag`, as `skopeo` writes it: it distinguishes repositories.
    fn put(&self, to: &Reference, artifact: &Artifact) -> Result<Put, Failure> {
        if let Some(digest) = to
            .digest
            .as_ref()
            .filter(|it| **it != artifact.descriptor.digest)
        {
            let message = format!("the written artifact does not have the digest `{digest}`");
            return Err(Failure::new(to, FailureKind::Corrupt, message));
        }
        let name = to.tag.as_ref().map(|tag| format!("{}:{tag}", to.name()));
        self.put_as(name.as_deref(), artifact)
    }
}

/// The entry of a manifest in the index.
fn entry(name: Option<&str>, descriptor: &Descriptor) -> Value {
    let mut descriptor = descriptor.clone();
    if let Some(name) = name {
        let annotations = &mut descriptor.annotations;
        annotations.insert(NAME.to_owned(), name.to_owned());
    }
    json!(descriptor)
}

/// Writes content to a file, and verifies it against the descriptor.
fn write(content: &dyn Body, descriptor: &Descriptor, staged: &Path) -> Result<(), Fault> {
    let limit = descriptor.size.saturating_add(1);
    let mut reader = content.open()?.take(limit);
    let mut into = Digesting::like(&descriptor.digest, File::create(staged)?);
    io::copy(&mut reader, &mut into)?;
    let written = into.finish();
    if written.size != descriptor.size || written.digest != descriptor.digest {
        return Err(Fault::Changed(descriptor.digest.clone()));
    }
    Ok(written.into.sync_all()?)
}

fn digest_of(reader: &mut impl Read, like: &Digest) -> Result<Digest, Fault> {
    let mut into = Digesting::like(like, io::sink());
    io::copy(reader, &mut into)?;
    Ok(into.finish().digest)
}

/// Why nothing was written.
#[derive(Debug)]
enum Fault {
    Io(io::Error),
    /// The folder contains this entry, and is not a layout.
    Other(String),
    /// A link leads out of the folder.
    Outside,
    Index,
    /// The content does not match this digest.
    Changed(Digest),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Fault {
    fn failure(self, requested: &str) -> Failure {
        let failure = |kind, message: String| Failure::new(requested, kind, message);
        match self {
            Self::Io(error) => failure(
                FailureKind::Unreachable,
                format!("it cannot be written: {error}"),
            ),
            Self::Other(name) => failure(
                FailureKind::Unsupported,
                format!("the folder is not an image layout and contains `{name}`"),
            )
            .help("name a folder with a layout, or an empty one"),
            Self::Outside => failure(
                FailureKind::Corrupt,
                "a link in it leads out of the folder".to_owned(),
            ),
            Self::Index => failure(
                FailureKind::Corrupt,
                "its index.json is not an index, and was not changed".to_owned(),
            ),
            Self::Changed(digest) => failure(
                FailureKind::Corrupt,
                format!("blob `{digest}` does not have the expected content"),
            )
            .help("the files changed while they were written: run it again, without changing them meanwhile"),
        }
    }
}
