//! The values of Flux HelmReleases: of a fixture in Sylva's shape, and where a real build would refuse.

use std::path::Path;

use metalmark::read::gitops::{self, Composition, Disk, Options};
use snapbox::str;
use yaml_tree::place::Sources;

use crate::support::manifests::object;
use crate::support::repository;
use crate::support::stage::{Is, assert_cases, project};

use super::composed::{describe, releases};

fn disk() -> Disk {
    Disk::new(&repository().join("fixtures/workspaces/sylva-flux")).expect("a folder")
}

fn composition(path: &str, options: &Options, sources: &mut Sources) -> Option<Composition> {
    let path = Path::new("environment-values").join(path);
    gitops::cluster(&disk(), &path, "", options, None, sources).expect("readable")
}

/// What each cluster of the fixture has of the chart as it is.
const CHART: &str = r#"
  cluster.capi_providers.bootstrap_provider = "cabpr" (charts/sylva-units/values.yaml:5:63)
  cluster.capi_providers.infra_provider = "capm3" (charts/sylva-units/values.yaml:5:36)
  os_images_oci_registries.sylva.tag = "0.4.12" (charts/sylva-units/values.yaml:13:56)
  os_images_oci_registries.sylva.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:13:16)
  sylva_diskimagebuilder_images.ubuntu-noble-hardened-rke2-1-31-8.os_images_oci_registry = "sylva" (charts/sylva-units/values.yaml:11:63)
  sylva_diskimagebuilder_images.ubuntu-noble-plain-rke2-1-30-8.os_images_oci_registry = "sylva" (charts/sylva-units/values.yaml:9:60)
  sylva_diskimagebuilder_images.ubuntu-noble-plain-rke2-1-31-8.os_images_oci_registry = "sylva" (charts/sylva-units/values.yaml:10:60)
  sylva_diskimagebuilder_version = "0.4.12" (charts/sylva-units/values.yaml:14:33)
"#;

/// The release of a folder of the fixture, without the lines of [`CHART`], which it has too.
fn composed(path: &str, options: &Options) -> String {
    let mut sources = Sources::default();
    let composition = composition(path, options, &mut sources).expect("a cluster");
    let mut lines = describe(&composition, &sources);
    for of_chart in CHART.trim_start_matches('\n').lines() {
        let place = lines.iter().position(|line| line == of_chart);
        lines.remove(place.unwrap_or_else(|| panic!("no {of_chart} in {lines:#?}")));
    }
    lines.join("\n")
}

