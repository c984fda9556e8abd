//! Values files of clusters in any folder, and the patterns that find them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::Files;
use crate::read::gitops;

/// How many files are looked into.
pub(super) const LOOKED_INTO: usize = 2000;

/// An entry of `clusters` that finds several.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The glob of values files, or of folders.
    pub(super) each: String,
    /// The template of their names, where the folder's name is not enough.
    pub(super) name: Option<String>,
}

impl Pattern {
    /// A pattern whose clusters are named by their folders.
    pub(super) fn for_folders(each: &str) -> Self {
        Self {
            each: each.to_owned(),
            name: None,
        }
    }
}

/// What [`anywhere`] finds.
pub(super) struct Clusters {
    /// Values files that no pattern finds, each with its name.
    pub(super) single: Vec<(String, PathBuf)>,
    /// The patterns of the others.
    pub(super) patterns: Vec<Pattern>,
    /// The folder that all are below, for what is rendered beside them.
    pub(super) top: PathBuf,
}

/// Sylva's folder of clusters, beside those that manage them.
const WORKLOAD: &str = "workload-clusters";

/// The folders of environments: those directly below the folder of all are named, so that what else is put there is none; the others are
/// found by patterns, for they come and go.
pub(super) fn environments(files: &dyn Files, folders: &[PathBuf]) -> Result<Clusters, Error> {
    let mut top = folders.first().and_then(|folder| folder.parent());
    while let Some(above) = top.filter(|top| !folders.iter().all(|folder| folder.starts_with(top)))
    {
        top = above.parent();
    }
    let top = top.unwrap_or(Path::new(""));
    let is_direct = |folder: &&PathBuf| folder.parent() == Some(top);
    let (mut single, mut groups) = (Vec::new(), BTreeMap::<PathBuf, Vec<&Path>>::new());
    let has_direct = folders.iter().any(|folder| is_direct(&folder));
    for folder in folders {
        let below = folder.strip_prefix(top).unwrap_or(folder);
        let root = match has_direct && !top.ends_with(WORKLOAD) {
            true if is_direct(&folder) => {
                single.push(folder.as_path());
                continue;
            }
            true => top.join(below.iter().next().unwrap_or_default()),
            false => top.to_owned(),
        };
        groups.entry(root).or_default().push(folder);
    }
    let (mut patterns, mut names) = (Vec::new(), BTreeSet::new());
    for (root, found) in groups {
        let is_alone = found.len() == 1 && !root.ends_with(WORKLOAD);
        match folder_pattern(files, &root, &found)?.filter(|_| !is_alone) {
            Some(pattern) => {
                let last = |folder: &&Path| part(folder, folder.iter().count() - 1);
                names.extend(found.iter().map(last));
                patterns.push(pattern);
            }
            None => single.extend(found),
        }
    }
    let top = if top.ends_with(WORKLOAD) {
        top.parent().unwrap_or(top)
    } else {
        top
    };
    Ok(Clusters {
        single: name_folders(&single, names),
        patterns,
        top: top.to_owned(),
    })
}

/// The pattern of some folders below one; none where it matches others too, or where their names are not enough.
fn folder_pattern(
    files: &dyn Files,
    root: &Path,
    found: &[&Path],
) -> Result<Option<Pattern>, Error> {
    let depth = |folder: &Path| folder.iter().count() - root.iter().count();
    let depths: BTreeSet<usize> = found.iter().map(|folder| depth(folder)).collect();
    let mut parts: Vec<String> = (0..root.iter().count())
        .map(|index| part(root, index))
        .collect();
    let is_literal = !parts
        .iter()
        .any(|part| part.contains(['*', '?', '[', ']', '{', '}', '\\', '"']));
    match depths.iter().collect::<Vec<_>>()[..] {
        [depth] => parts.extend(vec!["*".to_owned(); *depth]),
        _ => parts.push("**".to_owned()),
    }
    let each = format!("{}/", parts.join("/"));
    let names: BTreeSet<_> = found.iter().map(|folder| folder.file_name()).collect();
    let name = match (
        names.len() == found.len(),
        &depths.iter().collect::<Vec<_>>()[..],
    ) {
        (true, _) => None,
        (false, [_]) => {
            let segments = root.iter().count()..parts.len();
            let segments = segments.map(|index| format!("{{{{ path.segments[{index}] }}}}"));
            Some(segments.collect::<Vec<_>>().join("-"))
        }
        (false, _) => return Ok(None),
    };
    let mut matched = gitops::clusters_in(files, &each)?;
    matched.sort();
    let is_all = matched
        .iter()
        .map(PathBuf::as_path)
        .eq(found.iter().copied());
    Ok((is_literal && is_all).then_some(Pattern { each, name }))
}

/// Names for single folders: their own, else as of those that manage others, else the whole path, whichever is free.
fn name_folders(found: &[&Path], mut taken: BTreeSet<String>) -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for folder in found {
        let own = part(folder, folder.iter().count() - 1);
        let whole: Vec<String> = folder
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let names = [own.clone(), format!("management-{own}"), whole.join("-")];
        let free = names.into_iter().find(|name| taken.insert(name.clone()));
        all.push((free.unwrap_or(own), folder.to_path_buf()));
    }
    all
}

