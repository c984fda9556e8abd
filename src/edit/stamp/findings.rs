//! What is wrong with a plan: templates that get no image, and templates that change under the same name.

use capi::objects::ManifestObject;
use capi::providers::{self, Kind};

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules;

use super::plan::{FieldChange, ObjectResult, Plan, TemplateChange};
use super::request::may_boot;
use super::since::{immutable_path, machine_answer};

/// Looks at every object and the result for it.
pub fn findings(objects: &[ManifestObject], plan: &Plan) -> Vec<Finding> {
    let results = objects.iter().zip(&plan.results);
    let found = results.flat_map(|(object, result)| {
        let problems = result.problems.iter();
        let problems = problems.map(move |problem| not_stamped(object, result, problem));
        let others = [no_image(object, result), edit_in_place(object, result)];
        others.into_iter().flatten().chain(problems)
    });
    found.collect()
}

/// A finding about an object.
fn finding(
    rule: RuleId,
    message: String,
    object: &ManifestObject,
    result: &ObjectResult,
) -> Finding {
    Finding::new(rule, message)
        .with_subject(result.subject(object))
        .with_label(object.name_spot(), "")
}

/// That nothing selects an image for a template or a pool of machines.
fn no_image(object: &ManifestObject, result: &ObjectResult) -> Option<Finding> {
    let kind = object.machine_kind()?;
    let is_pool = kind.kind.ends_with("MachinePool");
    if result.is_made || object.is_kept() || !may_boot(object) || !(kind.is_template() || is_pool) {
        return None;
    }
    let version = object.version();
    let (kind_name, name) = (&object.kind, &object.name);
    let (message, help) = if kind.versions.contains(&version) {
        (
            format!("nothing says which image {kind_name} `{name}` boots"),
            "write `# metalmark: image=KEY` above it, or `# metalmark: ignore`".to_owned(),
        )
    } else {
        (
            format!("nothing is known of {kind_name} `{name}`, whose API version is {version}"),
            format!(
                "move it to {}, or write `# metalmark: ignore` above it",
                kind.versions.join(" or ")
            ),
        )
    };
    let finding = finding(RuleId::ImageUnstamped, message, object, result).help(help);
    Some(finding.unless_set(Level::Warning))
}

fn not_stamped(object: &ManifestObject, result: &ObjectResult, problem: &str) -> Finding {
    let message = format!("{} is not stamped: {problem}", object.title());
    finding(RuleId::ImageUnstamped, message, object, result)
        .with_label(result.spot.clone(), "its image is selected here")
}

/// That a template changes under the same name, which does not reach its machines.
fn edit_in_place(object: &ManifestObject, result: &ObjectResult) -> Option<Finding> {
    if result.is_rotated || !result.problems.is_empty() {
        return None;
    }
    let overwrites = |change: &&FieldChange| change.overwrites;
    let change = match &result.since {
        TemplateChange::Changed(change) => change,
        TemplateChange::Same => return None,
        TemplateChange::Unknown => result.changes.iter().find(overwrites)?,
    };
    immutable_path(object)?;
    let kind = providers::find_for_object(&object.api_version, &object.kind).map(|(_, kind)| kind);
    let (why, level) = rules::not_applied(machine_answer(object));
    let is_manual = !result.changes.iter().any(|change| change.overwrites);
    let gets = if is_manual {
        "changes under the same name"
    } else {
        "gets another image"
    };
    let message = format!("{} {gets}, {why}", object.title());
    let finding = finding(RuleId::TemplateEditedInPlace, message, object, result)
        .with_label(change.spot.clone(), format!("`{}` changes", change.path))
        .help(match (is_manual, kind.is_none_or(Kind::is_template)) {
            (_, true) if object.is_patch => {
                "give the template that it patches another name, and write that into the patch too"
            }
            (true, true) => "give it another name, and write that into what refers to it",
            (false, true) => {
                "run `metalmark stamp --rotate`: a new name, and every reference moved to it"
            }
            (_, false) => "change the template that its owner makes it from",
        });
    Some(finding.unless_set(level))
}
