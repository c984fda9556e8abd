//! An expression inside the values cannot be evaluated.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while evaluating.
pub(super) struct ExpressionError;

impl Rule for ExpressionError {
    fn id(&self) -> RuleId {
        RuleId::ExpressionError
    }

    fn summary(&self) -> &'static str {
        "an expression inside the values cannot be evaluated"
    }

    fn explanation(&self) -> &'static str {
        "\
Values may hold Go template expressions, as Sylva's do. One that does not parse, calls a function that does not exist, runs
into itself or calls `fail` or `required` has no value, and whatever needs it cannot be known. Expressions that nothing
here needs are never evaluated and never reported.

Wrong:

    cluster:
      k8s_version: \"{{ .Values.k8s_version_short | tolower }}\"

Right:

    cluster:
      k8s_version: \"{{ .Values.k8s_version_short | lower }}\""
    }
}
