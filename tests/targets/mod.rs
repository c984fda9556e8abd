//! What each target writes for small clusters built by hand, byte for byte, and that Kubernetes would take it.

mod given;
mod overrides;
mod programs;
mod references;
mod together;

use metalmark::model::cluster::LevelName;
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::rule::RuleId;
use metalmark::model::selection::Outcome;
use metalmark::model::settings::ChecksumStyle;
use serde_json::json;

use given::{cluster, file, image, key, level, output, pool, rendered, selector, settings, url};

/// A control plane and one machine deployment; each level chose by key.
fn keyed() -> ClusterView {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, key("plain"));
    level(&mut view, LevelName::ControlPlane, key("hard"));
    let settings = json!({"image_key": "x", "nodeReuse": true, "hostSelector": {"matchLabels": {"role": "cp"}}});
    pool(&mut view, None, (key("hard"), Some("hard")), &settings);
    pool(
        &mut view,
        Some("md0"),
        (key("plain"), Some("plain")),
        &json!({"image_key": "x"}),
    );
    view
}

/// The part of a text between two of its lines' beginnings.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text
        .find(from)
        .unwrap_or_else(|| panic!("no `{from}` in {text}"));
    let end = text[start..].find(to).map_or(text.len(), |end| start + end);
    &text[start..end]
}

#[test]
fn a_pool_gets_a_machine_template_named_after_its_spec() {
    let text = file("manifests", &json!({}), &keyed(), "edge-1.yaml");
    assert_eq!(
        text,
        format!(
            "\
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
        checksum: {b2}
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
        checksum: {a1}
        checksumType: sha256
        format: raw
        url: https://images.example.org/plain/plain-0.4.12.raw
",
            a1 = "a1".repeat(32),
            b2 = "b2".repeat(32),
        )
    );
}

#[test]
fn another_image_gives_another_name_and_v1beta2_another_field() {
    let mut view = keyed();
    let name = |view: &ClusterView, options| {
        let text = file("manifests", &options, view, "edge-1.yaml");
        between(&text, "  name: edge-1-md0", "\n").to_owned()
    };
    let before = name(&view, json!({}));
    view.selections[1].outcome = Outcome::Image("hard".into());
    assert_ne!(before, name(&view, json!({})));
    let text = file(
        "manifests",
        &json!({"api-version": "v1beta2"}),
        &view,
        "edge-1.yaml",
    );
    assert!(
        text.contains("diskFormat: qcow2") && !text.contains(" format:"),
        "{text}"
    );
    assert!(text.contains("apiVersion: infrastructure.cluster.x-k8s.io/v1beta2"));
}

#[test]
fn a_checksum_by_url_is_beside_the_image_and_oci_has_none() {
    let stamped = |url: &str, style| {
        let mut settings = settings(vec![output("manifests", "out", &json!({}))]);
        settings.images.checksum = style;
        settings.images.url = url.to_owned();
        let (files, findings) = rendered(&settings, &[keyed()], None);
        assert!(findings.is_empty(), "{findings:?}");
        between(&files[0].text, "      image:", "---").to_owned()
    };
    let by_url = stamped("http://h/{{ image.key }}", ChecksumStyle::Url);
    assert!(
        by_url.contains("checksum: http://h/hard.sha256sum\n"),
        "{by_url}"
    );
    assert!(by_url.contains("checksumType: sha256\n"));
    let oci = stamped("{{ image.uri }}@{{ cluster.name }}", ChecksumStyle::Literal);
    assert!(
        oci.contains("url: oci://registry.example.org/images/hard:0.4.12@edge-1\n"),
        "{oci}"
    );
    assert!(!oci.contains("checksum") && oci.contains("format: qcow2"));
}

#[test]
fn a_pool_without_an_image_has_no_template() {
    let mut view = keyed();
    view.selections[0].outcome = Outcome::NoMatch;
    let text = file("manifests", &json!({}), &view, "edge-1.yaml");
    assert!(!text.contains("control-plane") && text.contains("edge-1-md0"));
}

/// What the overlay says below `cluster`.
fn choices(view: &ClusterView, style: &str) -> String {
    let options = json!({"choice": style, "os-images": false});
    file("helm-values", &options, view, "edge-1.values.yaml")
}

#[test]
fn each_level_is_answered_in_its_own_spelling() {
    assert_eq!(
        choices(&keyed(), "auto"),
        "cluster:\n  capm3:\n    image_key: plain\n  control_plane:\n    capm3:\n      image_key: hard\n"
    );
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, selector("os", "ubuntu"));
    pool(
        &mut view,
        None,
        (selector("os", "ubuntu"), Some("plain")),
        &json!({}),
    );
    assert_eq!(
        choices(&view, "auto"),
        "cluster:\n  capm3:\n    os_image_selector:\n      _os_images_key_: plain\n"
    );
}