#[test]
fn a_management_cluster_has_the_layers_of_its_bases_and_components() {
    composed("paris", &Options::default()).is(str![[r#"
sylva-units in `sylva-system`
  cluster.baremetal_hosts.first.memory = "16Gi" (environment-values/virt-base/virt-values.yaml:3:21)
  cluster.baremetal_hosts.second.memory = "16Gi" (environment-values/virt-base/ha/high-availability.yaml:4:22)
  cluster.baremetal_hosts.third.memory = "16Gi" (environment-values/virt-base/ha/high-availability.yaml:5:21)
  cluster.bmc.password = "﷐environment-values/virt-base/secrets.yaml#cluster.bmc.password﷑" (environment-values/virt-base/secrets.yaml:1:44)
  cluster.bmc.username = "﷐environment-values/virt-base/secrets.yaml#cluster.bmc.username﷑" (environment-values/virt-base/secrets.yaml:1:27)
  cluster.capm3.dns_servers.0 = "192.0.2.1" (environment-values/virt-base/virt-values.yaml:4:25)
  cluster.capm3.os_image_selector.hardened = true (environment-values/paris/values.yaml:3:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (environment-values/paris/values.yaml:3:35)
  cluster.control_plane_replicas = 3 (environment-values/virt-base/ha/high-availability.yaml:2:27)
  cluster.k8s_version = "v1.31.8+rke2r1" (charts/sylva-units/values.yaml:3:16)
  cluster.name = "paris" (environment-values/paris/values.yaml:2:9)
  role = "management" (charts/sylva-units/management.values.yaml:2:7)
  sources.core.commit = "REPLACED" (environment-values/base/release.yaml:29:22)
  sources.core.url = "https://git.example.org/core.git" (charts/sylva-units/values.yaml:17:15)
"#]]);
    composed("lyon", &Options::default()).is(str![[r#"
sylva-units in `sylva-system`
  cluster.bmc.password = "﷐environment-values/lyon/secrets.yaml#cluster.bmc.password﷑" (environment-values/lyon/secrets.yaml:1:27)
  cluster.capm3.os_image_selector.hardened = false (charts/sylva-units/values.yaml:7:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (charts/sylva-units/values.yaml:7:35)
  cluster.control_plane_replicas = 3 (charts/sylva-units/values.yaml:6:27)
  cluster.k8s_version = "v1.30.8+rke2r1" (environment-values/lyon/kustomization.yaml:11:16)
  cluster.name = "lyon" (environment-values/lyon/kustomization.yaml:11:16)
  cluster.ports.0.name = "api" (environment-values/lyon/addresses.yaml:10:22)
  cluster.ports.1.name = "join" (environment-values/lyon/addresses.yaml:10:35)
  cluster.ports.1.range = 6443 (environment-values/lyon/addresses.env:3:3)
  cluster_virtual_ip = "192.0.2.10" (environment-values/lyon/addresses.env:2:1)
  registry.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:15:17)
  role = "management" (charts/sylva-units/management.values.yaml:2:7)
  sources.core.commit = "0a1b2c3d" (environment-values/lyon/kustomization.yaml:28:70)
  sources.core.url = "oci://registry.example.org/core" (charts/sylva-units/from-registry.values.yaml:1:23)
  sources.extra.url = "https://git.example.org/extra.git" (environment-values/lyon/addresses.yaml:8:20)
"#]]);
}

#[test]
fn what_only_the_run_time_knows_is_missing_until_a_file_provides_it() {
    let path = "workload-clusters/edge-1";
    composed(path, &Options::default()).is(str![[r#"
sylva-units in `WORKLOAD_NAMESPACE`
  missing ConfigMap/mgmt-cluster-state-values values
  cluster.bmc.username = "﷐environment-values/workload-clusters/base/kustomization.yaml#secretGenerator.0.literals.0.secrets.cluster.bmc.username﷑" (environment-values/workload-clusters/base/kustomization.yaml:18:16)
  cluster.capm3.dns_servers.0 = "192.0.2.2" (environment-values/workload-clusters/virt-base/virt-values.yaml:1:33)
  cluster.capm3.os_image_selector.hardened = false (charts/sylva-units/values.yaml:7:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (charts/sylva-units/values.yaml:7:35)
  cluster.control_plane_replicas = 1 (charts/sylva-units/workload-cluster.values.yaml:1:59)
  cluster.k8s_version = "v1.31.8+rke2r1" (environment-values/workload-clusters/edge-1/values.yaml:3:16)
  cluster.name = "edge-1" (environment-values/workload-clusters/edge-1/values.yaml:2:9)
  registry.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:15:17)
  role = "workload" (charts/sylva-units/workload-cluster.values.yaml:2:7)
  sources.core.commit = "REPLACED" (environment-values/base/release.yaml:29:22)
  sources.core.url = "https://git.example.org/core.git" (charts/sylva-units/values.yaml:17:15)
"#]]);
    let mut options = Options::default();
    let given = "charts/sylva-units/from-registry.values.yaml".into();
    options.state =
        gitops::State::new([("ConfigMap/mgmt-cluster-state-values".to_owned(), given)].into());
    composed(path, &options).is(str![[r#"
sylva-units in `WORKLOAD_NAMESPACE`
  cluster.bmc.username = "﷐environment-values/workload-clusters/base/kustomization.yaml#secretGenerator.0.literals.0.secrets.cluster.bmc.username﷑" (environment-values/workload-clusters/base/kustomization.yaml:18:16)
  cluster.capm3.dns_servers.0 = "192.0.2.2" (environment-values/workload-clusters/virt-base/virt-values.yaml:1:33)
  cluster.capm3.os_image_selector.hardened = false (charts/sylva-units/values.yaml:7:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (charts/sylva-units/values.yaml:7:35)
  cluster.control_plane_replicas = 1 (charts/sylva-units/workload-cluster.values.yaml:1:59)
  cluster.k8s_version = "v1.31.8+rke2r1" (environment-values/workload-clusters/edge-1/values.yaml:3:16)
  cluster.name = "edge-1" (environment-values/workload-clusters/edge-1/values.yaml:2:9)
  registry.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:15:17)
  role = "workload" (charts/sylva-units/workload-cluster.values.yaml:2:7)
  sources.core.commit = "REPLACED" (environment-values/base/release.yaml:29:22)
  sources.core.url = "oci://registry.example.org/core" (charts/sylva-units/from-registry.values.yaml:1:23)
"#]]);
}

/// The values in an object have places in its scalar.
#[test]
fn references_follow_prefixes_and_hashes_where_they_are_configured_to() {
    composed("workload-clusters/edge-2", &Options::default()).is(str![[r#"
sylva-units in `edge-2`
  missing ConfigMap/mgmt-cluster-state-values values
  cluster.bmc.username = "﷐environment-values/workload-clusters/base/kustomization.yaml#secretGenerator.0.literals.0.secrets.cluster.bmc.username﷑" (environment-values/workload-clusters/base/kustomization.yaml:18:16)
  cluster.capm3.os_image_selector.hardened = false (charts/sylva-units/values.yaml:7:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (charts/sylva-units/values.yaml:7:35)
  cluster.control_plane_replicas = 1 (charts/sylva-units/workload-cluster.values.yaml:1:59)
  cluster.k8s_version = "v1.31.8+rke2r1" (charts/sylva-units/values.yaml:3:16)
  cluster.machine_deployments.md0.replicas = 2 (environment-values/workload-clusters/edge-2/extra.yaml:1:49)
  cluster.name = "edge-2" (environment-values/workload-clusters/edge-2/values.yaml:1:17)
  registry.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:15:17)
  role = "workload" (charts/sylva-units/workload-cluster.values.yaml:2:7)
  sources.core.commit = "REPLACED" (environment-values/base/release.yaml:29:22)
  sources.core.url = "https://git.example.org/core.git" (charts/sylva-units/values.yaml:17:15)
"#]]);
    composed("workload-clusters/edge-3", &Options::default()).is(str![[r#"
sylva-units in `edge-3`
  cluster.bmc.username = "﷐environment-values/workload-clusters/base/kustomization.yaml#secretGenerator.0.literals.0.secrets.cluster.bmc.username﷑" (environment-values/workload-clusters/base/kustomization.yaml:18:16)
  cluster.capm3.os_image_selector.hardened = false (charts/sylva-units/values.yaml:7:53)
  cluster.capm3.os_image_selector.os = "ubuntu" (charts/sylva-units/values.yaml:7:35)
  cluster.control_plane_replicas = 1 (charts/sylva-units/workload-cluster.values.yaml:1:59)
  cluster.k8s_version = "v1.31.8+rke2r1" (charts/sylva-units/values.yaml:3:16)
  cluster.name = "edge-3" (environment-values/workload-clusters/edge-3/objects.yaml:11:17)
  cluster.secret = "﷐environment-values/workload-clusters/edge-3/objects.yaml#items.1.data.values.yaml.cluster.secret﷑" (environment-values/workload-clusters/edge-3/objects.yaml:15:25)
  registry.url = "oci://registry.example.org/images" (charts/sylva-units/values.yaml:15:17)
  role = "workload" (charts/sylva-units/workload-cluster.values.yaml:2:7)
  sources.core.commit = "REPLACED" (environment-values/base/release.yaml:29:22)
  sources.core.url = "https://git.example.org/core.git" (charts/sylva-units/values.yaml:17:15)
"#]]);
}

#[test]
fn shared_files_are_read_once_and_give_the_same_values() {
    let (mut options, mut sources) = (Options::default(), Sources::default());
    let first = Path::new("environment-values/paris");
    gitops::share(&disk(), first, &mut options, &mut sources).expect("readable");
    let sources = sources.share();
    for path in ["paris", "lyon"] {
        let (mut own, mut sources) = (sources.clone(), Sources::default());
        let shared = composition(path, &options, &mut own).expect("a cluster");
        let alone = composition(path, &Options::default(), &mut sources).expect("a cluster");
        assert_eq!(describe(&shared, &own), describe(&alone, &sources));
    }
}

#[test]
fn only_folders_that_deploy_and_that_no_other_builds_on_are_clusters() {
    let found = |pattern: &str| {
        let found = gitops::clusters_in(&disk(), pattern).expect("readable");
        found
            .iter()
            .map(|path| format!("{}\n", path.display()))
            .collect::<String>()
    };
    let all = found("environment-values/*/") + &found("environment-values/workload-clusters/*");
    all.is(str![[r#"
environment-values/lyon
environment-values/paris
environment-values/workload-clusters/edge-1
environment-values/workload-clusters/edge-2
environment-values/workload-clusters/edge-3

"#]]);
    for path in ["../charts/sylva-units", "components/registry", "nowhere"] {
        let found = composition(path, &Options::default(), &mut Sources::default());
        assert!(found.is_none(), "{path}");
    }
}

#[test]
fn what_a_real_build_refuses_or_is_not_built_here_is_a_finding_at_its_place() {
    let release = object(
        "helm.toolkit.fluxcd.io/v2 HelmRelease r",
        "spec: {values: {a: 1}}",
    );
    assert_cases(
        str![[r#"
{resources: [r.yaml, ../../out.yaml]}
    c in ``
      composition-failed: `../../out.yaml` lies outside of the repository (c/kustomization.yaml:1:22)
{resources: [r.yaml, .]}
    c in ``
      composition-failed: `c` is built into itself (c/kustomization.yaml:1:1)
{resources: [none.yaml]}
    c in ``
      composition-failed: `none.yaml` is neither a file nor a folder with a kustomization (c/kustomization.yaml:1:14)
{resources: [r.yaml, r.yaml]}
    c in ``
      composition-failed: two objects are HelmRelease `r` (c/r.yaml:2:1, c/r.yaml:2:1)
{resources: [r.yaml], patches: [{patch: '- {op: remove, path: /x}', target: {}}]}
    c in ``
      composition-failed: there is no `/x` in the object (c/kustomization.yaml:1:63)
{resources: [r.yaml], patches: [{patch: '- {op: remove, path: /x}'}]}
    c in ``
      composition-failed: a JSON patch needs a `target` (c/kustomization.yaml:1:33)
{resources: [r.yaml], configMapGenerator: [{name: x, behavior: merge}]}
    c in ``
      composition-failed: there is no ConfigMap `x` that `behavior: merge` could change (c/kustomization.yaml:1:44)
{resources: [r.yaml], replacements: [{source: {kind: A}, targets: []}]}
    c in ``
      composition-failed: no object is the source of a replacement (c/kustomization.yaml:1:38)
{resources: [r.yaml], transformers: [t.yaml]}
    c in ``
      composition-failed: `t.yaml` is neither a file nor a folder with a kustomization (c/kustomization.yaml:1:38)
{resources: [r.yaml, 'https://example.org/x.yaml']}
    r in ``
      a = 1 (c/r.yaml:5:20)

"#]],
        |kustomization| {
            let project = project().file("c/kustomization.yaml", kustomization);
            releases(&project.file("c/r.yaml", &release), "c")
        },
    );
}

#[test]
fn a_release_takes_the_values_of_its_namespace_and_what_is_written_plainly_in_a_secret() {
    let with_objects = |kind: &str, objects: &str| {
        let spec = format!("spec: {{valuesFrom: [{{kind: {kind}, name: values}}]}}");
        let release = object("helm.toolkit.fluxcd.io/v2 HelmRelease edge/edge", &spec);
        let project = project().file("edge.yaml", format!("{objects}{release}"));
        releases(
            &project.file("kustomization.yaml", "resources: [edge.yaml]\n"),
            "",
        )
    };
    let map = |namespace: &str| {
        object(
            &format!("v1 ConfigMap {namespace}/values"),
            &format!("data: {{values.yaml: 'from: {namespace}'}}"),
        )
    };
    with_objects("ConfigMap", &(map("another") + &map("edge")))
        .join("\n")
        .is(str![[r#"
edge in `edge`
  from = "edge" (edge.yaml:10:28)
"#]]);
    // The API server writes `stringData` over `data`.
    assert_cases(
        str![[r#"
data: {values.yaml: ZnJvbTogZGF0YQ==}
    edge in `edge`
      from = "﷐edge.yaml#data.values.yaml.from﷑" (edge.yaml:5:21)
data: {values.yaml: ZnJvbTogZGF0YQ==}; stringData: {values.yaml: 'from: stringData'}
    edge in `edge`
      from = "﷐edge.yaml#stringData.values.yaml.from﷑" (edge.yaml:6:27)
data: {values.yaml: 'no base64!'}
     in ``
      yaml-syntax: values must be a map, and this is a secret (edge.yaml:5:21)

"#]],
        |fields| {
            with_objects(
                "Secret",
                &object("v1 Secret edge/values", &fields.replace("; ", "\n")),
            )
        },
    );
}

/// As kustomize's behaviors say, which are recorded in `kustomize::`.
#[test]
fn a_generator_that_replaces_a_map_leaves_none_of_its_keys() {
    let more = "spec: {valuesFrom: [{kind: ConfigMap, name: values}, {kind: ConfigMap, name: values, valuesKey: more.yaml, optional: true}]}";
    let release = object("helm.toolkit.fluxcd.io/v2 HelmRelease edge", more);
    let generator = |behavior: &str, files: &str| {
        format!(
            "configMapGenerator: [{{name: values, behavior: {behavior}, files: [{files}], options: {{disableNameSuffixHash: true}}}}]\n"
        )
    };
    assert_cases(
        str![[r#"
merge
    edge in ``
      k8s_version = "v1.29.9" (base/more.yaml:1:14)
replace
    edge in ``
      k8s_version = "v1.31.8" (prod/values.yaml:1:14)

"#]],
        |behavior| {
            let project = project()
                .file(
                    "base/kustomization.yaml",
                    "resources: [r.yaml]\n".to_owned()
                        + &generator("create", "values.yaml, more.yaml"),
                )
                .file("base/r.yaml", &release)
                .file("base/values.yaml", "k8s_version: v1.30.2\n")
                .file("base/more.yaml", "k8s_version: v1.29.9\n")
                .file(
                    "prod/kustomization.yaml",
                    "resources: [../base]\n".to_owned() + &generator(behavior, "values.yaml"),
                )
                .file("prod/values.yaml", "k8s_version: v1.31.8\n");
            releases(&project, "prod")
        },
    );
}

/// What helm-controller and Argo CD call a release, which expressions may read.
#[test]
fn a_release_has_the_name_that_its_controller_gives_it() {
    let release = |spec: &str| {
        let chart = "{spec: {chart: chart, sourceRef: {kind: GitRepository, name: here}, valuesFiles: [chart/values.yaml]}}";
        object(
            "helm.toolkit.fluxcd.io/v2 HelmRelease here/units",
            &format!("spec: {{chart: {chart}{spec}}}"),
        )
    };
    let application = |source: &str| {
        let spec = format!("spec: {{destination: {{namespace: here}}, {source}}}");
        object("argoproj.io/v1alpha1 Application units", &spec)
    };
    for (object, name) in [
        (release(""), "units"),
        (release(", targetNamespace: there"), "there-units"),
        (release(", targetNamespace: there, releaseName: own"), "own"),
        (application("source: {path: chart}"), "units"),
        (
            application("source: {path: chart, helm: {releaseName: own}}"),
            "own",
        ),
        (
            application("sources: [{ref: values}, {path: chart, helm: {releaseName: own}}]"),
            "own",
        ),
    ] {
        let project = project()
            .file(
                "chart/Chart.yaml",
                "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
            )
            .file(
                "chart/values.yaml",
                "cluster: {name: '{{ .Release.Name }}', k8s_version: v1.31.8}\n",
            )
            .file("edge/units.yaml", &object)
            .settings("clusters: [{name: edge, values: [edge/units.yaml]}]\n");
        project
            .run("values edge cluster.name")
            .exit(0)
            .stdout(format!("{name}\n"));
    }
}
