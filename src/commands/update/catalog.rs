//! The edits of the values that bring version and catalog to what is offered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::offers::{Added, Drift, Offer, drift, moves, replacements};
use crate::catalog::resolve;
use crate::error::Error;
use crate::model::catalog::{Catalog, CatalogEntry};
use crate::model::fix::Fix;
use crate::model::place::{FileId, Located, Source, Sources, Spot};
use crate::model::value::{Map, Value};
use crate::read::Workspace;
use crate::yaml;
use crate::yaml::edit::{Edit, Position, Step, Target};

use super::aim::Aim;
use super::fleet::{self, Tools};
use super::{fix, usage};

/// The builder's list, by the names that it has in values.
const LISTS: [&str; 2] = [
    "sylva_diskimagebuilder_images",
    "diskimage_builder_os_images",
];

/// Where values keep the Kubernetes version of each minor version.
const VERSION_MAPS: [&[&str]; 2] = [&["k8s_version_map"], &["_internal", "k8s_version_map"]];

/// Properties that switch a single image on; a new entry does not inherit them.
const SWITCHES: [&str; 2] = ["enabled", "default_enabled"];

/// What an update does to the files.
pub(super) struct Change {
    /// What it does to the catalog.
    pub(super) drift: Drift,
    /// Where the version is written that is raised, or that was raised before.
    pub(super) versions: Vec<Spot>,
    /// The entries that an expression names, each with its key and place: they are left as they are.
    pub(super) computed: Vec<(String, Spot)>,
    /// The files that change, each with its new text.
    pub(super) files: Vec<(Arc<Source>, String)>,
}

impl Change {
    /// Whether it adds an entry of one of these keys.
    pub(super) fn adds(&self, keys: &BTreeSet<String>) -> bool {
        let mut added = self.drift.added.iter();
        added.any(|added| keys.contains(&added.name.replace('.', "-")))
    }

    /// Whether no file changes.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Whether the map of Kubernetes versions moves with the images.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Versions {
    Move,
    Keep,
}

/// The version that the values name.
pub(super) fn version(catalogs: &[(Arc<Catalog>, Sources)]) -> Option<String> {
    let mut versions = catalogs.iter().filter_map(|(catalog, _)| {
        let version = catalog.version.as_ref()?;
        Some(version.value.to_string())
    });
    versions.next()
}

/// Whether the values name that version anywhere: as the builder's, or as a registry's own.
pub(super) fn names(catalogs: &[(Arc<Catalog>, Sources)], version: &str) -> bool {
    catalogs.iter().any(|(catalog, _)| {
        let tags = catalog.registries.values();
        let tags = tags.filter_map(|registry| registry.tag.as_ref());
        let mut all = catalog.version.iter().chain(tags);
        all.any(|found| &*found.value == version)
    })
}

/// The keys that the builder's lists hold, and the addresses below which their registries have the images of that version.
pub(super) fn sites(
    catalogs: &[(Arc<Catalog>, Sources)],
    current: Option<&str>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut listed, mut sites) = (BTreeSet::new(), BTreeSet::new());
    for (catalog, _) in catalogs {
        let entries = catalog.entries.iter();
        for entry in entries.filter(|entry| entry.built) {
            listed.insert(entry.name.value.replace('.', "-"));
            if is_of_version(catalog, entry, current) {
                sites.extend(resolve::registry_prefix(entry, catalog));
            }
        }
    }
    (listed, sites)
}

