//! metalmark stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.

pub mod artifacts;
pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod commands;
pub mod edit;
pub mod editor;
pub mod error;
pub mod evaluate;
pub mod files;
pub mod helm;
pub mod hosts;
pub mod model;
pub mod objects;
pub mod oci;
pub mod output;
pub mod pipeline;
pub mod printer;
pub mod providers;
pub mod read;
pub mod regexp;
pub mod render;
pub mod report;
pub mod rules;
pub mod schema;
#[cfg(test)]
mod testing;
pub mod yaml;
