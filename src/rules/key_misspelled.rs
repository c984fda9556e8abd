//! A key of the values is almost one that selects an image.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading.
pub(super) struct KeyMisspelled;

impl Rule for KeyMisspelled {
    fn id(&self) -> RuleId {
        RuleId::KeyMisspelled
    }

    fn summary(&self) -> &'static str {
        "a key of the values is almost one that selects an image"
    }

    fn explanation(&self) -> &'static str {
        "\
Helm ignores a key that no template reads. Where the key of an image, of a selector or of a version has a slip, the node pool boots
the image that it inherits, and nothing says so. Reported are keys within two letters of one that decides which image boots: at
the root of the values, below `cluster`, at node pools and in the settings of a provider.

Wrong:

    cluster:
      capm3:
        image_key: ubuntu-noble-plain-rke2-1-31-8
      control_plane:
        capm3:
          image_kye: ubuntu-noble-hardened-rke2-1-31-8

Right:

    cluster:
      capm3:
        image_key: ubuntu-noble-plain-rke2-1-31-8
      control_plane:
        capm3:
          image_key: ubuntu-noble-hardened-rke2-1-31-8"
    }
}
