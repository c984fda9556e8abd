//! What a change does, as a comment on a merge request.

use std::io::{self, Write};

use crate::impact::{PoolChange, ServedImage};
use crate::model::finding::{Judged, Level};

use super::{Impact, text, words};

/// Writes the sum first, then tables: most readers stop at the sum.
pub(super) fn write(impact: &Impact, judged: &[Judged], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "### What this change does\n\n**{}**",
        words::sum(impact)
    )?;
    let errors: Vec<&Judged> = judged
        .iter()
        .filter(|judged| judged.level == Level::Error)
        .collect();
    if !errors.is_empty() {
        writeln!(out)?;
    }
    for judged in errors {
        let place = judged.finding.labels.first();
        let place = place.map_or(String::new(), |label| {
            format!(" ({})", code(&label.spot.to_string()))
        });
        let message = escaped(&judged.finding.message);
        writeln!(out, "- ❌ **{}**: {message}{place}", judged.finding.rule)?;
    }
    for note in &impact.notes {
        writeln!(out, "\n> {}", escaped(note))?;
    }
    if !impact.clusters.is_empty() {
        writeln!(
            out,
            "\n| cluster | pool | machines | change |\n|---|---|---|---|"
        )?;
    }
    for group in words::groups(impact) {
        let head = words::head(&group);
        let pools = group.first().map_or(&[][..], |change| &change.pools);
        if pools.is_empty() {
            writeln!(out, "| {} | | | |", escaped(&head))?;
        }
        for pool in pools {
            row(&head, pool, out)?;
        }
    }
    images("Newly served", &impact.served.added, out)?;
    images("No longer served", &impact.served.removed, out)?;
    if impact.served.download > 0 {
        writeln!(
            out,
            "\n{} to download.",
            words::bytes(impact.served.download)
        )?;
    }
    let short = impact.against.get(..10).unwrap_or(&impact.against);
    writeln!(
        out,
        "\n<sub>Against {short}, {}.</sub>",
        escaped(&impact.base)
    )
}

fn row(head: &str, pool: &PoolChange, out: &mut dyn Write) -> io::Result<()> {
    let edits = text::edits(pool).into_iter();
    let mut changes: Vec<String> = edits
        .map(|(what, (from, to))| format!("{what} {} → {}", code(&from), code(&to)))
        .collect();
    if !pool.skipped.is_empty() {
        changes.push(format!("⚠️ skips {}", pool.skipped.join(", ")));
    }
    writeln!(
        out,
        "| {} | {} | {} | {} |",
        escaped(head),
        code(&pool.pool),
        words::machines(pool),
        changes.join("<br>")
    )
}

fn images(head: &str, images: &[ServedImage], out: &mut dyn Write) -> io::Result<()> {
    if images.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{head}:\n")?;
    for image in images {
        let size = image
            .download
            .map_or("size unknown".to_owned(), words::bytes);
        let from = image
            .uri
            .as_deref()
            .map_or(String::new(), |uri| format!(", {}", code(uri)));
        writeln!(out, "- {} ({size}{from})", code(&image.key))?;
    }
    Ok(())
}

/// Text that no table or emphasis breaks. Backquotes stay: messages mark values with them.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '|' => escaped.push_str("\\|"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A value as code, whatever it holds.
fn code(text: &str) -> String {
    let text = text
        .replace('`', "'")
        .replace('|', "\\|")
        .replace(['\n', '\r'], " ");
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::{code, escaped};

    #[test]
    fn no_value_breaks_a_table() {
        assert_eq!(code("a|b`c\nd"), "`a\\|b'c d`");
        assert_eq!(escaped("<b> | `x`\n"), "&lt;b> \\| `x` ");
    }
}
