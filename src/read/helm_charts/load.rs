//! Loads a chart that makes Cluster API objects, with its dependencies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::place::{FileId, Sources};

use crate::evaluate::ChartTree;
use crate::files::Files;

use super::super::chart_files::{File, FolderReader, Tree, is_template};
use super::super::chart_loader::Loader;
use super::super::error::ReadError;
use super::super::values_schema::SchemaFile;
use super::CLUSTER_API;

/// A chart that was loaded.
pub(super) struct Chart {
    pub(super) tree: ChartTree,
    /// The folders of the charts that it is made of.
    pub(super) folders: Vec<PathBuf>,
    /// Chart.yaml.
    pub(super) metadata: FileId,
    /// Whether it only defines templates for other charts.
    pub(super) is_library: bool,
    /// The files of the templates, by name.
    pub(super) templates: BTreeMap<Arc<str>, FileId>,
    /// The dependencies that are not in the repository.
    pub(super) missing: Vec<String>,
    /// One sentence for each template and package that cannot be read.
    pub(super) unread: Vec<String>,
    /// The schema of its values.
    pub(super) schema: Option<SchemaFile>,
}

/// Loads the chart in a folder, if a template of it mentions Cluster API objects; none if there is no such chart.
///
/// # Errors
/// A file cannot be read, or the chart is wrong.
pub(super) fn chart(
    files: &dyn Files,
    folder: &Path,
    sources: &mut Sources,
) -> Result<Option<Chart>, ReadError> {
    let mut reader = FolderReader::new(files, |_| true);
    let mut tree = Tree::new();
    reader.chart(folder, &mut tree)?;
    let templates = || tree.iter().filter(|(path, _)| is_template(path));
    let text = |file: &File| {
        String::from_utf8_lossy(file.content.plain().unwrap_or_default()).into_owned()
    };
    if !templates().any(|(_, file)| mentions_cluster_api(&text(file))) {
        return Ok(None);
    }
    if templates().any(|(_, file)| text(file).contains(".Files")) {
        reader.add_files(folder, |_| true, &mut tree)?;
    }
    let mut loader = Loader::new(&tree, sources);
    let (chart, metadata, file) = loader.chart()?;
    Ok(Some(Chart {
        tree: chart,
        metadata: file,
        is_library: metadata.text(&["type"]) == Some("library"),
        templates: loader.templates,
        missing: loader.missing,
        folders: reader.folders,
        unread: reader.unread,
        schema: SchemaFile::read(files, folder),
    }))
}

/// Whether a template names a group of Cluster API, other than in a label such as `cluster.x-k8s.io/cluster-name`.
pub(super) fn mentions_cluster_api(text: &str) -> bool {
    let is_group = |(at, group): (usize, &str)| match text[at + group.len()..].strip_prefix('/') {
        Some(rest) => {
            let number = rest.strip_prefix('v').unwrap_or_default();
            rest.starts_with("{{") || number.starts_with(|letter: char| letter.is_ascii_digit())
        }
        None => true,
    };
    text.match_indices(CLUSTER_API).any(is_group)
}
