//! `metalmark bundle diff`: a bundle against a folder, by what is in their files. Archives of the same files differ in their
//! bytes wherever they were packed otherwise; that counts for nothing here.

use std::io::Write;
use std::path::PathBuf;

use crate::bundle::{self, Kind};
use crate::error::Error;
use crate::model::manifest::ChangeSet;
use crate::model::policy::Date;
use crate::read::Request;
use crate::report;

use super::from::{From, Loaded};
use super::gather;
use super::packing::PackKind;
use super::{lost, pinned, stores, told, workspace};
use crate::pipeline::{Format, Reporting, Terminal, Verdict};

/// What `bundle diff` was asked for.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Where the bundle is.
    pub of: From,
    /// The folder that it is compared with.
    pub folder: PathBuf,
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Prints what has to change in the bundle for it to hold what the folder holds; there is drift where something has.
///
/// # Errors
/// The bundle cannot be had, or the folder not be read.
pub fn bundle_diff(
    request: &Request,
    options: &DiffOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = workspace(request, false)?;
    let mut loaded = loaded(request, options, terminal)?;
    let reporting = Reporting {
        output: Format::Human.report(),
        files: Vec::new(),
    };
    let kind = match loaded.bundle.kind {
        Kind::Plain => PackKind::Plain,
        Kind::Registry | Kind::Artifact(_) | Kind::Components => PackKind::Artifact,
    };
    let gathered = gather::named(request, std::slice::from_ref(&options.folder), kind)?;
    let mut found = std::mem::take(&mut loaded.findings);
    found.extend(gathered.findings);
    if told(&workspace, found, (options.today, &reporting), terminal)? == Verdict::Findings {
        return Ok(Verdict::Findings);
    }
    let here: Vec<bundle::File> = gathered.files.into_values().collect();
    let compared = bundle::compare(loaded.bundle.files(), &here).map_err(lost(&loaded.shown))?;
    for path in &compared.modes {
        writeln!(
            terminal.err,
            "note: `{path}` may be run in one of them only"
        )?;
    }
    let is_same = compared.changes.is_empty() && compared.modes.is_empty();
    let changes = ChangeSet {
        changes: compared.changes,
        rendered: here.len(),
        ..ChangeSet::default()
    };
    match options.format {
        Format::Json => report::changes_json(&[changes], &mut terminal.out)?,
        Format::Human => report::diff(&changes, &mut terminal.out)?,
    }
    Ok(match is_same {
        true => Verdict::Clean,
        false => Verdict::Drift,
    })
}

/// The bundle; a tag stands for what it names now, for nothing of it is kept.
fn loaded(request: &Request, options: &DiffOptions, terminal: &Terminal) -> Result<Loaded, Error> {
    let of = match &options.of {
        From::Registry(reference) if reference.digest.is_none() => {
            let stores = stores(request, terminal)?;
            let manifest = pinned::manifest(&stores, reference).map_err(super::failed)?;
            From::Registry(reference.at(&manifest.digest))
        }
        of => of.clone(),
    };
    of.load(request, terminal.progress.as_ref())
}
