//! A change of a machine template in place does not reach its machines.

use capi::providers::{self, InPlaceChange, Kind};

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules::ChangeInput;
use crate::rules::change_input::PoolPair;

/// Looks at the template of every pool on both sides that has the same name on both.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    for PoolPair { before, after } in input.pools() {
        let (old, new) = (&before.pool.template, &after.pool.template);
        let Some((old, new)) = old.as_ref().zip(new.as_ref()) else {
            continue;
        };
        let is_same = old.kind == new.kind && old.name.value == new.name.value;
        let Some(path) = new.spec.difference(&old.spec).filter(|_| is_same) else {
            continue;
        };
        let kind = providers::find_for_object(&new.api_version, &new.kind).map(|(_, kind)| kind);
        if kind.is_none_or(|kind| kind.change == InPlaceChange::Rolls) {
            continue;
        }
        let (why, level) = not_applied(kind);
        let message = format!(
            "{} `{}` changes under the same name, {why}",
            new.kind, new.name.value
        );
        let label = format!("`{}` changes", path.join("."));
        let finding = Finding::new(RuleId::TemplateEditedInPlace, message)
            .with_subject(input.subject(after.pool))
            .with_label(input.spot(new.name.place), "")
            .with_label(input.spot(new.spec.place_at(&path)), label)
            .help("give it another name, and write that into what refers to it");
        findings.push(finding.unless_set(level));
    }
}

/// Why a change of a template under the same name reaches no machine, and how much that matters.
pub fn not_applied(kind: Option<&Kind>) -> (String, Level) {
    match kind.map(|kind| kind.change) {
        Some(InPlaceChange::Refused(path)) => (
            format!("and its webhook refuses changes below `{path}`"),
            Level::Error,
        ),
        _ => (
            "and no machine that runs is replaced".to_owned(),
            Level::Warning,
        ),
    }
}
