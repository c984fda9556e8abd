//! What node pools booted before an update: by the values, or, where the version is raised already, by git or the lock.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Repository, Revision};
use crate::model::date::Date;
use crate::read::{self, Request};
use crate::report::quantity;

use crate::catalog::offers::Builder;
use crate::edit::update::UpdateTarget;
use crate::pipeline::booted::{self, FleetMachines};
use crate::pipeline::fleet::Fleet;

/// What was booted.
pub(super) struct Before {
    pub(super) machines: FleetMachines,
    /// The version of each builder then, where it is known.
    pub(super) from: Vec<Option<String>>,
    /// What it was read from, if not from disk.
    pub(super) since: Option<String>,
    /// Why there may be changes that are not listed.
    pub(super) doubt: Option<String>,
}

/// Looks for what was booted before: in the files on disk, unless they name the new version already; then in the last commit
/// that does not, or the lock, which still holds the old references.
pub(super) fn find(
    request: &Request,
    fleet: &Fleet,
    targets: &[UpdateTarget],
) -> Result<Before, Error> {
    let is_raised = targets.iter().any(UpdateTarget::is_raised);
    if is_raised && let Some(earlier) = find_in_git(request, targets, fleet.today) {
        return Ok(earlier);
    }
    let mut before = Before {
        machines: booted::read_machines(fleet)?,
        from: targets.iter().map(|target| target.from.clone()).collect(),
        since: None,
        doubt: None,
    };
    if is_raised {
        before.doubt = if fleet.lock().images().is_empty() {
            let to: Vec<&str> = targets.iter().map(|target| &*target.to).collect();
            Some(format!(
                "the values name {} already, and neither git nor a lock shows the version before",
                to.join(" and ")
            ))
        } else {
            fill_from_lock(&mut before, fleet)
        };
    }
    Ok(before)
}

/// The last commit, else the merge base with the default branch, where it names another version. A repository that cannot be
/// read has nothing.
fn find_in_git(request: &Request, targets: &[UpdateTarget], today: Date) -> Option<Before> {
    let location = read::location(request).ok()?;
    let repository = Repository::find(&location.root).ok()?;
    let scope = read::scope(request, &location.root).ok()?;
    let head = repository.commit("HEAD").ok()?;
    let base = repository.base("HEAD").ok();
    let commits = [(head, "the last commit".to_owned())]
        .into_iter()
        .chain(base);
    let mut commits = commits.filter_map(|(commit, since)| {
        let revision = Revision::open(&repository, &commit, scope.clone()).ok()?;
        let workspace = read::workspace_in(request, &location, Arc::new(revision)).ok()?;
        let fleet = Fleet::open(workspace, today).ok()?;
        let builders = Builder::find(&fleet.catalogs().ok()?);
        let version = |target: &UpdateTarget| {
            let mut all = builders.iter();
            let earlier = all.find(|builder| builder.value == target.builder.value)?;
            earlier.version.as_deref().map(str::to_owned)
        };
        let is_earlier = |target: &UpdateTarget| {
            target.is_raised() && version(target).is_some_and(|version| version != target.to)
        };
        if !targets.iter().any(is_earlier) {
            return None;
        }
        let from = targets.iter();
        Some(Before {
            machines: booted::read_machines(&fleet).ok()?,
            from: from
                .map(|target| target.from.clone().or_else(|| version(target)))
                .collect(),
            since: Some(since),
            doubt: None,
        })
    });
    commits.next()
}

/// Replaces references that the lock does not know by those that it still holds. Returns what it does not show.
fn fill_from_lock(before: &mut Before, fleet: &Fleet) -> Option<String> {
    let lock = fleet.lock();
    let (mut unknown, mut versions) = (0, BTreeSet::new());
    let stale = before.machines.by_pool.values_mut();
    for machine in stale.filter(|machine| machine.digest.is_none()) {
        match lock.entries_of(&machine.key) {
            [old] => {
                machine.image = booted::last_part(&old.reference.value);
                machine.digest = Some(old.digest.value.clone());
                machine.booted = None;
                versions.extend(old.origin.version.clone());
            }
            _ => unknown += 1,
        }
    }
    if let ([from @ None], 1) = (before.from.as_mut_slice(), versions.len()) {
        *from = versions.first().map(ToString::to_string);
    }
    (unknown > 0).then(|| {
        let pools = quantity(unknown, "node pool");
        format!("the lock does not show what {pools} booted")
    })
}
