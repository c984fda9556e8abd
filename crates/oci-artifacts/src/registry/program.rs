//! Where the programs are that are run: git, and helpers that keep credentials.

use std::env;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// Where programs are for a process without `PATH`, as for the C library.
const DEFAULT: &str = "/bin:/usr/bin";

/// The file of a program, by the absolute folders of `PATH`. Any other element of it leads from the folder in which something
/// runs, which is a repository of anybody: none of its files is run.
///
/// # Errors
/// There is none.
pub fn find_program(name: &str) -> io::Result<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_else(|| DEFAULT.into());
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
        .ok_or_else(|| ErrorKind::NotFound.into())
}
