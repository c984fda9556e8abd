//! The public sylva-core repository is read as it is. Runs where `SYLVA_CORE` names a checkout of it (fd968edcf, 2025-08-04).

use std::path::Path;

use metalmark::evaluate::{Evaluator, Options, TemplateCache};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge::{Layer, LayerKind, layers};
use yaml_tree::place::FileId;
use yaml_tree::value::{Map, Node};

use super::programs;

/// Every folder with bare-metal nodes: what its cluster's version and selector come to.
const FOLDERS: &[(&str, &str, &str)] = &[
    (
        "rke2-capm3",
        "v1.31.8+rke2r1",
        r#"{"hardened":true,"os":"ubuntu"}"#,
    ),
    ("rke2-capm3-virt", "v1.31.8+rke2r1", r#"{"os":"ubuntu"}"#),
    ("kubeadm-capm3-virt", "v1.31.8", r#"{"os":"ubuntu"}"#),
    (
        "ck8s-capm3-virt",
        "1.31.6",
        r#"{"hardened":false,"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/rke2-capm3",
        "v1.31.8+rke2r1",
        r#"{"hardened":true,"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/rke2-capm3-virt",
        "v1.31.8+rke2r1",
        r#"{"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/kubeadm-capm3-virt",
        "v1.31.8",
        r#"{"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/ck8s-capm3-virt",
        "1.31.6",
        r#"{"hardened":false,"os":"ubuntu"}"#,
    ),
    ("workload-clusters/okd-capm3", "v1.31.8", "null"),
    (
        "workload-clusters/okd-capm3-virt",
        "v1.31.8",
        r#"{"os":"ubuntu"}"#,
    ),
];

#[test]
fn every_folder_gets_its_version_selector_and_catalog() {
    let Some(root) = programs::named("SYLVA_CORE") else {
        return;
    };
    let templates = TemplateCache::default();
    for (folder, version, selector) in FOLDERS {
        let evaluator = Evaluator::new(&values(&root, folder), &Options::default(), &templates);
        let get = |path: &[&str]| match evaluator.get(path) {
            Ok(node) => node.map_or("null".to_owned(), |node| json(&node)),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(
            get(&["cluster", "k8s_version"]),
            format!("{version:?}"),
            "{folder}"
        );
        assert_eq!(
            get(&["cluster", "capm3", "os_image_selector"]),
            *selector,
            "{folder}"
        );
        assert!(evaluator.expressions_run() <= 2, "{folder}");
        let images = evaluator
            .root()
            .get_path(&["sylva_diskimagebuilder_images"]);
        let images = images.ok().flatten().expect("the values have images");
        let entries = images.entries().ok().flatten();
        assert_eq!(entries.map(|entries| entries.len()), Some(19), "{folder}");
        let registry = ["os_images_oci_registries", "sylva"];
        assert_eq!(get(&[&registry[..], &["tag"]].concat()), r#""0.4.12""#);
        assert_eq!(
            get(&[&registry[..], &["url"]].concat()),
            r#""oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder""#
        );
        let differences = evaluator.order_differences();
        assert!(differences.is_empty(), "{folder}: {differences:?}");
    }
}

/// Compares with `.Values` as a real Helm evaluated them: JSON in the file that `SYLVA_VALUES` names, for the folder
/// `rke2-capm3`.
#[test]
fn the_values_of_the_cluster_are_those_that_helm_evaluates() {
    let names = ["SYLVA_CORE", "SYLVA_VALUES"].map(programs::named);
    let [Some(root), Some(expected)] = names else {
        return;
    };
    let expected = read(Path::new(&expected));
    let evaluator = Evaluator::new(
        &values(Path::new(&root), "rke2-capm3"),
        &Options::default(),
        &TemplateCache::default(),
    );
    let (mut same, mut different) = (0, Vec::new());
    for part in ["", "cluster", "_internal", "units"] {
        let path: Vec<&str> = part.split('.').filter(|key| !key.is_empty()).collect();
        for entry in expected
            .get_path(&path)
            .and_then(|node| node.value.as_map())
            .map(|map| Map::clone(map))
            .unwrap_or_default()
            .iter()
        {
            if path.is_empty()
                && ["cluster", "_internal", "units", "_interpreted"].contains(&&*entry.key)
            {
                continue;
            }
            let path = [&path[..], &[&*entry.key]].concat();
            let ours = match evaluator.get(&path) {
                Ok(node) => node.map_or("left out".to_owned(), |node| json(&node)),
                Err(failure) => format!("{failure:?}"),
            };
            if ours == json(&entry.node) {
                same += 1;
            } else {
                let short = |text: &str| text.chars().take(600).collect::<String>();
                different.push(format!(
                    "{}\n  ours   {}\n  theirs {}",
                    path.join("."),
                    short(&ours),
                    short(&json(&entry.node))
                ));
            }
        }
    }
    assert!(
        different.is_empty(),
        "{same} the same, {} not\n{}",
        different.len(),
        different.join("\n")
    );
}

fn json(node: &Node) -> String {
    to_json(&node.value, Html::Plain)
}

fn read(path: &Path) -> Node {
    let text = std::fs::read_to_string(path).expect("the file is there");
    yaml_tree::values(&text, FileId(0), Engine::Helm3).expect("it is YAML")
}

/// The layers of an environment folder: chart, kind of cluster, the virtual machines' base, secrets, values
/// (docs/sylva.md#values-and-their-order).
fn values(root: &Path, folder: &str) -> Node {
    let chart = root.join("charts/sylva-units");
    let kind = if folder.contains("workload-clusters") {
        "workload-cluster.values.yaml"
    } else {
        "management.values.yaml"
    };
    let is_virtual = folder.ends_with("-virt");
    let folder = root.join("environment-values").join(folder);
    let base = folder.with_file_name("base-capm3-virt");
    let base = [
        base.join("capm3-virt-values.yaml"),
        base.join("secrets.yaml"),
    ];
    let own = [folder.join("secrets.yaml"), folder.join("values.yaml")];
    let overrides = base
        .into_iter()
        .filter(|_| is_virtual)
        .chain(own)
        .filter(|path| path.exists());
    let stack: Vec<Layer> = [(chart.join("values.yaml"), LayerKind::Chart)]
        .into_iter()
        .chain([(chart.join(kind), LayerKind::Override)])
        .chain(overrides.map(|path| (path, LayerKind::Override)))
        .map(|(path, kind)| Layer {
            tree: read(&path),
            kind,
        })
        .collect();
    layers(&stack, Engine::Helm3).tree
}

/// The folders with virtual machines: provider, version, and how the image is chosen.
const CLOUDS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "rke2-capo",
        "capo",
        "v1.31.8+rke2r1",
        "os_image_selector",
        r#"{"hardened":true,"os":"ubuntu"}"#,
    ),
    (
        "kubeadm-capo",
        "capo",
        "v1.31.8",
        "os_image_selector",
        r#"{"hardened":false,"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/rke2-capo",
        "capo",
        "v1.31.8+rke2r1",
        "os_image_selector",
        r#"{"hardened":true,"os":"ubuntu"}"#,
    ),
    (
        "workload-clusters/kubeadm-capo",
        "capo",
        "v1.31.8",
        "os_image_selector",
        r#"{"hardened":false,"os":"ubuntu"}"#,
    ),
    (
        "kubeadm-capv",
        "capv",
        "v1.31.8",
        "image_name",
        r#""ubuntu-2004-kube-v1.24.10""#,
    ),
];

#[test]
fn the_folder_of_every_cloud_gets_its_version_and_choice() {
    let Some(root) = programs::named("SYLVA_CORE") else {
        return;
    };
    for (folder, provider, version, choice, said) in CLOUDS {
        let evaluator = Evaluator::new(
            &values(&root, folder),
            &Options::default(),
            &TemplateCache::default(),
        );
        let get = |path: &[&str]| match evaluator.get(path) {
            Ok(node) => node.map_or("null".to_owned(), |node| json(&node)),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(
            get(&["cluster", "k8s_version"]),
            format!("{version:?}"),
            "{folder}"
        );
        assert_eq!(get(&["cluster", provider, choice]), *said, "{folder}");
    }
}
