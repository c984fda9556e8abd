//! The impact of a change, as a comment on a merge request.

use std::io;

use super::{Impact, PoolChange, ServedImage, words};
use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::printer::{Printer, Safe};

/// Writes the sum first, then tables: most readers stop at the sum.
pub(super) fn write(impact: &Impact, judged: &[Judged], out: &mut Printer) -> io::Result<()> {
    out.markup(&Safe::concat([
        "### What this change does\n\n**".into(),
        Safe::markdown(&words::sum(impact)),
        "**\n".into(),
    ]))?;
    let mut errors = judged
        .iter()
        .filter(|judged| judged.level == Level::Error)
        .peekable();
    if errors.peek().is_some() {
        out.markup(&"\n".into())?;
    }
    for judged in errors {
        out.markup(&error(judged))?;
    }
    for note in &impact.notes {
        out.markup(&Safe::concat([
            "\n> ".into(),
            Safe::markdown(note),
            "\n".into(),
        ]))?;
    }
    if !impact.clusters.is_empty() {
        out.markup(&"\n| cluster | pool | machines | change |\n|---|---|---|---|\n".into())?;
    }
    for group in words::groups(impact) {
        let head = words::head(&group);
        let pools = group.first().map_or(&[][..], |change| &change.pools);
        if pools.is_empty() {
            out.markup(&Safe::concat([
                "| ".into(),
                Safe::markdown(&head),
                " | | | |\n".into(),
            ]))?;
        }
        for pool in pools {
            out.markup(&row(&head, pool))?;
        }
    }
    images("\nNewly served:\n\n", &impact.served.added, out)?;
    images("\nNo longer served:\n\n", &impact.served.removed, out)?;
    if impact.served.download > 0 {
        out.markup(&Safe::concat([
            "\n".into(),
            Safe::markdown(&words::bytes(impact.served.download)),
            " to download.\n".into(),
        ]))?;
    }
    let short = impact.against.get(..10).unwrap_or(&impact.against);
    out.markup(&Safe::concat([
        "\n<sub>Against ".into(),
        Safe::markdown(short),
        ", ".into(),
        Safe::markdown(&impact.base),
        ".</sub>\n".into(),
    ]))
}

fn error(judged: &Judged) -> Safe {
    let finding = &judged.finding;
    let place = finding.labels.first().map(|label| {
        Safe::concat([
            " (".into(),
            Safe::markdown_code(&label.spot.to_string()),
            ")".into(),
        ])
    });
    Safe::concat([
        "- ❌ **".into(),
        finding.rule.as_str().into(),
        "**: ".into(),
        Safe::markdown(&finding.message),
        place.unwrap_or_default(),
        "\n".into(),
    ])
}

fn row(head: &str, pool: &PoolChange) -> Safe {
    let edits = words::edits(pool).into_iter();
    let mut changes: Vec<Safe> = edits
        .map(|(what, (from, to))| {
            Safe::concat([
                what.into(),
                " ".into(),
                Safe::markdown_code(&from),
                " → ".into(),
                Safe::markdown_code(&to),
            ])
        })
        .collect();
    if !pool.skipped.is_empty() {
        let skipped = Safe::markdown(&pool.skipped.join(", "));
        changes.push(Safe::concat(["⚠️ skips ".into(), skipped]));
    }
    Safe::concat([
        "| ".into(),
        Safe::markdown(head),
        " | ".into(),
        Safe::markdown_code(&pool.pool),
        " | ".into(),
        Safe::markdown(&words::machines(pool)),
        " | ".into(),
        Safe::join(changes, "<br>"),
        " |\n".into(),
    ])
}

fn images(head: &'static str, images: &[ServedImage], out: &mut Printer) -> io::Result<()> {
    if images.is_empty() {
        return Ok(());
    }
    out.markup(&head.into())?;
    for image in images {
        let size = image
            .download
            .map_or("size unknown".to_owned(), words::bytes);
        let from = image.uri.as_deref().map(Safe::markdown_code);
        let from = from.map(|uri| Safe::concat([", ".into(), uri]));
        out.markup(&Safe::concat([
            "- ".into(),
            Safe::markdown_code(&image.key),
            " (".into(),
            Safe::markdown(&size),
            from.unwrap_or_default(),
            ")\n".into(),
        ]))?;
    }
    Ok(())
}
