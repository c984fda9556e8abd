//! The patches of kustomizations, as far as they say how objects are to be read where they are not built: which files are patches
//! themselves, and which objects get another name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use capi::objects::ManifestObject;
use yaml_tree::place::Sources;
use yaml_tree::value::{Entry, Map, Node};

use crate::error::Error;
use crate::files::Files;

use super::files::resolve_path;
use super::object::Object;
use super::patch;
use super::reader::LayerReader;
use super::selector::Selector;
use super::{FLUX, Options, kustomization};
use crate::read::error::catch_finding;

/// The patches of a repository.
#[derive(Default)]
pub(in crate::read) struct Patches {
    files: BTreeSet<PathBuf>,
    /// The files and folders that kustomizations take objects from.
    pub(in crate::read) resources: BTreeSet<PathBuf>,
    /// The objects that get another name.
    renamed: Vec<Selector>,
    /// The names that operations write into references.
    named: BTreeSet<String>,
}

impl Patches {
    /// The patches of the kustomizations in these folders, and of Flux's. A file that is a resource of one of them holds objects.
    ///
    /// # Errors
    /// A file exists and cannot be read.
    pub(in crate::read) fn read(
        tree: &dyn Files,
        folders: &BTreeSet<PathBuf>,
        objects: &[ManifestObject],
    ) -> Result<Self, Error> {
        let (options, mut sources) = (Options::default(), Sources::default());
        let mut reader = LayerReader::new(tree, &options, &mut sources);
        let mut found = Self::default();
        for folder in folders {
            // What is no kustomization is reported by what names it.
            let read = catch_finding(kustomization::find(&mut reader, folder))?;
            let Ok(Some(kustomization)) = read else {
                continue;
            };
            found.add_names(&mut reader, folder, &kustomization)?;
            found
                .files
                .extend(files(&mut reader, folder, &kustomization)?);
            found.resources.extend(resources(folder, &kustomization));
        }
        let of_flux = |object: &&ManifestObject| object.group() == FLUX;
        for flux in objects.iter().filter(of_flux) {
            let flux = flux.adopt_node(&flux.node, reader.sources);
            if let Some(spec) = flux.get_path(&["spec"]) {
                found.add_names(&mut reader, Path::new(""), spec)?;
            }
        }
        found.files.retain(|file| !found.resources.contains(file));
        Ok(found)
    }

    /// Marks the objects that are patches, those that get another name, and those that are named by no more than it.
    pub(in crate::read) fn mark(&self, objects: &mut [ManifestObject]) {
        for object in objects {
            let is_named = self.files.contains(Path::new(&*object.file().path));
            object.is_patch |= is_named && object.text.host.is_none() && object.is_outermost();
            object.is_named_alone = self.named.contains(&*object.name);
            object.is_renamed = !self.renamed.is_empty() && {
                let built = Object::new(object.node.clone());
                self.renamed.iter().any(|selector| selector.selects(&built))
            };
        }
    }

    /// Adds what patches and replacements of a kustomization give another name, and the names that they write.
    fn add_names(
        &mut self,
        reader: &mut LayerReader<'_>,
        folder: &Path,
        kustomization: &Node,
    ) -> Result<(), Error> {
        let mut targets = Vec::new();
        let lists = ["patches", "patchesJson6902"];
        for patch in lists.iter().flat_map(|key| kustomization.items(&[key])) {
            // What is no patch is reported where it is applied.
            let Ok(documents) = catch_finding(patch::documents(reader, folder, patch))? else {
                continue;
            };
            let mut is_renaming = patch.flag(&["options", "allowNameChange"]);
            for operation in documents.iter().flat_map(|document| document.items(&[])) {
                match operation.text(&["path"]) {
                    Some("/metadata/name") => is_renaming = true,
                    Some(path) if is_name_of_reference(path) => {
                        let name = operation.text(&["value"]);
                        self.named.extend(name.map(str::to_owned));
                    }
                    _ => {}
                }
            }
            targets.extend(patch.get_path(&["target"]).filter(|_| is_renaming));
        }
        let replacements = kustomization.items(&["replacements"]).iter();
        for target in replacements.flat_map(|replacement| replacement.items(&["targets"])) {
            let mut fields = target.items(&["fieldPaths"]).iter();
            let is_renaming = fields.any(|field| field.text(&[]) == Some("metadata.name"));
            targets.extend(target.get_path(&["select"]).filter(|_| is_renaming));
        }
        let kept = |target: &Node| {
            // Namespaces and labels may be given by a kustomization too.
            let fields = ["group", "kind", "name"].into_iter();
            let fields =
                fields.filter_map(|field| Some(Entry::from_value(field, target.text(&[field])?)));
            Selector::new(&Node::from_value(Map::from_iter(fields))).ok()
        };
        self.renamed.extend(targets.into_iter().filter_map(kept));
        Ok(())
    }
}

/// Whether a JSON pointer is that of the name in a reference.
fn is_name_of_reference(pointer: &str) -> bool {
    let reference = pointer.strip_suffix("/name").unwrap_or_default();
    ["Ref", "/ref", "Template"]
        .iter()
        .any(|end| reference.ends_with(end))
}

/// The files and folders that a kustomization takes objects from.
pub(super) fn resources(folder: &Path, kustomization: &Node) -> Vec<PathBuf> {
    let lists = ["resources", "bases", "components"];
    let items = lists.iter().flat_map(|key| kustomization.items(&[key]));
    let named = items.filter_map(|item| item.value.as_str());
    named
        .filter_map(|named| resolve_path(folder, named))
        .collect()
}

/// The files that a kustomization names as patches, itself or in its transformers.
pub(super) fn files(
    reader: &mut LayerReader<'_>,
    folder: &Path,
    kustomization: &Node,
) -> Result<Vec<PathBuf>, Error> {
    let mut transformers = Vec::new();
    let named = kustomization.items(&["transformers"]).iter();
    let named = named.filter_map(|item| resolve_path(folder, item.text(&[])?));
    for path in named {
        // What is no file is reported where it is built.
        let documents = catch_finding(reader.objects(&path))?.unwrap_or_default();
        transformers.extend(documents.iter().flat_map(|documents| documents.to_vec()));
    }
    let lists = ["patchesStrategicMerge", "patches", "patchesJson6902"];
    let own = lists.iter().flat_map(|key| kustomization.items(&[key]));
    let of_transformers = transformers.iter().flat_map(|file| {
        let paths = file.items(&["paths"]).iter();
        paths.chain(file.get_path(&["path"]))
    });
    let named = own.chain(of_transformers);
    let named = named.filter_map(|item| item.text(&["path"]).or_else(|| item.text(&[])));
    let paths = named.filter_map(|named| resolve_path(folder, named));
    Ok(paths.collect())
}
