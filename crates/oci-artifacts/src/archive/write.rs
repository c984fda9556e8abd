//! Packs files into tar and gzip with the same bytes on every machine.
//!
//! Entries are sorted by the bytes of their paths, with ustar headers, owner 0, no names, no times, and modes 0644 and 0755;
//! the gzip header has neither time nor system. The compressed bytes depend on the compressor and its level: both are pinned,
//! and a test compares a digest.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::spool::Spooling;
use crate::{Body, Digest, Digesting};

/// The default level of `gzip` and Go.
const LEVEL: u32 = 6;

/// "Unknown" operating system (RFC 1952, 2.3.1).
const NO_SYSTEM: u8 = 255;

/// A file to pack.
pub struct Member<'a> {
    /// The path, `/` between names.
    pub path: &'a str,
    /// Whether it is executable.
    pub is_executable: bool,
    /// The length in bytes.
    pub size: u64,
    /// Its bytes.
    pub content: &'a dyn Body,
}

/// A packed archive.
#[derive(Clone)]
pub struct Packed {
    /// The compressed bytes.
    pub content: Arc<dyn Body>,
    /// Their digest.
    pub digest: Digest,
    /// Their number.
    pub size: u64,
    /// The digest of the uncompressed tar stream, independent of the compressor: an image's `diff_id`.
    pub unpacked: Digest,
}

/// Packs files, with entries for their folders before them. `progress` receives the number of packed files.
///
/// # Errors
/// A file cannot be read or does not have its declared length; the archive cannot be stored.
pub fn pack(members: Vec<Member<'_>>, progress: &dyn Fn(usize)) -> io::Result<Packed> {
    let gzip = GzBuilder::new()
        .mtime(0)
        .operating_system(NO_SYSTEM)
        .write(Digesting::new(Spooling::new()), Compression::new(LEVEL));
    let unpacked = tar(members, Digesting::new(gzip), progress)?.finish();
    let packed = unpacked.into.finish()?.finish();
    Ok(Packed {
        content: Arc::new(packed.into.finish().whole()),
        digest: packed.digest,
        size: packed.size,
        unpacked: unpacked.digest,
    })
}

/// The digest of the tar stream that [`pack`] compresses, which does not depend on the compressor.
///
/// # Errors
/// A file cannot be read or does not have its declared length.
pub fn digest(members: Vec<Member<'_>>, progress: &dyn Fn(usize)) -> io::Result<Digest> {
    let written = tar(members, Digesting::new(io::sink()), progress)?;
    Ok(written.finish().digest)
}

fn tar<W: Write>(mut members: Vec<Member<'_>>, into: W, progress: &dyn Fn(usize)) -> io::Result<W> {
    members.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    let mut builder = Builder::new(into);
    let mut folders = BTreeSet::new();
    for (index, member) in members.iter().enumerate() {
        for (slash, _) in member.path.match_indices('/') {
            if folders.insert(&member.path[..slash]) {
                let mut header = header(EntryType::Directory, 0o755, 0);
                let folder = &member.path[..=slash];
                builder.append_data(&mut header, folder, io::empty())?;
            }
        }
        append(&mut builder, member)?;
        progress(index + 1);
    }
    builder.into_inner()
}

fn append<W: Write>(builder: &mut Builder<W>, member: &Member<'_>) -> io::Result<()> {
    let mode = if member.is_executable { 0o755 } else { 0o644 };
    let mut header = header(EntryType::Regular, mode, member.size);
    let exact = Exact {
        inner: member.content.open()?,
        left: member.size,
    };
    builder.append_data(&mut header, member.path, exact)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}

/// Reads exactly the declared number of bytes: a file that grows meanwhile would corrupt the archive.
struct Exact<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Exact<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let fits = read as u64 <= self.left && (read > 0 || self.left == 0 || buffer.is_empty());
        if !fits {
            return Err(io::Error::other("its length changed while it was read"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Member, pack};

    fn member<'a>(path: &'a str, is_executable: bool, content: &'a Vec<u8>) -> Member<'a> {
        Member {
            path,
            is_executable,
            size: content.len() as u64,
            content,
        }
    }

    /// The digests change only with the compressor, its level or this module. Then every bundle's digest changes, and the release
    /// notes must say so.
    #[test]
    fn the_same_files_have_this_digest_everywhere() {
        let (text, script) = (b"a: 1\n".repeat(100), b"#!/bin/sh\n".to_vec());
        let long = format!("manifests/{}.yaml", "x".repeat(120));
        let of = |order: [usize; 3]| {
            let all = |index: usize| match index {
                0 => member("manifests/a.yaml", false, &text),
                1 => member("install.sh", true, &script),
                _ => member(&long, false, &text),
            };
            pack(order.map(all).into_iter().collect(), &|_| {}).expect("memory")
        };
        let packed = of([0, 1, 2]);
        assert_eq!(of([2, 1, 0]).digest, packed.digest);
        assert_eq!(
            [packed.unpacked.as_str(), packed.digest.as_str()],
            [
                "sha256:6f05be12e91495e1596d355c4c526599c041bdd5d249f4332185cbdd5996d63e",
                "sha256:7e09a8aef38627829656461119783d32316f8216efc5e0a7e826464f5c3dfe8b",
            ]
        );
        let mut bytes = Vec::new();
        let mut reader = packed.content.open().expect("kept");
        reader.read_to_end(&mut bytes).expect("kept");
        assert_eq!(bytes.len() as u64, packed.size);
        assert_eq!(bytes[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    }

    #[test]
    fn a_file_with_another_length_is_an_error() {
        let content = b"four".to_vec();
        for size in [3, 5] {
            let member = Member {
                size,
                ..member("a", false, &content)
            };
            assert!(pack(vec![member], &|_| {}).is_err());
        }
    }
}
