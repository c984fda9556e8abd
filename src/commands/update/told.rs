//! What an update says: the summary, and, to a bot, what is worth reading in its merge request.

use std::io::{self, Write as _};

use crate::catalog::offers::{self, Offer, Summary};
use crate::error::Error;
use crate::model::finding::Level;
use crate::output;
use crate::printer::Printer;
use crate::report::{Findings, Report};

use super::catalog::Change;
use super::{Terminal, UpdateOptions};

/// Prints the summary, and writes it where that was asked.
pub(super) fn summary(
    change: &Change,
    summary: &Summary,
    options: &UpdateOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    if let Some(path) = &options.summary {
        output::file(path, summary.markdown().as_str().as_bytes())?;
    }
    if change.drift.is_empty() {
        let to = &summary.to;
        writeln!(terminal.err, "the catalog lists what {to} offers")?;
    }
    let has_pools = summary
        .pools
        .as_ref()
        .is_some_and(|pools| !pools.is_empty());
    if !change.is_empty() || has_pools || summary.doubt.is_some() {
        write!(terminal.err, "{}", summary.text())?;
    }
    Ok(())
}

/// Prints what is left out: entries that an expression names, and repositories whose names are not read.
pub(super) fn left_out(
    change: &Change,
    offer: &Offer,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    if let Some(unread) = offers::unread(offer) {
        writeln!(terminal.err, "{unread}")?;
    }
    for (key, spot) in &change.computed {
        writeln!(
            terminal.err,
            "{spot}: an expression names the entry `{key}`, and it is left as it is"
        )?;
    }
    Ok(())
}

/// The errors alone, a line each with its help: Renovate shows the last of stderr in a comment, where snippets are too long.
pub(super) struct Brief;

/// How many errors a comment holds.
const MOST: usize = 20;

impl Report for Brief {
    fn name(&self) -> &'static str {
        "brief"
    }

    fn summary(&self) -> &'static str {
        "errors, a line each"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let errors = findings.groups.iter().map(|group| group.judged);
        let errors: Vec<_> = errors
            .filter(|judged| judged.level == Level::Error)
            .collect();
        for judged in errors.iter().take(MOST) {
            let finding = &judged.finding;
            let place = match finding.labels.first() {
                Some(label) => format!("{}: ", label.spot),
                None => String::new(),
            };
            writeln!(out, "{place}error[{}]: {}", finding.rule, finding.message)?;
            for help in finding.help.iter().take(1) {
                writeln!(out, "  help: {help}")?;
            }
        }
        match errors.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => writeln!(out, "and {more} more: `metalmark check`"),
        }
    }
}
