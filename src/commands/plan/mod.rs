//! `metalmark plan`: the steps and waves by which clusters reach another Kubernetes version, and the edits of a wave.

mod apply;
mod manifests;
mod status;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use capi::image::{Images, Origin, fact};
use clap::Args;
use oci_artifacts::Reference;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::Source;

use crate::catalog::locking::Requirements;
use crate::catalog::offers::{Builder, Offer};
use crate::catalog::sources;
use crate::commands::lock;
use crate::commands::update::{self, OfferOptions};
use crate::decide::plan::{self, ClusterPlan, Goal, PoolState};
use crate::decide::waves;
use crate::edit::texts::{self, EditedFile};
use crate::edit::update::UpdateTarget;
use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::finding::Judged;
use crate::model::name::NameFacts;
use crate::model::rule::Level;
use crate::model::version::{Version, flavor_of};
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, Verdict, check, image_servers, recover};
use crate::read::{self, ClusterEntry, Request};
use crate::report::upgrade::{self, UpgradeReport};
use crate::report::{self, CommentFormat, Format, print_findings};

/// What is planned.
#[derive(Clone, Debug, Args)]
pub struct PlanOptions {
    /// The Kubernetes minor version that the clusters are to run, such as 1.33; without it, `plan.to` of the project file.
    #[arg(long, value_name = "MINOR")]
    pub to: Option<Goal>,
    /// Plan the newest patch of the minor that each cluster runs, instead of another minor.
    #[arg(long, conflicts_with = "to")]
    pub patch_only: bool,
    /// Plan for clusters with an image that was built before this day, `YYYY-MM-DD`: the newest patch of the minor that they run, of
    /// images that were built on it or later.
    #[arg(long, value_name = "DATE", value_parser = date, conflicts_with_all = ["to", "patch_only"])]
    pub security_before: Option<Date>,
    /// Plan with the images that this version of the image builder offers (`REGISTRY=VERSION` where there are several), instead of
    /// those of the catalog; without --to, for the minor that each cluster runs.
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
    /// Where the upgrade to `plan.to` of the project file is, as far as it is committed: what was merged, which wave is next and
    /// from which day, and what stops clusters.
    #[arg(long, conflicts_with_all = ["to", "patch_only", "security_before", "to_builder", "apply", "planned"])]
    pub status: bool,
    /// Plan these clusters alone: the others stay as they are.
    #[arg(value_name = "CLUSTER", conflicts_with = "apply")]
    pub planned: Vec<String>,
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
            let images = match offered {
                Some(offered) => offered.images_for(view),
                None => Ok(&*view.images),
            };
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
    let mut request = request.clone();
    request.flags.selected.clone_from(&options.planned);
    let request = &request;
    if options.apply.is_some() {
        recover(request, terminal)?;
    }
    let commits = options
        .status
        .then(|| status::Commits::read(request, today));
    let commits = commits.transpose()?;
    let workspace = match &commits {
        Some(commits) => commits.head()?,
        None => read::workspace(request)?,
    };
    let fleet = Fleet::open(workspace, today)?;
    let goal = find_goal(options, &fleet);
    if goal.is_err() {
        // Its goal may be written wrongly.
        has_unread(&fleet, terminal)?;
    }
    let goal = goal?;
    let builder = options.to_builder.as_deref();
    if builder.is_none() && options.offer.is_given() {
        let message = "a list of images says what a version of the builder offers\nhelp: type `--to-builder VERSION` too";
        return Err(Error::usage(message));
    }
    let offered = match builder {
        Some(version) => Some(read_offer(
            request,
            &fleet,
            version,
            &options.offer,
            terminal,
        )?),
        None => None,
    };
    let plans = Plans::read(&fleet, goal, offered.as_ref())?;
    // The builder's version is written once for all clusters that share it: `update` is that change.
    let waves = match builder {
        Some(_) => Vec::new(),
        None => waves::waves(&plans.plans, &fleet.workspace.settings.waves),
    };
    if let Some(number) = options.apply {
        // What is not read may be what keeps clusters out of the wave.
        if has_unread(&fleet, terminal)? {
            return Ok(Verdict::Findings);
        }
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
    let servers = image_servers::plan_servers(&fleet, plans)?;
    let report = report::PlanReport {
        plans,
        waves: &waves,
        servers: &servers,
        goal,
        builder,
    };
    match commits {
        None => report::plan(&report, options.format, &mut terminal.out)?,
        Some(commits) => {
            let upgrade = UpgradeReport {
                plan: report,
                history: &commits.history(&fleet)?,
                today,
            };
            upgrade::upgrade(&upgrade, options.format, &mut terminal.out)?;
        }
    }
    let has_unread = has_unread(&fleet, terminal)?;
    let is_blocked = plans.iter().any(|plan| plan.blocked.is_some());
    Ok(Verdict::from_errors(is_blocked || has_unread))
}

/// Whether a project is not read whole, so that no plan of it is; prints why.
fn has_unread(fleet: &Fleet, terminal: &mut Terminal) -> Result<bool, Error> {
    let workspace = &fleet.workspace;
    let found = workspace.findings.clone();
    let unread = check::findings(found, &workspace.settings, fleet.today).findings;
    let is_error = |judged: &Judged| judged.level == Level::Error;
    let unread: Vec<Judged> = unread.into_iter().filter(is_error).collect();
    if !unread.is_empty() {
        let count = workspace.clusters.len();
        print_findings(&mut terminal.err, &unread, count, Format::Human)?;
    }
    Ok(!unread.is_empty())
}

/// What the clusters are to run: as typed, else as the project file says.
fn find_goal(options: &PlanOptions, fleet: &Fleet) -> Result<Goal, Error> {
    let since = options.security_before.map(Goal::BuiltSince);
    let within_minor = options.patch_only || options.to_builder.is_some();
    let typed = options.to.or(since);
    let typed = typed.or(within_minor.then_some(Goal::Patches));
    let upgrade = fleet.workspace.settings.waves.to;
    let upgrade = upgrade.map(|(major, minor)| Goal::Minor(major, minor));
    typed.or(upgrade).ok_or_else(|| {
        let typed = if options.status {
            ""
        } else {
            "type `--to MINOR` or `--patch-only`, or "
        };
        Error::usage(format!(
            "no goal is given\nhelp: {typed}write `plan: {{to: \"1.33\"}}` to the project file"
        ))
    })
}

/// The findings at error level, in words.
fn errors(judged: &[Judged]) -> BTreeSet<String> {
    let errors = judged.iter().filter(|judged| judged.level == Level::Error);
    let words = errors.map(|judged| {
        let finding = &judged.finding;
        let cluster = finding.subject.cluster.iter();
        let cluster: String = cluster.map(|cluster| format!("{cluster}: ")).collect();
        format!("{cluster}error[{}]: {}", finding.rule, finding.message)
    });
    words.collect()
}

/// What a version of a builder offers.
struct Offered {
    target: UpdateTarget,
    offer: Offer,
    /// The images of each cluster then.
    images: ImagesOfClusters,
}

/// The images of each cluster.
type ImagesOfClusters = BTreeMap<Arc<str>, Arc<Images>>;

impl Offered {
    /// The images that a cluster may move to. Of the version's there is none where the cluster's own values keep another version.
    fn images_for<'a>(&'a self, view: &'a ClusterView) -> Result<&'a Images, String> {
        let UpdateTarget { builder, to, .. } = &self.target;
        let images = self.images.get(&view.cluster.name);
        let images = images.unwrap_or(&view.images);
        let tags = images.values().filter(|image| image.built);
        let tags: BTreeSet<(&Arc<str>, Arc<str>)> = tags
            .filter_map(|image| {
                let registry = builder.registries.get(image.registry.as_ref()?)?;
                let tag = Reference::parse(&image.uri.as_ref()?.value).ok()?.tag?;
                Some((registry, tag))
            })
            .collect();
        if tags.is_empty() || tags.iter().any(|(_, tag)| **tag == **to) {
            return Ok(images);
        }
        let kept = tags
            .iter()
            .map(|(name, tag)| format!("`{name}` at `{tag}`"));
        let kept: Vec<String> = kept.collect();
        let lacking = self.lacking(view).unwrap_or_default();
        Err(format!("its own values keep {}{lacking}", kept.join(", ")))
    }

