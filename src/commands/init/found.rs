//! Searches a repository for what a project file can be made from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capi::providers::PROVIDERS;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value};

use crate::error::Error;
use crate::files::{Files, is_kustomization};
use crate::read;
use crate::read::gitops::{self, CHART};

use super::patterns::{self, LOOKED_INTO, Pattern};

/// Where the values files of clusters are kept, the likeliest first. The first that holds any counts, and beside workload clusters
/// the second, where management clusters are.
const VALUES: [&str; 6] = [
    "environment-values/workload-clusters/*/values.yaml",
    "environment-values/*/values.yaml",
    "clusters/*/values.yaml",
    "clusters/*.yaml",
    "*/values.yaml",
    "values.yaml",
];
/// The layers that all clusters share, lowest first: those of Sylva's chart, and values beside the folders of clusters.
const SHARED: [&str; 3] = [
    "charts/sylva-units/values.yaml",
    "charts/sylva-units/workload-cluster.values.yaml",
    "values.yaml",
];
/// Where image facts are kept, beside the lock, which is taken wherever it lies.
const FACTS: [&str; 3] = [
    "os-images-info.yaml",
    "*/os-images-info.yaml",
    "*os-images-info*.yaml",
];
/// Where well-known repositories keep a version and its images: cluster stacks, and charts of clusters.
const PAIRS: [(&str, &str); 2] = [
    (
        "**/csctl.yaml#config.kubernetesVersion",
        "cluster-class/values.yaml#images.**.name",
    ),
    ("**/values.yaml#kubernetesVersion", "#machineImage"),
];

/// What there is.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Clusters that no pattern finds, such as management clusters: folders or values files, each with its name.
    pub(super) single: Vec<(String, PathBuf)>,
    /// The patterns of the other clusters.
    pub(super) each: Vec<Pattern>,
    /// Layers that all clusters share.
    pub(super) shared: Vec<PathBuf>,
    /// Files with image facts.
    pub(super) facts: Vec<PathBuf>,
    /// Versions and the images beside them, where there is nothing else.
    pub(super) pairs: Vec<(&'static str, &'static str)>,
    /// The folder that all environments are below.
    pub(super) top: PathBuf,
    /// Where Sylva's chart is, if that is not where the environments name it, as in a submodule with sylva-core.
    pub(super) chart: Option<PathBuf>,
    /// How Sylva's own chart gets its values, where it is what deploys the clusters.
    pub(super) sylva: Option<Sylva>,
    /// Files with objects of Cluster API or of what deploys them; of those in charts only where there is nothing else.
    pub(super) manifests: Vec<PathBuf>,
    /// Those of them with machine templates.
    pub(super) templates: Vec<PathBuf>,
}

/// Who gives values to Sylva's chart, which decides how an image is pinned (docs/hosts/sylva-units.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sylva {
    /// Flux, by the HelmRelease of each environment.
    Environments,
    /// `helm upgrade -f`, with values files.
    ValuesFiles,
}

impl Found {
    pub(super) fn is_nothing(&self) -> bool {
        self.single.is_empty() && self.each.is_empty()
    }

    /// What the clusters are read from, as people call it.
    pub(super) fn kind(&self) -> &'static str {
        match (self.is_nothing(), self.sylva, self.templates.is_empty()) {
            (true, _, true) if self.manifests.is_empty() => "versions and images in pairs",
            (true, _, _) => "Cluster API manifests",
            (false, Some(_), true) => "Sylva environments",
            (false, Some(_), false) => "Sylva environments and Cluster API manifests",
            (false, None, true) => "Helm values",
            (false, None, false) => "Helm values and Cluster API manifests",
        }
    }

    /// Beside values, the templates of charts are no manifests: they deploy what the values say.
    fn keep_manifests_beside_values(&mut self, files: &dyn Files) {
        let is_in_chart = |file: &PathBuf| {
            let mut folders = file.ancestors().skip(1);
            folders.any(|folder| files.is_file(&folder.join("Chart.yaml")))
        };
        self.manifests.retain(|file| !is_in_chart(file));
        self.templates.retain(|file| !is_in_chart(file));
        if self.templates.is_empty() {
            self.manifests.clear();
        }
    }

    /// What would have to be there.
    pub(super) fn missing() -> &'static str {
        "found no cluster: neither Helm values that hold `cluster:`, as Sylva's do, nor Cluster API manifests\n\
         help: run it at the top of the repository; for values that it does not recognize, type \
         `metalmark check --values values.yaml --clusters 'clusters/*/values.yaml'`"
    }
}

