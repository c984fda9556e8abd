//! Stamping in place: the image fields of manifests that people keep, brought to what their images say. Pure: it plans edits
//! of texts and touches no file.
//!
//! Which image an object boots is said by a marker comment in it or above it, else by the first entry of `stamps:` in the
//! project file that fits. Everything that is not an image field, a name that follows the content, or a reference to one
//! keeps its bytes.
//!
//! Never guesses: an object without a request is reported by a rule, and stays as it is.

mod choose;
mod fields;
mod files;
mod findings;
mod follow;
mod marker;
mod moved;
mod past;
mod plan;
mod request;
mod rotate;
mod since;
mod stamped;
mod subject;
mod variables;
mod versions;

pub use choose::Chooser;
pub use fields::{Change, changes, problems};
pub use findings::findings;
pub use follow::{Followed, Rendered, follow};
pub use moved::{Moves, NamedImage, named};
pub use plan::{Options, Plan, moving, plan};
pub use since::{guarded, since};
