//! The files of an archive, or of an image's layers applied on top of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use super::Limits;
use super::mode::Mode;
use super::refusal::{Reason, Refusal};
use super::spool::{Spool, Stretch};

/// The files and folders that were read.
pub struct Tree {
    /// The files by path.
    pub files: BTreeMap<String, Entry>,
    /// All folders but the root, including those of the files.
    pub folders: BTreeSet<String>,
}

/// A file of an archive.
#[derive(Clone)]
pub struct Entry {
    /// What may be done with it.
    pub mode: Mode,
    /// The length in bytes.
    pub size: u64,
    /// Its bytes.
    pub content: Stretch,
}

/// A tree that is being read. Every entry records its layer: a higher layer replaces and hides, one layer must not contain a
/// path twice.
#[derive(Default)]
pub(super) struct TreeBuilder {
    files: BTreeMap<String, Slot>,
    folders: BTreeMap<String, usize>,
    /// Bytes of all paths.
    names: usize,
    /// Bytes of all files, those of links counted again: they are written as often.
    bytes: u64,
    layer: usize,
}

/// The position of a file's bytes.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) mode: Mode,
    layer: usize,
}

impl Slot {
    pub(super) fn new(start: u64, size: u64, mode: Mode) -> Self {
        Self {
            start,
            size,
            mode,
            layer: 0,
        }
    }
}

impl TreeBuilder {
    /// Starts the next layer.
    pub(super) fn next_layer(&mut self) {
        self.layer += 1;
    }

    /// An existing file.
    pub(super) fn file(&self, path: &str) -> Option<Slot> {
        self.files.get(path).copied()
    }

    pub(super) fn add_file(
        &mut self,
        path: &str,
        slot: Slot,
        limits: &Limits,
    ) -> Result<(), Refusal> {
        let layer = self.layer;
        match (self.files.get(path), self.folders.get(path)) {
            (Some(there), _) if there.layer == layer => {
                return Err(Reason::Duplicate.for_entry(path));
            }
            (_, Some(there)) if *there == layer => {
                return Err(Reason::FileAndFolder.for_entry(path));
            }
            (_, Some(_)) => {
                self.hide(path);
                // It contains entries of the same layer.
                if self.folders.contains_key(path) {
                    return Err(Reason::FileAndFolder.for_entry(path));
                }
            }
            _ => {}
        }
        self.add_folders_above(path, limits)?;
        self.charge(path, limits)?;
        self.bytes += slot.size;
        if self.bytes > limits.unpacked {
            return Err(Reason::UnpackedTooLarge(limits.unpacked).into());
        }
        self.files.insert(path.to_owned(), Slot { layer, ..slot });
        Ok(())
    }

    pub(super) fn add_folder(&mut self, path: &str, limits: &Limits) -> Result<(), Refusal> {
        self.add_folders_above(path, limits)?;
        self.enter_folder(path, limits)
    }

    /// Hides a path and everything below it, except entries of this layer.
    pub(super) fn hide(&mut self, path: &str) {
        self.hide_below(path);
        let layer = self.layer;
        if self.files.get(path).is_some_and(|slot| slot.layer < layer) {
            self.files.remove(path);
        }
        if self.folders.get(path).is_some_and(|there| *there < layer) {
            self.folders.remove(path);
        }
    }

    /// Hides everything below a folder, except entries of this layer. The root's path is empty.
    pub(super) fn hide_below(&mut self, path: &str) {
        let layer = self.layer;
        let inside = match path {
            "" => String::new(),
            _ => format!("{path}/"),
        };
        let files = prefix_range(&self.files, &inside).filter(|(_, slot)| slot.layer < layer);
        let files: Vec<String> = files.map(|(path, _)| path.clone()).collect();
        let folders = prefix_range(&self.folders, &inside).filter(|(_, there)| **there < layer);
        let folders: Vec<String> = folders.map(|(path, _)| path.clone()).collect();
        for path in files {
            self.files.remove(&path);
        }
        for path in folders {
            self.folders.remove(&path);
        }
    }

    /// The tree, with its bytes in a spool.
    pub(super) fn finish(self, spool: &Arc<Spool>) -> Tree {
        let entry = |slot: Slot| Entry {
            mode: slot.mode,
            size: slot.size,
            content: spool.stretch(slot.start, slot.size),
        };
        let files = self.files.into_iter();
        Tree {
            files: files.map(|(path, slot)| (path, entry(slot))).collect(),
            folders: self.folders.into_keys().collect(),
        }
    }

    fn add_folders_above(&mut self, path: &str, limits: &Limits) -> Result<(), Refusal> {
        for (slash, _) in path.match_indices('/') {
            self.enter_folder(&path[..slash], limits)?;
        }
        Ok(())
    }

    fn enter_folder(&mut self, path: &str, limits: &Limits) -> Result<(), Refusal> {
        let layer = self.layer;
        match self.files.get(path) {
            Some(slot) if slot.layer == layer => return Err(Reason::FileAndFolder.for_entry(path)),
            Some(_) => {
                self.files.remove(path);
            }
            None => {}
        }
        match self.folders.get_mut(path) {
            Some(there) => *there = layer,
            None => {
                self.charge(path, limits)?;
                self.folders.insert(path.to_owned(), layer);
            }
        }
        Ok(())
    }

    fn charge(&mut self, path: &str, limits: &Limits) -> Result<(), Refusal> {
        self.names += path.len();
        if self.names > limits.names {
            Err(Reason::NamesTooLong(limits.names).into())
        } else {
            Ok(())
        }
    }
}

/// The entries with a prefix.
fn prefix_range<'a, T>(
    of: &'a BTreeMap<String, T>,
    start: &'a str,
) -> impl Iterator<Item = (&'a String, &'a T)> {
    let from = of.range::<str, _>((Bound::Included(start), Bound::Unbounded));
    from.take_while(move |(path, _)| path.starts_with(start))
}
