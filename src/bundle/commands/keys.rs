//! The keys that are named on the command line: files.

use std::io::Read as _;
use std::path::Path;

use crate::artifacts::signature::{PublicKey, SecretKeyError, SigningKey};
use crate::error::Error;
use crate::files;
use crate::model::secret::learn;
use crate::read::Request;

use super::below;
use super::push::Signing;

/// Longer files are no key, in bytes.
const LIMIT: u64 = 64 << 10;

/// The private key of a file.
pub(super) fn secret(request: &Request, signing: &Signing) -> Result<SigningKey, Error> {
    let text = text(request, &signing.key)?;
    learn(&text);
    signing.password.as_deref().into_iter().for_each(learn);
    SigningKey::read(&text, signing.password.as_deref()).map_err(|error| {
        let help = match error {
            SecretKeyError::NoPassword => "\nhelp: set COSIGN_PASSWORD, as for cosign itself",
            SecretKeyError::Password => "\nhelp: COSIGN_PASSWORD holds another one",
            _ => "",
        };
        let message = format!("`{}` cannot sign: {error}{help}", signing.key.display());
        Error::Usage { message }
    })
}

/// The public key of a file.
pub(super) fn public(request: &Request, file: &Path) -> Result<PublicKey, Error> {
    PublicKey::read(&text(request, file)?).map_err(|error| {
        let message = format!("`{}` is no key to verify with: {error}", file.display());
        Error::Usage { message }
    })
}

fn text(request: &Request, file: &Path) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let opened = files::open(&below(request, file))?;
    let read = opened.take(LIMIT).read_to_end(&mut bytes);
    read.map_err(|cause| Error::Read {
        path: file.to_owned(),
        cause,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
