//! `metalmark bundle unpack`: a bundle to files that are committed.

use std::io::Write;
use std::path::{Path, PathBuf};

use capi::objects::bundled::Order;
use clap::Args;
use yaml_tree::place::Spot;

use crate::bundle::{self, BundleKind};
use crate::error::Error;
use crate::model::component::Declared;
use crate::model::policy::Policy;
use crate::output::Foreign;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::quantity;

use super::Run;
use super::destination::{incoming, into_folder};
use super::input::{Input, Loaded};
use super::manifests::{ManifestOptions, Prepared, prepare, print_left_out};

/// What is unpacked, and where.
#[derive(Debug, Args)]
pub struct UnpackOptions {
    /// A folder, an archive, `-`, `oci-layout:DIR[:NAME]`, `configmaps:PATH`,
    /// `index:FILE`, or `oci://…@sha256:…`.
    #[arg(value_name = "FROM", value_parser = Input::parse)]
    pub(super) from: Input,
    /// The folder that the files go into.
    #[arg(long, value_name = "DIR")]
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) unpacking: Unpacking,
}

/// How a bundle is unpacked.
#[derive(Debug, Args)]
pub(super) struct Unpacking {
    #[command(flatten)]
    manifests: ManifestOptions,
    /// Write into a folder that holds other files too: overwrite those of the same path, and leave the rest.
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    pub(super) reporting: Reporting,
}

/// Writes the files of a bundle into a folder, unless something is wrong with it.
///
/// # Errors
/// It cannot be read, or its files not be written.
pub(super) fn unpack(
    run: &Run<'_>,
    from: &Input,
    into: &Path,
    options: &Unpacking,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = run.workspace(false)?;
    let mut loaded = from.load(run)?;
    let kind = loaded.bundle.kind;
    let mut found = std::mem::take(&mut loaded.findings);
    let mut sound = None;
    if found.is_empty() {
        let policy = &workspace.settings.policy;
        // The files are committed, for Flux and Argo CD.
        let checked = check(run, loaded, &options.manifests, Order::Kind, policy)?;
        print_left_out(&checked.left_out, terminal)?;
        found = checked.findings;
        sound = Some(checked.bundle);
    }
    let verdict = run.report(&workspace, found, &options.reporting, terminal)?;
    let (Some(bundle), Verdict::Clean) = (sound, verdict) else {
        return Ok(Verdict::Findings);
    };
    match into_folder(
        run,
        into,
        incoming(&bundle),
        Foreign::from_flag(options.adopt),
    )? {
        Err(findings) => {
            run.report(&workspace, findings, &options.reporting, terminal)?;
            Ok(Verdict::Findings)
        }
        Ok(changes) => {
            let files = quantity(bundle.files().len(), "file");
            writeln!(terminal.out, "{kind} bundle of {files}; {changes}")?;
            Ok(Verdict::Clean)
        }
    }
}

/// What is written of a bundle, and what is wrong with it for a consumer with an order of its own.
pub(super) fn check(
    run: &Run<'_>,
    loaded: Loaded,
    options: &ManifestOptions,
    own: Order,
    policy: &Policy,
) -> Result<Prepared, Error> {
    let bundle = loaded.bundle;
    match bundle.kind {
        BundleKind::Artifact(_) => Ok(Prepared::new(bundle, Vec::new())),
        BundleKind::Components => {
            let declared = Declared::from_annotations(&bundle.annotations);
            let contract = bundle::contract(bundle.files(), declared);
            let findings = contract.map_err(Error::reading(&loaded.shown))?.findings;
            Ok(Prepared::new(bundle, findings))
        }
        BundleKind::Plain => {
            let loaded = Loaded { bundle, ..loaded };
            let order = options.order.to_order(own);
            prepare(run, loaded.into(), options, order, policy)
        }
        BundleKind::Registry => {
            let found = bundle::registry_bundle_finding(Some(Spot::from_path(&loaded.shown)));
            Ok(Prepared::new(bundle, vec![found]))
        }
    }
}
