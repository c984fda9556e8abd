//! What node pools booted before an update: as the values stand, or, where someone has raised the version already, as git or
//! the lock still tell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::offers::PoolChange;
use crate::error::Error;
use crate::files::{Repository, Revision};
use crate::model::policy::Date;
use crate::read::{self, Request, Workspace};

use super::aim::Aim;
use super::catalog;
use super::fleet::{self, Tools};
use super::pools::{self, Booted, Machine};

/// What was booted.
pub(super) struct Before {
    machines: BTreeMap<(String, String), Machine>,
    /// The version then, where it is known.
    pub(super) from: Option<String>,
    /// What it was read from, where that is not what stands on disk.
    pub(super) since: Option<String>,
    /// Why something may have changed that is not told.
    pub(super) doubt: Option<String>,
}

impl Before {
    /// The pools whose machines come to be others.
    pub(super) fn changes(self, after: Booted) -> Vec<PoolChange> {
        pools::changes(self.machines, after.machines)
    }
}

/// Looks for what was booted before. What stands on disk tells, unless it names the new version already; then the last commit
/// that does not, or the lock, which still holds the old references.
pub(super) fn before(
    request: &Request,
    workspace: &Workspace,
    tools: &Tools,
    aim: &Aim,
) -> Result<Before, Error> {
    if aim.is_raised()
        && let Some(earlier) = in_git(request, aim, tools.today)
    {
        return Ok(earlier);
    }
    let standing = pools::booted(workspace, tools)?;
    let mut before = Before {
        machines: standing.machines,
        from: aim.from.clone(),
        since: None,
        doubt: None,
    };
    if aim.is_raised() {
        before.doubt = match tools.lock().images().is_empty() {
            true => Some(format!(
                "the values name {} already, and neither git nor a lock tells what came before",
                aim.to
            )),
            false => by_lock(&mut before, tools),
        };
    }
    Ok(before)
}

/// The last commit, else the merge base with the default branch, where it names another version. A repository that cannot be
/// read tells nothing.
fn in_git(request: &Request, aim: &Aim, today: Date) -> Option<Before> {
    let location = read::location(request).ok()?;
    let repository = Repository::of(&location.root).ok()?;
    let scope = read::scope(request, &location.root).ok()?;
    let head = repository.commit("HEAD").ok()?;
    let base = repository.base("HEAD").ok();
    let commits = [(head, "the last commit".to_owned())]
        .into_iter()
        .chain(base);
    let mut commits = commits.filter_map(|(commit, since)| {
        let revision = Revision::open(&repository, &commit, scope.clone()).ok()?;
        let mut workspace = read::workspace_in(request, &location, Arc::new(revision)).ok()?;
        let tools = fleet::tools(&mut workspace, today).ok()?;
        let catalogs = fleet::catalogs(&workspace, &tools).ok()?;
        let version = catalog::version(&catalogs);
        if version.is_none() || catalog::names(&catalogs, &aim.to) {
            return None;
        }
        Some(Before {
            machines: pools::booted(&workspace, &tools).ok()?.machines,
            from: aim.from.clone().or(version),
            since: Some(since),
            doubt: None,
        })
    });
    commits.next()
}

/// Puts the references that the lock still holds in the place of those that it does not know. Answers what it cannot tell.
fn by_lock(before: &mut Before, tools: &Tools) -> Option<String> {
    let lock = tools.lock();
    let (mut untold, mut versions) = (0, BTreeSet::new());
    let stale = before.machines.values_mut();
    for machine in stale.filter(|machine| machine.digest.is_none()) {
        match lock.of_key(&machine.key) {
            [old] => {
                machine.image = pools::last_part(&old.reference.value);
                machine.uri = Some(Arc::clone(&old.reference.value));
                machine.digest = Some(old.digest.value.clone());
                machine.stamp = None;
                versions.extend(old.origin.version.clone());
            }
            _ => untold += 1,
        }
    }
    if let (None, 1) = (&before.from, versions.len()) {
        before.from = versions.first().map(ToString::to_string);
    }
    let s = if untold == 1 { "" } else { "s" };
    (untold > 0).then(|| format!("the lock does not tell what {untold} node pool{s} booted"))
}
