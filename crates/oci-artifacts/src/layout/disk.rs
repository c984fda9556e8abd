//! Reads the files of a layout: its marker, index and blobs. It reads nothing outside its folder, and at most a given length.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{Descriptor, Digest, Digesting, Failure, FailureKind};

use super::SCHEME;

/// The longest `index.json` that is read, in bytes: some 200,000 entries.
const INDEX_LIMIT: u64 = 64 << 20;

/// The longest `oci-layout` that is read, in bytes.
const MARKER_LIMIT: u64 = 4 << 10;

/// The folder of a layout. Displays as `oci-layout:DIR`, with `DIR` as the user wrote it.
pub(super) struct Folder {
    written: String,
    /// The path with links resolved; every file must be below it.
    root: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marker {
    image_layout_version: String,
}

#[derive(Deserialize)]
struct Index {
    manifests: Vec<Descriptor>,
}

/// Why a file of a layout was not read.
enum Fault {
    Missing,
    /// A link leads out of the folder, or it is not a file.
    Refused(&'static str),
    TooLarge(u64),
    Io(io::Error),
}

impl Folder {
    /// The layout in a folder relative to `base`.
    ///
    /// # Errors
    /// There is no such folder, or its marker does not declare a layout of version 1.
    pub(super) fn open(base: &Path, folder: &str) -> Result<Self, Failure> {
        let requested = format!("{SCHEME}{folder}");
        let failure = |kind, message: String| Failure::new(&requested, kind, message);
        let root = fs::canonicalize(base.join(folder)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                failure(FailureKind::NoStore, "there is no such folder".to_owned()).help(format!(
                    "copy what is locked there, with its signatures: `metalmark mirror --to {requested}`"
                ))
            }
            _ => failure(FailureKind::Unreachable, error.to_string()),
        })?;
        let opened = Self {
            written: folder.to_owned(),
            root,
        };
        let bytes = opened.file("oci-layout", MARKER_LIMIT).map_err(|fault| {
            let message = match fault {
                Fault::Missing => {
                    "it is not an image layout: it has no file `oci-layout`".to_owned()
                }
                fault => fault.message("oci-layout"),
            };
            failure(FailureKind::Corrupt, message)
                .help("name the folder that holds `oci-layout`, `index.json` and `blobs`")
        })?;
        match serde_json::from_slice::<Marker>(&bytes) {
            Ok(marker) if marker.image_layout_version.starts_with("1.") => Ok(opened),
            Ok(marker) => Err(failure(
                FailureKind::Unsupported,
                format!(
                    "it is an image layout of version `{}`, and version 1 is read",
                    marker.image_layout_version
                ),
            )),
            Err(error) => Err(failure(
                FailureKind::Corrupt,
                format!("its file `oci-layout` cannot be read: {error}"),
            )),
        }
    }

    /// The folder as the user wrote it.
    pub(super) fn path(&self) -> &str {
        &self.written
    }

    /// The help for broken content.
    pub(super) fn copy_again(&self) -> String {
        format!("copy the artifact to `{}` again", self.written)
    }

