//! Plans a run of `stamp`: the manifests that change, and the findings.

use std::collections::BTreeMap;
use std::path::Path;

use crate::edit::stamp::{self, Chooser, Job, Plan};
use crate::error::Error;
use crate::files::{Files, Found, Repository, Revision, Scope};
use crate::pipeline::check::{self, Checked};
use crate::pipeline::fleet::Fleet;
use crate::read::{ManifestFiles, Workspace};
use crate::render::Renderer;
use yaml_tree::engine::Engine;

/// The plan, and all findings.
pub(in crate::commands) fn plan_stamp(
    fleet: &Fleet,
    files: &ManifestFiles,
    job: &Job,
    against: Option<&str>,
) -> Result<(Plan, Checked), Error> {
    let (workspace, today) = (&fleet.workspace, fleet.today);
    let shared = fleet.resolve_shared()?;
    let settings = workspace.settings.clone();
    let mut found = workspace.findings.clone();
    found.extend(shared.findings.iter().cloned());
    found.extend(files.findings.iter().cloned());
    let renderer = Renderer::new(&settings, &BTreeMap::new(), None, &mut found);
    let chooser = Chooser {
        images: &shared.images,
        matching: settings.matching,
        patterns: &fleet.patterns,
        stamp: &|image| renderer.stamp_of(&shared.images, image, None),
    };
    let mut plan = stamp::plan(
        &files.objects,
        &workspace.stamps,
        &chooser,
        job,
        &files.skipped,
    );
    found.append(&mut plan.findings);
    compare_with(workspace, files, against, &mut plan)?;
    found.extend(stamp::findings(&files.objects, &plan));
    let clusters = fleet.clusters_after_stamp(&files.objects, &plan.to_stamped(), &mut found)?;
    let mut checked = check::findings(found, &settings, today);
    for view in clusters {
        checked.join(check::cluster(&view, &settings, today));
    }
    Ok((plan, checked))
}

/// Marks the templates that change since a commit. Where none is named, and there is no repository or no commit in it yet, no
/// template is marked.
fn compare_with(
    workspace: &Workspace,
    files: &ManifestFiles,
    against: Option<&str>,
    plan: &mut Plan,
) -> Result<(), Error> {
    let is_guarded = |object| stamp::immutable_path(object).is_some();
    if against.is_none() && !files.objects.iter().any(is_guarded) {
        return Ok(());
    }
    let revision = match (revision(workspace, against.unwrap_or("HEAD")), against) {
        (Ok(revision), _) => revision,
        (Err(_), None) => return Ok(()),
        (Err(error), Some(_)) => return Err(error),
    };
    stamp::record_changes(&files.objects, plan, |source| {
        match revision.file(Path::new(&*source.path)) {
            Ok(Found::File(bytes)) => yaml_tree::decode(&bytes, Engine::Kubectl).ok(),
            _ => None,
        }
    });
    Ok(())
}

fn revision(workspace: &Workspace, name: &str) -> Result<Revision, Error> {
    let repository = Repository::find(&workspace.settings.root)?;
    let commit = repository.commit(name)?;
    Revision::open(&repository, &commit, Scope::repository(&repository.top)?)
}
