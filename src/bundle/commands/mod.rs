//! `metalmark bundle`: files that are handed on as one thing with one digest, made, taken apart and looked at.

mod diff;
mod from;
mod gather;
mod index;
mod inspect;
mod keys;
mod manifests;
mod pack;
mod packing;
mod pinned;
mod pull;
mod push;
mod to;
mod unpack;
mod verify;

use std::path::PathBuf;

use crate::artifacts::registry::Progress;
use crate::catalog::sources::{self, Stores};
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::model::pool_counts::PoolCounts;
use crate::oci::Failure;
use crate::pipeline::check::{self, Checked};
use crate::read::{self, Request, Workspace};
use crate::report::Changes;

use crate::pipeline::{Reporting, Terminal, Verdict, reporting};

pub use diff::{DiffOptions, bundle_diff};
pub use from::From;
pub use inspect::{InspectOptions, bundle_inspect};
pub use pack::{PackOptions, bundle_pack};
pub use packing::{PackKind, Packing};
pub use pinned::Tags;
pub use pull::{PullOptions, bundle_pull};
pub use push::{PushOptions, PushSource, Signing, bundle_push};
pub use to::To;
pub use unpack::{UnpackOptions, bundle_unpack};
pub use verify::{VerifyBundleOptions, bundle_verify};

/// How manifests are brought into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestOrder {
    /// Their files keep their names; whoever takes them sorts by kind, as RukPak, Flux and Argo CD do.
    Kind,
    /// Their files keep their names, and are applied by them.
    Names,
    /// Each object becomes a file, numbered in Helm's order of kinds.
    Numbered,
}

/// The workspace, whose policy counts. There need be no project unless what it renders is asked for.
fn workspace(request: &Request, renders: bool) -> Result<Workspace, Error> {
    let mut request = request.clone();
    request.flags.manifests = !renders;
    request.flags.without_project = !renders;
    read::workspace(&request)
}

/// The stores that the project names; there need be none.
fn stores(request: &Request, terminal: &Terminal) -> Result<Stores, Error> {
    let (root, settings) = read::registries(request)?;
    Ok(sources::stores(&root, &settings, terminal.progress.clone()))
}

fn failed(failure: Failure) -> Error {
    let failures = vec![failure];
    Error::Fetch { failures }
}

/// Judges what was found and tells it on stderr. Answers whether an error stands.
fn told(
    workspace: &Workspace,
    found: Vec<Finding>,
    (today, reporting): (Date, &Reporting),
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let all = workspace.findings.iter().cloned().chain(found).collect();
    let checked: Checked = check::findings(all, &workspace.settings, today);
    let judged = &checked.findings;
    let found = (judged.as_slice(), &PoolCounts::default());
    reporting.save(found, workspace, Changes::None)?;
    if !judged.is_empty() {
        let color = terminal.err.color;
        let findings = reporting::findings(found, workspace, Changes::None, color);
        reporting.output.findings(&findings, &mut terminal.err)?;
    }
    Ok(match checked.has_errors() {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}

/// Tells a terminal how many of so many are done.
fn counting(progress: Option<&Progress>, total: usize) -> impl Fn(usize) {
    let progress = progress.cloned();
    move |done| {
        if let Some(progress) = &progress {
            progress(done, total);
        }
    }
}

/// A path below the folder that `-C` names.
fn below(request: &Request, path: &std::path::Path) -> PathBuf {
    match &request.directory {
        Some(folder) => folder.join(path),
        None => path.to_owned(),
    }
}

/// `1 file`, `2 files`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// An input or output error that belongs to no named file.
fn lost(what: &str) -> impl Fn(std::io::Error) -> Error {
    let path = PathBuf::from(what);
    move |cause| Error::Read {
        path: path.clone(),
        cause,
    }
}
