//! A repository that is nowhere but in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use metalmark::error::Error;
use metalmark::files::{Files, Found};

/// Files by their paths below the root.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    /// The files of a text in which each follows a line `=== PATH`.
    pub(super) fn of(data: &[u8]) -> Self {
        let mut files = BTreeMap::new();
        let mut rest = data.strip_prefix(b"=== ").unwrap_or_default();
        while !rest.is_empty() {
            let line = rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len());
            let name = String::from_utf8_lossy(&rest[..line]).into_owned();
            rest = rest.get(line + 1..).unwrap_or_default();
            let end = find(rest, b"\n=== ");
            let text = &rest[..end.map_or(rest.len(), |end| end + 1)];
            files.insert(plain(Path::new(&name)), text.to_vec());
            rest = end.map_or(&[][..], |end| &rest[end + 5..]);
        }
        Self(files)
    }

    /// The files by their paths, in order.
    pub(super) fn into_files(self) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
        self.0.into_iter()
    }

    /// The files below a folder on disk.
    pub(super) fn read(folder: &Path) -> Self {
        let (mut files, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
        while let Some(inner) = open.pop() {
            for entry in fs::read_dir(inner).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let below = path.strip_prefix(folder).expect("below").to_owned();
                    files.insert(below, fs::read(&path).expect("a file"));
                }
            }
        }
        Self(files)
    }

    /// The same files, and another one.
    pub(super) fn with(&self, path: &str, bytes: &[u8]) -> Self {
        let mut files = self.0.clone();
        files.insert(PathBuf::from(path), bytes.to_vec());
        Self(files)
    }
}

impl Files for Memory {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let found = self.0.get(&plain(path));
        Ok(found.map_or(Found::Nothing, |bytes| Found::File(bytes.clone().into())))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let folder = plain(path);
        let below = self
            .0
            .keys()
            .filter_map(|path| path.strip_prefix(&folder).ok());
        let first = below.filter_map(|path| path.iter().next());
        let names: BTreeSet<String> = first
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        Ok((!names.is_empty()).then(|| names.into_iter().collect()))
    }
}

fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    plain
}

/// Where a text stands first.
pub(super) fn find(within: &[u8], text: &[u8]) -> Option<usize> {
    within.windows(text.len()).position(|part| part == text)
}

/// This repository's root.
pub(super) fn repository() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    if manifest.join("seeds").is_dir() {
        manifest.parent().expect("it is below the repository")
    } else {
        manifest
    }
}
