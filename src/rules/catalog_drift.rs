//! The catalog names an image that its version does not offer.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by `metalmark lock` and `metalmark verify`.
pub(super) struct CatalogDrift;

impl Rule for CatalogDrift {
    fn id(&self) -> RuleId {
        RuleId::CatalogDrift
    }

    fn summary(&self) -> &'static str {
        "the catalog names an image that its version does not offer"
    }

    fn explanation(&self) -> &'static str {
        "\
The version was raised and the list of names still has the last release's, or a tag was removed from the registry. Nodes that boot
the image would find nothing. `metalmark lock` and `metalmark verify` see it, for they ask; the help has the nearest names.

Wrong, where release 0.12.1 was built for newer patch versions of Kubernetes:

    sylva_diskimagebuilder_version: 0.12.1
    sylva_diskimagebuilder_images:
      ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}

Right:

    sylva_diskimagebuilder_version: 0.12.1
    sylva_diskimagebuilder_images:
      ubuntu-noble-plain-rke2-1-31-14: {os_images_oci_registry: sylva}"
    }
}
