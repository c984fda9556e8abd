//! A rendered file would leave its folder, or have a name that some system cannot hold.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct OutputPathIllegal;

impl Rule for OutputPathIllegal {
    fn id(&self) -> RuleId {
        RuleId::OutputPathIllegal
    }

    fn summary(&self) -> &'static str {
        "a rendered file would leave its folder, or have a name that some system cannot hold"
    }

    fn explanation(&self) -> &'static str {
        "\
Names of clusters and pools come from values and end up in paths. A file is written below its output's folder or not at
all: no `..`, no absolute path, none of the names that Windows reserves.

Wrong:

    clusters:
      - {name: aux, values: [edge-1.yaml]}      # a device's name on Windows

Right:

    clusters:
      - {name: aux-1, values: [edge-1.yaml]}"
    }
}
