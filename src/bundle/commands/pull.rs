//! `metalmark bundle pull`: a bundle out of a registry into a folder, by its digest.

use std::io::Write;
use std::path::PathBuf;

use crate::error::Error;
use crate::oci::Reference;
use crate::read::Request;

use super::from::From;
use super::pinned::{self, Tags};
use super::unpack::{UnpackOptions, bundle_unpack};
use super::{keys, stores, told, workspace};
use crate::pipeline::{Terminal, Verdict};

/// What `bundle pull` was asked for.
#[derive(Clone, Debug)]
pub struct PullOptions {
    /// Where the bundle is.
    pub of: Reference,
    /// Whether its tag is enough.
    pub tags: Tags,
    /// The key that it has to be signed with, where there is one.
    pub key: Option<PathBuf>,
    /// How it is unpacked; where it is unpacked from is told by `of`.
    pub unpack: UnpackOptions,
}

/// Writes the files of a bundle in a registry into a folder, once it is known which bytes are meant, and who signed them.
///
/// # Errors
/// It cannot be had, or its files not be written.
pub fn bundle_pull(
    request: &Request,
    options: &PullOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let key = match &options.key {
        Some(file) => Some((keys::public(request, file)?, file)),
        None => None,
    };
    let mut workspace = workspace(request, false)?;
    let stores = stores(request, terminal)?;
    let today = options.unpack.today;
    let reporting = options.unpack.reporting.within(request.directory.as_ref());
    let telling = (today, &reporting);
    let pinned = match pinned::pinned(&mut workspace, &stores, &options.of, options.tags, today)? {
        Ok(pinned) => pinned,
        Err(finding) => return told(&workspace, vec![finding], telling, terminal),
    };
    if let Some((key, file)) = &key {
        match pinned::signed(&stores, &pinned, (key, file))? {
            Ok(clause) => writeln!(terminal.err, "{pinned}: {clause}")?,
            Err(finding) => {
                if told(&workspace, vec![finding], telling, terminal)? == Verdict::Findings {
                    return Ok(Verdict::Findings);
                }
            }
        }
    } else {
        writeln!(terminal.err, "{pinned}")?;
    }
    let unpack = UnpackOptions {
        from: From::Registry(pinned),
        ..options.unpack.clone()
    };
    bundle_unpack(request, &unpack, terminal)
}
