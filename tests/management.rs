//! The values that a management cluster passes to its workload clusters, computed from the repository.

use snapbox::str;

use super::support::stage::{Is, Stage, project, table};

/// The chart's values, as Sylva's are made.
const CHART: &str = "\
cluster: {name: x, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}}
versions: {current: v1.31.8+rke2r1}
_internal: {state: {}}
os_images:
  ubuntu-noble-plain-rke2-1-31-8: {uri: 'https://images.example.org/u.raw', os: ubuntu, k8s-version: 1.31.8+rke2r1, k8s-flavor: rke2, image-format: raw, sha256: \"a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447\"}
mgmt_cluster_state_values:
  cluster:
    k8s_version: '{{ .Values.versions.current }}'
    broken: '{{ fail \"never needed\" }}'
    left_out: '{{ tuple 1 false | include \"set-only-if\" }}'
  _internal:
    enabled: '{{ dict \"capi\" true \"rancher\" (not .Values.lab) | include \"preserve-type\" }}'
";

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: sylva-units, namespace: NAMESPACE}
spec:
  chart: {spec: {chart: chart, sourceRef: {kind: GitRepository, name: here}, valuesFiles: [chart/values.yaml]}}
  valuesFrom: [STATE{kind: ConfigMap, name: own, valuesKey: values}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: NAMESPACE}
data:
  values: |
";

const STATE: &str = "{kind: ConfigMap, name: mgmt-cluster-state-values, valuesKey: values}, ";
/// The values of a cluster that selects the image of its version.
const SELECTS: &str = "cluster: {capm3: {os_image_selector: {os: ubuntu}}}";
const MANAGEMENT: &str =
    "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {os_image_selector: {os: ubuntu}}}";

/// Writes the release of a management cluster, or, with [`STATE`], of a workload cluster that receives its values.
fn release(stage: &Stage, name: &str, state: &str, values: &str) {
    let release = RELEASE.replace("NAMESPACE", name).replace("STATE", state);
    let values: String = values.lines().map(|line| format!("    {line}\n")).collect();
    stage.write(&format!("{name}/release.yaml"), release + &values);
}

/// A management cluster, and a workload cluster with these values.
fn edge(values: &str, settings: &str) -> Stage {
    let stage = project()
        .settings("clusters: [{name: mgmt, values: [mgmt]}, {name: edge, values: [edge]}]")
        .settings(settings)
        .file("chart/values.yaml", CHART);
    release(&stage, "mgmt", "", MANAGEMENT);
    release(&stage, "edge", STATE, values);
    stage
}

/// What `check` finds, and what it says of the workload cluster.
fn checked(stage: &Stage) -> Vec<String> {
    let checked = stage.check();
    let lines = checked.findings.iter().chain(&checked.pools);
    lines
        .filter(|line| !line.contains("mgmt/"))
        .cloned()
        .collect()
}

