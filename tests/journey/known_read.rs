//! Steps of the journey that fail today: what is read and written.

use super::project::{Project, parsed};
use super::reduced::{self, OVERLAYS};
use crate::support::known::known_failure;

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
    project.write(&path, &format!("{text}components: [{component}]\n"));
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
    known_failure(
        "sylva-chart D1: the component is read back as the strongest layer",
        || {
            project.succeeds("render");
            let component = project.read("environment-values/images/edge-key/kustomization.yaml");
            assert_eq!(
                component.matches("ubuntu-noble-plain-rke2-1-31-8").count(),
                0,
                "{component}"
            );
        },
    );
}

#[test]
fn a_component_that_is_not_rendered_yet_hides_no_values() {
    let project = reduced::start();
    project.outputs(FLUX);
    add_component(&project, KEY, "../../images/edge-key");
    known_failure(
        "sylva-chart D1: the first render reports that `cluster` is not set",
        || {
            let outcome = project.run("render");
            assert!(
                !outcome.stderr.contains("`cluster` is not set"),
                "{}",
                outcome.stderr
            );
        },
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
    known_failure(
        "sylva-chart D1: the overlay is read back as the strongest layer",
        || {
            project.succeeds("render");
            let pins = project.pins("overlays/edge-key.values.yaml");
            let root = "cluster.capm3.image_key=ubuntu-noble-hardened-rke2-1-31-8";
            assert!(pins.contains(&root.to_owned()), "{pins:?}");
        },
    );
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
    known_failure(
        "sylva-chart D1: the pin in the overlay contradicts the selector",
        || {
            project.succeeds("render");
            let pins = project.pins("overlays/metal.values.yaml");
            let root =
                "cluster.capm3.os_image_selector._os_images_key_=ubuntu-noble-hardened-rke2-1-31-8";
            assert!(pins.contains(&root.to_owned()), "{pins:?}");
        },
    );
}

#[test]
fn an_overlay_with_facts_in_the_environment_renders_again() {
    let project = reduced::start();
    project.succeeds("render");
    compose_overlay(&project, METAL, "../../composed");
    known_failure(
        "sylva-chart D1 and D3: the overlay's images collide with the catalog",
        || {
            project.succeeds("render");
        },
    );
}

/// Two entries of one key become duplicate keys in the chart's list of images (S11).
#[test]
fn an_overlay_repeats_no_image_of_the_catalog() {
    let project = reduced::start();
    project.succeeds("render");
    let chart = project.values("charts/sylva-units/values.yaml");
    let catalog = chart["sylva_diskimagebuilder_images"]
        .as_object()
        .expect("a map")
        .clone();
    known_failure(
        "sylva-chart D3: `os_images` repeats the images of the catalog",
        || {
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
        },
    );
}

/// In a layer of `-f` a null removes nothing, and the schema refuses a level with two spellings.
#[test]
fn another_spelling_over_a_selector_is_refused() {
    for choice in ["url", "key"] {
        let project = reduced::start();
        project.outputs(&format!(
            "[{{target: helm-values, path: overlays, choice: {choice}}}]"
        ));
        known_failure(
            "sylva-chart D4: `choice` writes what the chart's schema refuses",
            || {
                let outcome = project.run("render");
                let refused = outcome.status == 1 && outcome.stderr.contains("os_image_selector");
                let pins = || project.pins("overlays/metal.values.yaml");
                assert!(
                    refused
                        || !pins()
                            .iter()
                            .any(|pin| pin.ends_with("os_image_selector=null"))
                );
            },
        );
    }
}

/// The chart requires md5 and file name of each own image on OpenStack (S6): an entry without them breaks it.
#[test]
fn an_image_without_facts_becomes_no_entry() {
    let project = reduced::start();
    let image = "ubuntu-noble-plain-kubeadm-1-31-8";
    let mut info = parsed(&project.read("os-images-info.yaml"));
    let facts = info["os_images"].as_object_mut().expect("a map");
    facts.remove(image).expect("its facts");
    project.write("os-images-info.yaml", &info.to_string());
    let outcome = project.succeeds("render");
    assert!(
        outcome.stderr.contains("k8s-version-unproven"),
        "{}",
        outcome.stderr
    );
    known_failure(
        "sylva-chart D7: an entry without its facts is written",
        || {
            let images = project.values("overlays/cloud.values.yaml")["os_images"].clone();
            let images = images.as_object().cloned().unwrap_or_default();
            for (key, facts) in &images {
                assert!(
                    facts["md5"].is_string() && facts["filename"].is_string(),
                    "{key}: {facts}"
                );
            }
        },
    );
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
    known_failure("sylva-chart D9: `check` accepts the boolean", || {
        let outcome = project.run("check");
        assert!(outcome.stdout.contains("value-type"), "{}", outcome.stdout);
    });
}

/// A cluster's own version is newer than that of the site's image.
#[test]
fn no_help_lowers_the_kubernetes_version() {
    let project = reduced::start();
    let site = "environment-values/workload-clusters/edge-selector/values.yaml";
    project.edit(site, "1.30.12+rke2r1", "1.30.11+rke2r1");
    let outcome = project.run("check");
    let told = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(told.contains("no-image-matches"), "{told}");
    assert!(
        !told.contains("`cluster.k8s_version: v1.30.11+rke2r1`"),
        "{told}"
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
    known_failure(
        "new: `init` lists environment-values/base as a cluster",
        || {
            assert!(
                outcome.stdout.contains("found 2 clusters"),
                "{}",
                outcome.stdout
            );
        },
    );
}
