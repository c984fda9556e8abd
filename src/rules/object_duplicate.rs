//! An object stands in a bundle twice.

use std::collections::BTreeMap;

use crate::model::finding::Finding;
use crate::objects::bundled::{Bundle, Bundled};
use crate::rules::Rule;

/// Looks at bundles of manifests.
pub(super) struct ObjectDuplicate;

impl Rule for ObjectDuplicate {
    fn id(&self) -> &'static str {
        "object-duplicate"
    }

    fn summary(&self) -> &'static str {
        "an object stands in a bundle twice"
    }

    fn explanation(&self) -> &'static str {
        "Two objects of one kind, namespace and name are one object to the cluster: which of them wins depends on who applies them.

Wrong:

    # a.yaml
    {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: app}}
    # b.yaml
    {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: app}}

Right:

    # a.yaml
    {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: app}}"
    }

    fn bundle(&self, input: &Bundle<'_>, report: &mut dyn FnMut(Finding)) {
        let mut first: BTreeMap<_, &Bundled> = BTreeMap::new();
        for object in input.objects {
            let before = *first.entry(object.identity()).or_insert(object);
            if !std::ptr::eq(before, object) {
                let message = format!("`{object}` stands twice");
                let finding = Finding::new(self.id(), message)
                    .at(input.spot(object), "again here")
                    .at(input.spot(before), "first here")
                    .help("keep one of the two");
                report(finding);
            }
        }
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
