//! What composes a cluster's values does something that is not followed here.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading a folder or file that stands for its values.
pub(super) struct CompositionUnsupported;

impl Rule for CompositionUnsupported {
    fn id(&self) -> RuleId {
        RuleId::CompositionUnsupported
    }

    fn summary(&self) -> &'static str {
        "what composes a cluster's values does something that is not followed here"
    }

    fn explanation(&self) -> &'static str {
        "\
The part of kustomize, Flux and Argo CD that shapes values is done in process, without their programs. Plugins, replacements in the
objects that hold the values, charts by `chartRef` and generators that ask a cluster are not: the values would be a guess.

Wrong:

    resources: [../base]
    transformers: [rename-everything.yaml]     # may change the HelmRelease

Right:

    resources: [../base]
    patches:
      - target: {kind: HelmRelease}
        patch: '[{op: replace, path: /spec/releaseName, value: paris}]'"
    }
}
