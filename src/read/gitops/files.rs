//! Resolves the paths that a composition may read: only those below the repository's root.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::files::Files;
use crate::model::pattern::Pattern;

use super::super::files::display;

/// `path` relative to the folder `from`, both below the root; none if it leads out of the root.
pub(in crate::read) fn resolve_path(from: &Path, path: &str) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in from.join(path).components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts)
}

/// A folder as messages show it.
pub(super) fn print_folder(folder: &Path) -> String {
    match &*display(folder) {
        "" => ".".to_owned(),
        folder => folder.to_owned(),
    }
}

/// The paths that a pattern matches, sorted: `*` matches within a folder, `**` across folders, and hidden names match only a
/// pattern with the dot. Only folders that can match are read.
///
/// # Errors
/// A folder cannot be read. An invalid pattern matches nothing.
pub fn matches(files: &dyn Files, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let parts = pattern.split('/').filter(|part| !matches!(*part, "" | "."));
    let parts: Vec<_> = parts.map(|part| (part, Pattern::parse(part))).collect();
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    // Several `**` lead to one folder in many ways.
    let is_repeated = parts.iter().filter(|(part, _)| *part == "**").count() > 1;
    let mut seen = HashSet::new();
    while let Some((path, at)) = open.pop() {
        if is_repeated && !seen.insert((path.clone(), at)) {
            continue;
        }
        let Some((part, glob)) = parts.get(at) else {
            found.push(path);
            continue;
        };
        if *part == "**" {
            open.push((path.clone(), at + 1));
        } else if !part.contains(WILD) {
            open.push((path.join(part), at + 1));
            continue;
        }
        let next = if *part == "**" { at } else { at + 1 };
        let Ok(glob) = glob else { continue };
        for name in files.folder(&path)?.unwrap_or_default() {
            let is_hidden = name.starts_with('.') && !part.starts_with('.');
            if !is_hidden && glob.is_match(&name) {
                open.push((path.join(name), next));
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The characters of patterns.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::resolve_path;

    #[test]
    fn a_path_stays_below_the_root() {
        let from = Path::new("env/paris");
        assert_eq!(
            resolve_path(from, "../base"),
            Some(PathBuf::from("env/base"))
        );
        assert_eq!(
            resolve_path(from, "./a//b/"),
            Some(PathBuf::from("env/paris/a/b"))
        );
        assert_eq!(resolve_path(from, "../.."), Some(PathBuf::new()));
        assert_eq!(resolve_path(from, "../../.."), None);
        assert_eq!(resolve_path(from, "/etc/passwd"), None);
    }
}
