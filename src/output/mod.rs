//! Writes rendered manifests to disk: plans the changes, then applies them.
//!
//! * Each file is replaced atomically: it is written under a staged name, then renamed. All are written before any is renamed.
//! * A killed run leaves whole files, old or new; the next run does the rest. Files are not synced to the disk: after a power
//!   failure, git restores them.
//! * Only files whose first line says that metalmark rendered them are overwritten or deleted; a folder is removed only when it is
//!   empty.
//! * Nothing is written outside the output folder, through a link, or under a name that some system does not support.
//! * A file that another program changed after the plan was made is neither overwritten nor deleted.
//! * One run at a time writes below a project (`hold`); commands hold the lock while they write.
//! * New and changed files have the default mode, 0666 minus the umask: usually 0644.
//!
//! Whether findings allow a run is decided elsewhere; but a refused file is not in the change set, whatever the policy.

mod apply;
mod copy;
mod file;
mod hold;
mod join;
mod journal;
mod plan;
mod refusal;
mod replace;
mod run_file;
mod staged;
mod unchanged;

pub use apply::{ApplyStep, apply, is_as_planned, phases};
pub use copy::{Copied, CopyPlan, Incoming, copy_plan};
pub use file::{body, file, new_file};
pub use hold::{Held, hold, holding, leftovers, recover};
pub use plan::{Foreign, Options, Part, Plan, Texts};
pub use replace::write_owned_file;
pub use replace::{Replacement, replace_all};
