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
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::{FileId, Sources};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::support::manifests::{INFRASTRUCTURE, object};
use crate::support::recorded::same_as;
use crate::support::repository;
use crate::support::stage::project;

/// The objects of a folder, built by the real program or here; none where the build is refused.
fn build(kubectl: Option<&Path>, root: &Path, folder: &str) -> Option<Vec<Node>> {
    let mut built = build_whole(kubectl, root, folder)?;
    built.iter_mut().for_each(hide);
    Some(built)
}

/// Replaces what a Secret holds, and the hash of it in its name: neither is known here.
fn hide(object: &mut Node) {
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
    let output = Command::new(kubectl).arg("kustomize").arg(folder).output();
    let output = output.expect("runs");
    output.status.success().then(|| {
        let text = String::from_utf8(output.stdout).expect("text");
        let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl);
        read.expect("YAML").documents
    })
}

/// The values without parts by their paths.
fn leaves(objects: &[Node]) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    for object in objects {
        let text = |path: &[&str]| object.text(path).unwrap_or_default().to_owned();
        let (kind, namespace) = (text(&["kind"]), text(&["metadata", "namespace"]));
        let name = format!("{kind}/{namespace}/{}", text(&["metadata", "name"]));
        add_leaves(name, object, &mut leaves);
    }
    leaves
}

fn add_leaves(path: String, node: &Node, leaves: &mut BTreeMap<String, String>) {
    match &node.value {
        Value::Map(map) if !map.is_empty() => {
            for entry in &**map {
                add_leaves(format!("{path} {}", entry.key), &entry.node, leaves);
            }
        }
        Value::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                add_leaves(format!("{path} {index}"), item, leaves);
            }
        }
        value => {
            leaves.insert(path, to_json(value, Html::Plain));
        }
    }
}

/// Compares what the lines of each case change with the recorded answers of kustomize. What is above a `---` in them is there before
/// the change.
#[track_caller]
fn same_as_kustomize(
    files: &[(&str, &str)],
    recorded: impl Into<Data>,
    lines: impl Fn(&str) -> String,
) {
    let recorded = recorded.into();
    let text = recorded.render().expect("a text");
    same_as("kubectl", recorded, |kubectl, case| {
        let built = |lines: &str| {
            let kustomization = format!("resources: [objects.yaml]\n{lines}\n");
            let folder = project().files(files);
            let folder = folder.file("kustomization.yaml", kustomization);
            build(kubectl, folder.path(), "").map(|objects| leaves(&objects))
        };
        let lines = lines(case);
        let (base, more) = lines.split_once("---\n").unwrap_or(("", &lines));
        let before = built(base).expect("it builds without");
        let Some(after) = built(&format!("{base}{more}")) else {
            return vec!["refused".to_owned()];
        };
        let is_new = |path: &String, value: &String| before.get(path) != Some(value);
        let changed = after.iter().filter(|(path, value)| is_new(path, value));
        let changed = changed.map(|(path, value)| format!("{path} = {value}"));
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let lines: Vec<String> =
            { changed.chain(gone.map(|path| format!("{path} is gone"))) }.collect();
        if lines.is_empty() {
            vec!["no change".to_owned()]
        } else {
            lines
        }
    });
    assert!(text.contains(" = "), "no case changes anything: {text}");
}

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
to {select: {kind: Pool}, fieldPaths: [spec.version]}
    Pool//one spec version = "v1.31.8"
    Pool//two spec version = "v1.31.8"
to {select: {kind: Pool}, reject: [{name: two}], fieldPaths: [spec.version]}
    Pool//one spec version = "v1.31.8"
to {select: {kind: Pool, labelSelector: role=b}, fieldPaths: [spec.version]}
    Pool//two spec version = "v1.31.8"
