//! Findings and changes as Markdown, for a comment on a merge request.
//!
//! Begins with a mark that a bot finds its earlier comment by, and stays below the length that code hosts take (GitHub 65,536
//! characters). No text of the input becomes markup or mentions anybody.

use std::io;

use super::diff::line_counts;
use super::issue::{self, DRIFT, Issue};
use super::{Changes, Findings, Report, quantity};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange};
use crate::model::rule::Level;
use crate::printer::{Printer, Safe};

/// For people, at the merge request.
pub(super) struct Markdown;

/// The table of findings ends, and the rest is counted, after this number of bytes; so does the list of files.
const LONGEST: usize = 25_000;

impl Report for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "Markdown: a comment on a merge request"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        // A run that fails for files alone has no error among its findings.
        let issues = issue::issues(findings);
        let is_stale = |issue: &&Issue<'_>| issue.code == DRIFT.code;
        let stale = match issues.iter().filter(is_stale).count() {
            0 => String::new(),
            stale => format!("{} out of date; ", quantity(stale, "file")),
        };
        out.markup(&Safe::concat([
            "<!-- metalmark -->\n### metalmark: ".into(),
            Safe::markdown(&format!("{stale}{}", findings.summary.text())),
            "\n".into(),
        ]))?;
        let rows: Vec<&Issue<'_>> = issues.iter().filter(|issue| !is_stale(issue)).collect();
        table(&rows, out)?;
        match findings.run.changes {
            Changes::None => Ok(()),
            Changes::Written(folders) => files(folders, "written", out),
            Changes::Drift(folders) => files(folders, "would change", out),
        }
    }
}

fn table(issues: &[&Issue<'_>], out: &mut Printer) -> io::Result<()> {
    if issues.is_empty() {
        return Ok(());
    }
    out.markup(&"\n| | rule | where | what |\n|---|---|---|---|\n".into())?;
    let rows = issues.iter().map(|issue| row(issue));
    write_limited(rows, "finding", out)
}

fn row(issue: &Issue<'_>) -> Safe {
    let level = match issue.level {
        Level::Error => "| error | `",
        Level::Warning | Level::Off => "| warning | `",
    };
    let (site, text) = (&issue.site, issue.text());
    Safe::concat([
        level.into(),
        issue.code.into(),
        "` | ".into(),
        Safe::markdown_code(&format!("{}:{}", site.path, site.line())),
        " | ".into(),
        Safe::join(text.lines().map(Safe::markdown), "<br>"),
        " |\n".into(),
    ])
}

fn files(folders: &[ChangeSet], word: &'static str, out: &mut Printer) -> io::Result<()> {
    let count: usize = folders.iter().map(|folder| folder.changes.len()).sum();
    if count == 0 {
        let rendered = folders.iter().map(|folder| folder.rendered).sum();
        return out.markup(&Safe::concat([
            "\n".into(),
            Safe::markdown(&quantity(rendered, "file")),
            " rendered, all of them up to date.\n".into(),
        ]));
    }
    out.markup(&Safe::concat([
        "\n<details><summary>".into(),
        Safe::markdown(&quantity(count, "file")),
        " ".into(),
        word.into(),
        "</summary>\n\n| | file | lines |\n|---|---|---|\n".into(),
    ]))?;
    let all = folders
        .iter()
        .flat_map(|folder| folder.changes.iter().map(move |one| (folder, one)));
    write_limited(
        all.map(|(folder, change)| file(folder, change)),
        "file",
        out,
    )?;
    out.markup(&"\n</details>\n".into())
}

fn file(folder: &ChangeSet, change: &FileChange) -> Safe {
    let kind = match change.kind {
        ChangeKind::Created => "| created | ",
        ChangeKind::Updated => "| updated | ",
        ChangeKind::Deleted => "| deleted | ",
    };
    let lines = match line_counts(change) {
        Some((added, removed)) => {
            Safe::concat(["+".into(), added.into(), " -".into(), removed.into()])
        }
        None => Safe::default(),
    };
    Safe::concat([
        kind.into(),
        Safe::markdown_code(&folder.display_path(&change.path)),
        " | ".into(),
        lines,
        " |\n".into(),
    ])
}

/// Rows while they are short enough together; the others are counted.
fn write_limited(
    rows: impl Iterator<Item = Safe>,
    noun: &'static str,
    out: &mut Printer,
) -> io::Result<()> {
    let (mut written, mut more) = (0, 0);
    for row in rows {
        if more > 0 || written + row.as_str().len() > LONGEST {
            more += 1;
            continue;
        }
        written += row.as_str().len();
        out.markup(&row)?;
    }
    match more {
        0 => Ok(()),
        more => out.markup(&Safe::concat([
            "\nand ".into(),
            Safe::markdown(&quantity(more, noun)),
            " more\n".into(),
        ])),
    }
}
