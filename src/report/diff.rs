//! A change set as a unified diff that `git apply` and `patch` take.

use std::io::{self, Write as _};

use similar::{ChangeTag, TextDiff};

use capi::secrets;

use super::Color;
use crate::model::manifest::{ChangeKind, ChangeSet, FileChange};
use crate::printer::{Printer, plain};

/// Longer texts, in lines of both sides together, are not compared line by line: the time grows with their square.
const LONGEST: usize = 20_000;

/// Writes the difference from what is on disk to what is rendered. The plan has to keep the previous texts.
pub fn diff(changes: &ChangeSet, out: &mut Printer) -> io::Result<()> {
    for change in &changes.changes {
        file(&changes.display_path(&change.path), change, out)?;
    }
    Ok(())
}

/// How many lines a change adds and removes; none where the previous text is not known or the texts are too long.
pub(super) fn line_counts(change: &FileChange) -> Option<(usize, usize)> {
    let (old, new) = texts(change)?;
    if old.is_empty() || new.is_empty() {
        return Some((new.lines().count(), old.lines().count()));
    }
    let compared = compare(old, new)?;
    let count = |tag| {
        let changes = compared.iter_all_changes();
        changes.filter(|change| change.tag() == tag).count()
    };
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}

fn file(shown: &str, change: &FileChange, out: &mut Printer) -> io::Result<()> {
    let side = |letter: &str, there: bool| {
        let path = format!("{letter}/{shown}");
        if there { path } else { "/dev/null".to_owned() }
    };
    let created = change.kind == ChangeKind::Created;
    let (from, to) = (
        side("a", !created),
        side("b", change.kind != ChangeKind::Deleted),
    );
    line(out, BOLD, &format!("--- {from}\n"))?;
    line(out, BOLD, &format!("+++ {to}\n"))?;
    let Some((old, new)) = texts(change) else {
        return Ok(());
    };
    let (old_lines, new_lines) = (display_lines(shown, old), display_lines(shown, new));
    let Some(compared) = compare(old, new) else {
        let (old, new) = (old.lines().count(), new.lines().count());
        return writeln!(out, "# too long to compare: {old} lines, then {new}");
    };
    for hunk in compared.unified_diff().iter_hunks() {
        line(out, CYAN, &format!("{}\n", hunk.header()))?;
        for change in hunk.iter_changes() {
            let end = if change.missing_newline() {
                "\n\\ No newline at end of file\n"
            } else {
                ""
            };
            let style = match change.tag() {
                ChangeTag::Equal => "",
                ChangeTag::Delete => RED,
                ChangeTag::Insert => GREEN,
            };
            let shown = match (change.new_index(), change.old_index()) {
                (Some(index), _) => new_lines.get(index),
                (None, index) => index.and_then(|index| old_lines.get(index)),
            };
            let shown = shown.map_or("\n", |line| line);
            line(out, style, &format!("{}{shown}{end}", change.tag()))?;
        }
    }
    Ok(())
}

/// The lines of a text, each without its secrets.
fn display_lines(path: &str, text: &str) -> Vec<String> {
    let source = secrets::source(path, text);
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let end = start + line.trim_end().len() as u32;
        let shown = source.display_range(start..end);
        start += line.len() as u32;
        shown + &line[line.trim_end().len()..]
    });
    lines.collect()
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";

/// Prints text that ends in a line end, which stays outside the color.
fn line(out: &mut Printer, style: &'static str, text: &str) -> io::Result<()> {
    if out.color == Color::Never {
        return out.write_all(text.as_bytes());
    }
    let text = plain(text);
    let body = text.trim_end_matches('\n');
    let reset = if style.is_empty() { "" } else { "\x1b[0m" };
    out.drawing(&format!("{style}{body}{reset}{}", &text[body.len()..]))
}

/// Both sides' texts, empty where there is no file; none where the present one is not known.
fn texts(change: &FileChange) -> Option<(&str, &str)> {
    let created = change.kind == crate::model::manifest::ChangeKind::Created;
    let old = if created {
        Some("")
    } else {
        change.old.as_deref()
    };
    old.map(|old| (old, change.new.as_deref().unwrap_or_default()))
}

fn compare<'a>(old: &'a str, new: &'a str) -> Option<TextDiff<'a, 'a, str>> {
    let lines = old.lines().count() + new.lines().count();
    (lines <= LONGEST).then(|| TextDiff::from_lines(old, new))
}
