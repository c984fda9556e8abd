//! Which clusters there are: those that the project names, and one for each file that a pattern matches.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::Glob;

use crate::error::Error;

use super::compose;

/// A cluster that will be read when its turn comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterEntry {
    /// The name that findings and output files use.
    pub name: Arc<str>,
    /// The namespace of its objects, where the project names one: else the release's that composes it, else the name.
    pub namespace: Option<Arc<str>>,
    /// Its own values layers, lowest first, below the root: values files, and folders that compose them.
    pub layers: Vec<PathBuf>,
    /// The cluster whose state it is told of at run time, where the project names one.
    pub management: Option<Arc<str>>,
}

/// The files below `root` that a pattern matches, sorted; the folders that compose a cluster, if it ends with a slash. `*`
/// stays within a folder, `**` does not.
///
/// Only the folders that can match are walked: a fleet of ten thousand clusters costs one look each.
pub(super) fn matches(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    if let Err(error) = Glob::new(pattern) {
        return Err(Error::Usage {
            message: format!("the pattern `{pattern}` is not a glob: {}", error.kind()),
        });
    }
    if pattern.ends_with('/') {
        return compose::discover(root, pattern);
    }
    let mut found = compose::matches(root, pattern)?;
    found.retain(|file| root.join(file).is_file());
    found.sort();
    Ok(found)
}

/// Names for the files of one pattern: the folder's name, which a pattern of folders matches itself; the file's own where a folder holds several of them.
pub(super) fn names(files: &[PathBuf], pattern: &str) -> Vec<String> {
    if pattern.ends_with('/') {
        let name = |folder: &PathBuf| {
            folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        return files
            .iter()
            .map(|folder| name(folder).unwrap_or_default())
            .collect();
    }
    let mut in_folder: HashMap<&Path, usize> = HashMap::new();
    for file in files {
        *in_folder.entry(folder(file)).or_default() += 1;
    }
    let name_of = |file: &PathBuf| {
        let alone = in_folder[folder(file)] == 1;
        let part = if alone {
            folder(file).file_name()
        } else {
            file.file_stem()
        };
        part.or(file.file_stem())
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    files.iter().map(name_of).collect()
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// The names that more than one entry has, each with the layers of those entries.
pub(super) fn doubles(entries: &[ClusterEntry]) -> Vec<(Arc<str>, Vec<PathBuf>)> {
    let mut by_name: BTreeMap<&Arc<str>, Vec<PathBuf>> = BTreeMap::new();
    for entry in entries {
        by_name
            .entry(&entry.name)
            .or_default()
            .extend(entry.layers.last().cloned());
    }
    by_name
        .into_iter()
        .filter(|(_, files)| files.len() > 1)
        .map(|(name, files)| (Arc::clone(name), files))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_cluster_is_named_by_its_folder() {
        assert_eq!(
            names(
                &["a/paris/values.yaml".into(), "a/lyon/values.yaml".into()],
                "a/*/values.yaml"
            ),
            ["paris", "lyon"]
        );
    }

    #[test]
    fn files_that_share_a_folder_are_named_by_themselves() {
        assert_eq!(
            names(
                &["clusters/paris.yaml".into(), "clusters/lyon.yaml".into()],
                "clusters/*"
            ),
            ["paris", "lyon"]
        );
    }
}
