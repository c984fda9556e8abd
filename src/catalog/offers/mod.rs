//! What a new version of the image builder means for a catalog: which entries come, go, or take another name.
//!
//! A bot that raises the builder's version leaves the list of images as it was, with the last release's patch versions in
//! their names (docs/sylva.md#updates-of-the-builder). All but `published` is pure: names in, changes out.

mod builder;
mod drift;
mod notes;
mod offer;
mod published;
mod summary;

pub use builder::{Builder, Sites};
pub use drift::{Added, Drift, drift};
pub use notes::parse_offer;
pub use offer::{Offer, describe_gaps, is_image, offer_from_tags};
pub use published::{Caller, LINES, Published, registries, release};
pub use summary::{PoolChange, Summary, VersionChange};
