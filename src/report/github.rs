//! Findings as GitHub's workflow commands: notes at the lines of a pull request, with nothing to upload.
//!
//! What is escaped where: <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands> and the toolkit's
//! `command.ts`. GitHub shows ten errors and ten warnings a step; the log holds them all.

use std::io;

use super::issue::{self, Issue};
use super::{Findings, Report};
use crate::model::finding::Level;

/// For GitHub Actions.
pub(super) struct GitHub;

impl Report for GitHub {
    fn name(&self) -> &'static str {
        "github"
    }

    fn summary(&self) -> &'static str {
        "GitHub workflow commands: notes at the lines of a pull request"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        for issue in &issue::issues(findings) {
            writeln!(out, "{}", command(issue))?;
        }
        writeln!(out, "{}", findings.summary.told())
    }
}

fn command(issue: &Issue<'_>) -> String {
    let name = match issue.level {
        Level::Error => "error",
        Level::Warning | Level::Off => "warning",
    };
    let mut properties = format!("file={}", property(&issue.site.path));
    if let Some(range) = issue.site.range {
        properties.push_str(&format!(",line={},endLine={}", range.line, range.end_line));
        // Columns count only within one line; the last one is inside.
        if range.line == range.end_line {
            let last = range.end_column.saturating_sub(1).max(range.column);
            properties.push_str(&format!(",col={},endColumn={last}", range.column));
        }
    }
    let title = property(&format!("metalmark {}", issue.code));
    format!(
        "::{name} {properties},title={title}::{}",
        data(&issue.told())
    )
}

fn data(text: &str) -> String {
    let escaped = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    // Other control characters are the input's, and no log shall obey them.
    escaped.replace(char::is_control, "\u{fffd}")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn nothing_in_a_text_ends_the_command() {
        assert_eq!(
            data("50 %\r\n::error::x\u{1b}"),
            "50 %25%0D%0A::error::x\u{fffd}"
        );
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
