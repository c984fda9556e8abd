//! A value is not read as it looks.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading.
pub(super) struct ValueSurprising;

impl Rule for ValueSurprising {
    fn id(&self) -> RuleId {
        RuleId::ValueSurprising
    }

    fn summary(&self) -> &'static str {
        "a value is not read as it looks"
    }

    fn explanation(&self) -> &'static str {
        "\
YAML as Helm reads it takes `1.30` for the number 1.3, `on`, `off`, `y` and `n` for booleans and `1_000` or `12e3` for
numbers. Where such a value stands for a version, a name or a word, it is not what was written.

Wrong:

    k8s_version_short: 1.30      # is 1.3

Right:

    k8s_version_short: \"1.30\""
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
