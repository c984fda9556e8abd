//! Environments, components and values files beside the listed ones that no cluster reads: without a word, nobody would miss them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Spot};
use yaml_tree::value::Node;

use crate::error::Error;
use crate::files::{Files, KUSTOMIZATIONS};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::read::gitops::{self, Discovered, Discovery, OwnOutput, resolve_path};

use super::clusters::{ClusterEntry, literal_prefix};
use super::files::display;
use super::project::ProjectFile;

/// How many others are named.
const SHOWN: usize = 3;

/// The usual name of a values file.
const VALUES: &str = "values.yaml";

/// The folders that are searched, and what is known there.
struct Search<'a> {
    tree: &'a dyn Files,
    /// The folders below which clusters are listed.
    tops: BTreeSet<PathBuf>,
    /// What clusters and others read.
    read: BTreeSet<PathBuf>,
}

/// What lies beside these clusters and is none.
pub(super) fn findings(
    tree: &dyn Files,
    file: &ProjectFile,
    entries: &[ClusterEntry],
    mut known: Discovery,
    own_output: &Arc<OwnOutput>,
) -> Result<Vec<Finding>, Error> {
    let layers = entries
        .iter()
        .flat_map(|entry| entry.layers.iter().cloned());
    let named = file.clusters.iter().flat_map(|source| &source.values);
    let shared = file.values.iter().chain(file.state.values()).chain(named);
    let read = layers.chain(shared.map(PathBuf::from));
    let mut search = Search {
        tree,
        tops: tops(file),
        read: read.collect(),
    };
    let deploying: BTreeSet<&PathBuf> = known.deploying.iter().map(|one| &one.path).collect();
    let single = search.read.iter().filter(|path| !deploying.contains(path));
    let single: Vec<PathBuf> = single
        .filter(|path| tree.is_folder(path))
        .cloned()
        .collect();
    if !single.is_empty() {
        known.add(gitops::discover(tree, single, own_output)?);
    }
    let environments = search.environments(&known, own_output)?;
    let components = search.components(&known, own_output)?;
    search.read.append(&mut known.files);
    let names = value_names(file, !known.deploying.is_empty());
    let values = search.values(&names, own_output)?;
    let found = [
        finding(
            &environments,
            (
                "no cluster reads",
                ", which deploys the chart of the listed clusters",
            ),
            LIST_CLUSTER,
        ),
        finding(
            &components,
            ("no environment lists the component", ""),
            "list it under `components` in the kustomization.yaml of each environment that it is for",
        ),
        finding(
            &values,
            ("no cluster reads", ", which has the key `cluster`"),
            LIST_CLUSTER,
        ),
    ];
    Ok(found.into_iter().flatten().collect())
}

const LIST_CLUSTER: &str =
    "name it below `clusters`, by itself or by a pattern: `**/` matches folders of any depth";

/// One finding, however many there are: who leaves clusters out on purpose leaves out many. What it says is before and after the first.
fn finding(paths: &[PathBuf], (before, after): (&str, &str), help: &str) -> Option<Finding> {
    let [first, others @ ..] = paths else {
        return None;
    };
    let first = display(first);
    let message = match others.len() {
        0 => format!("{before} `{first}`{after}"),
        more => format!("{before} `{first}`{after}, and {more} more"),
    };
    let next = others
        .iter()
        .take(SHOWN)
        .map(|path| format!("`{}`", display(path)));
    let next = next.collect::<Vec<_>>().join(", ");
    let finding = Finding::new(RuleId::ClusterUnlisted, message)
        .with_label(Some(Spot::from_path(&first)), "")
        .help(help);
    Some(match others.len() {
        0 => finding,
        1..=SHOWN => finding.help(format!("so is {next}")),
        _ => finding.help(format!("so are {next}, …")),
    })
}

/// The folders below which the project lists clusters: what its patterns leave open, and those beside folders that it names.
fn tops(file: &ProjectFile) -> BTreeSet<PathBuf> {
    let patterns = file
        .clusters
        .iter()
        .filter_map(|source| source.each.as_ref());
    let patterns = patterns.map(|pattern| literal_prefix(Path::new(pattern)));
    let single = file.clusters.iter().filter(|source| source.each.is_none());
    let single = single.flat_map(|source| &source.values);
    let above = single.filter_map(|path| {
        let path = Path::new(path);
        let path = if path.file_name() == Some(VALUES.as_ref()) {
            path.parent()?
        } else {
            path
        };
        path.parent().filter(|above| *above != Path::new(""))
    });
    patterns.chain(above.map(Path::to_owned)).collect()
}

/// How values files are called here: as the patterns say, or as usual beside folders and files that are named one by one.
fn value_names(file: &ProjectFile, has_folders: bool) -> BTreeSet<&str> {
    let mut single = file.clusters.iter().flat_map(|source| &source.values);
    let is_usual = has_folders || single.any(|path| Path::new(path).ends_with(VALUES));
    let patterns = file
        .clusters
        .iter()
        .filter_map(|source| source.each.as_ref());
    let names = patterns.filter_map(|pattern| pattern.rsplit('/').next());
    let fixed =
        names.filter(|name| !name.is_empty() && literal_prefix(Path::new(name)) == Path::new(name));
    fixed.chain(is_usual.then_some(VALUES)).collect()
}

