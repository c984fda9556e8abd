//! What is written of an image: only what is known, under the name and key that a chart looks up.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use snapbox::str;

use super::{gathered, serve, two_releases};
use crate::support::stage::{Is, Stage, assert_text, changes, project, table};

/// A cluster of OpenStack with a selector, and images of which only the names are known.
const NAMES: &str = "\
sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}}
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}
  capo: {os_image_selector: {os: ubuntu}}
";

#[test]
fn what_only_a_name_says_is_written_nowhere() {
    let outputs = "outputs: [{target: helm-values, path: h}, \
                   {target: flux, path: f, patch: sylva-units}, {target: flux, path: g, patch: sylva-units, chart: charts/sylva-units}]";
    let stage = project().cluster("edge", NAMES).settings(outputs);
    let _ = stage.run("render").exit(0);
    let [values, patch, of_chart] = ["h", "f", "g"].map(|folder| {
        let files = stage.list(folder).into_iter();
        let file = |name: String| {
            let text = stage.read(&format!("{folder}/{name}"));
            format!("# {name}\n{text}")
        };
        files.map(file).collect::<String>()
    });
    assert_eq!(patch, of_chart);
    assert_text(
        &(values + &patch),
        str![[r##"
# edge.values.yaml
# Rendered by metalmark for cluster edge; edit the values, not this file.
cluster:
  capo:
    os_image_selector:
      _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-31-8"
# edge/kustomization.yaml
# Rendered by metalmark for cluster edge; edit the values, not this file.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      kind: HelmRelease
      name: sylva-units
    patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: sylva-units
      spec:
        values:
          cluster:
            capo:
              os_image_selector:
                _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-31-8"

"##]],
    );
}

/// Each target that writes facts, with the file that has them.
const FACTS: [(&str, &str); 8] = [
    ("configmap", "os-images-info.yaml"),
    ("configmap, scope: cluster", "edge-os-images-info.yaml"),
    ("helm-values, chart: sylva-capi-cluster", "edge.values.yaml"),
    ("flux", "edge/objects/os-images-info.yaml"),
    ("flux-artifact", "edge/objects/values.yaml"),
    ("flux-resourceset", "edge.yaml"),
    ("flux-resourceset, form: inputs", "images.inputs.yaml"),
    (
        "argocd, repo-url: 'https://git.example.org/acme/core.git', machine-templates: false",
        "edge.yaml",
    ),
];

#[test]
fn facts_that_only_a_name_says_are_refused_by_each_target() {
    for (target, file) in FACTS {
        let settings = format!(
            "outputs: [{{target: {target}, path: out}}]\nregistries: {{mirrors: {{registry.example.org: 'oci-layout:registry'}}}}"
        );
        let stage = project().cluster("edge", NAMES).settings(&settings);
        let image = "registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12";
        stage.write("artifacts.txt", format!("{image} 1.31.8+rke2r1\n"));
        serve(&stage);
        let before = stage.texts();
        let stderr = stage.run("render").exit(1).outcome.stderr;
        let says = "error[lock-missing-image]: nothing but its name says what image `ubuntu-noble-plain-rke2-1-31-8` is";
        assert!(
            stderr.contains(says) && stderr.contains("help: run `metalmark lock`"),
            "{target}: {stderr}"
        );
        assert_eq!(stage.texts(), before, "{target}");
        let _ = stage.run("lock").exit(0);
        let _ = stage.run("render").exit(0);
        let text = stage.read(&format!("out/{file}")).replace('"', "");
        assert!(
            text.contains("k8s-version: 1.31.8+rke2r1"),
            "{target}: {text}"
        );
    }
}

#[test]
fn an_image_of_the_user_says_itself_what_its_selector_wants() {
    let name = "ubuntu-noble-plain-rke2-1-31-8";
    let sum = "a".repeat(64);
    let said = table(
        [
            "",
            ", os: ubuntu",
            ", os: ubuntu, k8s-flavor: rke2",
            ", os: ubuntu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1",
        ],
        |facts| {
            let image = format!(
                "os_images: {{{name}: {{uri: 'https://images.example.org/a.raw', filename: a.raw, image-format: raw, sha256: {sum}{facts}}}}}\n"
            );
            let values = two_releases("", &image).replace("1.35.6", "1.31.8");
            let [of_chart, of_manifests] = ["helm-values", "manifests"].map(|target| {
                let stage = project()
                    .cluster("edge", &values)
                    .settings(&format!("outputs: [{{target: {target}, path: out}}]"));
                let stderr = stage.run("render --output concise").outcome;
                (stderr.stdout + &stderr.stderr)
                    .lines()
                    .map(|line| format!("{target}: {line}"))
                    .collect::<Vec<_>>()
            });
            of_chart
                .into_iter()
                .chain(of_manifests)
                .filter(|line| line.contains("matching-differs"))
                .collect()
        },
    );
    said.is(str![[r#"

    helm-values: edge.yaml:4:13: error[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-flavor`, `k8s-version`, `os` (cluster edge, pool control-plane)
    manifests: edge.yaml:4:13: warning[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-flavor`, `k8s-version`, `os` (cluster edge, pool control-plane)
, os: ubuntu
    helm-values: edge.yaml:4:13: error[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-flavor`, `k8s-version` (cluster edge, pool control-plane)
    manifests: edge.yaml:4:13: warning[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-flavor`, `k8s-version` (cluster edge, pool control-plane)
, os: ubuntu, k8s-flavor: rke2
    helm-values: edge.yaml:4:13: error[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-version` (cluster edge, pool control-plane)
    manifests: edge.yaml:4:13: warning[matching-differs]: Sylva's own matching resolves to no image: `os_images.ubuntu-noble-plain-rke2-1-31-8` does not say `k8s-version` (cluster edge, pool control-plane)
, os: ubuntu, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1

"#]]);
}

/// From Sylva 1.6 an image of the chart's catalog has the key `REGISTRY--NAME`: what is written selects it by either key.
#[test]
fn an_image_is_selected_by_the_key_that_the_chart_gives_it() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed =
        format!("sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}}}\n");
    let facts = gathered(
        &format!("sylva--{image}"),
        image,
        "0.11.13",
        "1.35.6+rke2r1",
    );
    let mut seen = String::new();
    for choice in [
        "os_image_selector: {os: ubuntu}",
        "os_image_selector: {_os_images_key_: 'sylva--ubuntu.*'}",
        "os_image_selector: {_os_images_key_: 'sylva-n-1--ubuntu.*'}",
        "image_key: ubuntu-noble-plain-rke2-1-35",
        "image_key: sylva--ubuntu-noble-plain-rke2-1-35",
        "image_key: sylva-n-1--ubuntu-noble-plain-rke2-1-35",
    ] {
        let values = two_releases("", &listed).replace("os_image_selector: {os: ubuntu}", choice);
        let stage = project()
            .cluster("edge", &values)
            .settings("images: {facts: [info.yaml]}\noutputs: [{target: helm-values, path: u}, {target: helm-values, path: c, chart: sylva-capi-cluster}]")
            .file("info.yaml", format!("os_images:\n{facts}"));
        seen += &format!("{choice}\n");
        if stage.run("render").outcome.status != 0 {
            continue;
        }
        for folder in ["u", "c"] {
            let written = stage.read(&format!("{folder}/edge.values.yaml"));
            let pins = written.lines().filter(|line| {
                line.contains("_os_images_key_")
                    || line.contains("image_key")
                    || line.ends_with("35:")
            });
            seen += &pins
                .map(|line| format!("  {folder} {}\n", line.trim()))
                .collect::<String>();
        }
    }
    assert_text(
        &seen,
        str![[r#"
os_image_selector: {os: ubuntu}
  u _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-35"
  c _os_images_key_: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
os_image_selector: {_os_images_key_: 'sylva--ubuntu.*'}
  u _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-35"
  c _os_images_key_: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
os_image_selector: {_os_images_key_: 'sylva-n-1--ubuntu.*'}
image_key: ubuntu-noble-plain-rke2-1-35
  u image_key: ubuntu-noble-plain-rke2-1-35
  c image_key: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
image_key: sylva--ubuntu-noble-plain-rke2-1-35
  u image_key: sylva--ubuntu-noble-plain-rke2-1-35
  c image_key: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
image_key: sylva-n-1--ubuntu-noble-plain-rke2-1-35

"#]],
    );
}

/// A catalog of the proposal's time, a cluster that names one of its images, and what is rendered of both.
fn dotted(list: &str, cluster: &str) -> Stage {
    let image = |version: &str| {
        format!(
            "  ubuntu-noble-plain-kubeadm-{version}: {{uri: 'oci://registry.example.org/os/other:{version}', k8s-version: {version}, k8s-flavor: kubeadm, \
             os: ubuntu, os-release: noble, sha256: {}, image-format: raw}}\n",
            HEXLOWER.encode(&Sha256::digest(version))
        )
    };
    let values = format!("{list}:\n{}{}{cluster}", image("1.30.2"), image("1.31.8"));
    let outputs = "outputs: [{target: configmap, path: c, os-images-info-root: true}, \
                   {target: helm-values, path: h, chart: sylva-capi-cluster}]";
    project().cluster("edge", &values).settings(outputs)
}

#[test]
fn an_image_is_written_as_a_chart_looks_it_up() {
    let cluster = "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  capm3: ";
    let mut seen = String::new();
    for (list, choice) in [
        (
            "diskimage_builder_os_images",
            "{os_image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n",
        ),
        (
            "os_images",
            "{image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n",
        ),
        (
            "os_images",
            "{image_key: ubuntu-nobel-plain-kubeadm-1.31.8}\n",
        ),
        (
            "os_images",
            "{os_image_selector: {_os_images_key_: 'ubuntu-noble-plain-kubeadm-1\\.31\\.8'}}\n",
        ),
    ] {
        let stage = dotted(list, &format!("{cluster}{choice}"));
        let before = stage.texts();
        let _ = stage.run("check --fix");
        seen += &changes(&before, &stage.texts());
        let _ = stage.run("render").exit(0);
        let texts = stage.read("c/os-images-info.yaml") + &stage.read("h/edge.values.yaml");
        let lines = texts.lines().filter(|line| line.contains("ubuntu-noble"));
        seen += &lines.map(|line| format!("{line}\n")).collect::<String>();
    }
    assert_text(
        &seen,
        str![[r#"
edge.yaml:7
-  capm3: {os_image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {os_image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  machine_image_url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  ubuntu-noble-plain-kubeadm-1.31.8:
edge.yaml:7
-  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  image_key: ubuntu-noble-plain-kubeadm-1.31.8
  ubuntu-noble-plain-kubeadm-1.31.8:
edge.yaml:7
-  capm3: {image_key: ubuntu-nobel-plain-kubeadm-1.31.8}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  image_key: ubuntu-noble-plain-kubeadm-1.31.8
  ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
    _os_images_key_: 'ubuntu-noble-plain-kubeadm-1\.31\.8'
  ubuntu-noble-plain-kubeadm-1.31.8:

"#]],
    );
}

#[test]
fn a_wave_names_an_image_as_the_catalog_does() {
    let cluster = "cluster:\n  k8s_version: v1.30.2\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                   capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n";
    let stage = dotted("os_images", cluster);
    let before = stage.texts();
    let _ = stage.run("plan --to 1.31 --apply 1").exit(0);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
edge.yaml:5
-  k8s_version: v1.30.2
+  k8s_version: v1.31.8
edge.yaml:7
-  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}

"#]],
    );
}
