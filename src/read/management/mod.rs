//! Computes the values that a management cluster passes to its workload clusters at run time, from its own values.
//!
//! Sylva's management cluster evaluates a value of its own and publishes it as an object, which each workload cluster takes for a
//! layer of its values (docs/sylva.md#values-and-their-order). Where both are in one repository, nobody has to give that object
//! as a file.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use yaml_tree::place::{FileId, Place, Source, Sources};
use yaml_tree::value::{Entry, Node, Value};

use crate::error::Error;
use crate::evaluate::{Branch, Evaluator, Failure, TemplateCache};

use super::{ClusterEntry, Workspace, release_options};
use crate::read::gitops::RunTime;
use capi::secrets;

/// An object that a management cluster makes of a value of its own.
struct Published {
    kind: &'static str,
    name: &'static str,
    /// The key of the value.
    value: &'static str,
}

const PUBLISHED: [Published; 3] = [
    Published {
        kind: "ConfigMap",
        name: "mgmt-cluster-state-values",
        value: "mgmt_cluster_state_values",
    },
    // Up to 2025-03.
    Published {
        kind: "ConfigMap",
        name: "shared-workload-clusters-settings",
        value: "shared_workload_clusters_values",
    },
    Published {
        kind: "Secret",
        name: "shared-workload-clusters-settings",
        value: "shared_workload_clusters_secret_values",
    },
];

/// The key of each object that holds the value.
const KEY: &str = "values";

/// Whether a management cluster makes this object.
pub(super) fn is_provided(kind: &str, name: &str) -> bool {
    find_published(kind, name).is_some()
}

fn find_published(kind: &str, name: &str) -> Option<&'static Published> {
    let mut known = PUBLISHED.iter();
    known.find(|object| object.kind == kind && object.name == name)
}

/// What is known of management clusters, each object of each once.
#[derive(Default)]
pub(super) struct Management {
    /// The only cluster that receives nothing itself, once it was needed.
    only: OnceLock<Option<Arc<str>>>,
    /// What each passes under a value's name; nothing where it has no such value.
    provided: Mutex<BTreeMap<ValueKey, Option<Arc<Values>>>>,
}

/// Management cluster, value and depth.
type ValueKey = (Arc<str>, &'static str, Depth);

/// A tree and the files that its places point into.
struct Values {
    tree: Node,
    files: BTreeMap<FileId, Arc<Source>>,
}

/// What one cluster receives.
pub(super) struct State<'w> {
    pub(super) workspace: &'w Workspace,
    pub(super) entry: &'w ClusterEntry,
    pub(super) templates: &'w TemplateCache,
    depth: Depth,
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
        let Some(object) = find_published(kind, name).filter(|_| key == KEY) else {
            return Ok(None);
        };
        let Some(management) = self.management() else {
            return Ok(None);
        };
        let key = (Arc::clone(&management.name), object.value, self.depth);
        let provided = &self.workspace.management.provided;
        let mut provided = provided.lock();
        let known = match provided.get(&key) {
            Some(known) => known.clone(),
            None => {
                let new = self.publish(management, object)?;
                provided.insert(key, new.clone());
                new
            }
        };
        drop(provided);
        Ok(known.map(|values| {
            self.is_used.set(true);
            let files = values.files.iter();
            let files: BTreeMap<_, _> = files
                .map(|(file, source)| (*file, sources.adopt(source)))
                .collect();
            values.tree.with_places(&mut |place| Place {
                file: files.get(&place.file).copied().unwrap_or(place.file),
                ..place
            })
        }))
    }
}

impl<'w> State<'w> {
    /// What this cluster receives, nothing of it requested yet.
    pub(super) fn new(
        workspace: &'w Workspace,
        entry: &'w ClusterEntry,
        templates: &'w TemplateCache,
        depth: Depth,
    ) -> Self {
        Self {
            workspace,
            entry,
            templates,
            depth,
            is_used: Cell::new(false),
        }
    }

    /// The management cluster of this one: the one that its entry names, else the only one that there is.
    fn management(&self) -> Option<&ClusterEntry> {
        let only = || {
            let only = &self.workspace.management.only;
            only.get_or_init(|| only_management(self.workspace)).clone()
        };
        let name = self.entry.management.clone().or_else(only)?;
        let mut entries = self.workspace.clusters.iter();
        entries.find(|entry| entry.name == name && entry.name != self.entry.name)
    }

    /// What the object holds.
    fn publish(
        &self,
        management: &ClusterEntry,
        object: &Published,
    ) -> Result<Option<Arc<Values>>, Error> {
        let (value, is_secret) = (object.value, object.kind == "Secret");
        let own = self.workspace.shared.with_layers(management, None)?;
        let Some(raw) = own.values.get_path(&[value]) else {
            return Ok(None);
        };
        let options = release_options::for_cluster(self.workspace, management, &own);
        let evaluator = Evaluator::new(&own.values, &options, self.templates);
        let provider = Provider {
            management: &management.name,
            depth: self.depth,
        };
        let tree = match evaluator.root().child(value) {
            Ok(Some(branch)) => provider.tree(raw, &branch),
            Ok(None) => None,
            Err(failure) => Some(provider.failing(raw, value, &failure)),
        };
        Ok(tree.map(|tree| {
            let mut tree = tree;
            let mut files = BTreeMap::new();
            tree.each_place(&mut |place| {
                let source = own.sources.get(place.file).map(Arc::clone);
                files.extend(source.map(|source| (place.file, source)));
            });
            if is_secret {
                let file = files.values().next().map_or("", |source| &source.path);
                secrets::seal(&mut tree, file, value);
            }
            Arc::new(Values { tree, files })
        }))
    }
}

/// The name of the cluster that receives nothing itself and has something to give; none where there are several.
fn only_management(workspace: &Workspace) -> Option<Arc<str>> {
    let is_management = |entry: &&ClusterEntry| {
        let queries = Queries::default();
        let own = workspace.shared.with_layers(entry, Some(&queries));
        let provides = own.is_ok_and(|own| {
            let has = |object: &Published| own.values.get_path(&[object.value]).is_some();
            own.release.is_some() && PUBLISHED.iter().any(has)
        });
        provides && !queries.are_any.get()
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

/// Gives nothing, and records whether an object of a management cluster was requested.
#[derive(Default)]
struct Queries {
    are_any: Cell<bool>,
}

impl RunTime for Queries {
    fn values(
        &self,
        kind: &str,
        name: &str,
        _: &str,
        _: &mut Sources,
    ) -> Result<Option<Node>, Error> {
        self.are_any
            .set(self.are_any.get() || is_provided(kind, name));
        Ok(None)
    }
}

/// How far the management cluster's value is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::read) enum Depth {
    /// Not at all: each expression is replaced by one that fails, which shows whether it is needed.
    Placeholders,
    /// Completely. A value that cannot be evaluated fails where it is needed.
    Evaluated,
}

/// Writes the values of a management cluster.
struct Provider<'a> {
    /// The cluster's name.
    management: &'a str,
    /// How far the values are evaluated.
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
                    let unknown = Node::from_value(Value::Null);
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
                    Node::new(Value::Map(Arc::new(provided.collect())), raw.place)
                }
            });
        }
        self.value(raw, branch)
    }

    fn value(&self, raw: &Node, branch: &Branch) -> Option<Node> {
        if self.depth == Depth::Placeholders {
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
    Node::new(format!("{{{{ fail {message:?} }}}}"), raw.place)
}
