//! metalmark stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.

pub mod archive;
pub mod bundle;
pub mod check;
pub mod cli;
pub mod commands;
pub mod error;
pub mod evaluate;
pub mod files;
pub mod gotemplate;
pub mod impact;
pub mod layout;
pub mod locking;
pub mod model;
pub mod objects;
pub mod oci;
pub mod printer;
pub mod providers;
pub mod read;
pub mod regexp;
pub mod registry;
pub mod render;
pub mod report;
pub mod resolve;
pub mod rules;
pub mod schema;
pub mod signature;
pub mod sources;
pub mod stamp;
pub mod targets;
#[cfg(test)]
mod testing;
pub mod update;
pub mod write;
pub mod yaml;
