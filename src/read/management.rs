//! Computes the values that a management cluster passes to its workload clusters at run time, from its own values.
//!
//! Sylva's management cluster evaluates a value of its own and publishes it as an object, which each workload cluster takes for a
//! layer of its values (docs/sylva.md#values-and-their-order). Where both are in one repository, nobody has to give that object
//! as a file.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::Error;
use crate::evaluate::{Branch, Evaluator, Failure, TemplateCache};
use crate::files::{for_all, unrepeatable};
use crate::model::place::{FileId, Place, Source, Sources};
use crate::model::secret;
use crate::model::value::{Entry, Node, Value};
use crate::yaml;

use super::{ClusterEntry, Workspace, release_options};
use crate::read::gitops::RunTime;

/// The objects by kind and name, and the management cluster's value that each holds under [`KEY`].
const OBJECTS: [(&str, &str, &str); 3] = [
    (
        "ConfigMap",
        "mgmt-cluster-state-values",
        "mgmt_cluster_state_values",
    ),
    // Up to 2025-03.
    (
        "ConfigMap",
        "shared-workload-clusters-settings",
        "shared_workload_clusters_values",
    ),
    (
        "Secret",
        "shared-workload-clusters-settings",
        "shared_workload_clusters_secret_values",
    ),
];

/// The key of the objects.
const KEY: &str = "values";

/// Whether a management cluster makes this object.
pub(super) fn is_provided(kind: &str, name: &str) -> bool {
    object(kind, name).is_some()
}

fn object(kind: &str, name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    OBJECTS
        .iter()
        .find(|object| object.0 == kind && object.1 == name)
}

/// How far the management cluster's value is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    /// Not at all: every expression fails, which shows whether it is needed.
    Needed,
    /// Completely. A value that cannot be evaluated fails where it is needed.
    Whole,
}

/// What was worked out so far, each object of each management cluster once.
#[derive(Default)]
pub(super) struct Management {
    /// The only cluster that receives nothing itself, once it was needed.
    only: OnceLock<Option<Arc<str>>>,
    provided: Mutex<BTreeMap<ValueKey, Provided>>,
}

/// What a management cluster passes under a value's name.
#[derive(Clone, Default)]
struct Provided {
    /// Nothing where it has no such value.
    values: Option<Arc<Values>>,
    /// Whether evaluating it made a secret, which is to be hidden in all that is printed.
    is_secret: bool,
}

/// Management cluster, value and depth.
type ValueKey = (Arc<str>, &'static str, Depth);

/// A tree and the files that its places point into.
struct Values {
    tree: Node,
    files: HashMap<FileId, Arc<Source>>,
}

/// What one cluster receives.
pub(super) struct State<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) entry: &'w ClusterEntry,
    pub(super) templates: &'w TemplateCache,
    pub(super) depth: Depth,
    /// Whether anything was requested and known.
    pub(super) is_used: Cell<bool>,
}

impl RunTime for State<'_> {
    fn values(
        &self,
        kind: &str,
        name: &str,
        key: &str,
        sources: &mut Sources,
    ) -> Result<Option<Node>, Error> {
        let Some((kind, _, value)) = object(kind, name).filter(|_| key == KEY) else {
            return Ok(None);
        };
        if self.workspace.shard.is_some() {
            // The management cluster, and the secrets in its files, may be read for this cluster alone.
            unrepeatable();
        }
        let Some(management) = self.management() else {
            return Ok(None);
        };
        let management_name = Arc::clone(&management.name);
        let provided = &self.workspace.management.provided;
        let mut provided = provided.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match provided.get(&(Arc::clone(&management_name), *value, self.depth)) {
            Some(known) => known.clone(),
            None => {
                let worked_out = for_all(|| self.work_out(management, value, *kind == "Secret"))?;
                provided.insert((management_name, value, self.depth), worked_out.clone());
                worked_out
            }
        };
        drop(provided);
        if known.is_secret {
            unrepeatable();
        }
        Ok(known.values.map(|values| {
            self.is_used.set(true);
            let ids = values
                .files
                .iter()
                .map(|(id, source)| (*id, sources.adopt(source)));
            moved(&values.tree, &ids.collect())
        }))
    }
}

impl State<'_> {
    /// The management cluster of this one: the one that its entry names, else the only one that there is.
    fn management(&self) -> Option<&ClusterEntry> {
        let only = || {
            let only = &self.workspace.management.only;
            only.get_or_init(|| for_all(|| only_management(self.workspace)))
                .clone()
        };
        let name = self.entry.management.clone().or_else(only)?;
        let mut entries = self.workspace.clusters.iter();
        entries.find(|entry| entry.name == name && entry.name != self.entry.name)
    }

    fn work_out(
        &self,
        management: &ClusterEntry,
        value: &str,
        is_secret: bool,
    ) -> Result<Provided, Error> {
        let shared = &self.workspace.shared;
        let own = shared.with(&management.layers, &Nothing::default())?;
        let Some(raw) = own.values.at(&[value]) else {
            return Ok(Provided::default());
        };
        let lessons = secret::lessons();
        let options = release_options::of(self.workspace, management, &own);
        let evaluator = Evaluator::guarded(&own.values, &options, self.templates, &own.sources);
        let provider = Provider {
            management: &management.name,
            depth: self.depth,
        };
        let tree = match evaluator.root().child(value) {
            Ok(Some(branch)) => provider.tree(raw, &branch),
            Ok(None) => None,
            Err(failure) => Some(provider.failing(raw, value, &failure)),
        };
        let values = tree.map(|tree| {
            let mut files = HashMap::new();
            gather(&tree, &own.sources, &mut files);
            if is_secret {
                hide(&tree, &mut files);
            }
            Arc::new(Values { tree, files })
        });
        Ok(Provided {
            values,
            is_secret: is_secret || secret::lessons() != lessons,
        })
    }
}

