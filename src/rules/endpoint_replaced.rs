//! A change replaces the control plane endpoint of a cluster.

use crate::model::endpoint::Endpoint;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::{ChangeInput, Side};

/// Looks at clusters that have an endpoint on both sides.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let Some((was, is)) = endpoint(&input.before).zip(endpoint(&input.after)) else {
        return;
    };
    if was.authority() == is.authority() {
        return;
    }
    let message =
        format!("the control plane endpoint `{was}` is replaced by `{is}`, and no machine is");
    let finding = Finding::new(RuleId::EndpointReplaced, message)
        .with_subject(Subject::cluster(&input.after.view.cluster.name))
        .with_label(input.spot(is.host.place), "the endpoint from now on")
        .with_label(input.spot_before(was.host.place), "the endpoint so far")
        .help("Cluster API takes the endpoint of an infrastructure cluster once: set `spec.controlPlaneEndpoint` of the Cluster too")
        .help("machines know the old one until they are replaced, the control plane's first: `rolloutAfter`");
    findings.push(finding);
}

fn endpoint<'a>(side: &Side<'a>) -> Option<&'a Endpoint> {
    side.view.cluster.endpoint.as_ref()?.endpoint.as_ref()
}
