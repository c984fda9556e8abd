//! A file in the user's folder of caches: read and replaced as a whole, and deleted when it is old.
//!
//! A cache says what a run need not check again, so no repository may provide one: neither in its own files nor through a
//! link in them. Nothing here is an error: without a cache a run takes longer.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::files::repository_top;

/// The longest file that is read or written.
const LONGEST: u64 = 128 << 20;

/// How many files are kept, the newest, and how many bytes.
const KEPT: usize = 64;
const KEPT_BYTES: u64 = 512 << 20;

/// A cache of a project.
#[derive(Clone, Debug)]
pub struct CacheFile {
    folder: PathBuf,
    name: String,
}

impl CacheFile {
    /// The file of that name in a folder of the user; none where the project's repository is, or leads, there.
    pub fn new(folder: &Path, project: &Path, name: String) -> Option<Self> {
        let top = repository_top(project).or_else(|| project.canonicalize().ok())?;
        let leads_inside = |above: &Path| {
            above
                .canonicalize()
                .is_ok_and(|above| above.starts_with(&top))
        };
        if !folder.is_absolute() || folder.ancestors().any(leads_inside) {
            return None;
        }
        Some(Self {
            folder: folder.to_owned(),
            name,
        })
    }

    /// Its text; none where it cannot be read, or where others may write it.
    pub fn read(&self) -> Option<String> {
        if !is_private(&self.folder) {
            return None;
        }
        let path = self.folder.join(&self.name);
        let found = path.symlink_metadata().ok()?;
        if !found.is_file() || found.len() > LONGEST {
            return None;
        }
        let mut text = String::with_capacity(found.len() as usize + 1);
        let file = File::open(path).ok()?;
        file.take(LONGEST).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Replaces it: a reader sees the old text or the new one. Old caches are deleted.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write<'t>(&self, parts: impl Iterator<Item = &'t str>) -> io::Result<()> {
        make_private(&self.folder)?;
        if !is_private(&self.folder) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        // Not synced: what a power failure leaves is no whole cache, and is not believed.
        let mut file = BufWriter::new(NamedTempFile::new_in(&self.folder)?);
        let mut bytes = 0;
        for part in parts {
            bytes += part.len() as u64;
            if bytes > LONGEST {
                return Err(ErrorKind::FileTooLarge.into());
            }
            file.write_all(part.as_bytes())?;
        }
        let file = file.into_inner().map_err(IntoInnerError::into_error)?;
        file.persist(self.folder.join(&self.name))?;
        delete_old(&self.folder)
    }
}

/// Deletes all but the newest files.
fn delete_old(folder: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_file() {
            files.push((Reverse(found.modified()?), found.len(), entry.path()));
        }
    }
    files.sort();
    let mut bytes = 0;
    for (index, (_, length, path)) in files.into_iter().enumerate() {
        bytes += length;
        if index >= KEPT || bytes > KEPT_BYTES {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Whether it is this user's, and nobody else may write there.
#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let user = rustix::process::geteuid().as_raw();
    fs::metadata(folder).is_ok_and(|found| {
        let is_own = found.uid() == user;
        found.is_dir() && is_own && found.permissions().mode() & 0o022 == 0
    })
}

/// Other systems keep a user's folders private by themselves.
#[cfg(not(unix))]
fn is_private(folder: &Path) -> bool {
    folder.is_dir()
}
