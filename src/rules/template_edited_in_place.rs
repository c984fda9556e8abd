//! A change of a machine template in place does not reach its machines.

use crate::model::finding::{Finding, Level};
use crate::objects::standing::Manifests;
use crate::providers::Change;
use crate::rules::Rule;

/// Looks at every object whose image field is to say something else than before.
pub(super) struct TemplateEditedInPlace;

impl Rule for TemplateEditedInPlace {
    fn id(&self) -> &'static str {
        "template-edited-in-place"
    }

    fn summary(&self) -> &'static str {
        "a change of a machine template in place does not reach its machines"
    }

    fn explanation(&self) -> &'static str {
        "\
Cluster API replaces machines when they refer to another template, not when their template changes. Most providers' webhooks
refuse the change, so the merge goes through and the sync stands still: an error. Metal3 and Elemental take it and replace
nothing; the next machine that fails comes back with another image than its siblings: a warning. A template that said nothing of
its image before is not told of. (<https://cluster-api.sigs.k8s.io/tasks/updating-machine-templates>)

Wrong, where the template is in use:

    metalmark stamp clusters/

Right, a template of a new name and every reference moved to it:

    metalmark stamp --rotate clusters/"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }

    fn manifests(&self, input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
        for (index, object, kind) in input.machines() {
            let choice = &input.choices[index];
            let mut changes = choice.changes.iter();
            let Some(change) = changes.find(|change| change.overwrites) else {
                continue;
            };
            if choice.is_rotated || !choice.problems.is_empty() {
                continue;
            }
            let (what, level) = match kind.change {
                Change::Rolls => continue,
                Change::Ignored => (
                    "and no machine that runs is replaced".to_owned(),
                    Level::Warning,
                ),
                Change::Refused(path) => (
                    format!("and its webhook refuses changes below `{path}`"),
                    Level::Error,
                ),
            };
            let message = format!(
                "{} `{}` gets another image, {what}",
                object.kind, object.name
            );
            let finding = Finding::new(self.id(), message)
                .about(input.subject(index))
                .at(object.name_spot(), "")
                .at(change.spot.clone(), format!("`{}` changes", change.path))
                .help(match kind.is_template() {
                    true => "run `metalmark stamp --rotate`: a new name, and every reference moved to it",
                    false => "delete it and let its owner make a new one",
                });
            report(finding.unless_set(level));
        }
    }
}