/// Looks at a repository.
///
/// # Errors
/// A file or folder cannot be read.
pub(super) fn search(files: &dyn Files) -> Result<Found, Error> {
    let mut found = Found::default();
    let own_output: Arc<gitops::OwnOutput> = Arc::default();
    let environments = gitops::environments(files)?;
    let deploys_sylva = { environments.iter() }.any(|one| one.charts.contains("sylva-units"));
    let folders: Vec<PathBuf> = environments.into_iter().map(|one| one.path).collect();
    if !folders.is_empty() {
        let clusters = patterns::environments(files, &folders)?;
        (found.single, found.each) = (clusters.single, clusters.patterns);
        found.top = clusters.top;
    }
    let has_environments = !found.is_nothing();
    if found.is_nothing() {
        for pattern in VALUES {
            let matched = gitops::matches(files, pattern)?;
            if !matched.iter().any(|file| is_cluster(files, file)) {
                continue;
            }
            let is_there = |layer: &&str| *layer != pattern && files.is_file(Path::new(layer));
            found.shared = { SHARED.into_iter().filter(is_there) }
                .map(PathBuf::from)
                .collect();
            let (catalogs, clusters): (Vec<_>, Vec<_>) =
                { matched.into_iter() }.partition(|file| has_catalog(files, file));
            if catalogs.is_empty() {
                found.each.push(Pattern::for_folders(pattern));
            } else {
                let clusters: Vec<&Path> = clusters.iter().map(PathBuf::as_path).collect();
                found.single = patterns::name_files(&clusters);
                found.shared.extend(catalogs);
            }
            break;
        }
        if found.each.iter().any(|each| each.each == VALUES[0]) {
            let workload = gitops::matches(files, VALUES[0])?;
            let folder = |file: &PathBuf| name(file.parent().unwrap_or(file));
            let names: BTreeSet<String> = workload.iter().map(folder).collect();
            for file in gitops::matches(files, VALUES[1])? {
                if is_cluster(files, &file) {
                    found.single.push((unlike(&names, folder(&file)), file));
                }
            }
        }
    }
    if found.is_nothing() {
        let clusters = patterns::anywhere(files, &is_cluster)?;
        (found.single, found.each) = (clusters.single, clusters.patterns);
        let shared = SHARED.into_iter().map(PathBuf::from);
        found.shared = shared.filter(|layer| has_catalog(files, layer)).collect();
    }
    for pattern in FACTS {
        for file in gitops::matches(files, pattern)? {
            let is_known = found.facts.contains(&file) || own_output.has(files, &file)?;
            if files.is_file(&file) && !is_known {
                found.facts.push(file);
            }
        }
    }
    (found.manifests, found.templates) = manifests(files)?;
    if !found.is_nothing() {
        found.keep_manifests_beside_values(files);
        let has_chart = files.is_folder(Path::new(CHART));
        found.sylva = if has_environments {
            (has_chart || deploys_sylva).then_some(Sylva::Environments)
        } else {
            has_chart.then_some(Sylva::ValuesFiles)
        };
        if found.sylva == Some(Sylva::Environments) && !has_chart {
            found.chart = chart_elsewhere(files);
        }
    }
    if found.is_nothing() {
        for (version, image) in PAIRS {
            if read::has_pair(files, version, image)? {
                found.pairs.push((version, image));
            }
        }
    }
    Ok(found)
}

