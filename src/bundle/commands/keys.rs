//! Reads the key files that the command line names.

use std::io::Read as _;
use std::path::Path;

use oci_artifacts::signature::{PublicKey, SecretKeyError, SigningKey};

use crate::error::Error;
use crate::files;

use super::Run;

/// The longest key file, in bytes.
const LIMIT: u64 = 64 << 10;

impl Run<'_> {
    /// The private key of a file.
    pub(super) fn signing_key(&self, file: &Path) -> Result<SigningKey, Error> {
        let text = self.key_text(file)?;
        let file = file.display();
        SigningKey::read(&text).map_err(|error| {
            let help = match error {
                SecretKeyError::Encrypted => format!(
                    "\nhelp: push without `--sign`, then sign the digest that is printed: `cosign sign --key {file} REGISTRY/REPOSITORY@DIGEST`"
                ),
                _ => String::new(),
            };
            Error::usage(format!("`{file}` cannot sign: {error}{help}"))
        })
    }

    /// The key of `--key`, with its file.
    pub(super) fn key<'f>(
        &self,
        file: Option<&'f Path>,
    ) -> Result<Option<(PublicKey, &'f Path)>, Error> {
        file.map(|file| Ok((self.public_key(file)?, file)))
            .transpose()
    }

    fn public_key(&self, file: &Path) -> Result<PublicKey, Error> {
        PublicKey::read(&self.key_text(file)?).map_err(|error| {
            Error::usage(format!(
                "`{}` is not a key to verify with: {error}",
                file.display()
            ))
        })
    }

    fn key_text(&self, file: &Path) -> Result<String, Error> {
        let mut bytes = Vec::new();
        let opened = files::open(&self.resolve(file))?;
        let read = opened.take(LIMIT).read_to_end(&mut bytes);
        read.map_err(Error::reading(file))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
