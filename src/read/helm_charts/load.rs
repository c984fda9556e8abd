//! Loads a chart with its dependencies: the folders and packages below `charts/`, and those that are elsewhere in the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::Error;
use crate::evaluate::{self, ChartTemplate, ChartTree, Dependency, Texts};
use crate::files::{Files, Found};
use crate::helm;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{FileId, Source, Sources};
use crate::model::rule::{Level, RuleId};
use crate::model::value::{Node, Value};
use crate::yaml;

use super::super::chart::packaged;
use super::super::error::ReadError;
use super::super::files::{broken, display};
use super::super::gitops::below;
use super::super::values_schema::SchemaFile;
use super::CLUSTER_API;

/// How many files of charts are read in a run, those of a dependency for each chart that depends on it.
const MOST_FILES: usize = 50_000;
/// How much of charts is read in a run, in bytes.
const MOST_BYTES: usize = 128 << 20;
/// How deep charts depend on each other.
const DEEPEST: usize = 8;

/// How much more of charts may be read.
pub(super) struct Left {
    files: usize,
    bytes: usize,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            files: MOST_FILES,
            bytes: MOST_BYTES,
        }
    }
}

impl Left {
    pub(super) fn is_nothing(&self) -> bool {
        self.files == 0 || self.bytes == 0
    }

    /// Whether a file of this length may be read.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.files.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        (self.files, self.bytes) = left.unwrap_or_default();
        left.is_some()
    }
}

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
    /// One sentence for each package that cannot be read.
    pub(super) unread: Vec<String>,
    /// The schema of its values.
    pub(super) schema: Option<SchemaFile>,
}

/// A file of a chart, as it is shown.
struct File {
    shown: String,
    bytes: Vec<u8>,
}

/// The files of a chart by their paths below its folder.
type Tree = BTreeMap<String, File>;

/// Loads the chart in a folder, if a template of it mentions Cluster API objects; none if there is no such chart.
///
/// # Errors
/// A file cannot be read, or the chart is wrong.
pub(super) fn chart(
    files: &dyn Files,
    folder: &Path,
    left: &mut Left,
    sources: &mut Sources,
) -> Result<Option<Chart>, ReadError> {
    let mut reader = FolderReader {
        files,
        folders: Vec::new(),
        unread: Vec::new(),
        left,
        is_cut: false,
    };
    let mut tree = Tree::new();
    reader.add(folder, "", 0, &mut tree)?;
    if reader.is_cut {
        let folder = display(folder);
        let which = match reader.left.is_nothing() {
            true => format!("the charts from `{folder}` on are"),
            false => format!("the chart `{folder}` is"),
        };
        let message = format!(
            "{which} not checked: charts have more than {MOST_FILES} files, more than {} MiB, or are \
             more than {DEEPEST} deep in one another",
            MOST_BYTES >> 20
        );
        let finding = Finding::new(RuleId::CompositionUnsupported, message);
        let finding = finding.help("check fewer of them at once: `metalmark check -C FOLDER`");
        return Err(finding.unless_set(Level::Warning).into());
    }
    let templates = || tree.iter().filter(|(path, _)| is_template(path));
    let text = |file: &File| String::from_utf8_lossy(&file.bytes).into_owned();
    if !templates().any(|(_, file)| mentions_cluster_api(&text(file))) {
        return Ok(None);
    }
    if templates().any(|(_, file)| text(file).contains(".Files")) {
        reader.add_files(folder, &mut tree)?;
    }
    let loader = Loader {
        tree: &tree,
        sources,
        templates: BTreeMap::new(),
        missing: Vec::new(),
    };
    let chart = loader.chart(reader.folders, reader.unread)?;
    let schema = SchemaFile::read(files, folder);
    Ok(Some(Chart { schema, ..chart }))
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

/// Whether a file is below the `templates/` of a chart or one of its dependencies.
fn is_template(path: &str) -> bool {
    let mut rest = path;
    while let Some(inner) = rest.strip_prefix("charts/") {
        rest = inner.split_once('/').map_or("", |(_, below)| below);
    }
    rest.starts_with("templates/")
}

/// A template. It has no secrets, which are among the values, but no line of one named after secrets is shown.
fn of_template(shown: &str, text: &str) -> Source {
    Source {
        is_hidden: yaml::is_named_secret(Path::new(shown)),
        ..Source::new(shown, text)
    }
}

/// Reads charts that are folders.
struct FolderReader<'f> {
    files: &'f dyn Files,
    folders: Vec<PathBuf>,
    unread: Vec<String>,
    left: &'f mut Left,
    /// Whether something was left out.
    is_cut: bool,
}

