//! `metalmark bundle verify`: who signed a bundle, and whether it keeps the contract of its kind.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::policy::Date;
use crate::oci::Reference;
use crate::read::{Request, Workspace};

use super::from::{From, Loaded};
use super::manifests::Wish;
use super::pinned;
use super::unpack::checked;
use super::{ManifestOrder, counted, failed, keys, stores, told, workspace};
use crate::pipeline::{Format, Reporting, Terminal, Verdict};

/// What `bundle verify` was asked for.
#[derive(Clone, Debug)]
pub struct VerifyBundleOptions {
    /// Where the bundle is; a tag is taken for what it stands for now, and its digest is printed.
    pub of: Reference,
    /// The key that it has to be signed with; without one, its content alone is looked at.
    pub key: Option<PathBuf>,
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

#[derive(Serialize)]
struct Verified {
    version: u32,
    reference: String,
    kind: String,
    files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    ok: bool,
}

/// Holds a bundle in a registry against a key and against the contract of its kind. Nothing of it is kept or run.
///
/// # Errors
/// It cannot be had.
pub fn bundle_verify(
    request: &Request,
    options: &VerifyBundleOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let key = match &options.key {
        Some(file) => Some((keys::public(request, file)?, file)),
        None => None,
    };
    let workspace = workspace(request, false)?;
    let stores = stores(request, terminal)?;
    let of = match options.of.digest {
        Some(_) => options.of.clone(),
        None => {
            let manifest = pinned::manifest(&stores, &options.of).map_err(failed)?;
            options.of.at(&manifest.digest)
        }
    };
    let (mut found, mut clause) = (Vec::new(), None);
    if let Some((key, file)) = &key {
        match pinned::signed(&stores, &of, (key, file))? {
            Ok(good) => clause = Some(good),
            Err(finding) => found.push(finding),
        }
    }
    let loaded = From::Registry(of.clone()).load(request, terminal.progress.as_ref())?;
    let (kind, files) = (loaded.bundle.kind, loaded.bundle.files().len());
    found.extend(wrong(loaded, &workspace, terminal)?);
    let reporting = Reporting {
        output: Format::Human.report(),
        files: Vec::new(),
    };
    let verdict = told(&workspace, found, (options.today, &reporting), terminal)?;
    let verified = Verified {
        version: 1,
        reference: of.to_string(),
        kind: kind.to_string(),
        files,
        signature: clause,
        ok: verdict == Verdict::Clean,
    };
    print(&verified, options.format, terminal)?;
    Ok(verdict)
}

/// What is wrong with the content of a bundle.
fn wrong(
    mut loaded: Loaded,
    workspace: &Workspace,
    terminal: &Terminal,
) -> Result<Vec<Finding>, Error> {
    let refused = std::mem::take(&mut loaded.findings);
    if !refused.is_empty() {
        return Ok(refused);
    }
    let wish = Wish {
        order: ManifestOrder::Kind,
        namespace: None,
        policy: &workspace.settings.policy,
        progress: terminal.progress.as_ref(),
    };
    Ok(checked(loaded, &wish)?.1)
}

fn print(verified: &Verified, format: Format, terminal: &mut Terminal) -> Result<(), Error> {
    if format == Format::Json {
        terminal.out.json(verified)?;
        return Ok(());
    }
    if !verified.ok {
        return Ok(());
    }
    let signature = match &verified.signature {
        Some(clause) => clause.as_str(),
        None => "its signature was not asked for (`--key`)",
    };
    let Verified {
        reference,
        kind,
        files,
        ..
    } = verified;
    let files = counted(*files, "file");
    writeln!(
        terminal.out,
        "{reference}: {kind} bundle of {files}, {signature}"
    )?;
    Ok(())
}
