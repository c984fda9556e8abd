//! What a person, an editor or a code host is told: findings in every format, changes as a list, a diff or JSON.
//!
//! Pure: writes to the stream it is given and asks nothing of the terminal; the format never decides the exit status.
//! The text of a secrets file is never shown, only its name, line and column.

mod changes;
mod diff;
mod drawing;
mod findings;
mod human;
mod json;
mod lines;

use std::io;

pub use changes::{changes, changes_json};
pub use diff::diff;
pub use findings::{Findings, Group, Summary};

/// One format for findings. Its file's name is the word on the command line.
pub trait Report: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;
    /// One line for tables.
    fn summary(&self) -> &'static str;
    /// Writes all findings.
    fn findings(&self, findings: &Findings<'_>, out: &mut dyn io::Write) -> io::Result<()>;
}

/// Every format; the first one is the default.
pub const REPORTS: &[&dyn Report] = &[&human::Human, &json::Json];

/// The format of a name.
pub fn by_name(name: &str) -> Option<&'static dyn Report> {
    REPORTS.iter().copied().find(|report| report.name() == name)
}

/// Whether terminal colours are wanted: the command line's decision (a terminal, and no `NO_COLOR`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Never,
    /// With ANSI escapes.
    Always,
}

/// `1 error`, `2 errors`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::{REPORTS, by_name};

    #[test]
    fn names_are_unique_and_found() {
        for report in REPORTS {
            let found = by_name(report.name()).map(super::Report::summary);
            assert_eq!(found, Some(report.summary()));
        }
        assert!(by_name("nonsense").is_none());
    }
}
