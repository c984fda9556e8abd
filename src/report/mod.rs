//! All text for people and machines: findings in every format, changes as a list, a diff or JSON, and the answers of commands.
//! Commands gather facts; the words are here.
//!
//! Pure: prints to the printer that it is given and queries no terminal; the format never decides the exit status.
//! The text of a secrets file is never shown, only its name, line and column.

mod bundle;
mod changes;
mod clusters;
mod concise;
mod diff;
mod drawing;
pub mod explain;
mod findings;
mod fingerprint;
mod format;
mod github;
mod gitlab;
mod human;
pub mod impact;
pub mod init;
mod issue;
mod json;
mod judged_pool;
mod junit;
mod lines;
mod locked;
mod markdown;
mod mirrored;
pub mod overview;
pub mod page;
mod plan;
mod sarif;
mod stamped;
mod statistics;
mod table;
pub mod update;
pub mod upgrade;
pub mod values;

use std::{fmt, io};

use crate::printer::Printer;

pub use crate::printer::Color;
pub use bundle::{
    BundleDescription, FileDescription, InstallerDescription, ObjectDescription, PushedBundle,
    VerifiedBundle, bundle,
};
pub use changes::{changes, changes_json, git_add_hint, shell_quote};
pub use clusters::{ClusterRow, clusters};
pub use diff::diff;
pub use findings::{Changes, Findings, Group, Run, Summary};
pub use format::{CommentFormat, Format, print_findings};
pub use judged_pool::JudgedPool;
pub use lines::Lines;
pub use locked::lock_changes;
pub use mirrored::{copies, copy_progress};
pub use plan::{PlanReport, plan};
pub use stamped::{skips, stamp_changes};
pub use statistics::Statistics;
pub use table::{ImageRow, images, rows};
pub use table::{RegistryImage, RuleRow, names, registry_image, rules};
pub use table::{resting, verification};

/// One format for findings. Its file's name is the word on the command line.
pub trait Report: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
    /// One line for tables.
    fn summary(&self) -> &'static str;
    /// Writes all findings; those formats that are one document a run, its changes as well.
    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()>;
    /// Whether it lists the node pools one by one, where the command has them.
    fn lists_pools(&self) -> bool {
        false
    }
    /// How changes are written, apart from the findings; none where the one document holds both.
    fn changes(&self) -> Option<WriteChanges> {
        None
    }
}

/// The version of the JSON documents of findings and changes. It grows when a field changes its meaning or goes; a new field is
/// no new version.
const JSON_VERSION: u32 = 1;

/// Writes what a run changes.
pub type WriteChanges = fn(&Changes<'_>, &mut Printer) -> io::Result<()>;

/// The name, so that options that hold a format can be shown.
impl fmt::Debug for dyn Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every format; the first one is the default.
pub const REPORTS: &[&dyn Report] = &[
    &human::Human,
    &concise::Concise,
    &json::Json,
    &sarif::Sarif,
    &gitlab::GitLab,
    &junit::JUnit,
    &github::GitHub,
    &markdown::Markdown,
];

/// The format of a name.
pub fn find(name: &str) -> Option<&'static dyn Report> {
    REPORTS.iter().copied().find(|report| report.name() == name)
}

/// `1 error`, `2 errors`.
pub(crate) fn quantity(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
