//! A waiver accepts nothing.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found once all clusters are checked.
pub(super) struct WaiverUnused;

impl Rule for WaiverUnused {
    fn id(&self) -> RuleId {
        RuleId::WaiverUnused
    }

    fn summary(&self) -> &'static str {
        "a waiver accepts nothing"
    }

    fn explanation(&self) -> &'static str {
        "\
What it was written for is mended or gone, or its rule or pattern has a slip. Left in place it would hide the next
finding of that kind.

Wrong:

    policy:
      waivers:
        - {rule: checksum-by-url, where: legacy-7, reason: \"old image server\"}     # legacy-7 now has a literal checksum

Right:

    policy:
      waivers: []"
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
