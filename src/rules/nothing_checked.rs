//! No node pool was checked.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by the commands that are gates.
pub(super) struct NothingChecked;

impl Rule for NothingChecked {
    fn id(&self) -> RuleId {
        RuleId::NothingChecked
    }

    fn summary(&self) -> &'static str {
        "no node pool was checked"
    }

    fn explanation(&self) -> &'static str {
        "\
A run that compares no image with any Kubernetes version proves nothing, and a pipeline that takes it for a success lets the next
wrong image pass. The usual reasons: `clusters:` names no cluster, the values of a cluster lack its provider or its images, or the
machine templates are in manifests, which `metalmark stamp` checks. `--allow-empty` accepts such a run.

Wrong:

    version: 1
    clusters: []

Right:

    version: 1
    clusters: [{name: edge-1, values: [values.yaml]}]"
    }
}
