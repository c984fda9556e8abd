//! metalmark pins OS images in Cluster API GitOps repositories, and fails the build when an image does not match the Kubernetes
//! version of the cluster that boots it.

pub mod budget;
pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod commands;
pub mod decide;
pub mod edit;
pub mod editor;
pub mod error;
pub mod evaluate;
pub mod files;
pub mod hosts;
pub mod model;
pub mod output;
pub mod pipeline;
pub mod printer;
pub mod read;
pub mod render;
pub mod report;
pub mod rules;
#[cfg(test)]
mod testing;