to {select: {name: one}, fieldPaths: ['spec.list.[name=y.z].value']}
    Pool//one spec list 1 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: ['spec.list.[name=x].value', spec.list.0.value]}
    Pool//one spec list 0 value = "v1.31.8"
    Pool//two spec list 0 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: ['spec.list.*.value']}
    Pool//one spec list 0 value = "v1.31.8"
    Pool//one spec list 1 value = "v1.31.8"
    Pool//two spec list 0 value = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: 1}}
    Pool//one spec image = "a-v1.31.8-c"
    Pool//two spec image = "a-v1.31.8-c"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: 9}}
    Pool//one spec image = "a-b-c-v1.31.8"
    Pool//two spec image = "a-b-c-v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.image], options: {delimiter: '-', index: -1}}
    Pool//one spec image = "v1.31.8-a-b-c"
    Pool//two spec image = "v1.31.8-a-b-c"
to {select: {kind: Pool}, fieldPaths: [spec.new.field], options: {create: true}}
    Pool//one spec new field = "v1.31.8"
    Pool//two spec new field = "v1.31.8"
to {select: {kind: Pool}, fieldPaths: [spec.new.field]}
    refused
to {select: {kind: Nothing}, fieldPaths: [spec.new.field]}
    no change
prefixed {select: {name: one}, fieldPaths: [spec.version]}
    Pool//p-one spec version = "v1.31.8"
prefixed {select: {name: p-one}, fieldPaths: [spec.version]}
    Pool//p-one spec version = "v1.31.8"
from {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 2}}
    Pool//one spec version = "v1.30.2"
    Pool//two spec version = "v1.30.2"
from {kind: ConfigMap, fieldPath: data.image, options: {delimiter: '-', index: 7}}
    refused
from {kind: ConfigMap, fieldPath: data.missing}
    refused
from {kind: ConfigMap, fieldPath: 'metadata.annotations.[a.b/c]'}
    Pool//one spec version = "x"
    Pool//two spec version = "x"
from {kind: ConfigMap, fieldPath: metadata.annotations.a\.b/c}
    Pool//one spec version = "x"
    Pool//two spec version = "x"
from {kind: Pool, fieldPath: spec.version}
    refused
from {kind: Pool, name: one, fieldPath: spec.image}
    Pool//one spec version = "a-b-c"
    Pool//two spec version = "a-b-c"
copy spec.numbers.1 to spec.numbers.0
    Pool//two spec numbers 0 = 2
copy spec.list to spec.list
    Pool//two spec list 1 name = "y.z"
    Pool//two spec list 1 value = "2"
from {kind: Pool, name: one}
    Pool//one spec version = "one"
    Pool//two spec version = "one"

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
                _ => "namePrefix: p-\n---\n".to_owned() + &of(own, rest),
            }
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
name: twin, namespace: b
    Pool//one spec version = "v1.31.8"
namespace: a
    Pool//one spec version = "v1.30.2"
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
any namePrefix: p-
    ClusterClass//p-edge spec workers machineDeployments 0 infrastructure ref name = "p-edge"
    MachineDeployment//p-edge spec template spec infrastructureRef name = "p-edge"
any nameSuffix: -s
    ClusterClass//edge-s spec workers machineDeployments 0 infrastructure ref name = "edge-s"
    MachineDeployment//edge-s spec template spec infrastructureRef name = "edge-s"
any namespace: lab
    no change
own namePrefix: p-
    ClusterClass//p-edge spec workers machineDeployments 0 infrastructure ref name = "p-edge"
    MachineDeployment//p-edge spec template spec infrastructureRef name = "p-edge"
other namePrefix: p-
    no change
none namePrefix: p-
    no change

