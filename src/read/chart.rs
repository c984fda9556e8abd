//! The charts of clusters, where the repository has them: who they are, and the named templates that values may include.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use crate::artifacts::archive::{self, Limits, ReadError};
use crate::evaluate::Templates;
use crate::files::{Files, Found, for_all};
use crate::helm::{self, Engine, Template};
use crate::model::matching::{Library, REGISTRY_KEY};
use crate::model::merge::LayerKind;
use crate::model::mutex::held;
use crate::model::place::FileId;
use crate::model::value::Node;
use crate::oci::Body;
use crate::yaml;

use super::files::display;
use super::layers::Own;
use super::values_schema::SchemaFile;

/// The dependency whose templates match images.
const LIBRARY: &str = "sylva-library";

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

/// The charts that were looked for, by folder; each is read once in a run.
#[derive(Debug, Default)]
pub(super) struct Charts(Mutex<BTreeMap<PathBuf, Option<Arc<Chart>>>>);

impl Charts {
    /// The chart whose own values are among the layers.
    pub(super) fn of(&self, files: &dyn Files, own: &Own) -> Option<Arc<Chart>> {
        let layer = { own.layers.iter() }.find(|layer| layer.kind == LayerKind::Chart)?;
        let source = own.sources.get(layer.tree.place.file)?;
        let folder = Path::new(&*source.path).parent()?;
        let mut known = held(&self.0);
        if let Some(chart) = known.get(folder) {
            return chart.clone();
        }
        let chart = for_all(|| Chart::read(files, folder)).map(Arc::new);
        known.insert(folder.to_owned(), chart.clone());
        chart
    }
}

/// A chart in the repository.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) name: Arc<str>,
    pub(super) version: Arc<str>,
    pub(super) app_version: Arc<str>,
    /// The version of sylva-library that it depends on; none where it does not.
    pub(super) library: Option<Library>,
    pub(super) templates: Arc<ChartTemplates>,
    /// The schema of its values.
    pub(super) schema: Option<SchemaFile>,
}

impl Chart {
    fn read(files: &dyn Files, folder: &Path) -> Option<Self> {
        let Ok(Found::File(bytes)) = files.file(&folder.join("Chart.yaml")) else {
            return None;
        };
        let text = yaml::decode(&bytes, Engine::Helm3).ok()?;
        let metadata = yaml::values(&text, FileId(0), Engine::Helm3).ok()?;
        let text = |key: &str| metadata.text(&[key]).map(Arc::from);
        let mut templates = ChartTemplates::default();
        templates.add_folder(files, folder, "");
        Some(Self {
            name: text("name")?,
            version: text("version").unwrap_or_else(|| "0.0.0".into()),
            app_version: text("appVersion").unwrap_or_default(),
            library: templates.library().or_else(|| declared_library(&metadata)),
            templates: Arc::new(templates),
            schema: SchemaFile::read(files, folder),
        })
    }
}

/// The version of sylva-library that a Chart.yaml depends on.
fn declared_library(metadata: &Node) -> Option<Library> {
    let mut dependencies = metadata.items(&["dependencies"]).iter();
    let library = dependencies.find(|dependency| dependency.text(&["name"]) == Some(LIBRARY))?;
    library.text(&["version"]).map(library_of)
}

/// How a version of sylva-library matches images. 0.3.8 is the last one that is known not to compare registries, 0.9.0 the first
/// one that is known to.
pub(super) fn library_of(version: &str) -> Library {
    let version = version.trim_start_matches(['v', '~', '^', '=', ' ']);
    let is_old = ["0.0.", "0.1.", "0.2.", "0.3."];
    match is_old.iter().any(|start| version.starts_with(start)) {
        true => Library::WithoutRegistries,
        false => Library::WithRegistries,
    }
}

/// The files below `templates/` of a chart and of its dependencies, parsed when the first one is included.
#[derive(Debug, Default)]
pub(super) struct ChartTemplates {
    /// The path below the chart's folder, and the text.
    texts: Vec<(String, String)>,
    unread: Vec<String>,
    parsed: OnceLock<(Vec<Template>, Vec<String>)>,
}