impl Search<'_> {
    fn is_inside(&self, path: &Path) -> bool {
        self.tops.iter().any(|top| path.starts_with(top))
    }

    /// The folders that deploy a chart of the known ones, and that nothing reads.
    fn environments(
        &self,
        known: &Discovery,
        own_output: &Arc<OwnOutput>,
    ) -> Result<Vec<PathBuf>, Error> {
        let parts = known.deploying.iter().flat_map(|one| &one.parts);
        let listed = known.deploying.iter().map(|one| &one.path);
        let listed: BTreeSet<&PathBuf> = listed.chain(parts).collect();
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        let mut folders = gitops::kustomizations(self.tree);
        folders.retain(|folder| self.is_inside(folder) && !listed.contains(folder));
        if folders.is_empty() {
            return Ok(Vec::new());
        }
        let charts = known.deploying.iter().flat_map(|one| &one.charts);
        let charts: BTreeSet<&String> = charts.collect();
        let is_meant = |one: &Discovered| {
            one.releases == 1 && one.charts.iter().any(|chart| charts.contains(chart))
        };
        let mut found = gitops::discover(self.tree, folders, own_output)?.deploying;
        found.retain(is_meant);
        gitops::drop_parts(&mut found);
        Ok(found.into_iter().map(|one| one.path).collect())
    }

    /// The components that no kustomization lists, in the folder of the repository that the clusters are in.
    fn components(
        &self,
        known: &Discovery,
        own_output: &Arc<OwnOutput>,
    ) -> Result<Vec<PathBuf>, Error> {
        // Of one that does not build nobody knows what it lists.
        let built = known.deploying.iter().filter(|one| one.releases > 0);
        let listed = built.flat_map(|one| one.parts.iter().chain([&one.path]));
        let listed: BTreeSet<&PathBuf> = listed.collect();
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        let (mut found, mut named) = (Vec::new(), BTreeSet::new());
        let mut folders = gitops::kustomizations(self.tree);
        folders.retain(|folder| !listed.contains(folder));
        for folder in folders {
            let files = KUSTOMIZATIONS.iter().map(|name| folder.join(name));
            for file in files.filter(|file| self.tree.is_file(file)) {
                let Some(tree) = self.read_tree(&file) else {
                    continue;
                };
                let paths =
                    { tree.items(&["components"]).iter() }.filter_map(|item| item.text(&[]));
                named.extend(paths.filter_map(|path| resolve_path(&folder, path)));
                let is_own = tree.text(&["kind"]) == Some("Component") && self.is_beside(&folder);
                if is_own && !own_output.has(self.tree, &file)? {
                    found.push(folder.clone());
                }
            }
        }
        found.retain(|folder| !named.contains(folder));
        Ok(found)
    }

    /// Whether a path is in the folder of the repository that clusters are in.
    fn is_beside(&self, path: &Path) -> bool {
        let mut tops = self.tops.iter().map(|top| top.iter().next());
        tops.any(|top| top.is_none_or(|top| path.starts_with(top)))
    }

    /// The values files of clusters that nothing reads: those of charts and of what is built are others.
    fn values(
        &self,
        names: &BTreeSet<&str>,
        own_output: &Arc<OwnOutput>,
    ) -> Result<Vec<PathBuf>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = names.iter().copied().collect();
        let mut found = self.tree.paths_named(&names);
        found.retain(|path| {
            let is_new = self.is_inside(path) && !self.read.contains(path);
            is_new && !gitops::is_hidden(path) && !self.is_built(path) && self.has_cluster(path)
        });
        found.sort();
        let mut values = Vec::new();
        for path in found {
            if !own_output.has(self.tree, &path)? {
                values.push(path);
            }
        }
        Ok(values)
    }

    /// Whether a chart or a kustomization is beside a file.
    fn is_built(&self, file: &Path) -> bool {
        let folder = file.parent().unwrap_or(Path::new(""));
        let names = KUSTOMIZATIONS.iter().chain(&["Chart.yaml"]);
        let mut beside = names.map(|name| folder.join(name));
        beside.any(|file| self.tree.is_file(&file))
    }

    /// Whether a values file has a map `cluster`.
    fn has_cluster(&self, file: &Path) -> bool {
        let tree = self.read_tree(file);
        let cluster =
            tree.and_then(|tree| Some(tree.get_path(&["cluster"])?.value.as_map()?.is_empty()));
        cluster == Some(false)
    }

    fn read_tree(&self, file: &Path) -> Option<Node> {
        let bytes = self.tree.read_file(file).ok()?;
        let text = yaml_tree::decode(&bytes, Engine::Helm3).ok()?;
        yaml_tree::values(&text, FileId(0), Engine::Helm3).ok()
    }
}
