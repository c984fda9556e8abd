//! Archives into a tree: every entry held to the limits and the rules before a byte of it is kept.

use std::collections::HashSet;
use std::io::Read;

use super::blocks::{Blocks, Head};
use super::entry::{self, Kind};
use super::limits::Limits;
use super::refusal::{ReadError, Reason};
use super::spool::Spooling;
use super::stream::Stream;
use super::tree::{Growing, Slot, Tree};

/// A file of this name hides what it is named after (image-spec, layer.md, "Whiteouts").
const WHITEOUT: &str = ".wh.";

/// Hides all that layers underneath put into its folder.
const OPAQUE: &str = ".wh..wh..opq";

/// What a file whose name starts with `.wh.` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whiteouts {
    /// What layers underneath brought is hidden: image layers.
    Hide,
    /// Nothing: any other archive.
    AreFiles,
}

/// Archives that lie over each other, lowest first.
pub struct Layers {
    limits: Limits,
    whiteouts: Whiteouts,
    spooling: Spooling,
    growing: Growing,
    entries: usize,
    unpacked: u64,
}

/// Reads one archive, compressed by gzip or not at all.
///
/// # Errors
/// It cannot be read, or something in it is not taken.
pub fn read(reader: impl Read, limits: Limits) -> Result<Tree, ReadError> {
    let mut layers = Layers::new(limits, Whiteouts::AreFiles);
    layers.add(reader, &|_| {})?;
    Ok(layers.finish())
}

impl Layers {
    /// Nothing yet.
    pub fn new(limits: Limits, whiteouts: Whiteouts) -> Self {
        Self {
            limits,
            whiteouts,
            spooling: Spooling::new(),
            growing: Growing::default(),
            entries: 0,
            unpacked: 0,
        }
    }

    /// Lays an archive over those before it. Tells after each entry how many came in all.
    ///
    /// # Errors
    /// It cannot be read, or something in it is not taken; then nothing of all the layers is to be used.
    pub fn add(&mut self, reader: impl Read, told: &dyn Fn(usize)) -> Result<(), ReadError> {
        self.growing.next_layer();
        let limits = self.limits.clone();
        let stream = Stream::open(reader, &limits, self.unpacked)?;
        let mut blocks = Blocks::new(stream, &limits);
        let mut hidden = HashSet::new();
        while let Some(head) = blocks.next(&mut self.entries)? {
            self.take(&head, &mut blocks, &mut hidden)?;
            told(self.entries);
        }
        self.unpacked = blocks.unpacked();
        Ok(())
    }

    /// All layers together.
    pub fn finish(self) -> Tree {
        self.growing.finish(&self.spooling.finish())
    }

    fn take<R: Read>(
        &mut self,
        head: &Head,
        blocks: &mut Blocks<'_, R>,
        hidden: &mut HashSet<String>,
    ) -> Result<(), ReadError> {
        let Some((path, kind)) = entry::of(head, &self.limits)? else {
            return Ok(());
        };
        let name = path.rsplit('/').next().unwrap_or(&path);
        if self.whiteouts == Whiteouts::Hide && name.starts_with(WHITEOUT) {
            if kind != Kind::File || !hidden.insert(path.clone()) {
                return Err(Reason::Whiteout.of(path).into());
            }
            return self.white_out(&path, name);
        }
        let slot = match kind {
            Kind::Folder => {
                self.growing.add_folder(&path, &self.limits)?;
                return Ok(());
            }
            Kind::HardLink(ref target) => match self.growing.file(target) {
                Some(slot) => slot,
                None => return Err(Reason::HardLink(target.clone()).of(path).into()),
            },
            Kind::File => Slot::new(self.spooling.length(), head.size, head.is_executable),
        };
        self.growing.add_file(&path, slot, &self.limits)?;
        if kind == Kind::File {
            blocks.copy(&mut self.spooling)?;
        }
        Ok(())
    }

    fn white_out(&mut self, path: &str, name: &str) -> Result<(), ReadError> {
        let folder = path[..path.len() - name.len()].trim_end_matches('/');
        if name == OPAQUE {
            self.growing.hide_below(folder);
            if !folder.is_empty() {
                self.growing.add_folder(folder, &self.limits)?;
            }
            return Ok(());
        }
        let of = &name[WHITEOUT.len()..];
        if of.is_empty() || of.starts_with(WHITEOUT) || of == "." || of == ".." {
            return Err(Reason::Whiteout.of(path).into());
        }
        match folder {
            "" => self.growing.hide(of),
            _ => self.growing.hide(&format!("{folder}/{of}")),
        }
        Ok(())
    }
}
