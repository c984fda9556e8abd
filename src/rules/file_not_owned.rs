//! A file that is to be written was not written by metalmark.

use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct FileNotOwned;

impl Rule for FileNotOwned {
    fn id(&self) -> &'static str {
        "file-not-owned"
    }

    fn summary(&self) -> &'static str {
        "a file that is to be written was not written by metalmark"
    }

    fn explanation(&self) -> &'static str {
        "\
Only files that an earlier run wrote are overwritten or removed; which those are is recorded beside them. Somebody's own file
at the same path would be lost.

Wrong:

    outputs:
      - {target: manifests, path: clusters/edge-1}     # holds a hand-written `edge-1.yaml`

Right:

    outputs:
      - {target: manifests, path: rendered/edge-1}     # or once: `metalmark render --adopt`"
    }
}
