//! What the values say of a control plane endpoint, in every type that they may have.

use super::super::support::project::Project;
use super::rows;

const HOSTS: &str = "\
inventory:
    a: {labels: {role: cp}, addresses: {vpn: 192.0.2.31}}
    b: {labels: {role: cp, zone: 1}, addresses: {internal: 192.0.2.12, vpn: 192.0.2.32}}
    c: {labels: {role: cp}, addresses: {internal: 192.0.2.13, primary: ''}}
    w: {labels: {role: worker}, addresses: {internal: 192.0.2.11}}
    gone: null
";

/// Asserts the endpoint of each row's settings, and the text that each wrong one has.
fn each(table: &str) {
    for [settings, expected, wrong] in rows(table) {
        let values = format!(
            "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {{infra_provider: elemental}}\n  {HOSTS}  \
             control_plane: {{elemental: {{selector: {{matchLabels: {{role: cp}}}}}}}}\n  \
             control_plane_endpoint: {{{settings}}}\n"
        );
        let project = Project::of(&values, "");
        let view = project.view();
        let found = view.cluster.endpoint.as_ref();
        let hosts = found.iter().flat_map(|found| &found.hosts);
        let hosts: Vec<&str> = hosts.map(|host| &*host.name).collect();
        assert_eq!(hosts, ["a", "b", "c", "w"], "{values}");
        let endpoint = found.and_then(|found| found.endpoint.as_ref());
        let text = endpoint.map(|found| format!("{}:{}", found.host.value, found.port));
        assert_eq!(text.unwrap_or_default(), expected, "{values}");
        let wrong = wrong.split(" & ").filter(|text| !text.is_empty());
        let wrong: Vec<String> = wrong.map(|text| format!("error - [{text}]")).collect();
        assert_eq!(project.found("value-type"), wrong, "{values}");
    }
}

#[test]
fn a_port_is_a_whole_number_up_to_65535() {
    each(
        "
        vip: a.b | a.b:6443 |
        vip: a.b, port: 1 | a.b:1 |
        vip: a.b, port: 65535 | a.b:65535 |
        vip: a.b, port: 65536 | a.b:6443 | 65536
        vip: a.b, port: 0 | a.b:6443 | 0
        vip: a.b, port: -1 | a.b:6443 | -1
        vip: a.b, port: 1.0 | a.b:1 |
        vip: a.b, port: 65535.0 | a.b:65535 |
        vip: a.b, port: 65536.0 | a.b:6443 | 65536.0
        vip: a.b, port: 7443.5 | a.b:6443 | 7443.5
        vip: a.b, port: 0.0 | a.b:6443 | 0.0
        vip: a.b, port: '7443' | a.b:7443 |
        vip: a.b, port: '0' | a.b:6443 | '0'
        vip: a.b, port: '' | a.b:6443 | ''
        vip: a.b, port: true | a.b:6443 | true
        vip: a.b, port: null | a.b:6443 |
        explicit: {host: a.b, port: 1}, port: 2 | a.b:1 |
        explicit: {host: a.b}, port: 2 | a.b:2 |
        ",
    );
}

/// Argo CD's parameters are whole numbers; in a file every number is a float.
#[test]
fn a_parameter_may_be_a_port_or_a_number_of_nodes() {
    let port = "cluster.control_plane_endpoint.port";
    let parameter = |(name, value)| format!("{{name: {name}, value: '{value}'}}");
    let parameters = [
        ("cluster.k8s_version", "v1.34.1"),
        ("cluster.control_plane_endpoint.vip", "a.b"),
        (port, "7443"),
        ("cluster.control_plane_replicas", "3"),
    ];
    let parameters = parameters.map(parameter).join(", ");
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: edge}}\nspec:\n  \
         destination: {{namespace: edge}}\n  source:\n    repoURL: https://git.example.org/it.git\n    path: chart\n    \
         helm: {{parameters: [{parameters}]}}\n"
    );
    let project = Project::new(&[
        (
            "metalmark.yaml",
            "version: 1\nclusters: [{name: edge, values: [apps]}]\n",
        ),
        ("apps/edge.yaml", &application),
        ("chart/values.yaml", "{}\n"),
    ]);
    let view = project.view();
    let found = view.cluster.endpoint.as_ref().expect("it is set");
    let endpoint = found.endpoint.as_ref().expect("it has a host");
    assert_eq!(endpoint.port, 7443);
    let replicas = view.cluster.pools[0].replicas.as_ref();
    assert_eq!(replicas.map(|count| count.value), Some(3));
}

