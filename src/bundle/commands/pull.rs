//! `metalmark bundle pull`: a bundle from a registry into a folder, by its digest.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use oci_artifacts::Reference;

use crate::error::Error;
use crate::pipeline::{Terminal, Verdict};

use super::input::Input;
use super::unpack::{Unpacking, unpack};
use super::{Run, pinned, reference};

/// What is pulled.
#[derive(Debug, Args)]
pub struct PullOptions {
    /// `oci://REGISTRY/REPOSITORY@sha256:…`, or with a tag that the lock knows.
    #[arg(value_name = "REF", value_parser = reference)]
    of: Reference,
    /// The folder that the files go into.
    #[arg(value_name = "DIR")]
    into: PathBuf,
    /// Take a tag for the digest that it names now.
    #[arg(long)]
    allow_tag: bool,
    /// Refuse it unless this public key, cosign.pub, has signed it.
    #[arg(long, value_name = "KEY")]
    key: Option<PathBuf>,
    #[command(flatten)]
    unpacking: Unpacking,
}

/// Writes the files of a bundle in a registry into a folder, once it is known which bytes are meant, and who signed them.
pub(super) fn pull(
    run: &Run<'_>,
    options: &PullOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let key = run.key(options.key.as_deref())?;
    let workspace = run.workspace(false)?;
    let stores = run.stores()?;
    let reporting = &options.unpacking.reporting;
    let (workspace, pinned) =
        run.pin_reference(workspace, &stores, &options.of, options.allow_tag)?;
    let pinned = match pinned {
        Ok(pinned) => pinned,
        Err(finding) => return run.report(&workspace, vec![finding], reporting, terminal),
    };
    match &key {
        None => writeln!(terminal.err, "{pinned}")?,
        Some((key, file)) => match pinned::check_signature(&stores, &pinned, key, file)? {
            Ok(clause) => writeln!(terminal.err, "{pinned}: {clause}")?,
            Err(finding) => {
                let verdict = run.report(&workspace, vec![finding], reporting, terminal)?;
                if verdict == Verdict::Findings {
                    return Ok(Verdict::Findings);
                }
            }
        },
    }
    let from = Input::Registry(pinned);
    unpack(run, &from, &options.into, &options.unpacking, terminal)
}
