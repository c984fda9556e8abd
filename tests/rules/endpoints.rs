//! Control plane endpoints and the hosts that pools claim.

use snapbox::str;

use super::super::support::project::Project;
use super::super::support::stage::{Is, Stage, assert_text, project, table};
use super::rows::assert_cases;
use super::{fails, passes, warns};

const ENDPOINTS: &str = "outputs: [{target: manifests, path: rendered, infra-cluster: true}]\n";

/// The values of a cluster with those settings, a line each.
fn values(settings: &str) -> String {
    format!(
        "cluster:\n  k8s_version: v1.34.1\n  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpk}}\n  {}\n",
        settings.replace('\n', "\n  ")
    )
}

/// What a rule finds in a cluster that an output writes an endpoint of.
fn found(rule: &str, settings: &str) -> Vec<String> {
    Project::of(&values(settings), ENDPOINTS).found(rule)
}

#[test]
fn a_rendered_cluster_has_an_endpoint() {
    let of = |case: &str| found("endpoint-missing", case);
    assert_cases(
        str![[r#"
control_plane_endpoint: {vip: 192.0.2.10}
control_plane_endpoint: {explicit: {host: api.example.org}}
control_plane_endpoint: {host: 192.0.2.10}
cluster_virtual_ip: 192.0.2.10
control_plane_replicas: 1
    error - [cluster] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.inventory
control_plane_endpoint: {vip: ''}
    error - [control_plane_endpoint] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.inventory
control_plane_endpoint: {host: {address: internal}}
    error - [control_plane_endpoint] => cluster.control_plane_endpoint.vip: 192.0.2.10 | cluster.inventory

"#]],
        of,
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
    let of = |case: &str| found("endpoint-disagrees", case);
    assert_cases(
        str![[r#"
control_plane_endpoint: {vip: 192.0.2.10}; cluster_virtual_ip: 192.0.2.10
control_plane_endpoint: {vip: 192.0.2.10}; cluster_virtual_ip: 192.0.2.20
    error - [192.0.2.10, 192.0.2.20] => cluster.cluster_virtual_ip | 192.0.2.10
control_plane_endpoint: {vip: '2001:db8::10'}; cluster_virtual_ip: '2001:0db8:0::10'
# The first of explicit, virtual IP and host decides; the others are compared with it.
control_plane_endpoint: {explicit: {host: 192.0.2.1}, vip: 192.0.2.10, host: 192.0.2.11}
    error - [192.0.2.1, 192.0.2.10] => cluster.control_plane_endpoint.vip | 192.0.2.1
    error - [192.0.2.1, 192.0.2.11] => cluster.control_plane_endpoint.host | 192.0.2.1
control_plane_endpoint: {vip: 192.0.2.10, registration_address: 192.0.2.11}
    error - [192.0.2.10, 192.0.2.11] => cluster.control_plane_endpoint.registration_address | 192.0.2.10
control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.10, port: 6443}}
control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.10, port: 7443}}
    error - [192.0.2.10, 7443] => cluster.control_plane_endpoint.kube_vip | 6443
control_plane_endpoint: {vip: 192.0.2.10, port: 7443, kube_vip: {port: 7443}}
control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {address: 192.0.2.11, port: 7443}}
    error - [192.0.2.10, 192.0.2.11] => cluster.control_plane_endpoint.kube_vip | 192.0.2.10
control_plane_endpoint: {vip: 192.0.2.10}; infra_cluster: {controlPlaneEndpoint: {host: 192.0.2.11, port: 6443}}
    error - [192.0.2.10, 192.0.2.11] => cluster.infra_cluster.controlPlaneEndpoint | 192.0.2.10
control_plane_endpoint: {vip: 192.0.2.10}; infra_cluster: {controlPlaneEndpoint: {host: 192.0.2.10, port: 443}}
    error - [192.0.2.10, 443] => cluster.infra_cluster.controlPlaneEndpoint | 6443
control_plane_endpoint: {port: 7443}; cluster_virtual_ip: 192.0.2.10; infra_cluster: {controlPlaneEndpoint: {port: 7443}}
# The port of a blank endpoint is compared with the common one.
control_plane_endpoint: {vip: 192.0.2.10, port: 7443, explicit: {host: '', port: 443}}
    error - [192.0.2.10, 443] => cluster.control_plane_endpoint.explicit | 7443
control_plane_endpoint: {vip: 192.0.2.10, explicit: {host: '', port: 443}, kube_vip: {port: 443}}
control_plane_endpoint: {port: 7443, kube_vip: {port: 7443}}; infra_cluster: {controlPlaneEndpoint: soon}; cluster_virtual_ip: 192.0.2.10
# The certificate is for the endpoint, among others.
control_plane_endpoint: {vip: 192.0.2.10, cert_sans: [a.b, 192.0.2.10]}
control_plane_endpoint: {vip: 192.0.2.10, cert_sans: [a.b]}
    error - [192.0.2.10, [a.b]] => 192.0.2.10 | cluster.control_plane_endpoint.cert_sans
control_plane_endpoint: {vip: 192.0.2.10, cert_sans: []}
    error - [192.0.2.10, []] => 192.0.2.10 | cluster.control_plane_endpoint.cert_sans

"#]],
        of,
    );
}

#[test]
fn an_endpoint_is_an_address_that_nobody_else_has() {
    let hosts = "inventory: {server-1: {addresses: {internal: 192.0.2.11, public: 198.51.100.1}}, server-2: {addresses: {internal: 192.0.2.12}}}";
    let of = |case: &str| found("endpoint-collides", &case.replace("HOSTS", hosts));
    assert_cases(
        str![[r#"
control_plane_endpoint: {vip: 192.0.2.10}; HOSTS
control_plane_endpoint: {vip: 192.0.2.12}; HOSTS
    error - [192.0.2.12, 192.0.2.12]
control_plane_endpoint: {vip: 198.51.100.1}; HOSTS
    error - [198.51.100.1, 198.51.100.1]
# An endpoint that is not a virtual IP may be a host's own.
control_plane_endpoint: {explicit: {host: 192.0.2.12}}; HOSTS
control_plane_endpoint: {vip: 10.42.0.1}; cluster_pods_cidrs: [10.42.0.0/16]; cluster_services_cidrs: [10.43.0.0/16]
    error - [10.42.0.1, 10.42.0.0/16]
control_plane_endpoint: {explicit: {host: 10.43.0.1}}; cluster_pods_cidrs: [10.42.0.0/16]; cluster_services_cidrs: [10.40.0.0/16, 10.43.0.0/16]
    error - [10.43.0.1, 10.43.0.0/16]
control_plane_endpoint: {explicit: {host: api.example.org}}; cluster_pods_cidrs: [0.0.0.0/0]

"#]],
        of,
    );
}

#[test]
fn a_virtual_ip_is_in_the_hosts_network_unless_it_is_routed() {
    let of = |case: &str| found("endpoint-not-in-subnet", case);
    assert_cases(
        str![[r#"
control_plane_endpoint: {vip: 192.0.2.10}
control_plane_endpoint: {vip: 192.0.2.10, subnets: [192.0.2.0/26]}
control_plane_endpoint: {vip: 192.0.2.10, subnets: 192.0.2.0/26}
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26]}
    error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26, 192.0.2.64/26]}
control_plane_endpoint: {vip: 192.0.2.130, subnets: [192.0.2.0/26, 192.0.2.64/26]}
    error - [192.0.2.130, 192.0.2.0/26, 192.0.2.64/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: bgp}}
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: routing-table}}
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {mode: arp}}
    error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp
