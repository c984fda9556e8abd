//! A cluster as Flux composes it: the fixture's clusters, and every folder of it beside the real kustomize.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::model::engine::Engine;
use metalmark::model::merge;
use metalmark::model::place::{FileId, Sources};
use metalmark::model::value::{Map, Node, Value};
use metalmark::read::compose::{self, Composition, Options};
use metalmark::yaml;

use super::programs;

/// The fixture: a repository in Sylva's shape.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workspaces/sylva-flux")
}

fn cluster(path: &str, options: &Options) -> (Composition, Sources) {
    let mut sources = Sources::default();
    let composition = compose::cluster(&root(), Path::new(path), options, &mut sources);
    let composition = composition.expect("readable").expect("a cluster");
    (composition, sources)
}

/// What stands at a path of the merged values, and in which line of which file.
fn value(composed: &(Composition, Sources), path: &str) -> String {
    let merged = merge::layers(&composed.0.layers, Engine::Helm3);
    let keys: Vec<&str> = path.split('.').collect();
    let Some(node) = merged.tree.at(&keys) else {
        return "nothing".to_owned();
    };
    let spot = composed
        .1
        .resolve(node.place)
        .map_or("nowhere".to_owned(), |spot| spot.to_string());
    format!("{} at {spot}", shown(&node.value))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_management_cluster_has_the_layers_of_its_bases_and_components() {
    let paris = cluster("environment-values/paris", &Options::default());
    assert_eq!(
        (&*paris.0.name, &*paris.0.namespace),
        ("sylva-units", "sylva-system")
    );
    assert!(paris.0.findings.is_empty(), "{:?}", paris.0.findings);
    assert_eq!(paris.0.missing, []);
    assert_eq!(
        value(&paris, "cluster.name"),
        "paris at environment-values/paris/values.yaml:2:9"
    );
    assert_eq!(
        value(&paris, "role"),
        "management at charts/sylva-units/management.values.yaml:2:7"
    );
    assert_eq!(value(&paris, "registry"), "nothing");
    assert_eq!(
        value(&paris, "cluster.baremetal_hosts.third.memory"),
        "16Gi at environment-values/virt-base/ha/high-availability.yaml:5:21"
    );
    assert_eq!(
        value(&paris, "cluster.bmc.username"),
        "admin at environment-values/virt-base/secrets.yaml:1:27"
    );
}

#[test]
fn literals_env_files_and_patches_have_their_places() {
    let lyon = cluster("environment-values/lyon", &Options::default());
    assert!(lyon.0.findings.is_empty(), "{:?}", lyon.0.findings);
    let home = "environment-values/lyon";
    assert_eq!(
        value(&lyon, "sources.core.commit"),
        format!("0a1b2c3d at {home}/kustomization.yaml:28:70")
    );
    assert_eq!(
        value(&lyon, "cluster_virtual_ip"),
        format!("192.0.2.10 at {home}/addresses.env:2:1")
    );
    assert_eq!(
        value(&lyon, "sources.core.url"),
        "oci://registry.example.org/core at charts/sylva-units/from-registry.values.yaml:1:23"
    );
    let merged = merge::layers(&lyon.0.layers, Engine::Helm3);
    let ports = merged.tree.at(&["cluster", "ports"]).expect("ports");
    let range = ports.value.as_list().expect("a list")[1]
        .at(&["range"])
        .expect("set by path");
    assert_eq!(shown(&range.value), "Number(Int(6443))");
}

#[test]
fn what_only_the_run_time_knows_is_missing_until_a_file_stands_for_it() {
    let path = "environment-values/workload-clusters/edge-1";
    let edge = cluster(path, &Options::default());
    let missing: Vec<String> = edge
        .0
        .missing
        .iter()
        .map(|one| format!("{}/{} {}", one.kind, one.name, one.key))
        .collect();
    assert_eq!(missing, ["ConfigMap/mgmt-cluster-state-values values"]);

    let mut options = Options::default();
    let file = "charts/sylva-units/from-registry.values.yaml";
    options.state.insert(
        "ConfigMap/mgmt-cluster-state-values".to_owned(),
        file.into(),
    );
    let edge = cluster(path, &options);
    assert!(edge.0.missing.is_empty());
    assert_eq!(
        value(&edge, "sources.core.url"),
        format!("oci://registry.example.org/core at {file}:1:23")
    );
}

#[test]
fn references_follow_prefixes_and_hashes_where_they_are_told_to() {
    let edge = cluster(
        "environment-values/workload-clusters/edge-2",
        &Options::default(),
    );
    assert!(edge.0.findings.is_empty(), "{:?}", edge.0.findings);
    assert_eq!(
        (&*edge.0.name, &*edge.0.namespace),
        ("sylva-units", "edge-2")
    );
    assert_eq!(
        value(&edge, "cluster.machine_deployments.md0.replicas"),
        "Number(Float(2.0)) at environment-values/workload-clusters/edge-2/extra.yaml:1:49"
    );
}

#[test]
fn values_in_an_object_have_places_in_its_scalar() {
    let edge = cluster(
        "environment-values/workload-clusters/edge-3",
        &Options::default(),
    );
    let file = "environment-values/workload-clusters/edge-3/objects.yaml";
    assert_eq!(
        value(&edge, "cluster.name"),
        format!("edge-3 at {file}:11:17")
    );
    assert_eq!(value(&edge, "cluster.secret"), format!("x at {file}:15:25"));
}

#[test]
fn a_folder_without_a_release_is_no_cluster() {
    let mut sources = Sources::default();
    let options = Options::default();
    for path in [
        "charts/sylva-units",
        "environment-values/components/registry",
        "environment-values/nowhere",
    ] {
        let composition =
            compose::cluster(&root(), Path::new(path), &options, &mut sources).expect("readable");
        assert!(composition.is_none(), "{path}");
    }
}

#[test]
fn shared_files_are_read_once_and_give_the_same_values() {
    let (mut options, mut sources) = (Options::default(), Sources::default());
    let first = Path::new("environment-values/paris");
    compose::share(&root(), first, &mut options, &mut sources).expect("readable");
    let shared = sources.share();
    for path in ["environment-values/paris", "environment-values/lyon"] {
        let mut own = shared.clone();
        let composition = compose::cluster(&root(), Path::new(path), &options, &mut own)
            .expect("readable")
            .expect("one");
        let alone = cluster(path, &Options::default());
        let both =
            [&composition, &alone.0].map(|one| merge::layers(&one.layers, Engine::Helm3).tree);
        assert!(both[0].value.same(&both[1].value), "{path}");
        assert_eq!(value(&(composition, own), "role"), value(&alone, "role"));
    }
}

/// Every folder with a kustomization builds to the same objects as with the real program, or both refuse it.
#[test]
fn every_folder_builds_as_kustomize_builds_it() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let root = std::env::var_os("METALMARK_FLUX_REPOSITORY").map_or_else(root, PathBuf::from);
    let (mut same, mut refused, mut wrong) = (0, 0, Vec::new());
    for folder in folders(&root) {
        match compare(&kubectl, &root, &folder) {
            Ok(true) => same += 1,
            Ok(false) => refused += 1,
            Err(difference) => wrong.push(format!("{}: {difference}", folder.display())),
        }
    }
    assert!(
        wrong.is_empty(),
        "{same} same, {refused} refused by both:\n{}",
        wrong.join("\n")
    );
    assert!(same > 5, "only {same} folders were compared");
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("environment-values")).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_name() == "kustomization.yaml" {
            let folder = entry.path().parent().expect("in a folder");
            let text = std::fs::read_to_string(entry.path()).expect("text");
            if !text.contains("kind: Component") {
                found.push(folder.strip_prefix(root).expect("below").to_owned());
            }
        }
    }
    found
}

