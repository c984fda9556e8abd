//! Every object of every golden tree: accepted, stored as it was written, and unchanged when it is applied again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::kubectl::Kubectl;
use super::objects::{Object, objects};
use super::server::{Server, content, server};
use crate::workspaces::{Tree, trees};

/// The kinds without a CRD here, and how many of their objects the trees have.
const UNDEFINED: [(&str, usize); 1] = [("ResourceSetInputProvider", 4)];

/// What is rendered in a version that its CRD calls deprecated. Known: the version is that of the provider's older releases.
const DEPRECATED: [&str; 11] = [
    "infrastructure.cluster.x-k8s.io/v1beta1 DevMachineTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta1 DockerCluster",
    "infrastructure.cluster.x-k8s.io/v1beta1 DockerClusterTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta1 DockerMachineTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta1 Metal3Cluster",
    "infrastructure.cluster.x-k8s.io/v1beta1 Metal3MachineTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta1 VSphereCluster",
    "infrastructure.cluster.x-k8s.io/v1beta1 VSphereClusterTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta1 VSphereMachineTemplate",
    "infrastructure.cluster.x-k8s.io/v1beta2 DockerMachineTemplate",
    "vmware.infrastructure.cluster.x-k8s.io/v1beta1 VSphereMachineTemplate",
];

/// The objects of a tree that a cluster takes; kustomize reads its own files itself.
pub(super) fn objects_of(tree: &Path) -> Vec<Object> {
    let files = walkdir::WalkDir::new(tree).sort_by_file_name();
    let files = files.into_iter().map(|entry| entry.expect("readable"));
    let files = files.filter(|entry| entry.path().extension().is_some_and(|it| it == "yaml"));
    let texts = files.map(|entry| fs::read_to_string(entry.path()).expect("text"));
    let all = texts.flat_map(|text| objects(&text));
    all.filter(|object| object.group_version().0 != "kustomize.config.k8s.io")
        .collect()
}

/// What the server should store. It keeps the text of Secrets as data, as documented.
fn wanted(object: &Object) -> Value {
    let mut wanted = object.json.clone();
    let texts = wanted
        .as_object_mut()
        .and_then(|it| it.remove("stringData"));
    if let Some(Value::Object(texts)) = texts {
        for (key, text) in texts {
            let text = text.as_str().expect("text");
            wanted["data"][key] = json!(BASE64.encode(text.as_bytes()));
        }
    }
    wanted
}

/// What of a written value is not stored as it was written. What the server adds is not looked at.
pub(super) fn lost(wanted: &Value, stored: &Value, at: &str) -> Vec<String> {
    match (wanted, stored) {
        (Value::Object(wanted), Value::Object(stored)) => wanted
            .iter()
            .flat_map(|(key, value)| {
                let stored = stored.get(key).unwrap_or(&Value::Null);
                lost(value, stored, &format!("{at}.{key}"))
            })
            .collect(),
        (Value::Array(wanted), Value::Array(stored)) if wanted.len() == stored.len() => {
            let items = wanted.iter().zip(stored).enumerate();
            items
                .flat_map(|(index, (wanted, stored))| {
                    lost(wanted, stored, &format!("{at}[{index}]"))
                })
                .collect()
        }
        _ if wanted == stored => Vec::new(),
        _ => vec![format!("{at}: {wanted} is stored as {stored}")],
    }
}

/// What is wrong with an object on the server, and the server's warnings.
fn problems(server: &mut Server, object: &Object) -> (Vec<String>, Vec<String>) {
    let dry = server.dry_run(object);
    let first = server.apply(object);
    for reply in [&dry, &first] {
        if !reply.is_ok() {
            return (vec![reply.message().to_owned()], Vec::new());
        }
    }
    let stored = server.get(object).body;
    let mut found = lost(&wanted(object), &stored, "");
    let again = server.apply(object).body;
    let generation = |object: &Value| object["metadata"]["generation"].clone();
    if generation(&again) != generation(&stored) || content(again.clone()) != content(stored) {
        found.push(format!("changes when it is applied again: {again}"));
    }
    (found, first.warnings)
}

#[test]
fn every_object_is_accepted_and_stored_as_it_was_written() {
    let Some(mut server) = server() else { return };
    let mut undefined: BTreeMap<String, usize> = BTreeMap::new();
    let (mut accepted, mut wrong, mut deprecated) = (0, Vec::new(), BTreeSet::new());
    for tree in trees() {
        let objects = objects_of(&tree.folder());
        server.prepare(&objects);
        for object in &objects {
            if !server.serves(object) {
                *undefined.entry(object.kind().to_owned()).or_default() += 1;
                continue;
            }
            let (problems, warnings) = problems(&mut server, object);
            accepted += 1;
            for problem in problems {
                wrong.push(format!("{}: {}: {problem}", tree, object.title()));
            }
            for warning in warnings {
                assert!(warning.contains("is deprecated"), "{warning}");
                let (group, version) = object.group_version();
                deprecated.insert(format!("{group}/{version} {}", object.kind()));
            }
        }
        // Other targets write objects of the same names.
        server.clear();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 150, "only {accepted} objects");
    let deprecated: Vec<&str> = deprecated.iter().map(String::as_str).collect();
    assert_eq!(deprecated, DEPRECATED);
    let expected = UNDEFINED.map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(undefined, BTreeMap::from(expected));
}

#[test]
fn kubectl_reads_a_rendered_folder_of_config_maps() {
    let Some(kubectl) = Kubectl::find() else {
        return;
    };
    let trees = trees().into_iter().filter(|it| it.outputs == "configmap");
    let trees: Vec<Tree> = trees.collect();
    assert_eq!(trees.len(), 3);
    for tree in trees {
        let found = kubectl.folder(&tree.folder());
        assert_eq!(found.len(), objects_of(&tree.folder()).len(), "{}", tree);
    }
}
