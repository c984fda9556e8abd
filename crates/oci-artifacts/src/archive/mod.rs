//! Archives of files in tar and gzip: written reproducibly, and read as untrusted input.
//!
//! Reading creates no named files: contents go into one unlinked temporary file and names into an index, both limited by
//! [`Limits`]. Only files and folders are accepted, and links to files, which become files. Of an entry's metadata only the
//! [`Mode`] is kept, and its executable bit written.

mod blocks;
mod entry;
mod extension;
mod mode;
mod read;
mod refusal;
mod spool;
mod stream;
mod tree;
mod write;

pub use entry::{MOST_LINKS, link_target};
pub use mode::Mode;
pub use read::{Layers, Whiteouts, read};
pub use refusal::{ReadError, Reason, Refusal};
pub use spool::{Spool, Spooling, Stretch};
pub use tree::{Entry, Tree};
pub use write::{Member, Packed, digest, pack};

/// The limits for reading an archive, or all layers of an image together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the input, compressed or not.
    pub packed: u64,
    /// Bytes of the tar streams, including headers and padding.
    pub unpacked: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Entries of every type: files, folders, extension headers.
    pub entries: usize,
    /// Bytes of all paths together, including those of folders without an entry.
    pub names: usize,
    /// Bytes of one path.
    pub path: usize,
    /// Names in one path.
    pub depth: usize,
    /// The highest ratio of unpacked to packed bytes, once a stream has more than [`Limits::ratio_from`] unpacked bytes.
    pub ratio: u64,
    /// Unpacked bytes up to which the ratio is not checked: small archives of similar files have a high ratio.
    pub ratio_from: u64,
    /// Bytes of one extension header: a long name, or PAX records.
    pub extension: u64,
}

impl Default for Limits {
    /// Ten times the size of a bundle of 10,000 objects, and enough for a Kubernetes distribution with its images.
    fn default() -> Self {
        Self {
            packed: 4 << 30,
            unpacked: 8 << 30,
            file: 4 << 30,
            entries: 200_000,
            names: 32 << 20,
            path: 1024,
            depth: 32,
            ratio: 200,
            ratio_from: 64 << 20,
            extension: 64 << 10,
        }
    }
}
