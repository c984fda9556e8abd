//! `metalmark plan`: the steps and waves by which clusters reach another Kubernetes version, and the edits of a wave.

mod apply;

use clap::Args;

use crate::error::Error;
use crate::model::finding::Judged;
use crate::model::plan::{self, ClusterPlan, Goal, PoolState};
use crate::model::policy::Date;
use crate::model::waves;
use crate::pipeline::fleet::{self, Tools};
use crate::pipeline::{Terminal, Verdict, recover};
use crate::read::{self, Request, Workspace};
use crate::report::{self, CommentFormat};

/// What is planned.
#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    /// The Kubernetes minor version that the clusters are to run, such as 1.33.
    #[arg(long, value_name = "MINOR", required_unless_present = "patch_only")]
    pub to: Option<Goal>,
    /// Plan the newest patch of the minor that each cluster runs, instead of another minor.
    #[arg(long, conflicts_with = "to")]
    pub patch_only: bool,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = CommentFormat::Human, value_name = "FORMAT")]
    pub format: CommentFormat,
    /// Make the edits of one wave in the values, all of them or none: versions and image keys.
    #[arg(long, value_name = "WAVE", conflicts_with = "format")]
    pub apply: Option<usize>,
}

/// The clusters of a project, with their plans.
struct Fleet {
    plans: Vec<ClusterPlan>,
    /// The pools of each.
    states: Vec<Vec<PoolState>>,
    /// What the rules find.
    judged: Vec<Judged>,
}

impl Fleet {
    fn read(workspace: &Workspace, tools: &Tools, goal: Goal) -> Result<Self, Error> {
        let checked = fleet::check_fleet(workspace, tools, |view, _| {
            let planned = (plan::of_cluster(view, goal), plan::states(view));
            Ok((planned, Vec::new()))
        })?;
        let (plans, states) = checked.results.into_iter().unzip();
        Ok(Self {
            plans,
            states,
            judged: checked.judged,
        })
    }
}

/// Prints each cluster's steps on stdout; with a cluster that cannot reach the goal it ends as with a finding. With a wave to
/// apply, edits the values instead.
///
/// # Errors
/// I/O failed, or there is no project; there is no such wave.
pub fn plan(
    request: &Request,
    options: &PlanOptions,
    today: Date,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    if options.apply.is_some() {
        recover(request, terminal)?;
    }
    let mut workspace = read::workspace(request)?;
    let tools = fleet::tools(&mut workspace, today)?;
    let goal = options.to.unwrap_or(Goal::Patches);
    let fleet = Fleet::read(&workspace, &tools, goal)?;
    let waves = waves::waves(&fleet.plans, &workspace.settings.waves);
    if let Some(number) = options.apply {
        let wave = apply::Apply {
            request,
            workspace: &workspace,
            tools: &tools,
            fleet: &fleet,
            goal,
            wave: apply::chosen(&waves, number)?,
            today,
        };
        return wave.run(terminal);
    }
    let plans = &fleet.plans;
    report::plan((plans, &waves), goal, options.format, &mut terminal.out)?;
    let is_blocked = plans.iter().any(|plan| plan.blocked.is_some());
    Ok(match is_blocked {
        true => Verdict::Findings,
        false => Verdict::Clean,
    })
}
