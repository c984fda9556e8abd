//! What differs between the objects of a cluster before and after a change, and what each difference does to the machines that
//! exist. Nothing of them is passed over: what the table of [`capi::changes`] does not know is not known.

use std::collections::{BTreeMap, BTreeSet};

use capi::changes::{self, Answer, Effect};
use capi::objects::ManifestObject;
use yaml_tree::value::{Node, Value};

use crate::model::cluster::{Cluster, ClusterObject, PoolName};

/// One difference.
#[derive(Clone, Debug)]
pub struct ObjectChange<'a> {
    /// The node pool whose machines it is about; none where it is about all.
    pub pool: Option<PoolName>,
    /// The object after the change, or before it where it is gone.
    pub object: &'a ClusterObject,
    /// Its keys and items; empty where the whole object comes or goes.
    pub path: Vec<String>,
    /// The value that was there.
    pub from: Option<&'a Node>,
    /// The value that will be.
    pub to: Option<&'a Node>,
    /// What it does.
    pub answer: Answer,
    /// Whether both are the text of a secret that may change.
    pub is_secret: bool,
    /// Whether the object has the same name on both sides.
    pub is_in_place: bool,
}

/// A field that differs.
pub struct Difference<'n> {
    /// Its keys and items.
    pub path: Vec<String>,
    /// The value that was there.
    pub from: Option<&'n Node>,
    /// The value that will be.
    pub to: Option<&'n Node>,
    /// Whether both are the text of a secret that may change.
    pub is_secret: bool,
}

impl Difference<'_> {
    /// The same, of what is at a path.
    pub fn nest(self, path: &[&str]) -> Self {
        let above = path.iter().map(|key| (*key).to_owned());
        Self {
            path: above.chain(self.path).collect(),
            ..self
        }
    }
}

/// Where an object has its name.
const NAME: [&str; 2] = ["metadata", "name"];

/// Everything that differs, by objects in their order; nothing of those whose build is not known.
pub fn object_changes<'a>(before: &'a Cluster, after: &'a Cluster) -> Vec<ObjectChange<'a>> {
    let mut changes = Vec::new();
    let is_known = |one: &&ClusterObject| one.object.unknown.is_none();
    for pair in pairs(&before.objects, &after.objects) {
        // It is not the object that is deployed.
        if !pair.iter().flatten().all(is_known) {
            continue;
        }
        let [Some(was), Some(is)] = pair else {
            changes.extend(one_sided_change(pair));
            continue;
        };
        let is_in_place = was.object.name == is.object.name;
        let is_versioned = was.object.api_version != is.object.api_version;
        let found = differences(Some(&was.object.node), Some(&is.object.node));
        changes.extend(found.into_iter().filter_map(|found| {
            let path: Vec<&str> = found.path.iter().map(String::as_str).collect();
            let mut answer = changes::answer(&is.object, &path);
            let kinds = ["MachineTemplate", "ConfigTemplate"];
            let is_template = kinds.iter().any(|kind| is.object.kind.ends_with(kind));
            let is_spec = path.first() == Some(&"spec");
            answer.effect = match answer.effect {
                _ if path == NAME => Effect::NotKnown,
                // Patches make another template of it, perhaps.
                Effect::NoEffect | Effect::Propagated
                    if [before, after].iter().any(|side| is_read(side, is, &path)) =>
                {
                    Effect::NotKnown
                }
                // Fields have other names in another version.
                effect if is_versioned && is_spec && effect != Effect::NoEffect => Effect::NotKnown,
                Effect::NoEffect if is_of_other_group(&path, [found.from, found.to]) => {
                    Effect::NotKnown
                }
                // What waited is not known.
                Effect::Hold if changes::holds(found.from) && !changes::holds(found.to) => {
                    Effect::NotKnown
                }
                Effect::Hold => Effect::NoEffect,
                Effect::Contents if is_listed(before, found.from) && is_listed(after, found.to) => {
                    Effect::NoEffect
                }
                Effect::Contents => Effect::NotKnown,
                // What refers to it gets what is made of it now.
                _ if !is_in_place && is_spec && is_template => Effect::Rolls,
                _ if !is_in_place && is_spec => Effect::NotKnown,
                // Cluster API makes a new copy of it.
                Effect::InPlace if is.is_copied => Effect::Rolls,
                effect => effect,
            };
            if found.is_secret {
                if is_same_text([&was.object, &is.object], [found.from, found.to]) {
                    return None;
                }
                if !matches!(answer.effect, Effect::Rolls | Effect::NotKnown) {
                    return None;
                }
                answer.effect = Effect::NotKnown;
            }
            Some(ObjectChange {
                pool: is.pool.clone().or_else(|| pool_at(&is.object, &path)),
                object: is,
                from: found.from,
                to: found.to,
                is_secret: found.is_secret,
                answer,
                is_in_place,
                path: found.path,
            })
        }));
    }
    // What refers to an object by its name says itself that it refers to another one.
    let is_known = |name: &ObjectChange<'_>| {
        name.path == NAME && changes.iter().any(|change| follows(change, name))
    };
    let known: Vec<bool> = changes.iter().map(is_known).collect();
    let mut known = known.into_iter();
    changes.retain(|_| known.next() != Some(true));
    // What changes of a cluster or of a pool waits until somebody lets it go on.
    let held = after.objects.iter();
    let held: Vec<&ClusterObject> = held.filter(|it| changes::is_held(&it.object)).collect();
    for change in &mut changes {
        let is_its = |it: &&ClusterObject| {
            &*it.object.kind == "Cluster"
                || it.owns_machines() && it.pool.is_some() && it.pool == change.pool
        };
        if change.answer.effect == Effect::Rolls && held.iter().any(is_its) {
            change.answer.effect = Effect::NoEffect;
        }
    }
    changes
}

