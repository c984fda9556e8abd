//! Findings and changes as Markdown, for a comment on a merge request.
//!
//! Begins with a mark that a bot finds its earlier comment by, and stays below the length that code hosts take (GitHub 65,536
//! characters). No text of the input becomes markup or mentions anybody.

use std::io;

use super::diff::line_counts;
use super::issue::{self, DRIFT, Issue};
use super::{Changes, Findings, Report, counted};
use crate::model::finding::Level;
use crate::model::manifest::{Change, ChangeKind, ChangeSet};

/// For people, at the merge request.
pub(super) struct Markdown;

/// The table of findings ends, and the rest is counted, behind so many bytes; so does the list of files.
const LONGEST: usize = 25_000;

impl Report for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "Markdown: a comment on a merge request"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(
            out,
            "<!-- metalmark -->\n### metalmark: {}",
            findings.summary.told()
        )?;
        let issues = issue::issues(findings);
        let rows: Vec<&Issue<'_>> = issues
            .iter()
            .filter(|issue| issue.code != DRIFT.code)
            .collect();
        table(&rows, out)?;
        match findings.run.changes {
            Changes::None => Ok(()),
            Changes::Written(folders) => files(folders, "written", out),
            Changes::Drift(folders) => files(folders, "would change", out),
        }
    }
}

fn table(issues: &[&Issue<'_>], out: &mut dyn io::Write) -> io::Result<()> {
    if issues.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n| | rule | where | what |\n|---|---|---|---|")?;
    let rows = issues.iter().map(|issue| row(issue));
    limited(rows, "finding", out)
}

fn row(issue: &Issue<'_>) -> String {
    let level = match issue.level {
        Level::Error => "error",
        Level::Warning | Level::Off => "warning",
    };
    let site = &issue.site;
    let what: Vec<String> = issue.told().lines().map(cell).collect();
    let place = code(&format!("{}:{}", site.path, site.line()));
    format!(
        "| {level} | `{}` | {place} | {} |",
        issue.code,
        what.join("<br>")
    )
}

fn files(folders: &[ChangeSet], word: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let count: usize = folders.iter().map(|folder| folder.changes.len()).sum();
    if count == 0 {
        let rendered = folders.iter().map(|folder| folder.rendered).sum();
        return writeln!(
            out,
            "\n{} rendered, all of them up to date.",
            counted(rendered, "file")
        );
    }
    let head = counted(count, "file");
    writeln!(
        out,
        "\n<details><summary>{head} {word}</summary>\n\n| | file | lines |\n|---|---|---|"
    )?;
    let all = folders
        .iter()
        .flat_map(|folder| folder.changes.iter().map(move |one| (folder, one)));
    limited(
        all.map(|(folder, change)| file(folder, change)),
        "file",
        out,
    )?;
    writeln!(out, "\n</details>")
}

fn file(folder: &ChangeSet, change: &Change) -> String {
    let kind = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Updated => "updated",
        ChangeKind::Deleted => "deleted",
    };
    let lines = match line_counts(change) {
        Some((added, removed)) => format!("+{added} -{removed}"),
        None => String::new(),
    };
    format!(
        "| {kind} | {} | {lines} |",
        code(&folder.shown(&change.path))
    )
}

/// Rows, as many as are short enough together; the others are counted.
fn limited(
    rows: impl Iterator<Item = String>,
    noun: &str,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let (mut written, mut more) = (0, 0);
    for row in rows {
        if more > 0 || written + row.len() > LONGEST {
            more += 1;
            continue;
        }
        written += row.len();
        writeln!(out, "{row}")?;
    }
    if more > 0 {
        writeln!(out, "\nand {} more", counted(more, noun))?;
    }
    Ok(())
}

/// A line of a message within a table: its backquoted parts are code, and nothing else is markup.
fn cell(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    // A backquote without its other half quotes nothing.
    if parts.len().is_multiple_of(2) {
        return plain(line);
    }
    let parts = parts.iter().enumerate();
    let told = parts.map(|(number, part)| match number % 2 {
        0 => plain(part),
        _ if part.trim().is_empty() => plain(&format!("`{part}`")),
        _ => code(part),
    });
    told.collect()
}

/// A text between backquotes. In a table a bar ends the cell even there, unless a backslash stands before it.
fn code(text: &str) -> String {
    if text.contains('`') {
        return plain(text);
    }
    let text = text
        .replace(char::is_control, "\u{fffd}")
        .replace('|', "\\|");
    format!("`{text}`")
}

/// Everything that could be markup, a mention or a reference as a character reference.
fn plain(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if letter.is_control() => told.push('\u{fffd}'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '@' | '!' | '&'
            | '$' | '^' => {
                told.push_str(&format!("&#{};", u32::from(letter)));
            }
            letter => told.push(letter),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::{cell, code};

    #[test]
    fn what_is_backquoted_is_code_and_nothing_else_is_markup() {
        assert_eq!(cell("image `a|b` of *x*"), "image `a\\|b` of &#42;x&#42;");
        assert_eq!(cell("odd ` <b> @all"), "odd &#96; &#60;b&#62; &#64;all");
        assert_eq!(code("a`b"), "a&#96;b");
    }
}