#[test]
fn a_host_is_an_address_or_a_name() {
    each(
        "
        vip: '2001:db8::1' | 2001:db8::1:6443 |
        vip: ' ' | 192.0.2.12:6443 |
        vip: null | 192.0.2.12:6443 |
        vip: 3 |  | 3
        vip: a_b |  | a_b
        vip: 0.0.0.0 |  | 0.0.0.0
        vip: 'fe80::1' |  | 'fe80::1'
        explicit: {host: 127.0.0.1} |  | 127.0.0.1
        host: 255.255.255.255 |  | 255.255.255.255
        host: localhost |  | localhost
        host: c | 192.0.2.13:6443 |
        host: w, port: 443 | 192.0.2.11:443 |
        explicit: {host: c} | c:6443 |
        explicit: a.b |  | a.b
        explicit: null, vip: a.b | a.b:6443 |
        explicit: {}, vip: a.b | a.b:6443 |
        host: a.b | a.b:6443 |
        host: null, vip: a.b | a.b:6443 |
        host: 3 |  | 3
        host: [a.b] |  | [a.b]
        kube_vip: {address: a.b} |  |
        vip: a.b, kube_vip: {mode: smoke} | a.b:6443 | smoke
        vip: a.b, kube_vip: {mode: 1} | a.b:6443 | 1
        vip: a.b, kube_vip: on | a.b:6443 | on
        vip: a.b, cert_sans: a.b | a.b:6443 | a.b
        vip: a.b, cert_sans: [1] | a.b:6443 | [1]
        vip: a.b, subnets: 192.0.2.0/24 | a.b:6443 |
        vip: a.b, subnets: null | a.b:6443 |
        vip: a.b, subnets: [192.0.2.0/33, 1] | a.b:6443 | 192.0.2.0/33 & 1
        ",
    );
}

#[test]
fn misspelled_keys_of_kube_vip_and_of_hosts_are_found() {
    let values = "\
cluster:
  k8s_version: v1.34.1
  capi_providers: {infra_provider: elemental}
  inventory: {a: {label: {role: cp}, address: {vpn: 192.0.2.31}, rack: 7}}
  control_plane_endpoint: {vip: a.b, kube_vip: {images: a, bgp: {as: 1, peer: []}, routing_table: {clear: 1}, wireguard: {b: c}}}
";
    let project = Project::of(values, "");
    let found = [
        "error - [address] => addresses",
        "error - [label] => labels",
        "error - [images] => image",
        "error - [peer] => peers",
        "error - [clear] => clean",
    ];
    assert_eq!(project.found("value-type"), found);
}

/// The host of the lowest name that the selector matches and that has an address of the first class that any of them has.
#[test]
fn a_host_of_the_inventory_is_the_first_with_the_first_class() {
    each(
        "
        host: {} | 192.0.2.12:6443 |
        host: {address: null} | 192.0.2.12:6443 |
        host: {address: vpn} | 192.0.2.31:6443 |
        host: {address: [vpn, internal]} | 192.0.2.31:6443 |
        host: {address: [public, internal]} | 192.0.2.12:6443 |
        host: {address: primary} |  |
        host: {address: []} |  |
        host: {address: 3} |  | 3
        host: {address: [3]} |  | [3]
        host: {selector: {matchLabels: {role: worker}}} | 192.0.2.11:6443 |
        host: {selector: {matchLabels: {zone: '1'}}} | 192.0.2.12:6443 |
        host: {selector: {matchLabels: {role: gpu}}} |  |
        host: {selector: {}} | 192.0.2.12:6443 |
        host: {selector: text} |  | text
        host: {address: internal}, port: 7443 | 192.0.2.12:7443 |
        host: '', port: 0 | 192.0.2.12:6443 |
        explicit: {host: '', port: 0} | 192.0.2.12:6443 |
        explicit: {host: a.b, port: 0} | a.b:6443 | 0
        ",
    );
}

/// The subnets of the endpoint's own settings, else Sylva's primary network of Metal3, the control plane's before the cluster's.
#[test]
fn the_subnets_of_an_endpoint() {
    let network = |subnet| format!("capm3: {{networks: {{primary: {{subnet: {subnet}}}}}}}");
    let (all, own) = (network("192.0.2.0/24"), network("198.51.100.0/24"));
    for (infra, settings, expected) in [
        ("capm3", all.clone(), "192.0.2.0/24"),
        (
            "capm3",
            format!("control_plane: {{{own}}}\n  {all}"),
            "198.51.100.0/24",
        ),
        (
            "capm3",
            format!("control_plane: {{capm3: {{}}}}\n  {all}"),
            "192.0.2.0/24",
        ),
        ("capm3", "capm3: {}".to_owned(), ""),
        ("capo", all.clone(), ""),
        ("elemental", all, ""),
    ] {
        for (subnets, written) in [
            ("", expected),
            (
                ", subnets: [10.0.0.0/8, 10.0.0.0/9]",
                "10.0.0.0/8 10.0.0.0/9",
            ),
        ] {
            let values = format!(
                "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {{infra_provider: {infra}}}\n  \
                 control_plane_endpoint: {{vip: 192.0.2.10{subnets}}}\n  {settings}\n"
            );
            let view = Project::of(&values, "").view();
            let found = view.cluster.endpoint.as_ref().expect("it is set");
            let found = found.subnets.iter().map(|subnet| subnet.value.to_string());
            assert_eq!(found.collect::<Vec<_>>().join(" "), written, "{values}");
        }
    }
}
