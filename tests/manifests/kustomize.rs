//! What kustomize builds, recorded from the real one: patches, replacements, names and generators. A case is lines of a
//! kustomization; its result is what they change: each value by its path below the kind, namespace and name of its object.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use metalmark::files::Disk;
use metalmark::read::gitops;
use snapbox::{Data, file, str};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, scalar_text, to_json};
use yaml_tree::place::{FileId, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::differential::random::Random;
use crate::programs;
use crate::support::manifests::{INFRASTRUCTURE, object};
use crate::support::recorded::same_as;
use crate::support::repository;
use crate::support::stage::{Is, Stage, project};

/// The objects of a folder, built by the real program or here; none where the build is refused.
fn build(kubectl: Option<&Path>, root: &Path, folder: &str) -> Option<Vec<Node>> {
    let mut built = build_whole(kubectl, root, folder)?;
    built.iter_mut().for_each(hide);
    Some(built)
}

/// Replaces what a Secret holds, and the hash of it in its name: neither is known here. Labels are texts, for kustomize prints them
/// as they are written, and the API server takes nothing else. The templates of workloads are not looked at.
fn hide(object: &mut Node) {
    let scaled = object.get_path(&["spec", "replicas"]).cloned();
    let is_workload = object.text(&["kind"]) == Some("Deployment");
    let labels = object.entries(&["metadata", "labels"]).map(|entry| {
        let text = scalar_text(&entry.node.value).unwrap_or_default();
        Entry::from_value(&*entry.key, Value::String(text))
    });
    let labels: Map = labels.collect();
    if let Value::Map(map) = &mut object.value {
        let map = Arc::make_mut(map);
        if is_workload {
            map.remove("spec");
        }
        if let Some(scaled) = scaled.filter(|_| is_workload) {
            map.insert(Entry::holding("replicas", scaled));
        }
        if let Some(Value::Map(metadata)) = map.get_mut("metadata").map(|node| &mut node.value)
            && metadata.get("labels").is_some()
        {
            Arc::make_mut(metadata).insert(Entry::from_value("labels", labels));
        }
    }
    if object.text(&["kind"]) != Some("Secret") {
        return;
    }
    let Value::Map(map) = &mut object.value else {
        return;
    };
    let map = Arc::make_mut(map);
    for field in ["data", "stringData"] {
        let entries = map.get_mut(field).map(|node| &mut node.value);
        if let Some(Value::Map(entries)) = entries {
            let hidden = entries.iter().map(|entry| match &entry.node.value {
                Value::String(text) if text.is_empty() => entry.clone(),
                _ => Entry::from_value(&*entry.key, "a secret"),
            });
            *entries = Arc::new(hidden.collect());
        }
    }
    if let Some(Value::Map(metadata)) = map.get_mut("metadata").map(|node| &mut node.value)
        && let Some(name) = Arc::make_mut(metadata).get_mut("name")
        && let Some((start, hash)) = name.value.as_str().and_then(|name| name.rsplit_once('-'))
        && hash.len() == 10
        && hash
            .chars()
            .all(|letter| "bcdfghkmt2456789".contains(letter))
    {
        name.value = format!("{start}-HASH").into();
    }
}

fn build_whole(kubectl: Option<&Path>, root: &Path, folder: &str) -> Option<Vec<Node>> {
    let Some(kubectl) = kubectl else {
        let disk = Disk::new(root).expect("a folder");
        let built = gitops::objects(&disk, Path::new(folder), &mut Sources::default());
        return built.expect("readable").ok();
    };
    let folder = root.join(folder);
    let output = Command::new(kubectl)
        .args(["build", "--load-restrictor=LoadRestrictionsNone"])
        .arg(folder)
        .output();
    let output = output.expect("runs");
    output.status.success().then(|| {
        let text = String::from_utf8(output.stdout).expect("text");
        let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl);
        read.expect("YAML").documents
    })
}

/// The values without parts by their paths.
type Leaves = BTreeMap<String, String>;

/// The values of each object, by its kind, namespace and name, which are not among them.
fn leaves(objects: &[Node]) -> BTreeMap<String, Leaves> {
    let mut all: BTreeMap<String, Leaves> = BTreeMap::new();
    for object in objects {
        let mut leaves = Leaves::new();
        add_leaves("", object, &mut leaves);
        let paths = ["kind", "metadata namespace", "metadata name"];
        let names = paths.map(|path| {
            let keys: Vec<&str> = path.split(' ').collect();
            let name = object.text(&keys).unwrap_or_default();
            if !name.is_empty() {
                leaves.remove(path);
            }
            name
        });
        all.entry(names.join("/")).or_default().extend(leaves);
    }
    all
}

fn add_leaves(path: &str, node: &Node, leaves: &mut Leaves) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            for entry in &**map {
                add_leaves(&format!("{path} {}", entry.key), &entry.node, leaves);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                add_leaves(&format!("{path} {index}"), item, leaves);
            }
        }
        value => {
            leaves.insert(path.trim_start().to_owned(), to_json(value, Html::Plain));
        }
    }
}

/// What differs between two builds, a line an object. An object that is gone has become the next new one of its kind.
fn changes(before: &BTreeMap<String, Leaves>, after: &BTreeMap<String, Leaves>) -> Vec<String> {
    let kind = |name: &str| name.split('/').next().map(str::to_owned);
    let mut new: Vec<&String> = { after.keys() }
        .filter(|name| !before.contains_key(*name))
        .collect();
    let mut lines = Vec::new();
    for (name, old) in before {
        if let Some(values) = after.get(name) {
            if values != old {
                lines.push(format!("{name}: {}", values_changed(old, values)));
            }
        } else if let Some(next) = new.iter().position(|next| kind(next) == kind(name)) {
            let now = new.remove(next);
            let values = values_changed(old, &after[now]);
            let line = format!("{name} is {now}: {values}");
            lines.push(line.trim_end_matches(": ").to_owned());
        } else {
            lines.push(format!("{name} is gone"));
        }
    }
    let values = |name: &String| values_changed(&Leaves::new(), &after[name]);
    lines.extend({ new.into_iter() }.map(|name| format!("new {name}: {}", values(name))));
    lines
}

fn values_changed(before: &Leaves, after: &Leaves) -> String {
    let changed = after
        .iter()
        .filter(|(path, value)| before.get(*path) != Some(value));
    let changed = changed.map(|(path, value)| format!("{path} = {value}"));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let values: Vec<String> =
        { changed.chain(gone.map(|path| format!("{path} is gone"))) }.collect();
    values.join(", ")
}

/// Compares the objects as they are, and what the lines of each case change, with the recorded answers of kustomize: value by value.
#[track_caller]
fn same_as_kustomize(
    files: &[(&str, &str)],
    recorded: impl Into<Data>,
    lines: impl Fn(&str) -> String,
) {
    let recorded = recorded.into();
    let text = recorded.render().expect("a text");
    assert!(text.trim_start().starts_with(WHOLE), "{text}");
    same_as("kustomize", recorded, |kubectl, case| {
        let built = |lines: &str| {
            let kustomization = format!("resources: [objects.yaml]\n{lines}\n");
            let folder = project().files(files);
            let folder = folder.file("kustomization.yaml", kustomization);
            build(kubectl, folder.path(), "").map(|objects| leaves(&objects))
        };
        let whole = built("").expect("it builds without");
        if case == WHOLE {
            return changes(&BTreeMap::new(), &whole);
        }
        let Some(after) = built(&lines(case)) else {
            return vec!["refused".to_owned()];
        };
        let lines = changes(&whole, &after);
        if lines.is_empty() {
            vec!["no change".to_owned()]
        } else {
            lines
        }
    });
    let is_change =
        |line: &str| !line.starts_with("    new ") && line.contains(" = ") || line.contains(" is ");
    assert!(
        text.lines().any(is_change),
        "no case changes anything: {text}"
    );
}

/// The case of the objects without any change.
const WHOLE: &str = "as they are";

const POOLS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: versions, annotations: {a.b/c: x}}
data: {kubernetes: v1.31.8, image: ubuntu-kube-v1.30.2-x}
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: one, labels: {role: a}}
spec: {version: v1.0.0, image: a-b-c, list: [{name: x, value: '1'}, {name: y.z, value: '2'}], numbers: [1, 2]}
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: two, labels: {role: b}}
spec: {version: v1.0.0, image: a-b-c, list: [{name: x, value: '1'}], numbers: [1, 2]}
";

