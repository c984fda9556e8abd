//! A waiver is past its last day.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found once all clusters are checked.
pub(super) struct WaiverExpired;

impl Rule for WaiverExpired {
    fn id(&self) -> RuleId {
        RuleId::WaiverExpired
    }

    fn summary(&self) -> &'static str {
        "a waiver is past its last day"
    }

    fn explanation(&self) -> &'static str {
        "\
It no longer accepts anything: what it covered is reported again. Mend that, or decide anew and move the date. The day is
given by `--today`, else by `SOURCE_DATE_EPOCH`, else by the system's clock.

Wrong:

    policy:
      waivers:
        - {rule: checksum-by-url, where: legacy-7, reason: \"ticket 4711\", until: 2024-03-01}

Right:

    policy:
      waivers:
        - {rule: checksum-by-url, where: legacy-7, reason: \"ticket 4711, moved to spring\", until: 2027-03-01}"
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
