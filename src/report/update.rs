//! What an update does: the summary, what it would do, and, for a bot, what is worth reading in its merge request.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::sync::Arc;

use oci_artifacts::Address;
use yaml_tree::place::{Source, Spot};

use crate::catalog::offers::{self, Builder, Caller, Offer, Summary, VersionChange};
use crate::model::rule::Level;
use crate::printer::Printer;

use super::{Findings, Report, quantity};

/// Prints the summary; what it says of pools only if a file changes or one of them does.
pub fn summary(summary: &Summary, changes_files: bool, out: &mut Printer) -> io::Result<()> {
    if summary.drift.is_empty() {
        let to: Vec<&str> = { summary.versions.iter() }
            .map(|change| &*change.to)
            .collect();
        let offer = if to.len() == 1 { "offers" } else { "offer" };
        writeln!(out, "the catalog lists what {} {offer}", to.join(" and "))?;
    }
    let pools = summary.pools.as_ref();
    let has_pools = pools.is_some_and(|pools| !pools.is_empty());
    if changes_files || has_pools || summary.doubt.is_some() {
        write!(out, "{}", summary.text())?;
    }
    Ok(())
}

/// Prints the repositories that are left out, since their names are not read.
pub fn gaps(offer: &Offer, out: &mut Printer) -> io::Result<()> {
    match offers::describe_gaps(offer) {
        Some(unread) => writeln!(out, "{unread}"),
        None => Ok(()),
    }
}

/// Prints which versions of builders are left alone.
pub fn other_versions(left: &[Builder], out: &mut Printer) -> io::Result<()> {
    for builder in left {
        let (name, version) = (
            builder.name(),
            builder.version.as_deref().unwrap_or_default(),
        );
        writeln!(
            out,
            "{version} of {name} stays, where other values have it: raise it there, then type `metalmark update NAME=VERSION`"
        )?;
    }
    Ok(())
}

/// Prints why Kubernetes versions stay.
pub fn stays(reasons: &BTreeSet<String>, out: &mut Printer) -> io::Result<()> {
    for reason in reasons {
        writeln!(out, "a Kubernetes version stays: {reason}")?;
    }
    Ok(())
}

/// Prints which minor versions the map lacks.
pub fn print_minors(minors: &BTreeSet<String>, out: &mut Printer) -> io::Result<()> {
    for minor in minors {
        writeln!(out, "{minor}")?;
    }
    Ok(())
}

/// An image of which a release says another checksum than its artifact.
pub struct OtherBytes {
    /// Its reference.
    pub reference: Address,
    /// The SHA-256 of the release.
    pub offered: String,
    /// The SHA-256 that the artifact's annotations give.
    pub locked: Arc<str>,
}

/// Prints the images that are not those of the release.
pub fn other_bytes(others: &[OtherBytes], caller: Caller, out: &mut Printer) -> io::Result<()> {
    let otherwise = match caller {
        Caller::Person => "`--images FILE` says what is offered without checksums",
        Caller::Bot => caller.repair(),
    };
    for it in others {
        writeln!(
            out,
            "error: the release says sha256 `{}` of `{}`, and its artifact says `{}`\n  \
             help: it was built again or replaced: check the release; {otherwise}",
            it.offered, it.reference, it.locked
        )?;
    }
    Ok(())
}

/// Prints that nothing says what the new images are, for there is no lock.
pub fn missing_lock(out: &mut Printer) -> io::Result<()> {
    writeln!(
        out,
        "error: there is no lock, so that format and checksum of the new images are not known\n  \
         help: run `metalmark lock` first, and commit the lock: `update` then locks the new images too"
    )
}

/// Prints that nothing is written; `flags` would repair more.
pub fn refusal(flags: &[&str], out: &mut Printer) -> io::Result<()> {
    writeln!(
        out,
        "what was written is undone, because of the errors above"
    )?;
    let flags = flags.join(", ");
    let flags = if flags.is_empty() {
        flags
    } else {
        format!("; {flags}")
    };
    writeln!(out, "help: correct them and run this again{flags}")?;
    writeln!(
        out,
        "help: `metalmark render CLUSTER…` renders clusters alone, without the update"
    )
}

/// Prints the entries that an expression names, by key and place.
pub fn omissions(computed: &[(String, Spot)], out: &mut Printer) -> io::Result<()> {
    for (key, spot) in computed {
        writeln!(
            out,
            "{spot}: an expression names the entry `{key}`, and it is left as it is"
        )?;
    }
    Ok(())
}

/// A version that would be set.
pub struct PreviewedVersion<'a> {
    /// Which one.
    pub change: &'a VersionChange,
    /// Whether the values name it already.
    pub is_raised: bool,
    /// Where it is written.
    pub spots: &'a [Spot],
}

/// What an update would do.
pub struct Preview<'a> {
    /// The versions of builders.
    pub versions: Vec<PreviewedVersion<'a>>,
    /// The files that would change.
    pub files: Vec<&'a Arc<Source>>,
    /// How many images would be locked.
    pub unlocked: usize,
}

/// Prints what an update would do.
pub fn preview(preview: &Preview<'_>, out: &mut Printer) -> io::Result<()> {
    for version in &preview.versions {
        let would_set = if version.is_raised { "" } else { "would set " };
        for spot in version.spots {
            writeln!(out, "{would_set}{spot}: version {}", version.change.text())?;
        }
    }
    for source in &preview.files {
        writeln!(out, "would change {}", source.path)?;
    }
    if preview.unlocked > 0 {
        writeln!(out, "would lock {}", quantity(preview.unlocked, "image"))?;
    }
    Ok(())
}

/// The errors alone, a line each with its help: a merge request shows them in a comment, where snippets are too long.
pub struct Brief;

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
