//! What each target writes for a small cluster, byte for byte, and that Kubernetes would take it.

mod programs;
mod references;
mod together;

use metalmark::model::ownership::body;
use snapbox::str;

use super::support::stage::{Stage, assert_text, project, table};

/// Two images. `plain` is raw; `hard` is qcow2 with another spelling of its version.
const IMAGES: &str = "\
os_images:
  plain: {uri: 'oci://registry.example.org/images/plain:0.4.12', filename: plain-0.4.12.raw, image-format: raw, os: ubuntu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, sha256: 'a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1'}
  hard: {uri: 'oci://registry.example.org/images/hard:0.4.12', image-format: qcow2, os: suse, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1, sha256: 'b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2'}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";
/// A control plane and a machine deployment that choose by key.
const KEYS: &str = "  capm3: {image_key: plain}
  control_plane: {capm3: {image_key: hard, nodeReuse: true, hostSelector: {matchLabels: {role: cp}}}}
  machine_deployments: {md0: {}}
";
const SERVER: &str =
    "images: {url: 'https://images.example.org/{{ image.key }}/{{ image.filename }}'}\n";

/// A cluster that chooses like that, and one output into `out`.
fn edge(choices: &str, output: &str) -> Stage {
    let outputs = format!("{SERVER}outputs: [{{path: out, {output}}}]");
    project()
        .cluster("edge-1", &format!("{IMAGES}{choices}"))
        .settings(&outputs)
}

/// A rendered file of that cluster.
fn render(choices: &str, output: &str, file: &str) -> String {
    let edge = edge(choices, output);
    edge.run("render").exit(0).stderr(str![]);
    body(&edge.read(&format!("out/{file}"))).to_owned()
}