impl FolderReader<'_> {
    /// Adds the templates, values and metadata of the chart in a folder, and of its dependencies.
    fn add(&mut self, folder: &Path, at: &str, depth: usize, tree: &mut Tree) -> Result<(), Error> {
        self.folders.push(folder.to_owned());
        if self.is_cut || depth > DEEPEST {
            self.is_cut = true;
            return Ok(());
        }
        for name in ["Chart.yaml", "values.yaml"] {
            self.add_file(&folder.join(name), format!("{at}{name}"), tree)?;
        }
        let templates = folder.join("templates");
        if self.files.is_folder(&templates) {
            for path in self.files.below(&templates)? {
                let name = format!("{at}templates/{}", display(&path));
                self.add_file(&templates.join(path), name, tree)?;
            }
        }
        let inside = folder.join("charts");
        for name in self.files.folder(&inside)?.unwrap_or_default() {
            let path = inside.join(&name);
            if name.ends_with(".tgz") {
                let package = display(&path);
                match packaged(self.files, &path) {
                    Ok(inner) => {
                        for (name, bytes) in inner {
                            let shown = format!("{package}/{name}");
                            self.insert(format!("{at}charts/{name}"), shown, bytes, tree);
                        }
                    }
                    Err(why) => self
                        .unread
                        .push(format!("`{package}` cannot be read: {why}")),
                }
            } else if self.files.is_file(&path.join("Chart.yaml")) {
                self.add(&path, &format!("{at}charts/{name}/"), depth + 1, tree)?;
            }
        }
        for (name, path) in self.elsewhere(folder, at, tree) {
            if !tree.contains_key(&format!("{at}charts/{name}/Chart.yaml")) {
                self.add(&path, &format!("{at}charts/{name}/"), depth + 1, tree)?;
            }
        }
        Ok(())
    }

    /// The dependencies whose repository is a folder: `file://../NAME`.
    fn elsewhere(&self, folder: &Path, at: &str, tree: &Tree) -> Vec<(String, PathBuf)> {
        let metadata = tree.get(&format!("{at}Chart.yaml"));
        let metadata = metadata.and_then(|file| {
            let text = yaml::decode(&file.bytes, Engine::Helm3).ok()?;
            yaml::values(&text, FileId(0), Engine::Helm3).ok()
        });
        let path = |dependency: &Node| {
            let path = dependency.text(&["repository"])?.strip_prefix("file://")?;
            Some((dependency.text(&["name"])?.to_owned(), below(folder, path)?))
        };
        let dependencies = metadata
            .iter()
            .flat_map(|metadata| metadata.items(&["dependencies"]));
        dependencies.filter_map(path).collect()
    }

    /// Adds the files beside the templates.
    fn add_files(&mut self, folder: &Path, tree: &mut Tree) -> Result<(), Error> {
        for path in self.files.below(folder)? {
            let name = display(&path);
            let is_hidden = name.split('/').any(|part| part.starts_with('.'));
            if !is_hidden && !tree.contains_key(&name) && !name.ends_with(".tgz") {
                self.add_file(&folder.join(path), name, tree)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, name: String, tree: &mut Tree) -> Result<(), Error> {
        if let Found::File(bytes) = self.files.file(path)? {
            self.insert(name, display(path), bytes, tree);
        }
        Ok(())
    }

    fn insert(&mut self, name: String, shown: String, bytes: Vec<u8>, tree: &mut Tree) {
        match self.left.take(bytes.len()) {
            true => drop(tree.insert(name, File { shown, bytes })),
            false => self.is_cut = true,
        }
    }
}

/// Makes charts of files.
struct Loader<'l> {
    tree: &'l Tree,
    sources: &'l mut Sources,
    templates: BTreeMap<Arc<str>, FileId>,
    missing: Vec<String>,
}

