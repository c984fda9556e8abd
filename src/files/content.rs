//! What a file holds, with the name of the file that a link leads to.

use std::io;
use std::path::{Path, PathBuf};

use capi::secrets;
use oci_artifacts::sha256;
use yaml_tree::engine::Engine;
use yaml_tree::place::Source;
use yaml_tree::{EncodingError, decode};

use crate::error::Error;

/// The bytes of a file. Its text is a [`Source`], in which secrets are marked, or is had only where no link leads to a file of
/// secrets: no reader decides that by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    bytes: Vec<u8>,
    leads_to: Option<PathBuf>,
    /// Whether it is secret as a whole, whatever its own path says.
    is_secret: bool,
}

impl Content {
    /// The bytes at the end of a path, which leads there by a link or by itself.
    pub(super) fn new(bytes: Vec<u8>, leads_to: Option<PathBuf>) -> Self {
        let is_secret = leads_to.as_deref().is_some_and(secrets::is_named_secret);
        Self {
            bytes,
            leads_to,
            is_secret,
        }
    }

    /// The same, which is secret if this says so.
    pub(super) fn mark_secret(mut self, is_secret: bool) -> Self {
        self.is_secret |= is_secret;
        self
    }

    /// Where a link on the way leads to.
    pub(super) fn leads_to(&self) -> Option<&Path> {
        self.leads_to.as_deref()
    }

    /// The text under the path that is shown, with its secrets marked. No line of a file outside the project is shown.
    ///
    /// # Errors
    /// It is not text.
    pub fn source(&self, shown: String, engine: Engine) -> Result<Source, EncodingError> {
        let text = decode(&self.bytes, engine)?;
        let real = self.leads_to.as_deref().unwrap_or(Path::new(&shown));
        let is_outside = real.is_absolute();
        let mut source = if self.is_secret {
            secrets::secret_source(shown, text)
        } else {
            secrets::source(shown, text)
        };
        source.is_hidden |= is_outside;
        Ok(source)
    }

    /// The bytes, for a reader that knows no secrets; none where they are secret as a whole.
    pub fn plain(&self) -> Option<&[u8]> {
        (!self.is_secret).then_some(&*self.bytes)
    }

    /// The bytes as in [`Content::plain`].
    ///
    /// # Errors
    /// They are secret as a whole.
    pub(super) fn into_plain(self, path: &Path) -> Result<Vec<u8>, Error> {
        if self.is_secret {
            return Err(Error::Read {
                path: path.to_owned(),
                cause: io::Error::other(SECRET),
            });
        }
        Ok(self.bytes)
    }

    /// Whether the bytes are UTF-8.
    pub fn is_text(&self) -> bool {
        std::str::from_utf8(&self.bytes).is_ok()
    }

    /// A digest of the bytes, to be compared.
    pub fn digest(&self) -> [u8; 32] {
        sha256(&self.bytes)
    }

    /// The bytes, whatever they are: to be compared, and never shown (`tests/architecture.rs` lists who has them).
    pub fn raw_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a file is not read, and what to do.
pub const SECRET: &str = "it is a link to a file of secrets, or a Secret is made of it: move the values that metalmark needs into another file";

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes, None)
    }
}
