//! The edits of the values that bring version and catalogue to what is offered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::Error;
use crate::model::catalogue::{Catalogue, CatalogueEntry};
use crate::model::fix::Fix;
use crate::model::place::{FileId, Located, Source, Sources, Spot};
use crate::model::value::{Map, Value};
use crate::read::Workspace;
use crate::resolve;
use crate::update::{Added, Drift, Offer, drift, moves, replacements};
use crate::yaml;
use crate::yaml::edit::{Edit, Position, Step, Target};

use super::aim::Aim;
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
    /// What it does to the catalogue.
    pub(super) drift: Drift,
    /// Where the version is written that is raised, or that was raised before.
    pub(super) versions: Vec<Spot>,
    /// The files that change, each with its new text.
    pub(super) files: Vec<(Arc<Source>, String)>,
}

impl Change {
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
pub(super) fn version(catalogues: &[(Arc<Catalogue>, Sources)]) -> Option<String> {
    let mut versions = catalogues.iter().filter_map(|(catalogue, _)| {
        let version = catalogue.version.as_ref()?;
        Some(version.value.to_string())
    });
    versions.next()
}

/// Whether the values name that version anywhere: as the builder's, or as a registry's own.
pub(super) fn names(catalogues: &[(Arc<Catalogue>, Sources)], version: &str) -> bool {
    catalogues.iter().any(|(catalogue, _)| {
        let tags = catalogue.registries.values();
        let tags = tags.filter_map(|registry| registry.tag.as_ref());
        let mut all = catalogue.version.iter().chain(tags);
        all.any(|found| &*found.value == version)
    })
}

/// The keys that the builder's lists hold, and the addresses below which their registries have the images of that version.
pub(super) fn sites(
    catalogues: &[(Arc<Catalogue>, Sources)],
    current: Option<&str>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut listed, mut sites) = (BTreeSet::new(), BTreeSet::new());
    for (catalogue, _) in catalogues {
        let entries = catalogue.entries.iter();
        for entry in entries.filter(|entry| entry.built) {
            listed.insert(entry.name.value.replace('.', "-"));
            if is_of_version(catalogue, entry, current) {
                sites.extend(resolve::registry_prefix(entry, catalogue));
            }
        }
    }
    (listed, sites)
}

/// The edits that are needed, made in memory.
pub(super) fn change(
    workspace: &Workspace,
    catalogues: &[(Arc<Catalogue>, Sources)],
    aim: &Aim,
    offer: &Offer,
    versions: Versions,
) -> Result<Change, Error> {
    let (from, version) = (aim.current.as_deref(), aim.to.as_str());
    let listed = listed(catalogues, from)?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &listed {
        if !names.contains(&&**name) {
            names.push(name);
        }
    }
    let drift = drift(&names, &offer.images);
    let mut files = Files::default();
    let spots = version_spots(catalogues, from);
    for spot in spots.iter().filter(|_| !aim.is_raised()) {
        let value = version.into();
        let at = target(spot);
        files.add(&spot.source, Edit::Set { at, value });
    }
    for (name, spot) in &listed {
        if let Some((_, new)) = drift.renamed.iter().find(|(old, _)| **old == **name) {
            let (at, key) = (target(spot), new.clone());
            files.add(&spot.source, Edit::Rename { at, key });
        } else if drift.removed.iter().any(|old| **old == **name) {
            files.add(&spot.source, Edit::Remove { at: target(spot) });
        }
    }
    for added in &drift.added {
        let (source, edit) = insert(workspace, &listed, catalogues, added)?;
        files.add(&source, edit);
    }
    if versions == Versions::Move {
        for source in files.sources() {
            for edit in version_map(workspace, &source, &drift) {
                files.add(&source, edit);
            }
        }
    }
    let files = files.edited(workspace)?;
    Ok(Change {
        drift,
        versions: spots,
        files,
    })
}

