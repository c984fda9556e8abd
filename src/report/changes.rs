//! A change set as a list: for people, and as JSON.

use std::io::{self, Write as _};

use super::diff::line_counts;
use super::{JSON_VERSION, quantity};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange};
use crate::model::old_list::OLD_LIST;
use crate::printer::Printer;

/// Writes one line a file, folder after folder, and a closing line over all; where nothing changes that line alone.
pub fn changes(folders: &[ChangeSet], out: &mut Printer) -> io::Result<()> {
    for changes in folders {
        for change in &changes.changes {
            let shown = changes.display_path(&change.path);
            writeln!(
                out,
                "{}  {shown}{}{}",
                word(change.kind),
                counts(change),
                remark(change)
            )?;
        }
    }
    writeln!(out, "{}", closing(folders))
}

/// Writes one JSON object over all folders; docs/json.md describes it.
pub fn changes_json(folders: &[ChangeSet], out: &mut Printer) -> io::Result<()> {
    let document = Document {
        version: JSON_VERSION,
        drift: folders.iter().any(ChangeSet::drift),
        changes: folders
            .iter()
            .flat_map(|changes| {
                changes
                    .changes
                    .iter()
                    .map(|change| change_entry(changes, change))
            })
            .collect(),
        summary: Summary::from_folders(folders),
    };
    out.json(&document)
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "created",
        ChangeKind::Updated => "updated",
        ChangeKind::Deleted => "deleted",
    }
}

fn counts(change: &FileChange) -> String {
    match line_counts(change) {
        Some((added, 0)) => format!("  +{added}"),
        Some((0, removed)) => format!("  -{removed}"),
        Some((added, removed)) => format!("  +{added} -{removed}"),
        None => String::new(),
    }
}

fn remark(change: &FileChange) -> &'static str {
    if change.is_adopted {
        "  (adopted)"
    } else if change.path.ends_with(OLD_LIST) {
        "  (each rendered file says in its first line whose it is)"
    } else {
        ""
    }
}

fn closing(folders: &[ChangeSet]) -> String {
    let summary = Summary::from_folders(folders);
    let parts = [
        (summary.created, "created"),
        (summary.updated, "updated"),
        (summary.deleted, "deleted"),
        (summary.unchanged, "unchanged"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let rendered = folders.iter().map(|changes| changes.rendered).sum();
    let files = quantity(rendered, "file");
    if parts.is_empty() {
        format!("{files} rendered")
    } else {
        format!("{files} rendered: {}", parts.join(", "))
    }
}

#[derive(serde::Serialize)]
struct Document {
    version: u32,
    drift: bool,
    changes: Vec<ChangeEntry>,
    summary: Summary,
}

#[derive(serde::Serialize)]
struct ChangeEntry {
    path: String,
    kind: ChangeKind,
    adopted: bool,
    added: Option<usize>,
    removed: Option<usize>,
}

#[derive(serde::Serialize)]
struct Summary {
    created: usize,
    updated: usize,
    deleted: usize,
    unchanged: usize,
}

impl Summary {
    fn from_folders(folders: &[ChangeSet]) -> Self {
        let count = |kind| {
            let all = folders.iter().flat_map(|changes| &changes.changes);
            all.filter(|change| change.kind == kind).count()
        };
        let (created, updated) = (count(ChangeKind::Created), count(ChangeKind::Updated));
        let written = |changes: &ChangeSet| changes.rendered.saturating_sub(changes.refused);
        let rendered: usize = folders.iter().map(written).sum();
        Self {
            created,
            updated,
            deleted: count(ChangeKind::Deleted),
            unchanged: rendered.saturating_sub(created + updated),
        }
    }
}

fn change_entry(changes: &ChangeSet, change: &FileChange) -> ChangeEntry {
    let counts = line_counts(change);
    ChangeEntry {
        path: changes.display_path(&change.path),
        kind: change.kind,
        adopted: change.is_adopted,
        added: counts.map(|(added, _)| added),
        removed: counts.map(|(_, removed)| removed),
    }
}

/// Prints how the files that a run has changed are added to git.
pub fn git_add_hint(why: &str, folders: &[String], out: &mut Printer) -> io::Result<()> {
    let folders: Vec<String> = folders.iter().map(|folder| shell_quote(folder)).collect();
    writeln!(
        out,
        "rendered files {why}: `git add --all -- {}`, then run this again",
        folders.join(" ")
    )
}

/// A path as a shell reads it.
pub fn shell_quote(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/+@%,:=".contains(letter);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