/// The name of the cluster that receives nothing itself and has something to give; none where there are several.
fn only_management(workspace: &Workspace) -> Option<Arc<str>> {
    let is_management = |entry: &&ClusterEntry| {
        let recorder = Nothing::default();
        let own = workspace.shared.with(&entry.layers, &recorder);
        let provides = own.is_ok_and(|own| {
            let has = |object: &(&str, &str, &str)| own.values.at(&[object.2]).is_some();
            own.release.is_some() && OBJECTS.iter().any(has)
        });
        provides && !recorder.is_queried.get()
    };
    let candidates = workspace.clusters.iter();
    let mut candidates = candidates
        .filter(|entry| {
            entry
                .management
                .as_ref()
                .is_none_or(|name| *name == entry.name)
        })
        .filter(is_management);
    let only = candidates.next()?;
    match candidates.next() {
        None => Some(Arc::clone(&only.name)),
        Some(_) => None,
    }
}

/// Gives nothing, and records whether it was queried.
#[derive(Default)]
pub(super) struct Nothing {
    is_queried: Cell<bool>,
}

impl RunTime for Nothing {
    fn values(
        &self,
        kind: &str,
        name: &str,
        _: &str,
        _: &mut Sources,
    ) -> Result<Option<Node>, Error> {
        self.is_queried
            .set(self.is_queried.get() || is_provided(kind, name));
        Ok(None)
    }
}

/// Writes the value as the object would hold it.
struct Provider<'a> {
    management: &'a str,
    depth: Depth,
}

impl Provider<'_> {
    /// The value, evaluated as far as wanted; none where an expression leaves it out.
    fn tree(&self, raw: &Node, branch: &Branch) -> Option<Node> {
        if raw.is_literal() {
            return Some(raw.clone());
        }
        if let Value::Map(map) = &raw.value {
            return Some(match branch.entries() {
                Err(failure) => self.failing(raw, &branch.path(), &failure),
                Ok(entries) => {
                    let unknown = Node::computed(Value::Null);
                    let entries = entries.unwrap_or_default().into_iter();
                    let provided = entries.filter_map(|entry| {
                        let node = match map.get(&entry.key) {
                            Some(raw) => self.tree(raw, &entry.branch),
                            // An expression made the key.
                            None => self.value(&unknown, &entry.branch),
                        };
                        Some(Entry {
                            key: entry.key,
                            key_place: entry.key_place,
                            node: node?,
                        })
                    });
                    Node {
                        value: Value::Map(Arc::new(provided.collect())),
                        place: raw.place,
                    }
                }
            });
        }
        self.value(raw, branch)
    }

    fn value(&self, raw: &Node, branch: &Branch) -> Option<Node> {
        if self.depth == Depth::Needed {
            return Some(fails(raw, "it is not evaluated yet"));
        }
        match branch.node() {
            Ok(node) => node,
            Err(failure) => Some(self.failing(raw, &branch.path(), &failure)),
        }
    }

    /// A value that reports why there is none, where it is needed.
    fn failing(&self, raw: &Node, path: &str, failure: &Failure) -> Node {
        let management = self.management;
        let message = format!("`{path}` of the management cluster `{management}` fails: {failure}");
        fails(raw, &message)
    }
}

/// A value whose expression fails with this message.
fn fails(raw: &Node, message: &str) -> Node {
    Node {
        value: Value::from(format!("{{{{ fail {message:?} }}}}")),
        place: raw.place,
    }
}

/// Marks the values of a tree as secrets of their files.
fn hide(tree: &Node, files: &mut HashMap<FileId, Arc<Source>>) {
    let mut found: HashMap<FileId, Vec<Range<u32>>> = HashMap::new();
    yaml::scalars(tree, &mut |place| {
        let ranges = found.entry(place.file).or_default();
        ranges.push(place.start..place.end);
    });
    for (file, ranges) in found {
        if let Some(source) = files.get_mut(&file) {
            *source = Arc::new(source.with_secrets(ranges.into_iter().collect()));
        }
    }
}

/// The files that a tree's places point into.
fn gather(node: &Node, sources: &Sources, files: &mut HashMap<FileId, Arc<Source>>) {
    let mut add = |place: Place| {
        if let (false, Some(source)) = (files.contains_key(&place.file), sources.get(place.file)) {
            files.insert(place.file, Arc::clone(source));
        }
    };
    add(node.place);
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter() {
                add(entry.key_place);
            }
            for entry in map.iter() {
                gather(&entry.node, sources, files);
            }
        }
        Value::List(items) => {
            for item in items.iter() {
                gather(item, sources, files);
            }
        }
        _ => {}
    }
}

/// The same tree with its files' numbers as another cluster has them.
fn moved(node: &Node, ids: &HashMap<FileId, FileId>) -> Node {
    let place = |place: Place| Place {
        file: ids.get(&place.file).copied().unwrap_or(place.file),
        ..place
    };
    let value = match &node.value {
        Value::Map(map) => Value::Map(Arc::new(
            map.iter()
                .map(|entry| Entry {
                    key: Arc::clone(&entry.key),
                    key_place: place(entry.key_place),
                    node: moved(&entry.node, ids),
                })
                .collect(),
        )),
        Value::List(items) => Value::from(
            items
                .iter()
                .map(|item| moved(item, ids))
                .collect::<Vec<_>>(),
        ),
        other => other.clone(),
    };
    Node {
        value,
        place: place(node.place),
    }
}
