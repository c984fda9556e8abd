//! A rendered object would not fit into the cluster.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while rendering.
pub(super) struct ObjectTooLarge;

impl Rule for ObjectTooLarge {
    fn id(&self) -> RuleId {
        RuleId::ObjectTooLarge
    }

    fn summary(&self) -> &'static str {
        "a rendered object would not fit into the cluster"
    }

    fn explanation(&self) -> &'static str {
        "\
The API server refuses objects of more than 1 MiB, a ConfigMap's data among them. A catalog of several thousand images
with all their facts is larger than that.

Wrong:

    images:
      serve-all: true         # thousands of images in one ConfigMap

Right:

    images:
      serve-all: false        # those that clusters use"
    }
}
