//! Random manifests, stamped and rotated: the values are those of [`super::model`], and every byte around them stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metalmark::edit::stamp::Options;
use proptest::prelude::{Strategy, any};
use serde_json::{Map, Value, json};
use yaml_tree::place::{FileId, Source};
use yaml_tree::value::{Node, Number, Value as Ours};

use crate::support::{property, rounds};

use super::model::{self, KEPT, Object};
use super::run::{planned, problems, texts};
use super::written::{Style, a_style, written};

const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io/v1beta1";
/// The names of templates, each with another base.
const NAMES: [&str; 5] = [
    "a",
    "b-0123456789",
    "md-workernode",
    "cp.v1",
    "a-0123456789-x",
];

/// A template as it is drawn: name, namespace, wish, fields, copies of the past, file.
type Template = (usize, bool, usize, [u8; 4], u8, usize, usize);
/// A user of a template: kind, template, other namespace, version, file.
type User = (u8, usize, bool, u8, usize);

/// A template with the fields that the state says: missing, null, empty, another, right.
fn template((name, other, request, states, image, ..): &Template) -> Object {
    let wanted = request.checked_sub(2);
    let mut fields = Map::new();
    for ((field, right), state) in model::fields(wanted.unwrap_or(7)).into_iter().zip(states) {
        match state {
            0 => None,
            1 => fields.insert(field.to_owned(), Value::Null),
            2 => fields.insert(field.to_owned(), json!("")),
            3 => fields.insert(field.to_owned(), json!(right)),
            _ => fields.insert(field.to_owned(), json!(format!("old-{field}-of-{name}"))),
        };
    }
    let mut spec = json!({"automatedCleaningMode": "metadata", "hostSelector": {"matchLabels": {"size": "old-url-of-0"}}});
    match image {
        0 => {}
        1 => spec["image"] = Value::Null,
        2 => spec["image"] = json!({}),
        3 => {
            fields.insert("diskFormat".to_owned(), json!("raw"));
            spec["image"] = json!(fields);
        }
        _ => spec["image"] = json!(fields),
    }
    let value = json!({
        "apiVersion": INFRASTRUCTURE, "kind": "Metal3MachineTemplate",
        "metadata": {"name": NAMES[*name], "namespace": namespace(*other)},
        "spec": {"nodeReuse": true, "template": {"spec": spec}},
    });
    Object {
        value,
        image: wanted,
        copy_of: None,
    }
}

fn namespace(other: bool) -> &'static str {
    if other { "other" } else { "one" }
}

/// A copy of the past; its name has a hash of its own.
fn past(of: &Object, number: usize) -> Object {
    let mut copy = Object {
        image: None,
        ..of.clone()
    };
    let name = of.value["metadata"]["name"].as_str().unwrap_or_default();
    let name = format!("{}-00000000a{number}", model::base(name));
    copy.value["metadata"]["name"] = json!(name);
    copy.value["metadata"]["annotations"] = json!({"note": "x", KEPT: "anything"});
    copy
}

