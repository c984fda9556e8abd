//! `metalmark bundle verify`: who signed a bundle, and whether it keeps the contract of its kind.

use std::io::Write;
use std::path::PathBuf;

use capi::objects::bundled::Order;
use clap::Args;
use oci_artifacts::Reference;

use crate::error::Error;
use crate::pipeline::{Reporting, Terminal, Verdict};
use crate::report::{Format, VerifiedBundle};

use super::input::Input;
use super::manifests::ManifestOptions;
use super::unpack::check;
use super::{Run, pinned, reference};

/// What is verified.
#[derive(Debug, Args)]
pub struct VerifyOptions {
    /// `oci://REGISTRY/REPOSITORY@sha256:…`, or with a tag: the digest that it names now.
    #[arg(value_name = "REF", value_parser = reference)]
    of: Reference,
    /// The public key that it has to be signed with: cosign.pub. Without one, only its content is checked.
    #[arg(long, value_name = "KEY")]
    key: Option<PathBuf>,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,
}

/// Compares a bundle in a registry with a key and with the contract of its kind. Nothing of it is kept or run.
pub(super) fn verify(
    run: &Run<'_>,
    options: &VerifyOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let key = run.key(options.key.as_deref())?;
    let workspace = run.workspace(false)?;
    let stores = run.stores()?;
    let of = pinned::current(&stores, &options.of)?;
    let (mut found, mut signature) = (Vec::new(), None);
    if let Some((key, file)) = &key {
        match pinned::check_signature(&stores, &of, key, file)? {
            Ok(good) => signature = Some(good),
            Err(finding) => found.push(finding),
        }
    }
    let mut loaded = Input::Registry(of.clone()).load(run)?;
    let (kind, files) = (loaded.bundle.kind, loaded.bundle.files().len());
    let refused = std::mem::take(&mut loaded.findings);
    found.extend(if refused.is_empty() {
        let policy = &workspace.settings.policy;
        let options = ManifestOptions::default();
        check(run, loaded, &options, Order::Together, policy)?.findings
    } else {
        refused
    });
    let verdict = run.report(&workspace, found, &Reporting::default(), terminal)?;
    let verified = VerifiedBundle {
        version: 1,
        reference: of.to_string(),
        kind: kind.to_string(),
        files,
        signature,
        ok: verdict == Verdict::Clean,
    };
    match options.format {
        Format::Human if verified.ok => writeln!(terminal.out, "{verified}")?,
        Format::Human => {}
        format => format.data(&verified, &mut terminal.out)?,
    }
    Ok(verdict)
}