impl ChartTemplates {
    fn add_folder(&mut self, files: &dyn Files, folder: &Path, inner: &str) {
        let templates = folder.join(inner).join("templates");
        for path in files.below(&templates).unwrap_or_default() {
            let name = format!("{inner}templates/{}", path.display());
            if !is_of_templates(&name) {
                continue;
            }
            let path = templates.join(path);
            match files.file(&path) {
                Ok(Found::File(bytes)) => self.add(name, bytes),
                Ok(_) => self.skip(&path, "it is a link that leads out of the repository"),
                Err(error) => self.skip(&path, &error.to_string()),
            }
        }
        let dependencies = folder.join(inner).join("charts");
        let names = files.folder(&dependencies).ok().flatten();
        for name in names.unwrap_or_default() {
            let path = dependencies.join(&name);
            if name.ends_with(".tgz") {
                self.add_packaged(files, &path, inner);
            } else if files.is_file(&path.join("Chart.yaml")) {
                self.add_folder(files, folder, &format!("{inner}charts/{name}/"));
            }
        }
    }

    fn add_packaged(&mut self, files: &dyn Files, path: &Path, inner: &str) {
        match packaged(files, path) {
            Ok(inside) => {
                for (name, bytes) in inside {
                    let name = format!("{inner}charts/{name}");
                    if is_of_templates(&name) {
                        self.add(name, bytes);
                    }
                }
            }
            Err(reason) => self.skip(path, &reason),
        }
    }

    fn add(&mut self, name: String, bytes: Vec<u8>) {
        match String::from_utf8(bytes) {
            Ok(text) => self.texts.push((name, text)),
            Err(_) => self
                .unread
                .push(format!("`{name}` of the chart is not UTF-8")),
        }
    }

    fn skip(&mut self, path: &Path, reason: &str) {
        let path = display(path);
        self.unread
            .push(format!("`{path}` cannot be read: {reason}"));
    }

    /// What the library's own templates show of its version.
    fn library(&self) -> Option<Library> {
        let of_library = |(name, _): &&(String, String)| {
            name.contains(&format!("{LIBRARY}/templates/")) && name.ends_with("/_os_images.tpl")
        };
        let (_, text) = self.texts.iter().find(of_library)?;
        Some(match text.contains(REGISTRY_KEY) {
            true => Library::WithRegistries,
            false => Library::WithoutRegistries,
        })
    }

    /// What was parsed, in the order in which names are looked for: Helm parses the deepest files first and the others over them
    /// (`sortTemplates` in Helm's pkg/engine), and a later definition replaces an earlier one.
    fn parsed(&self) -> &(Vec<Template>, Vec<String>) {
        self.parsed.get_or_init(|| {
            let mut texts: Vec<_> = self.texts.iter().collect();
            texts.sort_by_key(|(name, _)| (name.matches('/').count(), name));
            let (mut templates, mut faults) = (Vec::new(), self.unread.clone());
            for (name, text) in texts {
                match helm::parse(name, text) {
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

/// The files of a packaged chart, below the folder of its name.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn packaged(files: &dyn Files, path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let bytes = match files.file(path) {
        Ok(Found::File(bytes)) => bytes,
        Ok(_) => return Err("it is a link that leads out of the repository".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let tree = match archive::read(&*bytes, PACKAGED) {
        Ok(tree) => tree,
        Err(ReadError::Refused(refusal)) => return Err(refusal.to_string()),
        Err(ReadError::World(error)) => return Err(error.to_string()),
    };
    let mut inside = Vec::new();
    for (name, entry) in tree.files {
        let mut bytes = Vec::new();
        let content = entry.content.open();
        content
            .and_then(|mut content| content.read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        inside.push((name, bytes));
    }
    Ok(inside)
}

/// Whether a file holds named templates only: Helm renders the others.
fn is_of_templates(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.contains("templates/") && (name.starts_with('_') || name.ends_with(".tpl"))
}

impl Templates for ChartTemplates {
    fn named(&self, name: &str) -> Option<Template> {
        let (templates, _) = self.parsed();
        templates.iter().find_map(|template| template.defined(name))
    }

    fn faults(&self) -> &[String] {
        &self.parsed().1
    }
}
