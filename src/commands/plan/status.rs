//! `metalmark plan --status`: what of an upgrade is merged and what is next, from the commits of git alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::decide::plan;
use crate::error::Error;
use crate::files::{Files, HistoryCommit, Repository, Revision};
use crate::model::date::Date;
use crate::model::rule::RuleId;
use crate::pipeline::fleet::Fleet;
use crate::read::{self, ClusterEntry, Location, Request, Workspace};
use crate::report::upgrade::{DatedCommit, MergedStep, UpgradeHistory, moves};

/// The commits of a project's branch.
pub(super) struct Commits<'a> {
    request: &'a Request,
    location: Location,
    repository: Repository,
    /// Newest first.
    commits: Vec<HistoryCommit>,
    today: Date,
}

/// What clusters ran at a commit.
type Versions = BTreeMap<Arc<str>, String>;

impl<'a> Commits<'a> {
    /// # Errors
    /// There is no project, no repository or no commit.
    pub(super) fn read(request: &'a Request, today: Date) -> Result<Self, Error> {
        let location = read::location(request)?;
        let repository = Repository::find(&location.root)?;
        let head = repository.commit("HEAD")?;
        let commits = repository.history(&head)?;
        Ok(Self {
            request,
            location,
            repository,
            commits,
            today,
        })
    }

    /// The project as it was last committed: what is on disk was not merged.
    ///
    /// # Errors
    /// It has no project file; I/O failed.
    pub(super) fn head(&self) -> Result<Workspace, Error> {
        let head = self.workspace(&self.commits[0].commit)?;
        head.ok_or_else(|| Error::usage("the last commit has no project file\nhelp: commit it"))
    }

    /// The project at a commit; none where its project file is not there.
    fn workspace(&self, commit: &str) -> Result<Option<Workspace>, Error> {
        let scope = read::scope(self.request, &self.location.root)?;
        let revision = Revision::open(&self.repository, commit, scope)?;
        let file = self.location.file.as_deref();
        if !file.is_some_and(|file| revision.is_file(file)) {
            return Ok(None);
        }
        read::workspace_in(self.request, &self.location, Arc::new(revision)).map(Some)
    }

    /// What was merged since the goal was written.
    ///
    /// # Errors
    /// A commit cannot be read.
    pub(super) fn history(&self, fleet: &Fleet) -> Result<UpgradeHistory, Error> {
        let mut history = UpgradeHistory::default();
        let soak = u64::from(fleet.workspace.settings.waves.soak) * 86_400;
        let due = |commit: &HistoryCommit| Date::from_unix(commit.seconds.saturating_add(soak));
        let mut versions = self::versions(fleet)?;
        let mut later = &self.commits[0];
        let mut is_whole = !self.repository.is_shallow();
        for earlier in &self.commits[1..] {
            let workspace = match self.workspace(&earlier.commit) {
                // A slip in the project file does not begin the upgrade again.
                Err(Error::Project { .. }) => continue,
                read => read?,
            };
            let Some(workspace) = workspace else {
                is_whole = true;
                break;
            };
            let is_goal = workspace.settings.waves.to == fleet.workspace.settings.waves.to;
            let mut findings = workspace.findings.iter();
            if !is_goal && findings.any(|it| it.rule == RuleId::ProjectFile) {
                continue;
            }
            let before = self::versions(&Fleet::open(workspace, self.today)?)?;
            let moves = moves(&before, &versions);
            if !moves.is_empty() {
                history.due.get_or_insert(due(later));
                let at = to_dated_commit(later);
                history.merged.push(MergedStep { at, moves });
            }
            if !is_goal {
                is_whole = true;
                break;
            }
            (later, versions) = (earlier, before);
        }
        if is_whole {
            history.begun = Some(to_dated_commit(later));
        } else {
            // It may have merged a wave.
            history.due.get_or_insert(due(later));
        }
        Ok(history)
    }
}

fn to_dated_commit(commit: &HistoryCommit) -> DatedCommit {
    DatedCommit {
        commit: commit.commit.clone(),
        day: Date::from_unix(commit.seconds).to_string(),
    }
}

/// What each cluster of a project runs.
fn versions(fleet: &Fleet) -> Result<Versions, Error> {
    let entries: Vec<&ClusterEntry> = fleet.workspace.entries().collect();
    let of = |entry: &&ClusterEntry| -> Result<_, Error> {
        let view = fleet.view(entry)?;
        let version = plan::running_version(&view);
        let version = version.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
        Ok((view.cluster.name, version))
    };
    entries.par_iter().map(of).collect()
}
