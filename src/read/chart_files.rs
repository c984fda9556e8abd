//! Reads the files of charts in the repository: their folders, the packages below `charts/`, and dependencies that are elsewhere.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oci_artifacts::Body;
use oci_artifacts::archive::{self, Limits};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use capi::secrets;

use crate::error::Error;
use crate::evaluate::Texts;
use crate::files::{Content, Files, Found, SECRET};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::error::ReadError;
use super::files::display;
use super::gitops::resolve_path;
use super::helm_ignore::Ignored;

/// How much of a packaged dependency is read.
const PACKAGED: Limits = Limits {
    packed: 4 << 20,
    unpacked: 32 << 20,
    file: 4 << 20,
    entries: 10_000,
    names: 1 << 20,
    path: 1024,
    depth: 32,
    ratio: 200,
    ratio_from: 8 << 20,
    extension: 64 << 10,
};

/// Why a file is not read that is there.
const LINK: &str = "it is a link that leads out of the repository";

/// How deep charts depend on each other.
const DEEPEST: usize = 8;

/// A file of a chart, as it is shown.
pub(super) struct File {
    pub(super) shown: String,
    pub(super) content: Content,
}

/// The files of a chart by their paths below its folder.
pub(super) type Tree = BTreeMap<String, File>;

/// What Chart.yaml, or requirements.yaml over it, says of dependencies.
const METADATA: [&str; 2] = ["Chart.yaml", "requirements.yaml"];

/// The schema of a chart's values.
pub(super) const SCHEMA: &str = "values.schema.json";

/// What a Chart.yaml says; none where it cannot be read.
pub(super) fn metadata(content: &Content) -> Option<Node> {
    let text = yaml_tree::decode(content.plain()?, Engine::Helm3).ok()?;
    yaml_tree::values(&text, FileId(0), Engine::Helm3).ok()
}

/// Whether a file is below the `templates/` of a chart or one of its dependencies.
pub(super) fn is_template(path: &str) -> bool {
    let mut rest = path;
    while let Some(inner) = rest.strip_prefix("charts/") {
        rest = inner.split_once('/').map_or("", |(_, below)| below);
    }
    rest.starts_with("templates/")
}

/// Whether a file of a chart is in `.Files`: it has no meaning of its own.
pub(super) fn is_text(path: &str) -> bool {
    const OWN: [&str; 4] = ["Chart.yaml", "Chart.lock", "values.yaml", SCHEMA];
    let is_below = |folder: &&str| path.starts_with(folder);
    !OWN.contains(&path) && !["templates/", "charts/"].iter().any(is_below)
}

/// `.Files` of the chart in a folder.
///
/// # Errors
/// One sentence on what cannot be read.
pub(super) fn texts(files: &dyn Files, folder: &Path) -> Result<Texts, String> {
    let mut tree = Tree::new();
    let mut reader = FolderReader::new(files, |_| false);
    let added = reader.add_files(folder, is_text, &mut tree);
    added.map_err(|error| error.to_string())?;
    let text = |(name, file): (String, File)| Some((name.into(), file_text(&file)?));
    Ok(tree.into_iter().filter_map(text).collect())
}

/// A file as `.Files` reads it; none if it is not text.
pub(super) fn file_text(file: &File) -> Option<Arc<str>> {
    let content = Some(&file.content).filter(|content| content.is_text())?;
    let source = content.source(file.shown.clone(), Engine::Helm4).ok()?;
    Some(secrets::text(&source).into())
}

/// Reads charts that are folders.
pub(super) struct FolderReader<'f> {
    files: &'f dyn Files,
    /// Which templates are read, by their paths below the chart's folder.
    is_wanted: fn(&str) -> bool,
    pub(super) folders: Vec<PathBuf>,
    /// One sentence for each template and package that cannot be read.
    pub(super) unread: Vec<String>,
    /// What is in a `charts/` and is no chart: Helm refuses it.
    pub(super) strange: Vec<PathBuf>,
    /// Whether charts are deeper in one another than they are read.
    is_cut: bool,
}

impl<'f> FolderReader<'f> {
    pub(super) fn new(files: &'f dyn Files, is_wanted: fn(&str) -> bool) -> Self {
        Self {
            files,
            is_wanted,
            folders: Vec::new(),
            unread: Vec::new(),
            strange: Vec::new(),
            is_cut: false,
        }
    }

    /// The templates, values and metadata of the chart in a folder, and of its dependencies.
    ///
    /// # Errors
    /// A file cannot be read, or charts are too deep in one another.
    pub(super) fn chart(&mut self, folder: &Path, tree: &mut Tree) -> Result<(), ReadError> {
        self.add(folder, "", 0, tree)?;
        if !self.is_cut {
            return Ok(());
        }
        let message = format!(
            "the chart `{}` is not checked: charts are more than {DEEPEST} deep in one another",
            display(folder)
        );
        let finding = Finding::new(RuleId::CompositionUnsupported, message);
        Err(finding.unless_set(Level::Warning).into())
    }

    /// Adds the templates, values and metadata of the chart in a folder, and of its dependencies.
    fn add(&mut self, folder: &Path, at: &str, depth: usize, tree: &mut Tree) -> Result<(), Error> {
        let ignored = Ignored::read(self.files, folder)?;
        self.add_inside(folder, at, depth, &ignored, "", tree)
    }