#[test]
fn a_selector_that_only_normalized_matching_answers_takes_the_images_own_version() {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, selector("os", "ubuntu"));
    pool(
        &mut view,
        None,
        (selector("os", "ubuntu"), Some("hard")),
        &json!({}),
    );
    view.selections[0].other_mode = Some(Outcome::NoMatch);
    assert_eq!(
        choices(&view, "auto"),
        "cluster:\n  capm3:\n    os_image_selector:\n      _os_images_key_: hard\n      k8s-version: '1\\.31\\.8-rke2r1'\n"
    );
}

#[test]
fn the_proposals_key_and_an_url_become_machine_image_fields() {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, key("plain"));
    level(
        &mut view,
        LevelName::MachineDeployment("md0".into()),
        url("http://own/i"),
    );
    pool(
        &mut view,
        None,
        (key("plain"), Some("plain")),
        &json!({"os_image_key": "plain"}),
    );
    pool(
        &mut view,
        Some("md0"),
        (url("http://own/i"), None),
        &json!({}),
    );
    assert_eq!(
        choices(&view, "auto"),
        format!(
            "\
cluster:
  capm3:
    machine_image_checksum: {a1}
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
",
            a1 = "a1".repeat(32)
        )
    );
}

#[test]
fn one_spelling_everywhere_takes_the_others_away() {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, selector("os", "ubuntu"));
    pool(
        &mut view,
        None,
        (selector("os", "ubuntu"), Some("plain")),
        &json!({}),
    );
    let choices = |style: &str| {
        let chart = "sylva-capi-cluster";
        let options = json!({"choice": style, "os-images": false, "chart": chart});
        file("helm-values", &options, &view, "edge-1.values.yaml")
    };
    let url = choices("url");
    assert!(
        url.contains("  machine_image_url: https://images.example.org/plain/"),
        "{url}"
    );
    assert!(url.contains("  os_image_selector: null\n"), "{url}");
    let key = choices("key");
    assert_eq!(
        key,
        "capm3:\n  image_key: plain\n  os_image_selector: null\n"
    );
}

#[test]
fn pools_that_share_a_level_but_not_an_image_are_answered_at_their_own() {
    let mut view = cluster("edge-1");
    level(&mut view, LevelName::Cluster, selector("os", "ubuntu"));
    pool(
        &mut view,
        None,
        (selector("os", "ubuntu"), Some("plain")),
        &json!({}),
    );
    pool(
        &mut view,
        Some("md0"),
        (selector("os", "ubuntu"), Some("hard")),
        &json!({}),
    );
    let values = choices(&view, "auto");
    assert_eq!(
        values,
        "\
cluster:
  capm3:
    os_image_selector:
      _os_images_key_: plain
  machine_deployments:
    md0:
      capm3:
        os_image_selector:
          _os_images_key_: hard
"
    );
}

#[test]
fn the_config_map_is_the_one_that_sylva_reads() {
    let mut view = keyed();
    view.served = vec!["plain".into()];
    let text = file(
        "configmap",
        &json!({"scope": "cluster"}),
        &view,
        "edge-1-os-images-info.yaml",
    );
    assert_eq!(
        text,
        format!(
            "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: os-images-info
  namespace: edge-1
  labels:
    reconcile.fluxcd.io/watch: Enabled
    sylva.os-images-info: \"\"
data:
  values.yaml: |
    os_images:
      plain:
        filename: plain-0.4.12.raw
        hardened: \"false\"
        image-format: raw
        k8s-version: \"1.31.8+rke2r1\"
        sha256: {a1}
        uri: oci://registry.example.org/images/plain:0.4.12
",
            a1 = "a1".repeat(32)
        )
    );
    let served = file(
        "configmap",
        &json!({"scope": "cluster"}),
        &view,
        "edge-1-os-image-server-images.values",
    );
    let a1 = "a1".repeat(32);
    assert_eq!(
        served,
        format!(
            "capm3_os_image_server_images:\n  {a1}:\n    available: true\n    image_key: plain\n"
        )
    );
}

