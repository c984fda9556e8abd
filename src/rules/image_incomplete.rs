//! A layer of a locked image is missing or has another length than its manifest says.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found by `metalmark verify`.
pub(super) struct ImageIncomplete;

impl Rule for ImageIncomplete {
    fn id(&self) -> RuleId {
        RuleId::ImageIncomplete
    }

    fn summary(&self) -> &'static str {
        "a layer of a locked image is missing or has another length than its manifest says"
    }

    fn explanation(&self) -> &'static str {
        "\
Registries keep manifests and layers apart: an upload that broke off, a clean-up or a copy that lost half leaves a tag that still
answers, and a node that pulls it fails in the middle of its installation. `metalmark verify` asks how long each layer of a locked
image is, without pulling it. An image layout may leave layers out; those that it has are measured.

Wrong, where the registry holds 1,048,576 bytes under that digest:

    \"layers\": [{\"digest\": \"sha256:31a8…\", \"size\": 734003200}]

Right, after the same artifact was pushed or copied there again:

    skopeo copy docker://build.example.org/os/IMAGE@sha256:… docker://registry.example.org/os/IMAGE:0.4.12"
    }
}
