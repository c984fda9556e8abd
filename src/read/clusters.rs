//! Lists the clusters: those that the project names, and one for each file that a pattern matches.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::suggest::did_you_mean;

use crate::error::Error;
use crate::files::{Content, Files, Found};

use crate::model::pattern::Pattern;
use crate::read::gitops::{self, Discovery, OwnOutput};

/// The longest name of a cluster, in bytes: with what targets add to it, it still names a file.
const LONGEST: usize = 200;

/// A cluster that will be read when its turn comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterEntry {
    /// The name that findings and output files use.
    pub name: Arc<str>,
    /// The namespace of its objects, where the project names one: else the release's that composes it, else the name.
    pub namespace: Option<Arc<str>>,
    /// The name of its Helm release, where the project names one.
    pub release: Option<Arc<str>>,
    /// Its own values layers, lowest first, below the root: values files, and folders that compose them.
    pub layers: Vec<PathBuf>,
    /// The cluster whose state it receives at run time, where the project names one.
    pub management: Option<Arc<str>>,
}

impl ClusterEntry {
    /// A cluster without layers of its own.
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            namespace: None,
            release: None,
            layers: Vec::new(),
            management: None,
        }
    }
}

/// What a pattern matches.
#[derive(Default)]
pub(super) struct Matching {
    /// The files, sorted; the folders that compose a cluster, if the pattern ends with a slash.
    pub(super) files: Vec<PathBuf>,
    /// The files that are no clusters because they say that they are rendered. Where nothing renders one, a run must not delete
    /// it: a line that somebody copied would take a cluster away.
    pub(super) own: Vec<PathBuf>,
    /// The files that are no clusters because of a slip in their names, as it seems.
    pub(super) near: BTreeSet<PathBuf>,
    /// Of folders, what they are made of.
    pub(super) discovery: Discovery,
}

/// What a pattern matches. `*` stays within a folder, `**` does not.
///
/// Only the folders that can match are walked: a fleet of ten thousand clusters costs one look each.
pub(super) fn matches(
    files: &dyn Files,
    pattern: &str,
    own_output: &Arc<OwnOutput>,
) -> Result<Matching, Error> {
    if let Err(why) = Pattern::parse(pattern) {
        return Err(Error::Usage {
            message: format!("the pattern `{pattern}` is not a glob: {why}"),
        });
    }
    let folders = pattern.ends_with('/');
    let seen = files.relative_path(Path::new(pattern));
    let seen = seen.to_str().unwrap_or(pattern);
    match seen.strip_prefix('/') {
        None => matches_in(files, seen, folders, own_output),
        Some(below) => {
            let found = matches_in(&Absolute(files), below, folders, &Arc::default())?;
            Ok(Matching {
                files: { found.files.iter() }.map(|path| absolute(path)).collect(),
                near: { found.near.iter() }.map(|path| absolute(path)).collect(),
                ..Matching::default()
            })
        }
    }
}

/// Files by their paths from the file system's root, without the leading slash.
struct Absolute<'f>(&'f dyn Files);

