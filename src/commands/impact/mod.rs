//! `metalmark impact`: what a change does to images, versions and machines, both sides compared by meaning.

mod comparison;
mod pairs;
mod sides;

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::model::finding::{Judged, Level};
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict, fleet};
use crate::read::Request;
use crate::report::impact::{Impact, Kind, ServedChange};
use crate::report::{Format, print_findings};

use comparison::{Compared, Comparison, End};
use pairs::Pairs;
use sides::Sides;

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
    #[arg(long = "output", value_enum, default_value_t = ImpactFormat::Human, value_name = "FORMAT")]
    pub format: ImpactFormat,
}

/// The format of what a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImpactFormat {
    /// For people.
    Human,
    /// For machines; docs/impact.md gives the shape.
    Json,
    /// For a comment on a merge request.
    Markdown,
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
    let Sides {
        before,
        after,
        commit,
        base,
        mut notes,
    } = sides;
    let (before, after) = (End::new(before, today)?, End::new(after, today)?);
    let pairs = Pairs::new(&before, &after.workspace);
    let comparison = Comparison {
        renderers: (before.renderer(), after.renderer()),
        before: &before,
        after: &after,
        commit: &commit,
        served: Mutex::default(),
    };
    let fleet_check = fleet::check_fleet(&after.workspace, &after.tools, |view, _| {
        let old = pairs.before(&view.cluster);
        Ok(comparison.cluster(old, view))
    })?;
    let count = fleet_check.results.len();
    let mut clusters = Vec::new();
    for compared in fleet_check.results {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let unchanged = count - clusters.len();
    let renamed = clusters
        .iter()
        .filter(|change| change.change == Kind::Renamed);
    let renamed: Vec<&str> = renamed
        .filter_map(|change| change.from.as_deref())
        .collect();
    let gone: Vec<Compared> = pairs
        .gone(&renamed)
        .map(|entry| comparison.gone(entry))
        .collect();
    for compared in gone {
        clusters.extend(compared.change);
        notes.extend(compared.note);
    }
    let served = comparison
        .served
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let impact = Impact {
        against: commit,
        base,
        clusters,
        unchanged,
        served: ServedChange::between(&served.0, &served.1),
        notes,
    };
    print(&impact, &fleet_check.judged, count, options, terminal)?;
    let has_errors = fleet_check
        .judged
        .iter()
        .any(|judged| judged.level == Level::Error);
    Ok(match has_errors {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}

/// The result goes to stdout, findings beside it to stderr.
fn print(
    impact: &Impact,
    judged: &[Judged],
    checked: usize,
    options: &ImpactOptions,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let out = &mut terminal.out;
    let format = match options.format {
        ImpactFormat::Human => {
            impact.text(out)?;
            Format::Human
        }
        ImpactFormat::Markdown => {
            impact.markdown(judged, out)?;
            Format::Human
        }
        ImpactFormat::Json => {
            out.json(impact)?;
            Format::Json
        }
    };
    if !judged.is_empty() {
        out.flush()?;
        print_findings(&mut terminal.err, judged, checked, format)?;
    }
    Ok(())
}
