//! Nothing refers to a rendered machine template.

use crate::model::finding::Level;
use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while rendering.
pub(super) struct TemplateUnreferenced;

impl Rule for TemplateUnreferenced {
    fn id(&self) -> RuleId {
        RuleId::TemplateUnreferenced
    }

    fn summary(&self) -> &'static str {
        "nothing refers to a rendered machine template"
    }

    fn level(&self) -> Level {
        Level::Warning
    }

    fn explanation(&self) -> &'static str {
        "\
No machine is made from a template that no control plane, MachineDeployment or MachinePool refers to, so its image is never booted.
Where the project names its own `manifests`, `metalmark render` moves their references to the templates that it renders. A
reference belongs to a template if both names are equal without the hash at the end.

Wrong:

    # rendered: Metal3MachineTemplate edge-md0-5bc7183247
    kind: MachineDeployment
    spec: {template: {spec: {infrastructureRef: {kind: Metal3MachineTemplate, name: edge-workers}}}}

Right:

    # rendered: Metal3MachineTemplate edge-md0-5bc7183247
    kind: MachineDeployment
    spec: {template: {spec: {infrastructureRef: {kind: Metal3MachineTemplate, name: edge-md0-5bc7183247}}}}"
    }
}