impl Loader<'_> {
    fn chart(mut self, folders: Vec<PathBuf>, unread: Vec<String>) -> Result<Chart, Box<Finding>> {
        let (metadata, file) = self.values("Chart.yaml")?;
        let tree = self.load("", None, &metadata)?;
        Ok(Chart {
            tree,
            folders,
            metadata: file,
            is_library: metadata.text(&["type"]) == Some("library"),
            templates: self.templates,
            missing: self.missing,
            unread,
            schema: None,
        })
    }

    /// The chart below this path. `parent` is the name of the chart that it is in, in the names of templates.
    fn load(
        &mut self,
        at: &str,
        parent: Option<&str>,
        metadata: &Node,
    ) -> Result<ChartTree, Box<Finding>> {
        let word = |key: &str| metadata.text(&[key]).map(Arc::<str>::from);
        let chart = evaluate::Chart {
            name: word("name").unwrap_or_default(),
            version: word("version").unwrap_or_else(|| "0.0.0".into()),
            app_version: word("appVersion").unwrap_or_default(),
        };
        let path = match parent {
            Some(parent) => format!("{parent}/charts/{}", chart.name),
            None => chart.name.to_string(),
        };
        let (values, _) = self.values(&format!("{at}values.yaml"))?;
        let (mut templates, mut texts) = (Vec::new(), Texts::new());
        for (name, file) in self.tree.range(at.to_owned()..) {
            let Some(below) = name.strip_prefix(at) else {
                break;
            };
            let Ok(text) = std::str::from_utf8(&file.bytes) else {
                continue;
            };
            if below.starts_with("templates/") {
                let name: Arc<str> = format!("{path}/{below}").into();
                let source = of_template(&file.shown, text);
                self.templates
                    .insert(Arc::clone(&name), self.sources.add(source));
                let template = helm::parse(&name, text);
                templates.push(ChartTemplate { name, template });
            } else if !below.starts_with("charts/") {
                texts.insert(below.into(), text.into());
            }
        }
        let dependencies = self.dependencies(at, metadata, &path)?;
        Ok(ChartTree {
            chart,
            path,
            values,
            templates,
            files: Arc::new(texts),
            dependencies,
        })
    }

    /// The charts below `charts/`. One that Chart.yaml does not declare counts too.
    fn dependencies(
        &mut self,
        at: &str,
        metadata: &Node,
        path: &str,
    ) -> Result<Vec<Dependency>, Box<Finding>> {
        let inside = format!("{at}charts/");
        let mut known: BTreeMap<String, (Arc<ChartTree>, bool)> = BTreeMap::new();
        let names = { self.tree.range(inside.clone()..) }
            .map_while(|(name, _)| name.strip_prefix(&*inside))
            .filter_map(|below| below.strip_suffix("/Chart.yaml"))
            .filter(|name| !name.contains('/'));
        for name in names.map(str::to_owned).collect::<Vec<_>>() {
            let at = format!("{inside}{name}/");
            let (metadata, _) = self.values(&format!("{at}Chart.yaml"))?;
            let chart = self.load(&at, Some(path), &metadata)?;
            known.insert(chart.chart.name.to_string(), (Arc::new(chart), false));
        }
        let mut dependencies = Vec::new();
        for declared in metadata.items(&["dependencies"]) {
            let name = declared.text(&["name"]).unwrap_or_default();
            let Some((chart, is_declared)) = known.get_mut(name) else {
                self.missing.push(name.to_owned());
                continue;
            };
            *is_declared = true;
            let conditions = declared.text(&["condition"]).unwrap_or_default().split(',');
            let conditions = conditions.map(|path| path.trim().to_owned());
            dependencies.push(Dependency {
                key: declared.text(&["alias"]).unwrap_or(name).into(),
                conditions: conditions.filter(|path| !path.is_empty()).collect(),
                chart: Arc::clone(chart),
            });
        }
        known.retain(|_, (_, is_declared)| !*is_declared);
        dependencies.extend(known.into_iter().map(|(name, (chart, _))| Dependency {
            key: name.into(),
            conditions: Vec::new(),
            chart,
        }));
        Ok(dependencies)
    }

    /// The values of a file, empty if there is none.
    fn values(&mut self, name: &str) -> Result<(Node, FileId), Box<Finding>> {
        let Some(file) = self.tree.get(name) else {
            return Ok((Node::computed(Value::empty_map()), FileId(0)));
        };
        let text = yaml::decode(&file.bytes, Engine::Helm4).map_err(|error| {
            let message = format!("`{}` is not text: {error}", file.shown);
            Box::new(Finding::new(RuleId::YamlSyntax, message))
        })?;
        let source = Arc::new(yaml::source(file.shown.as_str(), text, false));
        let id = self.sources.add(Arc::clone(&source));
        let values = yaml::values(&source.text, id, Engine::Helm4);
        let values = values.map_err(|error| Box::new(broken(error, self.sources)))?;
        Ok((values, id))
    }
}

#[cfg(test)]
mod tests {
    use super::{Left, MOST_BYTES, MOST_FILES};

    #[test]
    fn as_many_files_and_bytes_of_charts_are_read_as_is_stated() {
        let mut left = Left::default();
        assert!((0..MOST_FILES).all(|_| left.take(0)));
        assert!(!left.take(0));
        let mut left = Left::default();
        assert!(left.take(MOST_BYTES));
        assert!(!left.take(1));
    }
}