impl Files for Absolute<'_> {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        self.0.file(&absolute(path))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.0.folder(&absolute(path))
    }

    fn content(&self, path: &Path) -> Result<Content, Error> {
        self.0.content(&absolute(path))
    }

    fn is_there(&self, path: &Path) -> bool {
        self.0.is_there(&absolute(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.0.is_file(&absolute(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.0.is_folder(&absolute(path))
    }
}

fn absolute(path: &Path) -> PathBuf {
    Path::new("/").join(path)
}

fn matches_in(
    files: &dyn Files,
    pattern: &str,
    folders: bool,
    own_output: &Arc<OwnOutput>,
) -> Result<Matching, Error> {
    let is_input = |path: &PathBuf| -> Result<(bool, bool), Error> {
        let is_file = files.is_file(path);
        if !is_file && !files.is_folder(path) && files.is_there(path) {
            // A link that leads out, a pipe: without an error, the cluster would be gone, and its rendered files with it.
            files.content(path)?;
        }
        let is_values = is_file && !folders;
        Ok((is_values, is_values && own_output.has(files, path)?))
    };
    let matching = gitops::matches(files, pattern)?;
    let inputs: Vec<Result<_, Error>> = matching.par_iter().map(is_input).collect();
    let inputs = inputs.into_iter().collect::<Result<Vec<_>, Error>>()?;
    let mut found = Matching::default();
    if folders {
        // `**` passes through files too.
        let inside = matching.into_iter().filter(|path| files.is_folder(path));
        found.discovery = gitops::discover(files, inside.collect(), own_output)?;
        let mut clusters = found.discovery.deploying.clone();
        gitops::drop_parts(&mut clusters);
        found.files = clusters.into_iter().map(|cluster| cluster.path).collect();
        return Ok(found);
    }
    found.near = other_endings(files, pattern)?;
    for (path, (is_values, is_own)) in matching.into_iter().zip(inputs) {
        if is_own {
            found.own.push(path);
        } else if is_values {
            found.files.push(path);
        } else {
            found.near.extend(similar_files(files, &path)?);
        }
    }
    found.files.sort();
    Ok(found)
}

/// The files that a pattern would match if it had the other ending that YAML files have.
fn other_endings(files: &dyn Files, pattern: &str) -> Result<BTreeSet<PathBuf>, Error> {
    let other = match pattern.rsplit_once('.') {
        Some((start, "yaml")) => format!("{start}.yml"),
        Some((start, "yml")) => format!("{start}.yaml"),
        _ => return Ok(BTreeSet::new()),
    };
    let found = gitops::matches(files, &other)?.into_iter();
    Ok(found.filter(|path| files.is_file(path)).collect())
}

/// The files in a folder that are called nearly as the one that is not there.
fn similar_files(files: &dyn Files, absent: &Path) -> Result<Vec<PathBuf>, Error> {
    let (folder, name) = (folder(absent), absent.file_name().unwrap_or_default());
    if !files.is_folder(folder) {
        return Ok(Vec::new());
    }
    let inside = files.folder(folder)?.unwrap_or_default();
    let is_similar = |other: &String| did_you_mean(other, name.to_str()).is_some();
    let similar = inside.iter().filter(|other| is_similar(other));
    let similar = similar.map(|other| folder.join(other));
    Ok(similar.filter(|path| files.is_file(path)).collect())
}

/// The leading parts of a pattern that hold no wildcard.
pub(super) fn literal_prefix(pattern: &Path) -> PathBuf {
    let is_fixed = |part: &Component<'_>| is_fixed(part.as_os_str());
    pattern.components().take_while(is_fixed).collect()
}

/// Whether a part of a pattern matches itself alone.
fn is_fixed(part: &OsStr) -> bool {
    !part.to_string_lossy().contains(['*', '?', '[', '{', '\\'])
}

/// Names for the files of one pattern: the folder's name, which a pattern of folders matches itself; the file's own where a folder holds several of them, or where
/// the pattern leaves nothing else open (`clusters/*.yaml`), so that a second cluster does not rename the first.
pub(super) fn names(pattern: &str, files: &[PathBuf]) -> Vec<String> {
    if pattern.ends_with('/') {
        let name = |folder: &PathBuf| {
            folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        return files.iter().map(name).collect();
    }
    let path = Path::new(pattern);
    let fixed = literal_prefix(folder(path));
    let is_open = path.components().count() > fixed.components().count() + 1;
    let by_file = !is_open && path.file_name().is_some_and(|name| !is_fixed(name));
    // By their texts: a path is hashed part by part.
    let mut in_folder: HashMap<&OsStr, usize> = HashMap::with_capacity(files.len());
    for file in files {
        *in_folder.entry(folder(file).as_os_str()).or_default() += 1;
    }
    let name_of = |file: &PathBuf| {
        let alone = in_folder[folder(file).as_os_str()] == 1 && !by_file;
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

/// The entries, by their index, that share a name with another one.
pub(super) fn doubles(entries: &[ClusterEntry]) -> Vec<Vec<usize>> {
    let mut by_name: Vec<usize> = (0..entries.len()).collect();
    let name = |index: &usize| &entries[*index].name;
    by_name.sort_by_key(name);
    let same = by_name.chunk_by(|one, other| name(one) == name(other));
    let shared = same.filter(|found| found.len() > 1);
    shared.map(<[usize]>::to_vec).collect()
}

/// What no cluster's name may be, as the end of the sentence "the name …": it names files and folders.
pub(super) fn name_fault(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("is empty"),
        "." | ".." => Some("leaves its folder"),
        _ if name.contains(['/', '\\']) => Some("holds a slash"),
        _ if name.chars().any(char::is_control) => Some("holds a control character"),
        _ if name.len() > LONGEST => Some("is longer than 200 bytes"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{literal_prefix, names};

    #[test]
    fn a_cluster_is_named_by_its_folder() {
        assert_eq!(
            names(
                "a/*/values.yaml",
                &["a/paris/values.yaml".into(), "a/lyon/values.yaml".into()]
            ),
            ["paris", "lyon"]
        );
    }

    #[test]
    fn files_that_share_a_folder_are_named_by_themselves() {
        assert_eq!(
            names(
                "{clusters,more}/*.yaml",
                &["clusters/paris.yaml".into(), "clusters/lyon.yaml".into()]
            ),
            ["paris", "lyon"]
        );
    }

    #[test]
    fn a_pattern_that_leaves_only_the_file_open_names_by_the_file_however_many_there_are() {
        let name = |files: &[PathBuf]| names("clusters/*.yaml", files);
        assert_eq!(name(&["clusters/paris.yaml".into()]), ["paris"]);
        assert_eq!(
            names(
                "clusters/paris/values.yaml",
                &["clusters/paris/values.yaml".into()]
            ),
            ["paris"]
        );
        assert_eq!(names("*.yaml", &["paris.yaml".into()]), ["paris"]);
    }

    #[test]
    fn the_fixed_part_of_a_pattern_ends_before_its_first_wildcard() {
        let is_fixed =
            |pattern: &str, part: &str| literal_prefix(Path::new(pattern)) == Path::new(part);
        assert!(is_fixed("a/b/*/values.yaml", "a/b"));
        assert!(is_fixed("*/values.yaml", ""));
        assert!(is_fixed("values.yaml", "values.yaml"));
    }
}
