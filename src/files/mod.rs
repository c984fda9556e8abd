//! Reads the user's files. The workspace is read through [`Files`], so that a revision can be read that is not checked out.

mod content;
mod disk;
mod folder;
mod git;
mod guarded;
mod left_out;
mod overlay;
mod revision;
mod sandbox;
mod scope;
mod tree;

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use scope::no_regular_file;

pub use content::{Content, SECRET};
pub use disk::Disk;
pub use folder::{Folder, PathState, Walk, layout_sink};
pub use git::{HistoryCommit, Provenance, Repository};
pub use guarded::{Guarded, KUSTOMIZATIONS, SecretPaths, is_kustomization, is_yaml};
pub use left_out::index_paths;
pub use overlay::Overlay;
pub use overlay::Tracked;
pub use revision::Revision;
pub use sandbox::{sandbox, start_threads};
pub use scope::Scope;
pub use tree::{Inside, InsideKind, body, open, path_kind, read_argument, read_link, real, tree};

/// The most bytes of a file that are read: no larger file is input of this tool, and a link to a device has no end.
pub const FILE_LIMIT: u64 = 16 << 20;

/// The top of the repository that a folder is in, with links resolved: the nearest folder with a `.git`, if there is one. Git
/// refuses to commit a file of that name, so a commit cannot contain a false one.
pub fn repository_top(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let mut above = folder.ancestors();
    let top = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
    top.map(Path::to_owned)
}

/// Git's folder of the work tree that a folder is in: `.git`, or where a file of that name leads to, as in a linked work tree.
/// What lies in it comes of no commit.
pub fn git_folder(folder: &Path) -> Option<PathBuf> {
    let top = repository_top(folder)?;
    let mut git = top.join(".git");
    if git.is_file() {
        let text = std::fs::read_to_string(&git).ok()?;
        git = top.join(text.strip_prefix("gitdir: ")?.trim_end());
    }
    git.join("HEAD").is_file().then_some(git)
}

/// A path without `.` and, as far as it names folders, without `..`: two spellings of one file are one. Links are not followed.
pub fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            // Above the top is the top.
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

/// What is below a folder, sorted, with paths relative to it.
#[derive(Debug, Default)]
pub struct Below {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The links, wherever they lead.
    pub links: Vec<PathBuf>,
}

/// Read access to a folder of files. Paths are relative to its root.
pub trait Files: Send + Sync {
    /// The files that these change: they answer where these have no answer of their own.
    fn inner(&self) -> Option<&dyn Files> {
        None
    }

    /// The bytes of a file below the root. The path contains no `..`, and a link must not lead out of the root.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    fn file(&self, path: &Path) -> Result<Found, Error>;

    /// The names in a folder below the root, sorted; none if it is not a folder.
    ///
    /// # Errors
    /// The folder exists and cannot be read.
    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error>;

    /// The bytes of a file whose path, or a link in it, may lead out of the root, as far as the [`Scope`] allows.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    fn content(&self, path: &Path) -> Result<Content, Error> {
        match self.file(path)? {
            Found::File(content) => Ok(content),
            Found::Nothing | Found::Outside => Err(Error::Read {
                path: path.to_owned(),
                cause: ErrorKind::NotFound.into(),
            }),
        }
    }

    /// The bytes of such a file, for a reader that knows no secrets.
    ///
    /// # Errors
    /// There is no such file, it cannot be read, or a link leads to a file of secrets.
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Error> {
        self.content(path)?.into_plain(path)
    }

    /// Whether a path is a file. It may lead out of the root.
    fn is_file(&self, path: &Path) -> bool {
        match self.inner() {
            Some(inner) => inner.is_file(path),
            None => matches!(self.file(path), Ok(Found::File(_))),
        }
    }

    /// Whether anything exists at a path, including a pipe, a broken link, and a link out of the scope.
    fn is_there(&self, path: &Path) -> bool {
        match self.inner() {
            Some(inner) => inner.is_there(path),
            None => self.is_file(path) || self.is_folder(path),
        }
    }

    /// Whether a path is a folder. It may lead out of the root.
    fn is_folder(&self, path: &Path) -> bool {
        match self.inner() {
            Some(inner) => inner.is_folder(path),
            None => matches!(self.folder(path), Ok(Some(_))),
        }
    }

    /// The files below a folder, without the links that [`list`](Self::list) finds too.
    ///
    /// # Errors
    /// There is no such folder, or one in it cannot be read.
    fn list_recursive(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        Ok(self.list(folder)?.files)
    }

    /// What is below a folder, which may be outside the root. Links are not followed.
    ///
    /// # Errors
    /// There is no such folder, or one in it cannot be read.
    fn list(&self, folder: &Path) -> Result<Below, Error> {
        if let Some(inner) = self.inner() {
            return inner.list(folder);
        }
        let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
        while let Some(inner) = open.pop() {
            let path = folder.join(&inner);
            match self.folder(&path)? {
                Some(names) => open.extend(names.into_iter().rev().map(|name| inner.join(name))),
                None if inner.as_os_str().is_empty() => {
                    let cause = ErrorKind::NotFound.into();
                    return Err(Error::Read { path, cause });
                }
                None => found.push(inner),
            }
        }
        Ok(Below {
            files: found,
            links: Vec::new(),
        })
    }

    /// The paths of all files below the root with one of these names, links among them included. What cannot be read has none.
    fn paths_named(&self, names: &[&str]) -> Vec<PathBuf> {
        let inner = self.inner();
        inner.map_or_else(Vec::new, |inner| inner.paths_named(names))
    }

    /// Which files are secret because Secrets are made of them, if that is looked for.
    fn secret_paths(&self) -> Option<SecretPaths> {
        self.inner()?.secret_paths()
    }

    /// The path with its links resolved: relative to the root or the repository, or absolute if it is outside both. None if
    /// the path contains no link.
    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        self.inner()?.leads_to(path)
    }

    /// What was looked for and is not known, for git has not checked it out.
    fn absent_paths(&self) -> Vec<PathBuf> {
        self.inner().map_or_else(Vec::new, Files::absent_paths)
    }

    /// The same files, relative to the top of the repository, in which the root is this folder; none where there is no repository.
    fn repository_files(&self, _root: &Path) -> Option<Arc<dyn Files>> {
        None
    }

    /// The addresses of the remotes of the repository; none where they are not known.
    fn remotes(&self) -> Vec<String> {
        self.inner().map_or_else(Vec::new, Files::remotes)
    }

    /// A path from the command line, relative to the root if it is below it; the path may be absolute.
    fn relative_path(&self, path: &Path) -> PathBuf {
        let inner = self.inner();
        inner.map_or_else(|| path.to_owned(), |inner| inner.relative_path(path))
    }
}

/// What exists at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file that holds this.
    File(Content),
    /// No file.
    Nothing,
    /// A symbolic link that leads out of the repository.
    Outside,
}

/// The error for a file that is longer than [`FILE_LIMIT`].
fn too_large() -> std::io::Error {
    let message = format!("it is larger than {} MiB", FILE_LIMIT >> 20);
    std::io::Error::new(ErrorKind::FileTooLarge, message)
}
