//! A file of a bundle lies where its kind of bundle has none.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while packing and unpacking.
pub(super) struct BundleLayout;

impl Rule for BundleLayout {
    fn id(&self) -> RuleId {
        RuleId::BundleLayout
    }

    fn summary(&self) -> &'static str {
        "a file of a bundle lies where its kind of bundle has none"
    }

    fn explanation(&self) -> &'static str {
        "A plain bundle is `manifests/` and files in it, no folder below: RukPak refuses anything else. Of a folder that is packed,
the files below other folders are laid flat by joining their names, which must then differ.

Wrong:

    manifests/
      app.yaml
      crds/app.yaml         # a folder within

Right:

    manifests/
      app.yaml
      crd-app.yaml"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