/// The builder's entries of the version that is updated, in the order of the files. One that an expression names cannot be
/// edited.
fn listed(
    catalogues: &[(Arc<Catalogue>, Sources)],
    from: Option<&str>,
) -> Result<Vec<(Arc<str>, Spot)>, Error> {
    let mut listed: Vec<(Arc<str>, Spot)> = Vec::new();
    for (catalogue, sources) in catalogues {
        for entry in &catalogue.entries {
            if !entry.built || !is_of_version(catalogue, entry, from) {
                continue;
            }
            let Some(spot) = sources.resolve(entry.name.place) else {
                continue;
            };
            if listed.iter().any(|(_, known)| *known == spot) {
                continue;
            }
            let name = &entry.name.value;
            if Fix::replace(Some(spot.clone()), name, "", "").is_none() {
                return Err(usage(format!(
                    "{spot}: the entry `{name}` of the catalogue is not written as such, and cannot be edited\n\
                     help: write its name, or bring the catalogue up to date by hand"
                )));
            }
            listed.push((Arc::clone(name), spot));
        }
    }
    Ok(listed)
}

/// Whether an entry's registry serves the version that is updated, rather than one of its own.
fn is_of_version(catalogue: &Catalogue, entry: &CatalogueEntry, from: Option<&str>) -> bool {
    let registry = entry.registry.as_ref();
    let registry = registry.and_then(|name| catalogue.registries.get(&name.value));
    let tag = registry.and_then(|registry| registry.tag.as_ref());
    match (tag, from) {
        (Some(tag), Some(from)) => &*tag.value == from,
        _ => true,
    }
}

/// Where the version is written: the builder's own line, and registries' tags that repeat it.
fn version_spots(catalogues: &[(Arc<Catalogue>, Sources)], from: Option<&str>) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    let Some(from) = from else {
        return spots;
    };
    for (catalogue, sources) in catalogues {
        let tags = catalogue.registries.values();
        let tags = tags.filter_map(|registry| registry.tag.as_ref());
        let own = |found: &&Located<Arc<str>>| &*found.value == from;
        for found in catalogue.version.iter().chain(tags).filter(own) {
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
    catalogues: &[(Arc<Catalogue>, Sources)],
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
            let (source, list) = empty_list(workspace, catalogues)?;
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
            "`{}` has the catalogue in a place that cannot be edited",
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

/// The list of a catalogue without entries: beside the version.
fn empty_list(
    workspace: &Workspace,
    catalogues: &[(Arc<Catalogue>, Sources)],
) -> Result<(Arc<Source>, &'static str), Error> {
    let found = catalogues.iter().find_map(|(catalogue, sources)| {
        let place = catalogue.version.as_ref()?.place;
        let source = Arc::clone(sources.get(place.file)?);
        let values = yaml::values(&source.text, FileId(0), workspace.engine).ok()?;
        let list = LISTS.iter().find(|list| values.at(&[list]).is_some())?;
        Some((source, *list))
    });
    found.ok_or_else(|| {
        usage(format!(
            "the values have no catalogue to list images in\nhelp: add `{}: {{}}` beside the version",
            LISTS[0]
        ))
    })
}

/// Edits by file.
#[derive(Default)]
struct Files(BTreeMap<Arc<str>, (Arc<Source>, Vec<Edit>)>);

impl Files {
    /// The files that have edits.
    fn sources(&self) -> Vec<Arc<Source>> {
        let files = self.0.values();
        files.map(|(source, _)| Arc::clone(source)).collect()
    }

    fn add(&mut self, source: &Arc<Source>, edit: Edit) {
        let file = self.0.entry(Arc::clone(&source.path));
        file.or_insert_with(|| (Arc::clone(source), Vec::new()))
            .1
            .push(edit);
    }

    /// The files' new texts.
    fn edited(self, workspace: &Workspace) -> Result<Vec<(Arc<Source>, String)>, Error> {
        let mut files = Vec::new();
        for (source, edits) in self.0.into_values() {
            let text = fix::edited(&source.text, workspace.engine, &edits)
                .map_err(|why| usage(format!("`{}` cannot be edited: {why}", source.path)))?;
            files.push((source, text));
        }
        Ok(files)
    }
}
