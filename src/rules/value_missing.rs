//! A value that is needed is not there.

use crate::rules::Rule;

/// Found while reading and evaluating.
pub(super) struct ValueMissing;

impl Rule for ValueMissing {
    fn id(&self) -> &'static str {
        "value-missing"
    }

    fn summary(&self) -> &'static str {
        "a value that is needed is not there"
    }

    fn explanation(&self) -> &'static str {
        "\
Something that was asked for depends on a value that no layer sets, or that a layer set to `null`.

Wrong:

    cluster:
      k8s_version: \"{{ .Values.kubernetes.version }}\"      # no layer has `kubernetes`

Right:

    kubernetes:
      version: v1.31.8+rke2r1
    cluster:
      k8s_version: \"{{ .Values.kubernetes.version }}\""
    }
}