    /// The same for a chart whose folder is at this path below that of the rules.
    fn add_inside(
        &mut self,
        folder: &Path,
        at: &str,
        depth: usize,
        ignored: &Ignored,
        below: &str,
        tree: &mut Tree,
    ) -> Result<(), Error> {
        let is_ignored = |name: &str| ignored.has(&format!("{below}{name}"));
        self.folders.push(folder.to_owned());
        if self.is_cut || depth > DEEPEST {
            self.is_cut = true;
            return Ok(());
        }
        for name in METADATA.into_iter().chain(["values.yaml", SCHEMA]) {
            if !is_ignored(name) {
                self.add_file(&folder.join(name), format!("{at}{name}"), tree)?;
            }
        }
        let templates = folder.join("templates");
        if self.files.is_folder(&templates) {
            for path in self.list(&templates)? {
                let name = format!("templates/{}", display(&path));
                if !(self.is_wanted)(&name) || is_ignored(&name) {
                    continue;
                }
                let path = templates.join(path);
                let name = format!("{at}{name}");
                if !self.add_file(&path, name.clone(), tree)? {
                    self.skip(&path, LINK);
                } else if tree[&name].content.plain().is_none() {
                    tree.remove(&name);
                    self.skip(&path, SECRET);
                }
            }
        }
        let inside = folder.join("charts");
        for name in self.files.folder(&inside)?.unwrap_or_default() {
            let path = inside.join(&name);
            let is_left_out = name.starts_with(['_', '.']) || name.ends_with(".prov");
            if is_left_out || is_ignored(&format!("charts/{name}")) {
                continue;
            }
            if name.ends_with(".tgz") {
                let package = display(&path);
                match self.unpack(&path) {
                    Ok(inner) => {
                        for (inside, bytes) in inner {
                            let name = format!("charts/{inside}");
                            if !is_template(&name) || (self.is_wanted)(&name) {
                                let shown = format!("{package}/{inside}");
                                let content = bytes.into();
                                tree.insert(format!("{at}{name}"), File { shown, content });
                            }
                        }
                    }
                    Err(why) => self.skip(&path, &why),
                }
            } else if self.files.is_file(&path.join("Chart.yaml")) {
                let at = format!("{at}charts/{name}/");
                let below = format!("{below}charts/{name}/");
                self.add_inside(&path, &at, depth + 1, ignored, &below, tree)?;
            } else {
                self.strange.push(path);
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
        let metadata = METADATA
            .into_iter()
            .filter_map(|name| metadata(&tree.get(&format!("{at}{name}"))?.content));
        let metadata: Vec<Node> = metadata.collect();
        let path = |dependency: &Node| {
            let path = dependency.text(&["repository"])?.strip_prefix("file://")?;
            Some((
                dependency.text(&["name"])?.to_owned(),
                resolve_path(folder, path)?,
            ))
        };
        let dependencies = metadata
            .iter()
            .flat_map(|metadata| metadata.items(&["dependencies"]));
        dependencies.filter_map(path).collect()
    }

    /// Adds the files beside the templates that are wanted.
    pub(super) fn add_files(
        &mut self,
        folder: &Path,
        is_wanted: impl Fn(&str) -> bool,
        tree: &mut Tree,
    ) -> Result<(), Error> {
        let ignored = Ignored::read(self.files, folder)?;
        for path in self.files.list_recursive(folder)? {
            let name = display(&path);
            let is_hidden = name.split('/').any(|part| part.starts_with('.'));
            let is_left_out = is_hidden || ignored.has(&name) || !is_wanted(&name);
            if !is_left_out && !tree.contains_key(&name) && !name.ends_with(".tgz") {
                self.add_file(&folder.join(path), name, tree)?;
            }
        }
        Ok(())
    }

    /// The files below a folder, relative to it. Helm follows links.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
        while let Some(inner) = open.pop() {
            let names = self.files.folder(&folder.join(&inner))?;
            for name in names.unwrap_or_default() {
                let path = inner.join(name);
                let may_be_folder = path.iter().count() < DEEPEST;
                if may_be_folder && self.files.is_folder(&folder.join(&path)) {
                    open.push(path);
                } else {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn unpack(&self, path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
        match self.files.file(path) {
            Ok(Found::File(package)) => unpack(package.raw_bytes(), 1),
            Ok(_) => Err(LINK.to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn skip(&mut self, path: &Path, why: &str) {
        let path = display(path);
        self.unread.push(format!("`{path}` cannot be read: {why}"));
    }

    /// Adds a file. Returns whether it is one in the repository.
    fn add_file(&mut self, path: &Path, name: String, tree: &mut Tree) -> Result<bool, Error> {
        let Found::File(content) = self.files.file(path)? else {
            return Ok(false);
        };
        let shown = display(path);
        tree.insert(name, File { shown, content });
        Ok(true)
    }
}

/// The files of a packaged chart, below the folder of its name, with those of the packages in it.
///
/// # Errors
/// Why it cannot be read.
fn unpack(bytes: &[u8], depth: usize) -> Result<Vec<(String, Vec<u8>)>, String> {
    let tree = match archive::read(bytes, PACKAGED) {
        Ok(tree) => tree,
        Err(archive::ReadError::Refused(refusal)) => return Err(refusal.to_string()),
        Err(archive::ReadError::World(error)) => return Err(error.to_string()),
    };
    let mut inside = Vec::new();
    for (name, entry) in tree.files {
        let mut bytes = Vec::new();
        let content = entry.content.open();
        content
            .and_then(|mut content| content.read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        match name.rsplit_once('/') {
            Some((charts, package)) if charts.ends_with("/charts") && package.ends_with(".tgz") => {
                if depth == DEEPEST {
                    return Err(format!(
                        "packages are more than {DEEPEST} deep in one another"
                    ));
                }
                let below = unpack(&bytes, depth + 1)?.into_iter();
                inside.extend(below.map(|(below, bytes)| (format!("{charts}/{below}"), bytes)));
            }
            _ => inside.push((name, bytes)),
        }
    }
    Ok(inside)
}