#[test]
fn a_replacement_writes_what_its_source_says_into_its_targets() {
    let of = |source: &str, targets: &str| {
        format!("replacements: [{{source: {source}, targets: [{targets}]}}]")
    };
    // With a prefix it selects by the name that an object had, too.
    same_as_kustomize(
        &[("objects.yaml", POOLS)],
        str![[r#"
as they are
    new ConfigMap//versions: apiVersion = "v1", data image = "ubuntu-kube-v1.30.2-x", data kubernetes = "v1.31.8", metadata annotations a.b/c = "x"
    new Pool//one: apiVersion = "x.example/v1", metadata labels role = "a", spec image = "a-b-c", spec list 0 name = "x", spec list 0 value = "1", spec list 1 name = "y.z", spec list 1 value = "2", spec numbers 0 = 1, spec numbers 1 = 2, spec version = "v1.0.0"
    new Pool//two: apiVersion = "x.example/v1", metadata labels role = "b", spec image = "a-b-c", spec list 0 name = "x", spec list 0 value = "1", spec numbers 0 = 1, spec numbers 1 = 2, spec version = "v1.0.0"
to {select: {kind: Pool}, fieldPaths: [spec.version]}
    Pool//one: spec version = "v1.31.8"
    Pool//two: spec version = "v1.31.8"
to {select: {kind: Pool}, reject: [{name: two}], fieldPaths: [spec.version]}
    Pool//one: spec version = "v1.31.8"
to {select: {kind: Pool, labelSelector: role=b}, fieldPaths: [spec.version]}
    Pool//two: spec version = "v1.31.8"
to {select: {name: one}, fieldPaths: ['spec.list.[name=y.z].value']}
    Pool//one: spec list 1 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: ['spec.list.[name=x].value', spec.list.0.value]}
    Pool//one: spec list 0 value = "v1.31.8"
    Pool//two: spec list 0 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: ['spec.list.*.value']}
    Pool//one: spec list 0 value = "v1.31.8", spec list 1 value = "v1.31.8"
    Pool//two: spec list 0 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: 1}}
    Pool//one: spec image = "a-v1.31.8-c"
    Pool//two: spec image = "a-v1.31.8-c"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: 9}}
    Pool//one: spec image = "a-b-c-v1.31.8"
    Pool//two: spec image = "a-b-c-v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: -1}}
    Pool//one: spec image = "v1.31.8-a-b-c"
    Pool//two: spec image = "v1.31.8-a-b-c"
to {select: {kind: Pool}, fieldPaths: [spec.new.field], options: {create: true}}
    Pool//one: spec new field = "v1.31.8"
    Pool//two: spec new field = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.new.field]}
    refused
to {select: {kind: Nothing}, fieldPaths: [spec.new.field]}
    no change
prefixed {select: {name: one}, fieldPaths: [spec.version]}
    ConfigMap//versions is ConfigMap//p-versions
    Pool//one is Pool//p-one: spec version = "v1.31.8"
    Pool//two is Pool//p-two
prefixed {select: {name: p-one}, fieldPaths: [spec.version]}
    ConfigMap//versions is ConfigMap//p-versions
    Pool//one is Pool//p-one: spec version = "v1.31.8"
    Pool//two is Pool//p-two
from {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 2}}
    Pool//one: spec version = "v1.30.2"
    Pool//two: spec version = "v1.30.2"
from {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 7}}
    refused
from {kind: ConfigMap, fieldPath: data.missing}
    refused
from {kind: Pool, name: one, fieldPath: spec.list.*.value}
    refused
from {kind: ConfigMap, fieldPath: 'metadata.annotations.[a.b/c]'}
    Pool//one: spec version = "x"
    Pool//two: spec version = "x"
from {kind: ConfigMap, fieldPath: metadata.annotations.a\.b/c}
    Pool//one: spec version = "x"
    Pool//two: spec version = "x"
from {kind: Pool, fieldPath: spec.version}
    refused
from {kind: Pool, name: one, fieldPath: spec.image}
    Pool//one: spec version = "a-b-c"
    Pool//two: spec version = "a-b-c"
copy spec.numbers.1 to spec.numbers.0
    Pool//two: spec numbers 0 = 2
copy spec.list to spec.list
    Pool//two: spec list 1 name = "y.z", spec list 1 value = "2"
from {kind: Pool, name: one}
    Pool//one: spec version = "one"
    Pool//two: spec version = "one"

"#]],
        |case| {
            let (word, rest) = case.split_once(' ').expect("a word and a map");
            let own = "{kind: ConfigMap, fieldPath: data.kubernetes}";
            match word {
                "from" => of(rest, "{select: {kind: Pool}, fieldPaths: [spec.version]}"),
                "to" => of(own, rest),
                "copy" => {
                    let (from, to) = rest.split_once(" to ").expect("two paths");
                    let source = format!("{{kind: Pool, name: one, fieldPath: {from}}}");
                    of(
                        &source,
                        &format!("{{select: {{name: two}}, fieldPaths: [{to}]}}"),
                    )
                }
                _ => "namePrefix: p-\n".to_owned() + &of(own, rest),
            }
        },
    );
}

/// YAML 1.1 has `y` and `on` for true. In quotes or not, they are texts as kustomize reads and writes objects.
#[test]
fn words_for_true_and_false_are_texts_as_keys() {
    const OBJECTS: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: versions}
data:
  on: v1.31.8
  No: v1.30.2
  \"y\": v1.29.0
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: one}
spec: {version: v1.0.0, list: [{off: a}]}
";
    const PATCH: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: versions}
