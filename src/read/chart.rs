//! The charts of clusters, where the repository has them: who they are, and the named templates that values may include.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use capi::secrets::{self, Included};
use go_template::Template;
use parking_lot::Mutex;
use yaml_tree::engine::Engine;
use yaml_tree::merge::{Layer, LayerKind};
use yaml_tree::place::Sources;
use yaml_tree::value::Node;

use crate::decide::matching::REGISTRY_KEY;
use crate::evaluate::{ChartTree, Templates, Texts};
use crate::files::{Files, Found};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selector::Library;

use super::changed_values::{ChangedValue, changes};
use super::chart_files::{FolderReader, Tree, is_template, metadata, texts};
use super::chart_loader::Loader;
use super::error::ReadError;
use super::files::display;
use super::values_schema::SchemaFile;

/// The dependency whose templates match images.
const LIBRARY: &str = "sylva-library";

/// The charts that were looked for, by folder; each is read once in a run.
#[derive(Debug, Default)]
pub(super) struct Charts(Mutex<BTreeMap<PathBuf, Option<Arc<Chart>>>>);

impl Charts {
    /// The chart whose own values are among the layers.
    pub(super) fn find(
        &self,
        files: &Arc<dyn Files>,
        layers: &[Layer],
        sources: &Sources,
    ) -> Option<Arc<Chart>> {
        let layer = { layers.iter() }.find(|layer| layer.kind == LayerKind::Chart)?;
        let source = sources.get(layer.tree.place.file)?;
        let folder = Path::new(&*source.path).parent()?;
        let mut known = self.0.lock();
        if let Some(chart) = known.get(folder) {
            return chart.clone();
        }
        let own = { layers.iter() }.filter(|layer| layer.kind == LayerKind::Chart);
        let chart = Chart::read(files, folder, changes(own)).map(Arc::new);
        known.insert(folder.to_owned(), chart.clone());
        chart
    }
}

/// A chart in the repository.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) name: Arc<str>,
    pub(super) version: Arc<str>,
    /// Chart.yaml.
    pub(super) metadata: Node,
    /// The version of sylva-library that it depends on; none where it does not.
    pub(super) library: Option<Library>,
    pub(super) templates: Arc<ChartTemplates>,
    /// The chart with its dependencies, where these have values; or what is wrong with them.
    pub(super) tree: Result<Option<ChartTree>, Box<Finding>>,
    /// The expressions in its own values that change others.
    pub(super) changes: Vec<ChangedValue>,
    /// The schema of its values.
    pub(super) schema: Option<SchemaFile>,
}

impl Chart {
    fn read(files: &Arc<dyn Files>, folder: &Path, changes: Vec<ChangedValue>) -> Option<Self> {
        let Ok(Found::File(content)) = files.file(&folder.join("Chart.yaml")) else {
            return None;
        };
        let metadata = metadata(&content)?;
        let text = |key: &str| metadata.text(&[key]).map(Arc::from);
        let mut templates = ChartTemplates {
            files: Arc::clone(files),
            folder: folder.to_owned(),
            texts: Vec::new(),
            unread: Vec::new(),
            parsed: OnceLock::new(),
            file_texts: OnceLock::new(),
        };
        let files = &**files;
        let tree = with_dependencies(files, folder, &mut templates);
        Some(Self {
            name: text("name")?,
            version: text("version").unwrap_or_else(|| "0.0.0".into()),
            library: templates
                .library()
                .or_else(|| library_dependency(&metadata)),
            metadata,
            templates: Arc::new(templates),
            tree,
            changes,
            schema: SchemaFile::read(files, folder),
        })
    }
}

/// The chart in a folder with the values of its dependencies, and without its own; none where they have no values. The templates that
/// only define others are set apart.
fn with_dependencies(
    files: &dyn Files,
    folder: &Path,
    templates: &mut ChartTemplates,
) -> Result<Option<ChartTree>, Box<Finding>> {
    let failed = |error| match error {
        ReadError::Finding(finding) => finding,
        ReadError::Error(error) => {
            let folder = display(folder);
            let message = format!("what `{folder}` depends on cannot be read: {error}");
            Box::new(Finding::new(RuleId::CompositionUnsupported, message))
        }
    };
    let mut reader = FolderReader::new(files, is_of_definitions);
    let mut tree = Tree::new();
    let read = reader.chart(folder, &mut tree).map_err(failed);
    // Those that were read are there, whatever a dependency lacks.
    templates.take(&mut tree);
    templates.unread.extend(reader.unread);
    read.inspect_err(|finding| templates.unread.push(finding.message.clone()))?;
    if !tree.keys().any(|name| name.ends_with("/values.yaml")) {
        return Ok(None);
    }
    tree.remove("values.yaml");
    let (chart, ..) = Loader::new(&tree, &mut Sources::default(), Engine::Helm4).chart()?;
    Ok(chart.has_values_below().then(|| chart.strip_places()))
}

