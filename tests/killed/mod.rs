//! Whatever ends a run, at any moment: each file is whole, old or new; nothing foreign is touched; the next run puts all in
//! order and leaves no litter.
//!
//! Each command is killed at some of the system calls that change files; at each of them where `METALMARK_LONG` is set.

pub(crate) mod case;
mod meanwhile;
mod no_room;
mod streams;
mod system_calls;
mod together;

use std::path::{Path, PathBuf};

use metalmark::model::manifest::STAGED;

use tempfile::TempDir;

use crate::support::copy_of;
use case::{Case, Tree, tree};

/// What a command makes of its workspace where nothing disturbs it.
pub(crate) struct Undisturbed {
    pristine: TempDir,
    before: Tree,
    /// The file that is edited in two steps, after the first one.
    between: Option<(PathBuf, Vec<u8>)>,
    after: Tree,
    status: Option<i32>,
}

pub(crate) fn undisturbed(case: &Case) -> Undisturbed {
    let pristine = (case.workspace)();
    let workspace = copy_of(pristine.path());
    let before = tree(workspace.path());
    let (status, said) = case.run(workspace.path());
    assert!(
        status.is_some_and(|status| status < 2),
        "{}: {said}",
        case.name
    );
    let after = tree(workspace.path());
    assert_ne!(before, after, "{}: there is something to do", case.name);
    let edited = |tree: &Tree| tree.get(&Path::new(case.within).join(case.edits)).cloned();
    assert_ne!(edited(&before), edited(&after), "{}", case.name);
    let between = case.second.map(|(new, old)| {
        let text = edited(&after).expect("it is edited").0;
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains(new), "{}: {text}", case.name);
        let path = Path::new(case.within).join(case.edits);
        (path, text.replace(new, old).into_bytes())
    });
    Undisturbed {
        pristine,
        before,
        between,
        after,
        status,
    }
}

/// What is neither old nor new, and no run leaves behind for good.
pub(crate) fn is_litter(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(STAGED)
}

impl Undisturbed {
    /// The workspace, as it was before any run.
    pub(crate) fn fresh(&self) -> TempDir {
        copy_of(self.pristine.path())
    }

    /// Every file is whole; none is missing that should stay.
    pub(crate) fn assert_whole(&self, left: &Tree, reported: &str) {
        for (path, standing) in left.iter().filter(|(path, _)| !is_litter(path)) {
            let is_between =
                |(edited, text): &(PathBuf, Vec<u8>)| edited == path && *text == standing.0;
            let is_whole = [&self.before, &self.after]
                .iter()
                .any(|tree| tree.get(path) == Some(standing))
                || self.between.as_ref().is_some_and(is_between);
            let text = String::from_utf8_lossy(&standing.0);
            assert!(is_whole, "{reported}: {}:\n{text}", path.display());
        }
        for path in self
            .before
            .keys()
            .filter(|path| self.after.contains_key(*path))
        {
            assert!(
                left.contains_key(path),
                "{reported}: {} is gone",
                path.display()
            );
        }
    }

    /// The next run completes, with the bytes of one that nothing disturbed. What it says.
    pub(crate) fn assert_fixed(&self, case: &Case, workspace: &Path, reported: &str) -> String {
        let (status, said) = case.run(workspace);
        assert_eq!(status, self.status, "{reported}: the next run: {said}");
        let repaired = tree(workspace);
        let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&repaired), names(&self.after), "{reported}");
        assert!(repaired == self.after, "{reported}: other bytes");
        said
    }
}