    /// That the version has no image of the minor that a cluster runs.
    fn lacking(&self, view: &ClusterView) -> Option<String> {
        let cluster = &view.cluster;
        let flavor = flavor_of(&cluster.bootstrap_provider.as_ref()?.value)?;
        let current = Version::parse(&cluster.k8s_version.as_ref()?.value)?;
        let minors = self.offer.images.keys().filter_map(|name| {
            let facts = NameFacts::parse(name)?;
            let version = facts.k8s_version?;
            (facts.k8s_flavor.as_deref() == Some(flavor)).then_some((version.major, version.minor))
        });
        let minors: BTreeSet<(u32, u32)> = minors.collect();
        let own = (current.major, current.minor);
        let (major, minor) = minors.range(own..).next().filter(|next| **next != own)?;
        Some(format!(
            "; `{}` has no image of {}.{}: go to {major}.{minor} first",
            self.target.to, own.0, own.1
        ))
    }
}

/// Reads what a version offers, and the facts of its images that no file has.
///
/// # Errors
/// It cannot be read or fetched; it names no image of the version.
fn read_offer(
    request: &Request,
    fleet: &Fleet,
    version: &str,
    options: &OfferOptions,
    terminal: &mut Terminal,
) -> Result<Offered, Error> {
    let (workspace, catalogs) = (&fleet.workspace, fleet.catalogs()?);
    let target = update::parse_target(version, &Builder::find(&catalogs), &catalogs)?;
    let offer = update::offer(
        options,
        options.text(request)?.as_ref(),
        &target,
        workspace,
        &catalogs,
        terminal,
    )?;
    report::update::gaps(&offer, &mut terminal.err)?;
    let mut plan = update::Plan::new(request, fleet);
    plan.add_offer(&catalogs, &target, &offer, options.caller)?;
    let offered = |images| Offered {
        target: target.clone(),
        offer: offer.clone(),
        images,
    };
    let unknown = uncertain_images(plan.fleet(), &target.to)?;
    if unknown.is_empty() {
        return images(plan.fleet()).map(offered);
    }
    let locked = lock::preview(plan.fleet(), &unknown, terminal)?;
    if !locked.failures.is_empty() {
        return Err(Error::Fetch {
            failures: locked.failures,
        });
    }
    let judged = check::findings(locked.findings, &workspace.settings, fleet.today).findings;
    if !judged.is_empty() {
        let clusters = workspace.clusters.len();
        report::print_findings(&mut terminal.err, &judged, clusters, Format::Human)?;
    }
    let file = |path: &Path, text| EditedFile {
        source: Arc::new(Source::new(path.to_string_lossy(), "")),
        text,
    };
    let mut files = plan.files;
    files.push(file(&workspace.lock, sources::lock_text(&locked.lock)));
    let evidence = sources::evidence_text(&locked.lock).unwrap_or_default();
    files.push(file(&sources::evidence_path(&workspace.lock), evidence));
    images(&texts::read_with(request, fleet, &files)?).map(offered)
}

/// The images of a version whose Kubernetes version at most a name says.
fn uncertain_images(fleet: &Fleet, version: &str) -> Result<Requirements, Error> {
    let mut unknown = lock::requirements(fleet)?.requirements;
    let images = images(fleet)?;
    let mut catalogs: Vec<&Arc<Images>> = images.values().collect();
    catalogs.dedup_by(|one, other| Arc::ptr_eq(one, other));
    let is_known = |key: &str, reference: &str| {
        let mut all = catalogs.iter().filter_map(|images| images.get(key));
        all.any(|image| {
            let uri = image.uri.as_ref().map(|uri| &*uri.value);
            let held = image.facts.get(fact::K8S_VERSION);
            uri == Some(reference) && held.is_some_and(|held| held.origin > Origin::Name)
        })
    };
    unknown.retain(|(key, reference), requirement| {
        requirement.origin.version.as_deref() == Some(version) && !is_known(key, reference)
    });
    Ok(unknown)
}

/// The images of each cluster of a project.
fn images(fleet: &Fleet) -> Result<ImagesOfClusters, Error> {
    let entries: Vec<&ClusterEntry> = fleet.workspace.entries().collect();
    let of = |entry: &&ClusterEntry| -> Result<_, Error> {
        let view = fleet.view(entry)?;
        Ok((view.cluster.name, view.images))
    };
    entries.par_iter().map(of).collect()
}