#[test]
fn a_workload_cluster_has_the_values_of_its_management_cluster_with_their_places() {
    let version =
        "'{{ if .Values._internal.enabled.rancher }}v1.31.8+rke2r1{{ else }}v1.30.0{{ end }}'";
    let with_version =
        |version: &str| SELECTS.replace("{capm3", &format!("{{k8s_version: {version}, capm3"));
    let given = "state: {ConfigMap/mgmt-cluster-state-values: state.yaml}";
    let cases = [
        ("its version", "", SELECTS.to_owned()),
        ("by need", "evaluation: lazy", SELECTS.to_owned()),
        ("in Sylva's order", "evaluation: exact", SELECTS.to_owned()),
        ("an expression that yields a map", "", with_version(version)),
        (
            "one that fails",
            "",
            with_version("'{{ .Values.cluster.broken }}'"),
        ),
        (
            "a file that is given for the object",
            given,
            SELECTS.to_owned(),
        ),
    ];
    let results = table(cases.iter().map(|(name, ..)| name), |name| {
        let (_, settings, values) = cases.iter().find(|case| case.0 == **name).expect("it");
        let state = "cluster: {k8s_version: v1.29.15+rke2r1}\n";
        checked(&edge(values, settings).file("state.yaml", state))
    });
    results.is(str![[r#"
its version
    edge/control-plane v1.31.8+rke2r1 (chart/values.yaml:8:18): proven, ubuntu-noble-plain-rke2-1-31-8 (edge/release.yaml:13:42) holds 1.31.8+rke2r1 (chart/values.yaml:5:102)
by need
    edge/control-plane v1.31.8+rke2r1 (chart/values.yaml:8:18): proven, ubuntu-noble-plain-rke2-1-31-8 (edge/release.yaml:13:42) holds 1.31.8+rke2r1 (chart/values.yaml:5:102)
in Sylva's order
    edge/control-plane v1.31.8+rke2r1 (chart/values.yaml:8:18): proven, ubuntu-noble-plain-rke2-1-31-8 (edge/release.yaml:13:42) holds 1.31.8+rke2r1 (chart/values.yaml:5:102)
an expression that yields a map
    edge/control-plane v1.31.8+rke2r1 (edge/release.yaml:13:28): proven, ubuntu-noble-plain-rke2-1-31-8 (edge/release.yaml:13:141) holds 1.31.8+rke2r1 (chart/values.yaml:5:102)
one that fails
    error[expression-error] edge chart/values.yaml:9:13 `'{{ fail "never needed" }}'` edge/release.yaml:13:29 `{{ .Values.cluster.broken }}`
    error[no-image-matches] edge/control-plane edge/release.yaml:13:87 `{os: ubuntu}`
    edge/control-plane: unknown (its selector is wrong)
a file that is given for the object
    error[no-image-matches] edge/control-plane edge/release.yaml:13:42 `{os: ubuntu}` state.yaml:1:24 `v1.29.15+rke2r1` => ubuntu-noble-plain-rke2-1-31-8 | k8s-version: 1.31.8+rke2r1 | 1.29.15\+rke2r1
    edge/control-plane v1.29.15+rke2r1 (state.yaml:1:24): unknown (no image matches its selector)

"#]]);
}

#[test]
fn an_error_of_the_management_cluster_is_reported_with_its_value() {
    let stage = edge("cluster: {k8s_version: '{{ .Values.cluster.broken }}'}", "");
    let screen = stage.run("check").exit(1).outcome.stdout;
    let why = "`mgmt_cluster_state_values.cluster.broken` of the management cluster `mgmt` fails: never needed";
    assert!(screen.contains(why), "{screen}");
}

#[test]
fn of_two_management_clusters_the_project_names_one() {
    let stage = edge(SELECTS, "");
    release(
        &stage,
        "other",
        "",
        &format!("versions: {{current: v1.30.12+rke2r1}}\n{MANAGEMENT}"),
    );
    let findings = table(
        ["", ", management: other", ", management: othr"],
        |management| {
            let clusters = "{name: mgmt, values: [mgmt]}, {name: other, values: [other]}, {name: edge, values: [edge]";
            stage.write(
                "metalmark.yaml",
                format!("version: 1\nclusters: [{clusters}{management}}}]\n"),
            );
            let mut lines = checked(&stage);
            lines.retain(|line| !line.starts_with("other/"));
            let outcome = stage.run("check").outcome;
            let help = outcome
                .stdout
                .lines()
                .filter(|line| line.contains("management"));
            lines.extend(help.map(|line| line.trim().to_owned()));
            lines
        },
    );
    findings.is(str![[r#"

    error[value-missing] edge edge/release.yaml:13:14 `{` => cluster.k8s_version | ConfigMap/mgmt-cluster-state-values | state: | management: …
    error[no-image-matches] edge/control-plane edge/release.yaml:13:42 `{os: ubuntu}`
    edge/control-plane: unknown (its selector is wrong)
    = help: `ConfigMap/mgmt-cluster-state-values` may hold it, which exists only at run time: give it as a file under `state:`, or name the cluster that provides it: `management: …`
, management: other
    error[no-image-matches] edge/control-plane edge/release.yaml:13:42 `{os: ubuntu}` chart/values.yaml:8:18 `'{{ .Values.versions.current }}'` => ubuntu-noble-plain-rke2-1-31-8 | cluster.k8s_version: v1.31.8+rke2r1
    edge/control-plane v1.30.12+rke2r1 (chart/values.yaml:8:18): unknown (no image matches its selector)
, management: othr
    error[value-missing] edge edge/release.yaml:13:14 `{` => cluster.k8s_version | ConfigMap/mgmt-cluster-state-values | state: | management: …
    error[no-image-matches] edge/control-plane edge/release.yaml:13:42 `{os: ubuntu}`
    error[project-file] => other
    edge/control-plane: unknown (its selector is wrong)
    error[project-file]: there is no cluster `othr` to be the management cluster
    = help: `ConfigMap/mgmt-cluster-state-values` may hold it, which exists only at run time: give it as a file under `state:`, or name the cluster that provides it: `management: …`

"#]]);
}

/// Any ConfigMap may set any value: one that is not known was once passed over, and each pool was called proven.
#[test]
fn a_config_map_that_is_not_in_the_repository_is_reported() {
    let last = "    - {kind: ConfigMap, name: sylva-units-values, valuesKey: values}\n";
    let file = "environment-values/workload-clusters/base/release.yaml";
    let cases = [
        "kind: ConfigMap, name: fleet-versions",
        "kind: ConfigMap, name: fleet-versions, optional: true",
        "kind: Secret, name: fleet-versions",
    ];
    let flux = || project().folder("fixtures/workspaces/sylva-flux");
    let missing = |stage: &Stage, entry: &str| -> Vec<String> {
        stage.edit(file, last, &format!("{last}    - {{{entry}}}\n"));
        let screen = stage.run("check").outcome.stdout;
        let lines = screen
            .lines()
            .filter(|line| line.contains("[value-missing]: `ConfigMap/fleet"));
        lines.map(str::to_owned).collect()
    };
    table(cases, |entry| missing(&flux(), entry)).is(str![[r#"
kind: ConfigMap, name: fleet-versions
    warning[value-missing]: `ConfigMap/fleet-versions` is not in the repository, and its values may change what is checked
kind: ConfigMap, name: fleet-versions, optional: true
kind: Secret, name: fleet-versions

"#]]);
    let stage = flux().file("fleet.yaml", "a: 1\n");
    let text = stage.read("metalmark.yaml");
    stage.write(
        "metalmark.yaml",
        text + "state:\n  ConfigMap/fleet-versions: fleet.yaml\n",
    );
    assert_eq!(missing(&stage, cases[0]), [""; 0]);
}
