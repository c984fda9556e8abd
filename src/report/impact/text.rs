//! The impact of a change, as text.

use std::io::{self, Write};

use super::{Impact, PoolChange, ServedImage, words};

/// Writes clusters and pools, images, and the sum.
pub(super) fn write(impact: &Impact, out: &mut dyn Write) -> io::Result<()> {
    let short = impact.against.get(..10).unwrap_or(&impact.against);
    writeln!(out, "Against {short}, {}", impact.base)?;
    for note in &impact.notes {
        writeln!(out, "note: {note}")?;
    }
    for group in words::groups(impact) {
        writeln!(out, "\n{}", words::head(&group))?;
        let pools = group.first().map_or(&[][..], |change| &change.pools);
        let width = pools.iter().map(|pool| pool.pool.chars().count()).max();
        for pool in pools {
            self::pool(pool, width.unwrap_or(0), out)?;
        }
    }
    let head = match impact.served.download {
        0 => "newly served".to_owned(),
        bytes => format!("newly served, {} to download", words::bytes(bytes)),
    };
    images(&head, '+', &impact.served.added, out)?;
    images("no longer served", '-', &impact.served.removed, out)?;
    let sum = words::sum(impact);
    writeln!(out, "\n{sum}")
}

fn pool(pool: &PoolChange, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {:width$}  {}", pool.pool, words::machines(pool))?;
    for (what, (from, to)) in words::edits(pool) {
        writeln!(out, "  {:width$}    {what:<10}  {from} → {to}", "")?;
    }
    if !pool.skipped.is_empty() {
        let skipped = pool.skipped.join(", ");
        writeln!(out, "  {:width$}    {:<10}  {skipped}", "", "skips")?;
    }
    Ok(())
}

fn images(head: &str, sign: char, images: &[ServedImage], out: &mut dyn Write) -> io::Result<()> {
    if images.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nimages {head}")?;
    for image in images {
        let size = image
            .download
            .map_or("size unknown".to_owned(), words::bytes);
        let from = image.uri.as_deref().unwrap_or("–");
        writeln!(out, "  {sign} {}  {size}  {from}", image.key)?;
    }
    Ok(())
}
