//! Loads a chart that makes Cluster API objects, with its dependencies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Sources};

use crate::evaluate::ChartTree;
use crate::files::Files;
use crate::model::finding::Finding;

use super::super::chart_files::{File, FolderReader, Tree, is_template};
use super::super::chart_loader::Loader;
use super::super::chart_metadata::install_refusal;
use super::super::error::ReadError;
use super::super::files::display;
use super::super::values_schema::SchemaFile;
use super::kinds::makes_clusters;
use super::machines::has_machines;

/// A chart that was loaded.
pub(in crate::read) struct Chart {
    pub(super) tree: ChartTree,
    pub(super) engine: Engine,
    /// The folders of the charts that it is made of.
    pub(super) folders: Vec<PathBuf>,
    /// Chart.yaml.
    pub(super) metadata: FileId,
    /// Whether it only defines templates for other charts.
    pub(super) is_library: bool,
    /// The files of the templates, by name.
    pub(super) templates: BTreeMap<Arc<str>, FileId>,
    /// One sentence for each template and package that cannot be read.
    pub(super) unread: Vec<String>,
    /// The keys that occur twice in its values.
    pub(super) duplicates: Vec<Finding>,
    /// Why Helm refuses it with whatever values, as a sentence.
    pub(super) refusal: Option<String>,
    /// The schemas of values, by the path of the chart that is in it.
    pub(super) schemas: BTreeMap<String, Arc<SchemaFile>>,
}

/// Loads the chart in a folder, if a template of it makes Cluster API objects; none if there is no such chart.
///
/// # Errors
/// A file cannot be read, or the chart is wrong.
pub(super) fn chart(
    files: &dyn Files,
    folder: &Path,
    engine: Engine,
    sources: &mut Sources,
) -> Result<Option<Chart>, ReadError> {
    let mut reader = FolderReader::new(files, |_| true);
    let mut tree = Tree::new();
    reader.chart(folder, &mut tree)?;
    let mut templates = tree.iter().filter(|(path, _)| is_template(path));
    if templates.any(|(_, file)| makes_clusters(&text(file))) {
        return assemble(reader, tree, folder, engine, sources).map(Some);
    }
    if !tree
        .values()
        .any(|file| text(file).contains("dependencies:"))
    {
        return Ok(None);
    }
    // What is not there may make them.
    let other = assemble(reader, tree, folder, engine, sources).ok();
    Ok(other.filter(|chart| {
        !chart.tree.missing().is_empty() && has_machines("", "", &chart.tree.values)
    }))
}

/// Loads the chart in a folder, whatever it makes.
///
/// # Errors
/// A file cannot be read, or the chart is wrong.
pub(in crate::read) fn any_chart(
    files: &dyn Files,
    folder: &Path,
    engine: Engine,
    sources: &mut Sources,
) -> Result<Chart, ReadError> {
    let mut reader = FolderReader::new(files, |_| true);
    let mut tree = Tree::new();
    reader.chart(folder, &mut tree)?;
    assemble(reader, tree, folder, engine, sources)
}

fn text(file: &File) -> String {
    String::from_utf8_lossy(file.content.plain().unwrap_or_default()).into_owned()
}

/// The chart of these files.
fn assemble(
    mut reader: FolderReader<'_>,
    mut tree: Tree,
    folder: &Path,
    engine: Engine,
    sources: &mut Sources,
) -> Result<Chart, ReadError> {
    let mut templates = tree.iter().filter(|(path, _)| is_template(path));
    if templates.any(|(_, file)| text(file).contains(".Files")) {
        reader.add_files(folder, |_| true, &mut tree)?;
    }
    let mut loader = Loader::new(&tree, sources, engine);
    let (chart, metadata, file) = loader.chart()?;
    let strange = reader.strange.first().map(|path| {
        let path = display(path);
        format!("Helm refuses `{path}`, which is not a chart")
    });
    let own = || {
        let why = install_refusal(&metadata, engine)?;
        Some(format!("Helm refuses it: {why}"))
    };
    let mut refusals = loader.refusals.into_iter();
    Ok(Chart {
        tree: chart,
        engine,
        metadata: file,
        is_library: metadata.text(&["type"]) == Some("library"),
        templates: loader.templates,
        folders: reader.folders,
        unread: reader.unread.into_iter().chain(loader.unread).collect(),
        refusal: refusals.next().or(strange).or_else(own),
        schemas: loader.schemas,
        duplicates: loader.duplicates,
    })
}
