//! Which files hold patches of kustomizations. What is in them is no object: it refers to the one that it is applied to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files::Files;
use crate::model::place::Sources;
use crate::model::value::Node;
use crate::objects::ManifestObject;

use super::files::below;
use super::reader::Reader;
use super::{Options, kustomization};
use crate::read::error::ReadError;

/// The files of patches.
#[derive(Debug, Default)]
pub(in crate::read) struct Patches {
    files: BTreeSet<PathBuf>,
}

impl Patches {
    /// The patches of the kustomizations in these folders. A file that is a resource of one of them holds objects.
    ///
    /// # Errors
    /// A file exists and cannot be read.
    pub(in crate::read) fn read(
        tree: &dyn Files,
        folders: &BTreeSet<PathBuf>,
    ) -> Result<Self, Error> {
        let (options, mut sources) = (Options::default(), Sources::default());
        let mut reader = Reader::new(tree, &options, &mut sources);
        let (mut found, mut whole) = (Self::default(), BTreeSet::new());
        for folder in folders {
            let kustomization = match kustomization::find(&mut reader, folder) {
                Ok(Some(kustomization)) => kustomization,
                Err(ReadError::Error(error)) => return Err(error),
                // What is no kustomization is reported by what names it.
                Ok(None) | Err(ReadError::Finding(_)) => continue,
            };
            found.files.extend(files(folder, &kustomization));
            whole.extend(resources(folder, &kustomization));
        }
        found.files.retain(|file| !whole.contains(file));
        Ok(found)
    }

    /// Marks the objects that are patches.
    pub(in crate::read) fn mark(&self, objects: &mut [ManifestObject]) {
        for object in objects {
            let is_named = self.files.contains(Path::new(&*object.file().path));
            object.is_patch |= is_named && object.text.host.is_none() && object.is_outermost();
        }
    }
}

/// The files and folders that a kustomization takes objects from.
pub(super) fn resources(folder: &Path, kustomization: &Node) -> Vec<PathBuf> {
    let lists = ["resources", "bases", "components"];
    let items = lists.iter().flat_map(|key| kustomization.items(&[key]));
    let named = items.filter_map(|item| item.value.as_str());
    named.filter_map(|named| below(folder, named)).collect()
}

/// The files that a kustomization names as patches.
pub(super) fn files(folder: &Path, kustomization: &Node) -> Vec<PathBuf> {
    let whole = kustomization.items(&["patchesStrategicMerge"]).iter();
    let whole = whole.filter_map(|item| item.value.as_str().map(|named| &**named));
    let lists = ["patches", "patchesJson6902"];
    let items = lists.iter().flat_map(|key| kustomization.items(&[key]));
    let named = whole.chain(items.filter_map(|item| item.text(&["path"])));
    named.filter_map(|named| below(folder, named)).collect()
}