    /// The entries of the index, in order.
    ///
    /// # Errors
    /// The index is missing, too large, or invalid.
    pub(super) fn index(&self) -> Result<Vec<Descriptor>, Failure> {
        let bytes = self
            .file("index.json", INDEX_LIMIT)
            .map_err(|fault| Failure::new(self, fault.kind(), fault.message("index.json")))?;
        let index: Index = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("its index.json cannot be read: {error}");
            Failure::new(self, FailureKind::Corrupt, message)
        })?;
        Ok(index.manifests)
    }

    /// The content with a digest, verified, also against its size if it is known.
    ///
    /// # Errors
    /// It is missing, larger than `limit`, or does not have its digest and size.
    pub(super) fn blob(
        &self,
        requested: &str,
        digest: &Digest,
        size: Option<u64>,
        limit: u64,
    ) -> Result<Vec<u8>, Failure> {
        let failure = |kind, message: String| Failure::new(requested, kind, message);
        if size.is_some_and(|size| size > limit) {
            let message = Fault::TooLarge(limit).message(digest.as_str());
            return Err(failure(FailureKind::TooLarge, format!("{self}: {message}")));
        }
        let path = blob_path(digest);
        let bytes = self.file(&path, limit).map_err(|fault| {
            let message = format!("{self}: {}", fault.message(&path));
            match (&fault, size) {
                // The layout lists it, so it should have it.
                (Fault::Missing, Some(_)) => {
                    failure(FailureKind::Corrupt, message).help(self.copy_again())
                }
                _ => failure(fault.kind(), message),
            }
        })?;
        let length = bytes.len() as u64;
        let message = match size {
            Some(size) if size != length => {
                format!("{self}: `{path}` has {length} bytes, and its descriptor says {size}")
            }
            _ if !digest.is_of(&bytes) => {
                format!("{self}: `{path}` does not have the digest that it is named after")
            }
            _ => return Ok(bytes),
        };
        Err(failure(FailureKind::Corrupt, message).help(self.copy_again()))
    }

    /// Copies content of any length, verified at the end.
    ///
    /// # Errors
    /// It is missing or does not match its descriptor, or the writer fails.
    pub(super) fn copy(
        &self,
        requested: &str,
        blob: &Descriptor,
        into: &mut dyn Write,
    ) -> Result<(), Failure> {
        let path = blob_path(&blob.digest);
        let failure = |fault: Fault| {
            let message = format!("{self}: {}", fault.message(&path));
            Failure::new(requested, fault.kind(), message)
        };
        let (file, _) = self.resolve_file(&path).map_err(failure)?;
        let mut reader = File::open(file)
            .map_err(|error| failure(Fault::from_io(error)))?
            .take(blob.size.saturating_add(1));
        let mut digesting = Digesting::like(&blob.digest, into);
        io::copy(&mut reader, &mut digesting).map_err(|error| failure(Fault::Io(error)))?;
        let got = digesting.finish();
        if got.size == blob.size && got.digest == blob.digest {
            return Ok(());
        }
        let message = format!("{self}: `{path}` is not what its descriptor says");
        Err(Failure::new(requested, FailureKind::Corrupt, message).help(self.copy_again()))
    }

    /// The length of the content with a digest; none if the layout omits it.
    ///
    /// # Errors
    /// It is not a file of the folder, or cannot be queried.
    pub(super) fn size(&self, requested: &str, digest: &Digest) -> Result<Option<u64>, Failure> {
        let path = blob_path(digest);
        match self.resolve_file(&path) {
            Ok((_, size)) => Ok(Some(size)),
            Err(Fault::Missing) => Ok(None),
            Err(fault) => {
                let message = format!("{self}: {}", fault.message(&path));
                Err(Failure::new(requested, fault.kind(), message))
            }
        }
    }

    /// A file of the folder with links resolved, and its length.
    fn resolve_file(&self, path: &str) -> Result<(PathBuf, u64), Fault> {
        let path = fs::canonicalize(self.root.join(path)).map_err(Fault::from_io)?;
        if !path.starts_with(&self.root) {
            return Err(Fault::Refused("a link that leaves the folder"));
        }
        let metadata = fs::metadata(&path).map_err(Fault::from_io)?;
        // Opening a pipe would block.
        if metadata.is_file() {
            Ok((path, metadata.len()))
        } else {
            Err(Fault::Refused("not a file"))
        }
    }

    fn file(&self, path: &str, limit: u64) -> Result<Vec<u8>, Fault> {
        let (path, _) = self.resolve_file(path)?;
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(Fault::from_io)?;
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(Fault::from_io)?;
        if bytes.len() as u64 > limit {
            Err(Fault::TooLarge(limit))
        } else {
            Ok(bytes)
        }
    }
}

pub(super) fn blob_path(digest: &Digest) -> String {
    format!("blobs/{}", digest.as_str().replacen(':', "/", 1))
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.written)
    }
}

impl Fault {
    fn from_io(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io(error),
        }
    }

    fn kind(&self) -> FailureKind {
        match self {
            Self::Missing => FailureKind::NotFound,
            Self::Refused(_) => FailureKind::Corrupt,
            Self::TooLarge(_) => FailureKind::TooLarge,
            Self::Io(_) => FailureKind::Unreachable,
        }
    }

    fn message(&self, path: &str) -> String {
        match self {
            Self::Missing => format!("it has no `{path}`"),
            Self::Refused(what) => format!("its `{path}` is {what}"),
            Self::TooLarge(limit) => format!("its `{path}` has more than {limit} bytes"),
            Self::Io(error) => format!("its `{path}` cannot be read: {error}"),
        }
    }
}
