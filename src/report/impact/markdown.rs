//! The impact of a change, as a comment on a merge request: what the change does, and what it adds; the rest is counted. Code
//! hosts refuse a comment of more than 65,536 characters, so the lists end before.

use std::collections::BTreeSet;
use std::io;

use super::field::cut;
use super::{Impact, PoolChange, ServedImage, words};
use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::printer::{Printer, Safe};
use crate::report::quantity;

/// The most bytes of all lists together.
const ROOM: usize = 50_000;
/// The bytes that the first item of a list has in any case.
const LEAST: usize = 1_500;

/// Writes the sum first, then what changes, and then the errors that were not there before.
pub(super) fn write(
    impact: &Impact,
    before: &[Judged],
    after: &[Judged],
    out: &mut Printer,
) -> io::Result<()> {
    let mut lists = Lists { out, room: ROOM };
    lists.out.markup(&Safe::concat([
        "### What this change does\n\n**".into(),
        Safe::markdown(&words::sum(impact)),
        "**\n".into(),
    ]))?;
    lists.write("", &impact.notes, "note", |note, longest| {
        let note = Safe::markdown(&cut(note, longest));
        Safe::concat(["\n> ".into(), note, "\n".into()])
    })?;
    let rows = words::groups(impact).into_iter().flat_map(|group| {
        let head = words::head(&group);
        let pools = group.first().map_or(&[][..], |change| &change.pools);
        let alone = pools.is_empty().then_some(None).into_iter();
        let pools = alone.chain(pools.iter().map(Some));
        let row = |pool| Row {
            head: head.clone(),
            pool,
        };
        pools.map(row).collect::<Vec<Row<'_>>>()
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let head = "\n| cluster | pool | machines | change |\n|---|---|---|---|\n";
    lists.write(head, &rows, "row", Row::print)?;
    errors(before, after, &mut lists)?;
    let served = &impact.served;
    lists.write("\nNewly served:\n\n", &served.added, "image", image)?;
    lists.write("\nNo longer served:\n\n", &served.removed, "image", image)?;
    if impact.served.download > 0 {
        lists.out.markup(&Safe::concat([
            "\n".into(),
            Safe::markdown(&words::bytes(impact.served.download)),
            " to download.\n".into(),
        ]))?;
    }
    let short = impact.against.get(..10).unwrap_or(&impact.against);
    lists.out.markup(&Safe::concat([
        "\n<sub>Against ".into(),
        Safe::markdown(short),
        ", ".into(),
        Safe::markdown(&impact.base),
        ".</sub>\n".into(),
    ]))
}

/// Writes lists as far as there is room.
struct Lists<'a> {
    out: &'a mut Printer,
    /// The bytes that are left.
    room: usize,
}

impl Lists<'_> {
    /// Writes a list below its head, and how many items had no room. `print` prints an item, each of its texts with at most that many
    /// characters; the first one gets shorter texts until it has room.
    fn write<T>(
        &mut self,
        head: &'static str,
        items: &[T],
        what: &str,
        print: impl Fn(&T, usize) -> Safe,
    ) -> io::Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        self.out.markup(&head.into())?;
        self.room = self.room.max(LEAST);
        let count = items.len();
        for (index, item) in items.iter().enumerate() {
            let mut longest = ROOM;
            let mut printed = print(item, longest);
            while index == 0 && printed.as_str().len() > self.room && longest > 0 {
                longest /= 2;
                printed = print(item, longest);
            }
            match self.room.checked_sub(printed.as_str().len()) {
                Some(room) => self.room = room,
                None => {
                    let left = quantity(count - index, &format!("further {what}"));
                    let left = Safe::markdown(&left);
                    return self
                        .out
                        .markup(&Safe::concat(["\nAnd ".into(), left, ".\n".into()]));
                }
            }
            self.out.markup(&printed)?;
        }
        Ok(())
    }
}

/// The errors that the change adds, each once, and how many there were before.
fn errors(before: &[Judged], after: &[Judged], lists: &mut Lists<'_>) -> io::Result<()> {
    fn keys(judged: &[Judged]) -> impl Iterator<Item = (String, &Judged)> {
        let errors = judged.iter().filter(|judged| judged.level == Level::Error);
        errors.map(|judged| {
            let finding = &judged.finding;
            let path = finding.labels.first().map(|label| &label.spot.source.path);
            let path = path.map_or("", |path| &**path);
            let key = format!("{} {path} {}", finding.rule.as_str(), finding.message);
            (key, judged)
        })
    }
    let known: BTreeSet<String> = keys(before).map(|(key, _)| key).collect();
    let mut met = BTreeSet::new();
    let mut added = Vec::new();
    for (key, judged) in keys(after) {
        let is_known = known.contains(&key);
        if met.insert(key) && !is_known {
            added.push(judged);
        }
    }
    let old = met.len() - added.len();
    lists.write("\nErrors that it adds:\n\n", &added, "error", error)?;
    if old == 0 {
        return Ok(());
    }
    let count = quantity(old, "error");
    lists.out.markup(&Safe::concat([
        "\n".into(),
        Safe::markdown(&count),
        " as before.\n".into(),
    ]))
}

fn error(judged: &&Judged, longest: usize) -> Safe {
    let finding = &judged.finding;
    let place = finding.labels.first().map(|label| {
        Safe::concat([
            " (".into(),
            Safe::markdown_code(&cut(&label.spot.to_string(), longest)),
            ")".into(),
        ])
    });
    Safe::concat([
        "- ❌ **".into(),
        finding.rule.as_str().into(),
        "**: ".into(),
        Safe::markdown(&cut(&finding.message, longest)),
        place.unwrap_or_default(),
        "\n".into(),
    ])
}

/// A row of the table.
struct Row<'a> {
    /// The clusters.
    head: String,
    /// Their pool; none where none changes.
    pool: Option<&'a PoolChange>,
}

impl Row<'_> {
    fn print(&self, longest: usize) -> Safe {
        let text = |text: &str| Safe::markdown(&cut(text, longest));
        let code = |text: &str| Safe::markdown_code(&cut(text, longest));
        let Some(pool) = self.pool else {
            return Safe::concat(["| ".into(), text(&self.head), " | | | |\n".into()]);
        };
        let edits = words::edits(pool).into_iter();
        let mut changes: Vec<Safe> = edits
            .map(|words::Line { what, from, to }| {
                Safe::concat([
                    text(&what),
                    " ".into(),
                    code(&from),
                    " → ".into(),
                    code(&to),
                ])
            })
            .collect();
        changes.extend(words::further(pool).map(|further| Safe::markdown(&further)));
        if !pool.skipped.is_empty() {
            let skipped = Safe::markdown(&pool.skipped.join(", "));
            changes.push(Safe::concat(["⚠️ skips ".into(), skipped]));
        }
        Safe::concat([
            "| ".into(),
            text(&self.head),
            " | ".into(),
            code(&pool.pool),
            " | ".into(),
            Safe::markdown(&words::machines(pool)),
            " | ".into(),
            Safe::join(changes, "<br>"),
            " |\n".into(),
        ])
    }
}

fn image(image: &ServedImage, longest: usize) -> Safe {
    let code = |text: &str| Safe::markdown_code(&cut(text, longest));
    let size = image.download;
    let size = size.map_or("size unknown".to_owned(), words::bytes);
    let from = image.uri.as_deref().map(code);
    let from = from.map(|uri| Safe::concat([", ".into(), uri]));
    Safe::concat([
        "- ".into(),
        code(&image.key),
        " (".into(),
        Safe::markdown(&size),
        from.unwrap_or_default(),
        ")\n".into(),
    ])
}
