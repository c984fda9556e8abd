//! `metalmark plan`: the steps by which clusters reach another Kubernetes version.

use clap::Args;

use crate::error::Error;
use crate::model::plan::{self, ClusterPlan, Goal};
use crate::model::policy::Date;
use crate::pipeline::{Terminal, Verdict, fleet};
use crate::read::{self, Request};
use crate::report::{self, CommentFormat};

/// What is planned.
#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    /// The Kubernetes minor version that the clusters are to run, such as 1.33.
    #[arg(long, value_name = "MINOR")]
    pub to: Goal,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = CommentFormat::Human, value_name = "FORMAT")]
    pub format: CommentFormat,
}

/// Prints each cluster's steps on stdout; with a cluster that cannot reach the goal it ends as with a finding.
///
/// # Errors
/// I/O failed, or there is no project.
pub fn plan(
    request: &Request,
    options: &PlanOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let planned = fleet::check_fleet(&workspace, &tools, |view, _| {
        Ok((plan::of_cluster(view, options.to), Vec::new()))
    })?;
    let plans: Vec<ClusterPlan> = planned.results;
    let goal = options.to.to_string();
    report::plan(&plans, &goal, options.format, &mut terminal.out)?;
    let is_blocked = plans.iter().any(|plan| plan.blocked.is_some());
    Ok(match is_blocked {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}
