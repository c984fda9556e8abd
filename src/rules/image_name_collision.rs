//! Two entries of the catalog come to one image key.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while resolving the catalog.
pub(super) struct ImageNameCollision;

impl Rule for ImageNameCollision {
    fn id(&self) -> RuleId {
        RuleId::ImageNameCollision
    }

    fn summary(&self) -> &'static str {
        "two entries of the catalog come to one image key"
    }

    fn explanation(&self) -> &'static str {
        "\
Names with dots get a key with dashes, and `os_images` and the builder's list share one set of keys. Of two entries with one key
only one can be served, and Helm picks it silently.

Wrong:

    sylva_diskimagebuilder_images:
      ubuntu-jammy-plain-rke2-1.26.9: {}
      ubuntu-jammy-plain-rke2-1-26-9: {}

Right:

    sylva_diskimagebuilder_images:
      ubuntu-jammy-plain-rke2-1.26.9: {}"
    }
}
