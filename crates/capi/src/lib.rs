//! Objects of Cluster API and its providers in YAML: which fields name an image, a version or another object.
//!
//! [`providers`] has one file an infrastructure provider, [`objects`] finds objects in files and follows their references, and
//! [`schema`] validates objects against their definitions. Which image a machine should boot is not decided here.

#![warn(missing_docs)]

pub mod changes;
pub mod fields;
pub mod image;
pub mod labels;
pub mod location;
pub mod objects;
pub mod providers;
pub mod removals;
pub mod schema;
pub mod secrets;
pub mod systems;
pub mod unknown;
