//! Reports the changes of a run of `lock`.

use std::io::{self, Write};

use serde::Serialize;

use crate::catalog::locking::{Accepted, LockChange, LockChangeKind, Locked};
use crate::model::rule::RuleId;
use crate::printer::Printer;

use super::format::Format;

/// Grows when a field changes its meaning or goes.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    lock: &'a str,
    written: bool,
    images: Vec<Image<'a>>,
    accepted: Vec<Acceptance<'a>>,
    summary: Summary,
}

/// What is locked although it is not proven.
#[derive(Serialize)]
struct Acceptance<'a> {
    key: &'a str,
    rule: RuleId,
    reason: &'a str,
}

#[derive(Serialize)]
struct Image<'a> {
    key: &'a str,
    reference: &'a str,
    digest: &'a str,
    change: &'static str,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Summary {
    kept: usize,
    added: usize,
    updated: usize,
    dropped: usize,
}

/// Prints what became of each image: for people only of those that changed.
pub fn lock_changes(
    lock: &str,
    locked: &Locked,
    written: bool,
    format: Format,
    out: &mut Printer,
) -> io::Result<()> {
    let changes = &locked.changes;
    let summary = summary(changes);
    if format != Format::Human {
        let document = Document {
            version: VERSION,
            lock,
            written,
            images: changes.iter().map(image).collect(),
            accepted: locked.accepted.iter().map(acceptance).collect(),
            summary,
        };
        return format.data(&document, out);
    }
    for change in changes {
        let digest: String = change.digest.chars().take(19).collect();
        if change.kind != LockChangeKind::Kept {
            let name = change.kind.name();
            writeln!(
                out,
                "{name:<8}{} {digest}… {}",
                change.key, change.reference
            )?;
        }
    }
    for Accepted { key, rule, reason } in &locked.accepted {
        writeln!(out, "accepted {key}: {rule}, {reason}")?;
    }
    let Summary {
        kept,
        added,
        updated,
        dropped,
    } = summary;
    let counted = format!("{kept} kept, {added} added, {updated} updated, {dropped} dropped");
    let became = if written { "written" } else { "unchanged" };
    writeln!(out, "{lock}: {counted}; {became}")
}

fn acceptance(accepted: &Accepted) -> Acceptance<'_> {
    Acceptance {
        key: &accepted.key,
        rule: accepted.rule,
        reason: &accepted.reason,
    }
}

fn image(change: &LockChange) -> Image<'_> {
    Image {
        key: &change.key,
        reference: &change.reference,
        digest: &change.digest,
        change: change.kind.name(),
    }
}

fn summary(changes: &[LockChange]) -> Summary {
    let count = |kind| changes.iter().filter(|change| change.kind == kind).count();
    Summary {
        kept: count(LockChangeKind::Kept),
        added: count(LockChangeKind::Added),
        updated: count(LockChangeKind::Updated),
        dropped: count(LockChangeKind::Dropped),
    }
}
