//! An object is rendered twice, or is in a bundle twice.

use std::collections::BTreeMap;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::objects::bundled::{Bundle, Bundled};
use crate::rules::Rule;

/// Looks at bundles of manifests; of what is rendered it is found while rendering.
pub(super) struct ObjectDuplicate;

impl Rule for ObjectDuplicate {
    fn id(&self) -> RuleId {
        RuleId::ObjectDuplicate
    }

    fn summary(&self) -> &'static str {
        "an object is rendered twice, or is in a bundle twice"
    }

    fn explanation(&self) -> &'static str {
        "\
Two objects of one kind, namespace and name are one object to the API server. The one that is applied last counts, so a cluster
may boot the image of another one, and a GitOps tool that prunes deletes the object when either file goes. Of what is rendered
two files are reported where their clusters may be on one API server: always in one folder; else unless `management` names
two management clusters, or both clusters have one name and namespace and the output's `path` gives each a folder of its own.
Two outputs that render an object for the same cluster, or for all clusters, are a warning.

Wrong:

    clusters:
      - {name: one, namespace: fleet, values: [one.yaml]}
      - {name: two, namespace: fleet, values: [two.yaml]}
    outputs:
      - {target: flux, path: flux}

Right:

    clusters:
      - {name: one, namespace: fleet-one, values: [one.yaml]}
      - {name: two, namespace: fleet-two, values: [two.yaml]}
    outputs:
      - {target: flux, path: flux}"
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
