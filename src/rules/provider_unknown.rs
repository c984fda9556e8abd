//! A cluster's infrastructure provider is unknown, or several providers select an image.

use capi::providers::PROVIDERS;
use yaml_tree::suggest::did_you_mean;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at the cluster; that several providers select an image is found while reading.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let unknown = input.view.cluster.find_unknown_provider();
    let Some(name) = unknown.filter(|name| name.place.is_known()) else {
        return;
    };
    let message = format!(
        "nothing is known of the infrastructure provider `{}`",
        name.value
    );
    let finding = Finding::new(RuleId::ProviderUnknown, message)
        .with_subject(input.subject(None))
        .with_label(input.spot(name.place), "its images are not checked");
    let known = || PROVIDERS.iter().map(|provider| provider.data().name);
    findings.push(match did_you_mean(&name.value, known()) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => {
            let known: Vec<String> = known().map(|name| format!("`{name}`")).collect();
            finding.help(format!("known are {}", known.join(", ")))
        }
    });
}
