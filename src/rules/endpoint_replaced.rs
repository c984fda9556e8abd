//! A change replaces the control plane endpoint of a cluster.

use yaml_tree::engine::Engine;
use yaml_tree::json::scalar_text;
use yaml_tree::place::{FileId, Located, Place};

use crate::model::cluster_view::ClusterView;
use crate::model::endpoint::{Endpoint, Host, Way};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::{ChangeInput, Side};

/// Looks at clusters that have an endpoint on both sides.
pub(super) fn change(input: &ChangeInput<'_>, findings: &mut Vec<Finding>) {
    let Some((was, is)) = endpoint(&input.before).zip(endpoint(&input.after)) else {
        return;
    };
    let finding = if was.authority() != is.authority() {
        replacement(input.after.view, was, is)
    } else if let (Way::Host(_), Way::Explicit) = (&was.way, &is.way) {
        let message = format!("the control plane endpoint was `{was}`, and no host has it now");
        Finding::new(RuleId::EndpointReplaced, message)
            .with_subject(Subject::cluster(&input.after.view.cluster.name))
            .help("leave the endpoint blank, and a host of the control plane takes its place; if a load balancer answers there, ignore this")
    } else {
        return;
    };
    findings.push(
        finding
            .with_label(input.spot(is.host.place), FROM_NOW_ON)
            .with_label(input.spot_before(was.host.place), "the endpoint so far"),
    );
}

const FROM_NOW_ON: &str = "the endpoint from now on";

/// That a cluster's endpoint is another one than the rendered text that lies there says.
pub fn endpoint_replacement(view: &ClusterView, text: &str) -> Option<Finding> {
    let cluster = &view.cluster;
    let is = cluster.endpoint.as_ref()?.endpoint.as_ref()?;
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).ok()?;
    let mut documents = read.documents.iter();
    let said = documents.find_map(|object| {
        let is_its = object.text(&["metadata", "name"]) == Some(&*cluster.object_name);
        let path = ["spec", "controlPlaneEndpoint"];
        object.get_path(&path).filter(|_| is_its)
    })?;
    let port = said.get_path(&["port"])?;
    let was = Endpoint {
        way: Way::Explicit,
        host: Located::new(said.text(&["host"])?.into(), Place::NONE),
        port: scalar_text(&port.value)?.parse().ok()?,
    };
    if was.authority() == is.authority() {
        return None;
    }
    let finding = replacement(view, &was, is);
    Some(finding.with_label(view.sources.resolve(is.host.place), FROM_NOW_ON))
}

fn replacement(view: &ClusterView, was: &Endpoint, is: &Endpoint) -> Finding {
    let message =
        format!("the control plane endpoint `{was}` is replaced by `{is}`, and no machine is");
    let finding = Finding::new(RuleId::EndpointReplaced, message)
        .with_subject(Subject::cluster(&view.cluster.name));
    let finding = match find_holder(view, was) {
        Some(host) => finding.help(format!(
            "host `{}` still has it, and keeps it by `cluster.control_plane_endpoint.host: {}`",
            host.name, was.host.value
        )),
        None => finding,
    };
    finding
        .help("Cluster API takes the endpoint of an infrastructure cluster once: set `spec.controlPlaneEndpoint` of the Cluster too")
        .help("machines know the old one until they are replaced, the control plane's first: `rolloutAfter`")
}

/// The host of the control plane that has the address of an endpoint.
fn find_holder<'v>(view: &'v ClusterView, endpoint: &Endpoint) -> Option<&'v Host> {
    let found = view.cluster.endpoint.as_ref()?;
    let mut owners = found.owners(&endpoint.host.value).map(|(host, _)| host);
    owners.find(|host| found.is_claimed(host))
}

fn endpoint<'a>(side: &Side<'a>) -> Option<&'a Endpoint> {
    side.view.cluster.endpoint.as_ref()?.endpoint.as_ref()
}
