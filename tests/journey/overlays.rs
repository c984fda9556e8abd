//! What is read and what is written: rendered files are no input, and overlays hold what the chart takes.

use super::project::{Project, parsed};
use super::reduced::{self, OVERLAYS};
use crate::hosts::pages;
use crate::programs;

const KEY: &str = "environment-values/workload-clusters/edge-key";
const METAL: &str = "environment-values/metal";
const FLUX: &str = "[{target: flux, path: environment-values/images, patch: sylva-units, chart: charts/sylva-units}]";

/// The root key of `edge-key`, which a person changes.
fn change_the_key(project: &Project) {
    let path = format!("{KEY}/values.yaml");
    project.edit(
        &path,
        "capm3: {image_key: ubuntu-noble-plain",
        "capm3: {image_key: ubuntu-noble-hardened",
    );
}

fn add_component(project: &Project, environment: &str, component: &str) {
    let path = format!("{environment}/kustomization.yaml");
    let text = project.read(&path);
    project.write(&path, format!("{text}components: [{component}]\n"));
}

/// Puts a rendered overlay into the environment, as the last of its `valuesFrom`.
fn compose_overlay(project: &Project, environment: &str, component: &str) {
    let name = environment.rsplit('/').next().expect("a name");
    let text = format!(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nconfigMapGenerator:\n\
         \x20 - {{name: overlay, options: {{disableNameSuffixHash: true}}, files: [values=../overlays/{name}.values.yaml]}}\n\
         patches:\n  - target: {{kind: HelmRelease}}\n    patch: |\n\
         \x20     - {{op: add, path: /spec/valuesFrom/-, value: {{kind: ConfigMap, name: overlay, valuesKey: values}}}}\n"
    );
    project.write("composed/kustomization.yaml", &text);
    add_component(project, environment, component);
}

#[test]
fn a_component_in_the_environment_follows_a_changed_selection() {
    let project = reduced::start();
    project.outputs(FLUX);
    project.succeeds("render");
    add_component(&project, KEY, "../../images/edge-key");
    project.succeeds("render --check");
    change_the_key(&project);
    project.succeeds("render");
    let component = project.read("environment-values/images/edge-key/kustomization.yaml");
    assert_eq!(
        component.matches("ubuntu-noble-plain-rke2-1-31-8").count(),
        0,
        "{component}"
    );
}

