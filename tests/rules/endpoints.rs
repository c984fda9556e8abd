//! Control plane endpoints and the hosts that pools claim.

use super::super::support::project::Project;

const ENDPOINTS: &str = "outputs: [{target: manifests, path: rendered, infra-cluster: true}]\n";

/// Asserts what a rule finds in a cluster with those settings, which an output writes an endpoint of.
fn each(rule: &str, rows: &[(&str, &[&str])]) {
    for (settings, expected) in rows {
        let values = format!(
            "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpk}}\n  {}\n",
            settings.replace("; ", "\n  ")
        );
        let found = Project::of(&values, ENDPOINTS).found(rule);
        assert_eq!(found, *expected, "{rule}:\n{values}\n{found:#?}");
    }
}

#[test]
fn a_rendered_cluster_has_an_endpoint() {
    each(
        "endpoint-missing",
        &[
            ("control_plane_endpoint: {vip: 192.0.2.10}", &[]),
            (
                "control_plane_endpoint: {explicit: {host: api.example.org}}",
                &[],
            ),
            ("control_plane_endpoint: {host: 192.0.2.10}", &[]),
            ("cluster_virtual_ip: 192.0.2.10", &[]),
            (
                "control_plane_replicas: 1",
                &[
                    "error - [cluster] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.control_plane_endpoint.host: {address: internal}",
                ],
            ),
            (
                "control_plane_endpoint: {vip: ''}",
                &[
                    "error - [control_plane_endpoint] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.control_plane_endpoint.host: {address: internal}",
                ],
            ),
            (
                "control_plane_endpoint: {host: {address: internal}}",
                &[
                    "error - [control_plane_endpoint] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.control_plane_endpoint.host: {address: internal}",
                ],
            ),
        ],
    );
    let silent = "cluster: {k8s_version: v1.34.1, control_plane_replicas: 1}";
    assert!(Project::of(silent, "").found("endpoint-missing").is_empty());
    let unsaid = "cluster: {k8s_version: v1.34.1, control_plane_endpoint: {vip: ''}}";
    assert!(Project::of(unsaid, "").found("endpoint-missing").is_empty());
    let off = ENDPOINTS.replace("true", "false");
    assert!(
        Project::of(silent, &off)
            .found("endpoint-missing")
            .is_empty()
    );
}

#[test]
fn all_that_is_said_of_an_endpoint_agrees() {
    each(
        "endpoint-disagrees",
        &[
            (
                "control_plane_endpoint: {vip: 192.0.2.10}; cluster_virtual_ip: 192.0.2.10",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10}; cluster_virtual_ip: 192.0.2.20",
                &["error - [192.0.2.10, 192.0.2.20] => cluster.cluster_virtual_ip | 192.0.2.10"],
            ),
            (
                "control_plane_endpoint: {vip: '2001:db8::10'}; cluster_virtual_ip: '2001:0db8:0::10'",
                &[],
            ),
            // The first of explicit, virtual IP and host decides; the others are compared with it.
            (
                "control_plane_endpoint: {explicit: {host: 192.0.2.1}, vip: 192.0.2.10, host: 192.0.2.11}",
                &[
                    "error - [192.0.2.1, 192.0.2.10] => cluster.control_plane_endpoint.vip | 192.0.2.1",
                    "error - [192.0.2.1, 192.0.2.11] => cluster.control_plane_endpoint.host | 192.0.2.1",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, registration_address: 192.0.2.11}",
                &[
                    "error - [192.0.2.10, 192.0.2.11] => cluster.control_plane_endpoint.registration_address | 192.0.2.10",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.10, port: 6443}}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.10, port: 7443}}",
                &["error - [192.0.2.10, 7443] => cluster.control_plane_endpoint.kube_vip | 6443"],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, port: 7443, kube_vip: {port: 7443}}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.11, port: 7443}}",
                &[
                    "error - [192.0.2.10, 192.0.2.11] => cluster.control_plane_endpoint.kube_vip | 192.0.2.10",
                ],
            ),
            // The certificate is for the endpoint, among others.
            (
                "control_plane_endpoint: {vip: 192.0.2.10, cert_sans: [a.b, 192.0.2.10]}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, cert_sans: [a.b]}",
                &[
                    "error - [192.0.2.10, [a.b]] => 192.0.2.10 | cluster.control_plane_endpoint.cert_sans",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, cert_sans: []}",
                &[
                    "error - [192.0.2.10, []] => 192.0.2.10 | cluster.control_plane_endpoint.cert_sans",
                ],
            ),
        ],
    );
}

