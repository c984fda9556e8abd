//! The project file holds something that metalmark does not know.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading the project file.
pub(super) struct ProjectFile;

impl Rule for ProjectFile {
    fn id(&self) -> RuleId {
        RuleId::ProjectFile
    }

    fn summary(&self) -> &'static str {
        "the project file holds something that metalmark does not know"
    }

    fn explanation(&self) -> &'static str {
        "\
A key with a slip of the pen would otherwise be a setting that never applies.

Wrong:

    version: 1
    cluster:                  # the key is `clusters`
      - name: mgmt
        values: [values.yaml]

Right:

    version: 1
    clusters:
      - name: mgmt
        values: [values.yaml]"
    }
}
