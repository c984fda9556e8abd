//! `metalmark verify`: compares the lock with the registries.

use clap::Args;
use oci_artifacts::Digest;
use oci_artifacts::signature::PublicKey;

use crate::catalog::locking;
use crate::error::Error;
use crate::model::date::Date;
use crate::model::rule::RuleId;
use crate::pipeline::check;
use crate::read::{self, Request};
use crate::report::{self, Format, print_findings};
use crate::rules;

use super::lock;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{self, Terminal, Verdict};

/// How the lock is verified.
#[derive(Clone, Debug, Args)]
pub struct VerifyOptions {
    /// Query nothing, and list the locked images that rest on this key: a name from `policy.keys`, a file, or a fingerprint.
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Read every locked image whole, and compare its bytes with the locked digest, its length and its format. This takes as long as
    /// fetching them.
    #[arg(long)]
    pub bytes: bool,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Verifies every entry of the lock: whether its tag still names the locked digest, whether it is signed, and whether
/// the artifact has the facts of the lock.
///
/// # Errors
/// I/O or the network failed; there is no project, or no lock; images could not be queried.
pub fn verify(
    request: &Request,
    options: &VerifyOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    workspace.checks_signers = true;
    let fleet = Fleet::open(workspace, today)?;
    let workspace = &fleet.workspace;
    if fleet.lock().images().is_empty() && workspace.findings.is_empty() {
        let message = format!(
            "there is nothing to verify: `{}` holds no image\nhelp: run `metalmark lock`",
            workspace.lock.display()
        );
        return Err(Error::usage(message));
    }
    if let Some(key) = &options.key {
        return list_resting(&fleet, key, options.format, terminal);
    }
    let required = lock::requirements(&fleet)?;
    let mut found = required.findings;
    found.extend(workspace.findings.iter().cloned());
    let store = pipeline::open_stores(workspace, terminal)?;
    let sources = fleet.lock_sources();
    let answers = lock::pages(workspace, &store);
    let mut verified = locking::verify(
        fleet.lock(),
        &sources,
        &required.requirements,
        &fleet.keyring,
        &workspace.settings.registries.platform,
        &answers.pages,
        &store,
    );
    if options.bytes {
        let platform = &workspace.settings.registries.platform;
        locking::verify_bytes(fleet.lock(), &sources, platform, &store, &mut verified);
    }
    verified.failures.extend(answers.failures);
    found.retain(|finding| finding.rule.is_of_lock() || finding.rule == RuleId::YamlSyntax);
    found.extend(verified.findings.iter().cloned());
    found.extend(rules::missing_evidence(
        fleet.lock(),
        &sources,
        &workspace.settings,
        &verified.unproven,
    ));
    let judged = check::findings(found, &workspace.settings, today);
    if !judged.findings.is_empty() {
        print_findings(
            &mut terminal.err,
            &judged.findings,
            workspace.clusters.len(),
            options.format,
        )?;
    }
    report::verification(&verified, options.format, &mut terminal.out)?;
    if !verified.failures.is_empty() {
        let failures = verified.failures;
        return Err(Error::Fetch { failures });
    }
    Ok(judged.verdict())
}

/// Lists the images that were locked because the holder of a key signed them.
fn list_resting(
    fleet: &Fleet,
    key: &str,
    format: Format,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let workspace = &fleet.workspace;
    let named = workspace.settings.policy.signatures.names.get(key);
    let fingerprint = match (named, Digest::parse(key)) {
        (Some(named), _) => named.fingerprint().clone(),
        (None, Ok(fingerprint)) => fingerprint,
        (None, Err(_)) => {
            let text = read::key_text(&*workspace.files, key);
            let read = text.and_then(|text| PublicKey::read(&text).map_err(|it| it.to_string()));
            let read = read.map_err(|reason| {
                Error::usage(format!(
                    "`{key}` is not a key under `policy.keys`, no fingerprint and no public key: {reason}"
                ))
            })?;
            read.fingerprint().clone()
        }
    };
    let images = fleet.lock().images().iter();
    let resting: Vec<_> = images
        .filter(|image| image.signing_keys().contains(fingerprint.as_str()))
        .collect();
    report::resting(&resting, &fingerprint, format, &mut terminal.out)?;
    Ok(Verdict::Clean)
}
