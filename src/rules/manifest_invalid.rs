//! A rendered document is not one that Kubernetes takes.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while rendering.
pub(super) struct ManifestInvalid;

impl Rule for ManifestInvalid {
    fn id(&self) -> RuleId {
        RuleId::ManifestInvalid
    }

    fn summary(&self) -> &'static str {
        "a rendered document is not one that Kubernetes takes"
    }

    fn explanation(&self) -> &'static str {
        "\
Every rendered document must parse, carry `apiVersion`, `kind` and a legal name, and fit the schema of its kind; `--schemas` names a
folder of CRD files, which come before those that are built in. A template of your own, or a value that ends up in a name, may break that.

Wrong:

    cluster:
      name: Edge_1            # the name of objects: lower-case letters, digits and dashes

Right:

    cluster:
      name: edge-1"
    }
}
