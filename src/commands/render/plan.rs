//! Plans a run of `render`: renders all clusters, and compares the result with the disk.

use std::sync::Arc;

use crate::edit::stamp::{self, Rendered};
use crate::edit::texts::EditedFile;
use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::manifest::{ChangeSet, Keeps, ManifestFile};
use crate::model::part::Part;
use crate::model::rule::{Level, RuleId};
use crate::output::{Foreign, Texts};
use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::outputs;
use crate::pipeline::rendered::{RenderScope, RenderedFleet, RenderedPart};
use crate::read::{self, Request, Workspace};
use crate::render::{FileObjects, Renderer};
use crate::rules;

use super::RenderOptions;

/// What is rendered, with what and how.
pub(super) struct Job<'a> {
    pub(super) request: &'a Request,
    pub(super) fleet: &'a Fleet,
    pub(super) renderer: &'a Renderer<'a>,
    pub(super) scope: &'a RenderScope,
    pub(super) options: &'a RenderOptions,
    pub(super) texts: Texts,
}

/// What a run does.
pub(super) struct Planned<T> {
    pub(super) fleet_check: FleetCheck<T>,
    /// The changes of rendered files.
    pub(super) changes: ChangeSet,
    /// The manifests of people whose references move, each with its new text.
    pub(super) followed: Vec<EditedFile>,
}

impl<T> Planned<T> {
    /// Whether there is anything to write, and no error that forbids it.
    pub(super) fn is_any(&self) -> bool {
        let is_any = self.changes.is_to_apply() || !self.followed.is_empty();
        is_any && !self.fleet_check.has_errors()
    }

    /// Whether something lies in the way, which another run may have written just now.
    pub(super) fn is_blocked(&self) -> bool {
        let mut judged = self.fleet_check.judged.iter();
        judged.any(|it| it.finding.rule == RuleId::FileNotOwned && it.level == Level::Error)
    }
}

/// Every cluster checked, rendered and compared with the disk; what may not be written is among the findings. `keep` makes the
/// results of the check.
pub(super) fn plan_render<T: Send>(
    job: &Job<'_>,
    keep: impl Fn(&ClusterView) -> T + Sync,
) -> Result<Planned<T>, Error> {
    let Job {
        fleet,
        renderer,
        scope,
        options,
        texts,
        ..
    } = *job;
    let workspace = &fleet.workspace;
    let foreign = Foreign::from_flag(options.adopt);
    let tree = outputs::plan(workspace, foreign, texts)?;
    let RenderedFleet {
        mut fleet_check,
        shared,
        objects,
    } = scope.render(fleet, renderer, RenderedPart::Whole, |view, files| {
        let holds_endpoint =
            |file: &&ManifestFile| view.cluster.endpoint.is_some() && file.text.contains(ENDPOINT);
        let holders = files.iter().filter(holds_endpoint);
        let holders: Vec<String> = holders.map(|file| file.path.clone()).collect();
        let mut part = tree.compare(files)?;
        for path in holders {
            if part.is_replaced(&path) {
                part.add(rules::endpoint_replacement(view, &tree.text(&path)?));
            }
        }
        Ok((part, keep(view)))
    })?;
    if matches!(scope.part, Part::Named(_)) {
        fleet_check.add(tree.refuse_old_lists(), fleet);
    }
    let (mut parts, mut fleet_check) = fleet_check.split();
    parts.push(tree.compare(shared)?);
    let mut changes = tree.finish(parts, &keeps(workspace, scope.part.clone()))?;
    fleet_check.add(std::mem::take(&mut changes.findings), fleet);
    let followed = move_references(job, &objects, &mut fleet_check)?;
    Ok(Planned {
        fleet_check,
        changes,
        followed,
    })
}

/// What the file with the infrastructure cluster has in it.
const ENDPOINT: &str = "controlPlaneEndpoint:";

/// Whose files stay, where a run answers for a part of the fleet.
fn keeps(workspace: &Workspace, part: Part) -> Keeps {
    let names = { workspace.clusters.iter() }.map(|entry| Arc::clone(&entry.name));
    Keeps {
        part,
        clusters: names.collect(),
        is_all: workspace.out.is_some() || !workspace.is_whole(),
    }
}

/// The manifests of people that refer to what was rendered. Files that are written elsewhere for a look move nothing.
fn move_references<T>(
    job: &Job<'_>,
    objects: &[FileObjects],
    fleet_check: &mut FleetCheck<T>,
) -> Result<Vec<EditedFile>, Error> {
    let workspace = &job.fleet.workspace;
    if workspace.manifests.is_empty() || workspace.out.is_some() {
        return Ok(Vec::new());
    }
    let mut files = read::manifests(workspace, job.request, &[])?;
    let is_clean = |file: &&FileObjects| {
        let cluster = file.cluster();
        cluster.is_none_or(|name| !fleet_check.faulty.contains(name))
    };
    let rendered = objects.iter().filter(is_clean).flat_map(|file| {
        let cluster = file.cluster().map(|name| &**name);
        file.identities()
            .filter_map(move |it| Rendered::read(it, cluster))
    });
    let rendered: Vec<Rendered<'_>> = rendered.collect();
    let mut followed = stamp::follow(&files.objects, &rendered);
    followed.findings.append(&mut files.findings);
    fleet_check.add(followed.findings, job.fleet);
    Ok(followed.files)
}