#[test]
fn the_shared_config_map_may_be_named_after_its_content_and_have_the_proposals_root() {
    let options =
        json!({"name-suffix-hash": true, "os-images-info-root": true, "namespace": "images"});
    let text = file("configmap", &options, &keyed(), "os-images-info.yaml");
    let name = between(&text, "  name: os-images-info-", "\n");
    assert_eq!(name.len(), "  name: os-images-info-".len() + 10, "{name}");
    assert!(text.contains("  namespace: images\n"));
    let proposed = between(&text, "    os_images_info:\n      hard:\n", "      plain:");
    assert!(
        proposed.contains("        url: https://images.example.org/hard/image.qcow2\n"),
        "{proposed}"
    );
    assert!(
        proposed.contains("        checksumType: sha256\n")
            && proposed.contains("        format: qcow2\n")
    );
}

#[test]
fn an_object_of_more_than_a_mebibyte_is_reported() {
    let mut view = cluster("edge-1");
    let fat = image("fat", &[("note", &"x".repeat(1 << 20))]);
    view.images = std::sync::Arc::new([("fat".into(), fat)].into());
    view.served = vec!["fat".into()];
    let settings = settings(vec![output(
        "configmap",
        "out",
        &json!({"scope": "cluster"}),
    )]);
    let (_, findings) = rendered(&settings, &[view], None);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].rule, RuleId::ObjectTooLarge);
    assert!(
        findings[0].message.contains("may have 1048576"),
        "{}",
        findings[0].message
    );
}

#[test]
fn flux_gets_a_folder_a_cluster_and_a_list_of_them() {
    let options =
        json!({"values-from": [{"kind": "Secret", "name": "values"}], "project-path": "deploy"});
    let release = file("flux", &options, &keyed(), "edge-1/helmrelease.yaml");
    assert_eq!(
        release,
        "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cluster
  namespace: edge-1
spec:
  interval: \"10m\"
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
"
    );
    let sync = file("flux", &options, &keyed(), "edge-1.yaml");
    assert!(sync.contains("  path: \"./deploy/out/edge-1\"\n"), "{sync}");
    let list = file("flux", &options, &keyed(), "kustomization.yaml");
    assert!(list.ends_with("resources:\n- edge-1.yaml\n"), "{list}");
    let units = json!({"chart": "charts/sylva-units", "source-kind": "OCIRepository"});
    let release = file("flux", &units, &keyed(), "edge-1/helmrelease.yaml");
    assert!(
        release.contains("  chartRef:\n    kind: OCIRepository\n"),
        "{release}"
    );
    assert!(
        release.contains("  values:\n    cluster:\n      capm3:\n"),
        "{release}"
    );
}

#[test]
fn variables_that_are_not_fluxs_are_guarded() {
    let mut view = keyed();
    let odd = image("plain", &[("note", "${HOME}")]);
    view.images = std::sync::Arc::new([("plain".into(), odd)].into());
    view.served = vec!["plain".into()];
    view.cluster.pools.clear();
    view.selections.clear();
    let text = file("flux", &json!({}), &view, "edge-1/os-images-info.yaml");
    assert!(
        text.contains("  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n"),
        "{text}"
    );
    let plain = file("flux", &json!({}), &keyed(), "edge-1/os-images-info.yaml");
    assert!(!plain.contains("substitute"));
}

#[test]
fn argo_cd_gets_the_objects_before_what_refers_to_them() {
    let options =
        json!({"repo-url": "https://git.example.org/charts.git", "value-files": ["a.yaml"]});
    let text = file("argocd", &options, &keyed(), "edge-1.yaml");
    let waves: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("argocd.argoproj.io/sync-wave: "))
        .collect();
    assert_eq!(waves, ["\"-2\"", "\"-1\"", "\"-1\"", "\"0\""]);
    let application = between(&text, "kind: Application\n", "        os_images:");
    assert_eq!(
        application,
        "\
kind: Application
metadata:
  name: edge-1
  namespace: argocd
  annotations:
    argocd.argoproj.io/sync-options: ServerSideApply=true
    argocd.argoproj.io/sync-wave: \"0\"
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
"
    );
}

#[test]
fn an_option_that_is_missing_or_wrong_is_a_finding_with_the_line_to_write() {
    let told = |target, options| {
        let settings = settings(vec![output(target, "out", &options)]);
        let (_, findings) = rendered(&settings, &[keyed()], None);
        let finding = findings.into_iter().next().expect("a finding");
        assert_eq!(finding.rule, RuleId::ProjectFile);
        (finding.message, finding.help.join("\n"))
    };
    let (message, help) = told("argocd", json!({}));
    assert_eq!(message, "target `argocd` needs the option `repo-url`");
    assert_eq!(
        help,
        "add `repo-url: https://git.example.org/repository.git` to the output's options"
    );
    let (message, help) = told("manifests", json!({"api-version": "v1alpha1"}));
    assert_eq!(
        message,
        "`api-version: v1alpha1` is not an option of target `manifests`"
    );
    assert_eq!(help, "write one of v1beta1, v1beta2");
    let (message, _) = told("configmap", json!({"name-suffix-hash": "yes"}));
    assert_eq!(
        message,
        "option `name-suffix-hash` of target `configmap` is true or false, not `\"yes\"`"
    );
}

