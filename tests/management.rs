//! The values that a management cluster passes to its workload clusters, computed from the repository.

use std::fs;
use std::path::Path;

use crate::support::Metalmark;

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

fn repository() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    write(scratch.path(), "chart/values.yaml", CHART);
    scratch
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// A folder with a release: of a management cluster, or of a workload cluster that receives its values.
fn cluster(root: &Path, name: &str, state: &str, values: &str) {
    let values: String = values.lines().map(|line| format!("    {line}\n")).collect();
    let release = RELEASE.replace("NAMESPACE", name).replace("STATE", state);
    write(
        root,
        &format!("{name}/release.yaml"),
        &format!("{release}{}", values),
    );
}

/// A management cluster and a workload cluster that boots the catalog's image by version.
fn both(root: &Path) {
    cluster(
        root,
        "mgmt",
        "",
        "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {os_image_selector: {os: ubuntu}}}",
    );
    cluster(
        root,
        "edge",
        STATE,
        "cluster: {capm3: {os_image_selector: {os: ubuntu}}}",
    );
    write(
        root,
        "metalmark.yaml",
        "clusters: [{name: mgmt, values: [mgmt]}, {name: edge, values: [edge]}]\n",
    );
}

fn check(root: &Path) -> String {
    let outcome = Metalmark::within(root)
        .args(["check", "--color", "never"])
        .run();
    format!("{}{}", outcome.stdout, outcome.stderr)
}

fn explain(root: &Path, cluster: &str) -> String {
    let outcome = Metalmark::within(root)
        .args(["explain", cluster, "--color", "never"])
        .run();
    format!("{}{}", outcome.stdout, outcome.stderr)
}

#[test]
fn a_workload_cluster_has_the_values_of_its_management_cluster_with_their_places() {
    let scratch = repository();
    both(scratch.path());
    for evaluation in ["lazy", "exact"] {
        let project = "clusters: [{name: mgmt, values: [mgmt]}, {name: edge, values: [edge]}]\n";
        write(
            scratch.path(),
            "metalmark.yaml",
            &format!("evaluation: {evaluation}\n{project}"),
        );
        let reported = explain(scratch.path(), "edge");
        assert!(
            reported.contains("Kubernetes v1.31.8+rke2r1  (chart/values.yaml:"),
            "{reported}"
        );
        assert!(
            reported.contains("boots image `ubuntu-noble-plain-rke2-1-31-8`"),
            "{reported}"
        );
        let found = check(scratch.path());
        assert!(!found.contains("error["), "{found}");
        assert!(!found.contains("never needed"), "{found}");
    }
}

#[test]
fn an_expression_that_yields_a_map_is_reported_as_one() {
    let scratch = repository();
    both(scratch.path());
    let version =
        "'{{ if .Values._internal.enabled.rancher }}v1.31.8+rke2r1{{ else }}v1.30.0{{ end }}'";
    cluster(
        scratch.path(),
        "edge",
        STATE,
        &format!(
            "cluster: {{k8s_version: {version}, capm3: {{os_image_selector: {{os: ubuntu}}}}}}"
        ),
    );
    let reported = explain(scratch.path(), "edge");
    assert!(
        reported.contains("Kubernetes v1.31.8+rke2r1  (edge/release.yaml:"),
        "{reported}"
    );
}

#[test]
fn what_fails_there_is_reported_where_it_is_needed() {
    let scratch = repository();
    both(scratch.path());
    cluster(
        scratch.path(),
        "edge",
        STATE,
        "cluster: {k8s_version: '{{ .Values.cluster.broken }}', capm3: {os_image_selector: {os: ubuntu}}}",
    );
    let found = check(scratch.path());
    assert!(found.contains("error[expression-error]"), "{found}");
    assert!(
        found.contains("`mgmt_cluster_state_values.cluster.broken` of the management cluster `mgmt` fails: never needed"),
        "{found}"
    );
}

#[test]
fn of_two_management_clusters_the_project_names_one() {
    let scratch = repository();
    both(scratch.path());
    let other = "versions: {current: v1.30.12+rke2r1}\ncluster: {k8s_version: v1.31.8+rke2r1, capm3: {os_image_selector: {os: ubuntu}}}";
    cluster(scratch.path(), "other", "", other);
    let project = |management: &str| {
        format!(
            "clusters: [{{name: mgmt, values: [mgmt]}}, {{name: other, values: [other]}}, {{name: edge, values: [edge]{management}}}]\n"
        )
    };
    write(scratch.path(), "metalmark.yaml", &project(""));
    let found = check(scratch.path());
    assert!(found.contains("error[value-missing]"), "{found}");
    assert!(
        found.contains("or name the cluster that provides it: `management: …`"),
        "{found}"
    );
    write(
        scratch.path(),
        "metalmark.yaml",
        &project(", management: other"),
    );
    let reported = explain(scratch.path(), "edge");
    assert!(
        reported.contains("Kubernetes v1.30.12+rke2r1"),
        "{reported}"
    );
    write(
        scratch.path(),
        "metalmark.yaml",
        &project(", management: othr"),
    );
    let found = check(scratch.path());
    assert!(
        found.contains("there is no cluster `othr` to be the management cluster"),
        "{found}"
    );
    assert!(found.contains("did you mean `other`?"), "{found}");
}

#[test]
fn a_file_given_for_the_object_wins() {
    let scratch = repository();
    both(scratch.path());
    write(
        scratch.path(),
        "state.yaml",
        "cluster: {k8s_version: v1.29.15+rke2r1}\n",
    );
    write(
        scratch.path(),
        "metalmark.yaml",
        "state: {ConfigMap/mgmt-cluster-state-values: state.yaml}\nclusters: [{name: mgmt, values: [mgmt]}, {name: edge, values: [edge]}]\n",
    );
    let reported = explain(scratch.path(), "edge");
    assert!(
        reported.contains("Kubernetes v1.29.15+rke2r1  (state.yaml:1:"),
        "{reported}"
    );
}

/// Any ConfigMap may set any value: one that is not known was once passed over, and each pool was called proven.
#[test]
fn a_config_map_that_is_not_in_the_repository_is_reported() {
    let scratch = crate::support::copy_of(
        &crate::support::repository().join("fixtures/workspaces/sylva-flux"),
    );
    let at = |path: &str| scratch.path().join(path);
    let release = at("environment-values/workload-clusters/base/release.yaml");
    let before = fs::read_to_string(&release).expect("read");
    let last = "    - {kind: ConfigMap, name: sylva-units-values, valuesKey: values}\n";
    let check = |entry: &str| {
        let after = before.replace(last, &format!("{last}    - {{{entry}}}\n"));
        fs::write(&release, after).expect("written");
        let outcome = Metalmark::within(scratch.path()).args(["check"]).run();
        let message = "warning[value-missing]: `ConfigMap/fleet-versions` is not in the repository";
        outcome.stdout.contains(message)
    };
    assert!(check("kind: ConfigMap, name: fleet-versions"));
    assert!(!check(
        "kind: ConfigMap, name: fleet-versions, optional: true"
    ));
    assert!(!check("kind: Secret, name: fleet-versions"));
    let project = fs::read_to_string(at("metalmark.yaml")).expect("read");
    let state = "state:\n  ConfigMap/fleet-versions: fleet.yaml\n";
    fs::write(at("fleet.yaml"), "a: 1\n").expect("written");
    assert!(!project.contains("\nstate:"), "{project}");
    fs::write(at("metalmark.yaml"), format!("{project}{state}")).expect("written");
    assert!(!check("kind: ConfigMap, name: fleet-versions"));
}