fn user((kind, _, other, version, _): &User, target: &Value) -> Object {
    let (name, own) = (
        &target["metadata"]["name"],
        &target["metadata"]["namespace"],
    );
    let namespace = if *other {
        json!("elsewhere")
    } else {
        own.clone()
    };
    let metadata = json!({"name": "user", "namespace": namespace, "labels": {"of": name}});
    let api = |group: &str, version: &str| format!("{group}.x-k8s.io/{version}");
    let reference =
        json!({"apiVersion": INFRASTRUCTURE, "kind": "Metal3MachineTemplate", "name": name});
    let by_group = json!({"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "Metal3MachineTemplate", "name": name});
    let of_data = json!({"apiVersion": INFRASTRUCTURE, "kind": "Metal3DataTemplate", "name": name});
    let mut value = match kind {
        0 => {
            json!({"apiVersion": api("controlplane.cluster", "v1beta1"), "kind": "KubeadmControlPlane",
            "spec": {"machineTemplate": {"infrastructureRef": reference}}})
        }
        1 => {
            json!({"apiVersion": api("controlplane.cluster", "v1beta2"), "kind": "KubeadmControlPlane",
            "spec": {"machineTemplate": {"spec": {"infrastructureRef": by_group}}}})
        }
        2 => json!({"apiVersion": api("cluster", "v1beta1"), "kind": "MachineDeployment",
            "spec": {"replicas": 3, "template": {"spec": {"infrastructureRef": reference}}}}),
        3 => json!({"apiVersion": api("cluster", "v1beta2"), "kind": "MachineSet",
            "spec": {"template": {"spec": {"infrastructureRef": by_group}}}}),
        4 => json!({"apiVersion": api("cluster", "v1beta1"), "kind": "MachineDeployment",
            "spec": {"template": {"spec": {"infrastructureRef": of_data}}}}),
        5 => {
            json!({"apiVersion": INFRASTRUCTURE, "kind": "Metal3DataTemplate", "spec": {"clusterName": name}})
        }
        6 => {
            json!({"apiVersion": "example.org/v1", "kind": "Fleet", "spec": {"pool": {"of": reference}}})
        }
        _ => {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"name": name, "url": "old-url-of-0", "count": "1"}})
        }
    };
    value["metadata"] = metadata;
    if *kind == 5 {
        value["metadata"]["name"] = name.clone();
    }
    let said = ["v1.30.1", "1.31.1", "v1.31.1"].get(usize::from(*version));
    let at = match kind {
        0 | 1 => value.pointer_mut("/spec"),
        2 | 3 => value.pointer_mut("/spec/template/spec"),
        _ => None,
    };
    if let (Some(said), Some(at)) = (said, at) {
        at["version"] = json!(said);
    }
    Object {
        value,
        image: None,
        copy_of: None,
    }
}

/// Two files of objects.
fn files() -> impl Strategy<Value = Vec<Vec<Object>>> {
    let states = proptest::array::uniform4(0..6_u8);
    let template_of = (
        0..NAMES.len(),
        any::<bool>(),
        0..5_usize,
        states,
        0..9_u8,
        0..4_usize,
        0..2_usize,
    );
    let user_of = (
        0..8_u8,
        0..9_usize,
        proptest::bool::weighted(0.1),
        0..4_u8,
        0..2_usize,
    );
    let templates = proptest::collection::vec(template_of, 1..4);
    (templates, proptest::collection::vec(user_of, 0..5)).prop_map(|(templates, users)| {
        let mut files = vec![Vec::new(), Vec::new()];
        let mut all = Vec::new();
        let mut known = BTreeSet::new();
        for drawn in &templates {
            if !known.insert((drawn.0, drawn.1)) {
                continue;
            }
            let object = template(drawn);
            let copies: Vec<Object> = (0..drawn.5).map(|number| past(&object, number)).collect();
            all.extend(
                copies
                    .iter()
                    .chain([&object])
                    .map(|object| object.value.clone()),
            );
            files[drawn.6].push(object);
            files[drawn.6].extend(copies);
        }
        for drawn in &users {
            files[drawn.4].push(user(drawn, &all[drawn.1 % all.len()]));
        }
        files
    })
}

fn sources(files: &[Vec<Object>], styles: &[Style]) -> Vec<Arc<Source>> {
    let texts = files.iter().zip(styles).zip(["a/x.yaml", "b/y.yaml"]);
    texts
        .map(|((file, style), path)| Arc::new(Source::new(path, written(file, file, *style))))
        .collect()
}

/// The objects of a text, as JSON, in their order.
fn read(text: &str, shape: u8) -> Vec<Value> {
    let read = yaml_tree::read(text, FileId(0), yaml_tree::engine::Engine::Kubectl).expect("YAML");
    let documents: Vec<Value> = read.documents.iter().map(json_of).collect();
    let items = |key: &str| documents[0][key].as_array().cloned().unwrap_or_default();
    match shape {
        0 => documents
            .into_iter()
            .filter(|document| !document.is_null())
            .collect(),
        1 => items("items"),
        _ => items("extra"),
    }
}

