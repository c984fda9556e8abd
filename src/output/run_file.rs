//! Where a project's run file lies: in git's folder of the work tree, or in the user's folder for state where there is no git. What lies
//! in a work tree may be a stranger's, and is not believed.

use std::env;
use std::path::{Path, PathBuf};

use oci_artifacts::Digest;

use super::journal;
use crate::files::{git_folder, real};

/// Where a project's run file may lie, the first choice first.
pub(super) fn places(root: &Path) -> Vec<PathBuf> {
    let Ok(root) = real(root) else {
        return Vec::new();
    };
    let file = |folder: PathBuf, key: &Path| {
        let key = Digest::compute(key.as_os_str().as_encoded_bytes());
        folder.join("metalmark").join(&key.hex()[..16])
    };
    let in_git = git_folder(&root).map(|git| {
        let top = journal::top(&root).unwrap_or_default();
        // A moved work tree keeps its file.
        file(git, root.strip_prefix(&top).unwrap_or(&root))
    });
    let in_state = state_folder().map(|state| file(state, &root));
    in_git.into_iter().chain(in_state).collect()
}

/// The user's folder for state (<https://specifications.freedesktop.org/basedir-spec/latest/>); none where there is no home.
fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let folder = env::var_os(name).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))
}
