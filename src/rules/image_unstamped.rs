//! A machine template in manifests gets no image.

use crate::model::finding::{Finding, Level};
use crate::model::rule::RuleId;
use crate::objects::Manifests;
use crate::rules::Rule;

/// Looks at every template and pool of machines, and tells of markers that cannot be followed.
pub(super) struct ImageUnstamped;

impl Rule for ImageUnstamped {
    fn id(&self) -> RuleId {
        RuleId::ImageUnstamped
    }

    fn summary(&self) -> &'static str {
        "a machine template in manifests gets no image"
    }

    fn explanation(&self) -> &'static str {
        "\
`metalmark stamp` brings the image fields of machine templates to what their images say, where a marker or `stamps:` in the
project file names the image. A template that nobody speaks for keeps the image that somebody once typed: a warning. A marker
that is not understood, that stands beside nothing, or whose image cannot be stamped into its object is an error.

Wrong:

    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: Metal3MachineTemplate
    metadata: {name: edge-7-workers}
    spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw}}}}

Right:

    # metalmark: image=ubuntu-noble-plain-rke2-1-31-8
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: Metal3MachineTemplate
    metadata: {name: edge-7-workers}
    spec: {template: {spec: {image: {url: https://images.example.org/noble-1.raw}}}}"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }

    fn manifests(&self, input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
        for (index, object, kind) in input.machines() {
            let is_pool = kind.kind.ends_with("MachinePool");
            if input.choices[index].is_made || object.is_kept() || !(kind.is_template() || is_pool)
            {
                continue;
            }
            let message = format!(
                "nothing says which image {} `{}` boots",
                object.kind, object.name
            );
            let finding = Finding::new(self.id(), message)
                .about(input.subject(index))
                .at(object.name_spot(), "")
                .help("write `# metalmark: image=KEY` above it, or `# metalmark: ignore`");
            report(finding.unless_set(Level::Warning));
        }
        for (index, object, kind) in input.machines_of_other_versions() {
            if input.choices[index].is_made || object.is_kept() {
                continue;
            }
            let (_, version) = object.group_version();
            let message = format!(
                "nothing is known of {} `{}`, whose API version is {version}",
                object.kind, object.name
            );
            let finding = Finding::new(self.id(), message)
                .about(input.subject(index))
                .at(object.name_spot(), "")
                .help(format!(
                    "move it to {}, or write `# metalmark: ignore` above it",
                    kind.versions.join(" or ")
                ));
            report(finding.unless_set(Level::Warning));
        }
        for (index, choice) in input.choices.iter().enumerate() {
            let object = &input.objects[index];
            for problem in &choice.problems {
                let message = format!("{} is not stamped: {problem}", object.title());
                let finding = Finding::new(self.id(), message)
                    .about(input.subject(index))
                    .at(object.name_spot(), "")
                    .at(choice.spot.clone(), "its image is chosen here");
                report(finding);
            }
        }
    }
}
