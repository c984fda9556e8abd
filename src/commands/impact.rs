//! `metalmark impact`: what a change does to images, versions and machines, both sides compared by meaning.

use std::io::Write;

use clap::Args;

use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::pipeline::compare::{self, Sides};
use crate::pipeline::{Terminal, Verdict};
use crate::read::Request;
use crate::report::impact::Impact;
use crate::report::{CommentFormat, Format, print_findings};

/// Which change is compared.
#[derive(Clone, Debug, Args)]
pub struct ImpactOptions {
    /// The commit that the change leads to; without it, the files on disk.
    #[arg(value_name = "GIT-REV")]
    pub to: Option<String>,
    /// The commit that the change starts from; without it, the merge base with the default branch.
    #[arg(long, value_name = "GIT-REV")]
    pub against: Option<String>,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = CommentFormat::Human, value_name = "FORMAT")]
    pub format: CommentFormat,
}

/// Compares every cluster of both sides, and runs the rules over the later one and over what changes.
///
/// # Errors
/// I/O failed; there is no project, no repository or no such commit.
pub fn impact(
    request: &Request,
    options: &ImpactOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let sides = Sides::open(request, options.to.as_deref(), options.against.as_deref())?;
    let change = compare::sides(sides, today, |_, _| ())?;
    let judged = &change.fleet_check.judged;
    let checked = change.fleet_check.results.len();
    // Only a comment leaves out what was there before.
    let before = match options.format {
        CommentFormat::Markdown => change.before.fleet.check(|_, _, _| Ok(()))?.judged,
        CommentFormat::Human | CommentFormat::Json | CommentFormat::Yaml => Vec::new(),
    };
    let findings = [&before, judged].map(Vec::as_slice);
    print(&change.impact, findings, checked, options, terminal)?;
    Ok(change.fleet_check.verdict())
}

/// The result goes to stdout, findings of the later side beside it to stderr.
fn print(
    impact: &Impact,
    [before, judged]: [&[Judged]; 2],
    checked: usize,
    options: &ImpactOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let out = &mut terminal.out;
    let format = Format::from(options.format);
    match options.format {
        CommentFormat::Human => impact.text(out)?,
        CommentFormat::Markdown => impact.markdown(before, judged, out)?,
        CommentFormat::Json | CommentFormat::Yaml => format.data(impact, out)?,
    }
    if !judged.is_empty() {
        out.flush()?;
        print_findings(&mut terminal.err, judged, checked, format)?;
    }
    Ok(())
}
