//! Which clusters there are: those that the project names, and one for each file that a pattern matches.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use walkdir::WalkDir;

use crate::error::Error;

/// A cluster that will be read when its turn comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterEntry {
    /// The name that findings and output files use.
    pub name: Arc<str>,
    /// The namespace of its objects, where the project names one: else the release's that composes it, else the name.
    pub namespace: Option<Arc<str>>,
    /// Its own values layers, lowest first, below the root: values files, and folders that compose them.
    pub layers: Vec<PathBuf>,
}

/// The files below `root` that a pattern matches, or the folders if it ends with a slash, sorted. `*` stays within a folder,
/// `**` does not.
///
/// Only the folders that can match are walked: a fleet of ten thousand clusters costs one visit each.
pub(super) fn matches(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let pattern = pattern.trim_start_matches("./");
    let folders = pattern.ends_with('/');
    let pattern = pattern.trim_end_matches('/');
    let matcher = compile(pattern)?;
    let fixed = fixed_folder(pattern);
    let depth = if pattern.contains("**") {
        usize::MAX
    } else {
        Path::new(pattern).components().count() - fixed.components().count()
    };
    let walk = WalkDir::new(root.join(&fixed))
        .follow_links(true)
        .max_depth(depth)
        .sort_by_file_name();
    let mut found = Vec::new();
    for entry in walk
        .into_iter()
        .filter_entry(|entry| entry.file_name() != ".git")
    {
        // An unreadable or looping folder can only hide files that were never readable.
        let Ok(entry) = entry else { continue };
        let Ok(below) = entry.path().strip_prefix(root) else {
            continue;
        };
        let wanted = if folders {
            entry.file_type().is_dir()
        } else {
            entry.file_type().is_file()
        };
        if wanted && matcher.is_match(below) {
            found.push(below.to_owned());
        }
    }
    found.sort();
    Ok(found)
}

fn compile(pattern: &str) -> Result<GlobMatcher, Error> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Error::Usage {
            message: format!("the pattern `{pattern}` is not a glob: {}", error.kind()),
        })
}

/// The leading folders of a pattern that hold no wildcard.
fn fixed_folder(pattern: &str) -> PathBuf {
    let path = Path::new(pattern);
    let parent = path.parent().unwrap_or(Path::new(""));
    let is_fixed = |part: &Component<'_>| {
        !part
            .as_os_str()
            .to_string_lossy()
            .contains(['*', '?', '[', '{', '\\'])
    };
    parent.components().take_while(is_fixed).collect()
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
    use std::path::PathBuf;

    use super::{fixed_folder, names};

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

    #[test]
    fn only_the_fixed_part_of_a_pattern_is_walked_from() {
        assert_eq!(fixed_folder("a/b/*/values.yaml"), PathBuf::from("a/b"));
        assert_eq!(fixed_folder("*/values.yaml"), PathBuf::from(""));
        assert_eq!(fixed_folder("values.yaml"), PathBuf::from(""));
    }
}
