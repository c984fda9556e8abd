//! Inserts new entries into the catalog, each after an entry of its line.

use std::sync::Arc;

use yaml_tree::edit::{Edit, Position, Step, Target};
use yaml_tree::place::{FileId, Source, Spot};
use yaml_tree::value::{Map, Value};

use crate::catalog::offers::Added;
use crate::error::Error;
use crate::model::catalog::ReadCatalog;
use crate::read::Workspace;

/// The builder's list, by the names that it has in values.
const LISTS: [&str; 2] = [
    "sylva_diskimagebuilder_images",
    "diskimage_builder_os_images",
];

/// Properties that switch a single image on; a new entry does not inherit them.
const SWITCHES: [&str; 2] = ["enabled", "default_enabled"];

/// A new entry after an entry of its line, with the same properties.
pub(super) fn insert(
    workspace: &Workspace,
    listed: &[(Arc<str>, Spot)],
    catalogs: &[ReadCatalog],
    added: &Added,
) -> Result<(Arc<Source>, Edit), Error> {
    let behind = added.behind.as_deref();
    let sibling = behind.and_then(|name| listed.iter().find(|(listed, _)| **listed == *name));
    let (source, list, value, position) = match sibling {
        Some((name, spot)) => {
            let (list, value) = find_entry(workspace, &spot.source, name)?;
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
pub(super) fn find_entry(
    workspace: &Workspace,
    source: &Source,
    name: &str,
) -> Result<(&'static str, Value), Error> {
    let values = yaml_tree::values(&source.text, FileId(0), workspace.engine);
    let found = values.ok().and_then(|values| {
        LISTS.iter().find_map(|list| {
            let entry = values.get_path(&[list, name])?;
            Some((*list, entry.value.clone()))
        })
    });
    let (list, value) = found.ok_or_else(|| {
        Error::usage(format!(
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

/// The list of a catalog without entries: beside the version.
fn empty_list(
    workspace: &Workspace,
    catalogs: &[ReadCatalog],
) -> Result<(Arc<Source>, &'static str), Error> {
    let found = catalogs.iter().find_map(|read| {
        let place = read.catalog.version.as_ref()?.place;
        let source = Arc::clone(read.sources.get(place.file)?);
        let values = yaml_tree::values(&source.text, FileId(0), workspace.engine).ok()?;
        let list = LISTS
            .iter()
            .find(|list| values.get_path(&[list]).is_some())?;
        Some((source, *list))
    });
    found.ok_or_else(|| {
        Error::usage(format!(
            "the values have no catalog to list images in\nhelp: add `{}: {{}}` beside the version",
            LISTS[0]
        ))
    })
}
