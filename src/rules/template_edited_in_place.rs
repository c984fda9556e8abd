//! A change of a machine template in place does not reach its machines.

use crate::model::finding::{Finding, Level};
use crate::model::rule::RuleId;
use crate::objects::{FieldChange, Manifests, Since, Standing};
use crate::providers::{self, Change};

/// Looks at every template that comes to say something else than before under its own name.
pub(super) fn manifests(input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
    for (index, object) in input.objects.iter().enumerate() {
        let choice = &input.choices[index];
        if choice.is_rotated || !choice.problems.is_empty() {
            continue;
        }
        let change = match &choice.since {
            Since::Changed(change) => Some(change),
            Since::Same => None,
            Since::Unknown => choice.changes.iter().find(|change| change.overwrites),
        };
        let told = change.and_then(|change| told(input, index, object, change));
        told.into_iter().for_each(&mut *report);
    }
}

fn told(
    input: &Manifests<'_>,
    index: usize,
    object: &Standing,
    change: &FieldChange,
) -> Option<Finding> {
    let kind = providers::of_object(&object.api_version, &object.kind);
    let kind = kind.map(|(_, kind)| kind);
    Manifests::guarded(object)?;
    let (what, level) = match kind.map(|kind| kind.change) {
        Some(Change::Refused(path)) => (
            format!("and its webhook refuses changes below `{path}`"),
            Level::Error,
        ),
        _ => (
            "and no machine that runs is replaced".to_owned(),
            Level::Warning,
        ),
    };
    let by_hand = !input.choices[index]
        .changes
        .iter()
        .any(|change| change.overwrites);
    let gets = match by_hand {
        true => "changes under the same name",
        false => "gets another image",
    };
    let message = format!("{} {gets}, {what}", object.title());
    let finding = Finding::new(RuleId::TemplateEditedInPlace, message)
        .about(input.subject(index))
        .at(object.name_spot(), "")
        .at(change.spot.clone(), format!("`{}` changes", change.path))
        .help(
            match (by_hand, kind.is_none_or(|kind| kind.is_template())) {
                (true, true) => "give it another name, and write that into what refers to it",
                (false, true) => {
                    "run `metalmark stamp --rotate`: a new name, and every reference moved to it"
                }
                (_, false) => "delete it and let its owner make a new one",
            },
        );
    Some(finding.unless_set(level))
}
