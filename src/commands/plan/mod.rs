//! `metalmark plan`: the steps and waves by which clusters reach another Kubernetes version, and the edits of a wave.

mod apply;
mod builder;
mod manifests;

use std::collections::BTreeSet;

use clap::Args;

use crate::decide::plan::{self, ClusterPlan, Goal, PoolState};
use crate::decide::waves;
use crate::error::Error;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::rule::Level;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict, recover};
use crate::read::{self, Request};
use crate::report::{self, CommentFormat};

use super::update::OfferOptions;
use builder::Offered;

/// What is planned.
#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    /// The Kubernetes minor version that the clusters are to run, such as 1.33.
    #[arg(long, value_name = "MINOR", required_unless_present_any = ["patch_only", "to_builder", "security_before"])]
    pub to: Option<Goal>,
    /// Plan the newest patch of the minor that each cluster runs, instead of another minor.
    #[arg(long, conflicts_with = "to")]
    pub patch_only: bool,
    /// Plan for clusters with an image that was built before this day, `YYYY-MM-DD`: the newest patch of the minor that they run, of
    /// images that were built on it or later.
    #[arg(long, value_name = "DATE", value_parser = date, conflicts_with_all = ["to", "patch_only"])]
    pub security_before: Option<Date>,
    /// Plan with the images that this version of the image builder offers, instead of those of the catalog; without --to, for
    /// the minor that each cluster runs.
    #[arg(long, value_name = "VERSION", conflicts_with = "apply")]
    pub to_builder: Option<String>,
    /// Where the version's images are listed.
    #[command(flatten)]
    pub offer: OfferOptions,
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = CommentFormat::Human, value_name = "FORMAT")]
    pub format: CommentFormat,
    /// Make the edits of one wave in values and manifests, all of them or none: versions and images.
    #[arg(long, value_name = "WAVE", conflicts_with = "format")]
    pub apply: Option<usize>,
}

fn date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "a date is a day such as 2026-07-22".to_owned())
}

/// The clusters of a project, with their plans.
struct Plans {
    plans: Vec<ClusterPlan>,
    /// The pools of each.
    states: Vec<Vec<PoolState>>,
    /// What the rules find.
    judged: Vec<Judged>,
}

impl Plans {
    /// With the images that are offered to each cluster, else those of its catalog.
    fn read(fleet: &Fleet, goal: Goal, offered: Option<&Offered>) -> Result<Self, Error> {
        let checked = fleet.check(|view, _, _| {
            let offered = offered.and_then(|offered| offered.get(&view.cluster.name));
            let images = offered.unwrap_or(&view.images);
            Ok((plan::for_cluster(view, images, goal), plan::states(view)))
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
    let fleet = Fleet::open(read::workspace(request)?, today)?;
    let since = options.security_before.map(Goal::BuiltSince);
    let goal = options.to.or(since).unwrap_or(Goal::Patches);
    let builder = options.to_builder.as_deref();
    if builder.is_none() && options.offer.is_given() {
        let message = "a list of images says what a version of the builder offers\nhelp: type `--to-builder VERSION` too";
        return Err(Error::usage(message));
    }
    let offered = match builder {
        Some(version) => {
            let wanted = (version, &options.offer);
            Some(builder::read_offer(request, &fleet, wanted, terminal)?)
        }
        None => None,
    };
    let plans = Plans::read(&fleet, goal, offered.as_ref())?;
    // The builder's version is written once for all clusters that share it: `update` is that change.
    let waves = match builder {
        Some(_) => Vec::new(),
        None => waves::waves(&plans.plans, &fleet.workspace.settings.waves),
    };
    if let Some(number) = options.apply {
        let wave = apply::Apply {
            request,
            fleet: &fleet,
            plans: &plans,
            goal,
            wave: apply::find_wave(&waves, number)?,
        };
        return wave.run(terminal);
    }
    let plans = &plans.plans;
    let report = report::PlanReport {
        plans,
        waves: &waves,
        goal,
        builder,
    };
    report::plan(&report, options.format, &mut terminal.out)?;
    let is_blocked = plans.iter().any(|plan| plan.blocked.is_some());
    Ok(Verdict::from_errors(is_blocked))
}

/// The findings at error level, in words.
fn errors(judged: &[Judged]) -> BTreeSet<String> {
    let errors = judged.iter().filter(|judged| judged.level == Level::Error);
    let words = errors.map(|judged| {
        let finding = &judged.finding;
        let cluster = finding.subject.cluster.as_deref().unwrap_or_default();
        format!("{cluster}: error[{}]: {}", finding.rule, finding.message)
    });
    words.collect()
}
