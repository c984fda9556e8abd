//! The files that signing keys are in.

use std::path::Path;

use crate::error::Error;
use crate::files::Files;

/// The PEM text of a key: the value itself, or the content of the file of the project that it names.
///
/// # Errors
/// Why the file cannot be read, in words.
pub fn key_text(files: &dyn Files, value: &str) -> Result<String, String> {
    if value.contains("-----BEGIN") {
        return Ok(value.to_owned());
    }
    let path = Path::new(value.trim());
    match files.read_file(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map_err(|_| "the file that it names is no text".to_owned())
        }
        Err(Error::Read { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            Err("it is no PEM public key, and there is no such file".to_owned())
        }
        Err(_) => Err("the file that it names cannot be read".to_owned()),
    }
}
