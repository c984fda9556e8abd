//! An object is applied before the definition of its kind.

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::objects::bundled::{Bundle, Bundled, Order};
use crate::rules::Rule;

/// Looks at bundles whose objects are applied by the names of their files.
pub(super) struct CrdOrder;

impl Rule for CrdOrder {
    fn id(&self) -> RuleId {
        RuleId::CrdOrder
    }

    fn summary(&self) -> &'static str {
        "an object is applied before the definition of its kind"
    }

    fn explanation(&self) -> &'static str {
        "Where the files are applied by their names, as `kubectl apply -f DIR` does, a CustomResourceDefinition in a later file is not
known yet when its objects are applied. RukPak, Flux and Argo CD sort by kind and do not mind.

Wrong, with --order names:

    manifests/
      a-widget.yaml         # kind: Widget
      b-crd.yaml            # defines Widget

Right:

    $ metalmark bundle pack --order numbered …"
    }

    fn bundle(&self, input: &Bundle<'_>, report: &mut dyn FnMut(Finding)) {
        if input.order != Order::Names {
            return;
        }
        let place = |object: &Bundled| (object.file, object.named.start);
        for object in input.objects {
            let Some(definition) = input.definition(object) else {
                continue;
            };
            if place(object) < place(definition) {
                let message =
                    format!("`{object}` is applied before `{definition}`, which defines its kind");
                let finding = Finding::new(self.id(), message)
                    .at(input.spot(object), "applied first")
                    .at(input.spot(definition), "defined here")
                    .help("pack with `--order numbered`, or give the definition's file a name that comes first");
                report(finding);
            }
        }
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
