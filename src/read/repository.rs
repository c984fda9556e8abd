//! Where the project lies in its repository: code hosts know files by their paths below the repository's folder.

use std::path::Path;

use crate::files::repository_top;

/// The project's folder below that of its repository, the nearest that holds a `.git`; empty where they are one, and where
/// there is no repository.
pub fn folder_in_repository(root: &Path) -> String {
    let below = root.canonicalize().ok().and_then(|root| {
        let top = repository_top(&root)?;
        Some(root.strip_prefix(top).ok()?.to_owned())
    });
    let names = below.iter().flat_map(|below| below.iter());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::folder_in_repository;

    #[test]
    fn the_nearest_repository_counts() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let project = folder.path().join("deploy/lab");
        std::fs::create_dir_all(&project).expect("made");
        std::fs::write(folder.path().join(".git"), "gitdir: elsewhere").expect("written");
        assert_eq!(folder_in_repository(&project), "deploy/lab");
        assert_eq!(folder_in_repository(folder.path()), "");
        assert_eq!(folder_in_repository(&folder.path().join("nowhere")), "");
    }
}
