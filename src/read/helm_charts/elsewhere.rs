//! Releases of charts that are not in this repository, and may make clusters: those whose values name the Kubernetes of nodes, or an
//! image of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::objects::ManifestObject;
use capi::secrets;
use capi::unknown::Unknown;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source};
use yaml_tree::value::Node;

use crate::files::{Files, Found, KUSTOMIZATIONS};

use super::super::files;
use super::super::gitops::{Deploying, chart_folder, resolve_path};
use super::machines::has_machines;
use super::releases::namespace;
use super::{HelmCharts, MadeRelease, placeholder};

/// A release of a chart that is not here.
struct Elsewhere {
    source: Arc<Source>,
    chart: String,
    name: String,
    namespace: String,
    values: Vec<Node>,
}

impl HelmCharts {
    /// The releases of charts elsewhere that may make clusters, of these objects and in the kustomizations of these folders. `charts` are
    /// Flux's objects that name one.
    pub(in crate::read) fn releases_elsewhere<'o>(
        &self,
        tree: &dyn Files,
        objects: impl Iterator<Item = &'o ManifestObject>,
        charts: &[&ManifestObject],
        kustomizations: impl Iterator<Item = &'o PathBuf>,
    ) -> Vec<MadeRelease> {
        let deployed =
            objects.flat_map(
                |object| match Deploying::from_kind(object.group(), &object.kind) {
                    Some(Deploying::Release) => {
                        self.find_flux_release(object, charts).into_iter().collect()
                    }
                    Some(Deploying::Application) => self.find_applications(tree, object, &["spec"]),
                    Some(Deploying::ApplicationSet) => {
                        self.find_applications(tree, object, &["spec", "template", "spec"])
                    }
                    None => Vec::new(),
                },
            );
        let inflated = kustomizations.flat_map(|folder| self.find_inflations(tree, folder));
        let releases = deployed.chain(inflated);
        let releases = releases.filter(|one| one.values.iter().any(|it| has_machines("", "", it)));
        let made = releases.map(|one| MadeRelease {
            objects: vec![placeholder(
                &one.chart,
                &one.name,
                namespace(&one.namespace),
            )],
            source: one.source,
            unknown: Some(Unknown::ChartElsewhere),
        });
        made.collect()
    }

    /// Whether a chart is in a folder here. Where a template computes which one, it may be.
    fn has(&self, path: &str) -> bool {
        let folder = resolve_path(Path::new(""), path.trim_start_matches('/'));
        path.contains("{{") || folder.is_some_and(|folder| self.folders.contains(&folder))
    }

    fn find_flux_release(
        &self,
        object: &ManifestObject,
        charts: &[&ManifestObject],
    ) -> Option<Elsewhere> {
        let node = &object.node;
        let reference = node.get_path(&["spec", "chartRef"]);
        let named = |name: &str| {
            charts
                .iter()
                .find(|one| &*one.kind == "HelmChart" && *one.name == *name)
        };
        let of_reference = reference.and_then(|it| named(it.text(&["name"])?));
        let own = node.get_path(&["spec", "chart", "spec"]);
        let spec = own.or_else(|| of_reference?.node.get_path(&["spec"]));
        let is_here = spec.is_some_and(|spec| {
            spec.text(&["sourceRef", "kind"]) != Some("HelmRepository")
                && self.has(spec.text(&["chart"]).unwrap_or_default())
        });
        let chart = spec.and_then(|spec| spec.text(&["chart"]));
        let chart = chart.or_else(|| reference?.text(&["name"]))?;
        (!is_here).then(|| Elsewhere {
            source: Arc::clone(object.file()),
            chart: chart.to_owned(),
            name: object.name.to_string(),
            namespace: object.namespace.to_string(),
            values: node
                .get_path(&["spec", "values"])
                .cloned()
                .into_iter()
                .collect(),
        })
    }

    fn find_applications(
        &self,
        tree: &dyn Files,
        object: &ManifestObject,
        at: &[&str],
    ) -> Vec<Elsewhere> {
        let Some(spec) = object.node.get_path(at) else {
            return Vec::new();
        };
        let sources = spec
            .items(&["sources"])
            .iter()
            .chain(spec.get_path(&["source"]));
        let elsewhere = sources.filter_map(|source| {
            let path = || source.text(&["path"]).filter(|path| !self.has(path));
            let chart = source.text(&["chart"]).or_else(path)?;
            let helm = source.get_path(&["helm"])?;
            let mut values: Vec<Node> = ["valuesObject", "parameters"]
                .iter()
                .filter_map(|field| helm.get_path(&[field]).cloned())
                .collect();
            values.extend(helm.text(&["values"]).map(read).unwrap_or_default());
            let files = helm.items(&["valueFiles"]).iter();
            // Those of another source, which may be this repository.
            let files = files.filter_map(|file| file.value.as_str()?.strip_prefix('$'));
            let files = files.filter_map(|file| file.split_once('/'));
            values.extend(files.flat_map(|(_, path)| read_file(tree, Path::new(""), path)));
            Some(Elsewhere {
                source: Arc::clone(object.file()),
                chart: chart.to_owned(),
                name: object.name.to_string(),
                namespace: spec
                    .text(&["destination", "namespace"])
                    .unwrap_or_default()
                    .to_owned(),
                values,
            })
        });
        elsewhere.collect()
    }

    fn find_inflations(&self, tree: &dyn Files, folder: &Path) -> Vec<Elsewhere> {
        let mut found = Vec::new();
        for name in KUSTOMIZATIONS {
            let path = folder.join(name);
            let Some(source) = source(tree, &path).filter(|it| it.text.contains("helmCharts"))
            else {
                continue;
            };
            let source = Arc::new(source);
            for document in documents(&source) {
                for item in document.items(&["helmCharts"]) {
                    let chart = chart_folder(folder, &document, item);
                    let is_pulled = item.nonempty_text(&["repo"]).is_some();
                    if !is_pulled || chart.is_none_or(|chart| self.folders.contains(&chart)) {
                        continue;
                    }
                    let text = |key: &str| item.nonempty_text(&[key]);
                    let name = text("name").unwrap_or_default();
                    let files = item.items(&["additionalValuesFiles"]).iter();
                    let files = files.chain(item.get_path(&["valuesFile"]));
                    let files = files.filter_map(|file| file.value.as_str());
                    let mut values: Vec<Node> = files
                        .flat_map(|file| read_file(tree, folder, file))
                        .collect();
                    values.extend(item.get_path(&["valuesInline"]).cloned());
                    found.push(Elsewhere {
                        source: Arc::clone(&source),
                        chart: name.to_owned(),
                        name: text("releaseName").unwrap_or(name).to_owned(),
                        namespace: text("namespace").unwrap_or_default().to_owned(),
                        values,
                    });
                }
            }
        }
        found
    }
}

/// The text of a file of this repository; what it is not said of is reported by what reads it.
fn source(tree: &dyn Files, path: &Path) -> Option<Source> {
    let Ok(Found::File(content)) = tree.file(path) else {
        return None;
    };
    files::source(path, &content, Engine::Kubectl).ok()
}

fn documents(source: &Source) -> Vec<Node> {
    let read = secrets::documents(source, FileId(0), Engine::Kubectl);
    read.map_or_else(|_| Vec::new(), |read| read.documents)
}

fn read(text: &str) -> Vec<Node> {
    documents(&Source::new("", text))
}

fn read_file(tree: &dyn Files, folder: &Path, file: &str) -> Vec<Node> {
    let path = resolve_path(folder, file);
    let source = path.and_then(|path| source(tree, &path));
    source.map_or_else(Vec::new, |source| documents(&source))
}
