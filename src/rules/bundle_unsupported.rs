//! A bundle says what plain manifests cannot say.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while unpacking.
pub(super) struct BundleUnsupported;

impl Rule for BundleUnsupported {
    fn id(&self) -> RuleId {
        RuleId::BundleUnsupported
    }

    fn summary(&self) -> &'static str {
        "a bundle says what plain manifests cannot say"
    }

    fn explanation(&self) -> &'static str {
        "A registry+v1 bundle is turned into plain manifests where that loses nothing: deployments, permissions, service accounts,
definitions. Webhooks, API services, install modes that need a choice and unknown kinds need a manager in the cluster.

Wrong:

    spec:
      webhookdefinitions:
        - {type: ValidatingAdmissionWebhook, generateName: check.example.org}

Right:

    spec:
      installModes: [{type: AllNamespaces, supported: true}]
      install: {strategy: deployment, spec: {}}"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
