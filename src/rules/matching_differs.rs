//! Sylva's own matching would choose otherwise.

use crate::model::finding::Level;
use crate::rules::Rule;

/// Found while resolving choices.
pub(super) struct MatchingDiffers;

impl Rule for MatchingDiffers {
    fn id(&self) -> &'static str {
        "matching-differs"
    }

    fn summary(&self) -> &'static str {
        "Sylva's own matching would choose otherwise"
    }

    fn explanation(&self) -> &'static str {
        "\
Sylva's library compares the text of `k8s-version` with the cluster's version, so that `1.29.8-rke2r1`, as the builder's
releases up to 0.3.1 spell it, never matches a cluster of `v1.29.8+rke2r1`. metalmark's `normalised` matching takes both for
one version. Where the two come to different answers, the cluster's own rendering will not agree with this one.

Wrong, for a cluster whose charts do the choosing:

    matching: normalised      # chooses an image of release 0.3.1; Sylva finds none

Right:

    matching: exact           # in metalmark.yaml, or move to an image of release 0.3.2 or later"
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
