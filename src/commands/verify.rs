//! `metalmark verify`: the lock against the world.

use serde::Serialize;

use crate::catalog::locking::{self, Verification, VerifiedImage};
use crate::error::Error;
use crate::model::policy::Date;
use crate::model::rule::RuleId;
use crate::pipeline::check;
use crate::read::{self, Request};

use super::lock;
use super::table::Table;
use crate::pipeline::{Format, Terminal, Verdict, fleet, print_findings, stores};

/// What `verify` was asked for.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The format of what is printed.
    pub format: Format,
    /// The day that waivers are held against.
    pub today: Date,
}

/// Asks for every entry of the lock: whether its tag still stands for the locked digest, whether it is signed, and whether
/// the artifact says what the lock says.
///
/// # Errors
/// The world failed; there is no project, or no lock; images could not be asked for.
pub fn verify(
    request: &Request,
    options: &VerifyOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    workspace.checks_signers = true;
    let tools = fleet::tools(&mut workspace, options.today)?;
    if tools.lock().images().is_empty() && workspace.findings.is_empty() {
        let message = format!(
            "there is nothing to verify: `{}` holds no image\nhelp: run `metalmark lock`",
            workspace.lock.display()
        );
        return Err(Error::Usage { message });
    }
    let asked = lock::asks(&workspace, &tools)?;
    let mut found = asked.findings;
    found.append(&mut workspace.findings);
    let store = stores::open(&workspace, terminal);
    let architecture = stores::architecture(&workspace);
    let sources = tools.lock_sources();
    let answers = lock::pages(&workspace, &store);
    let signing = (&asked.asks, &tools.keyring);
    let known = (&*architecture, &answers.pages);
    let mut verified = locking::verify(tools.lock(), &sources, signing, known, &store);
    verified.failures.extend(answers.failures);
    found.retain(|finding| finding.rule.is_of_lock() || finding.rule == RuleId::YamlSyntax);
    found.extend(verified.findings.iter().cloned());
    let judged = check::findings(found, &workspace.settings, options.today);
    if !judged.findings.is_empty() {
        print_findings(
            &mut terminal.err,
            &judged.findings,
            workspace.clusters.len(),
            options.format,
        )?;
    }
    print(&verified, options.format, terminal)?;
    if !verified.failures.is_empty() {
        let failures = verified.failures;
        return Err(Error::Fetch { failures });
    }
    Ok(match judged.has_errors() {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    images: Vec<Image<'a>>,
}

#[derive(Serialize)]
struct Image<'a> {
    key: &'a str,
    reference: &'a str,
    in_place: Option<bool>,
    signed_by: Option<&'a str>,
}

fn shown(image: &VerifiedImage) -> Image<'_> {
    Image {
        key: &image.key,
        reference: &image.reference,
        in_place: image.in_place,
        signed_by: image.signed_by.as_deref(),
    }
}

fn print(verified: &Verification, format: Format, terminal: &mut Terminal) -> Result<(), Error> {
    let out = &mut terminal.out;
    if format == Format::Json {
        let document = Document {
            version: 1,
            images: verified.images.iter().map(shown).collect(),
        };
        out.json(&document)?;
        return Ok(());
    }
    let mut table = Table::new(&["image", "tag", "signed by", "reference"]);
    for image in &verified.images {
        let tag = match image.in_place {
            Some(true) => "as locked",
            Some(false) => "not as locked",
            None => "unknown",
        };
        let signed = image.signed_by.as_deref().unwrap_or("–");
        let signed: String = signed.chars().take(19).collect();
        let cells = [&*image.key, tag, &*signed, &*image.reference];
        table.row(cells.map(str::to_owned));
    }
    table.write(out)?;
    Ok(())
}