/// The edits that are needed, made in memory. `untouched` are images that entries named by expressions will be, besides
/// those that they are now.
pub(super) fn change(
    (workspace, tools): (&Workspace, &Tools),
    catalogs: &[(Arc<Catalog>, Sources)],
    aim: &Aim,
    offer: &Offer,
    versions: Versions,
    untouched: &BTreeSet<String>,
) -> Result<Change, Error> {
    let (from, version) = (aim.current.as_deref(), aim.to.as_str());
    let Listed { entries, computed } = listed(catalogs, from);
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &entries {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let mut untouched = untouched.clone();
    untouched.extend(computed.iter().map(|(key, _)| key.clone()));
    let drift = drift(&names, &untouched, offer);
    let mut files = Files::default();
    let spots = version_spots(catalogs, from);
    for spot in spots.iter().filter(|_| !aim.is_raised()) {
        let value = version.into();
        let at = target(spot);
        files.add(&spot.source, Edit::Set { at, value });
    }
    for (name, spot) in &entries {
        if let Some((_, new)) = drift.renamed.iter().find(|(old, _)| **old == **name) {
            let (at, key) = (target(spot), new.clone());
            files.add(&spot.source, Edit::Rename { at, key });
        } else if drift.removed.iter().any(|old| **old == **name) {
            match beside(workspace, &spot.source, name) {
                Ok((list, _)) => {
                    let at = Target::keys(&[list, name]);
                    files.remove(&spot.source, Edit::Remove { at });
                }
                Err(_) => files.add(&spot.source, Edit::Remove { at: target(spot) }),
            }
        }
    }
    for added in &drift.added {
        let (source, edit) = insert(workspace, &entries, catalogs, added)?;
        files.add(&source, edit);
    }
    if versions == Versions::Move {
        for source in files.sources() {
            for edit in version_map(workspace, &source, &drift) {
                files.add(&source, edit);
            }
        }
        for (spot, from, to) in cluster_versions(workspace, tools, &drift)? {
            let at = target(&spot);
            files.add(&spot.source, Edit::Replace { at, from, to });
        }
    }
    let files = files.edited(workspace)?;
    Ok(Change {
        drift,
        versions: spots,
        computed,
        files,
    })
}

/// The builder's entries of the version that is updated.
struct Listed {
    /// Those that a file names, in the order of the files.
    entries: Vec<(Arc<str>, Spot)>,
    /// The keys of those that an expression or a secret names, which are not edited.
    computed: Vec<(String, Spot)>,
}

fn listed(catalogs: &[(Arc<Catalog>, Sources)], from: Option<&str>) -> Listed {
    let mut listed = Listed {
        entries: Vec::new(),
        computed: Vec::new(),
    };
    for (catalog, sources) in catalogs {
        for entry in &catalog.entries {
            if !entry.built || !is_of_version(catalog, entry, from) {
                continue;
            }
            let Some(spot) = sources.resolve(entry.name.place) else {
                continue;
            };
            let name = &entry.name.value;
            if Fix::replace(Some(spot.clone()), name, "", "").is_none() {
                let computed = (name.replace('.', "-"), spot);
                if !listed.computed.contains(&computed) {
                    listed.computed.push(computed);
                }
            } else if listed.entries.iter().all(|(_, known)| *known != spot) {
                listed.entries.push((Arc::clone(name), spot));
            }
        }
    }
    listed
}

/// The keys of the entries that expressions name.
pub(super) fn computed(
    catalogs: &[(Arc<Catalog>, Sources)],
    from: Option<&str>,
) -> BTreeSet<String> {
    let computed = listed(catalogs, from).computed.into_iter();
    computed.map(|(key, _)| key).collect()
}

/// The Kubernetes versions that clusters and pools write themselves and that entries of their distribution moved away from:
/// where, the text there and the new one.
fn cluster_versions(
    workspace: &Workspace,
    tools: &Tools,
    drift: &Drift,
) -> Result<Vec<(Spot, String, String)>, Error> {
    let moves = moves(drift);
    let survey = fleet::survey(workspace, tools, |view, _| {
        let cluster = &view.cluster;
        let own = cluster
            .pools
            .iter()
            .filter_map(|pool| cluster.k8s_version_of(pool));
        let mut found = Vec::new();
        for version in cluster.k8s_version.iter().chain(own) {
            let spot = view.sources.resolve(version.place);
            let written = Fix::replace(spot, &version.value, "", "");
            let replacements = replacements(&version.value, &moves).into_iter();
            if let (Some(fix), Some((from, to))) = (written, replacements.last()) {
                found.push((fix.spot, from, to));
            }
        }
        Ok((found, Vec::new()))
    })?;
    let mut all: Vec<(Spot, String, String)> = Vec::new();
    for found in survey.results.into_iter().flatten() {
        if all.iter().all(|(spot, ..)| *spot != found.0) {
            all.push(found);
        }
    }
    Ok(all)
}

/// Whether an entry's registry serves the version that is updated, rather than one of its own.
fn is_of_version(catalog: &Catalog, entry: &CatalogEntry, from: Option<&str>) -> bool {
    let registry = entry.registry.as_ref();
    let registry = registry.and_then(|name| catalog.registries.get(&name.value));
    let tag = registry.and_then(|registry| registry.tag.as_ref());
    match (tag, from) {
        (Some(tag), Some(from)) => &*tag.value == from,
        _ => true,
    }
}

/// Where the version is written: the builder's own line, and registries' tags that repeat it.
fn version_spots(catalogs: &[(Arc<Catalog>, Sources)], from: Option<&str>) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let Some(from) = from else {
        return spots;
    };
    for (catalog, sources) in catalogs {
        let tags = catalog.registries.values();
        let tags = tags.filter_map(|registry| registry.tag.as_ref());
        let own = |found: &&Located<Arc<str>>| &*found.value == from;
        for found in catalog.version.iter().chain(tags).filter(own) {
            let fix = Fix::replace(sources.resolve(found.place), from, "", "");
            if let Some(fix) = fix.filter(|fix| !spots.contains(&fix.spot)) {
                spots.push(fix.spot);
            }
        }
    }
    spots
}

fn target(spot: &Spot) -> Target {
    Target::Place(spot.start as usize..spot.end as usize)
}

