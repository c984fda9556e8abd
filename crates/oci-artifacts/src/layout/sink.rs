//! Writes artifacts into a layout: blobs first, the index last and atomically, so that the layout is complete at any moment.
//! Existing entries of the index are kept, except those with the same name.

use std::io::{self, Read};
use std::path::Path;

use cap_std::fs::{Dir, File};
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

/// A layout to write to; it is created in an empty folder.
pub struct LayoutSink {
    /// The folder as the user wrote it.
    written: String,
    /// Whatever is read, written or removed is addressed below it, so no link leads out of it.
    root: Dir,
}

impl LayoutSink {
    /// The layout in an open folder, which the user wrote as `written`. Creates nothing.
    pub fn new(folder: std::fs::File, written: &str) -> Self {
        Self {
            written: written.to_owned(),
            root: Dir::from_std_file(folder),
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
    fn begin(&self) -> Result<std::fs::File, Fault> {
        let held = self.root.open(".")?.into_std();
        // On a file system without locks, concurrent writers are not supported.
        let _ = held.lock();
        let mut others = Vec::new();
        for entry in self.root.entries()? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                name if name.starts_with(STAGED) => self.root.remove_file(name)?,
                "blobs" | "index.json" | "oci-layout" => {}
                _ => others.push(name),
            }
        }
        if self.root.exists("oci-layout") {
            return Ok(held);
        }
        others.sort_unstable();
        if let Some(other) = others.first() {
            return Err(Fault::Other(other.clone()));
        }
        self.make_folder(Path::new("blobs/sha256"))?;
        if !self.root.exists("index.json") {
            self.save(&json!({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}))?;
        }
        self.replace("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        Ok(held)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        // A link that leads out is refused as such, not as a file of that name.
        if self.root.try_exists(folder)? {
            Ok(())
        } else {
            self.root.create_dir_all(folder)
        }
    }

    /// Writes a blob unless it exists, and returns whether it did.
    fn blob(&self, blob: &Blob) -> Result<bool, Fault> {
        let Descriptor { digest, size, .. } = &blob.descriptor;
        let path = blob_path(digest);
        let found = self.root.symlink_metadata(&path);
        let exists = found.is_ok_and(|found| found.is_file() && found.len() == *size);
        if exists && digest_of(&mut self.root.open(&path)?, digest)? == *digest {
            return Ok(false);
        }
        if let Some(folder) = Path::new(&path).parent() {
            self.make_folder(folder)?;
        }
        let staged = format!("{STAGED}{}", digest.hex());
        let created = self.root.create(&staged)?;
        let written = write(&*blob.content, &blob.descriptor, created)
            .and_then(|()| Ok(self.root.rename(&staged, &self.root, &path)?));
        if written.is_err() {
            let _ = self.root.remove_file(&staged);
        }
        written.map(|()| true)
    }

    /// Adds a manifest to the index, and returns whether it was there already.
    fn enter(&self, name: Option<&str>, descriptor: &Descriptor) -> Result<bool, Fault> {
        let mut bytes = Vec::new();
        let file = self.root.open("index.json")?;
        file.take(INDEX_LIMIT).read_to_end(&mut bytes)?;
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
        self.replace("index.json", text.as_bytes())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), Fault> {
        let staged = format!("{STAGED}{name}");
        let mut file = self.root.create(&staged)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        Ok(self.root.rename(&staged, &self.root, name)?)
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
fn write(content: &dyn Body, descriptor: &Descriptor, staged: File) -> Result<(), Fault> {
    let limit = descriptor.size.saturating_add(1);
    let mut reader = content.open()?.take(limit);
    let mut into = Digesting::like(&descriptor.digest, staged);
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
        // What the system denies has a number; a path that leads out is refused without one.
        let is_outside =
            error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        if is_outside {
            Self::Outside
        } else {
            Self::Io(error)
        }
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
