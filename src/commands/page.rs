//! `metalmark page`: the fleet as one HTML file.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::budget;
use crate::decide::plan::{self, ClusterPlan, Goal};
use crate::decide::waves;
use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::output;
use crate::pipeline::compare::{self, Sides};
use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::{Terminal, Verdict, image_servers, reporting};
use crate::printer::{Color, Printer};
use crate::read::{self, Request};
use crate::report::impact::Impact;
use crate::report::page::{ClusterPart, Gatherer, Page, SourceUrl};
use crate::report::{self, Changes, PlanReport};

use super::render::check_all;

/// What the page shows, and where it is written.
#[derive(Clone, Debug, Args)]
pub struct PageOptions {
    /// The file to write; `-` is stdout.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub to: PathBuf,
    /// The heading of the page.
    #[arg(long, value_name = "TEXT", default_value = "Fleet")]
    pub title: String,
    /// Link places to a code host: an address with `{path}` and `{line}` in it.
    #[arg(long, value_name = "URL")]
    pub source_url: Option<SourceUrl>,
    /// Show what the files on disk change against this commit.
    #[arg(long, value_name = "GIT-REV")]
    pub against: Option<String>,
    /// Show the steps and waves by which the clusters reach this Kubernetes minor version, as `metalmark plan` does.
    #[arg(long, value_name = "MINOR")]
    pub plan: Option<Goal>,
}

/// Writes the page, whatever the rules find: `check` is the gate.
///
/// # Errors
/// I/O failed; there is no project, or no such commit.
pub fn page(
    request: &Request,
    options: &PageOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if options.is_stdout() && terminal.out.width.is_some() {
        let message = "a page is not text for a terminal\nhelp: write it with `--to FILE`";
        return Err(Error::usage(message));
    }
    match &options.against {
        Some(against) => change(request, options, against, today, terminal)?,
        None => current(request, options, today, terminal)?,
    }
    Ok(Verdict::Clean)
}

/// The page of the files on disk.
fn current(
    request: &Request,
    options: &PageOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let mut fleet = Fleet::open(read::workspace(request)?, today)?;
    let gatherer = Gatherer::new(fleet.workspace.settings.matching);
    let fleet_check = check_all(request, &mut fleet, |view| options.part(&gatherer, view))?;
    let print = Print {
        fleet: &fleet,
        request,
        options,
    };
    print.page(gatherer, fleet_check, None, terminal)
}

/// The page of the files on disk, with what they change against a commit.
fn change(
    request: &Request,
    options: &PageOptions,
    against: &str,
    today: Date,
    terminal: &mut Terminal,
) -> Result<(), Error> {
    let sides = Sides::open(request, None, Some(against))?;
    let gatherer = Gatherer::new(sides.after.settings.matching);
    let change = compare::sides(sides, today, |view, _| options.part(&gatherer, view))?;
    let (before, after) = (&change.before, &change.after);
    let found = before.fleet.check(|_, _, _| Ok(()))?;
    let print = Print {
        fleet: &after.fleet,
        request,
        options,
    };
    let change_of = Some((&change.impact, &*found.judged));
    print.page(gatherer, change.fleet_check, change_of, terminal)
}

/// What printing needs of the run.
struct Print<'a> {
    fleet: &'a Fleet,
    request: &'a Request,
    options: &'a PageOptions,
}

impl Print<'_> {
    fn page(
        &self,
        gatherer: Gatherer,
        mut fleet_check: FleetCheck<PageSection>,
        change: Option<(&Impact, &[Judged])>,
        terminal: &mut Terminal,
    ) -> Result<(), Error> {
        let _work = budget::enter("the page")?;
        let parts = std::mem::take(&mut fleet_check.results);
        let (clusters, plans): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let plans: Vec<ClusterPlan> = plans.into_iter().flatten().collect();
        let workspace = &self.fleet.workspace;
        let waves = waves::waves(&plans, &workspace.settings.waves);
        let servers = image_servers::plan_servers(self.fleet, &plans)?;
        let planned = |goal| PlanReport {
            plans: &plans,
            waves: &waves,
            servers: &servers,
            goal,
            builder: None,
        };
        let found = fleet_check.report();
        let page = Page {
            title: &self.options.title,
            source_url: self.options.source_url.as_ref(),
            clusters,
            gatherer,
            findings: &reporting::findings(
                found,
                &reporting::run(workspace, Changes::None),
                Color::Never,
            ),
            change,
            plan: self.options.plan.map(planned),
        };
        if self.options.is_stdout() {
            return Ok(report::page::page(page, &mut terminal.out)?);
        }
        let text = Printer::print_to_string(Color::Never, |out| report::page::page(page, out))?;
        output::file(&self.request.locate(&self.options.to), text.as_bytes())
    }
}

/// What is kept of a cluster: for the page, and its plan where one is requested.
type PageSection = (ClusterPart, Option<ClusterPlan>);

impl PageOptions {
    fn part(&self, gatherer: &Gatherer, view: &ClusterView) -> PageSection {
        let plan = self
            .plan
            .map(|goal| plan::for_cluster(view, Ok(&view.images), goal));
        (gatherer.cluster(view), plan)
    }

    fn is_stdout(&self) -> bool {
        self.to == Path::new("-")
    }
}