/// Whether a change leads from an object's old name to its new one, in a field that reaches machines, of its pool or of the cluster.
fn follows(change: &ObjectChange<'_>, name: &ObjectChange<'_>) -> bool {
    let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
    let reaches = changes::answer(&change.object.object, &path).effect != Effect::NoEffect;
    let pool = change.object.pool.as_ref();
    let is_of_pool = pool.is_none() || pool == name.object.pool.as_ref();
    let is_name = is_same([change.from, name.from]) && is_same([change.to, name.to]);
    reaches && is_of_pool && is_name
}

/// An object that comes or goes under what refers to it.
fn one_sided_change(pair: Pair<'_>) -> Option<ObjectChange<'_>> {
    let [from, to] = pair;
    let object = to.or(from)?;
    Some(ObjectChange {
        pool: object.pool.clone(),
        object,
        path: Vec::new(),
        from: from.map(|from| &from.object.node),
        to: to.map(|to| &to.object.node),
        answer: changes::answer(&object.object, &[]),
        is_secret: false,
        is_in_place: false,
    })
}

/// The built-in variables of patches that hold one field of the Cluster, or one map of it. Any other holds more.
/// <https://cluster-api.sigs.k8s.io/tasks/experimental-features/cluster-class/write-clusterclass#builtin-variables>
const FIELDS: [&str; 8] = [
    "annotations",
    "class",
    "labels",
    "name",
    "namespace",
    "replicas",
    "uid",
    "version",
];

/// Whether a patch of a cluster's class may read a field of the Cluster.
fn is_read(cluster: &Cluster, object: &ClusterObject, path: &[&str]) -> bool {
    let objects = cluster.objects.iter().map(|object| &object.object);
    let classes = objects.filter(|object| &*object.kind == "ClusterClass");
    let mut patches = classes.flat_map(|class| class.node.items(&["spec", "patches"]));
    &*object.object.kind == "Cluster"
        && patches.any(|patch| patch.get_path(&["external"]).is_some() || reads(patch, path))
}

/// Whether a text below a node names a built-in variable that a field is in.
fn reads(node: &Node, path: &[&str]) -> bool {
    let text = node.value.as_str();
    let mut behind = text.iter().flat_map(|text| text.split("builtin").skip(1));
    let has_field = behind.any(|behind| {
        let is_end = |next: char| next != '.' && !next.is_alphanumeric();
        let keys = behind.split(is_end).next().unwrap_or_default();
        let key = keys.rsplit('.').next().unwrap_or_default();
        !FIELDS.contains(&key) || path.contains(&key)
    });
    has_field || node.children().any(|child| reads(child, path))
}

/// Whether a reference leads to another API group, which no other version of the same object does.
fn is_of_other_group(path: &[&str], values: Values<'_>) -> bool {
    let [from, to] = values.map(|node| {
        let text = node.and_then(|node| node.value.as_str())?;
        text.split_once('/').map(|(group, _)| group)
    });
    path.last() == Some(&"apiVersion") && from != to
}

/// Whether a value is one text of two files, which no other file fills in, so that both are the same though nobody shows it.
fn is_same_text(objects: [&ManifestObject; 2], values: Values<'_>) -> bool {
    let is_whole = |object: &&ManifestObject| object.text.is_file() && !object.may_be_filled;
    let text = |side: usize| {
        let spot = objects[side].spot(values[side]?.place)?;
        let text = spot
            .source
            .text
            .get(spot.start as usize..spot.end as usize)?;
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    objects.iter().all(is_whole) && text(0).is_some() && text(0) == text(1)
}

/// Whether a value is the name of an object of a cluster.
fn is_listed(cluster: &Cluster, name: Option<&Node>) -> bool {
    let name = name.and_then(|name| name.value.as_str());
    let mut objects = cluster.objects.iter();
    name.is_some_and(|name| objects.any(|object| object.object.name == *name))
}

/// The node pool that a field of a whole cluster describes.
fn pool_at(object: &ManifestObject, path: &[&str]) -> Option<PoolName> {
    if &*object.kind != "Cluster" {
        return None;
    }
    let worker = match path {
        ["spec", "topology", "controlPlane", ..] | ["spec", "controlPlaneConfiguration", ..] => {
            return Some(PoolName::ControlPlane);
        }
        ["spec", "topology", "workers", _, item, ..]
        | ["spec", "workerNodeGroupConfigurations", item, ..] => item,
        _ => return None,
    };
    let name = worker.strip_prefix('[')?.strip_suffix(']')?;
    Some(PoolName::MachineDeployment(name.into()))
}

/// An object on both sides.
type Pair<'a> = [Option<&'a ClusterObject>; 2];

/// What two objects of one kind and pool have in common, where they are one on both sides.
#[derive(Clone, Copy, PartialEq)]
enum Common {
    /// Their name and their file: two environments may have objects of one name.
    File,
    /// Their name.
    Name,
    /// Nothing but their order, of kinds that are nothing but content.
    Order,
}

/// The objects of both sides, by what they have in common. Of all others, another name is another object.
fn pairs<'a>(before: &'a [ClusterObject], after: &'a [ClusterObject]) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'a>> = after.iter().map(|new| [None, Some(new)]).collect();
    let mut left: Vec<&ClusterObject> = before.iter().collect();
    for common in [Common::File, Common::Name, Common::Order] {
        let is_it = |old: &ClusterObject, new: &ClusterObject| {
            let (one, other) = (&old.object, &new.object);
            let is_kind = one.kind == other.kind && one.group() == other.group();
            let contents = ["Template", "Config", "ClusterClass"];
            let is_content = contents.iter().any(|end| new.object.kind.ends_with(end));
            let is_name = one.name == other.name && one.namespace == other.namespace;
            let is_it = match common {
                Common::File => is_name && one.file().path == other.file().path,
                Common::Name => is_name,
                Common::Order => is_content,
            };
            old.pool == new.pool && is_kind && is_it
        };
        for pair in &mut pairs {
            let [None, Some(new)] = *pair else { continue };
            let found = left.iter().position(|old| is_it(old, new));
            pair[0] = found.map(|found| left.remove(found));
        }
    }
    pairs.extend(left.into_iter().map(|old| [Some(old), None]));
    pairs
}