/// The folder of Sylva's chart, if exactly one is below another folder.
fn chart_elsewhere(files: &dyn Files) -> Option<PathBuf> {
    let all = files.paths_named(&["Chart.yaml"]).into_iter();
    let folders = all.filter_map(|file| Some(file.parent()?.to_owned()));
    let mut charts = folders.filter(|folder| folder.ends_with(CHART));
    charts.next().filter(|_| charts.next().is_none())
}

/// The name of a management cluster, unlike those of the others.
fn unlike(names: &BTreeSet<String>, own: String) -> String {
    if names.contains(&own) {
        format!("management-{own}")
    } else {
        own
    }
}

fn name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Whether a file holds the values of a cluster: a map `cluster` with a key that only those have, or a provider's settings.
fn is_cluster(files: &dyn Files, file: &Path) -> bool {
    const DISTINCTIVE: [&str; 4] = [
        "k8s_version",
        "capi_providers",
        "machine_deployments",
        "control_plane_replicas",
    ];
    let providers = PROVIDERS.iter().map(|provider| provider.data().name);
    read_tree(files, file).is_some_and(|tree| {
        let value = |key: &str| tree.get_path(&["cluster", key]).map(|node| &node.value);
        let mut settings = providers.filter_map(value).filter_map(Value::as_map);
        DISTINCTIVE.into_iter().any(|key| value(key).is_some()) || settings.next().is_some()
    })
}

/// Whether a file holds a catalog of images, and no cluster.
fn has_catalog(files: &dyn Files, file: &Path) -> bool {
    let lists = [
        "os_images",
        "sylva_diskimagebuilder_images",
        "diskimage_builder_os_images",
    ];
    let tree = read_tree(files, file).filter(|tree| tree.get_path(&["cluster"]).is_none());
    tree.is_some_and(|tree| lists.iter().any(|list| tree.get_path(&[list]).is_some()))
}

fn read_tree(files: &dyn Files, file: &Path) -> Option<Node> {
    let bytes = files.read_file(file).ok()?;
    let text = yaml_tree::decode(&bytes, Engine::Helm3).unwrap_or_default();
    yaml_tree::values(&text, FileId(0), Engine::Helm3).ok()
}

/// The groups of Cluster API's objects, and of those that deploy them and may change them on the way.
const GROUPS: [&str; 5] = [
    "cluster.x-k8s.io/",
    "anywhere.eks.amazonaws.com/",
    "toolkit.fluxcd.io/",
    "argoproj.io/",
    "kustomize.config.k8s.io/",
];

/// The manifests of Cluster API and of what deploys them, and those with machine templates; none where there is no machine template.
fn manifests(files: &dyn Files) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
    let (mut all, mut templates) = (Vec::new(), Vec::new());
    for file in patterns::yaml_files(files)?.into_iter().take(LOOKED_INTO) {
        let text = String::from_utf8_lossy(&files.read_file(&file)?).into_owned();
        let value = |line: &str, key: &str| {
            let line = line.trim_start().trim_start_matches("- ");
            let value = line.strip_prefix(key)?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        };
        let has = |key: &str, fits: &dyn Fn(&str) -> bool| {
            let mut values = text.lines().filter_map(|line| value(line, key));
            values.any(|value| fits(&value))
        };
        // A definition names the kind that it defines, and is no object of it.
        let is_meant = |version: &str| GROUPS.iter().any(|group| version.contains(group));
        if !has("apiVersion:", &is_meant) && !is_kustomization(&file) {
            continue;
        }
        if has("kind:", &|kind| kind.ends_with("MachineTemplate")) {
            templates.push(file.clone());
        }
        all.push(file);
    }
    if templates.is_empty() {
        Ok((Vec::new(), templates))
    } else {
        Ok((all, templates))
    }
}
