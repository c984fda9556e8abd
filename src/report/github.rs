//! Findings as GitHub's workflow commands: notes at the lines of a pull request, with nothing to upload.
//!
//! GitHub shows ten errors and ten warnings a step; the log has them all.

use std::io;

use super::issue::{self, Issue};
use super::{Findings, Report};
use crate::model::rule::Level;
use crate::printer::{Printer, Safe};

/// For GitHub Actions.
pub(super) struct GitHub;

impl Report for GitHub {
    fn name(&self) -> &'static str {
        "github"
    }

    fn summary(&self) -> &'static str {
        "GitHub workflow commands: notes at the lines of a pull request"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        for issue in &issue::issues(findings) {
            out.markup(&command(issue))?;
        }
        findings.write_summary(out)
    }
}

fn command(issue: &Issue<'_>) -> Safe {
    let name = match issue.level {
        Level::Error => "::error file=",
        Level::Warning | Level::Off => "::warning file=",
    };
    let number = |name: &'static str, number: usize| Safe::concat([name.into(), number.into()]);
    let mut properties = vec![Safe::concat([
        name.into(),
        Safe::command_property(&issue.site.path),
    ])];
    if let Some(range) = issue.site.range {
        properties.push(number("line=", range.line));
        properties.push(number("endLine=", range.end_line));
        // Columns count only within one line; the last one is inside.
        if range.line == range.end_line {
            let last = range.end_column.saturating_sub(1).max(range.column);
            properties.push(number("col=", range.column));
            properties.push(number("endColumn=", last));
        }
    }
    properties.push(Safe::concat(["title=metalmark ".into(), issue.code.into()]));
    Safe::concat([
        Safe::join(properties, ","),
        "::".into(),
        Safe::command(&issue.text()),
        "\n".into(),
    ])
}