data: {on: v1.27.0, n: v1.26.0}
";
    same_as_kustomize(
        &[("objects.yaml", OBJECTS), ("patch.yaml", PATCH)],
        str![[r#"
as they are
    new ConfigMap//versions: apiVersion = "v1", data No = "v1.30.2", data on = "v1.31.8", data y = "v1.29.0"
    new Pool//one: apiVersion = "x.example/v1", spec list 0 off = "a", spec version = "v1.0.0"
on
    Pool//one: spec list 0 off = "v1.31.8", spec version = "v1.31.8"
No
    Pool//one: spec list 0 off = "v1.30.2", spec version = "v1.30.2"
y
    Pool//one: spec list 0 off = "v1.29.0", spec version = "v1.29.0"
false
    refused
patch
    ConfigMap//versions: data n = "v1.26.0", data on = "v1.27.0"

"#]],
        |case| match case {
            "patch" => "patches: [{path: patch.yaml}]".to_owned(),
            field => format!(
                "replacements: [{{source: {{kind: ConfigMap, fieldPath: data.{field}}}, targets: [{{select: {{kind: Pool}}, fieldPaths: [spec.version, spec.list.0.off]}}]}}]"
            ),
        },
    );
}

#[test]
fn the_namespace_of_a_replacements_source_says_which_of_two_objects_is_meant() {
    let twin = |namespace: &str, version: &str| {
        object(
            &format!("v1 ConfigMap {namespace}/twin"),
            &format!("data: {{version: {version}}}"),
        )
    };
    let pool = object("x.example/v1 Pool one", "spec: {version: v1.0.0}");
    let twins = twin("a", "v1.30.2") + &twin("b", "v1.31.8") + &pool;
    same_as_kustomize(
        &[("objects.yaml", &twins)],
        str![[r#"
as they are
    new ConfigMap/a/twin: apiVersion = "v1", data version = "v1.30.2"
    new ConfigMap/b/twin: apiVersion = "v1", data version = "v1.31.8"
    new Pool//one: apiVersion = "x.example/v1", spec version = "v1.0.0"
name: twin, namespace: b
    Pool//one: spec version = "v1.31.8"
namespace: a
    Pool//one: spec version = "v1.30.2"
name: twin
    refused
name: twin, namespace: c
    refused

"#]],
        |source| {
            let targets = "[{select: {kind: Pool}, fieldPaths: [spec.version]}]";
            format!(
                "replacements: [{{source: {{kind: ConfigMap, {source}, fieldPath: data.version}}, targets: {targets}}}]"
            )
        },
    );
}

#[test]
fn references_that_a_configuration_declares_follow_their_objects_new_names() {
    let template = "{kind: Metal3MachineTemplate, name: edge}";
    let other = template.replace("edge", "other");
    let workers =
        format!("[{{infrastructure: {{ref: {template}}}}}, {{infrastructure: {{ref: {other}}}}}]");
    let spec = format!("spec: {{template: {{spec: {{infrastructureRef: {template}}}}}}}");
    let objects = object(
        &format!("{INFRASTRUCTURE} Metal3MachineTemplate edge"),
        "spec: {}",
    ) + &object("cluster.x-k8s.io/v1beta1 MachineDeployment edge", &spec)
        + &object(
            "cluster.x-k8s.io/v1beta1 ClusterClass edge",
            &format!("spec: {{workers: {{machineDeployments: {workers}}}}}"),
        );
    let fields = "[{kind: MachineDeployment, path: spec/template/spec/infrastructureRef/name}, \
        {kind: ClusterClass, group: cluster.x-k8s.io, path: spec/workers/machineDeployments/infrastructure/ref/name}]";
    let declared = |group: &str| {
        format!("nameReference: [{{kind: Metal3MachineTemplate{group}, fieldSpecs: {fields}}}]\n")
    };
    let files = [
        ("objects.yaml", &*objects),
        ("any.yaml", &*declared("")),
        (
            "own.yaml",
            &*declared(", group: infrastructure.cluster.x-k8s.io"),
        ),
        ("other.yaml", &*declared(", group: example.org")),
        ("none.yaml", "nameReference: []\n"),
    ];
    same_as_kustomize(
        &files,
        str![[r#"
as they are
    new ClusterClass//edge: apiVersion = "cluster.x-k8s.io/v1beta1", spec workers machineDeployments 0 infrastructure ref kind = "Metal3MachineTemplate", spec workers machineDeployments 0 infrastructure ref name = "edge", spec workers machineDeployments 1 infrastructure ref kind = "Metal3MachineTemplate", spec workers machineDeployments 1 infrastructure ref name = "other"
    new MachineDeployment//edge: apiVersion = "cluster.x-k8s.io/v1beta1", spec template spec infrastructureRef kind = "Metal3MachineTemplate", spec template spec infrastructureRef name = "edge"
    new Metal3MachineTemplate//edge: apiVersion = "infrastructure.cluster.x-k8s.io/v1beta1", spec = {}
any namePrefix: p-
    ClusterClass//edge is ClusterClass//p-edge: spec workers machineDeployments 0 infrastructure ref name = "p-edge"
    MachineDeployment//edge is MachineDeployment//p-edge: spec template spec infrastructureRef name = "p-edge"
    Metal3MachineTemplate//edge is Metal3MachineTemplate//p-edge
any nameSuffix: -s
    ClusterClass//edge is ClusterClass//edge-s: spec workers machineDeployments 0 infrastructure ref name = "edge-s"
    MachineDeployment//edge is MachineDeployment//edge-s: spec template spec infrastructureRef name = "edge-s"
    Metal3MachineTemplate//edge is Metal3MachineTemplate//edge-s
any namespace: lab
    ClusterClass//edge is ClusterClass/lab/edge
    MachineDeployment//edge is MachineDeployment/lab/edge
    Metal3MachineTemplate//edge is Metal3MachineTemplate/lab/edge
own namePrefix: p-
    ClusterClass//edge is ClusterClass//p-edge: spec workers machineDeployments 0 infrastructure ref name = "p-edge"
    MachineDeployment//edge is MachineDeployment//p-edge: spec template spec infrastructureRef name = "p-edge"
    Metal3MachineTemplate//edge is Metal3MachineTemplate//p-edge
other namePrefix: p-
    ClusterClass//edge is ClusterClass//p-edge
    MachineDeployment//edge is MachineDeployment//p-edge
    Metal3MachineTemplate//edge is Metal3MachineTemplate//p-edge
none namePrefix: p-
    ClusterClass//edge is ClusterClass//p-edge
    MachineDeployment//edge is MachineDeployment//p-edge
    Metal3MachineTemplate//edge is Metal3MachineTemplate//p-edge

"#]],
        |case| {
            let (file, names) = case.split_once(' ').expect("a file and a name");
            format!("{names}\nconfigurations: [{file}.yaml]")
        },
    );
}

#[test]
fn a_json_patch_is_applied_operation_by_operation_or_refused() {
    let marked = "apiVersion: x.example/v1\nkind: ConfigMap\nmetadata: {name: b, labels: {l: m}, annotations: {note: o}}\n";
    let objects = object("v1 ConfigMap a", "data: {x: '1'}\n---");
    let objects = objects + marked + "data: {x: '1'}\nlist: [{a: 1}, {a: 2}]\n";
    // It is a list of YAML, or JSON.
    same_as_kustomize(
        &[("objects.yaml", &objects)],
        str![[r#"
as they are
    new ConfigMap//a: apiVersion = "v1", data x = "1"
    new ConfigMap//b: apiVersion = "x.example/v1", data x = "1", list 0 a = 1, list 1 a = 2, metadata annotations note = "o", metadata labels l = "m"
a - {op: replace, path: /data/y, value: '2'}
    ConfigMap//a: data y = "2"
b - {op: replace, path: /data/y, value: '2'}
    ConfigMap//b: data y = "2"
b [{"op": "replace", "path": "/data/y", "value": "2"}]
    ConfigMap//b: data y = "2"
b [{op: add, path: /data/y, value: '2'}]
    refused
b - {op: replace, path: /more/y, value: '2'}
    refused
b - {op: replace, path: /data, value: {z: '1'}}
    ConfigMap//b: data z = "1", data x is gone
b - {op: remove, path: /data/y}
    refused
b - {op: remove, path: /data/x}
    ConfigMap//b: data = {}, data x is gone
b - {op: move, from: /data/q, path: /data/y}
    refused
b - {op: move, from: /data/x, path: /data/y}
    ConfigMap//b: data y = "1", data x is gone
b - {op: copy, from: /data/q, path: /data/y}
    ConfigMap//b: data y = null
b - {op: copy, from: /data/x, path: /data/y}
    ConfigMap//b: data y = "1"
b - {op: copy, from: /more/x, path: /data/y}
    refused
b - {op: test, path: /data/q, value: null}
    no change
b - {op: test, path: /data/x, value: '1'}
    no change
b - {op: test, path: /data/x, value: '2'}
    refused
b - {op: other, path: /data/x}
    refused
a - {op: add, path: /metadata/annotations/x, value: '2'}
    ConfigMap//a: metadata annotations x = "2"
b - {op: add, path: /metadata/annotations/x, value: '2'}
    ConfigMap//b: metadata annotations x = "2"
a - {op: replace, path: /metadata/annotations/x, value: '2'}
    ConfigMap//a: metadata annotations x = "2"
b - {op: replace, path: /metadata/annotations/x, value: '2'}
    ConfigMap//b: metadata annotations x = "2"
a - {op: add, path: /metadata/labels/x, value: '2'}
    refused
b - {op: add, path: /metadata/labels/x, value: '2'}
    ConfigMap//b: metadata labels x = "2"
a - {op: add, path: /metadata/annotations, value: {p: q}}
    ConfigMap//a: metadata annotations p = "q"
b - {op: add, path: /metadata/annotations, value: {p: q}}
    ConfigMap//b: metadata annotations p = "q", metadata annotations note is gone
b - {op: replace, path: /list/0, value: 3}
    ConfigMap//b: list 0 = 3, list 0 a is gone
b - {op: replace, path: /list/2, value: 3}
    refused
b - {op: replace, path: /list/-1, value: 3}
    ConfigMap//b: list 1 = 3, list 1 a is gone
b - {op: replace, path: /list/0/b, value: 3}
    ConfigMap//b: list 0 b = 3
b - {op: add, path: /list/-, value: 3}
    ConfigMap//b: list 2 = 3
b - {op: add, path: /list/1, value: 3}
    ConfigMap//b: list 1 = 3, list 2 a = 2, list 1 a is gone
b - {op: add, path: /list/3, value: 3}
    refused
a - {op: add, path: /new, value: {a: [1]}}
    ConfigMap//a: new a 0 = 1
a - {op: add, path: /data/p~1q~0r~01s, value: '2'}
    ConfigMap//a: data p/q~r~1s = "2"

"#]],
        |case| {
            let (name, patch) = case.split_once(' ').expect("a name and a patch");
            format!("patches:\n- target: {{name: {name}}}\n  patch: |\n    {patch}")
        },
    );
}

#[test]
fn a_strategic_patch_merges_maps_and_replaces_lists_unless_it_says_otherwise() {
    let spec = "spec: {image: {filter: {name: old, tags: [a]}, id: x}, list: [{name: a, b: 1}, {name: c}]}";
    let objects = object("x.example/v1 Pool one", spec) + &object("x.example/v1 Pool two", spec);
    same_as_kustomize(
        &[("objects.yaml", &objects)],
        str![[r#"
as they are
    new Pool//one: apiVersion = "x.example/v1", spec image filter name = "old", spec image filter tags 0 = "a", spec image id = "x", spec list 0 b = 1, spec list 0 name = "a", spec list 1 name = "c"
    new Pool//two: apiVersion = "x.example/v1", spec image filter name = "old", spec image filter tags 0 = "a", spec image id = "x", spec list 0 b = 1, spec list 0 name = "a", spec list 1 name = "c"
spec: {image: {id: z}}
    Pool//one: spec image id = "z"
spec: {image: {filter: {name: new}}}
    Pool//one: spec image filter name = "new"
spec: {image: {filter: null}}
    Pool//one: spec image filter name is gone, spec image filter tags 0 is gone
spec: {image: {$patch: replace, id: z}}
    Pool//one: spec image id = "z", spec image filter name is gone, spec image filter tags 0 is gone
spec: {image: {$patch: delete}}
    Pool//one: spec image filter name is gone, spec image filter tags 0 is gone, spec image id is gone
spec: {image: {$patch: merge, id: z}}
    Pool//one: spec image id = "z"
spec: {image: {$patch: other, id: z}}
    refused
spec: {image: {filter: {$patch: replace, tags: [b]}}}
    Pool//one: spec image filter tags 0 = "b", spec image filter name is gone
spec: {image: z}
    refused
spec: {list: [{name: a, d: 2}]}
    Pool//one: spec list 0 d = 2, spec list 0 b is gone, spec list 1 name is gone
spec: {list: []}
    Pool//one: spec list = [], spec list 0 b is gone, spec list 0 name is gone, spec list 1 name is gone
spec: {list: null}
    Pool//one: spec list 0 b is gone, spec list 0 name is gone, spec list 1 name is gone
spec: {$patch: replace, image: {id: z}}
    Pool//one: spec image id = "z", spec image filter name is gone, spec image filter tags 0 is gone, spec list 0 b is gone, spec list 0 name is gone, spec list 1 name is gone
$patch: delete
    Pool//one is gone

"#]],
        |lines| {
            let own = "apiVersion: x.example/v1\n    kind: Pool\n    metadata: {name: one}";
            format!("patches:\n- patch: |\n    {own}\n    {lines}")
        },
    );
}

/// A pattern is compared with the whole name, each of its alternatives too.
#[test]
fn the_target_of_a_patch_selects_by_whole_names_and_by_labels() {
    let object = |group: &str, kind: &str, name: &str, more: &str| {
        format!(
            "apiVersion: {group}x.example/v1\nkind: {kind}\nmetadata: {{name: {name}{more}}}\nspec: {{a: 1}}\n---\n"
        )
    };
    let objects = object(
        "",
        "Pool",
        "edge",
        ", namespace: lab, labels: {a: b, c: d}, annotations: {note: o}",
    ) + &object("", "Pool", "edge-wb", ", labels: {a: x}")
        + &object("other.", "PoolSet", "my-other", "");
    same_as_kustomize(
        &[("objects.yaml", &objects)],
        str![[r#"
as they are
    new Pool//edge-wb: apiVersion = "x.example/v1", metadata labels a = "x", spec a = 1
    new Pool/lab/edge: apiVersion = "x.example/v1", metadata annotations note = "o", metadata labels a = "b", metadata labels c = "d", spec a = 1
    new PoolSet//my-other: apiVersion = "other.x.example/v1", spec a = 1
name: edge
    Pool/lab/edge: spec a = 2
name: edge|other
    Pool/lab/edge: spec a = 2
name: edge.*
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
name: dge
    no change
name: .*
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
    PoolSet//my-other: spec a = 2
name: '('
    refused
kind: Pool
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
kind: Pool|Set
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
group: x.example
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
group: .*x.example
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
    PoolSet//my-other: spec a = 2
version: v1
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
    PoolSet//my-other: spec a = 2
version: v
    no change
namespace: lab
    Pool/lab/edge: spec a = 2
namespace: la
    no change
labelSelector: a=b
    Pool/lab/edge: spec a = 2
labelSelector: a!=b
    Pool//edge-wb: spec a = 2
    PoolSet//my-other: spec a = 2
labelSelector: 'a in (b, x)'
    Pool//edge-wb: spec a = 2
    Pool/lab/edge: spec a = 2
labelSelector: 'a notin (x),c'
    Pool/lab/edge: spec a = 2
labelSelector: '!a'
    PoolSet//my-other: spec a = 2
labelSelector: 'a b'
    refused
annotationSelector: note=o
    Pool/lab/edge: spec a = 2

"#]],
        |target| {
            let patch = "'- {op: replace, path: /spec/a, value: 2}'";
            format!("patches: [{{target: {{{target}}}, patch: {patch}}}]")
        },
    );
}

#[test]
fn a_generator_makes_an_object_or_changes_one_as_its_behavior_says() {
    let marked = "data: {x: '1', w: '2'}";
    let objects = object("v1 ConfigMap a", marked).replace(
        "{name: a}",
        "{name: a, labels: {l: m}, annotations: {n: o}}",
    ) + &object("v1 Secret s", "data: {x: MQ==}");
    let files = [
        ("objects.yaml", &*objects),
        ("values.yaml", "k8s_version: v1.31.8\n"),
        ("some.env", "# none\nA=1\n\nB = two # three\n"),
    ];
    same_as_kustomize(
        &files,
        str![[r#"
as they are
    new ConfigMap//a: apiVersion = "v1", data w = "2", data x = "1", metadata annotations n = "o", metadata labels l = "m"
    new Secret//s: apiVersion = "v1", data x = "a secret"
configMap name: a, behavior: merge, literals: [x=3, z=4]
    ConfigMap//a: data x = "3", data z = "4"
configMap name: a, behavior: replace, literals: [x=3, z=4]
    ConfigMap//a: data x = "3", data z = "4", data w is gone
configMap name: a, behavior: create, literals: [x=3]
    refused
configMap name: a, literals: [x=3]
    refused
configMap name: b, behavior: merge, literals: [x=3]
    refused
configMap name: b, behavior: replace, literals: [x=3]
    refused
configMap name: b, literals: ['x="quoted"', 'y=a=b']
    new ConfigMap//b-8fh95578kh: apiVersion = "v1", data x = "quoted", data y = "a=b"
configMap name: b, literals: [x]
    refused
configMap name: b, literals: [x=1, x=2]
    refused
configMap name: b, files: [values.yaml, more.yaml=values.yaml]
    new ConfigMap//b-8cc9d522gk: apiVersion = "v1", data more.yaml = "k8s_version: v1.31.8\n", data values.yaml = "k8s_version: v1.31.8\n"
configMap name: b, files: [missing.yaml]
    refused
configMap name: b, envs: [some.env]
    new ConfigMap//b-8m8b7t8mkg: apiVersion = "v1", data A = "1", data B  = " two # three"
configMap name: b, literals: [x=3], options: {disableNameSuffixHash: true, labels: {p: q}, annotations: {r: s}}
    new ConfigMap//b: apiVersion = "v1", data x = "3", metadata annotations r = "s", metadata labels p = "q"
configMap name: b, namespace: lab
    new ConfigMap/lab/b-6ct58987ht: apiVersion = "v1"
secret name: t, literals: [x=3]
    new Secret//t-HASH: apiVersion = "v1", data x = "a secret", type = "Opaque"
secret name: t, type: kubernetes.io/tls, literals: [x=3]
    new Secret//t-HASH: apiVersion = "v1", data x = "a secret", type = "kubernetes.io/tls"
secret name: s, behavior: merge, literals: [y=3]
    Secret//s: data y = "a secret", type = "Opaque"
secret name: t, literals: [long=0123456789012345678901234567890123456789012345678901234567890123456789]
    new Secret//t-HASH: apiVersion = "v1", data long = "a secret", type = "Opaque"

"#]],
        |case| {
            let (kind, item) = case.split_once(' ').expect("a kind and a generator");
            format!("{kind}Generator: [{{{item}}}]")
        },
    );
}

/// A namespace gets the name that its objects are in, and no prefix.
#[test]
fn names_get_a_prefix_a_suffix_and_a_namespace_unless_their_kind_has_none() {
    let objects = object("v1 Namespace before", "spec: {}")
        + &object("v1 ConfigMap before/values", "data: {}")
        + &object(
            "apiextensions.k8s.io/v1 CustomResourceDefinition pools.x.example",
            "spec: {}",
        );
    same_as_kustomize(
        &[("objects.yaml", &objects)],
        str![[r#"
as they are
    new ConfigMap/before/values: apiVersion = "v1", data = {}
    new CustomResourceDefinition//pools.x.example: apiVersion = "apiextensions.k8s.io/v1", spec = {}
    new Namespace//before: apiVersion = "v1", spec = {}
namePrefix: a-
    ConfigMap/before/values is ConfigMap/before/a-values
nameSuffix: -z
    ConfigMap/before/values is ConfigMap/before/values-z
namespace: edge
    ConfigMap/before/values is ConfigMap/edge/values
    Namespace//before is Namespace//edge
namePrefix: a-, namespace: edge
    ConfigMap/before/values is ConfigMap/edge/a-values
    Namespace//before is Namespace//edge

"#]],
        |lines| lines.replace(", ", "\n"),
    );
}

/// The fixture is a repository in Sylva's shape. What shapes values is compared: data and spec. A component is built by what has it.
#[test]
fn every_folder_of_a_repository_builds_as_kustomize_builds_it() {
    let root = repository().join("fixtures/workspaces/sylva-flux");
    let recorded = file!["recorded/sylva-flux.txt"];
    let text = recorded.render().expect("a text");
    same_as("kustomize", recorded, |kubectl, folder| {
        match build(kubectl, &root, folder) {
            Some(objects) => {
                let mut lines: Vec<String> = objects.iter().filter_map(shaping).collect();
                lines.sort_unstable();
                lines
            }
            None => vec!["refused".to_owned()],
        }
    });
    for file in walkdir::WalkDir::new(&root) {
        let path = file.expect("readable").into_path();
        let is_own = path.ends_with("kustomization.yaml")
            && !fs::read_to_string(&path)
                .expect("text")
                .contains("kind: Component");
        if is_own {
            let folder = path.parent().and_then(|path| path.strip_prefix(&root).ok());
            let line = format!("\n{}\n", folder.expect("below").display());
            assert!(format!("\n{text}").contains(&line), "no line{line}");
        }
    }
}

/// The parts of a HelmRelease, a ConfigMap or a Secret that shape values, as JSON behind its kind and name.
fn shaping(object: &Node) -> Option<String> {
    let text = |path: &[&str]| object.text(path).unwrap_or_default();
    let kind = text(&["kind"]);
    ["HelmRelease", "ConfigMap", "Secret"]
        .contains(&kind)
        .then(|| {
            let parts = ["data", "binaryData", "stringData", "spec"].iter();
            let map = object.value.as_map().expect("an object");
            let parts: Map = parts
                .filter_map(|field| map.entry(field).cloned())
                .collect();
            let name = format!(
                "{kind}/{}/{}",
                text(&["metadata", "namespace"]),
                text(&["metadata", "name"])
            );
            format!("{name} {}", to_json(&parts.into(), Html::Plain))
        })
}

const MACHINES: &str = "\
apiVersion: x.example/v1
kind: Pool
metadata: {name: one, labels: {role: a, gpu: true}, annotations: {num: 12}}
spec: {replicas: 1, image: 'kindest/node:v1.34.1', list: [{image: 'kindest/node:v1.34.1@sha256:ab'}, {image: other}], ref: one, quoted: '1.30', plain: 3, nothing: null, selector: {}, odd: [1.30, 1.0, 1e3, -0.0, 012, 0o14, 0x1F, 0b11, 1_000, yes, True, ~, null, 12345678901234567890, 1e400, '', '1.30', 'null', 'yes', '012', '1e3', '~']}
---
apiVersion: x.example/v1
kind: Pool
metadata: {name: two, namespace: lab, labels: {role: b}}
spec: {template: {spec: {containers: [{image: 'kindest/node:v1.34.1'}, {name: none}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: three}
spec: {}
---
apiVersion: v1
kind: Namespace
metadata: {name: lab}
";

const CONFIGURATION: &str = "\
images: [{path: spec/image, kind: Pool}, {path: 'spec/list[]/image', group: x.example, version: v1}, {path: spec/nothing, kind: Pool}]
namePrefix: [{path: spec/ref, kind: Pool}]
namespace: [{path: spec/space, kind: Pool, create: true}]
commonLabels: [{path: spec/selector/match, kind: Pool, create: true}]
templateLabels: [{path: spec/template/metadata/labels, kind: Pool}]
commonAnnotations: [{path: spec/notes, kind: Pool, create: true}]
replicas: [{path: spec/replicas, kind: Pool}]
varReference: [{path: spec/image, kind: Pool}, {path: spec/list, kind: Pool}, {path: spec/selector, kind: Pool}]
";

fn transformer(kind: &str, fields: &str) -> String {
    format!(
        "apiVersion: builtin\nkind: {kind}\nmetadata: {{name: any, namespace: there}}\n{fields}\n"
    )
}

/// The lines of a kustomization are separated by `;`. With `configured` kinds of ours have fields of their own.
#[test]
fn each_transformer_changes_the_fields_that_its_configuration_names() {
    same_as_kustomize(
        &[
            ("objects.yaml", MACHINES),
            ("kc.yaml", CONFIGURATION),
            (
                "words.yaml",
                "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one}\nspec: {plain: no, on: off}\n",
            ),
            (
                "words-json.yaml",
                "- {op: replace, path: /spec/plain, value: no}\n- {op: add, path: /spec/on, value: [yes]}\n",
            ),
            (
                "conflict.yaml",
                "images: [{path: 'spec/containers[]/image'}]\n",
            ),
        ],
        str![[r#"
as they are
    new Deployment//three: apiVersion = "apps/v1"
    new Namespace//lab: apiVersion = "v1"
    new Pool//one: apiVersion = "x.example/v1", metadata annotations num = "12", metadata labels gpu = "true", metadata labels role = "a", spec image = "kindest/node:v1.34.1", spec list 0 image = "kindest/node:v1.34.1@sha256:ab", spec list 1 image = "other", spec nothing = null, spec odd 0 = 1.3, spec odd 1 = 1, spec odd 10 = true, spec odd 11 = null, spec odd 12 = null, spec odd 13 = 12345678901234567000, spec odd 14 = "1e400", spec odd 15 = "", spec odd 16 = "1.30", spec odd 17 = "null", spec odd 18 = "yes", spec odd 19 = "012", spec odd 2 = 1000, spec odd 20 = "1e3", spec odd 21 = "~", spec odd 3 = 0, spec odd 4 = 10, spec odd 5 = 12, spec odd 6 = 31, spec odd 7 = 3, spec odd 8 = 1000, spec odd 9 = "yes", spec plain = 3, spec quoted = "1.30", spec ref = "one", spec replicas = 1, spec selector = {}
    new Pool/lab/two: apiVersion = "x.example/v1", metadata labels role = "b", spec template spec containers 0 image = "kindest/node:v1.34.1", spec template spec containers 1 name = "none"
labels: [{pairs: {env: prod}}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
labels: [{pairs: {env: prod}, includeSelectors: true}]; configured
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod", spec selector match env = "prod", spec selector is gone
    Pool/lab/two: metadata labels env = "prod", spec selector match env = "prod"
labels: [{pairs: {env: prod}, includeTemplates: true}]; configured
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
labels: [{pairs: {env: prod}, fields: [{path: spec/template/x, kind: Pool, create: true}]}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod", spec template x env = "prod"
    Pool/lab/two: metadata labels env = "prod", spec template x env = "prod"
labels: [{pairs: {env: prod}, fields: [{path: spec/plain/x, kind: Pool}]}]
    refused
labels: [{pairs: {env: prod}, fields: [{path: spec/plain, kind: Pool}]}]
    refused
labels: [{pairs: {env: 1}}]
    refused
labels: [{pairs: {env: p}, fields: [{path: metadata/labels}]}]
    refused
commonLabels: {env: prod}; configured
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod", spec selector match env = "prod", spec selector is gone
    Pool/lab/two: metadata labels env = "prod", spec selector match env = "prod"
commonAnnotations: {env: prod, num: x}
    Deployment//three: metadata annotations env = "prod", metadata annotations num = "x"
    Namespace//lab: metadata annotations env = "prod", metadata annotations num = "x"
    Pool//one: metadata annotations env = "prod", metadata annotations num = "x"
    Pool/lab/two: metadata annotations env = "prod", metadata annotations num = "x"
commonAnnotations: {env: prod}; configured
    Deployment//three: metadata annotations env = "prod"
    Namespace//lab: metadata annotations env = "prod"
    Pool//one: metadata annotations env = "prod", spec notes env = "prod"
    Pool/lab/two: metadata annotations env = "prod", spec notes env = "prod"
commonAnnotations: {env: true}
    refused
images: [{name: kindest/node, newTag: v1.33.5}]
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.33.5"
images: [{name: kindest/node, newTag: v1.33.5}]; configured
    Pool//one: spec image = "kindest/node:v1.33.5", spec list 0 image = "kindest/node:v1.33.5"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.33.5"
images: [{name: kindest/node, newName: example.org/node}]; configured
    Pool//one: spec image = "example.org/node:v1.34.1", spec list 0 image = "example.org/node:v1.34.1@sha256:ab"
    Pool/lab/two: spec template spec containers 0 image = "example.org/node:v1.34.1"
images: [{name: kindest/node, digest: 'sha256:cd'}]; configured
    Pool//one: spec image = "kindest/node@sha256:cd", spec list 0 image = "kindest/node@sha256:cd"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node@sha256:cd"
images: [{name: kindest/node, newTag: v1.33.5, digest: 'sha256:cd'}]; configured
    Pool//one: spec image = "kindest/node:v1.33.5@sha256:cd", spec list 0 image = "kindest/node:v1.33.5@sha256:cd"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.33.5@sha256:cd"
images: [{name: kindest/node, tagSuffix: -x}]; configured
    Pool//one: spec image = "kindest/node:v1.34.1-x", spec list 0 image = "kindest/node:v1.34.1-x"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.34.1-x-x"
images: [{name: other, newTag: v2}]; configured
    Pool//one: spec list 1 image = "other:v2"
images: [{name: node, newTag: v2}]; configured
    no change
imageTags: [{name: kindest/node, newTag: v1.33.5}]; configured
    Pool//one: spec image = "kindest/node:v1.33.5", spec list 0 image = "kindest/node:v1.33.5"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.33.5"
images: [{name: kindest/node, newTag: v2}]; configurations: [conflict.yaml]
    refused
namePrefix: a-; configured
    Deployment//three is Deployment//a-three
    Pool//one is Pool//a-one: spec ref = "a-one"
    Pool/lab/two is Pool/lab/a-two
namePrefix: a-; nameSuffix: -z
    Deployment//three is Deployment//a-three-z
    Pool//one is Pool//a-one-z
    Pool/lab/two is Pool/lab/a-two-z
namespace: edge; configured
    Deployment//three is Deployment/edge/three
    Namespace//lab is Namespace//edge
    Pool//one is Pool/edge/one: spec space = "edge"
    Pool/lab/two is Pool/edge/two: spec space = "edge"
replicas: [{name: three, count: 2}]
    Deployment//three: replicas = 2
replicas: [{name: one, count: 2}]
    refused
replicas: [{name: one, count: 2}]; configured
    Pool//one: spec replicas = 2
replicas: [{name: one, count: many}]
    refused
namePrefix: a-; replicas: [{name: three, count: 2}]
    Deployment//three is Deployment//a-three: replicas = 2
    Pool//one is Pool//a-one
    Pool/lab/two is Pool/lab/a-two
labels: [{pairs: {env: prod}}]; patchesJson6902: [{target: {name: one, labelSelector: env=prod}, patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod", spec x = 1
    Pool/lab/two: metadata labels env = "prod"
labels: [{pairs: {env: prod}}]; patches: [{target: {labelSelector: env=prod}, patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
patches: [{target: {labelSelector: gpu=true}, patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'}]
    Pool//one: spec x = 1
patches: [{target: {annotationSelector: num=12}, patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'}]
    Pool//one: spec x = 1
patches: [{target: {name: one}, patch: '[{"op": "add", "path": "/metadata/labels/m", "value": 1}]'}, {target: {labelSelector: m=1}, patch: '[{"op": "add", "path": "/spec/x", "value": 1}]'}]
    Pool//one: metadata labels m = "1", spec x = 1
commonLabels: {env: prod}; replacements: [{source: {kind: Pool, name: one, fieldPath: metadata.labels.env}, targets: [{select: {name: two}, fieldPaths: [spec.new], options: {create: true}}]}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod", spec new = "prod"
vars: [{name: V, objref: {apiVersion: x.example/v1, kind: Pool, name: two}, fieldref: {fieldPath: metadata.labels.role}}]
    no change
vars: [{name: V, objref: {apiVersion: x.example/v1, kind: Pool, name: two}, fieldref: {fieldPath: metadata.labels.role}}]; patches: [{target: {name: one}, patch: '[{"op": "replace", "path": "/spec/image", "value": "a$(V)$$(V)$x$(W)$("}]'}]; configured
    refused
vars: [{name: V, objref: {group: x.example, version: v1, kind: Pool, name: one}, fieldref: {fieldPath: spec.plain}}]; patches: [{target: {name: one}, patch: '[{"op": "replace", "path": "/spec/image", "value": "$(V)"}, {"op": "replace", "path": "/spec/list", "value": ["$(V)", "x"]}, {"op": "replace", "path": "/spec/selector", "value": {"a": "$(V)b", "n": 1}}]'}]; configured
    Pool//one: spec image = 3, spec list 0 = 3, spec list 1 = "x", spec selector a = "3b", spec selector n = 1, spec list 0 image is gone, spec list 1 image is gone, spec selector is gone
vars: [{name: V, objref: {apiVersion: v1, kind: Namespace, name: lab}}]; namePrefix: a-; commonAnnotations: {who: $(V)}
    Deployment//three is Deployment//a-three: metadata annotations who = "lab"
    Namespace//lab: metadata annotations who = "lab"
    Pool//one is Pool//a-one: metadata annotations who = "lab"
    Pool/lab/two is Pool/lab/a-two: metadata annotations who = "lab"
vars: [{name: V, objref: {apiVersion: v1, kind: Namespace, name: lab}}]; configured
    refused
vars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: none}}]
    refused
vars: [{name: V, objref: {apiVersion: v1, kind: Namespace, name: lab}, fieldref: {fieldPath: spec.none}}]
    refused
vars: [{name: V, objref: {apiVersion: v1, kind: Namespace, name: lab}}, {name: V, objref: {apiVersion: v1, kind: Namespace, name: lab}}]
    refused
patches: [{patch: '{apiVersion: x.example/v1, kind: Pool, metadata: {name: one, labels: {env: 1}}, spec: {quoted: 1.31, plain: 1.31}}'}]
    Pool//one: metadata labels env = "1", spec plain = 1.31, spec quoted = "1.31"
patches: [{patch: '{apiVersion: x.example/v1, kind: Pool, metadata: {name: one}, spec: {plain: no, quoted: yes, list: [on, true]}}'}]
    Pool//one: spec list 0 = "on", spec list 1 = true, spec plain = "no", spec quoted = "yes", spec list 0 image is gone, spec list 1 image is gone
patches: [{path: words.yaml}]
    Pool//one: spec on = "off", spec plain = "no"
patchesJson6902: [{target: {name: one, kind: Pool, group: x.example, version: v1}, path: words-json.yaml}]
    Pool//one: spec on 0 = true, spec plain = false
patches: [{target: {name: one}, patch: '[{"op": "add", "path": "/metadata/annotations/config.kubernetes.io~1local-config", "value": "true"}]'}]
    Pool//one is gone
patches: [{target: {name: one}, patch: '[{"op": "add", "path": "/metadata/annotations/config.kubernetes.io~1local-config", "value": "false"}]'}]
    Pool//one: metadata annotations config.kubernetes.io/local-config = "false"
generatorOptions: {labels: {a: b}, annotations: {c: d}, immutable: true}; configMapGenerator: [{name: m, literals: [a=b], options: {labels: {a: own}}}]
    new ConfigMap//m-4h2mbtbbt6: apiVersion = "v1", data a = "b", immutable = true, metadata annotations c = "d", metadata labels a = "own"
namePrefix: 1
    refused
labels: [{pairs: {index: a}, includeSelectors: always}]
    refused
resources: objects.yaml
    refused
kind: Other
    refused
apiVersion: kustomize.config.k8s.io/v1beta1; kind: Kustomization; labels: [{pairs: {env: prod}}]
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
apiVersion: kustomize.config.k8s.io/v1; labels: [{pairs: {env: prod}}]
    refused
unknown: true
    refused
sortOptions: {order: legacy}
    no change
validators: []
    no change
validators: [kc.yaml]
    refused

"#]],
        |lines| {
            let lines = lines.replace("configured", "configurations: [kc.yaml]");
            lines.split("; ").map(|line| format!("{line}\n")).collect()
        },
    );
}

/// As `kubectl kustomize` prints it, which takes a date with a time for a text.
#[test]
fn an_unquoted_date_is_the_time_of_its_midnight() {
    let object = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one, annotations: {day: 2024-01-02}}\n\
        spec: {day: 2024-01-01, list: [2024-01-01], text: '2024-01-01', time: 2001-12-14 21:59:43, none: 2024-02-30}\n";
    let patch = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one, labels: {day: 2024-02-02}}\nspec: {patched: 2024-01-01}\n";
    let stage = project()
        .file(
            "kustomization.yaml",
            "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
        )
        .file("a.yaml", object)
        .file("p.yaml", patch);
    let built = build(None, stage.path(), ".").expect("it builds");
    let lines: Vec<String> = { leaves(&built).into_values().flatten() }
        .map(|(path, value)| format!("{path} = {value}"))
        .collect();
    lines.join("\n").is(str![[r#"
apiVersion = "x.example/v1"
metadata annotations day = "2024-01-02"
metadata labels day = "2024-02-02T00:00:00Z"
spec day = "2024-01-01T00:00:00Z"
spec list 0 = "2024-01-01T00:00:00Z"
spec none = "2024-02-30"
spec patched = "2024-01-01T00:00:00Z"
spec text = "2024-01-01"
spec time = "2001-12-14 21:59:43"
"#]]);
}

/// A label's date was a text, and so was an annotation's after a JSON patch, which makes JSON of the whole object. Until then
/// selectors read the date.
#[test]
fn a_date_in_a_label_is_a_time_and_one_in_an_annotation_after_a_json_patch() {
    let object = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one, labels: {built: 2024-01-01, text: '2024-01-01'}, \
        annotations: {day: 2023-01-01, text: '2023-01-01'}}\n";
    let patch = |operation: &str| format!("patch: '[{{{operation}}}]'");
    let add = patch(r#""op": "add", "path": "/metadata/annotations/new", "value": "2024-01-05""#);
    let remove = patch(r#""op": "remove", "path": "/metadata/labels/text""#);
    same_as_kustomize(
        &[("objects.yaml", object)],
        str![[r#"
as they are
    new Pool//one: apiVersion = "x.example/v1", metadata annotations day = "2023-01-01", metadata annotations text = "2023-01-01", metadata labels built = "2024-01-01T00:00:00Z", metadata labels text = "2024-01-01"
labels: [{pairs: {released: 2024-01-05}}]
    Pool//one: metadata labels released = "2024-01-05"
patches: [{target: {kind: Pool}, ADD}]
    Pool//one: metadata annotations day = "2023-01-01T00:00:00Z", metadata annotations new = "2024-01-05"
patches: [{target: {labelSelector: built=2024-01-01}, ADD}]
    Pool//one: metadata annotations day = "2023-01-01T00:00:00Z", metadata annotations new = "2024-01-05"
patches: [{target: {annotationSelector: day=2023-01-01}, ADD}]
    Pool//one: metadata annotations day = "2023-01-01T00:00:00Z", metadata annotations new = "2024-01-05"
patches: [{target: {kind: Pool}, ADD}, {target: {annotationSelector: day=2023-01-01}, REMOVE}]
    Pool//one: metadata annotations day = "2023-01-01T00:00:00Z", metadata annotations new = "2024-01-05"
patches: [{target: {kind: Pool}, ADD}, {target: {labelSelector: built=2024-01-01}, REMOVE}]
    Pool//one: metadata annotations day = "2023-01-01T00:00:00Z", metadata annotations new = "2024-01-05"

"#]],
        |case| case.replace("ADD", &add).replace("REMOVE", &remove),
    );
}

/// The API server refuses it, and kustomize prints it as it is.
#[test]
fn a_label_that_is_no_text_is_an_error() {
    let cluster = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: one, labels: {gpu: true, rack: 7, zone: 'a'}}\nspec: {}\n";
    let stage = project().file("a.yaml", cluster);
    stage.check().findings(str![[r#"
error[value-type] a.yaml:3:37 `true`
error[value-type] a.yaml:3:49 `7`

"#]]);
    stage.write("kustomization.yaml", "resources: [a.yaml]\n");
    stage.check().findings(str![[r#"
error[value-type] a.yaml:3:37 `true`
error[value-type] a.yaml:3:49 `7`

"#]]);
}

/// kubectl takes an unquoted date for a text, which is a label; kustomize makes a time of it, which is none.
#[test]
fn a_date_in_a_label_is_an_error_where_kustomize_builds_it() {
    let cluster = |label: &str| {
        let cluster = format!(
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: one, labels: {{day: {label}}}}}\nspec: {{}}\n"
        );
        project().file("a.yaml", cluster)
    };
    cluster("2024-01-01")
        .check_with("--allow-empty")
        .findings(str![]);
    let built = |label: &str| cluster(label).file("kustomization.yaml", "resources: [a.yaml]\n");
    built("2024-01-01")
        .check_with("--allow-empty")
        .findings(str![[r#"
error[value-type] one a.yaml:3:37 `2024-01-01` => - | _ | .

"#]]);
    built("'2024-01-01'")
        .check_with("--allow-empty")
        .findings(str![]);
    cluster("'a b'")
        .check_with("--allow-empty")
        .findings(str![[r#"
error[value-type] one a.yaml:3:37 `'a b'` => - | _ | .

"#]]);
    cluster("'$DAY'")
        .check_with("--allow-empty")
        .findings(str![]);
}

#[test]
fn a_transformer_in_a_file_is_the_field() {
    let patch = "apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: one}\nspec: {plain: 4}\n";
    let inline = patch.replace('\n', "\n  ");
    let fields = "fieldSpecs: [{path: metadata/labels, create: true}]";
    let files = [
        ("objects.yaml", MACHINES.to_owned()),
        ("p.yaml", patch.to_owned()),
        (
            "j.yaml",
            "- {op: replace, path: /spec/plain, value: 5}\n".to_owned(),
        ),
        ("v.yaml", "a: 1\n".to_owned()),
        (
            "merge.yaml",
            transformer("PatchStrategicMergeTransformer", "paths: [p.yaml]"),
        ),
        (
            "texts.yaml",
            transformer(
                "PatchStrategicMergeTransformer",
                &format!("patches: |\n  {inline}"),
            ),
        ),
        (
            "patch.yaml",
            transformer(
                "PatchTransformer",
                "path: j.yaml\ntarget: {labelSelector: gpu=true}",
            ),
        ),
        (
            "json.yaml",
            transformer(
                "PatchJson6902Transformer",
                "target: {name: one, kind: Pool}\njsonOp: '[{\"op\": \"replace\", \"path\": \"/spec/plain\", \"value\": 6}]'",
            ),
        ),
        (
            "namespace.yaml",
            transformer(
                "NamespaceTransformer",
                "unsetOnly: true\nfieldSpecs: [{path: spec/space, kind: Pool, create: true}]",
            ),
        ),
        (
            "prefix.yaml",
            transformer(
                "PrefixTransformer",
                "prefix: a-\nfieldSpecs: [{path: metadata/name}]",
            ),
        ),
        ("bare.yaml", transformer("PrefixTransformer", "prefix: a-")),
        (
            "suffix.yaml",
            transformer(
                "SuffixTransformer",
                "suffix: -z\nfieldSpecs: [{path: metadata/name, kind: Pool}]",
            ),
        ),
        (
            "label.yaml",
            transformer(
                "LabelTransformer",
                &format!("labels: {{env: prod}}\n{fields}"),
            ),
        ),
        (
            "annotation.yaml",
            transformer(
                "AnnotationsTransformer",
                "annotations: {env: prod}\nfieldSpecs: [{path: metadata/annotations, create: true}]",
            ),
        ),
        (
            "replicas.yaml",
            transformer(
                "ReplicaCountTransformer",
                "replica: {name: one, count: 3}\nfieldSpecs: [{path: spec/replicas, kind: Pool}]",
            ),
        ),
        (
            "image.yaml",
            transformer(
                "ImageTagTransformer",
                "imageTag: {name: kindest/node, newTag: v1.33.5}\nfieldSpecs: [{path: spec/image, kind: Pool}]",
            ),
        ),
        (
            "replacement.yaml",
            transformer(
                "ReplacementTransformer",
                "replacements: [{sourceValue: x, targets: [{select: {name: one}, fieldPaths: [spec.image]}]}]",
            ),
        ),
        (
            "other.yaml",
            "apiVersion: example.org/v1\nkind: Other\nmetadata: {name: any}\n".to_owned(),
        ),
        ("unknown.yaml", transformer("OtherTransformer", "")),
        (
            "folder/kustomization.yaml",
            "resources: [label.yaml]\nnamePrefix: x-\n".to_owned(),
        ),
        (
            "folder/label.yaml",
            transformer(
                "LabelTransformer",
                &format!("labels: {{in: folder}}\n{fields}"),
            ),
        ),
        (
            "map.yaml",
            transformer("ConfigMapGenerator", "files: [v.yaml]"),
        ),
        (
            "more.yaml",
            transformer(
                "ConfigMapGenerator",
                "name: any\nbehavior: merge\nliterals: [b=2]",
            )
            .replace("{name: any", "{name: other"),
        ),
        (
            "made.yaml",
            transformer("SecretGenerator", "literals: [b=2]"),
        ),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
    same_as_kustomize(
        &files,
        str![[r#"
as they are
    new Deployment//three: apiVersion = "apps/v1"
    new Namespace//lab: apiVersion = "v1"
    new Pool//one: apiVersion = "x.example/v1", metadata annotations num = "12", metadata labels gpu = "true", metadata labels role = "a", spec image = "kindest/node:v1.34.1", spec list 0 image = "kindest/node:v1.34.1@sha256:ab", spec list 1 image = "other", spec nothing = null, spec odd 0 = 1.3, spec odd 1 = 1, spec odd 10 = true, spec odd 11 = null, spec odd 12 = null, spec odd 13 = 12345678901234567000, spec odd 14 = "1e400", spec odd 15 = "", spec odd 16 = "1.30", spec odd 17 = "null", spec odd 18 = "yes", spec odd 19 = "012", spec odd 2 = 1000, spec odd 20 = "1e3", spec odd 21 = "~", spec odd 3 = 0, spec odd 4 = 10, spec odd 5 = 12, spec odd 6 = 31, spec odd 7 = 3, spec odd 8 = 1000, spec odd 9 = "yes", spec plain = 3, spec quoted = "1.30", spec ref = "one", spec replicas = 1, spec selector = {}
    new Pool/lab/two: apiVersion = "x.example/v1", metadata labels role = "b", spec template spec containers 0 image = "kindest/node:v1.34.1", spec template spec containers 1 name = "none"
merge.yaml
    Pool//one: spec plain = 4
texts.yaml
    Pool//one: spec plain = 4
patch.yaml
    Pool//one: spec plain = 5
json.yaml
    Pool//one: spec plain = 6
namespace.yaml
    Deployment//three is Deployment/there/three
    Pool//one is Pool/there/one: spec space = "there"
    Pool/lab/two: spec space = "there"
prefix.yaml
    Deployment//three is Deployment//a-three
    Pool//one is Pool//a-one
    Pool/lab/two is Pool/lab/a-two
bare.yaml
    refused
suffix.yaml
    Pool//one is Pool//one-z
    Pool/lab/two is Pool/lab/two-z
label.yaml
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
label.yaml, patch.yaml
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod", spec plain = 5
    Pool/lab/two: metadata labels env = "prod"
annotation.yaml
    Deployment//three: metadata annotations env = "prod"
    Namespace//lab: metadata annotations env = "prod"
    Pool//one: metadata annotations env = "prod"
    Pool/lab/two: metadata annotations env = "prod"
replicas.yaml
    Pool//one: spec replicas = 3
image.yaml
    Pool//one: spec image = "kindest/node:v1.33.5"
    Pool/lab/two: spec template spec containers 0 image = "kindest/node:v1.33.5"
replacement.yaml
    Pool//one: spec image = "x"
folder
    Deployment//three: metadata labels in = "folder"
    Namespace//lab: metadata labels in = "folder"
    Pool//one: metadata labels in = "folder"
    Pool/lab/two: metadata labels in = "folder"
inline
    Deployment//three: metadata labels env = "prod"
    Namespace//lab: metadata labels env = "prod"
    Pool//one: metadata labels env = "prod"
    Pool/lab/two: metadata labels env = "prod"
other.yaml
    refused
unknown.yaml
    refused
missing.yaml
    refused
generators map.yaml
    new ConfigMap/there/any-5fk5tt6tgt: apiVersion = "v1", data v.yaml = "a: 1\n"
generators map.yaml, more.yaml
    new ConfigMap/there/any-fhmkhtkt92: apiVersion = "v1", data b = "2", data v.yaml = "a: 1\n"
generators more.yaml
    refused
generators made.yaml
    new Secret/there/any-HASH: apiVersion = "v1", data b = "a secret", type = "Opaque"
generators label.yaml
    refused

"#]],
        |names| match names.strip_prefix("generators ") {
            Some(names) => format!("generators: [{names}]\n"),
            None if names == "inline" => {
                let text = transformer(
                    "LabelTransformer",
                    &format!("labels: {{env: prod}}\n{fields}"),
                );
                format!(
                    "transformers:\n- |\n  {}\n",
                    text.trim_end().replace('\n', "\n  ")
                )
            }
            None => format!("transformers: [{names}]\n"),
        },
    );
}

/// Lines of a kustomization, each with what differs between cases: `LABEL`, `OBJECT`, `FIELD`, `TEXT`.
const FEATURES: &[&str] = &[
    "labels: [{pairs: {LABEL: TEXT}}]",
    "labels: [{pairs: {LABEL: TEXT}, includeSelectors: true, fields: [{path: spec/template/x, kind: Pool}]}]",
    "commonLabels: {LABEL: TEXT}",
    "commonAnnotations: {LABEL: TEXT}",
    "namePrefix: TEXT-",
    "nameSuffix: -TEXT",
    "namespace: TEXT",
    "images: [{name: kindest/node, newTag: TEXT}, {name: other, digest: 'sha256:TEXT'}]",
    "replicas: [{name: OBJECT, count: 2}]",
    "patches: [{target: {labelSelector: LABEL=TEXT}, patch: '[{\"op\": \"add\", \"path\": \"/spec/FIELD\", \"value\": \"TEXT\"}]'}]",
    "patches: [{target: {annotationSelector: '!LABEL', kind: Pool}, patch: '[{\"op\": \"add\", \"path\": \"/spec/new\", \"value\": 1}]'}]",
    "patches: [{target: {name: OBJECT}, patch: '{apiVersion: x.example/v1, kind: Pool, metadata: {name: any, labels: {LABEL: TEXT}}, spec: {FIELD: TEXT}}'}]",
    "patchesStrategicMerge: ['{apiVersion: x.example/v1, kind: Pool, metadata: {name: one}, spec: {FIELD: TEXT}}']",
    "patchesJson6902: [{target: {kind: Pool, name: OBJECT}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/FIELD\", \"value\": \"TEXT\"}]'}]",
    "replacements: [{source: {kind: Pool, name: one, fieldPath: spec.FIELD}, targets: [{select: {kind: Pool}, reject: [{labelSelector: LABEL=TEXT}], fieldPaths: [spec.FIELD, spec.image], options: {create: true}}]}]",
    "replacements: [{source: {kind: Pool, name: one, fieldPath: metadata.labels.role}, targets: [{select: {name: two}, fieldPaths: [spec.new], options: {create: true}}]}]",
    "replacements: [{sourceValue: TEXT, targets: [{select: {name: OBJECT}, fieldPaths: [spec.image], options: {delimiter: ':', index: 1}}]}]",
    "vars: [{name: V, objref: {apiVersion: x.example/v1, kind: Pool, name: one}, fieldref: {fieldPath: spec.image}}]",
    "commonAnnotations: {var: a$(V)}",
    "transformers: [../TRANSFORMER.yaml]",
    "generators: [../map.yaml]",
    "configMapGenerator: [{name: OBJECT, literals: [LABEL=TEXT], options: {labels: {LABEL: TEXT}}}]",
    "generatorOptions: {disableNameSuffixHash: true, annotations: {LABEL: TEXT}}",
    "sortOptions: {order: fifo}",
];

/// A kustomization with some of them.
fn random_kustomization(random: &mut Random, first: &str) -> String {
    let mut lines = vec![first.to_owned()];
    for _ in 0..random.number(3) {
        let mut line = random.pick(FEATURES).to_owned();
        let words: [(&str, &[&str]); 5] = [
            ("LABEL", &["role", "env", "gpu"]),
            ("OBJECT", &["one", "two", "three"]),
            ("FIELD", &["image", "quoted", "plain", "list", "new"]),
            ("TEXT", &["a", "b", "v1.33.5", "012", "1.5", "true"]),
            (
                "TRANSFORMER",
                &["label", "prefix", "patch", "image", "space"],
            ),
        ];
        for (word, values) in words {
            line = line.replace(word, random.pick(values));
        }
        let key = |line: &str| line.split(':').next().map(str::to_owned);
        if lines.iter().all(|known| key(known) != key(&line)) {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

/// What this reads of a kustomization is what kustomize makes of it, or it does not build here, which is said.
#[test]
fn a_random_kustomization_builds_as_kustomize_builds_it() {
    let Some(kustomize) = programs::find_optional("kustomize") else {
        return;
    };
    let cases = std::env::var("METALMARK_KUSTOMIZATIONS")
        .map_or(30, |cases| cases.parse().expect("a number"));
    let mut random = Random::new(43);
    let (mut equal, mut refused, mut unknown) = (0, 0, 0);
    for number in 0..cases {
        let folder = project()
            .file("base/objects.yaml", MACHINES)
            .file("base/kustomization.yaml", random_kustomization(&mut random, "resources: [objects.yaml]\nconfigurations: [../kc.yaml]"))
            .file("part/kustomization.yaml", random_kustomization(&mut random, "kind: Component\nconfigurations: [../kc.yaml]"))
            .file("over/kustomization.yaml", random_kustomization(&mut random, "resources: [../base]\ncomponents: [../part]"))
            .file("kc.yaml", CONFIGURATION)
            .file("map.yaml", transformer("ConfigMapGenerator", "literals: [b=2]"))
            .file("label.yaml", transformer("LabelTransformer", "labels: {env: b}\nfieldSpecs: [{path: metadata/labels, create: true}]"))
            .file("prefix.yaml", transformer("PrefixTransformer", "prefix: p-\nfieldSpecs: [{path: metadata/name}]"))
            .file("patch.yaml", transformer("PatchTransformer", "target: {labelSelector: env=b}\npatch: '[{op: add, path: /spec/plain, value: 9}]'"))
            .file("image.yaml", transformer("ImageTagTransformer", "imageTag: {name: kindest/node, newTag: t}\nfieldSpecs: [{path: spec/image, kind: Pool}]"))
            .file("space.yaml", transformer("NamespaceTransformer", "unsetOnly: true"));
        let theirs = build(Some(&kustomize), folder.path(), "over");
        let ours = build(None, folder.path(), "over");
        match (theirs, ours) {
            (Some(theirs), Some(ours)) => {
                assert_eq!(
                    leaves(&ours),
                    leaves(&theirs),
                    "case {number}: {}",
                    texts(&folder)
                );
                equal += 1;
            }
            (None, None) => refused += 1,
            (Some(_), None) => unknown += 1,
            (None, Some(_)) => panic!("case {number}: kustomize refuses {}", texts(&folder)),
        }
    }
    eprintln!("{equal} equal, {refused} refused by both, {unknown} not known here");
    assert!(equal * 5 > cases, "{equal} of {cases} build");
    assert!(unknown * 10 < cases, "{unknown} of {cases} are not known");
}

fn texts(folder: &Stage) -> String {
    let names = ["base", "part", "over"].into_iter();
    let text = |name: &str| fs::read_to_string(folder.path().join(name).join("kustomization.yaml"));
    names
        .map(|name| format!("\n# {name}\n{}", text(name).expect("a text")))
        .collect()
}
