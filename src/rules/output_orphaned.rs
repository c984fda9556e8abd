//! A folder has rendered files that no output writes any more.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct OutputOrphaned;

impl Rule for OutputOrphaned {
    fn id(&self) -> RuleId {
        RuleId::OutputOrphaned
    }

    fn summary(&self) -> &'static str {
        "a folder has rendered files that no output writes any more"
    }

    fn level(&self) -> Level {
        Level::Warning
    }

    fn explanation(&self) -> &'static str {
        "\
An output that is removed from the project, or gets another path, leaves its files in the old folder, and a GitOps tool that is
pointed at it keeps applying old images. metalmark deletes nothing there, because another project file or `--out` may
have written it. Looked at are the project's folders down to the third level, other projects and hidden folders left out.

Wrong:

    # rendered/flux has .metalmark-owned
    outputs:
      - {target: manifests, path: rendered/manifests}

Right:

    git rm -r rendered/flux"
    }
}