#[test]
fn a_component_that_is_not_rendered_yet_hides_no_values() {
    let project = reduced::start();
    project.outputs(FLUX);
    add_component(&project, KEY, "../../images/edge-key");
    let outcome = project.run("render");
    assert!(
        !outcome.stderr.contains("`cluster` is not set"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_overlay_in_the_environment_follows_a_changed_selection() {
    let project = reduced::start();
    project.outputs("[{target: helm-values, path: overlays, os-images: false}]");
    project.succeeds("render");
    compose_overlay(&project, KEY, "../../../composed");
    project.succeeds("render --check");
    change_the_key(&project);
    project.succeeds("render");
    let pins = project.pins("overlays/edge-key.values.yaml");
    let root = "cluster.capm3.image_key=ubuntu-noble-hardened-rke2-1-31-8";
    assert!(pins.contains(&root.to_owned()), "{pins:?}");
}

#[test]
fn a_selector_changes_under_an_overlay_in_the_environment() {
    let project = reduced::start();
    project.outputs("[{target: helm-values, path: overlays, os-images: false}]");
    project.succeeds("render");
    compose_overlay(&project, METAL, "../../composed");
    project.succeeds("render --check");
    project.edit(
        &format!("{METAL}/values.yaml"),
        "hardened: false # until",
        "hardened: true # until",
    );
    project.succeeds("render");
    let pins = project.pins("overlays/metal.values.yaml");
    let root = "cluster.capm3.os_image_selector._os_images_key_=(sylva--)?ubuntu-noble-hardened-rke2-1-31-8";
    assert!(pins.contains(&root.to_owned()), "{pins:?}");
}

#[test]
fn an_overlay_with_facts_in_the_environment_renders_again() {
    let project = reduced::start();
    project.succeeds("render");
    compose_overlay(&project, METAL, "../../composed");
    project.succeeds("render");
}

/// Two entries of one key become duplicate keys in the chart's list of images (docs/sylva.md#the-catalog).
#[test]
fn an_overlay_repeats_no_image_of_the_catalog() {
    let project = reduced::start();
    project.succeeds("render");
    let chart = project.values("charts/sylva-units/values.yaml");
    let catalog = chart["sylva_diskimagebuilder_images"]
        .as_object()
        .expect("a map")
        .clone();
    for (path, text) in project.files("overlays") {
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let images = parsed(&text)["os_images"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let repeated: Vec<&String> = images
                .keys()
                .filter(|key| catalog.contains_key(*key))
                .collect();
            assert!(repeated.is_empty(), "{}: {repeated:?}", path.display());
        }
    }
}

/// In a layer of `-f` a null removes nothing, and the schema refuses a level with two spellings.
#[test]
fn another_spelling_over_a_selector_is_refused() {
    for choice in ["url", "key"] {
        let project = reduced::start();
        project.outputs(&format!(
            "[{{target: helm-values, path: overlays, choice: {choice}}}]"
        ));
        let outcome = project.run("render");
        let refused = outcome.status == 1 && outcome.stderr.contains("os_image_selector");
        let pins = || project.pins("overlays/metal.values.yaml");
        assert!(
            refused
                || !pins()
                    .iter()
                    .any(|pin| pin.ends_with("os_image_selector=null"))
        );
    }
}

/// The chart requires md5 and file name of each own image on OpenStack (docs/sylva.md#the-catalog): an entry without them breaks
/// it.
#[test]
fn an_image_without_facts_becomes_no_entry() {
    let project = reduced::start();
    let image = "ubuntu-noble-plain-kubeadm-1-31-8";
    let mut info = parsed(&project.read("os-images-info.yaml"));
    let facts = info["os_images"].as_object_mut().expect("a map");
    facts.remove(image).expect("its facts");
    project.write("os-images-info.yaml", info.to_string());
    let outcome = project.succeeds("render");
    assert!(
        outcome.stderr.contains("k8s-version-unproven"),
        "{}",
        outcome.stderr
    );
    let images = project.values("overlays/cloud.values.yaml")["os_images"].clone();
    let images = images.as_object().cloned().unwrap_or_default();
    for (key, facts) in &images {
        assert!(
            facts["md5"].is_string() && facts["filename"].is_string(),
            "{key}: {facts}"
        );
    }
}

/// Sylva's schema requires strings there, unlike in a cluster's own selectors.
#[test]
fn a_boolean_in_an_additional_selector_is_a_finding() {
    let project = reduced::start();
    project.edit(
        &format!("{METAL}/values.yaml"),
        "edges: {",
        "edges: {hardened: false, ",
    );
    let outcome = project.run("check");
    assert!(outcome.stdout.contains("value-type"), "{}", outcome.stdout);
}

/// A cluster's own version is newer than that of the site's image.
#[test]
fn no_help_lowers_the_kubernetes_version() {
    let project = reduced::start();
    let site = "environment-values/workload-clusters/edge-selector/values.yaml";
    project.edit(site, "1.30.12+rke2r1", "1.30.11+rke2r1");
    let outcome = project.run("check");
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(reported.contains("no-image-matches"), "{reported}");
    assert!(
        !reported.contains("`cluster.k8s_version: v1.30.11+rke2r1`"),
        "{reported}"
    );
}

/// Where every environment builds on a second base, the first one is a base all the same.
#[test]
fn init_takes_no_base_for_a_cluster() {
    let project = reduced::copy();
    for folder in ["metal", "cloud", "base-metal"] {
        let folder = project.path().join("environment-values").join(folder);
        std::fs::remove_dir_all(folder).expect("removed");
    }
    let outcome = project.init(OVERLAYS);
    assert!(
        outcome.stdout.contains("found 2 clusters"),
        "{}",
        outcome.stdout
    );
}

/// The first render works with the component in place, and so does each later one, also where its folder was moved.
#[test]
fn a_component_is_left_out_before_it_is_rendered_and_after_it_is_moved() {
    let project = reduced::start();
    project.outputs(FLUX);
    add_component(&project, KEY, "../../images/edge-key");
    let first = project.succeeds("render");
    assert!(
        first.stderr.contains("is not rendered yet, and left out"),
        "{}",
        first.stderr
    );
    let again = project.succeeds("render");
    assert!(!again.stderr.contains("left out"), "{}", again.stderr);
    let moved = FLUX.replace("environment-values/images", "rendered/flux");
    project.outputs(&moved);
    let rename = |from: &str, to: &str| {
        std::fs::create_dir_all(project.path().join(to).parent().expect("a folder"))
            .and_then(|()| std::fs::rename(project.path().join(from), project.path().join(to)))
            .expect("moved");
    };
    rename("environment-values/images", "rendered/flux");
    let path = format!("{KEY}/kustomization.yaml");
    project.edit(
        &path,
        "../../images/edge-key",
        "../../../rendered/flux/edge-key",
    );
    project.succeeds("render --check");
    change_the_key(&project);
    project.succeeds("render");
    let component = project.read("rendered/flux/edge-key/kustomization.yaml");
    assert!(
        component.contains("image_key: ubuntu-noble-hardened-rke2-1-31-8"),
        "{component}"
    );
}

/// The list of an earlier version is believed once more, so that what it names is not read back.
#[test]
fn a_component_of_an_earlier_version_is_left_out() {
    let project = reduced::start();
    project.outputs(FLUX);
    add_component(&project, KEY, "../../images/edge-key");
    project.succeeds("render");
    let images = "environment-values/images";
    let mut list = String::new();
    for cluster in ["edge-key", "edge-selector"] {
        let below = format!("{cluster}/kustomization.yaml");
        let path = format!("{images}/{below}");
        let text = project.read(&path);
        let text = text.split_once('\n').expect("lines").1;
        project.write(&path, text);
        let digest = oci_artifacts::Digest::compute(text.as_bytes());
        list += &format!("{below}\t{digest}\tflux/edge-key\n");
    }
    project.write(&format!("{images}/.metalmark-owned"), list);
    change_the_key(&project);
    let outcome = project.succeeds("render");
    let said = "deleted  environment-values/images/.metalmark-owned  (each rendered file says in its first line whose it is)";
    assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    let component = project.read("environment-values/images/edge-key/kustomization.yaml");
    assert!(
        component.contains("image_key: ubuntu-noble-hardened-rke2-1-31-8"),
        "{component}"
    );
    project.succeeds("render --check");
}

/// A misspelled path is no rendered file.
#[test]
fn a_component_that_nothing_renders_is_reported() {
    let project = reduced::start();
    project.outputs(FLUX);
    add_component(&project, KEY, "../../images/edge-kye");
    project.succeeds("render");
    let outcome = project.run("check");
    assert!(
        outcome.stdout.contains("correct the path"),
        "{}",
        outcome.stdout
    );
}

/// A project that names its own output as a layer, and facts that metalmark rendered.
#[test]
fn rendered_files_of_the_project_file_are_left_out_with_a_warning() {
    let project = Project::new();
    let sha256 = "a".repeat(64);
    let values = |key: &str| {
        format!(
            "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n\
             \x20 capm3: {{image_key: {key}}}\nos_images:\n  one-rke2-1-31-8: {{uri: 'oci://r.example/one:1', k8s-version: v1.31.8, image-format: raw, filename: one.raw, sha256: {sha256}}}\n\
             \x20 two-rke2-1-31-8: {{uri: 'oci://r.example/two:1', k8s-version: v1.31.8, image-format: raw, filename: one.raw, sha256: {sha256}}}\n"
        )
    };
    project.write("edge.yaml", values("one-rke2-1-31-8"));
    project.write(
        "metalmark.yaml",
        "version: 1\nclusters: [{name: edge, values: [edge.yaml, out/edge.values.yaml]}]\n\
         images: {facts: [out/os-images.values.yaml]}\noutputs: [{target: helm-values, path: out}]\n",
    );
    project.write("out/edge.values.yaml", "{}\n");
    project.write(
        "out/os-images.values.yaml",
        "os_images: {other-rke2-1-31-8: {}}\n",
    );
    project.succeeds("render --adopt");
    project.write("edge.yaml", values("two-rke2-1-31-8"));
    let outcome = project.succeeds("render");
    for (file, key) in [("edge", "values"), ("os-images", "facts")] {
        let reported =
            format!("`out/{file}.values.yaml` is rendered by metalmark, and left out of the {key}");
        assert!(outcome.stderr.contains(&reported), "{}", outcome.stderr);
    }
    assert_eq!(
        project.pins("out/edge.values.yaml"),
        ["cluster.capm3.image_key=two-rke2-1-31-8"]
    );
}

/// The steps of docs/hosts/sylva-units.md.
#[test]
fn the_page_on_sylva_units_is_true() {
    let page = pages::page("sylva-units.md");
    assert!(page.contains(KEY));
    let project = reduced::start();
    let outputs = pages::block(&page, "outputs");
    project.outputs(outputs.strip_prefix("outputs:").expect("outputs"));
    let kustomization = format!("{KEY}/kustomization.yaml");
    let component = pages::block(&page, "component");
    let text = project.read(&kustomization);
    project.write(&kustomization, format!("{text}{component}\n"));
    project.succeeds("render");
    change_the_key(&project);
    project.succeeds("render");
    project.succeeds("render --check");
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let output = std::process::Command::new(&kubectl)
        .args(["kustomize", KEY])
        .current_dir(project.path())
        .output()
        .expect("kubectl runs");
    let built = String::from_utf8_lossy(&output.stdout);
    assert!(
        built.contains("image_key: ubuntu-noble-hardened-rke2-1-31-8"),
        "{built}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What metalmark rendered is no cluster, whatever pattern matches it.
#[test]
fn a_rendered_values_file_is_no_cluster() {
    let project = Project::new();
    let values = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n\
                  \x20 capm3: {image_key: one-rke2-1-31-8}\nos_images:\n  one-rke2-1-31-8: {uri: 'oci://r.example/one:1', k8s-version: v1.31.8, image-format: raw, filename: one.raw, sha256: SHA256}\n"
        .replace("SHA256", &"a".repeat(64));
    project.write("clusters/edge.yaml", &values);
    project.write(
        "metalmark.yaml",
        "version: 1\nclusters: [{each: 'clusters/*.yaml'}]\noutputs: [{target: helm-values, path: clusters}]\n",
    );
    for _ in 0..2 {
        let outcome = project.succeeds("render");
        assert!(
            outcome.stdout.contains("2 files rendered"),
            "{}",
            outcome.stdout
        );
    }
}

/// What is rendered is no input, so nobody knows what the pins of another cluster make of this one's values.
#[test]
fn what_is_rendered_for_another_cluster_is_refused_where_it_is_applied() {
    let project = reduced::start();
    project.outputs(FLUX);
    project.succeeds("render");
    add_component(&project, KEY, "../../images/edge-selector");
    for words in ["check", "render --check"] {
        let outcome = project.run(words);
        let said = "error[composition-unsupported]: `environment-values/images/edge-selector` is rendered for cluster `edge-selector`, and applied in `edge-key`";
        let shown = outcome.stdout + &outcome.stderr;
        assert!(shown.contains(said), "{shown}");
    }
    let clusters = project.run("clusters edge-key").stdout;
    assert!(!clusters.contains("proven"), "{clusters}");
}