/// The YAML files of a repository, but for those in hidden folders.
pub(super) fn yaml_files(files: &dyn Files) -> Result<Vec<PathBuf>, Error> {
    let mut found = files.list_recursive(Path::new("."))?;
    found.retain(|file| {
        let is_yaml = file
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml");
        let mut parts = file.iter().map(|part| part.to_string_lossy());
        is_yaml && !parts.any(|part| part.starts_with('.') && part != ".")
    });
    Ok(found)
}

/// The values files of clusters wherever they are: single ones with their names, and patterns for those of one depth and
/// file name, or several a folder, that match nothing else.
pub(super) fn anywhere(
    files: &dyn Files,
    is_cluster: &dyn Fn(&dyn Files, &Path) -> bool,
) -> Result<Clusters, Error> {
    let all = yaml_files(files)?.into_iter().take(LOOKED_INTO);
    let mut clusters: Vec<PathBuf> = all.filter(|file| is_cluster(files, file)).collect();
    // What a chart starts from is no cluster beside those that it deploys.
    let is_own = |file: &PathBuf| files.is_file(&file.with_file_name("Chart.yaml"));
    if !clusters.iter().all(is_own) {
        clusters.retain(|file| !is_own(file));
    }
    let mut in_folder: BTreeMap<Option<&Path>, usize> = BTreeMap::new();
    for file in &clusters {
        *in_folder.entry(file.parent()).or_default() += 1;
    }
    let mut alike: BTreeMap<_, Vec<&Path>> = BTreeMap::new();
    for file in &clusters {
        let is_alone = in_folder[&file.parent()] == 1;
        let name = is_alone.then(|| file.file_name());
        let key = (file.iter().count(), name);
        alike.entry(key).or_default().push(file);
    }
    let (mut single, mut patterns) = (Vec::new(), Vec::new());
    for ((_, name), found) in alike {
        match pattern(files, &found, name.is_some())? {
            Some(pattern) => patterns.push(pattern),
            None => single.extend(found),
        }
    }
    Ok(Clusters {
        single: name_files(&single),
        patterns,
        top: PathBuf::new(),
    })
}

/// The pattern of some files of one depth; none where there is one file alone, where it matches others too, or where their
/// names are not enough.
fn pattern(files: &dyn Files, found: &[&Path], by_folder: bool) -> Result<Option<Pattern>, Error> {
    let [first, _, ..] = found else {
        return Ok(None);
    };
    let depth = first.iter().count();
    let values =
        |index: usize| -> BTreeSet<String> { found.iter().map(|file| part(file, index)).collect() };
    let open: Vec<usize> = (0..depth)
        .filter(|index| values(*index).len() > 1)
        .collect();
    let parts = (0..depth).map(|index| match open.contains(&index) {
        false => part(first, index),
        true if by_folder || index + 1 < depth => "*".to_owned(),
        true => format!(
            "*.{}",
            first.extension().unwrap_or_default().to_string_lossy()
        ),
    });
    let each = parts.collect::<Vec<String>>().join("/");
    let is_literal = !each.contains(['?', '[', ']', '{', '}', '\\', '"']);
    let mut matched = gitops::matches(files, &each)?;
    matched.sort();
    let is_all = found.iter().all(|file| {
        matched
            .binary_search_by(|path| path.as_path().cmp(file))
            .is_ok()
    });
    if !is_literal || !is_all || matched.len() != found.len() {
        return Ok(None);
    }
    let naming = if by_folder { depth - 2 } else { depth - 1 };
    let name = match (values(naming).len() == found.len(), by_folder) {
        (true, _) => None,
        (false, true) => {
            let segments = open.iter();
            let segments = segments.map(|index| format!("{{{{ path.segments[{index}] }}}}"));
            Some(segments.collect::<Vec<String>>().join("-"))
        }
        (false, false) => return Ok(None),
    };
    Ok(Some(Pattern { each, name }))
}

/// Names for single files: that of a folder that holds no other, else of the file, else the whole path, whichever is free.
pub(super) fn name_files(found: &[&Path]) -> Vec<(String, PathBuf)> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    for file in found {
        let text = |part: &OsStr| part.to_string_lossy().into_owned();
        let whole: Vec<String> = file.with_extension("").iter().map(text).collect();
        let folder = file.parent().and_then(Path::file_name).map(text);
        let is_beside = |other: &&&Path| other.parent() == file.parent();
        let folder = folder.filter(|_| found.iter().filter(is_beside).count() == 1);
        let names = [folder, file.file_stem().map(text), Some(whole.join("-"))];
        let mut free = names.into_iter().flatten();
        let own = free.find(|name| taken.insert(name.clone()));
        all.push((own.unwrap_or_default(), file.to_path_buf()));
    }
    all
}

/// One part of a path.
fn part(file: &Path, index: usize) -> String {
    let part = file.iter().nth(index).unwrap_or_default();
    part.to_string_lossy().into_owned()
}
