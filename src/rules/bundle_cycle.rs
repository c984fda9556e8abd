//! Bundles name each other in a circle.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while an index of bundles is read.
pub(super) struct BundleCycle;

impl Rule for BundleCycle {
    fn id(&self) -> RuleId {
        RuleId::BundleCycle
    }

    fn summary(&self) -> &'static str {
        "bundles name each other in a circle"
    }

    fn explanation(&self) -> &'static str {
        "An index names bundles and other indexes, and says which bundle requires which. A circle has no first one to apply.

Wrong:

    bundles:
      - {name: app, from: app, requires: [database]}
      - {name: database, from: database, requires: [app]}

Right:

    bundles:
      - {name: app, from: app, requires: [database]}
      - {name: database, from: database}"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