"#]],
        |case| {
            let (file, names) = case.split_once(' ').expect("a file and a name");
            format!("{names}\n---\nconfigurations: [{file}.yaml]")
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
a - {op: replace, path: /data/y, value: '2'}
    ConfigMap//a data y = "2"
b - {op: replace, path: /data/y, value: '2'}
    ConfigMap//b data y = "2"
b [{"op": "replace", "path": "/data/y", "value": "2"}]
    ConfigMap//b data y = "2"
b [{op: add, path: /data/y, value: '2'}]
    refused
b - {op: replace, path: /more/y, value: '2'}
    refused
b - {op: replace, path: /data, value: {z: '1'}}
    ConfigMap//b data z = "1"
    ConfigMap//b data x is gone
b - {op: remove, path: /data/y}
    refused
b - {op: remove, path: /data/x}
    ConfigMap//b data = {}
    ConfigMap//b data x is gone
b - {op: move, from: /data/q, path: /data/y}
    refused
b - {op: move, from: /data/x, path: /data/y}
    ConfigMap//b data y = "1"
    ConfigMap//b data x is gone
b - {op: copy, from: /data/q, path: /data/y}
    ConfigMap//b data y = null
b - {op: copy, from: /data/x, path: /data/y}
    ConfigMap//b data y = "1"
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
    ConfigMap//a metadata annotations x = "2"
b - {op: add, path: /metadata/annotations/x, value: '2'}
    ConfigMap//b metadata annotations x = "2"
a - {op: replace, path: /metadata/annotations/x, value: '2'}
    ConfigMap//a metadata annotations x = "2"
b - {op: replace, path: /metadata/annotations/x, value: '2'}
    ConfigMap//b metadata annotations x = "2"
a - {op: add, path: /metadata/labels/x, value: '2'}
    refused
b - {op: add, path: /metadata/labels/x, value: '2'}
    ConfigMap//b metadata labels x = "2"
a - {op: add, path: /metadata/annotations, value: {p: q}}
    ConfigMap//a metadata annotations p = "q"
b - {op: add, path: /metadata/annotations, value: {p: q}}
    ConfigMap//b metadata annotations p = "q"
    ConfigMap//b metadata annotations note is gone
b - {op: replace, path: /list/0, value: 3}
    ConfigMap//b list 0 = 3
    ConfigMap//b list 0 a is gone
b - {op: replace, path: /list/2, value: 3}
    refused
b - {op: replace, path: /list/-1, value: 3}
    ConfigMap//b list 1 = 3
    ConfigMap//b list 1 a is gone
b - {op: replace, path: /list/0/b, value: 3}
    ConfigMap//b list 0 b = 3
b - {op: add, path: /list/-, value: 3}
    ConfigMap//b list 2 = 3
b - {op: add, path: /list/1, value: 3}
    ConfigMap//b list 1 = 3
    ConfigMap//b list 2 a = 2
    ConfigMap//b list 1 a is gone
b - {op: add, path: /list/3, value: 3}
    refused
a - {op: add, path: /new, value: {a: [1]}}
    ConfigMap//a new a 0 = 1
a - {op: add, path: /data/p~1q~0r~01s, value: '2'}
    ConfigMap//a data p/q~r~1s = "2"

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
spec: {image: {id: z}}
    Pool//one spec image id = "z"
spec: {image: {filter: {name: new}}}
    Pool//one spec image filter name = "new"
spec: {image: {filter: null}}
    Pool//one spec image filter name is gone
    Pool//one spec image filter tags 0 is gone
spec: {image: {$patch: replace, id: z}}
    Pool//one spec image id = "z"
    Pool//one spec image filter name is gone
    Pool//one spec image filter tags 0 is gone
spec: {image: {$patch: delete}}
    Pool//one spec image filter name is gone
    Pool//one spec image filter tags 0 is gone
    Pool//one spec image id is gone
spec: {image: {$patch: merge, id: z}}
    Pool//one spec image id = "z"
spec: {image: {$patch: other, id: z}}
    refused
spec: {image: {filter: {$patch: replace, tags: [b]}}}
    Pool//one spec image filter tags 0 = "b"
    Pool//one spec image filter name is gone
spec: {image: z}
    refused
spec: {list: [{name: a, d: 2}]}
    Pool//one spec list 0 d = 2
    Pool//one spec list 0 b is gone
    Pool//one spec list 1 name is gone
spec: {list: []}
    Pool//one spec list = []
    Pool//one spec list 0 b is gone
    Pool//one spec list 0 name is gone
    Pool//one spec list 1 name is gone
spec: {list: null}
    Pool//one spec list 0 b is gone
    Pool//one spec list 0 name is gone
    Pool//one spec list 1 name is gone
spec: {$patch: replace, image: {id: z}}
    Pool//one spec image id = "z"
    Pool//one spec image filter name is gone
    Pool//one spec image filter tags 0 is gone
    Pool//one spec list 0 b is gone
    Pool//one spec list 0 name is gone
    Pool//one spec list 1 name is gone
$patch: delete
    Pool//one apiVersion is gone
    Pool//one kind is gone
    Pool//one metadata name is gone
    Pool//one spec image filter name is gone
    Pool//one spec image filter tags 0 is gone
    Pool//one spec image id is gone
    Pool//one spec list 0 b is gone
    Pool//one spec list 0 name is gone
    Pool//one spec list 1 name is gone

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
name: edge
    Pool/lab/edge spec a = 2
name: edge|other
    Pool/lab/edge spec a = 2
name: edge.*
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
name: dge
    no change
name: .*
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
    PoolSet//my-other spec a = 2
name: '('
    refused
kind: Pool
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
kind: Pool|Set
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
group: x.example
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
group: .*x.example
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
    PoolSet//my-other spec a = 2
version: v1
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
    PoolSet//my-other spec a = 2
version: v
    no change
namespace: lab
    Pool/lab/edge spec a = 2
namespace: la
    no change
labelSelector: a=b
    Pool/lab/edge spec a = 2
labelSelector: a!=b
    Pool//edge-wb spec a = 2
    PoolSet//my-other spec a = 2
labelSelector: 'a in (b, x)'
    Pool//edge-wb spec a = 2
    Pool/lab/edge spec a = 2
labelSelector: 'a notin (x),c'
    Pool/lab/edge spec a = 2
labelSelector: '!a'
    PoolSet//my-other spec a = 2
labelSelector: 'a b'
    refused
annotationSelector: note=o
    Pool/lab/edge spec a = 2

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
configMap name: a, behavior: merge, literals: [x=3, z=4]
    ConfigMap//a data x = "3"
    ConfigMap//a data z = "4"
configMap name: a, behavior: replace, literals: [x=3, z=4]
    ConfigMap//a data x = "3"
    ConfigMap//a data z = "4"
    ConfigMap//a data w is gone
configMap name: a, behavior: create, literals: [x=3]
    refused
configMap name: a, literals: [x=3]
    refused
configMap name: b, behavior: merge, literals: [x=3]
    refused
configMap name: b, behavior: replace, literals: [x=3]
    refused
configMap name: b, literals: ['x="quoted"', 'y=a=b']
    ConfigMap//b-8fh95578kh apiVersion = "v1"
    ConfigMap//b-8fh95578kh data x = "quoted"
    ConfigMap//b-8fh95578kh data y = "a=b"
    ConfigMap//b-8fh95578kh kind = "ConfigMap"
    ConfigMap//b-8fh95578kh metadata name = "b-8fh95578kh"
configMap name: b, literals: [x]
    refused
configMap name: b, literals: [x=1, x=2]
    refused
configMap name: b, files: [values.yaml, more.yaml=values.yaml]
    ConfigMap//b-8cc9d522gk apiVersion = "v1"
    ConfigMap//b-8cc9d522gk data more.yaml = "k8s_version: v1.31.8\n"
    ConfigMap//b-8cc9d522gk data values.yaml = "k8s_version: v1.31.8\n"
    ConfigMap//b-8cc9d522gk kind = "ConfigMap"
    ConfigMap//b-8cc9d522gk metadata name = "b-8cc9d522gk"
configMap name: b, files: [missing.yaml]
    refused
configMap name: b, envs: [some.env]
    ConfigMap//b-8m8b7t8mkg apiVersion = "v1"
    ConfigMap//b-8m8b7t8mkg data A = "1"
    ConfigMap//b-8m8b7t8mkg data B  = " two # three"
    ConfigMap//b-8m8b7t8mkg kind = "ConfigMap"
    ConfigMap//b-8m8b7t8mkg metadata name = "b-8m8b7t8mkg"
configMap name: b, literals: [x=3], options: {disableNameSuffixHash: true, labels: {p: q}, annotations: {r: s}}
    ConfigMap//b apiVersion = "v1"
    ConfigMap//b data x = "3"
    ConfigMap//b kind = "ConfigMap"
    ConfigMap//b metadata annotations r = "s"
    ConfigMap//b metadata labels p = "q"
    ConfigMap//b metadata name = "b"
configMap name: b, namespace: lab
    ConfigMap/lab/b-6ct58987ht apiVersion = "v1"
    ConfigMap/lab/b-6ct58987ht kind = "ConfigMap"
    ConfigMap/lab/b-6ct58987ht metadata name = "b-6ct58987ht"
    ConfigMap/lab/b-6ct58987ht metadata namespace = "lab"
secret name: t, literals: [x=3]
    Secret//t-HASH apiVersion = "v1"
    Secret//t-HASH data x = "a secret"
    Secret//t-HASH kind = "Secret"
    Secret//t-HASH metadata name = "t-HASH"
    Secret//t-HASH type = "Opaque"
secret name: t, type: kubernetes.io/tls, literals: [x=3]
    Secret//t-HASH apiVersion = "v1"
    Secret//t-HASH data x = "a secret"
    Secret//t-HASH kind = "Secret"
    Secret//t-HASH metadata name = "t-HASH"
    Secret//t-HASH type = "kubernetes.io/tls"
secret name: s, behavior: merge, literals: [y=3]
    Secret//s data y = "a secret"
    Secret//s type = "Opaque"
secret name: t, literals: [long=0123456789012345678901234567890123456789012345678901234567890123456789]
    Secret//t-HASH apiVersion = "v1"
    Secret//t-HASH data long = "a secret"
    Secret//t-HASH kind = "Secret"
    Secret//t-HASH metadata name = "t-HASH"
    Secret//t-HASH type = "Opaque"

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
namePrefix: a-
    ConfigMap/before/a-values apiVersion = "v1"
    ConfigMap/before/a-values data = {}
    ConfigMap/before/a-values kind = "ConfigMap"
    ConfigMap/before/a-values metadata name = "a-values"
    ConfigMap/before/a-values metadata namespace = "before"
    ConfigMap/before/values apiVersion is gone
    ConfigMap/before/values data is gone
    ConfigMap/before/values kind is gone
    ConfigMap/before/values metadata name is gone
    ConfigMap/before/values metadata namespace is gone
nameSuffix: -z
    ConfigMap/before/values-z apiVersion = "v1"
    ConfigMap/before/values-z data = {}
    ConfigMap/before/values-z kind = "ConfigMap"
    ConfigMap/before/values-z metadata name = "values-z"
    ConfigMap/before/values-z metadata namespace = "before"
    ConfigMap/before/values apiVersion is gone
    ConfigMap/before/values data is gone
    ConfigMap/before/values kind is gone
    ConfigMap/before/values metadata name is gone
    ConfigMap/before/values metadata namespace is gone
namespace: edge
    ConfigMap/edge/values apiVersion = "v1"
    ConfigMap/edge/values data = {}
    ConfigMap/edge/values kind = "ConfigMap"
    ConfigMap/edge/values metadata name = "values"
    ConfigMap/edge/values metadata namespace = "edge"
    Namespace//edge apiVersion = "v1"
    Namespace//edge kind = "Namespace"
    Namespace//edge metadata name = "edge"
    Namespace//edge spec = {}
    ConfigMap/before/values apiVersion is gone
    ConfigMap/before/values data is gone
    ConfigMap/before/values kind is gone
    ConfigMap/before/values metadata name is gone
    ConfigMap/before/values metadata namespace is gone
    Namespace//before apiVersion is gone
    Namespace//before kind is gone
    Namespace//before metadata name is gone
    Namespace//before spec is gone
namePrefix: a-, namespace: edge
    ConfigMap/edge/a-values apiVersion = "v1"
    ConfigMap/edge/a-values data = {}
    ConfigMap/edge/a-values kind = "ConfigMap"
    ConfigMap/edge/a-values metadata name = "a-values"
    ConfigMap/edge/a-values metadata namespace = "edge"
    Namespace//edge apiVersion = "v1"
    Namespace//edge kind = "Namespace"
    Namespace//edge metadata name = "edge"
    Namespace//edge spec = {}
    ConfigMap/before/values apiVersion is gone
    ConfigMap/before/values data is gone
    ConfigMap/before/values kind is gone
    ConfigMap/before/values metadata name is gone
    ConfigMap/before/values metadata namespace is gone
    Namespace//before apiVersion is gone
    Namespace//before kind is gone
    Namespace//before metadata name is gone
    Namespace//before spec is gone

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
    same_as("kubectl", recorded, |kubectl, folder| {
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
