//! Edits in the user's own files: pins and rotated machine templates, and the fixes of findings.

pub(crate) mod fix;
pub(crate) mod own_layer;
pub mod stamp;
pub(crate) mod step;
pub(crate) mod texts;
pub(crate) mod update;