#[test]
fn names_that_kubernetes_refuses_are_reported() {
    let mut view = keyed();
    view.cluster.object_name = "Edge_1".into();
    let settings = settings(vec![output("manifests", "out", &json!({}))]);
    let (_, findings) = rendered(&settings, &[view], None);
    assert!(
        findings
            .iter()
            .all(|finding| finding.rule == RuleId::ManifestInvalid)
    );
    let first = &findings[0].message;
    assert!(
        first.contains("is not a legal name: lower-case letters"),
        "{first}"
    );
}

#[test]
fn a_name_from_values_never_leads_out_of_the_folder() {
    let mut view = keyed();
    view.cluster.name = "../../etc/passwd".into();
    let settings = settings(vec![output("manifests", "out", &json!({}))]);
    let (files, findings) = rendered(&settings, &[view], None);
    assert!(
        files.iter().all(|file| !file.path.contains("..")),
        "{files:?}"
    );
    assert!(
        findings
            .iter()
            .any(|finding| finding.rule == RuleId::OutputPathIllegal),
        "{findings:?}"
    );
}

#[test]
fn what_holds_variables_is_kept_from_fluxs_substitution_and_only_that() {
    let guard = "kustomize.toolkit.fluxcd.io/substitute: disabled";
    let guarded = |target: &str, path: &str, filename: &str| {
        let mut view = keyed();
        let mut images = given::images();
        let noted = image("plain", &[("filename", filename), ("image-format", "raw")]);
        images.insert("plain".into(), noted);
        view.images = std::sync::Arc::new(images);
        file(target, &json!({}), &view, path).contains(guard)
    };
    for (target, path) in [
        ("flux", "edge-1/os-images-info.yaml"),
        ("flux-resourceset", "edge-1.yaml"),
    ] {
        assert!(guarded(target, path, "image-${version}.raw"), "{target}");
        assert!(!guarded(target, path, "image.raw"), "{target}");
    }
}

#[test]
fn what_flux_reads_values_from_is_watched() {
    for (target, path) in [
        ("flux", "edge-1/os-images-info.yaml"),
        ("configmap", "os-images-info.yaml"),
    ] {
        let text = file(target, &json!({}), &keyed(), path);
        assert!(
            text.contains("reconcile.fluxcd.io/watch: Enabled"),
            "{text}"
        );
    }
}

#[test]
fn a_cluster_gets_a_chart_with_its_images_merged_in() {
    let options = json!({"project-path": "deploy", "source-namespace": "charts"});
    let generator = file(
        "flux-artifact",
        &options,
        &keyed(),
        "edge-1/artifactgenerator.yaml",
    );
    let copies = "\
    copy:
    - from: \"@chart/charts/sylva-capi-cluster/**\"
      to: \"@artifact/sylva-capi-cluster/\"
    - from: \"@rendered/deploy/out/edge-1/values.yaml\"
      to: \"@artifact/sylva-capi-cluster/values.yaml\"
      strategy: Merge
";
    assert!(generator.ends_with(copies), "{generator}");
    let values = file("flux-artifact", &options, &keyed(), "edge-1/values.yaml");
    assert!(
        values.starts_with("capm3:\n  image_key: plain\n"),
        "{values}"
    );
    assert!(values.contains("\nos_images:\n"), "{values}");
}

#[test]
fn a_resource_sets_inputs_are_one_map_a_cluster_and_one_an_image() {
    let options = json!({"form": "inputs"});
    let inputs = file("flux-resourceset", &options, &keyed(), "edge-1.inputs.yaml");
    assert!(
        inputs.starts_with("- cluster: edge-1\n  namespace: edge-1\n"),
        "{inputs}"
    );
    let pool = "\
    - checksum: a1a1";
    assert!(
        inputs.contains(pool) || inputs.contains("image: plain"),
        "{inputs}"
    );
    let images = file("flux-resourceset", &options, &keyed(), "images.inputs.yaml");
    assert_eq!(images.matches("\n- ").count() + 1, 2, "{images}");
    assert!(
        images.contains("image: hard") && images.contains("image: plain"),
        "{images}"
    );
}
