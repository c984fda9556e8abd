//! Reads the entries of a tar stream block by block: header, contents, padding, end.
//!
//! Source: POSIX.1-2017, pax, "ustar Interchange Format".

use std::io::{Read, Write};

use tar::Header;

use super::Limits;
use super::extension::{self, Extension};
use super::mode::Mode;
use super::refusal::{ReadError, Reason};
use super::stream::Stream;

/// The length of a block in bytes.
const BLOCK: usize = 512;

/// The entries of one tar stream.
pub(super) struct Blocks<'a, R: Read> {
    stream: Stream<'a, R>,
    limits: &'a Limits,
    /// Bytes of the current entry's contents and of its padding that were not read yet.
    left: u64,
    padding: usize,
    is_first: bool,
}

/// A header, after its extension headers were applied.
pub(super) struct Head {
    /// The path, as written in the archive.
    pub(super) path: Vec<u8>,
    /// The target of a link.
    pub(super) link: Vec<u8>,
    /// The type flag.
    pub(super) kind: u8,
    /// The length of the contents in bytes.
    pub(super) size: u64,
    /// What may be done with it.
    pub(super) mode: Mode,
    /// Whether it is a sparse file.
    pub(super) is_sparse: bool,
}

impl<'a, R: Read> Blocks<'a, R> {
    pub(super) fn new(stream: Stream<'a, R>, limits: &'a Limits) -> Self {
        Self {
            stream,
            limits,
            left: 0,
            padding: 0,
            is_first: true,
        }
    }

    /// The number of unpacked bytes so far.
    pub(super) fn byte_count(&self) -> u64 {
        self.stream.unpacked
    }

    /// The next entry, without its contents; none at the end. `count` is incremented for every header.
    pub(super) fn next(&mut self, count: &mut usize) -> Result<Option<Head>, ReadError> {
        self.skip()?;
        let mut extension = Extension::default();
        loop {
            let Some(header) = self.header()? else {
                return if extension.is_some() {
                    Err(Reason::Malformed("ends after an extension header").into())
                } else {
                    Ok(None)
                };
            };
            *count += 1;
            if *count > self.limits.entries {
                return Err(Reason::TooManyEntries(self.limits.entries).into());
            }
            let path = || String::from_utf8_lossy(&header.path_bytes()).into_owned();
            let size = header.entry_size();
            let size = size.map_err(|_| {
                Reason::Malformed("has a length that is not a number").for_entry(path())
            })?;
            let kind = header.as_old().linkflag[0];
            let applied = match kind {
                b'L' => extension.long_name(self.extension(size)?),
                b'K' => extension.long_link(self.extension(size)?),
                b'x' | b'X' => extension.records(&self.extension(size)?),
                b'g' => extension::global(&self.extension(size)?),
                _ => return self.head(&header, extension, size).map(Some),
            };
            applied?;
        }
    }

    /// Copies the contents of the current entry into a writer.
    pub(super) fn copy(&mut self, into: &mut dyn Write) -> Result<(), ReadError> {
        let mut buffer = [0; 16 << 10];
        while self.left > 0 {
            let length = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(buffer.len());
            match self.stream.read(&mut buffer[..length])? {
                0 => return Err(Reason::Truncated.into()),
                read => {
                    into.write_all(&buffer[..read])?;
                    self.left -= read as u64;
                }
            }
        }
        let mut padding = [0; BLOCK];
        let length = std::mem::take(&mut self.padding);
        match self.stream.fill(&mut padding[..length])? {
            filled if filled == length => Ok(()),
            // umoci omits the padding after the last file of a layer.
            0 if self.stream.is_gzip => Ok(()),
            _ => Err(Reason::Truncated.into()),
        }
    }

    fn skip(&mut self) -> Result<(), ReadError> {
        self.copy(&mut std::io::sink())
    }

    fn enter(&mut self, size: u64) {
        self.left = size;
        self.padding = (BLOCK - (size % BLOCK as u64) as usize) % BLOCK;
    }

    /// The contents of an extension header.
    fn extension(&mut self, size: u64) -> Result<Vec<u8>, ReadError> {
        if size > self.limits.extension {
            return Err(Reason::ExtensionTooLarge(self.limits.extension).into());
        }
        self.enter(size);
        let mut bytes = Vec::new();
        self.copy(&mut bytes)?;
        Ok(bytes)
    }

    fn head(
        &mut self,
        header: &Header,
        extension: Extension,
        size: u64,
    ) -> Result<Head, ReadError> {
        let path = extension
            .path
            .unwrap_or_else(|| header.path_bytes().into_owned());
        let shown = || String::from_utf8_lossy(&path).into_owned();
        if extension.size.is_some_and(|declared| declared != size) {
            let reason =
                Reason::Malformed("has one length in its header and another in its PAX records");
            return Err(reason.for_entry(shown()).into());
        }
        if size > self.limits.file {
            return Err(Reason::FileTooLarge(self.limits.file)
                .for_entry(shown())
                .into());
        }
        self.enter(size);
        let link = header.link_name_bytes();
        let link = link.map(|link| link.into_owned()).unwrap_or_default();
        Ok(Head {
            link: extension.link.unwrap_or(link),
            kind: header.as_old().linkflag[0],
            size,
            mode: header.mode().map_or(Mode::PLAIN, Mode::new),
            is_sparse: extension.is_sparse,
            path,
        })
    }

    /// The next header; none at the empty block that ends the archive. Only empty blocks may follow it.
    fn header(&mut self) -> Result<Option<Header>, ReadError> {
        let mut header = Header::new_old();
        let first = std::mem::take(&mut self.is_first);
        match self.stream.fill(header.as_mut_bytes())? {
            BLOCK => {}
            _ if first => return Err(Reason::NotTar.into()),
            // Some writers omit the final blocks; gzip's length and checksum prove that nothing is missing.
            0 if self.stream.is_gzip => return Ok(None),
            _ => return Err(Reason::Truncated.into()),
        }
        if header.as_bytes().iter().all(|byte| *byte == 0) {
            self.end()?;
            return Ok(None);
        }
        match header.cksum() {
            Ok(sum) if sum == checksum(&header) && !names(&header).all(extension::is_whole) => {
                let shown = String::from_utf8_lossy(&header.path_bytes()).into_owned();
                Err(Reason::UnreadableName.for_entry(shown).into())
            }
            Ok(sum) if sum == checksum(&header) => Ok(Some(header)),
            _ if first => Err(Reason::NotTar.into()),
            _ => Err(Reason::Malformed("has a header whose checksum is wrong").into()),
        }
    }

    fn end(&mut self) -> Result<(), ReadError> {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.stream.read(&mut buffer)? {
                0 => return Ok(()),
                read if buffer[..read].iter().all(|byte| *byte == 0) => {}
                _ => return Err(Reason::Trailing.into()),
            }
        }
    }
}

/// The fields of a header with names.
fn names(header: &Header) -> impl Iterator<Item = &[u8]> {
    let prefix = header.as_ustar().map(|ustar| &ustar.prefix[..]);
    let old = header.as_old();
    [&old.name[..], &old.linkname[..]].into_iter().chain(prefix)
}

/// The sum of a header's bytes, with spaces in place of the checksum field.
fn checksum(header: &Header) -> u32 {
    let bytes = header.as_bytes();
    let sum = |part: &[u8]| part.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    sum(&bytes[..148]) + 8 * u32::from(b' ') + sum(&bytes[156..])
}
