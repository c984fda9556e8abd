//! A file that is to be written or deleted was not written by metalmark.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct FileNotOwned;

impl Rule for FileNotOwned {
    fn id(&self) -> RuleId {
        RuleId::FileNotOwned
    }

    fn summary(&self) -> &'static str {
        "a file that is to be written or deleted was not written by metalmark"
    }

    fn explanation(&self) -> &'static str {
        "\
Only files that an earlier run wrote are overwritten or removed; which those are is recorded beside them. Somebody's own file
at the same path would be lost. The same goes for a recorded file that is no longer rendered and is not what was written there:
the record may be wrong, so the file stays until somebody deletes it, or `--adopt` does.

Wrong:

    outputs:
      - {target: manifests, path: clusters/edge-1}     # holds a hand-written `edge-1.yaml`

Right:

    outputs:
      - {target: manifests, path: rendered/edge-1}     # or once: `metalmark render --adopt`"
    }
}
