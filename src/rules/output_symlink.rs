//! A symbolic link stands where a file is to be written.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while planning what to write.
pub(super) struct OutputSymlink;

impl Rule for OutputSymlink {
    fn id(&self) -> RuleId {
        RuleId::OutputSymlink
    }

    fn summary(&self) -> &'static str {
        "a symbolic link stands where a file is to be written"
    }

    fn explanation(&self) -> &'static str {
        "\
Writing through a link would change a file somewhere else, outside the output's folder perhaps.

Wrong:

    ln -s ../elsewhere rendered

Right:

    mkdir rendered"
    }
}
