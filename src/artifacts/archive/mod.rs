//! Archives: files in tar and gzip, written with the same bytes everywhere, and read as something an enemy may have made.
//!
//! Nothing read here reaches a disk under a name: contents go into one unlinked temporary file, names into an index, both of
//! them counted against [`Limits`]. What is read is files and folders, and nothing else; no mode, owner or time is kept but
//! whether a file is executable.

mod blocks;
mod entry;
mod extension;
mod limits;
mod read;
mod refusal;
mod spool;
mod stream;
mod tree;
mod write;

pub use limits::Limits;
pub use read::{Layers, Whiteouts, read};
pub use refusal::{ReadError, Reason, Refusal};
pub use spool::{Spool, Spooling, Stretch};
pub use tree::{Entry, Tree};
pub use write::{Member, Packed, digest, pack};
