//! Rendered manifests onto disk: what would change, and then the change.
//!
//! * Each file is whole: it is written beside its place and renamed into it. No file is renamed before all are written.
//! * Each run is complete or mended by the next: before the first file changes, the ownership file (`.metalmark-owned`)
//!   names everything that is owned before or after, so that a run that is killed at any moment loses track of nothing.
//!   Files are not forced to the platter: a power cut is git's to mend.
//! * Only owned files are overwritten or deleted; a folder is removed only once it is empty.
//! * Nothing is written outside the output folder, through a link, or under a name that some system cannot hold.
//! * Nothing is overwritten or deleted that is not what the plan saw: what another program changed meanwhile stays.
//! * One run writes below a project at a time ([`hold`]); commands hold it while they write.
//! * New and changed files have the mode that any new file has, 0666 less the umask: usually 0644.
//!
//! Never decides whether findings allow a run; but what it refuses is not in the change set, whatever the policy says.

mod apply;
mod copy;
mod file;
mod hold;
mod join;
mod journal;
mod owned_file;
mod plan;
mod refusal;
mod replace;
mod staged;
mod unchanged;

pub use apply::{Step, apply, apply_all, phases};
pub use copy::{Copied, CopyPlan, Incoming, copy_plan};
pub use file::{body, file, new_file};
pub use hold::{Held, hold, holding, recover};
pub use owned_file::owned_file;
pub use plan::{Foreign, Options, Part, Plan, Previous, plan};
pub use refusal::{LINK, NOT_OWNED, PATH_COLLISION, PATH_ILLEGAL};
pub use replace::{Replacement, replace_all};
