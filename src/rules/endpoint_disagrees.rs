//! Two values name different control plane endpoints.

use std::sync::Arc;

use yaml_tree::place::Place;

use crate::model::endpoint::{Endpoint, Statement, same_host};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules::ClusterInput;

/// Holds everything that names the endpoint against the one that is taken.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let Some((found, endpoint)) = input.endpoint() else {
        return;
    };
    let finding_of = |message: String| {
        Finding::new(RuleId::EndpointDisagrees, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(endpoint.host.place), "the endpoint")
    };
    for statement in &found.statements {
        let path = statement.path;
        if let Some((other, place)) = difference(endpoint, statement) {
            let own = describe(endpoint, statement);
            let message = format!("`{path}` names `{other}`, and the endpoint is `{own}`");
            let finding = finding_of(message).with_label(input.spot(place), "another one");
            let finding = finding.help(format!("`{path}`: write `{own}`, or remove it"));
            // Whether both ways lead to the API server is not known of manifests.
            findings.push(if input.is_of_values() {
                finding
            } else {
                finding.unless_set(Level::Warning)
            });
        }
    }
    let Some(names) = &found.certificate_names else {
        return;
    };
    let host = &endpoint.host.value;
    let is_it = |name: &Arc<str>| same_host(name, host) == Some(true);
    if !names.value.iter().any(is_it) {
        let message = format!("the certificate would not hold the endpoint `{host}`");
        let finding = finding_of(message).with_label(input.spot(names.place), "these it holds");
        findings.push(finding.help(format!(
            "add `{host}` to `cluster.control_plane_endpoint.cert_sans`"
        )));
    }
}

/// What a statement names otherwise, and where.
fn difference(endpoint: &Endpoint, statement: &Statement) -> Option<(String, Place)> {
    let host = statement.host.as_ref();
    let host = host.filter(|host| same_host(&host.value, &endpoint.host.value) == Some(false));
    let port = statement.port.as_ref();
    let port = port.filter(|port| port.value != endpoint.port);
    match (host, port) {
        (Some(host), _) => Some((host.value.to_string(), host.place)),
        (None, Some(port)) => Some((port.value.to_string(), port.place)),
        (None, None) => None,
    }
}

/// The part of the endpoint that the statement differs in.
fn describe(endpoint: &Endpoint, statement: &Statement) -> String {
    let host = statement.host.as_ref();
    match host.and_then(|host| same_host(&host.value, &endpoint.host.value)) {
        Some(false) => endpoint.host.value.to_string(),
        _ => endpoint.port.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::Way;
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};

    fn located<T>(value: T) -> Option<Located<T>> {
        Some(Located::new(value, Place::NONE))
    }

    #[test]
    fn another_host_and_another_port_are_reported_and_a_name_for_an_address_is_not() {
        let found = |host: &str, port: u16| {
            let mut given = Given::new();
            let endpoint = given.endpoint(Way::Vip, "192.0.2.10");
            endpoint.state("cluster_virtual_ip", located(host.into()), located(port));
            given.found(RuleId::EndpointDisagrees)
        };
        assert_eq!(found("192.0.2.10", 6443), "");
        assert_eq!(found("api.example.org", 6443), "");
        let other = found("192.0.2.20", 6443);
        assert!(other.starts_with(
            "`cluster_virtual_ip` names `192.0.2.20`, and the endpoint is `192.0.2.10`\n"
        ));
        assert!(found("192.0.2.10", 443).contains("names `443`, and the endpoint is `6443`"));
    }

    #[test]
    fn a_certificate_without_the_endpoint_is_reported() {
        let found = |name: &str| {
            let mut given = Given::new();
            let endpoint = given.endpoint(Way::Explicit, "2001:db8::1");
            endpoint.certificate_names = located(vec!["x.example".into(), name.into()]);
            given.found(RuleId::EndpointDisagrees)
        };
        assert_eq!(found("2001:DB8::0:1"), "");
        assert!(found("192.0.2.1").starts_with("the certificate would not hold"));
    }
}