/// The version of sylva-library that a Chart.yaml depends on.
fn library_dependency(metadata: &Node) -> Option<Library> {
    let mut dependencies = metadata.items(&["dependencies"]).iter();
    let library = dependencies.find(|dependency| dependency.text(&["name"]) == Some(LIBRARY))?;
    library.text(&["version"]).map(library_of)
}

/// How a version of sylva-library matches images. 0.7 compares registries (sylva-core!6174, sylva-core!6217); 0.6 does not.
pub(super) fn library_of(version: &str) -> Library {
    let version = version.trim_start_matches(['v', '~', '^', '=', ' ']);
    let is_old = |minor: u8| version.starts_with(&format!("0.{minor}."));
    if (0..7).any(is_old) {
        Library::WithoutRegistries
    } else {
        Library::WithRegistries
    }
}

/// The files below `templates/` of a chart and of its dependencies, parsed when the first one is included.
pub(super) struct ChartTemplates {
    /// Where the chart is.
    files: Arc<dyn Files>,
    folder: PathBuf,
    /// The path below the chart's folder, and the text.
    texts: Vec<(String, String)>,
    unread: Vec<String>,
    parsed: OnceLock<(Vec<Template>, Vec<String>)>,
    /// What `.Files` holds, read when a template wants it.
    file_texts: OnceLock<Result<Arc<Texts>, String>>,
}

impl fmt::Debug for ChartTemplates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the chart `{}`", display(&self.folder))
    }
}

impl ChartTemplates {
    /// Takes the templates out of a chart's files.
    fn take(&mut self, tree: &mut Tree) {
        let all = std::mem::take(tree).into_iter();
        let (templates, rest): (Tree, Tree) = all.partition(|(name, _)| is_template(name));
        *tree = rest;
        for (name, file) in templates {
            match file.content.plain().map(std::str::from_utf8) {
                Some(Ok(text)) => self.texts.push((name, text.to_owned())),
                _ => self
                    .unread
                    .push(format!("`{name}` of the chart is not UTF-8")),
            }
        }
    }

    /// What the library's own templates show of its version.
    fn library(&self) -> Option<Library> {
        let of_library = |(name, _): &&(String, String)| {
            name.contains(&format!("{LIBRARY}/templates/")) && name.ends_with("/_os_images.tpl")
        };
        let (_, text) = self.texts.iter().find(of_library)?;
        Some(if text.contains(REGISTRY_KEY) {
            Library::WithRegistries
        } else {
            Library::WithoutRegistries
        })
    }

    /// What was parsed, in the order in which names are looked for: Helm parses the deepest files first and the others over them
    /// (`sortTemplates` in Helm's pkg/engine), and a later definition replaces an earlier one.
    fn parse_all(&self) -> &(Vec<Template>, Vec<String>) {
        self.parsed.get_or_init(|| {
            let mut texts: Vec<_> = self.texts.iter().collect();
            texts.sort_by_key(|(name, _)| (name.matches('/').count(), name));
            let (mut templates, mut faults) = (Vec::new(), self.unread.clone());
            for (name, text) in texts {
                match secrets::parse_template(name, &**name, text, &Included::default()).parsed {
                    Ok(template) => templates.push(template),
                    Err(error) => {
                        faults.push(format!("`{name}` of the chart cannot be parsed: {error}"));
                    }
                }
            }
            (templates, faults)
        })
    }
}

/// Whether a template only defines others: Helm renders the rest.
fn is_of_definitions(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with('_') || name.ends_with(".tpl")
}

impl Templates for ChartTemplates {
    fn find_template(&self, name: &str) -> Option<Template> {
        let (templates, _) = self.parse_all();
        templates
            .iter()
            .find_map(|template| template.find_definition(name))
    }

    fn faults(&self) -> &[String] {
        &self.parse_all().1
    }

    fn files(&self) -> Result<Arc<Texts>, String> {
        let read = || texts(&*self.files, &self.folder).map(Arc::new);
        self.file_texts.get_or_init(read).clone()
    }
}
