//! Lists the clusters of the project, and checks that their names are legal and unique.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yaml_tree::place::Spot;

use crate::error::Error;
use crate::files::Files;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::clusters::{self, ClusterEntry, Matching};
use super::error::{ReadError, catch_finding};
use super::files;
use super::layers;
use super::places::Places;
use super::project::{ClusterSource, ProjectFile};
use super::unknown::suggestion;
use super::unlisted;
use crate::read::gitops::{Discovery, OwnOutput};
use crate::render::ClusterNames;

/// The clusters that are listed.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) entries: Vec<ClusterEntry>,
    /// The files that are left out, for they say that they are rendered.
    pub(super) omissions: BTreeSet<PathBuf>,
    /// The files that a slip in their names keeps from being clusters, each with the pattern that misses it.
    near: BTreeMap<PathBuf, String>,
    /// What the patterns of folders discovered.
    discovery: Discovery,
}

/// The clusters of the flags, else of the project file, in order; those of one pattern by name.
pub(super) fn entries(
    tree: &dyn Files,
    file: &ProjectFile,
    flags: &[String],
    places: &Places<'_>,
    own_output: &Arc<OwnOutput>,
    findings: &mut Vec<Finding>,
) -> Result<Listed, Error> {
    let typed = flags.iter().map(|pattern| ClusterSource {
        each: Some(pattern.clone()),
        ..ClusterSource::default()
    });
    let sources: Vec<ClusterSource> = if flags.is_empty() {
        file.clusters.clone()
    } else {
        typed.collect()
    };
    let (mut listed, mut spots) = (Listed::default(), Vec::new());
    for (index, source) in sources.iter().enumerate() {
        let spot = match flags {
            [] => places.item(&["clusters"], index),
            _ => None,
        };
        let added = add_source(tree, source, own_output, &mut listed, findings);
        if let Err(finding) = catch_finding(added)? {
            findings.push(finding.with_label(spot.clone(), ""));
        }
        spots.resize(listed.entries.len(), spot);
    }
    findings.extend(duplicate_names(&listed.entries, &spots));
    findings.extend(illegal_names(&mut listed.entries, &spots));
    findings.extend(missing_management(&listed.entries));
    findings.extend(near_misses(&listed));
    if flags.is_empty() {
        findings.extend(unlisted::findings(
            tree,
            file,
            &listed.entries,
            listed.discovery.clone(),
            own_output,
        )?);
    }
    Ok(listed)
}

/// Adds the clusters of one entry.
fn add_source(
    tree: &dyn Files,
    source: &ClusterSource,
    own_output: &Arc<OwnOutput>,
    listed: &mut Listed,
    findings: &mut Vec<Finding>,
) -> Result<(), ReadError> {
    let Listed {
        entries,
        omissions,
        near,
        discovery,
    } = listed;
    let paths = || source.values.iter().map(PathBuf::from);
    match (&source.name, &source.each) {
        (Some(name), None) => {
            for path in paths() {
                require_path(tree, &path)?;
            }
            entries.push(entry(name, source, paths().collect()));
        }
        (template, Some(pattern)) => {
            let matching = clusters::matches(tree, pattern, own_output)?;
            let Matching { files, own, .. } = matching;
            discovery.add(matching.discovery);
            findings.extend(own.iter().map(|file| layers::omission(file, "clusters")));
            omissions.extend(own);
            near.extend(
                matching
                    .near
                    .into_iter()
                    .map(|file| (file, pattern.clone())),
            );
            if files.is_empty() {
                let message = format!("`{pattern}` matches no file");
                let help = "a pattern names values files, such as `clusters/*/values.yaml`";
                return Err(Finding::new(RuleId::ProjectFile, message).help(help).into());
            }
            let names = match template {
                None => clusters::names(pattern, &files),
                Some(template) => cluster_names(template, &files, pattern.ends_with('/'))?,
            };
            let each = names.into_iter().zip(files);
            entries.extend(
                each.map(|(name, file)| entry(&name, source, paths().chain([file]).collect())),
            );
        }
        (None, None) => {
            let message = "a cluster has either `name` and `values`, or `each`";
            let help = "write `{name: …, values: […]}`, or `{each: clusters/*/values.yaml}`";
            return Err(Finding::new(RuleId::ProjectFile, message).help(help).into());
        }
    }
    Ok(())
}

/// That something is at a path of the project file. What git has not checked out, and a link that leads nowhere, say so themselves.
pub(super) fn require_path(tree: &dyn Files, path: &Path) -> Result<(), Box<Finding>> {
    let is_missing = |error: Error| matches!(error, Error::Read { cause, .. } if cause.kind() == ErrorKind::NotFound);
    if tree.is_there(path) || !tree.content(path).err().is_some_and(is_missing) {
        return Ok(());
    }
    let help = files::nearest_path(tree, path).map_or_else(
        || "paths start at the folder of the project file".to_owned(),
        |near| format!("did you mean `{}`?", files::display(&near)),
    );
    let message = format!("there is no `{}`", files::display(path));
    Err(Box::new(
        Finding::new(RuleId::ProjectFile, message).help(help),
    ))
}

