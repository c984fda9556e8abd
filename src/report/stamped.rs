//! Reports the changes that stamping makes in manifests.

use std::io::{self, Write};
use std::sync::Arc;

use yaml_tree::place::Source;

use super::{Changes, Report, quantity};
use crate::printer::Printer;

/// Prints the files that hold no manifests as they are, such as a chart's templates: the first by name.
pub fn skips(skipped: &[Arc<Source>], out: &mut Printer) -> io::Result<()> {
    /// How many are named.
    const NAMED: usize = 3;
    for Source { path, .. } in skipped.iter().take(NAMED).map(|source| &**source) {
        writeln!(out, "skipped {path}: it is not YAML, and holds no marker")?;
    }
    if let Some(more @ 1..) = skipped.len().checked_sub(NAMED) {
        let files = quantity(more, "more file");
        writeln!(out, "skipped {files} of that kind")?;
    }
    Ok(())
}

/// Prints the files that changed; for people under `--check`, their differences.
pub fn stamp_changes(
    changes: &Changes<'_>,
    format: &dyn Report,
    out: &mut Printer,
) -> io::Result<()> {
    let (folders, is_check) = match changes {
        Changes::None => return Ok(()),
        Changes::Written(folders) => (folders, false),
        Changes::Drift(folders) => (folders, true),
    };
    if format.name() != "human" {
        if let Some(list) = format.changes() {
            list(changes, out)?;
        }
        return Ok(());
    }
    let (mut changed, mut read) = (0, 0);
    for folder in *folders {
        if is_check {
            super::diff(folder, out)?;
        }
        for change in folder.changes.iter().filter(|_| !is_check) {
            writeln!(out, "stamped  {}", change.path)?;
        }
        changed += folder.changes.len();
        read += folder.rendered;
    }
    let verb = if is_check { "to stamp" } else { "stamped" };
    writeln!(
        out,
        "{} of manifests, {changed} {verb}",
        quantity(read, "file")
    )
}
