//! What every answer about a document starts from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{Location, Range, Uri};
use url::Url;
use yaml_tree::place::Spot;

use crate::error::Error;
use crate::files::plain_path;
use crate::model::cluster_view::ClusterView;
use crate::read::{self, ClusterEntry, ClusterValues};

use super::marks::{FileMarks, Mark};
use super::position::{Encoding, Lines};
use super::project::{Analysis, Problem};
use super::rolls::Rolls;

/// A document of a project that was checked.
pub(super) struct Answers<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) problems: &'a [Problem],
    pub(super) rolls: &'a Rolls,
    pub(super) encoding: Encoding,
    /// The document's path as the project names it.
    pub(super) path: &'a Path,
    /// Its text in the editor.
    pub(super) text: &'a str,
}

impl Answers<'_> {
    /// The document's marks; none while it is not what was checked.
    pub(super) fn file(&self) -> Option<&FileMarks> {
        let file = self.analysis.index.files.get(&*self.path.to_string_lossy());
        file.filter(|file| file.source.text == self.text)
    }

    /// The marks at a byte, and their range.
    pub(super) fn marks(&self, offset: usize) -> (Vec<&Mark>, Option<Range>) {
        let found = self
            .file()
            .map(|file| file.marks_at(offset))
            .unwrap_or_default();
        let range = found
            .first()
            .map(|(bytes, _)| Lines::new(self.text, self.encoding).first_line(bytes.clone()));
        (found.into_iter().map(|(_, mark)| mark).collect(), range)
    }

    /// The word at a byte: letters, digits, and what keys, versions and rule ids have between them.
    pub(super) fn word(&self, offset: usize) -> &str {
        let is_part = |letter: char| letter.is_alphanumeric() || "-_.+".contains(letter);
        self.text_around(offset, is_part).trim_end_matches('.')
    }

    /// The letters of a kind around a byte.
    pub(super) fn text_around(&self, offset: usize, is_part: impl Fn(char) -> bool) -> &str {
        let (before, behind) = self.text.split_at(offset);
        let start = before.trim_end_matches(&is_part).len();
        let end = offset + (behind.len() - behind.trim_start_matches(&is_part).len());
        &self.text[start..end]
    }

    /// The number of the cluster that the document is about: the one that alone has it, else the first one that names it as a
    /// layer, else the first one.
    pub(super) fn cluster(&self) -> usize {
        let owner = self.analysis.index.owner(&self.path.to_string_lossy());
        let clusters = self.analysis.clusters();
        let names_it = |entry: &&ClusterEntry| {
            let mut layers = entry.layers.iter();
            layers.any(|layer| self.path.starts_with(layer))
        };
        owner
            .or_else(|| clusters.iter().position(names_it))
            .unwrap_or_default()
    }

    /// The values of the document's cluster; none where it is no layer of them.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn values(&self) -> Result<Option<(&ClusterEntry, ClusterValues)>, Error> {
        let clusters = self.analysis.clusters();
        let Some(entry) = clusters.get(self.cluster()) else {
            return Ok(None);
        };
        let values = read::values(self.analysis.workspace(), entry)?;
        let path = self.path.to_string_lossy();
        let is_layer = values.sources.all().any(|source| *source.path == path);
        Ok(is_layer.then_some((*entry, values)))
    }

    /// A cluster as the rules see it.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub(super) fn view(&self, cluster: usize) -> Result<Option<ClusterView>, Error> {
        match self.analysis.clusters().get(cluster) {
            Some(entry) => self.analysis.fleet.view(entry).map(Some),
            None => Ok(None),
        }
    }

    /// A place as the protocol has it.
    pub(super) fn location(&self, spot: &Spot) -> Option<Location> {
        Locations::new(self.analysis.root(), self.encoding).location(spot)
    }
}

/// The places of a project as the protocol has them. The lines of each file are found once.
pub(super) struct Locations<'p> {
    root: &'p Path,
    encoding: Encoding,
    /// By the address of the file, which the spots keep.
    lines: HashMap<usize, Lines<'p>>,
}

impl<'p> Locations<'p> {
    pub(super) fn new(root: &'p Path, encoding: Encoding) -> Self {
        Self {
            root,
            encoding,
            lines: HashMap::new(),
        }
    }

    /// A place; none of a file that has no address.
    pub(super) fn location(&mut self, spot: &'p Spot) -> Option<Location> {
        let (source, encoding) = (&spot.source, self.encoding);
        let lines = self.lines.entry(Arc::as_ptr(source).addr());
        let lines = lines.or_insert_with(|| Lines::new(&source.text, encoding));
        Some(Location {
            uri: uri(&self.root.join(&*source.path))?,
            range: lines.first_line(spot.start as usize..spot.end as usize),
        })
    }
}

/// The address of a file; none of a relative path.
pub(super) fn uri(file: &Path) -> Option<Uri> {
    let url = Url::from_file_path(plain_path(file)).ok()?;
    url.as_str().parse().ok()
}

/// The longest path of a file, in bytes: PATH_MAX of Linux. Each folder above a file is looked at.
const PATH_LIMIT: usize = 4 << 10;

/// The file at an address; none for what is no file.
pub(super) fn file(uri: &Uri) -> Option<PathBuf> {
    let path = Url::parse(uri.as_str()).ok()?.to_file_path().ok()?;
    (path.as_os_str().len() <= PATH_LIMIT).then_some(path)
}
