//! A change set as a list: for people, and as JSON.

use std::io::{self, Write as _};

use super::diff::line_counts;
use super::{JSON_VERSION, quantity};
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange, Origin};
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
        if changes.changes.is_empty() && changes.ownership_drift() {
            let file = changes.display_path(crate::model::manifest::OWNERSHIP_FILE);
            writeln!(out, "updated  {file}")?;
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
    match change.origin {
        Origin::Run => "",
        Origin::Edited => "  (edited manually since the last run)",
        Origin::Adopted => "  (adopted)",
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
    edited: bool,
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
        edited: change.origin == Origin::Edited,
        adopted: change.origin == Origin::Adopted,
        added: counts.map(|(added, _)| added),
        removed: counts.map(|(_, removed)| removed),
    }
}

/// Prints how the files that a run has changed are added to git.
pub fn git_add_hint(why: &str, changes: &[&ChangeSet], out: &mut Printer) -> io::Result<()> {
    let folder = |changes: &&ChangeSet| {
        let folder = changes.root.strip_prefix(".").unwrap_or(&changes.root);
        match folder.to_string_lossy() {
            empty if empty.is_empty() => ".".to_owned(),
            folder => shell_quote(folder.trim_end_matches('/')),
        }
    };
    let folders: Vec<String> = changes.iter().map(folder).collect();
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

#[cfg(test)]
mod tests {
    use super::{changes, changes_json};
    use crate::model::manifest::{ChangeKind, ChangeSet, FileChange, Origin, Ownership};
    use crate::printer::{Color, Printer};

    fn some() -> ChangeSet {
        let change = |path: &str, kind, old: Option<&str>, new: Option<&str>, origin| FileChange {
            path: path.into(),
            kind,
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
            origin,
            seen: None,
        };
        ChangeSet {
            shown: "out".into(),
            changes: vec![
                change("a", ChangeKind::Created, None, Some("1\n2\n"), Origin::Run),
                change(
                    "b",
                    ChangeKind::Updated,
                    Some("1\n"),
                    Some("2\n"),
                    Origin::Edited,
                ),
                change("c", ChangeKind::Updated, None, Some("2\n"), Origin::Adopted),
                change("d", ChangeKind::Deleted, Some("1\n"), None, Origin::Run),
            ],
            rendered: 10,
            ..ChangeSet::default()
        }
    }

    fn printed(set: &ChangeSet) -> String {
        let print = |out: &mut Printer| changes(std::slice::from_ref(set), out);
        Printer::print_to_string(Color::Never, print).expect("memory takes it")
    }

    fn json(sets: &[ChangeSet]) -> serde_json::Value {
        let text = Printer::print_to_string(Color::Never, |out| changes_json(sets, out));
        serde_json::from_str(&text.expect("memory takes it")).expect("it is one document")
    }

    #[test]
    fn each_file_has_its_line() {
        let expected = "created  out/a  +2\n\
            updated  out/b  +1 -1  (edited manually since the last run)\n\
            updated  out/c  (adopted)\n\
            deleted  out/d  -1\n\
            10 files rendered: 1 created, 2 updated, 1 deleted, 7 unchanged\n";
        assert_eq!(printed(&some()), expected);
    }

    #[test]
    fn the_ownership_file_is_reported_where_nothing_else_changes() {
        let ownership = Ownership {
            after: Some("x".into()),
            ..Ownership::default()
        };
        let set = ChangeSet {
            rendered: 1,
            ownership,
            ..ChangeSet::default()
        };
        assert_eq!(
            printed(&set),
            "updated  .metalmark-owned\n1 file rendered: 1 unchanged\n"
        );
    }

    #[test]
    fn several_folders_are_one_list_and_one_document() {
        let other = ChangeSet {
            shown: "other".into(),
            rendered: 3,
            ..ChangeSet::default()
        };
        let sets = [some(), other.clone()];
        let text = Printer::print_to_string(Color::Never, |out| changes(&sets, out));
        let text = text.expect("memory takes it");
        assert!(
            text.ends_with("\n13 files rendered: 1 created, 2 updated, 1 deleted, 10 unchanged\n"),
            "{text}"
        );
        let printed = json(&[other, some()]);
        assert_eq!(printed["changes"].as_array().map(Vec::len), Some(4));
        assert_eq!(printed["summary"]["unchanged"], 10);
    }

    #[test]
    fn the_json_has_the_documented_shape() {
        let printed = json(&[some()]);
        assert_eq!(printed["drift"], true);
        assert_eq!(
            printed["changes"][1],
            serde_json::json!({
                "path": "out/b", "kind": "updated", "edited": true, "adopted": false, "added": 1, "removed": 1,
            })
        );
        assert_eq!(
            printed["summary"],
            serde_json::json!({"created": 1, "updated": 2, "deleted": 1, "unchanged": 7})
        );
    }
}
