//! Objects that a file of manifests declares twice.

use std::collections::BTreeMap;

use capi::objects::ManifestObject;

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

/// The second ones: the last one of a file is what is applied. Those of two files may be for two clusters.
pub(super) fn find_duplicates<'o>(
    objects: impl Iterator<Item = &'o ManifestObject>,
) -> Vec<Finding> {
    let mut known: BTreeMap<[&str; 5], &ManifestObject> = BTreeMap::new();
    let mut found = Vec::new();
    for object in objects.filter(|object| !object.name.is_empty()) {
        let (kind, namespace) = (&object.kind, &object.namespace);
        let file = &object.file().path;
        let identity = [file, object.group(), kind, namespace, &object.name];
        if let Some(before) = known.insert(identity, object) {
            let message = format!("{} occurs twice in one file", object.title());
            let finding = Finding::new(RuleId::ObjectDuplicate, message)
                .with_label(object.spot(object.name_place()), "again here")
                .with_label(before.spot(before.name_place()), "first here")
                .help("keep one of the two: the last one counts");
            found.push(finding.unless_set(Level::Warning));
        }
    }
    found
}
