//! A bundle of manifests holds no object.

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::objects::bundled::Bundle;
use crate::rules::Rule;

/// Found while packing and unpacking.
pub(super) struct BundleEmpty;

impl Rule for BundleEmpty {
    fn id(&self) -> RuleId {
        RuleId::BundleEmpty
    }

    fn summary(&self) -> &'static str {
        "a bundle of manifests holds no object"
    }

    fn explanation(&self) -> &'static str {
        "A bundle without a single object installs nothing, and whoever prunes by it deletes everything. RukPak refuses it too.

Wrong:

    manifests/
      app.yaml              # only comments

Right:

    manifests/
      app.yaml              # at least one object"
    }

    fn bundle(&self, input: &Bundle<'_>, report: &mut dyn FnMut(Finding)) {
        if input.objects.is_empty() {
            let message = "the bundle holds no object";
            report(Finding::new(self.id(), message).help("put at least one manifest into it"));
        }
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
