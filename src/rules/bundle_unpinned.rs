//! A bundle is pulled by a tag, which may move.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while pulling.
pub(super) struct BundleUnpinned;

impl Rule for BundleUnpinned {
    fn id(&self) -> RuleId {
        RuleId::BundleUnpinned
    }

    fn summary(&self) -> &'static str {
        "a bundle is pulled by a tag, which may move"
    }

    fn explanation(&self) -> &'static str {
        "Whoever may write to a registry may let a tag stand for other bytes, between the review of a bundle and the day that it is
applied. A digest cannot move. It is typed, or the lock has it for that very reference; `--allow-tag` takes a tag for what it
stands for now, and prints the digest.

Wrong:

    metalmark bundle pull oci://registry.example.org/bundles/app:1.2 app

Right:

    metalmark bundle pull oci://registry.example.org/bundles/app:1.2@sha256:2c26… app"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
