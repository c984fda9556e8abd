//! The image catalog: resolving what clusters select, sources of image facts, the lock, and what a new builder version offers.

pub mod locking;
pub mod mirroring;
pub mod offers;
pub mod resolve;
pub mod sources;
