//! Reads a text that the command line names: a file, or `-` for stdin.

use std::io::{self, Read};
use std::path::Path;

use crate::error::Error;
use crate::files;

/// No list of images is longer, in bytes.
const LIMIT: u64 = 16 << 20;

/// The text of a file, or of the standard input for `-`.
///
/// # Errors
/// It cannot be read, is no UTF-8, or is longer than 16 MiB.
pub fn text(path: &Path) -> Result<String, Error> {
    let read = if path == Path::new("-") {
        read_limited(io::stdin().lock())
    } else {
        read_limited(files::open(path)?)
    };
    read.map_err(Error::reading(path))
}

fn read_limited(from: impl Read) -> io::Result<String> {
    let mut text = String::new();
    let read = from.take(LIMIT + 1).read_to_string(&mut text)?;
    if read as u64 > LIMIT {
        return Err(io::Error::other("it is longer than 16 MiB"));
    }
    Ok(text)
}
