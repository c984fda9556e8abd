//! A machine template in manifests gets no image.

use crate::model::finding::{Finding, Level};
use crate::model::rule::RuleId;
use crate::objects::Manifests;

/// Looks at every template and pool of machines, and tells of markers that cannot be followed.
pub(super) fn manifests(input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
    for (index, object, kind) in input.machines() {
        let is_pool = kind.kind.ends_with("MachinePool");
        if input.choices[index].is_made || object.is_kept() || !(kind.is_template() || is_pool) {
            continue;
        }
        let message = format!(
            "nothing says which image {} `{}` boots",
            object.kind, object.name
        );
        let finding = Finding::new(RuleId::ImageUnstamped, message)
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
        let finding = Finding::new(RuleId::ImageUnstamped, message)
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
            let finding = Finding::new(RuleId::ImageUnstamped, message)
                .about(input.subject(index))
                .at(object.name_spot(), "")
                .at(choice.spot.clone(), "its image is chosen here");
            report(finding);
        }
    }
}
