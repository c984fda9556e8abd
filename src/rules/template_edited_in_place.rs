//! A machine template is changed in place, so its machines keep the old one.

use std::cmp::Reverse;

use capi::changes::{Answer, Effect};

use crate::decide::object_changes::{ObjectChange, object_changes};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::rules::ChangeInput;

/// Looks at the templates that have the same name on both sides, each once for its pool.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let (before, after) = (&input.before.view.cluster, &input.after.view.cluster);
    let changes = object_changes(before, after);
    let is_it = |change: &&ObjectChange<'_>| {
        let is_template = change.is_in_place && change.object.object.is_template();
        let misses = matches!(change.answer.effect, Effect::InPlace | Effect::Refused);
        is_template && misses && change.path.first().is_some_and(|key| key == "spec")
    };
    let found: Vec<&ObjectChange<'_>> = changes.iter().filter(is_it).collect();
    let is_of_one =
        |one: &&ObjectChange<'_>, other: &&ObjectChange<'_>| std::ptr::eq(one.object, other.object);
    for changes in found.chunk_by(is_of_one) {
        let strongest = { changes.iter() }.min_by_key(|change| Reverse(change.answer.effect));
        let Some(change) = strongest else { continue };
        let object = &change.object.object;
        let (why, level) = not_applied(change.answer);
        let message = format!("{} changes under the same name, {why}", object.title());
        let pool = after
            .pools
            .iter()
            .find(|pool| Some(&pool.name) == change.pool.as_ref());
        let subject = match pool {
            Some(pool) => input.subject(pool),
            None => Subject::cluster(&after.name),
        };
        let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
        let label = format!("`{}` changes", path.join(".").replace(".[", "["));
        let own = pool.and_then(|pool| pool.template.as_ref());
        let own = own.filter(|own| own.kind == object.kind && own.name.value == object.name);
        let finding = Finding::new(RuleId::TemplateEditedInPlace, message).with_subject(subject);
        let finding = match (own, path.strip_prefix(&["spec", "template", "spec"])) {
            (Some(own), Some(below)) => finding
                .with_label(input.spot(own.name.place), "")
                .with_label(input.spot(own.spec.place_at(below)), label),
            _ if change.object.place.is_known() => {
                finding.with_label(input.spot(change.object.place), label)
            }
            // A copy of a class's.
            _ => finding.with_label(pool.and_then(|pool| input.spot(pool.place)), label),
        };
        let finding = finding.help("give it another name, and write that into what refers to it");
        findings.push(finding.unless_set(level));
    }
}

/// Why a change of a template under the same name reaches no machine, and how much that matters.
pub fn not_applied(answer: Answer) -> (String, Level) {
    match answer.effect {
        Effect::Refused => (
            format!("and its webhook refuses changes below `{}`", answer.row),
            Level::Error,
        ),
        _ => (
            "and no machine that runs is replaced".to_owned(),
            Level::Warning,
        ),
    }
}
