//! A key stands twice in one map.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading.
pub(super) struct DuplicateKey;

impl Rule for DuplicateKey {
    fn id(&self) -> RuleId {
        RuleId::DuplicateKey
    }

    fn summary(&self) -> &'static str {
        "a key stands twice in one map"
    }

    fn explanation(&self) -> &'static str {
        "\
Helm takes the last of them and says nothing, so an edit of the first one has no effect. It is an error where the two
values differ and a warning where they are the same.

Wrong:

    sylva_diskimagebuilder_images:
      ubuntu-jammy-plain-kubeadm-1-26-9: {enabled: true}
      ubuntu-jammy-plain-kubeadm-1-26-9: {enabled: false}

Right:

    sylva_diskimagebuilder_images:
      ubuntu-jammy-plain-kubeadm-1-26-9: {enabled: true}"
    }
}
