//! An output template or URL template cannot be rendered.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while rendering.
pub(super) struct TemplateError;

impl Rule for TemplateError {
    fn id(&self) -> RuleId {
        RuleId::TemplateError
    }

    fn summary(&self) -> &'static str {
        "an output template or URL template cannot be rendered"
    }

    fn explanation(&self) -> &'static str {
        "\
Output templates and the image URL are templates in Jinja's syntax. One that does not parse, or that uses a name which does not exist,
would stamp a wrong text into every cluster.

Wrong:

    images:
      url: \"https://images.example.org/{{ image.file_name }}\"

Right:

    images:
      url: \"https://images.example.org/{{ image.filename }}\""
    }
}
