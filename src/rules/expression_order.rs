//! An expression reads a value that Helm would not have evaluated yet.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while evaluating.
pub(super) struct ExpressionOrder;

impl Rule for ExpressionOrder {
    fn id(&self) -> RuleId {
        RuleId::ExpressionOrder
    }

    fn summary(&self) -> &'static str {
        "an expression reads a value that Helm would not have evaluated yet"
    }

    fn explanation(&self) -> &'static str {
        "\
Helm evaluates values one by one, and until then another value is still the text of its template. An expression that
edits such a value (`replace`, `trunc`, `split` …) edits the template's text in Helm. metalmark evaluates what is read
first, which is what the author meant, but the cluster's own rendering would differ.

Wrong:

    cluster:
      k8s_version: '{{ .Values.kubernetes.version }}'
    sylva_diskimagebuilder_images:
      'ubuntu-noble-plain-kubeadm-{{ .Values.cluster.k8s_version | trimPrefix \"v\" | replace \".\" \"-\" }}': {}

Right:

    cluster:
      k8s_version: '{{ .Values.kubernetes.version }}'
    sylva_diskimagebuilder_images:
      'ubuntu-noble-plain-kubeadm-{{ .Values.kubernetes.version | trimPrefix \"v\" | replace \".\" \"-\" }}': {}"
    }

    fn level(&self) -> Level {
        Level::Warning
    }
}
