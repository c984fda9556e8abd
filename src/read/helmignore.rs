//! `.helmignore`: the files of a chart that Helm does not load.
//!
//! Source: Helm's pkg/ignore. Patterns are those of Go's `path/filepath`.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::error::Error;
use crate::files::{Files, Found};

/// The rules of a chart's folder, which hold for the charts below it too.
#[derive(Default)]
pub(super) struct Ignored(Vec<Rule>);

struct Rule {
    glob: GlobMatcher,
    is_negated: bool,
    is_for_folders: bool,
    /// Whether it is compared with the whole path, and not with the name alone.
    is_for_paths: bool,
}

impl Ignored {
    /// The rules in a chart's folder.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub(super) fn read(files: &dyn Files, folder: &Path) -> Result<Self, Error> {
        let text = match files.file(&folder.join(".helmignore"))? {
            Found::File(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Found::Nothing | Found::Outside => String::new(),
        };
        // What Helm adds itself.
        let lines = text.lines().chain(["templates/.?*"]);
        Ok(Self(lines.filter_map(Rule::parse).collect()))
    }

    /// Whether a file is left out, by its path below the folder of the rules: by itself, or with a folder that it is in.
    pub(super) fn has(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let is_left_out =
            |path, is_folder| { self.0.iter() }.any(|rule| rule.leaves_out(path, is_folder));
        { folders }.any(|folder| is_left_out(folder, true)) || is_left_out(path, false)
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.contains("**") {
            return None;
        }
        let (is_negated, line) = match line.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (is_for_folders, line) = match line.strip_suffix('/') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let is_for_paths = line.contains('/');
        // Braces have no meaning in Go.
        let pattern = line.strip_prefix('/').unwrap_or(line);
        let pattern = pattern.replace('{', "[{]").replace('}', "[}]");
        let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
        Some(Self {
            glob: glob.ok()?.compile_matcher(),
            is_negated,
            is_for_folders,
            is_for_paths,
        })
    }

    fn leaves_out(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let subject = if self.is_for_paths { path } else { name };
        let is_of_kind = !self.is_for_folders || is_folder;
        if self.is_negated {
            !is_of_kind || !self.glob.is_match(subject)
        } else {
            is_of_kind && self.glob.is_match(subject)
        }
    }
}
