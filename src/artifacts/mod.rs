//! Artifacts: the client of OCI registries, image layouts on disk, archives, and signatures.
//!
//! What an artifact means to a cluster does not belong here.

pub mod archive;
pub mod layout;
pub mod registry;
pub mod signature;
