//! Plans a run of `render`: renders all clusters, and compares the result with the disk.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::edit::stamp::{self, Rendered};
use crate::edit::texts::EditedFile;
use crate::error::Error;
use crate::model::manifest::{ChangeSet, Keeps};
use crate::output::{Foreign, Previous};
use crate::pipeline::fleet::{Fleet, FleetCheck};
use crate::pipeline::outputs::{self, Outputs};
use crate::pipeline::rendered::{self, RenderScope};
use crate::read::{self, Request};
use crate::render::{self, FileObjects, Renderer};

use super::{RenderOptions, may_write};

/// What is rendered, with what and how.
pub(super) struct Job<'a> {
    pub(super) request: &'a Request,
    pub(super) fleet: &'a Fleet,
    pub(super) renderer: &'a Renderer<'a>,
    pub(super) scope: &'a RenderScope,
    pub(super) options: &'a RenderOptions,
}

/// What a run does.
pub(super) struct Planned {
    pub(super) fleet_check: FleetCheck<()>,
    /// The changes of the folders that metalmark owns.
    pub(super) changes: Vec<ChangeSet>,
    /// The manifests of people whose references move, each with its new text.
    pub(super) followed: Vec<EditedFile>,
}

/// Every cluster checked, rendered and compared with the disk; what may not be written is among the findings.
pub(super) fn plan_render(job: &Job<'_>) -> Result<Planned, Error> {
    let Job {
        fleet,
        renderer,
        scope,
        options,
        ..
    } = *job;
    let workspace = &fleet.workspace;
    let foreign = Foreign::from_flag(options.adopt);
    let previous = if options.check {
        Previous::Keep
    } else {
        Previous::Drop
    };
    let trees = Outputs::open(workspace, foreign, previous)?;
    let mut fleet_check = fleet.check(|view, checked, findings| {
        let mut made = scope.cluster(workspace, renderer, view, checked, findings);
        let files = std::mem::take(&mut made.files);
        Ok((made, trees.compare(files)?))
    })?;
    let mut made = std::mem::take(&mut fleet_check.results);
    let (mut objects, mut served) = (Vec::new(), Vec::new());
    for (made, _) in &mut made {
        objects.append(&mut made.objects);
        served.extend(scope.images(made));
    }
    rendered::compare(&objects, &[], fleet, &mut fleet_check);
    fleet_check.require_pools(fleet);
    // While there is an error, shared files would name clusters that are not written.
    let mut shared = if scope.shares() && may_write(&fleet_check, options) {
        rendered::render_shared(fleet, renderer, served, &mut fleet_check)
    } else {
        Vec::new()
    };
    let of_all = render::objects(&mut shared, None);
    rendered::compare_shared(&objects, &of_all, fleet, &mut fleet_check);
    let mut parts = Vec::with_capacity(made.len() + 1);
    for (made, part) in made {
        // Clusters that render each other's objects were compared with the disk before that was known.
        parts.push(if fleet_check.faulty.contains(&made.cluster) {
            trees.compare(Vec::new())?
        } else {
            part
        });
    }
    parts.push(trees.compare(shared)?);
    let mut changes = trees.finish(parts, &keeps(job, &fleet_check))?;
    let refused = changes
        .iter_mut()
        .flat_map(|changes| std::mem::take(&mut changes.findings));
    let refused = refused.collect();
    fleet_check.add(refused, fleet);
    if workspace.out.is_none() {
        fleet_check.add(outputs::orphans(workspace)?, fleet);
    }
    objects.extend(of_all);
    let followed = move_references(job, &objects, &mut fleet_check)?;
    Ok(Planned {
        fleet_check: fleet_check.drop_results(),
        changes,
        followed,
    })
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

/// Whether no cluster of a fleet falls to this shard.
pub(super) fn is_idle(job: &Job<'_>) -> bool {
    let clusters = &job.fleet.workspace.clusters;
    job.scope.shard.is_some_and(|shard| {
        !clusters.is_empty() && !clusters.iter().any(|entry| shard.holds(&entry.name))
    })
}

/// The earlier files that stay: those of clusters that have errors, and those of other shards.
fn keeps<T>(job: &Job<'_>, fleet_check: &FleetCheck<T>) -> Keeps {
    let mut these = BTreeSet::new();
    if job.options.keep_going {
        for cluster in &fleet_check.faulty {
            let outputs = job.fleet.workspace.settings.outputs.iter();
            these.extend(outputs.map(|output| Arc::from(format!("{}/{cluster}", output.target))));
        }
    }
    let names = || {
        job.fleet
            .workspace
            .clusters
            .iter()
            .map(|entry| Arc::clone(&entry.name))
    };
    match job.scope.shard {
        Some(shard) => Keeps::OtherShards {
            shard,
            these,
            clusters: names().collect(),
        },
        None if these.is_empty() => Keeps::Nobody,
        None => Keeps::These(these),
    }
}
