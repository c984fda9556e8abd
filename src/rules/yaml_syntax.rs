//! A file is not YAML, or goes past what YAML readers agree on.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading.
pub(super) struct YamlSyntax;

impl Rule for YamlSyntax {
    fn id(&self) -> RuleId {
        RuleId::YamlSyntax
    }

    fn summary(&self) -> &'static str {
        "a file is not YAML, or goes past what YAML readers agree on"
    }

    fn explanation(&self) -> &'static str {
        "\
Helm, Flux and Argo CD would refuse the file too, or each would read another thing. Nothing of a file that does not
parse is used, so other findings about it may be missing until it does.

Wrong:

    cluster:
      name: edge-1
     k8s_version: v1.31.8      # one space too few

Right:

    cluster:
      name: edge-1
      k8s_version: v1.31.8"
    }
}