/// A cluster whose file has another ending than its neighbors' would be nobody's, and what was rendered of it would be deleted.
fn near_misses(listed: &Listed) -> Vec<Finding> {
    if listed.near.is_empty() {
        return Vec::new();
    }
    let read = listed.entries.iter().flat_map(|entry| &entry.layers);
    let read: HashSet<&PathBuf> = read.collect();
    let near = listed.near.iter().filter(|(file, _)| !read.contains(file));
    let finding = |(file, pattern): (&PathBuf, &String)| {
        let file = files::display(file);
        let message = format!("no cluster reads `{file}`: `{pattern}` does not match it");
        Finding::new(RuleId::ProjectFile, message)
            .help("rename it if it holds a cluster's values, or name it below `clusters`")
            .with_label(Some(Spot::from_path(&file)), "")
            .unless_set(Level::Warning)
    };
    near.map(finding).collect()
}

/// The names that a template gives the clusters of a pattern.
fn cluster_names(
    template: &str,
    files: &[PathBuf],
    is_folder: bool,
) -> Result<Vec<String>, Box<Finding>> {
    let names = ClusterNames::new(template)?;
    files
        .iter()
        .map(|file| names.name_of(file, is_folder))
        .collect()
}

/// Names that several clusters have.
fn duplicate_names(entries: &[ClusterEntry], spots: &[Option<Spot>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for found in clusters::doubles(entries) {
        let name = &entries[found[0]].name;
        let message = format!("{} clusters have the name `{name}`", found.len());
        let mut finding = Finding::new(RuleId::ProjectFile, message);
        let mut reported: Vec<&Spot> = Vec::new();
        for spot in found.iter().filter_map(|index| spots[*index].as_ref()) {
            if reported.iter().all(|known| known.start != spot.start) {
                finding = finding.with_label(Some(spot.clone()), "");
                reported.push(spot);
            }
        }
        let files = found
            .iter()
            .filter_map(|index| entries[*index].layers.last());
        let files: Vec<String> = files
            .map(|file| format!("`{}`", files::display(file)))
            .collect();
        let help = format!(
            "give each its own `name`; beside `each` it may be a template, such as `{{{{ path.segments[1] }}}}-{{{{ path.basename }}}}`: {}",
            files.join(", ")
        );
        findings.push(finding.help(help));
    }
    findings
}

/// Clusters whose names name no file, which are left out.
fn illegal_names(entries: &mut Vec<ClusterEntry>, spots: &[Option<Spot>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut spots = spots.iter();
    entries.retain(|entry| {
        let spot = spots.next().cloned().flatten();
        let Some(fault) = clusters::name_fault(&entry.name) else {
            return true;
        };
        let message = format!("the cluster name `{}` {fault}", entry.name.escape_debug());
        let finding = Finding::new(RuleId::ProjectFile, message).with_label(spot, "");
        findings
            .push(finding.help("a name of letters, digits and `-` serves files and objects alike"));
        false
    });
    findings
}

/// Nothing is checked, which does not mean that nothing is wrong. A warning, for the commands that are no gates.
pub(super) fn no_cluster(places: &Places<'_>) -> Finding {
    Finding::new(RuleId::NothingChecked, "there are no clusters, so nothing is checked")
        .with_label(places.spot(&["clusters"]), "")
        .help("name their values files: `--clusters 'clusters/*/values.yaml'`, or `clusters: [{each: clusters/*/values.yaml}]` in metalmark.yaml")
        .unless_set(Level::Warning)
}

fn entry(name: &str, source: &ClusterSource, layers: Vec<PathBuf>) -> ClusterEntry {
    let given = |text: &Option<String>| text.as_deref().map(Arc::from);
    ClusterEntry {
        name: name.into(),
        namespace: given(&source.namespace),
        layers,
        release: given(&source.release),
        management: given(&source.management),
    }
}

/// What is wrong with the management clusters that entries name.
fn missing_management(entries: &[ClusterEntry]) -> Vec<Finding> {
    let names: BTreeSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
    let named: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| entry.management.as_deref())
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    let unknown = named.into_iter().filter(|name| !names.contains(name));
    unknown
        .map(|name| {
            let message = format!("there is no cluster `{name}` to be the management cluster");
            let help = suggestion(name, &names, "`management` names a cluster of this project");
            Finding::new(RuleId::ProjectFile, message).help(help)
        })
        .collect()
}
