//! metalmark stamps machine images into Cluster API GitOps repositories, and refuses the stamp that does not fit.

pub mod error;
pub mod evaluate;
pub mod gotemplate;
pub mod model;
pub mod regexp;
pub mod rules;
pub mod targets;
pub mod yaml;
