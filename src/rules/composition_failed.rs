//! Flux, Argo CD or kustomize would refuse to compose a cluster's values.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading a folder or file that stands for its values.
pub(super) struct CompositionFailed;

impl Rule for CompositionFailed {
    fn id(&self) -> RuleId {
        RuleId::CompositionFailed
    }

    fn summary(&self) -> &'static str {
        "Flux, Argo CD or kustomize would refuse to compose a cluster's values"
    }

    fn explanation(&self) -> &'static str {
        "\
A folder with a HelmRelease or an Application stands for the values that it composes. A patch that does not apply, a file that is
not there, a key that its ConfigMap lacks: the real build ends there, and the cluster keeps the state it had, without a word in
the merge request.

Wrong:

    resources: [../base]
    configMapGenerator:
      - name: sylva-units-values     # the base generates it already
        files: [values=values.yaml]

Right:

    resources: [../base]
    configMapGenerator:
      - name: sylva-units-values
        behavior: merge
        files: [values=values.yaml]"
    }
}
