//! The files that signing keys are in.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

/// The longest file that is read for a key, in bytes; a PEM public key has a few hundred.
const KEY_LIMIT: u64 = 64 << 10;

/// The PEM text of a key: the value itself, or what stands in the file below the project that it names.
///
/// # Errors
/// Why the file cannot be read, in words.
pub fn key_text(root: &Path, value: &str) -> Result<String, String> {
    if value.contains("-----BEGIN") {
        return Ok(value.to_owned());
    }
    let path = root.join(value.trim());
    let read = || -> std::io::Result<String> {
        // A pipe or a device would be waited for, or never end.
        if !fs::metadata(&path)?.is_file() {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        let mut text = String::new();
        File::open(&path)?
            .take(KEY_LIMIT)
            .read_to_string(&mut text)?;
        Ok(text)
    };
    read().map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => {
            "it is no PEM public key, and there is no such file".to_owned()
        }
        _ => "the file that it names cannot be read".to_owned(),
    })
}