/// The lines that hold one of these words.
fn lines_with(text: &str, words: &[&str]) -> Vec<String> {
    let has = |line: &&str| words.iter().any(|word| line.contains(word));
    let lines = text.lines().filter(has);
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_pool_gets_a_machine_template_named_after_its_spec() {
    let text = render(KEYS, "target: manifests", "edge-1.yaml");
    assert_text(
        &text,
        str![[r#"
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata:
  name: edge-1-control-plane-294a0a2906
  namespace: edge-1
  labels:
    cluster.x-k8s.io/cluster-name: edge-1
  annotations:
    argocd.argoproj.io/compare-options: IgnoreExtraneous
    argocd.argoproj.io/sync-options: Prune=false
    kustomize.toolkit.fluxcd.io/prune: disabled
spec:
  nodeReuse: true
  template:
    spec:
      hostSelector:
        matchLabels:
          role: cp
      image:
        checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
        checksumType: sha256
        format: qcow2
        url: https://images.example.org/hard/image.qcow2
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata:
  name: edge-1-md0-12f8eac120
  namespace: edge-1
  labels:
    cluster.x-k8s.io/cluster-name: edge-1
  annotations:
    argocd.argoproj.io/compare-options: IgnoreExtraneous
    argocd.argoproj.io/sync-options: Prune=false
    kustomize.toolkit.fluxcd.io/prune: disabled
spec:
  template:
    spec:
      image:
        checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        checksumType: sha256
        format: raw
        url: https://images.example.org/plain/plain-0.4.12.raw

"#]],
    );
    // Another image, another version of the object and another checksum are other names and fields; an OCI image has no checksum.
    let edits = [
        ("edge-1.yaml", "{image_key: plain}", "{image_key: hard}"),
        (
            "metalmark.yaml",
            "target: manifests",
            "target: manifests, api-version: v1beta2",
        ),
        (
            "metalmark.yaml",
            "images: {url:",
            "images: {checksum: url, url:",
        ),
        (
            "metalmark.yaml",
            "'https://images.example.org/{{ image.key }}/{{ image.filename }}'",
            "'{{ image.uri }}@{{ cluster.name }}'",
        ),
    ];
    let fields = table(edits.map(|(_, _, to)| to), |to| {
        let edge = edge(KEYS, "target: manifests");
        let (file, from, _) = edits.iter().find(|edit| edit.2 == *to).expect("an edit");
        edge.edit(file, from, to).run("render").exit(0);
        let text = edge.read("out/edge-1.yaml");
        lines_with(
            &text,
            &["name: edge-1-", "/v1beta2", "hecksum", "ormat:", "url"],
        )
    });
    assert_text(
        &fields,
        str![[r#"
{image_key: hard}
    name: edge-1-control-plane-294a0a2906
    checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    checksumType: sha256
    format: qcow2
    url: https://images.example.org/hard/image.qcow2
    name: edge-1-md0-560a978373
    checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    checksumType: sha256
    format: qcow2
    url: https://images.example.org/hard/image.qcow2
target: manifests, api-version: v1beta2
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    name: edge-1-control-plane-05fdbb0430
    checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    checksumType: sha256
    diskFormat: qcow2
    url: https://images.example.org/hard/image.qcow2
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    name: edge-1-md0-3f8926b2b6
    checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
    checksumType: sha256
    diskFormat: raw
    url: https://images.example.org/plain/plain-0.4.12.raw
images: {checksum: url, url:
    name: edge-1-control-plane-6ee0137835
    checksum: https://images.example.org/hard/image.qcow2.sha256sum
    checksumType: sha256
    format: qcow2
    url: https://images.example.org/hard/image.qcow2
    name: edge-1-md0-cb1a3fe266
    checksum: https://images.example.org/plain/plain-0.4.12.raw.sha256sum
    checksumType: sha256
    format: raw
    url: https://images.example.org/plain/plain-0.4.12.raw
'{{ image.uri }}@{{ cluster.name }}'
    name: edge-1-control-plane-d750c8168f
    format: qcow2
    url: oci://registry.example.org/images/hard:0.4.12@edge-1
    name: edge-1-md0-ea3f790b9b
    format: raw
    url: oci://registry.example.org/images/plain:0.4.12@edge-1

"#]],
    );
}

#[test]
fn a_pool_without_an_image_has_no_template() {
    let keys = KEYS.replace(
        "image_key: hard",
        "os_image_selector: {os: none}, image_key: null",
    );
    let edge =
        edge(&keys, "target: manifests").settings("policy: {rules: {no-image-matches: off}}");
    edge.run("render").exit(0);
    let text = edge.read("out/edge-1.yaml");
    assert_eq!(lines_with(&text, &["name: edge-1-"]).len(), 1, "{text}");
}

#[test]
fn helm_values_answer_each_level_in_its_own_spelling_or_in_one() {
    let selector = "  capm3: {os_image_selector: {os: ubuntu}}\n";
    let suse = selector.replace("ubuntu", "suse");
    // Pools that share a level but not an image are answered at their own.
    let own = format!(
        "{selector}  machine_deployments: {{md0: {{capm3: {{os_image_selector: {{os: suse}}}}}}}}\n"
    );
    let url = "  capm3: {os_image_key: plain}\n  machine_deployments: {md0: {capm3: {os_image_key: null, machine_image_url: 'http://own/i', machine_image_format: qcow2, machine_image_checksum: c3, machine_image_checksum_type: sha256}}}\n";
    let cases = [
        (KEYS, "choice: auto"),
        (selector, "choice: auto"),
        (&suse, "choice: auto"),
        (&own, "choice: auto"),
        (url, "choice: auto"),
        (selector, "choice: url, chart: sylva-capi-cluster"),
        (selector, "choice: key, chart: sylva-capi-cluster"),
    ];
    let mut text = String::new();
    for (choices, option) in cases {
        let edge = edge(
            choices,
            &format!("target: helm-values, os-images: false, {option}"),
        );
        let edge =
            edge.settings("policy: {rules: {k8s-version-unproven: off, checksum-malformed: off}}");
        edge.run("render").exit(0);
        text += &format!("# {option}\n{}", body(&edge.read("out/edge-1.values.yaml")));
    }
    assert_text(
        &text,
        str![[r#"
# choice: auto
cluster:
  capm3:
    image_key: plain
  control_plane:
    capm3:
      image_key: hard
# choice: auto
cluster:
  capm3:
    os_image_selector:
      _os_images_key_: plain
# choice: auto
cluster:
  capm3:
    os_image_selector:
      _os_images_key_: hard
      k8s-version: '1\.31\.8-rke2r1'
# choice: auto
cluster:
  capm3:
    os_image_selector:
      _os_images_key_: plain
  machine_deployments:
    md0:
      capm3:
        os_image_selector:
          _os_images_key_: hard
          k8s-version: '1\.31\.8-rke2r1'
# choice: auto
cluster:
  capm3:
    machine_image_checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
    machine_image_checksum_type: sha256
    machine_image_format: raw
    machine_image_url: https://images.example.org/plain/plain-0.4.12.raw
  machine_deployments:
    md0:
      capm3:
        machine_image_checksum: c3
        machine_image_checksum_type: sha256
        machine_image_format: qcow2
        machine_image_url: http://own/i
# choice: url, chart: sylva-capi-cluster
capm3:
  machine_image_checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
  machine_image_checksum_type: sha256
  machine_image_format: raw
  machine_image_url: https://images.example.org/plain/plain-0.4.12.raw
  os_image_selector: null
# choice: key, chart: sylva-capi-cluster
capm3:
  image_key: plain
  os_image_selector: null

"#]],
    );
}

#[test]
fn the_config_map_is_the_one_that_sylva_reads() {
    let edge = edge(
        "  capm3: {image_key: plain}\n",
        "target: configmap, scope: cluster",
    );
    edge.run("render").exit(0);
    assert_text(
        body(&edge.read("out/edge-1-os-images-info.yaml")),
        str![[r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: os-images-info
  namespace: edge-1
  labels:
    reconcile.fluxcd.io/watch: Enabled
    sylva.os-images-info: ""
data:
  values.yaml: |
    os_images:
      plain:
        filename: plain-0.4.12.raw
        image-format: raw
        k8s-flavor: rke2
        k8s-version: "1.31.8+rke2r1"
        os: ubuntu
        sha256: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        uri: oci://registry.example.org/images/plain:0.4.12

"#]],
    );
    let served = edge.read("out/edge-1-os-image-server-images.values");
    assert_text(
        &served,
        str![[r#"
# Rendered by metalmark for cluster edge-1; edit the values, not this file.
capm3_os_image_server_images:
  a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1:
    available: true
    image_key: plain

"#]],
    );
}

#[test]
fn the_shared_config_map_may_be_named_after_its_content_and_have_the_proposals_root() {
    let options =
        "target: configmap, name-suffix-hash: true, os-images-info-root: true, namespace: images";
    assert_text(
        &render(KEYS, options, "os-images-info.yaml"),
        str![[r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: os-images-info-455678c549
  namespace: images
  labels:
    reconcile.fluxcd.io/watch: Enabled
    sylva.os-images-info: ""
data:
  values.yaml: |
    os_images:
      hard:
        image-format: qcow2
        k8s-flavor: rke2
        k8s-version: "1.31.8-rke2r1"
        os: suse
        sha256: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
        uri: oci://registry.example.org/images/hard:0.4.12
      plain:
        filename: plain-0.4.12.raw
        image-format: raw
        k8s-flavor: rke2
        k8s-version: "1.31.8+rke2r1"
        os: ubuntu
        sha256: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        uri: oci://registry.example.org/images/plain:0.4.12
    os_images_info:
      hard:
        checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
        checksumType: sha256
        format: qcow2
        image-format: qcow2
        k8s-flavor: rke2
        k8s-version: "1.31.8-rke2r1"
        os: suse
        sha256: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
        uri: oci://registry.example.org/images/hard:0.4.12
        url: https://images.example.org/hard/image.qcow2
      plain:
        checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        checksumType: sha256
        filename: plain-0.4.12.raw
        format: raw
        image-format: raw
        k8s-flavor: rke2
        k8s-version: "1.31.8+rke2r1"
        os: ubuntu
        sha256: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
        uri: oci://registry.example.org/images/plain:0.4.12
        url: https://images.example.org/plain/plain-0.4.12.raw

"#]],
    );
}

#[test]
fn an_object_of_more_than_a_mebibyte_is_reported() {
    let edge = edge(
        "  capm3: {image_key: plain}\n",
        "target: configmap, scope: cluster",
    );
    let note = format!("plain: {{note: '{}', uri", "x".repeat(1 << 20));
    edge.edit("edge-1.yaml", "plain: {uri", &note);
    let stderr = edge.run("render").exit(1).outcome.stderr;
    assert_text(
        &lines_with(&stderr, &["error["]).join("\n"),
        str![
            "error[object-too-large]: rendered file `out/edge-1-os-images-info.yaml`: ConfigMap `os-images-info`: its data has 1048862 bytes and may have 1048576"
        ],
    );
}

#[test]
fn flux_gets_a_folder_a_cluster() {
    let options = "target: flux, values-from: [{kind: Secret, name: values}], project-path: deploy";
    let edge = edge(KEYS, options);
    edge.run("render").exit(0).screen(str![[r#"
created  out/edge-1/kustomization.yaml  +5
created  out/edge-1/objects/helmrelease.yaml  +25
created  out/edge-1/objects/kustomization.yaml  +6
created  out/edge-1/objects/os-images-info.yaml  +27
created  out/edge-1/sync.yaml  +13
5 files rendered: 5 created

"#]]);
    assert_text(
        body(&edge.read("out/edge-1/objects/helmrelease.yaml")),
        str![[r#"
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cluster
  namespace: edge-1
spec:
  interval: "10m"
  chart:
    spec:
      chart: charts/sylva-capi-cluster
      sourceRef:
        kind: GitRepository
        name: sylva-capi-cluster
  valuesFrom:
  - kind: Secret
    name: values
  - kind: ConfigMap
    name: os-images-info
  values:
    capm3:
      image_key: plain
    control_plane:
      capm3:
        image_key: hard

"#]],
    );
    assert_text(
        body(&edge.read("out/edge-1/sync.yaml")),
        str![[r#"
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: edge-1
  namespace: flux-system
spec:
  interval: "10m"
  path: "./deploy/out/edge-1/objects"
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system

"#]],
    );
    assert!(!edge.list("out").contains(&"kustomization.yaml".to_owned()));
    let units = "target: flux, chart: charts/sylva-units, source-kind: OCIRepository";
    let release = render(KEYS, units, "edge-1/objects/helmrelease.yaml");
    let (release, _) = release.split_once("    os_images:\n").expect("images");
    assert_text(
        release,
        str![[r#"
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cluster
  namespace: edge-1
spec:
  interval: "10m"
  chartRef:
    kind: OCIRepository
    name: sylva-capi-cluster
  values:
    cluster:
      capm3:
        image_key: plain
      control_plane:
        capm3:
          image_key: hard

"#]],
    );
}

#[test]
fn what_holds_variables_is_kept_from_fluxs_substitution_and_only_that() {
    let marks = ["substitute: disabled", "filename:"];
    let guarded = table(["plain-0.4.12.raw", "image-${version}.raw"], |name| {
        let edge = edge(KEYS, "target: flux");
        let sets = "[{target: flux-resourceset, path: sets}, {";
        edge.edit("metalmark.yaml", "[{path", &format!("{sets}path"));
        edge.edit(
            "edge-1.yaml",
            "filename: plain-0.4.12.raw",
            &format!("filename: '{name}'"),
        );
        edge.run("render").exit(0);
        let files = ["out/edge-1/objects/os-images-info.yaml", "sets/edge-1.yaml"];
        let lines = files.iter().flat_map(|file| {
            let lines = lines_with(&edge.read(file), &marks).into_iter();
            lines.map(move |line| format!("{file}: {line}"))
        });
        lines.collect()
    });
    assert_text(
        &guarded,
        str![[r#"
plain-0.4.12.raw
    out/edge-1/objects/os-images-info.yaml: filename: plain-0.4.12.raw
    sets/edge-1.yaml: filename: plain-0.4.12.raw
image-${version}.raw
    out/edge-1/objects/os-images-info.yaml: kustomize.toolkit.fluxcd.io/substitute: disabled
    out/edge-1/objects/os-images-info.yaml: filename: "image-${version}.raw"
    sets/edge-1.yaml: kustomize.toolkit.fluxcd.io/substitute: disabled
    sets/edge-1.yaml: filename: "image-${version}.raw"

"#]],
    );
}

#[test]
fn argo_cd_gets_the_objects_before_what_refers_to_them() {
    let options =
        "target: argocd, repo-url: 'https://git.example.org/charts.git', value-files: [a.yaml]";
    let text = render(KEYS, options, "edge-1.yaml");
    let waves = lines_with(&text, &["kind:", "sync-wave:"]);
    assert_text(
        &waves.join("\n"),
        str![[r#"
kind: ConfigMap
argocd.argoproj.io/sync-wave: "-2"
kind: Metal3MachineTemplate
argocd.argoproj.io/sync-wave: "-1"
kind: Metal3MachineTemplate
argocd.argoproj.io/sync-wave: "-1"
kind: Application
argocd.argoproj.io/sync-wave: "0"
"#]],
    );
    let (_, application) = text
        .split_once("kind: Application\n")
        .expect("an Application");
    let (application, _) = application
        .split_once("        os_images:")
        .expect("images");
    assert_text(
        application,
        str![[r#"
metadata:
  name: edge-1
  namespace: argocd
  annotations:
    argocd.argoproj.io/sync-options: ServerSideApply=true
    argocd.argoproj.io/sync-wave: "0"
spec:
  project: default
  destination:
    server: https://kubernetes.default.svc
    namespace: edge-1
  source:
    repoURL: https://git.example.org/charts.git
    path: charts/sylva-capi-cluster
    targetRevision: HEAD
    helm:
      valueFiles:
      - a.yaml
      valuesObject:
        capm3:
          image_key: plain
        control_plane:
          capm3:
            image_key: hard

"#]],
    );
}

#[test]
fn an_option_that_is_missing_or_wrong_is_a_finding_with_the_line_to_write() {
    let options = [
        "target: argocd",
        "target: manifests, api-version: v1alpha1",
        "target: configmap, name-suffix-hash: 'yes'",
        "target: flux, patch: sylva-units, chart: charts/sylva-unit",
    ];
    let told = table(options, |options| {
        let screen = edge(KEYS, options).run("render").exit(1).outcome.stderr;
        lines_with(&screen, &["error[", "help:"])
    });
    assert_text(
        &told,
        str![[r#"
target: argocd
    error[project-file]: target `argocd` needs the option `repo-url`
    = help: add `repo-url: https://git.example.org/repository.git` to the output's options
target: manifests, api-version: v1alpha1
    error[project-file]: `api-version: v1alpha1` is not an option of target `manifests`
    = help: write one of v1beta1, v1beta2
target: configmap, name-suffix-hash: 'yes'
    error[project-file]: option `name-suffix-hash` of target `configmap` is true or false, not `"yes"`
target: flux, patch: sylva-units, chart: charts/sylva-unit
    error[project-file]: `charts/sylva-unit` is almost the name of Sylva's chart
    = help: did you mean `sylva-units`?

"#]],
    );
}

#[test]
fn a_name_from_values_never_leads_out_of_the_folder() {
    let entry = "{name: edge-1, namespace: '../../x', values";
    let edge = edge(KEYS, "target: manifests");
    edge.edit(
        "metalmark.yaml",
        "path: out",
        "path: 'out/{{ cluster.namespace }}'",
    );
    edge.edit("metalmark.yaml", "{name: edge-1, values", entry);
    edge.run("render").exit(1).screen(str![[r#"
error[output-path-illegal]: the output path `out/../../x/edge-1.yaml` leaves the project's folder
 --> metalmark.yaml:4:11
  |
4 | outputs: [{path: 'out/{{ cluster.namespace }}', target: manifests}]
  |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = cluster: edge-1
  = help: write a relative path without `..`: `--out` writes elsewhere

1 error in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    assert_eq!(edge.list(""), ["edge-1.yaml", "metalmark.yaml"]);
}

#[test]
fn a_cluster_gets_a_chart_with_its_images_merged_in() {
    let edge = edge(
        KEYS,
        "target: flux-artifact, project-path: deploy, source-namespace: charts",
    );
    edge.run("render").exit(0);
    assert_text(
        body(&edge.read("out/edge-1/objects/artifactgenerator.yaml")),
        str![[r#"
apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata:
  name: edge-1
  namespace: edge-1
spec:
  sources:
  - alias: chart
    kind: GitRepository
    name: sylva-capi-cluster
    namespace: charts
  - alias: rendered
    kind: GitRepository
    name: flux-system
    namespace: flux-system
  artifacts:
  - name: edge-1
    originRevision: '@chart'
    copy:
    - from: "@chart/charts/sylva-capi-cluster/**"
      to: "@artifact/sylva-capi-cluster/"
    - from: "@rendered/deploy/out/edge-1/objects/values.yaml"
      to: "@artifact/sylva-capi-cluster/values.yaml"
      strategy: Merge

"#]],
    );
    let values = edge.read("out/edge-1/objects/values.yaml");
    let values = body(&values);
    let start = "capm3:\n  image_key: plain\ncontrol_plane:\n  capm3:\n    image_key: hard\nos_images:\n  hard:\n";
    assert!(values.starts_with(start), "{values}");
}

#[test]
fn a_resource_sets_inputs_are_one_map_a_cluster_and_one_an_image() {
    let edge = edge(KEYS, "target: flux-resourceset, form: inputs");
    edge.run("render").exit(0);
    let inputs = edge.read("out/edge-1.inputs.yaml");
    let inputs = body(&inputs).to_owned();
    let (pools, _) = inputs.split_once("    os_images:").expect("images");
    assert_text(
        pools,
        str![[r#"
- cluster: edge-1
  namespace: edge-1
  pools:
  - checksum: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    checksumType: sha256
    format: qcow2
    image: hard
    k8s_version: v1.31.8+rke2r1
    name: control-plane
    url: https://images.example.org/hard/image.qcow2
  - checksum: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
    checksumType: sha256
    format: raw
    image: plain
    k8s_version: v1.31.8+rke2r1
    name: md0
    url: https://images.example.org/plain/plain-0.4.12.raw
  values:
    capm3:
      image_key: plain
    control_plane:
      capm3:
        image_key: hard

"#]],
    );
    assert_text(
        &edge.read("out/images.inputs.yaml"),
        str![[r##"
# Rendered by metalmark for all clusters; edit the values, not this file.
- image: hard
  image-format: qcow2
  k8s-flavor: rke2
  k8s-version: "1.31.8-rke2r1"
  os: suse
  sha256: b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
  uri: oci://registry.example.org/images/hard:0.4.12
- filename: plain-0.4.12.raw
  image: plain
  image-format: raw
  k8s-flavor: rke2
  k8s-version: "1.31.8+rke2r1"
  os: ubuntu
  sha256: a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1
  uri: oci://registry.example.org/images/plain:0.4.12

"##]],
    );
}

#[test]
fn an_own_template_takes_the_place_of_the_embedded_one_and_its_faults_are_shown_in_it() {
    let templates = [
        "{% for template in templates %}---\napiVersion: v1\nkind: List\nmetadata: {name: {{ template.name }}}\n{% endfor %}",
        "a: 1\nb: {{ templates\n",
        "apiVersion: v1\nkind: List\n",
        "a: b: c\n",
    ];
    let edge = edge(KEYS, "target: manifests").settings("templates: own");
    let rendered = table(templates.map(|text| format!("{text:?}")), |title| {
        let text = templates.iter().find(|text| format!("{text:?}") == *title);
        edge.write("own/manifests/cluster.yaml.j2", text.expect("a template"));
        let outcome = edge.run("render --stdout").outcome;
        let screen = outcome.stdout + &outcome.stderr;
        lines_with(&screen, &["kind:", "name:", "error[", "-->"])
    });
    assert_text(
        &rendered,
        str![[r#"
"{% for template in templates %}---\napiVersion: v1\nkind: List\nmetadata: {name: {{ template.name }}}\n{% endfor %}"
    kind: List
    metadata: {name: edge-1-control-plane-294a0a2906}
    kind: List
    metadata: {name: edge-1-md0-12f8eac120}
"a: 1\nb: {{ templates\n"
    error[template-error]: template `manifests/cluster.yaml.j2` cannot be rendered: syntax error: unexpected end of input, expected end of variable block
    --> own/manifests/cluster.yaml.j2:2:1
"apiVersion: v1\nkind: List\n"
    error[manifest-invalid]: rendered file `out/edge-1.yaml`: List without a name: `metadata.name` must be a text
    --> out/edge-1.yaml:2:1
"a: b: c\n"
    error[manifest-invalid]: rendered file `out/edge-1.yaml`: a second `:` is not allowed here, on the same line
    --> out/edge-1.yaml:2:5

"#]],
    );
}
