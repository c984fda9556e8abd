//! Reads archives into a tree: every entry is checked against limits and rules before any of its bytes are stored.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;

use super::Limits;
use super::blocks::{Blocks, Head};
use super::entry::{self, EntryKind, MOST_LINKS};
use super::refusal::{ReadError, Reason};
use super::spool::Spooling;
use super::stream::Stream;
use super::tree::{Slot, Tree, TreeBuilder};

/// A file with this prefix hides the path that the rest names (image-spec, layer.md, "Whiteouts").
const WHITEOUT: &str = ".wh.";

/// Hides everything that lower layers have in its folder.
const OPAQUE: &str = ".wh..wh..opq";

/// The meaning of a file whose name starts with `.wh.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whiteouts {
    /// It hides a path of lower layers, as in image layers.
    Hide,
    /// None, as in any other archive.
    AreFiles,
}

/// Archives that are applied on top of each other, lowest first.
pub struct Layers {
    limits: Limits,
    whiteouts: Whiteouts,
    spooling: Spooling,
    tree: TreeBuilder,
    /// The symbolic links of the layer that is being read, by path, with the paths that they lead to.
    links: BTreeMap<String, String>,
    entries: usize,
    unpacked: u64,
}

/// Reads one archive, with or without gzip compression.
///
/// # Errors
/// It cannot be read, or something in it is refused.
pub fn read(reader: impl Read, limits: Limits) -> Result<Tree, ReadError> {
    let mut layers = Layers::new(limits, Whiteouts::AreFiles);
    layers.add(reader, &|_| {})?;
    Ok(layers.finish())
}

impl Layers {
    /// No layers.
    pub fn new(limits: Limits, whiteouts: Whiteouts) -> Self {
        Self {
            limits,
            whiteouts,
            spooling: Spooling::new(),
            tree: TreeBuilder::default(),
            links: BTreeMap::new(),
            entries: 0,
            unpacked: 0,
        }
    }

    /// Applies an archive on top of the previous ones. `progress` receives the number of entries so far.
    ///
    /// # Errors
    /// It cannot be read, or something in it is refused; then the whole tree is unusable.
    pub fn add(&mut self, reader: impl Read, progress: &dyn Fn(usize)) -> Result<(), ReadError> {
        self.tree.next_layer();
        let limits = self.limits.clone();
        let stream = Stream::open(reader, &limits, self.unpacked)?;
        let mut blocks = Blocks::new(stream, &limits);
        let mut hidden = HashSet::new();
        while let Some(head) = blocks.next(&mut self.entries)? {
            self.add_entry(&head, &mut blocks, &mut hidden)?;
            progress(self.entries);
        }
        self.unpacked = blocks.byte_count();
        self.follow_links()
    }

    /// Makes each symbolic link a copy of the file that it leads to, by way of others or not.
    fn follow_links(&mut self) -> Result<(), ReadError> {
        let links = std::mem::take(&mut self.links);
        for (path, target) in &links {
            let way = std::iter::successors(Some(target), |target| links.get(*target));
            match way.take(MOST_LINKS).find_map(|it| self.tree.file(it)) {
                Some(slot) => self.tree.add_file(path, slot, &self.limits)?,
                None => return Err(Reason::SymbolicLink(target.clone()).for_entry(path).into()),
            }
        }
        Ok(())
    }

    /// The tree of all layers.
    pub fn finish(self) -> Tree {
        self.tree.finish(&self.spooling.finish())
    }

    fn add_entry<R: Read>(
        &mut self,
        head: &Head,
        blocks: &mut Blocks<'_, R>,
        hidden: &mut HashSet<String>,
    ) -> Result<(), ReadError> {
        let Some((path, kind)) = entry::parse(head, &self.limits)? else {
            return Ok(());
        };
        let name = path.rsplit('/').next().unwrap_or(&path);
        if self.whiteouts == Whiteouts::Hide && name.starts_with(WHITEOUT) {
            if kind != EntryKind::File || !hidden.insert(path.clone()) {
                return Err(Reason::Whiteout.for_entry(path).into());
            }
            return self.white_out(&path, name);
        }
        let slot = match kind {
            EntryKind::Folder => {
                self.tree.add_folder(&path, &self.limits)?;
                return Ok(());
            }
            EntryKind::HardLink(ref target) => match self.tree.file(target) {
                Some(slot) => slot,
                None => return Err(Reason::HardLink(target.clone()).for_entry(path).into()),
            },
            EntryKind::SymbolicLink(ref target) => {
                return match self.links.insert(path.clone(), target.clone()) {
                    Some(_) => Err(Reason::Duplicate.for_entry(path).into()),
                    None => Ok(()),
                };
            }
            EntryKind::File => Slot::new(self.spooling.length(), head.size, head.mode),
        };
        self.tree.add_file(&path, slot, &self.limits)?;
        if kind == EntryKind::File {
            blocks.copy(&mut self.spooling)?;
        }
        Ok(())
    }

    fn white_out(&mut self, path: &str, name: &str) -> Result<(), ReadError> {
        let folder = path[..path.len() - name.len()].trim_end_matches('/');
        if name == OPAQUE {
            self.tree.hide_below(folder);
            if !folder.is_empty() {
                self.tree.add_folder(folder, &self.limits)?;
            }
            return Ok(());
        }
        let of = &name[WHITEOUT.len()..];
        if of.is_empty() || of.starts_with(WHITEOUT) || of == "." || of == ".." {
            return Err(Reason::Whiteout.for_entry(path).into());
        }
        match folder {
            "" => self.tree.hide(of),
            _ => self.tree.hide(&format!("{folder}/{of}")),
        }
        Ok(())
    }
}