fn json_of(node: &Node) -> Value {
    match &node.value {
        Ours::Null => Value::Null,
        Ours::Bool(flag) => json!(flag),
        Ours::Number(Number::Int(number)) => json!(number),
        Ours::Number(number) => panic!("{number:?}"),
        Ours::String(text) => json!(**text),
        Ours::Opaque(opaque) => json!(*opaque.text),
        Ours::List(items) => items.iter().map(json_of).collect(),
        Ours::Map(map) => map
            .iter()
            .map(|entry| (entry.key.to_string(), json_of(&entry.node)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn check(files: &[Vec<Object>], styles: [Style; 2], options: Options) {
    let sources = sources(files, &styles);
    let plan = planned(&sources, options);
    assert_eq!(problems(&plan), [""; 0]);
    let after = texts(&sources, &plan);
    let found: Vec<Vec<Value>> = after
        .iter()
        .zip(styles)
        .map(|(text, style)| read(text, style.shape))
        .collect();
    // Which name a template got is the run's to say: each is looked up by what the object is now.
    let old_names: BTreeSet<&str> = files
        .iter()
        .flatten()
        .filter_map(|object| object.value["metadata"]["name"].as_str())
        .collect();
    let mut hashes: BTreeMap<String, Value> = BTreeMap::new();
    let name_of = |file: usize, index: usize| {
        let old = &files[file][index].value;
        let base = model::base(old["metadata"]["name"].as_str().unwrap_or_default()).to_owned();
        let is_it = |new: &&Value| {
            let name = new["metadata"]["name"].as_str().unwrap_or_default();
            model::is_template(new)
                && !model::is_kept(new)
                && model::base(name) == base
                && new["metadata"]["namespace"] == old["metadata"]["namespace"]
        };
        let new = found[file].iter().find(is_it).unwrap_or(old);
        new["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let wanted = model::stamped(files, options, &name_of);
    for (found, wanted) in found.iter().zip(&wanted) {
        let wanted: Vec<&Value> = wanted.iter().map(|object| &object.value).collect();
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted);
    }
    for new in wanted
        .iter()
        .flatten()
        .filter(|object| object.copy_of.is_none())
    {
        let (name, spec) = (new.value["metadata"]["name"].as_str(), &new.value["spec"]);
        let is_new = |name: &&str| model::is_template(&new.value) && !old_names.contains(name);
        if let Some(name) = name.filter(is_new) {
            let known = hashes.insert(name.to_owned(), spec.clone());
            assert!(
                known.is_none_or(|known| known == *spec),
                "two contents under the name {name}"
            );
        }
    }
    for (number, style) in styles.into_iter().enumerate() {
        bytes(
            &files[number],
            &wanted[number],
            (&sources[number].text, &after[number]),
            style,
        );
    }
    let again: Vec<Arc<Source>> = sources
        .iter()
        .zip(&after)
        .map(|(source, text)| Arc::new(Source::new(&*source.path, text.as_str())))
        .collect();
    assert!(
        planned(&again, options).files.is_empty(),
        "a second run changes something"
    );
}

/// Where nothing comes or goes, the text is the one that a person would have written; else all other lines stay.
fn bytes(old: &[Object], new: &[Object], (before, after): (&str, &str), style: Style) {
    if old
        .iter()
        .zip(new)
        .all(|(old, new)| same_keys(&old.value, &new.value))
        && old.len() == new.len()
    {
        assert_eq!(after, written(new, old, style));
        return;
    }
    let bare = after.matches('\n').count() - after.matches("\r\n").count();
    assert_eq!(bare == 0, style.eol == "\r\n");
    let mut left = after.lines();
    let is_removed = new.iter().filter(|object| object.copy_of.is_none()).count() < old.len();
    assert!(is_removed || before.ends_with('\n') == after.ends_with('\n'));
    for line in before.lines().filter(|_| !is_removed) {
        let is_touched = ["image:", "url:", "checksum", "ormat:", "version:", "name:"]
            .iter()
            .any(|word| line.contains(word));
        assert!(
            is_touched || left.any(|new| new == line),
            "`{line}` is gone:\n{before}\n{after}"
        );
    }
}

fn same_keys(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.len() == new.len()
                && old
                    .iter()
                    .all(|(key, old)| new.get(key).is_some_and(|new| same_keys(old, new)))
        }
        (Value::Object(_), _) | (_, Value::Object(_)) => false,
        (Value::Null, new) => new.is_null(),
        _ => true,
    }
}

#[test]
fn exactly_the_images_and_what_follows_them_change() {
    let options =
        (any::<bool>(), 0..4_usize, any::<bool>()).prop_map(|(rotate, keep, set_version)| {
            Options {
                rotate,
                keep,
                set_version,
            }
        });
    let cases = (files(), [a_style(), a_style()], options);
    property(rounds(250, 5000), &cases, |(files, styles, options)| {
        check(&files, styles, options)
    });
}
