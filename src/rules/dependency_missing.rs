//! A bundle requires one that is not there.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while an index of bundles is read.
pub(super) struct DependencyMissing;

impl Rule for DependencyMissing {
    fn id(&self) -> RuleId {
        RuleId::DependencyMissing
    }

    fn summary(&self) -> &'static str {
        "a bundle requires one that is not there"
    }

    fn explanation(&self) -> &'static str {
        "What a bundle requires must be named by the index that names the bundle, or be said to be there already by `provided`.

Wrong:

    bundles:
      - {name: app, from: app, requires: [database]}

Right:

    provided: [database]    # installed by somebody else
    bundles:
      - {name: app, from: app, requires: [database]}"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