#[test]
fn an_endpoint_is_an_address_that_nobody_else_has() {
    let hosts = "inventory: {server-1: {addresses: {internal: 192.0.2.11, public: 198.51.100.1}}, server-2: {addresses: {internal: 192.0.2.12}}}";
    let rows: [(String, &[&str]); 7] = [
        (format!("control_plane_endpoint: {{vip: 192.0.2.10}}; {hosts}"), &[]),
        (format!("control_plane_endpoint: {{vip: 192.0.2.12}}; {hosts}"), &["error - [192.0.2.12, 192.0.2.12]"]),
        (format!("control_plane_endpoint: {{vip: 198.51.100.1}}; {hosts}"), &["error - [198.51.100.1, 198.51.100.1]"]),
        // An endpoint that is no virtual IP may be a host's own.
        (format!("control_plane_endpoint: {{explicit: {{host: 192.0.2.12}}}}; {hosts}"), &[]),
        ("control_plane_endpoint: {vip: 10.42.0.1}; cluster_pods_cidrs: [10.42.0.0/16]; cluster_services_cidrs: [10.43.0.0/16]".to_owned(), &["error - [10.42.0.1, 10.42.0.0/16]"]),
        ("control_plane_endpoint: {explicit: {host: 10.43.0.1}}; cluster_pods_cidrs: [10.42.0.0/16]; cluster_services_cidrs: [10.40.0.0/16, 10.43.0.0/16]".to_owned(), &["error - [10.43.0.1, 10.43.0.0/16]"]),
        ("control_plane_endpoint: {explicit: {host: api.example.org}}; cluster_pods_cidrs: [0.0.0.0/0]".to_owned(), &[]),
    ];
    for (settings, expected) in &rows {
        each("endpoint-collides", &[(settings, expected)]);
    }
}

#[test]
fn a_virtual_ip_is_in_the_hosts_network_unless_it_is_routed() {
    each(
        "endpoint-not-in-subnet",
        &[
            ("control_plane_endpoint: {vip: 192.0.2.10}", &[]),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, subnets: [192.0.2.0/26]}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.10, subnets: 192.0.2.0/26}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26]}",
                &[
                    "error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26, 192.0.2.64/26]}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.130, subnets: [192.0.2.0/26, 192.0.2.64/26]}",
                &[
                    "error - [192.0.2.130, 192.0.2.0/26, 192.0.2.64/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: bgp}}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: routing-table}}",
                &[],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: arp}}",
                &[
                    "error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp",
                ],
            ),
            (
                "control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {}}",
                &[
                    "error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp",
                ],
            ),
            (
                "control_plane_endpoint: {explicit: {host: 192.0.2.70}, subnets: [192.0.2.0/26]}",
                &[],
            ),
        ],
    );
}

const SERVERS: &str = "\
inventory: {a: {labels: {role: cp}, addresses: {internal: 192.0.2.11}}, b: {labels: {role: cp}, addresses: {internal: 192.0.2.12}}, w: {labels: {role: worker}, addresses: {internal: 192.0.2.21}}}; \
control_plane: {elemental: {selector: {matchLabels: {role: cp}}}}";

