//! Archives of files in tar and gzip: written reproducibly, and read as untrusted input.
//!
//! Reading creates no named files: contents go into one unlinked temporary file and names into an index, both limited by
//! [`Limits`]. Only files and folders are accepted. Of an entry's metadata only the executable bit is kept.

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
