//! What is read: the YAML, its expressions, the layers of a deployed chart, the project file and its waivers.

use snapbox::str;

use super::super::support::stage::{Stage, project};
use super::values;
use super::{bare, edge, fails, passes, warns};

#[test]
fn yaml_syntax() {
    let project = edge("capm3: {image_key: noble-31}");
    project.edit("edge.yaml", "  k8s_version", "   k8s_version");
    fails("yaml-syntax", &project, "check").brief(str![[r#"
error[yaml-syntax]: the indentation of this line matches no line above
  edge.yaml:3:3 `c`
  cluster: edge
1 error in 1 cluster

"#]]);
    project.edit("edge.yaml", "   k8s_version", "  k8s_version");
    passes("yaml-syntax", &project, "check");
}

#[test]
fn duplicate_key() {
    let project =
        edge("capm3: {image_key: noble-31}\ncontrol_plane_replicas: 3\ncontrol_plane_replicas: 1");
    fails("duplicate-key", &project, "check").brief(str![[r#"
error[duplicate-key]: `control_plane_replicas` occurs twice, with different values
  edge.yaml:6:3 `control_plane_replicas` this one counts
  edge.yaml:5:3 `control_plane_replicas` first here
  cluster: edge
  help: remove one of the two
1 error in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "  control_plane_replicas: 1\n", "");
    passes("duplicate-key", &project, "check");
}

#[test]
fn expression_error() {
    let project = edge("capm3: {image_key: noble-31}");
    project.edit(
        "edge.yaml",
        "v1.31.8+rke2r1",
        r#"'{{ "v1.31.8+rke2r1" | tolower }}'"#,
    );
    fails("expression-error", &project, "check").brief(str![[r#"
error[expression-error]: there is no function `tolower`
  edge.yaml:2:39 `tolower` in `cluster.k8s_version`
  cluster: edge
1 error in 1 cluster; 0 node pools checked; 1 skipped: no Kubernetes version

"#]]);
    project.edit("edge.yaml", "tolower", "lower");
    passes("expression-error", &project, "check");
}

#[test]
fn value_missing() {
    let project = edge("capm3: {image_key: noble-31}");
    project.edit(
        "edge.yaml",
        "k8s_version: v1.31.8+rke2r1",
        "k8s_version: '{{ .Values.kubernetes.version }}'",
    );
    fails("value-missing", &project, "check").brief(str![[r#"
error[value-missing]: cannot read `.version` of nil
  edge.yaml:2:20 `.Values.kubernetes.version` in `cluster.k8s_version`
  cluster: edge
1 error in 1 cluster; 0 node pools checked; 1 skipped: no Kubernetes version

"#]]);
    project.edit(
        "edge.yaml",
        "cluster:\n",
        "kubernetes: {version: v1.31.8+rke2r1}\ncluster:\n",
    );
    passes("value-missing", &project, "check");
}

#[test]
fn value_surprising() {
    let project = project()
        .catalog(&["noble-30 rke2 1.30.12+rke2r1"])
        .cluster(
            "edge",
            "\
short: 1.30
versions: {'1.30': v1.30.12+rke2r1, '1.3': v1.30.12+rke2r1}
cluster:
  k8s_version: '{{ index .Values.versions (.Values.short | toString) }}'
  capm3: {image_key: noble-30}
",
        );
    warns("value-surprising", &project, "check").brief(str![[r#"
warning[value-surprising]: the value `1.30` looks like a version and reads as `1.3`
  edge.yaml:1:8 `1.30`
  cluster: edge
  help: write `"1.30"` if text is meant, `1.3` if it is not
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit("edge.yaml", "short: 1.30", "short: '1.30'");
    passes("value-surprising", &project, "check");
}

#[test]
fn expression_order() {
    let project = project().cluster("edge", r#"kubernetes: {version: v1.31.8}
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
sylva_diskimagebuilder_images:
  'ubuntu-noble-plain-kubeadm-{{ .Values.cluster.k8s_version | trimPrefix "v" | replace "." "-" }}': {os_images_oci_registry: sylva, k8s-version: 1.31.8, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}
cluster:
  k8s_version: '{{ .Values.kubernetes.version }}'
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
  capm3: {image_key: ubuntu-noble-plain-kubeadm-1-31-8}
"#);
    warns("expression-order", &project, "check").brief(str![[r#"
warning[expression-order]: `sylva_diskimagebuilder_images."ubuntu-noble-plain-kubeadm-{{ .Values.cluster.k8s_version | trimPrefix "v" | replace "." "-" }}"` is `"ubuntu-noble-plain-kubeadm-1-31-8"` here, and in Helm it stops: `-V` is not a number
  edge.yaml:4:3 `'ubuntu-noble-plain-kubeadm-{{ .Values.cluster.k8s_version | trimPrefix "v" | replace "." "-" }}'` it reads a value that Helm has not evaluated yet
  cluster: edge
  help: evaluate what it reads first, by `tuple . .Values.… | include "interpret-as-string"`, or set `evaluation: exact` to get what Helm gets
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit(
        "edge.yaml",
        ".Values.cluster.k8s_version",
        ".Values.kubernetes.version",
    );
    passes("expression-order", &project, "check");
}

#[test]
fn fact_conflict() {
    let project = bare("\
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}", "capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}").settings("images: {facts: [facts.yaml]}").file("facts.yaml", "os_images: {ubuntu-noble-plain-rke2-1-31-8: {os-release: jammy}}\n");
    warns("fact-conflict", &project, "check").brief(str![[r#"
warning[fact-conflict]: `os-release` of `ubuntu-noble-plain-rke2-1-31-8` is `jammy` by the image info file, `noble` by the image's name
  facts.yaml:1:58 `jammy` `jammy` counts
  edge.yaml:3:3 `ubuntu-noble-plain-rke2-1-31-8` `noble` by the image's name
1 warning; 1 node pool checked: 1 proven

"#]]);
    project.edit("facts.yaml", "jammy", "noble");
    passes("fact-conflict", &project, "check");
}

#[test]
fn project_file() {
    let project = edge("capm3: {image_key: noble-31}");
    project.edit("metalmark.yaml", "clusters:", "cluster:");
    fails("project-file", &project, "check").brief(str![[r#"
error[project-file]: the project file knows no `cluster`
  metalmark.yaml:2:1 `cluster`
  help: did you mean `clusters`?
1 error

"#]]);
    project.edit("metalmark.yaml", "cluster:", "clusters:");
    passes("project-file", &project, "check");
}

#[test]
fn nothing_checked() {
    let project = project().settings("clusters: []");
    fails("nothing-checked", &project, "check").brief(str![[r#"
error[nothing-checked]: there are no clusters, so nothing is checked
  metalmark.yaml:2:11 `[]`
  help: name their values files: `--clusters 'clusters/*/values.yaml'`, or `clusters: [{each: clusters/*/values.yaml}]` in metalmark.yaml
  help: or type `--allow-empty`
1 error

"#]]);
    passes("nothing-checked", &project, "check --allow-empty");
}

#[test]
fn waiver_expired() {
    let project = bare(
        "",
        "\
capm3:
  machine_image_url: https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw
  machine_image_format: raw
  machine_image_checksum: https://images.example/sums.txt
  machine_image_checksum_type: sha256",
    )
    .settings(
        "\
policy:
  rules: {image-unused: off}
  waivers: [{rule: checksum-by-url, where: edge, reason: ticket 4711, until: 2024-03-01}]",
    );
    warns("waiver-expired", &project, "check").brief(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8.raw` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:5:24 `https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: select the image by `image_key`, so that its facts are known
warning[checksum-by-url]: the checksum is a URL
  edge.yaml:7:29 `https://images.example/sums.txt` fetched when a node is provisioned
  cluster: edge, pool control-plane
  help: `cluster.capm3.machine_image_checksum: …`, as `sha256sum` prints it
warning[waiver-expired]: the waiver of `checksum-by-url` for `edge` ended on 2024-03-01
  metalmark.yaml:5:13 `{rule: checksum-by-url, where: edge, reason: ticket 4711, until: 2024-03-01}` no longer accepts anything
  help: fix what it covered and remove it, or decide again and move `until`
3 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    project.edit("metalmark.yaml", "2024", "2999");
    passes("waiver-expired", &project, "check");
}

#[test]
fn waiver_unused() {
    let project = bare(
        "",
        "\
capm3:
  machine_image_url: https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw
  machine_image_format: raw
  machine_image_checksum: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8
  machine_image_checksum_type: sha256",
    )
    .settings(
        "policy:\n  rules: {image-unused: off}\n  waivers: [{rule: checksum-by-url, where: edge, reason: ticket 4711}]",
    );
    warns("waiver-unused", &project, "check").brief(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8.raw` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:5:24 `https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: select the image by `image_key`, so that its facts are known
warning[waiver-unused]: the waiver of `checksum-by-url` for `edge` accepts nothing
  metalmark.yaml:5:13 `{rule: checksum-by-url, where: edge, reason: ticket 4711}` no such finding
  help: remove it
2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    project.edit(
        "edge.yaml",
        "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8",
        "https://images.example/sums.txt",
    );
    passes("waiver-unused", &project, "check");
}

/// A cluster whose values an overlay gives a HelmRelease.
pub(crate) fn composed() -> Stage {
    project()
        .settings("clusters: [{name: edge, values: [edge]}]\npolicy: {rules: {image-unused: off}}")
        .file("base/kustomization.yaml", "\
resources: [release.yaml]
configMapGenerator:
- name: sylva-units-values
  options: {disableNameSuffixHash: true}
")
        .file("base/release.yaml", "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: sylva-units}
spec:
  chart: {spec: {chart: chart, sourceRef: {kind: GitRepository, name: sylva-units}}}
  valuesFrom: [{kind: ConfigMap, name: sylva-units-values, valuesKey: values}]
")
        .file("chart/Chart.yaml", "apiVersion: v2\nname: sylva-units\nversion: 1.0.0\n")
        .file("chart/values.yaml", "\
os_images:
  noble-31: {k8s-version: 1.31.8+rke2r1, image-format: raw, uri: 'https://images.example/noble-31.raw', sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}
")
        .file("edge/kustomization.yaml", "\
resources: [../base]
configMapGenerator:
- name: sylva-units-values
  behavior: merge
  files: [values=values.yaml]
")
        .file("edge/values.yaml", values("", "capm3: {image_key: noble-31}"))
}

#[test]
fn composition_failed() {
    let project = composed();
    project.edit("edge/kustomization.yaml", "  behavior: merge\n", "");
    fails("composition-failed", &project, "check").brief(str![[r#"
error[composition-failed]: ConfigMap `sylva-units-values` is there already: its `behavior` must be `merge` or `replace`
  edge/kustomization.yaml:3:3 `name: sylva-units-values`
  cluster: edge
1 error in 1 cluster

"#]]);
    project.edit(
        "edge/kustomization.yaml",
        "- name: sylva-units-values\n",
        "- name: sylva-units-values\n  behavior: merge\n",
    );
    passes("composition-failed", &project, "check");
}

#[test]
fn composition_unsupported() {
    let project = composed().file(
        "edge/rename.yaml",
        "apiVersion: example.org/v1\nkind: RenameEverything\nmetadata: {name: any}\n",
    );
    project.edit(
        "edge/kustomization.yaml",
        "resources",
        "transformers: [rename.yaml]\nresources",
    );
    fails("composition-unsupported", &project, "check").brief(str![[r#"
error[composition-unsupported]: a RenameEverything is not run here
  edge/rename.yaml:1:1 `apiVersion: example.org/v1`
  cluster: edge
error[value-missing]: `cluster` is not set
  cluster: edge
  help: describe the cluster under `cluster:`
2 errors in 1 cluster

"#]]);
    project.edit("edge/kustomization.yaml", "transformers: [rename.yaml]", "patches: [{target: {kind: HelmRelease}, patch: '- {op: add, path: /spec/releaseName, value: edge}'}]");
    passes("composition-unsupported", &project, "check");
}

#[test]
fn values_schema() {
    let project = composed().file("chart/values.schema.json", r#"{"properties": {"cluster": {
  "properties": {"k8s_version": {}, "capi_providers": {}, "capm3": {}, "control_plane_replicas": {"minimum": 1}},
  "additionalProperties": false
}}}
"#);
    project.edit(
        "edge/values.yaml",
        "  capm3",
        "  control_plane_replicas: 0\n  control_plane_replica: 3\n  capm3",
    );
    fails("values-schema", &project, "check").brief(str![[r#"
error[key-misspelled]: `cluster.control_plane_replica` has no effect, and is almost `cluster.control_plane_replicas`
  edge/values.yaml:5:3 `control_plane_replica` this key
  cluster: edge
  help: write `control_plane_replicas`
error[values-schema]: `cluster.control_plane_replicas` must be at least 1, not 0
  edge/values.yaml:4:27 `0`
  cluster: edge
  help: Helm refuses it: see `chart/values.schema.json`
error[values-schema]: `cluster.control_plane_replica` is not a key of the chart; did you mean `control_plane_replicas`?
  edge/values.yaml:5:3 `control_plane_replica`
  cluster: edge
3 errors in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit(
        "edge/values.yaml",
        "  control_plane_replicas: 0\n  control_plane_replica: 3\n",
        "",
    );
    passes("values-schema", &project, "check");
}

/// A level for a cluster that is not there holds for nothing, which nobody would see.
#[test]
fn a_pattern_of_the_policy_that_matches_nothing_is_reported() {
    let levels = "{image-unused: off}";
    let policy = format!(
        "policy: {{clusters: {{edgee: {levels}, 'lab-*/md0': {levels}, edge: {levels}, '*/control-plane': {levels}, 'noble-*': {levels}}}}}"
    );
    let project = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
        )
        .settings(&policy);
    warns("project-file", &project, "check").brief(str![[r#"
warning[project-file]: `policy.clusters` has `edgee`, which matches no cluster and no node pool
  metalmark.yaml:4:21 `edgee`
  help: did you mean `edge`?
warning[project-file]: `policy.clusters` has `lab-*/md0`, which matches no cluster and no node pool
  metalmark.yaml:4:49 `'lab-*/md0'`
  help: `metalmark clusters` lists the names: write `CLUSTER`, `CLUSTER/POOL`, or a pattern of either
2 warnings; 1 node pool checked: 1 proven

"#]]);
}