#[test]
fn one_host_is_no_endpoint_of_several() {
    for (count, endpoint, expected) in [
        (1, "host: {address: internal}", None),
        (
            2,
            "host: {address: internal}",
            Some("warning control-plane [192.0.2.11, 2] => cluster.control_plane_endpoint.vip: …"),
        ),
        (
            3,
            "host: {address: internal}",
            Some("warning control-plane [192.0.2.11, 3] => cluster.control_plane_endpoint.vip: …"),
        ),
        (3, "vip: 192.0.2.10", None),
        (3, "host: 192.0.2.11", None),
    ] {
        let settings = format!(
            "control_plane_endpoint: {{{endpoint}}}; {SERVERS}; control_plane_replicas: {count}"
        );
        let expected: Vec<&str> = expected.into_iter().collect();
        each("endpoint-single-host", &[(&settings, &expected)]);
    }
}

#[test]
fn there_are_hosts_for_every_replica_and_one_to_roll_with() {
    for (count, more, expected) in [
        (0, "", None),
        (1, "", None),
        (2, "", Some("warning")),
        (2, ", nodeReuse: true", None),
        (2, ", nodeReuse: false", Some("warning")),
        (3, "", Some("error")),
        (3, ", nodeReuse: true", Some("error")),
    ] {
        let metal3 = SERVERS.replace(
            "elemental: {selector: {matchLabels: {role: cp}}}",
            &format!("capm3: {{hostSelector: {{matchLabels: {{role: cp}}}}{more}}}"),
        );
        let settings = format!(
            "control_plane_endpoint: {{vip: 192.0.2.10}}; {metal3}; control_plane_replicas: {count}; capi_providers: {{infra_provider: capm3}}"
        );
        let values = format!(
            "cluster:\n  k8s_version: v1.34.1\n  {}\n",
            settings.replace("; ", "\n  ")
        );
        let found = Project::of(&values, ENDPOINTS).found("hosts-short");
        let expected: Vec<String> = expected
            .map(|level| format!("{level} control-plane [{count}]"))
            .into_iter()
            .collect();
        assert_eq!(found, expected, "{values}");
    }
    // A pool that no host is labeled for, and a pool whose size is not said.
    let workers = format!(
        "control_plane_endpoint: {{vip: 192.0.2.10}}; {SERVERS}; machine_deployments: {{none: {{replicas: 1, elemental: {{selector: {{matchLabels: {{role: gpu}}}}}}}}, zero: {{replicas: 0, elemental: {{selector: {{matchLabels: {{role: gpu}}}}}}}}, unsaid: {{elemental: {{selector: {{matchLabels: {{role: gpu}}}}}}}}}}"
    );
    each("hosts-short", &[(&workers, &["error none [1]"])]);
    let unlisted = workers.replace("inventory:", "other:");
    each("hosts-short", &[(&unlisted, &[])]);
}

#[test]
fn pools_claim_other_hosts_than_the_control_plane() {
    let pool = |labels: &str| {
        format!(
            "control_plane_endpoint: {{vip: 192.0.2.10}}; {SERVERS}; machine_deployments: {{md0: {{elemental: {{selector: {{matchLabels: {labels}}}}}}}}}"
        )
    };
    let empty = |labels: &str| pool(labels).replace("inventory:", "other:");
    for (settings, is_shared) in [
        (pool("{role: worker}"), false),
        (pool("{role: cp}"), true),
        (pool("{}"), true),
        (pool("{role: cp, zone: a}"), false),
        // Without an inventory, only selectors that one another's hosts all have.
        (empty("{role: worker}"), false),
        (empty("{role: cp}"), true),
        (empty("{role: cp, zone: a}"), true),
        (empty("{}"), true),
        (empty("{zone: a}"), false),
    ] {
        let expected: Vec<&str> = is_shared
            .then_some("error md0 [md0, control_plane] => role")
            .into_iter()
            .collect();
        each("selectors-overlap", &[(&settings, &expected)]);
    }
}
