//! The images that a version of the builder offers each cluster: the project as `update` would leave it, worked out in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::catalog::locking::Requirements;
use crate::catalog::sources;
use crate::commands::lock;
use crate::commands::update::{self, OfferOptions};
use crate::edit::texts::{self, EditedFile};
use crate::edit::update::{self as edit, UpdateTarget, Versions};
use crate::error::Error;
use crate::pipeline::fleet::Fleet;
use crate::pipeline::{Terminal, check};
use crate::read::{ClusterEntry, Request};
use crate::report::{self, Format};
use capi::image::{Images, Origin, fact};
use yaml_tree::place::Source;

/// The images of each cluster.
pub(super) type Offered = BTreeMap<Arc<str>, Arc<Images>>;

/// Reads what a version offers, and the facts of its images that no file has.
///
/// # Errors
/// It cannot be read or fetched; it names no image of the version.
pub(super) fn read_offer(
    request: &Request,
    fleet: &Fleet,
    (version, options): (&str, &OfferOptions),
    terminal: &mut Terminal,
) -> Result<Offered, Error> {
    let (workspace, catalogs) = (&fleet.workspace, fleet.catalogs()?);
    let current = edit::version(&catalogs);
    let target = UpdateTarget {
        from: current.clone(),
        current,
        to: version.to_owned(),
    };
    let offer = update::offer(options, &target, workspace, &catalogs, terminal)?;
    report::update::omissions(&offer, &[], &mut terminal.err)?;
    let plan =
        update::Plan::for_offer(request, fleet, &catalogs, (&target, &offer), Versions::Keep)?;
    let unknown = uncertain_images(&plan.fleet, version)?;
    if unknown.is_empty() {
        return images(&plan.fleet);
    }
    let locked = lock::preview(&plan.fleet, &unknown, terminal);
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
    let mut files = plan.files();
    files.push(file(&workspace.lock, sources::lock_text(&locked.lock)));
    let evidence = sources::evidence_text(&locked.lock).unwrap_or_default();
    files.push(file(&sources::evidence_path(&workspace.lock), evidence));
    images(&texts::read_with(request, fleet, &files)?)
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
fn images(fleet: &Fleet) -> Result<Offered, Error> {
    let entries: Vec<&ClusterEntry> = fleet.workspace.entries().collect();
    let of = |entry: &&ClusterEntry| -> Result<_, Error> {
        let view = fleet.view(entry)?;
        Ok((view.cluster.name, view.images))
    };
    entries.par_iter().map(of).collect()
}
