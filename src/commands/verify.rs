//! `metalmark verify`: compares the lock with the registries.

use clap::Args;

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
