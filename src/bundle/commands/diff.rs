//! `metalmark bundle diff`: compares a bundle with a folder, file by file. Archives of the same files differ in their bytes where
//! different programs packed them; that is no difference here.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::bundle::{self, Kind};
use crate::error::Error;
use crate::model::manifest::ChangeSet;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::{self, Format};

use super::gather::PackKind;
use super::input::Input;
use super::{Run, gather, pinned};

/// What is compared.
#[derive(Debug, Args)]
pub struct DiffOptions {
    /// `oci://…`, `oci-layout:DIR[:NAME]`, an archive or a folder.
    #[arg(value_name = "FROM", value_parser = Input::parse)]
    of: Input,
    /// The folder that it is compared with.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,
}

/// Prints what has to change in the bundle for it to hold what the folder holds.
pub(super) fn diff(
    run: &Run<'_>,
    options: &DiffOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = run.workspace(false)?;
    // A tag is resolved at this moment, because nothing is kept.
    let of = match &options.of {
        Input::Registry(reference) => Input::Registry(pinned::current(&run.stores()?, reference)?),
        of => of.clone(),
    };
    let mut loaded = of.load(run)?;
    let kind = match loaded.bundle.kind {
        Kind::Plain => PackKind::Plain,
        Kind::Registry | Kind::Artifact(_) | Kind::Components => PackKind::Artifact,
    };
    let gathered = gather::named(run, std::slice::from_ref(&options.folder), kind)?;
    let mut found = std::mem::take(&mut loaded.findings);
    found.extend(gathered.findings);
    if run.report(&workspace, found, &Reporting::default(), terminal)? == Verdict::Findings {
        return Ok(Verdict::Findings);
    }
    let here: Vec<bundle::File> = gathered.files.into_values().collect();
    let compared =
        bundle::compare(loaded.bundle.files(), &here).map_err(Error::reading(&loaded.shown))?;
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
