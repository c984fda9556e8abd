//! Which files metalmark rendered itself. They are never input: an overlay that was read back would be the strongest layer,
//! and every later render would repeat it instead of following the user's change.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobMatcher};
use parking_lot::Mutex;

use crate::error::Error;
use crate::files::{Files, Found};
use crate::model::manifest::OWNERSHIP_FILE;
use crate::model::output_path;
use crate::model::ownership::{Owned, Record};

/// The rendered files of a project: those that an ownership file lists, and those below the project's outputs that were not
/// rendered yet. A list counts wherever its folder was moved to. Outside the project's outputs it must have the digest of the
/// file: anybody can write a list, and what it names is not checked.
#[derive(Debug, Default)]
pub struct OwnOutput {
    outputs: Vec<GlobMatcher>,
    records: Mutex<HashMap<PathBuf, Option<Arc<Record>>>>,
}

impl OwnOutput {
    /// The rendered files of a project with these output paths.
    pub fn new<'p>(outputs: impl Iterator<Item = &'p str>) -> Self {
        Self {
            outputs: outputs.filter_map(output_matcher).collect(),
            records: Mutex::default(),
        }
    }

    /// Whether metalmark rendered the file at a path below the root.
    ///
    /// # Errors
    /// An ownership file cannot be read.
    pub fn has(&self, files: &dyn Files, path: &Path) -> Result<bool, Error> {
        for folder in path.ancestors().skip(1) {
            let Some(record) = self.record(files, folder)? else {
                continue;
            };
            let inside = path.strip_prefix(folder).unwrap_or(path);
            let inside = inside.to_string_lossy().replace('\\', "/");
            let Some(owned) = record.files.get(&inside) else {
                continue;
            };
            if self.is_output(path) || is_as_written(files, owned, path)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a path is below an output of the project.
    pub fn is_output(&self, path: &Path) -> bool {
        self.outputs.iter().any(|output| output.is_match(path))
    }

    /// Whether metalmark renders files at or below a path where nothing exists yet.
    pub fn will_have(&self, files: &dyn Files, path: &Path) -> bool {
        self.is_output(path) && !files.is_file(path) && !files.is_folder(path)
    }

    fn record(&self, files: &dyn Files, folder: &Path) -> Result<Option<Arc<Record>>, Error> {
        let records = || self.records.lock();
        if let Some(known) = records().get(folder) {
            return Ok(known.clone());
        }
        let record = match files.file(&folder.join(OWNERSHIP_FILE))? {
            Found::File(bytes) => Some(Record::parse(&String::from_utf8_lossy(&bytes)).0),
            Found::Nothing | Found::Outside => None,
        };
        let record = record.map(Arc::new);
        records().insert(folder.to_owned(), record.clone());
        Ok(record)
    }
}

/// Whether a listed file has bytes that the list says were written.
fn is_as_written(files: &dyn Files, owned: &Owned, path: &Path) -> Result<bool, Error> {
    Ok(match files.file(path)? {
        Found::File(bytes) => owned.has_written(&bytes),
        Found::Nothing | Found::Outside => false,
    })
}

/// What matches the files below an output's path, whatever its expressions evaluate to; none for an output in the root
/// itself, where any file may be the user's.
fn output_matcher(path: &str) -> Option<GlobMatcher> {
    let (mut rest, mut pattern) = (path.trim_start_matches("./"), String::new());
    if output_path::root(rest).0.is_empty() || rest == "." {
        return None;
    }
    while let Some(start) = rest.find("{{").or_else(|| rest.find("{%")) {
        let end = ["}}", "%}"].map(|end| rest[start..].find(end));
        let end = end.into_iter().flatten().min()?;
        pattern += &globset::escape(&rest[..start]);
        pattern.push('*');
        rest = &rest[start + end + 2..];
    }
    pattern += &globset::escape(rest.trim_end_matches('/'));
    let glob = Glob::new(&format!("{pattern}/**")).ok()?;
    Some(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::output_matcher;

    #[test]
    fn an_output_matches_what_is_below_it() {
        let is_below = |output: &str, path: &str| {
            output_matcher(output).is_some_and(|output| output.is_match(Path::new(path)))
        };
        assert!(is_below("./images/", "images/edge/kustomization.yaml"));
        assert!(is_below(
            "env/{{ cluster.name }}/images",
            "env/edge/images/os-images-info.yaml"
        ));
        assert!(is_below("a[1]", "a[1]/x"));
        for (output, path) in [
            ("images", "images"),
            ("images", "images-of-mine/x"),
            ("env/{{ cluster.name }}/images", "env/edge/values.yaml"),
            (".", "values.yaml"),
            ("{{ cluster.name }}", "edge/values.yaml"),
        ] {
            assert!(!is_below(output, path), "{output}: {path}");
        }
    }
}