/// A new entry behind one of its line, with that one's properties.
fn insert(
    workspace: &Workspace,
    listed: &[(Arc<str>, Spot)],
    catalogs: &[(Arc<Catalog>, Sources)],
    added: &Added,
) -> Result<(Arc<Source>, Edit), Error> {
    let behind = added.behind.as_deref();
    let sibling = behind.and_then(|name| listed.iter().find(|(listed, _)| **listed == *name));
    let (source, list, value, position) = match sibling {
        Some((name, spot)) => {
            let (list, value) = beside(workspace, &spot.source, name)?;
            let position = Position::After(Step::from(&**name));
            (Arc::clone(&spot.source), list, value, position)
        }
        None => {
            let (source, list) = empty_list(workspace, catalogs)?;
            (source, list, Value::empty_map(), Position::Last)
        }
    };
    let map = Target::keys(&[list]);
    let key = added.name.clone();
    Ok((
        source,
        Edit::Insert {
            map,
            key,
            value,
            position,
        },
    ))
}

/// The list that a file has an entry in, and the properties of that entry.
fn beside(
    workspace: &Workspace,
    source: &Source,
    name: &str,
) -> Result<(&'static str, Value), Error> {
    let values = yaml::values(&source.text, FileId(0), workspace.engine);
    let found = values.ok().and_then(|values| {
        LISTS.iter().find_map(|list| {
            let entry = values.at(&[list, name])?;
            Some((*list, entry.value.clone()))
        })
    });
    let (list, value) = found.ok_or_else(|| {
        usage(format!(
            "`{}` has the catalog in a place that cannot be edited",
            source.path
        ))
    })?;
    let value = match value {
        Value::Map(map) => {
            let kept = map
                .iter()
                .filter(|entry| !SWITCHES.contains(&&*entry.key))
                .cloned();
            Value::from(kept.collect::<Map>())
        }
        _ => Value::empty_map(),
    };
    Ok((list, value))
}

/// The edits of a file's map of Kubernetes versions: where an entry moved to a newer patch, so does the version.
fn version_map(workspace: &Workspace, source: &Source, drift: &Drift) -> Vec<Edit> {
    let Ok(values) = yaml::values(&source.text, FileId(0), workspace.engine) else {
        return Vec::new();
    };
    let moves = moves(drift);
    let mut edits = Vec::new();
    for path in VERSION_MAPS {
        let map = values.at(path).and_then(|node| node.value.as_map());
        for entry in map.into_iter().flat_map(|map| map.iter()) {
            let Some(text) = entry.node.value.as_str() else {
                continue;
            };
            let place = entry.node.place;
            for (from, to) in replacements(text, &moves) {
                let at = Target::Place(place.start as usize..place.end as usize);
                edits.push(Edit::Replace { at, from, to });
            }
        }
    }
    edits
}

/// The list of a catalog without entries: beside the version.
fn empty_list(
    workspace: &Workspace,
    catalogs: &[(Arc<Catalog>, Sources)],
) -> Result<(Arc<Source>, &'static str), Error> {
    let found = catalogs.iter().find_map(|(catalog, sources)| {
        let place = catalog.version.as_ref()?.place;
        let source = Arc::clone(sources.get(place.file)?);
        let values = yaml::values(&source.text, FileId(0), workspace.engine).ok()?;
        let list = LISTS.iter().find(|list| values.at(&[list]).is_some())?;
        Some((source, *list))
    });
    found.ok_or_else(|| {
        usage(format!(
            "the values have no catalog to list images in\nhelp: add `{}: {{}}` beside the version",
            LISTS[0]
        ))
    })
}

/// Edits by file.
#[derive(Default)]
struct Files(BTreeMap<Arc<str>, FileEdits>);

/// The edits of one file. Entries are removed last, for a new entry may be written behind one that goes.
struct FileEdits {
    source: Arc<Source>,
    edits: Vec<Edit>,
    removals: Vec<Edit>,
}

impl Files {
    /// The files that have edits.
    fn sources(&self) -> Vec<Arc<Source>> {
        let files = self.0.values();
        files.map(|file| Arc::clone(&file.source)).collect()
    }

    fn of(&mut self, source: &Arc<Source>) -> &mut FileEdits {
        let file = self.0.entry(Arc::clone(&source.path));
        file.or_insert_with(|| FileEdits {
            source: Arc::clone(source),
            edits: Vec::new(),
            removals: Vec::new(),
        })
    }

    fn add(&mut self, source: &Arc<Source>, edit: Edit) {
        self.of(source).edits.push(edit);
    }

    fn remove(&mut self, source: &Arc<Source>, edit: Edit) {
        self.of(source).removals.push(edit);
    }

    /// The files' new texts.
    fn edited(self, workspace: &Workspace) -> Result<Vec<(Arc<Source>, String)>, Error> {
        let mut files = Vec::new();
        for file in self.0.into_values() {
            let engine = workspace.engine;
            let text = fix::edited(&file.source.text, engine, &file.edits)
                .and_then(|text| fix::edited(&text, engine, &file.removals))
                .map_err(|why| usage(format!("`{}` cannot be edited: {why}", file.source.path)))?;
            files.push((file.source, text));
        }
        Ok(files)
    }
}