/// Whether there is the same on both sides: an equal value, or none. Null is a value.
pub fn is_same(values: Values<'_>) -> bool {
    match values {
        [Some(from), Some(to)] => from.value.same(&to.value),
        [from, to] => from.is_none() && to.is_none(),
    }
}

/// Every field that differs, and every secret.
pub fn differences<'n>(old: Option<&'n Node>, new: Option<&'n Node>) -> Vec<Difference<'n>> {
    let mut found = Vec::new();
    compare([old, new], &mut Vec::new(), &mut found);
    found
}

/// A value on both sides.
pub type Values<'n> = [Option<&'n Node>; 2];

fn compare<'n>(values: Values<'n>, path: &mut Vec<String>, found: &mut Vec<Difference<'n>>) {
    // For the API server, null is as good as nothing.
    let values = values.map(|node| node.filter(|node| !node.value.is_null()));
    if let Some(children) = children(values) {
        if another_order(values).is_some() {
            let [from, to] = values;
            found.push(Difference {
                path: path.clone(),
                from,
                to,
                is_secret: false,
            });
        }
        for (part, values) in children {
            path.push(part);
            compare(values, path, found);
            path.pop();
        }
        return;
    }
    let [from, to] = values;
    let is_same = is_same(values);
    let is_secret = is_same && to.is_some_and(|to| to.opaque().is_some());
    if !is_same || is_secret {
        found.push(Difference {
            path: path.clone(),
            from,
            to,
            is_secret,
        });
    }
}