fn compare(kubectl: &Path, root: &Path, folder: &Path) -> Result<bool, String> {
    let output = Command::new(kubectl)
        .arg("kustomize")
        .arg(root.join(folder))
        .output()
        .expect("runs");
    let mut sources = Sources::default();
    let ours = compose::objects(root, folder, &mut sources).expect("readable");
    if !output.status.success() {
        return match ours {
            Err(_) => Ok(false),
            Ok(_) => Err(format!(
                "is refused: {}",
                String::from_utf8_lossy(&output.stderr)
            )),
        };
    }
    let ours = ours.map_err(|finding| finding.message)?;
    let text = String::from_utf8(output.stdout).expect("text");
    let theirs = yaml::read(&text, FileId(0), Engine::Kubectl)
        .expect("YAML")
        .documents;
    let (ours, theirs) = (shaping(&ours), shaping(&theirs));
    if ours == theirs {
        return Ok(true);
    }
    Err(format!("\n  ours   {ours:#?}\n  theirs {theirs:#?}"))
}

/// What shapes values: data, stringData and spec of each object, as JSON by kind and name.
fn shaping(objects: &[Node]) -> BTreeMap<String, String> {
    let text = |node: &Node, path: &[&str]| {
        node.at(path)
            .map(|node| shown(&node.value))
            .unwrap_or_default()
    };
    let kinds = ["HelmRelease", "ConfigMap", "Secret"];
    objects
        .iter()
        .filter(|object| kinds.contains(&&*text(object, &["kind"])))
        .map(|object| {
            let name = ["kind", "metadata.namespace", "metadata.name"]
                .map(|path| text(object, &path.split('.').collect::<Vec<_>>()))
                .join("/");
            let parts: Map = ["data", "binaryData", "stringData", "spec"]
                .iter()
                .filter_map(|field| object.value.as_map()?.entry(field).cloned())
                .collect();
            (name, json(&parts.into()))
        })
        .collect()
}

fn json(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| json(&item.value)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|entry| format!("{}:{}", entry.key, json(&entry.node.value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        other => format!("{other:?}"),
    }
}