control_plane_endpoint: {vip: 192.0.2.70, subnets: [192.0.2.0/26], kube_vip: {}}
    error - [192.0.2.70, 192.0.2.0/26] => cluster.control_plane_endpoint.kube_vip.mode: bgp
control_plane_endpoint: {explicit: {host: 192.0.2.70}, subnets: [192.0.2.0/26]}

"#]],
        of,
    );
}

/// Two hosts of the control plane and a worker.
const SERVERS: &str = "\
inventory: {a: {labels: {role: cp}, addresses: {internal: 192.0.2.11}}, b: {labels: {role: cp}, addresses: {internal: 192.0.2.12}}, w: {labels: {role: worker}, addresses: {internal: 192.0.2.21}}}
control_plane: {elemental: {selector: {matchLabels: {role: cp}}}}
";

#[test]
fn one_host_is_no_endpoint_of_several() {
    let of = |case: &str| found("endpoint-single-host", &format!("{SERVERS}{case}"));
    assert_cases(
        str![[r#"
control_plane_replicas: 1; control_plane_endpoint: {host: {address: internal}}
    warning control-plane [192.0.2.11, 1] => cluster.control_plane_endpoint.vip: …
control_plane_replicas: 2; control_plane_endpoint: {host: {address: internal}}
    warning control-plane [192.0.2.11, 2] => cluster.control_plane_endpoint.vip: …
control_plane_replicas: 3; control_plane_endpoint: {host: {address: internal}}
    warning control-plane [192.0.2.11, 3] => cluster.control_plane_endpoint.vip: …
control_plane_replicas: 3; control_plane_endpoint: {vip: 192.0.2.10}
control_plane_replicas: 3; control_plane_endpoint: {host: 192.0.2.11}
    warning control-plane [192.0.2.11, 3] => cluster.control_plane_endpoint.vip: …

"#]],
        of,
    );
}

#[test]
fn there_are_hosts_for_every_replica_and_one_to_roll_with() {
    let metal3 = SERVERS.replace(
        "elemental: {selector: {matchLabels: {role: cp}}}",
        "capm3: {hostSelector: {matchLabels: {role: cp}}MORE}",
    );
    let of = |case: &str| {
        let (count, more) = case.split_once(' ').unwrap_or((case, ""));
        let settings = format!(
            "control_plane_endpoint: {{vip: 192.0.2.10}}\n{metal3}control_plane_replicas: {count}"
        );
        let values = values(&settings.replace("MORE", more)).replace("elemental", "capm3");
        Project::of(&values, ENDPOINTS).found("hosts-short")
    };
    assert_cases(
        str![[r#"
0
1
2
    warning control-plane [2]
2 , nodeReuse: true
2 , nodeReuse: false
    warning control-plane [2]
3
    error control-plane [3]
3 , nodeReuse: true
    error control-plane [3]

"#]],
        of,
    );
    // A pool that no host is labeled for, and a pool whose size is not said.
    let of = |case: &str| {
        let servers = SERVERS.replace("inventory", case);
        let gpu = "elemental: {selector: {matchLabels: {role: gpu}}}";
        let pools = format!(
            "{{none: {{replicas: 1, {gpu}}}, zero: {{replicas: 0, {gpu}}}, unsaid: {{{gpu}}}}}"
        );
        let settings = format!(
            "control_plane_endpoint: {{vip: 192.0.2.10}}\n{servers}machine_deployments: {pools}"
        );
        found("hosts-short", &settings)
    };
    assert_cases(
        str![[r#"
inventory
    error none [1]
other

"#]],
        of,
    );
}

#[test]
fn pools_claim_other_hosts_than_the_control_plane() {
    let of = |case: &str| {
        let (list, labels) = case.split_once(' ').expect("two words");
        let servers = SERVERS.replace("inventory", list);
        let settings = format!(
            "control_plane_endpoint: {{vip: 192.0.2.10}}\n{servers}machine_deployments: {{md0: {{elemental: {{selector: {{matchLabels: {labels}}}}}}}}}"
        );
        found("selectors-overlap", &settings)
    };
    assert_cases(
        str![[r#"
inventory {role: worker}
inventory {role: cp}
    error md0 [md0, control_plane] => role
inventory {}
    error md0 [md0, control_plane] => role
inventory {role: cp, zone: a}
# Without an inventory, only selectors that one another's hosts all have.
other {role: worker}
other {role: cp}
    error md0 [md0, control_plane] => role
other {role: cp, zone: a}
    error md0 [md0, control_plane] => role
other {}
    error md0 [md0, control_plane] => role
other {zone: a}

"#]],
        of,
    );
}

/// A cluster with those settings, which an output writes an endpoint of.
fn hosts(settings: &str) -> Stage {
    project()
        .settings(ENDPOINTS)
        .cluster("edge", &values(settings))
}

#[test]
fn endpoint_missing() {
    let project = hosts("control_plane_replicas: 1");
    fails("endpoint-missing", &project, "check --allow-empty").brief(str![[r#"
error[endpoint-missing]: the cluster has no control plane endpoint
  edge.yaml:1:1 `cluster` nothing here resolves to an address
  cluster: edge
  help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
  help: a host: list the control plane's in `cluster.inventory`, with their labels and addresses
1 error in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.write(
        "edge.yaml",
        "cluster: {k8s_version: v1.34.1, control_plane_endpoint: {vip: 192.0.2.10}}\n",
    );
    passes("endpoint-missing", &project, "check --allow-empty");
}

#[test]
fn endpoint_disagrees() {
    let project =
        hosts("control_plane_endpoint: {vip: 192.0.2.10}\ncluster_virtual_ip: 192.0.2.20");
    fails("endpoint-disagrees", &project, "check --allow-empty").brief(str![[r#"
error[endpoint-disagrees]: `cluster.cluster_virtual_ip` names `192.0.2.20`, and the endpoint is `192.0.2.10`
  edge.yaml:4:33 `192.0.2.10` the endpoint
  edge.yaml:5:23 `192.0.2.20` another one
  cluster: edge
  help: `cluster.cluster_virtual_ip`: write `192.0.2.10`, or remove it
1 error in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "192.0.2.20", "192.0.2.10");
    passes("endpoint-disagrees", &project, "check --allow-empty");
}

#[test]
fn endpoint_collides() {
    let project = hosts(
        "\
cluster_services_cidrs: [192.0.2.0/25]
elemental: {selector: {matchLabels: {role: cp}}}
control_plane_endpoint: {vip: 192.0.2.11}
inventory:
  server-1: {labels: {role: cp}, addresses: {internal: 192.0.2.11}}",
    );
    fails("endpoint-collides", &project, "check --allow-empty").brief(str![[r#"
error[endpoint-collides]: the endpoint `192.0.2.11` is in the service network `192.0.2.0/25`
  edge.yaml:6:33 `192.0.2.11` the endpoint
  edge.yaml:4:28 `192.0.2.0/25` that network
  cluster: edge
  help: take an address of the hosts' network
error[endpoint-collides]: the virtual IP `192.0.2.11` is host `server-1`'s own address
  edge.yaml:6:33 `192.0.2.11` the endpoint
  edge.yaml:8:58 `192.0.2.11` the host's
  cluster: edge
  help: take an address that no host has
2 errors in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "vip: 192.0.2.11", "vip: 192.0.2.210");
    passes("endpoint-collides", &project, "check --allow-empty");
}

#[test]
fn two_clusters_with_one_endpoint_are_found() {
    let of =
        |vip: &str| format!("cluster: {{k8s_version: v1.34.1, control_plane_endpoint: {{{vip}}}}}");
    let values = |[one, two]: [&str; 2]| {
        let two_clusters = project().cluster("one", &of(one)).cluster("two", &of(two));
        two_clusters.settings(ENDPOINTS).check().findings
    };
    let manifests = |metadata: [&str; 2]| {
        let [one, two] = metadata.map(|metadata| {
            format!("apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{{metadata}}}\nspec: {{controlPlaneEndpoint: {{host: api.example.org, port: 443}}}}\n")
        });
        let files = project()
            .file("dev/edge.yaml", one)
            .file("prod/edge.yaml", two);
        files.check().findings
    };
    let cases = [
        (
            "another port",
            values(["vip: 192.0.2.10", "vip: 192.0.2.10, port: 7443"]),
        ),
        ("one", values(["vip: 192.0.2.10", "vip: 192.0.2.10"])),
        (
            "one name",
            values([
                "explicit: {host: api.example.org}",
                "explicit: {host: API.example.org}",
            ]),
        ),
        (
            "another spelling",
            values(["vip: '2001:db8::1'", "vip: '2001:DB8:0::1'"]),
        ),
        (
            "a value of all clusters",
            project()
                .file("all.yaml", of("vip: 192.0.2.10"))
                .settings("values: [all.yaml]\n")
                .settings(ENDPOINTS)
                .cluster("one", "{}")
                .cluster("two", "{}")
                .check()
                .findings,
        ),
        ("manifests", manifests(["name: one", "name: two"])),
        (
            "one cluster in two folders",
            manifests(["name: one", "name: one"]),
        ),
        (
            "clusters without a name",
            manifests(["namespace: a", "namespace: b"]),
        ),
    ];
    let found: String = cases
        .into_iter()
        .map(|(name, found)| table([name], |_| found.clone()))
        .collect();
    found.is(str![[r#"
another port
    error[nothing-checked] => cluster.capm3.image_key: … | --allow-empty
one
    error[endpoint-collides] two two.yaml:1:63 `192.0.2.10` one.yaml:1:63 `192.0.2.10`
one name
    error[endpoint-collides] two two.yaml:1:75 `API.example.org` one.yaml:1:75 `api.example.org`
another spelling
    error[endpoint-collides] two two.yaml:1:63 `'2001:DB8:0::1'` one.yaml:1:63 `'2001:db8::1'`
a value of all clusters
    warning[endpoint-collides] two all.yaml:1:63 `192.0.2.10`
    error[nothing-checked] => cluster.capm3.image_key: … | --allow-empty
manifests
    warning[endpoint-collides] two prod/edge.yaml:4:37 `api.example.org` dev/edge.yaml:4:37 `api.example.org`
    error[nothing-checked] => metalmark clusters | --allow-empty
one cluster in two folders
    error[nothing-checked] => metalmark clusters | --allow-empty
clusters without a name
    error[nothing-checked] => metalmark clusters | --allow-empty

"#]]);
}

#[test]
fn endpoint_not_in_subnet() {
    let project = hosts("control_plane_endpoint: {vip: 198.51.100.10, subnets: [192.0.2.0/26]}");
    fails("endpoint-not-in-subnet", &project, "check --allow-empty").brief(str![[r#"
error[endpoint-not-in-subnet]: the virtual IP `198.51.100.10` is not in the hosts' network `192.0.2.0/26`
  edge.yaml:4:33 `198.51.100.10` outside of it
  edge.yaml:4:58 `192.0.2.0/26` the hosts' network
  cluster: edge
  help: take an address of it that no host has, or `cluster.control_plane_endpoint.kube_vip.mode: bgp`
1 error in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "198.51.100.10", "192.0.2.10");
    passes("endpoint-not-in-subnet", &project, "check --allow-empty");
}

#[test]
fn endpoint_single_host() {
    let project = hosts(
        "\
control_plane_replicas: 3
elemental: {selector: {matchLabels: {role: cp}}}
control_plane_endpoint: {host: {address: internal}}
inventory:
  server-1: {labels: {role: cp}, addresses: {internal: 192.0.2.11}}
  server-2: {labels: {role: cp}, addresses: {internal: 192.0.2.12}}
  server-3: {labels: {role: cp}, addresses: {internal: 192.0.2.13}}
  server-4: {labels: {role: cp}, addresses: {internal: 192.0.2.14}}",
    );
    warns("endpoint-single-host", &project, "check --allow-empty").brief(str![[r#"
warning[endpoint-single-host]: host `server-1` may have no control plane: 4 hosts match, and the replicas need 3
  edge.yaml:8:58 `192.0.2.11` the endpoint is its address
  edge.yaml:4:27 `3` replicas
  cluster: edge, pool control-plane
  help: `cluster.control_plane_endpoint.vip: …`, an address that moves
1 warning in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.edit(
        "edge.yaml",
        "server-4: {labels: {role: cp}",
        "server-4: {labels: {role: worker}",
    );
    warns("endpoint-single-host", &project, "check --allow-empty").brief(str![[r#"
warning[hosts-short]: no host is left for pool `control-plane` to roll with
  edge.yaml:4:27 `3` 3 hosts match its selector
  cluster: edge, pool control-plane
  help: label another host, or request fewer replicas
warning[endpoint-single-host]: 3 control plane replicas are behind host `server-1` alone
  edge.yaml:8:58 `192.0.2.11` the endpoint is its address
  edge.yaml:4:27 `3` replicas
  cluster: edge, pool control-plane
  help: `cluster.control_plane_endpoint.vip: …`, an address that moves
2 warnings in 1 cluster; 0 node pools checked; 1 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "replicas: 3", "replicas: 0");
    passes("endpoint-single-host", &project, "check --allow-empty");
}

/// What is true of a host is true of its address.
#[test]
fn an_address_of_a_host_is_the_host() {
    let found = table(
        [
            "{host: 192.0.2.11}",
            "{explicit: {host: '192.0.2.11'}}",
            "{host: server-1}",
            "{host: 192.0.2.21}",
            "{host: worker-1}",
            "{host: 192.0.2.99}",
        ],
        |endpoint| {
            let stage = hosts(&format!(
                "\
control_plane_replicas: 3
elemental: {{selector: {{matchLabels: {{role: cp}}}}}}
control_plane_endpoint: {endpoint}
inventory:
  server-1: {{labels: {{role: cp}}, addresses: {{internal: 192.0.2.11}}}}
  server-2: {{labels: {{role: cp}}, addresses: {{internal: 192.0.2.12}}}}
  server-3: {{labels: {{role: cp}}, addresses: {{internal: 192.0.2.13}}}}
  worker-1: {{labels: {{role: worker}}, addresses: {{internal: 192.0.2.21}}}}"
            ));
            let screen = stage
                .run("check --allow-empty --output concise")
                .outcome
                .stdout;
            let lines = screen.lines().filter(|line| line.contains("[endpoint-"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        },
    );
    assert_text(
        &found,
        str![[r#"
{host: 192.0.2.11}
    edge.yaml:6:34: warning[endpoint-single-host]: 3 control plane replicas are behind host `server-1` alone (cluster edge, pool control-plane)
{explicit: {host: '192.0.2.11'}}
    edge.yaml:6:45: warning[endpoint-single-host]: 3 control plane replicas are behind host `server-1` alone (cluster edge, pool control-plane)
{host: server-1}
    edge.yaml:8:58: warning[endpoint-single-host]: 3 control plane replicas are behind host `server-1` alone (cluster edge, pool control-plane)
{host: 192.0.2.21}
    edge.yaml:6:34: error[endpoint-collides]: the endpoint `192.0.2.21` is host `worker-1`'s, and the control plane does not select this host (cluster edge)
    edge.yaml:6:34: warning[endpoint-single-host]: 3 control plane replicas are behind host `worker-1` alone (cluster edge, pool control-plane)
{host: worker-1}
    edge.yaml:11:62: error[endpoint-collides]: the endpoint `192.0.2.21` is host `worker-1`'s, and the control plane does not select this host (cluster edge)
    edge.yaml:11:62: warning[endpoint-single-host]: 3 control plane replicas are behind host `worker-1` alone (cluster edge, pool control-plane)
{host: 192.0.2.99}
    edge.yaml:6:34: warning[endpoint-disagrees]: `cluster.control_plane_endpoint.host` is `192.0.2.99`, and no host of the inventory has it (cluster edge)

"#]],
    );
}

#[test]
fn hosts_short() {
    let project = hosts(
        "\
control_plane_replicas: 5
elemental: {selector: {matchLabels: {role: cp}}}
control_plane_endpoint: {vip: 192.0.2.10}
inventory:
  server-1: {labels: {role: cp}, addresses: {internal: 192.0.2.11}}
  server-2: {labels: {role: cp}, addresses: {internal: 192.0.2.12}}
  server-3: {labels: {role: cp}, addresses: {internal: 192.0.2.13}}
  server-4: {labels: {role: cp}, addresses: {internal: 192.0.2.14}}
  worker: {labels: {role: worker}, addresses: {internal: 192.0.2.21}}
machine_deployments: {md0: {replicas: 1, elemental: {selector: {matchLabels: {role: worker}}}}}",
    );
    fails("hosts-short", &project, "check --allow-empty").brief(str![[r#"
error[hosts-short]: 4 hosts match pool `control-plane`, which needs 5
  edge.yaml:4:27 `5` 4 hosts match its selector
  cluster: edge, pool control-plane
  help: label another host, or request fewer replicas
warning[hosts-short]: no host is left for pool `md0` to roll with
  edge.yaml:13:41 `1` 1 host matches its selector
  cluster: edge, pool md0
1 error, 1 warning in 1 cluster; 0 node pools checked; 2 skipped: no image selected

"#]]);
    project.edit("edge.yaml", "replicas: 5", "replicas: 3");
    project.edit("edge.yaml", "replicas: 1", "replicas: 0");
    passes("hosts-short", &project, "check --allow-empty");
}

#[test]
fn selectors_overlap() {
    let project = hosts(
        "\
elemental: {selector: {matchLabels: {site: lyon}}}
control_plane_endpoint: {vip: 192.0.2.10}
machine_deployments: {md0: {replicas: 2}}",
    );
    fails("selectors-overlap", &project, "check --allow-empty").brief(str![[r#"
error[selectors-overlap]: the control plane and pool `md0` both claim the same hosts
  edge.yaml:6:25 `md0` this pool
  edge.yaml:2:3 `k8s_version: v1.34.1` the control plane
  cluster: edge, pool md0
  help: select by a label that distinguishes them, such as `role`
1 error in 1 cluster; 0 node pools checked; 2 skipped: no image selected

"#]]);
    project.edit(
        "edge.yaml",
        "md0: {replicas: 2}",
        "md0: {elemental: {selector: {matchLabels: {site: oslo}}}}",
    );
    passes("selectors-overlap", &project, "check --allow-empty");
}

const OBJECTS: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ElementalHost
metadata: {name: m-1, labels: {control-plane: 'true'}, annotations: {metalmark.dev/address.vpn: 10.8.0.1, metalmark.dev/address.public: m-1.example.org}}
---
apiVersion: elemental.cattle.io/v1beta1
kind: MachineInventory
metadata: {name: m-2, labels: {control-plane: 'true'}, annotations: {elemental.cattle.io/registration-ip: 192.0.2.12}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: ElementalHost
metadata: {name: m-4, labels: {control-plane: 'true'}}
---
apiVersion: v1
kind: List
items:
- apiVersion: metal3.io/v1alpha1
  kind: BareMetalHost
  metadata: {name: m-3, labels: {control-plane: 'true'}}
  status: {hardware: {nics: [{name: eno1, ip: 192.0.2.13}, {name: eno1, ip: '2001:db8::13'}, {name: eno2, mac: 'aa:bb'}]}}
- apiVersion: metal3.io/v1alpha1
  kind: BareMetalHost
  metadata: {name: m-0}
  status: {hardware: {nics: [{name: eno1, ip: 192.0.2.10}]}}
";

/// A project that renders the endpoint of a cluster whose control plane takes hosts by a label.
fn with_hosts(endpoint: &str) -> Stage {
    project()
        .settings(&format!("values: [hosts.yaml]\nimages: {{url: 'oci://r.example/os:1'}}\n{ENDPOINTS}"))
        .file("hosts.yaml", OBJECTS)
        .cluster(
            "edge",
            &format!(
                "{}os_images: {{base: {{uri: 'oci://r.example/os:1', image-format: container, k8s-version: 1.34.1}}}}\n",
                values(&format!(
                    "control_plane_replicas: 3\nelemental: {{image_key: base, selector: {{matchLabels: {{control-plane: 'true'}}}}}}\n{endpoint}"
                ))
            ),
        )
}

/// The same of Metal3.
fn with_bare_metal(endpoint: &str) -> Stage {
    let stage = with_hosts(endpoint);
    let values = stage.read("edge.yaml");
    let values = values
        .replace("infra_provider: elemental", "infra_provider: capm3")
        .replace("control_plane_replicas: 3", "control_plane_replicas: 1")
        .replace(
            "elemental: {image_key: base, selector",
            "capm3: {image_key: base, hostSelector",
        )
        .replace(
            "image-format: container",
            &format!(
                "image-format: raw, filename: os.raw, sha256: {}",
                "a".repeat(64)
            ),
        );
    stage.write("edge.yaml", values);
    stage.edit(
        "metalmark.yaml",
        "oci://r.example/os:1",
        "http://r.example/os.raw",
    );
    stage
}

/// Of the hosts in the repository, the lowest name with an address of the requested class.
#[test]
fn a_blank_endpoint_is_a_host_of_the_control_plane() {
    let endpoint = |settings: &str| {
        let rendered = with_hosts(settings).run("render --stdout").outcome.stdout;
        let lines = rendered
            .lines()
            .skip_while(|line| !line.contains("controlPlaneEndpoint"));
        let lines: Vec<&str> = lines.skip(1).take(2).map(str::trim).collect();
        vec![lines.join(", ")]
    };
    assert_cases(
        str![[r#"
control_plane_endpoint: {}
    host: m-1.example.org, port: 6443
control_plane_endpoint: {host: '', port: 443}
    host: m-1.example.org, port: 443
control_plane_endpoint: {explicit: {host: '', port: 443}}
    host: m-1.example.org, port: 443
infra_cluster: {controlPlaneEndpoint: {host: null, port: 443}}
    host: m-1.example.org, port: 443
# As Go writes what nobody says.
control_plane_endpoint: {host: '', port: 0}
    host: m-1.example.org, port: 6443
infra_cluster: {controlPlaneEndpoint: {host: '', port: 0}}
    host: m-1.example.org, port: 6443
# As Cluster API spells it, it is said.
infra_cluster: {controlPlaneEndpoint: {host: 198.51.100.7, port: 443}}
    host: "198.51.100.7", port: 443
control_plane_endpoint: {host: {address: vpn}}
    host: "10.8.0.1", port: 6443
control_plane_endpoint: {host: {address: [registration, eno1]}}
    host: "192.0.2.12", port: 6443
control_plane_endpoint: {vip: 192.0.2.99}
    host: "192.0.2.99", port: 6443

"#]],
        endpoint,
    );
}

/// The author's own word, `controlPlaneEndpoint`, was left out, and one of the hosts became the endpoint in its place.
#[test]
fn a_misspelled_endpoint_is_an_error_and_no_host_takes_its_place() {
    let said = "{host: 192.0.2.4, port: 6443}";
    let wrong = |line: &str| {
        let stage = with_hosts(&line.replace("SAID", said));
        let screen = stage.run("check").exit(1).outcome.stdout;
        let rules = ["key-misspelled", "endpoint", "help: write", "192.0.2."];
        let lines = screen.lines().map(str::trim);
        let lines = lines.filter(|line| rules.iter().any(|rule| line.contains(rule)));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_cases(
        str![[r#"
controlPlaneEndpoint: SAID
    error[key-misspelled]: `cluster.controlPlaneEndpoint` has no effect, and is almost `cluster.control_plane_endpoint`
    6 |   controlPlaneEndpoint: {host: 192.0.2.4, port: 6443}
    = help: write `control_plane_endpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   controlPlaneEndpoint: {host: 192.0.2.4, port: 6443}
controlplane_endpoint: SAID
    error[key-misspelled]: `cluster.controlplane_endpoint` has no effect, and is almost `cluster.control_plane_endpoint`
    6 |   controlplane_endpoint: {host: 192.0.2.4, port: 6443}
    = help: write `control_plane_endpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   controlplane_endpoint: {host: 192.0.2.4, port: 6443}
control-plane-endpoint: SAID
    error[key-misspelled]: `cluster.control-plane-endpoint` has no effect, and is almost `cluster.control_plane_endpoint`
    6 |   control-plane-endpoint: {host: 192.0.2.4, port: 6443}
    = help: write `control_plane_endpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   control-plane-endpoint: {host: 192.0.2.4, port: 6443}
controlplaneendpoint: SAID
    error[key-misspelled]: `cluster.controlplaneendpoint` has no effect, and is almost `cluster.control_plane_endpoint`
    6 |   controlplaneendpoint: {host: 192.0.2.4, port: 6443}
    = help: write `control_plane_endpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   controlplaneendpoint: {host: 192.0.2.4, port: 6443}
Control_Plane_Endpoint: SAID
    error[key-misspelled]: `cluster.Control_Plane_Endpoint` has no effect, and is almost `cluster.control_plane_endpoint`
    6 |   Control_Plane_Endpoint: {host: 192.0.2.4, port: 6443}
    = help: write `control_plane_endpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   Control_Plane_Endpoint: {host: 192.0.2.4, port: 6443}
infra_cluster: {control_plane_endpoint: SAID}
    error[key-misspelled]: `cluster.infra_cluster.control_plane_endpoint` has no effect, and is almost `cluster.infra_cluster.controlPlaneEndpoint`
    6 |   infra_cluster: {control_plane_endpoint: {host: 192.0.2.4, port: 6443}}
    = help: write `controlPlaneEndpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   infra_cluster: {control_plane_endpoint: {host: 192.0.2.4, port: 6443}}
infra_cluster: {controlplaneEndpoint: SAID}
    error[key-misspelled]: `cluster.infra_cluster.controlplaneEndpoint` has no effect, and is almost `cluster.infra_cluster.controlPlaneEndpoint`
    6 |   infra_cluster: {controlplaneEndpoint: {host: 192.0.2.4, port: 6443}}
    = help: write `controlPlaneEndpoint`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   infra_cluster: {controlplaneEndpoint: {host: 192.0.2.4, port: 6443}}
infraCluster: {controlPlaneEndpoint: SAID}
    error[key-misspelled]: `cluster.infraCluster` has no effect, and is almost `cluster.infra_cluster`
    6 |   infraCluster: {controlPlaneEndpoint: {host: 192.0.2.4, port: 6443}}
    = help: write `infra_cluster`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   infraCluster: {controlPlaneEndpoint: {host: 192.0.2.4, port: 6443}}
clusterVirtualIp: 192.0.2.4
    error[key-misspelled]: `cluster.clusterVirtualIp` has no effect, and is almost `cluster.cluster_virtual_ip`
    6 |   clusterVirtualIp: 192.0.2.4
    = help: write `cluster_virtual_ip`
    error[endpoint-missing]: the cluster has no control plane endpoint
    = help: a virtual IP: `cluster.control_plane_endpoint.vip: 192.0.2.10`
    = help: a host: `cluster.control_plane_endpoint.host: {address: CLASS}`, a class that hosts of the control plane's selector have: `public`, `registration`, `vpn`
    6 |   clusterVirtualIp: 192.0.2.4

"#]],
        wrong,
    );
}

/// Of hosts that say no address, the help says how they say one, and it works.
#[test]
fn hosts_without_an_address_become_the_endpoint_by_the_help() {
    let stage = with_hosts("");
    let host = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalHost\n\
        metadata: {name: m-1, labels: {control-plane: 'true'}}\n";
    stage.write("hosts.yaml", host);
    let missing = stage.run("check").exit(1).outcome.stdout;
    assert!(
        missing.contains("`metalmark.dev/address.internal: 192.0.2.11`"),
        "{missing}"
    );
    // The address of another pool's host is none of the control plane's.
    let host = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ElementalHost\n\
        metadata: {name: w-1, annotations: {metalmark.dev/address.oob: 10.9.0.1}}\n";
    stage.write("hosts.yaml", stage.read("hosts.yaml") + host);
    assert_eq!(stage.run("check").exit(1).outcome.stdout, missing);
    stage.edit(
        "hosts.yaml",
        "name: m-1,",
        "name: m-1, annotations: {metalmark.dev/address.internal: 192.0.2.11},",
    );
    stage.edit(
        "edge.yaml",
        "control_plane_replicas: 3",
        "control_plane_replicas: 1",
    );
    let rendered = stage.run("render --stdout").exit(0).outcome.stdout;
    assert!(rendered.contains("host: \"192.0.2.11\""), "{rendered}");
}

/// The next run says which host is the endpoint then.
#[test]
fn a_host_that_goes_leaves_the_endpoint_to_another() {
    let stage = with_hosts("");
    stage.check().is(str![[r#"
warning[hosts-short] edge/control-plane edge.yaml:4:27 `3`
warning[reference-unpinned] edge/control-plane edge.yaml:5:26 `base` edge.yaml:7:13 `base` => metalmark lock
warning[endpoint-single-host] edge/control-plane hosts.yaml:3:137 `m-1.example.org` edge.yaml:4:27 `3` => cluster.control_plane_endpoint.vip: …
edge/control-plane v1.34.1 (edge.yaml:2:16): proven, base (edge.yaml:5:26) holds 1.34.1 (edge.yaml:7:87)

"#]]);
    stage.edit("hosts.yaml", "name: m-1,", "name: m-9,");
    stage.edit("hosts.yaml", "address.public: m-1.example.org", "rack: a");
    stage.check().is(str![[r#"
warning[hosts-short] edge/control-plane edge.yaml:4:27 `3`
warning[reference-unpinned] edge/control-plane edge.yaml:5:26 `base` edge.yaml:7:13 `base` => metalmark lock
warning[endpoint-single-host] edge/control-plane hosts.yaml:3:97 `10.8.0.1` edge.yaml:4:27 `3` => cluster.control_plane_endpoint.vip: …
edge/control-plane v1.34.1 (edge.yaml:2:16): proven, base (edge.yaml:5:26) holds 1.34.1 (edge.yaml:7:87)

"#]]);
}

/// A BareMetalHost was the endpoint of a cluster whose machines claim ElementalHosts.
#[test]
fn each_provider_has_hosts_of_its_own_kind() {
    let endpoint = |stage: &Stage| {
        let outcome = stage.run("render --stdout").outcome;
        let text = outcome.stdout + &outcome.stderr;
        let lines = text.lines().map(str::trim);
        let mut lines =
            lines.filter(|line| line.starts_with("host: ") || line.contains("a host: "));
        lines.next().unwrap_or("nothing").to_owned()
    };
    let eno1 = "control_plane_endpoint: {host: {address: eno1}}";
    assert_eq!(endpoint(&with_bare_metal(eno1)), "host: \"192.0.2.13\"");
    let elemental = with_hosts("");
    assert_eq!(endpoint(&elemental), "host: m-1.example.org");
    elemental.write("hosts.yaml", bare_metal("m-1", "", &["192.0.2.11"]));
    endpoint(&elemental).is(str!["= help: a host: those of the inventory are of the kind `BareMetalHost`, which machines of another provider claim: list the cluster's own"]);
    // An inventory says the kind, or hosts for all.
    let own = |kind: &str| {
        let host = format!(
            "inventory: {{m-5: {{{kind}labels: {{control-plane: 'true'}}, addresses: {{internal: 192.0.2.15}}}}}}"
        );
        let stage = with_hosts(&host);
        stage.edit(
            "edge.yaml",
            "control_plane_replicas: 3",
            "control_plane_replicas: 1",
        );
        stage.write("hosts.yaml", "{}\n");
        endpoint(&stage)
    };
    assert_eq!(own(""), "host: \"192.0.2.15\"");
    assert_eq!(own("kind: ElementalHost, "), "host: \"192.0.2.15\"");
    own("kind: HetznerBareMetalHost, ").is(str!["= help: a host: those of the inventory are of the kind `HetznerBareMetalHost`, which machines of another provider claim: list the cluster's own"]);
}

/// Nobody answers at the address of a host that is gone.
#[test]
fn an_endpoint_that_was_a_hosts_and_is_none_now_is_reported() {
    let inventory = |endpoint: &str| {
        with_hosts(&format!(
            "inventory: {{m-5: {{labels: {{control-plane: 'true'}}, addresses: {{internal: 192.0.2.15}}}}}}\n{endpoint}"
        ))
    };
    let stage = inventory("control_plane_endpoint: {host: 192.0.2.15}");
    assert_eq!(stage.check().of_rule("endpoint-disagrees").len(), 0);
    stage.edit("edge.yaml", "internal: 192.0.2.15", "internal: 192.0.2.16");
    warns("endpoint-disagrees", &stage, "check").brief(str![[r#"
warning[reference-unpinned]: image `base` is not locked, so that its tag is rendered
  edge.yaml:5:26 `base` machines pull this image
  edge.yaml:8:13 `base` by this reference
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
warning[endpoint-disagrees]: `cluster.control_plane_endpoint.host` is `192.0.2.15`, and no host of the inventory has it
  edge.yaml:7:34 `192.0.2.15` the address of no host
  cluster: edge
  help: leave it blank for a host of the control plane's, or write `explicit: {host: …}` for a load balancer's
2 warnings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    // A load balancer's may be any.
    let stage = inventory("control_plane_endpoint: {explicit: {host: 192.0.2.15}}");
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.edit("edge.yaml", "internal: 192.0.2.15", "internal: 192.0.2.16");
    assert_eq!(stage.check().of_rule("endpoint-disagrees").len(), 0);
    let screen = stage.run("impact --against HEAD").outcome;
    let text = screen.stdout + &screen.stderr;
    let lines = text.lines().filter(|line| line.contains("endpoint"));
    lines.collect::<Vec<_>>().join("\n").is(str![[r#"
                   endpoint spec.controlPlaneEndpoint  192.0.2.15:6443 of host m-5 → 192.0.2.15:6443
warning[endpoint-replaced]: the control plane endpoint was `192.0.2.15:6443 of host m-5`, and no host has it now
7 |   control_plane_endpoint: {explicit: {host: 192.0.2.15}}
  |                                             ^^^^^^^^^^ the endpoint from now on
7 |   control_plane_endpoint: {explicit: {host: 192.0.2.15}}
  |                                             ---------- the endpoint so far
  = help: leave the endpoint blank, and a host of the control plane takes its place; if a load balancer answers there, ignore this
"#]]);
}

/// The hosts of a control plane with one replica, as objects, and the endpoint that is rendered of them.
fn first_host(objects: &str) -> String {
    let stage = with_bare_metal("");
    stage.write("hosts.yaml", objects);
    let outcome = stage.run("render --stdout").outcome;
    let text = outcome.stdout + &outcome.stderr;
    let lines = text.lines().map(str::trim);
    let found = lines.clone().find(|line| line.starts_with("host: "));
    let found = found.or_else(|| lines.clone().find(|line| line.contains("a host: ")));
    found.unwrap_or("nothing").to_owned()
}

/// A BareMetalHost of the control plane with those cards.
fn bare_metal(name: &str, namespace: &str, addresses: &[&str]) -> String {
    let cards = addresses
        .iter()
        .map(|ip| format!("{{name: internal, ip: '{ip}'}}"));
    let cards: Vec<String> = cards.collect();
    format!(
        "---\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {{name: {name}{namespace}, labels: {{control-plane: 'true'}}}}\n\
         status: {{hardware: {{nics: [{}]}}}}\n",
        cards.join(", ")
    )
}

/// An inspection lists link-local addresses and empty ones too, and the first counted.
#[test]
fn a_card_that_nobody_reaches_gives_no_endpoint() {
    let hosts = bare_metal("m-1", "", &["fe80::1", "0.0.0.0", "192.0.2.11"]);
    assert_eq!(first_host(&hosts), "host: \"192.0.2.11\"");
    let hosts = bare_metal("m-1", "", &["127.0.0.1"]) + &bare_metal("m-2", "", &["192.0.2.12"]);
    assert_eq!(first_host(&hosts), "host: \"192.0.2.12\"");
}

/// A host that another cluster has claimed, or that is being deleted, was the endpoint.
#[test]
fn a_host_that_the_cluster_cannot_claim_gives_no_endpoint() {
    let free = bare_metal("m-2", "", &["192.0.2.12"]);
    let label = "control-plane: 'true', cluster.x-k8s.io/cluster-name: ";
    let first = |claimed: &str| {
        let host = bare_metal("m-1", "", &["192.0.2.11"]);
        first_host(&(host.replace("control-plane: 'true'", claimed) + &free))
    };
    assert_eq!(first(&format!("{label}other")), "host: \"192.0.2.12\"");
    assert_eq!(first(&format!("{label}edge")), "host: \"192.0.2.11\"");
    let deleted = bare_metal(
        "m-1",
        ", deletionTimestamp: '2026-01-01T00:00:00Z'",
        &["192.0.2.11"],
    );
    assert_eq!(first_host(&(deleted + &free)), "host: \"192.0.2.12\"");
}

/// Of two machines with one name in two namespaces the last one counted, whatever cluster could claim it.
#[test]
fn a_host_of_another_namespace_is_none_of_the_clusters() {
    let [own, other] = [("edge", "192.0.2.11"), ("site", "192.0.2.12")]
        .map(|(namespace, ip)| bare_metal("m-1", &format!(", namespace: {namespace}"), &[ip]));
    assert_eq!(first_host(&(own.clone() + &other)), "host: \"192.0.2.11\"");
    assert_eq!(first_host(&(other.clone() + &own)), "host: \"192.0.2.11\"");
    first_host(&other).is(str!["= help: a host: those of the inventory are in the namespace `site`, and the cluster is in `edge`: if that is wrong, write `namespace: site` beside the cluster's name in the project file"]);
    // What the help says works.
    let stage = with_bare_metal("");
    stage.write("hosts.yaml", other);
    stage.edit(
        "metalmark.yaml",
        "name: edge",
        "name: edge, namespace: site",
    );
    let rendered = stage.run("render --stdout").exit(0).outcome.stdout;
    assert!(rendered.contains("host: \"192.0.2.12\""), "{rendered}");
}

/// The file was taken for values, of which Helm reads one document.
#[test]
fn hosts_are_read_beside_the_secrets_of_their_bmcs() {
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: m-1-bmc}\nstringData: {username: root, password: calvin9}\n";
    let hosts = bare_metal("m-1", "", &["192.0.2.11"]) + secret;
    assert_eq!(first_host(&hosts), "host: \"192.0.2.11\"");
    let hosts = secret.to_owned() + &bare_metal("m-1", "", &["192.0.2.11"]);
    assert_eq!(first_host(&hosts), "host: \"192.0.2.11\"");
    let stage = with_hosts("").file("hosts.yaml", hosts);
    for command in ["check", "values edge", "render --stdout", "explain edge"] {
        let outcome = stage.run(command).outcome;
        for text in [outcome.stdout, outcome.stderr] {
            assert!(!text.contains("calvin9"), "{command}: {text}");
        }
    }
}

/// It was a DNS name that no machine resolves.
#[test]
fn a_host_that_is_named_is_the_one_of_the_inventory() {
    let of = |case: &str| {
        let rendered = with_hosts(&format!("control_plane_endpoint: {case}"));
        let rendered = rendered.run("render --stdout").outcome.stdout;
        let line = rendered.lines().find(|line| line.contains(" host: "));
        vec![line.unwrap_or("nothing").trim().to_owned()]
    };
    assert_cases(
        str![[r#"
{host: m-1}
    host: m-1.example.org
{host: m-2}
    host: "192.0.2.12"
{host: m-3}
    host: m-3
{host: m-0}
    host: m-0
{host: m-4}
    host: m-4
{explicit: {host: m-1}}
    host: m-1

"#]],
        of,
    );
}

#[test]
fn manifests_with_an_endpoint_that_nobody_reaches_warn() {
    let cluster = |host: &str| {
        let cluster = format!(
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: edge}}\nspec: {{controlPlaneEndpoint: {{host: '{host}', port: 6443}}}}\n"
        );
        project()
            .file("edge.yaml", cluster)
            .run("check --allow-empty")
            .exit(0)
    };
    cluster("0.0.0.0").brief(str![[r#"
warning[value-type]: Cluster `edge` has the control plane endpoint `0.0.0.0`, which no other machine can reach
  edge.yaml:4:37 `'0.0.0.0'`
1 warning in 1 cluster; 0 node pools checked; 1 skipped: neither its control plane nor a node pool is among the manifests

"#]]);
    for host in ["192.0.2.10", "api.example.org", "${HOST}"] {
        let found = cluster(host).outcome.stdout;
        assert!(!found.contains("value-type"), "{found}");
    }
}

/// Only `impact` said it, and `render` wrote another endpoint without a word.
#[test]
fn the_next_render_says_which_endpoint_replaces_that_of_a_host_that_went() {
    let stage = with_hosts("");
    let _ = stage.run("render").exit(0);
    let hosts = OBJECTS.split_once("---\n").expect("several").1;
    stage.write("hosts.yaml", hosts);
    let found = |words: &str| {
        let screen = stage.run(words).outcome;
        let lines = screen.stderr.lines().chain(screen.stdout.lines());
        let told = ["error[", "warning[endpoint", "rendered/edge.yaml"];
        let lines = lines.filter(|line| told.iter().any(|start| line.contains(start)));
        format!("{words}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    // Two hosts for three replicas.
    let mut story = found("render");
    stage.edit(
        "edge.yaml",
        "control_plane_replicas: 3",
        "control_plane_replicas: 1",
    );
    for words in ["check", "render --check", "render", "render"] {
        story += &found(words);
    }
    story.is(str![[r#"
render
error[hosts-short]: 2 hosts match pool `control-plane`, which needs 3
warning[endpoint-single-host]: 3 control plane replicas are behind host `m-2` alone
check
warning[endpoint-replaced]: the control plane endpoint `m-1.example.org:6443` is replaced by `192.0.2.12:6443 of host m-2`, and no machine is
warning[endpoint-single-host]: host `m-2` may have no control plane: 2 hosts match, and the replicas need 1
render --check
warning[endpoint-replaced]: the control plane endpoint `m-1.example.org:6443` is replaced by `192.0.2.12:6443 of host m-2`, and no machine is
warning[endpoint-single-host]: host `m-2` may have no control plane: 2 hosts match, and the replicas need 1
--- a/rendered/edge.yaml
+++ b/rendered/edge.yaml
updated  rendered/edge.yaml  +1 -1
render
warning[endpoint-replaced]: the control plane endpoint `m-1.example.org:6443` is replaced by `192.0.2.12:6443 of host m-2`, and no machine is
warning[endpoint-single-host]: host `m-2` may have no control plane: 2 hosts match, and the replicas need 1
updated  rendered/edge.yaml
render
warning[endpoint-single-host]: host `m-2` may have no control plane: 2 hosts match, and the replicas need 1

"#]]);
}

/// A host with a lower name takes the endpoint, though nobody went.
#[test]
fn a_host_that_still_is_there_keeps_the_endpoint_by_its_name() {
    let stage = with_hosts("");
    stage.edit(
        "edge.yaml",
        "control_plane_replicas: 3",
        "control_plane_replicas: 1",
    );
    let _ = stage.run("render").exit(0);
    let hosts = stage.read("hosts.yaml");
    let first = hosts.split("---\n").next().expect("a host");
    stage.write(
        "hosts.yaml",
        format!("{}---\n{hosts}", first.replace("m-1", "a-1")),
    );
    let helps = || {
        let screen = stage.run("check").outcome.stdout;
        let (_, found) = screen
            .split_once("endpoint-replaced]: ")
            .unwrap_or_default();
        let (found, _) = found.split_once("\n\n").unwrap_or_default();
        let lines = found.lines().filter(|line| line.contains("endpoint"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_text(
        &helps(),
        str![[r#"
the control plane endpoint `m-1.example.org:6443` is replaced by `a-1.example.org:6443 of host a-1`, and no machine is
  |                                                 ^^^^^^^^^^^^^^^ the endpoint from now on
  = help: host `m-1` still has it, and keeps it by `cluster.control_plane_endpoint.host: m-1.example.org`
  = help: Cluster API takes the endpoint of an infrastructure cluster once: set `spec.controlPlaneEndpoint` of the Cluster too
"#]],
    );
    stage.edit(
        "edge.yaml",
        "control_plane_replicas: 1",
        "control_plane_endpoint: {host: m-1.example.org}\n  control_plane_replicas: 1",
    );
    assert_text(&helps(), str![""]);
}

/// Nobody chose the host, so nobody notices which one comes after it.
#[test]
fn endpoint_replaced() {
    let hosts = "inventory:\n  server-1: {addresses: {internal: 192.0.2.11}}\n  server-2: {addresses: {internal: 192.0.2.12}}\n\
                 control_plane_replicas: 1\nelemental: {image_key: sle, selector: {}}";
    let images = "os_images: {sle: {uri: 'oci://registry.example.org/sle@sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8', \
                  image-format: container, k8s-flavor: kubeadm, k8s-version: 1.34.1}}\n";
    let project = project()
        .settings(&format!(
            "images: {{url: '{{{{ image.uri }}}}'}}\n{ENDPOINTS}"
        ))
        .cluster("edge", &format!("{images}{}", values(hosts)));
    let Some(project) = project.commit("two hosts") else {
        return;
    };
    project.edit(
        "edge.yaml",
        "    server-1: {addresses: {internal: 192.0.2.11}}\n",
        "",
    );
    warns("endpoint-replaced", &project, "impact --against HEAD").brief(str![[r#"
Against 8aa9724221, `HEAD`
edge
  whole cluster  in place: existing machines stay as they are, later ones differ
                   endpoint spec.controlPlaneEndpoint  192.0.2.11:6443 of host server-1 → 192.0.2.12:6443 of host server-2
no machine is re-provisioned, 0 clusters as before
warning[endpoint-replaced]: the control plane endpoint `192.0.2.11:6443 of host server-1` is replaced by `192.0.2.12:6443 of host server-2`, and no machine is
  edge.yaml:6:38 `192.0.2.12` the endpoint from now on
  8aa9724221:edge.yaml:6:38 `192.0.2.11` the endpoint so far
  cluster: edge
  help: Cluster API takes the endpoint of an infrastructure cluster once: set `spec.controlPlaneEndpoint` of the Cluster too
  help: machines know the old one until they are replaced, the control plane's first: `rolloutAfter`
warning[hosts-short]: no host is left for pool `control-plane` to roll with
  edge.yaml:7:27 `1` 1 host matches its selector
  cluster: edge, pool control-plane
  help: label another host, or request fewer replicas
2 warnings in 1 cluster

"#]]);
    // Nothing else of the inventory is of any effect.
    project.edit("edge.yaml", "server-2: {", "server-2: {labels: {rack: a}, ");
    let project = project.commit("one host").expect("git");
    project.edit("edge.yaml", "rack: a", "rack: b");
    passes("endpoint-replaced", &project, "impact --against HEAD");
}
