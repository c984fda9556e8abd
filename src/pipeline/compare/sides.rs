//! The two sides of a change: the project at a commit, and the project on disk or at another commit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::files::{Files, Overlay, Repository, Revision};
use crate::read::{self, Location, PROJECT_FILE_NAME, Request, Workspace};

/// Both sides, read as far as all clusters share it.
pub(crate) struct Sides {
    pub(crate) before: Workspace,
    pub(crate) after: Workspace,
    /// The commit of the earlier side, in full.
    pub(crate) commit: String,
    /// How it was found.
    pub(crate) base: String,
    /// What differs from the usual.
    pub(crate) notes: Vec<String>,
}

/// The commit that a change starts from. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Base {
    files: Revision,
    /// How it was found.
    found: String,
}

impl Base {
    /// The commit of a name in the repository of a project's folder, else the merge base of `head` with the default branch;
    /// `known`, if it is that commit. Runs git.
    ///
    /// # Errors
    /// There is no repository or no such commit.
    pub(crate) fn open(
        request: &Request,
        root: &Path,
        against: Option<&str>,
        head: &str,
        known: Option<&Self>,
    ) -> Result<Self, Error> {
        let repository = Repository::find(root)?;
        let (commit, found) = match against {
            Some(name) => name_commit(repository.commit(name)?, name),
            None => repository.base(head)?,
        };
        let files = match known {
            Some(known) if known.files.commit == commit => known.files.clone(),
            _ => Revision::open(&repository, &commit, read::scope(request, root)?)?,
        };
        Ok(Self { files, found })
    }
}

impl Sides {
    /// Opens the commits; without `to` the later side is the files on disk.
    pub(crate) fn open(
        request: &Request,
        to: Option<&str>,
        against: Option<&str>,
    ) -> Result<Self, Error> {
        let mut location = read::location(request)?;
        let head = to.unwrap_or("HEAD");
        let base = Base::open(request, &location.root, against, head, None)?;
        let after = match to {
            None => read::workspace(request)?,
            Some(name) => {
                let repository = Repository::find(&location.root)?;
                let commit = repository.commit(name)?;
                let scope = read::scope(request, &location.root)?;
                let revision = Revision::open(&repository, &commit, scope)?;
                // A commit can be read where nothing is checked out.
                let flags = &request.flags;
                let is_typed = !flags.values.is_empty() || !flags.clusters.is_empty();
                let project = Path::new(PROJECT_FILE_NAME);
                if location.file.is_none() && !is_typed && revision.is_file(project) {
                    location.file = Some(PROJECT_FILE_NAME.into());
                }
                read::workspace_in(request, &location, Arc::new(revision))
                    .map_err(|error| error.with_commit(name))?
            }
        };
        Self::new(request, &location, base, after)
    }

    /// A base, and the project as it is after the change.
    ///
    /// # Errors
    /// I/O failed.
    pub(crate) fn new(
        request: &Request,
        location: &Location,
        base: Base,
        after: Workspace,
    ) -> Result<Self, Error> {
        let mut notes = Vec::new();
        let commit = base.files.commit.clone();
        let files = with_project(base.files, location, &after, &mut notes)?;
        let mut before = read::workspace_in(request, location, files)
            .map_err(|error| error.with_commit(commit.get(..10).unwrap_or(&commit)))?;
        let is_there = |path: &Path| before.files.is_there(path) || !after.files.is_there(path);
        let (facts, new) =
            { std::mem::take(&mut before.facts).into_iter() }.partition(|path| is_there(path));
        before.facts = facts;
        notes.extend(new.iter().map(|path: &PathBuf| {
            let at = commit.get(..10).unwrap_or(&commit);
            format!(
                "there was no `{}` at {at}: no facts are read of it there",
                path.display()
            )
        }));
        Ok(Self {
            before,
            after,
            commit,
            base: base.found,
            notes,
        })
    }
}

/// The earlier side as a project: where its folder had another name, from there; where it had no project file, with the later
/// one's, which shows at least what its values evaluated to.
fn with_project(
    revision: Revision,
    location: &Location,
    after: &Workspace,
    notes: &mut Vec<String>,
) -> Result<Arc<dyn Files>, Error> {
    let Some(file) = location.file.as_deref() else {
        return Ok(Arc::new(revision));
    };
    if revision.is_file(file) {
        return Ok(Arc::new(revision));
    }
    let at = revision.short().to_owned();
    let name = file.to_string_lossy();
    if let [folder] = revision.folders_with(&name).as_slice() {
        notes.push(format!(
            "the project was in `{}` at {at}",
            display_path(folder)
        ));
        return Ok(Arc::new(revision.with_root(folder)));
    }
    notes.push(format!(
        "there was no `{name}` at {at}: today's is used for both sides"
    ));
    let bytes = after.files.read_file(Path::new(file))?;
    let added = [(file.to_owned(), bytes)];
    Ok(Arc::new(Overlay::new(Arc::new(revision), added)))
}

/// A commit and the name that the user gave it, unless that is its hash.
fn name_commit(commit: String, name: &str) -> (String, String) {
    let base = if commit.starts_with(name) {
        "the commit that was named".to_owned()
    } else {
        format!("`{name}`")
    };
    (commit, base)
}

fn display_path(folder: &str) -> &str {
    match folder {
        "" => ".",
        folder => folder,
    }
}
