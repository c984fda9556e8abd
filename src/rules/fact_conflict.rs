//! Two sources say different things of one image.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while resolving the catalog.
pub(super) struct FactConflict;

impl Rule for FactConflict {
    fn id(&self) -> RuleId {
        RuleId::FactConflict
    }

    fn summary(&self) -> &'static str {
        "two sources say different things of one image"
    }

    fn explanation(&self) -> &'static str {
        "\
Facts come from, strongest first: the lock or the artifact's annotations, the values, an image info file, the image's name.
The strongest counts. Where a weaker one disagrees, one of them is out of date or belongs to another image.

Wrong:

    os_images:
      ubuntu-noble-plain-rke2-1-31-8:
        uri: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
        k8s-version: 1.30.5+rke2r1      # the name says 1.31.8

Right:

    os_images:
      ubuntu-noble-plain-rke2-1-31-8:
        uri: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
        k8s-version: 1.31.8+rke2r1"
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
