//! Two rendered files would be one file on disk.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct OutputPathCollision;

impl Rule for OutputPathCollision {
    fn id(&self) -> RuleId {
        RuleId::OutputPathCollision
    }

    fn summary(&self) -> &'static str {
        "two rendered files would be one file on disk"
    }

    fn explanation(&self) -> &'static str {
        "\
Two outputs or two clusters come to one path, or to paths that differ only in letter case, which some systems take for one.
The later would overwrite the former.

Wrong:

    outputs:
      - {target: manifests, path: rendered}
      - {target: manifests, path: rendered}

Right:

    outputs:
      - {target: manifests, path: rendered}"
    }
}
