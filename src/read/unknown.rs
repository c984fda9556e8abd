//! Names in the project file that are unknown: targets, and the targets' options.

use yaml_tree::suggest::did_you_mean;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::settings::Settings;
use crate::render::targets;

use super::places::Places;

/// Targets and options that the settings name and that are unknown.
pub(super) fn names(settings: &Settings, places: &Places<'_>) -> Vec<Finding> {
    let mut findings = options(settings, places);
    let names: Vec<&str> = targets::TARGETS
        .iter()
        .map(|target| target.name())
        .collect();
    for output in settings
        .outputs
        .iter()
        .filter(|output| !names.contains(&&*output.target))
    {
        let message = format!("there is no target `{}`", output.target);
        let help = suggestion(
            &output.target,
            &names,
            &format!("the targets are {}", names.join(", ")),
        );
        findings.push(
            Finding::new(RuleId::ProjectFile, message)
                .with_label(output.spot.as_ref().and(places.word(&output.target)), "")
                .help(help),
        );
    }
    findings
}

/// Options of outputs that their targets do not have.
fn options(settings: &Settings, places: &Places<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, output) in settings.outputs.iter().enumerate() {
        let Some(target) = targets::find(&output.target) else {
            continue;
        };
        let known: Vec<&str> = target.options().iter().map(|(name, _)| *name).collect();
        let unknown = output.options.keys();
        for name in unknown.filter(|name| !known.contains(&name.as_str())) {
            let message = format!("target `{}` has no option `{name}`", output.target);
            let all = format!("its options are {}", known.join(", "));
            let finding = Finding::new(RuleId::ProjectFile, message)
                .with_label(places.key_of_item(&["outputs"], index, name), "")
                .help(suggestion(name, &known, &all));
            findings.push(finding);
        }
    }
    findings
}

pub(super) fn suggestion(word: &str, known: &[&str], otherwise: &str) -> String {
    did_you_mean(word, known.iter().copied()).map_or_else(
        || otherwise.to_owned(),
        |name| format!("did you mean `{name}`?"),
    )
}