/// The names of the items that two lists share, from the first that has another place among them; none where their order is the same.
/// Named items in another order are another list: Cluster API compares their order.
pub fn another_order(values: Values<'_>) -> Option<[Vec<&str>; 2]> {
    let [from, to] = values.map(|node| names(node?));
    let (mut from, mut to) = (from?, to?);
    let known: BTreeSet<&str> = from.iter().copied().collect();
    to.retain(|name| known.contains(name));
    from.retain(|name| to.contains(name));
    let start = from.iter().zip(&to).position(|(one, other)| one != other)?;
    Some([from, to].map(|names| names[start..].to_vec()))
}

/// What is below both values, where they are compared part by part: the keys of maps, and the items of lists by their names, or
/// in their order.
fn children(values: Values<'_>) -> Option<BTreeMap<String, Values<'_>>> {
    let mut parts: BTreeMap<String, Values<'_>> = BTreeMap::new();
    for (side, node) in values.iter().enumerate() {
        let Some(node) = node else { continue };
        match &node.value {
            Value::Map(map) => {
                for entry in map.iter() {
                    parts.entry(entry.key.to_string()).or_default()[side] = Some(&entry.node);
                }
            }
            Value::List(items) => {
                let names = names(node);
                for (index, item) in items.iter().enumerate() {
                    let part = match &names {
                        Some(names) => format!("[{}]", names[index]),
                        None => format!("[{index}]"),
                    };
                    parts.entry(part).or_default()[side] = Some(item);
                }
            }
            _ => return None,
        }
    }
    let is_map = |node: &Node| matches!(node.value, Value::Map(_));
    let is_one_kind = match values {
        [Some(one), Some(other)] => is_map(one) == is_map(other),
        _ => true,
    };
    (is_one_kind && !parts.is_empty()).then_some(parts)
}

/// The names of a list's items; none where an item has none, or two have the same.
fn names(list: &Node) -> Option<Vec<&str>> {
    let Value::List(items) = &list.value else {
        return None;
    };
    let names: Option<Vec<&str>> = items.iter().map(|item| item.text(&["name"])).collect();
    names.filter(|names| names.iter().collect::<BTreeSet<_>>().len() == items.len())
}
