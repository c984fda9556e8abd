//! What becomes of a cluster by what deploys its objects: nothing deploys it any more, something else does, or what deploys it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use capi::changes::{self, Effect};
use capi::objects::ManifestObject;
use parking_lot::Mutex;
use yaml_tree::value::Entry;

use crate::decide::object_changes::differences;
use crate::error::Error;
use crate::model::cluster::{ClusterObject, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::read::{ClusterEntry, Deliverer, Delivery, is_held};
use crate::report::impact::{FieldChange, Force, Rollout};

/// What deploys the files of both sides.
pub(super) struct Deliveries {
    pub(super) before: Delivery,
    pub(super) after: Delivery,
    /// What objects that are not known are made of, by the side and the file that declares them.
    inputs: Mutex<KnownInputs>,
}

/// What objects are made of, by the side and the file.
type KnownInputs = BTreeMap<(bool, Arc<str>), Arc<Inputs>>;

/// Digests of files.
type Inputs = BTreeMap<PathBuf, Vec<u8>>;

/// A cluster on one side.
#[derive(Clone, Copy)]
pub(super) struct Delivered<'a> {
    pub(super) entry: &'a ClusterEntry,
    pub(super) view: &'a ClusterView,
}

/// What becomes of a cluster.
#[derive(Default)]
pub(super) struct DeliveryChange {
    /// Whether all of it is deleted.
    pub(super) is_deleted: bool,
    pub(super) changes: Vec<FieldChange>,
    /// The pools whose machines' object is not in the cluster any more, and what leaves it as it is.
    pub(super) kept: BTreeMap<PoolName, FieldChange>,
    /// The objects, as `Kind/name`, that are deleted and made again, and by which changes.
    pub(super) forced: BTreeMap<String, Force>,
}

/// What deploys one thing, before and after.
struct Deliverers<'d> {
    before: Vec<&'d Deliverer>,
    after: Vec<&'d Deliverer>,
}

/// The titles of what deploys one thing.
struct Titles {
    before: BTreeSet<String>,
    after: BTreeSet<String>,
}

impl Titles {
    /// Whether none is on both sides, and there are some.
    fn are_others(&self) -> bool {
        let count = self.before.len() + self.after.len();
        count > 0 && self.before.is_disjoint(&self.after)
    }
}

impl Deliveries {
    pub(super) fn new(before: Delivery, after: Delivery) -> Self {
        Self {
            before,
            after,
            inputs: Mutex::default(),
        }
    }

    /// What becomes of a cluster that is on both sides.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn compare(
        &self,
        was: Delivered<'_>,
        is: Delivered<'_>,
    ) -> Result<DeliveryChange, Error> {
        let mut found = Found::default();
        for old in &was.view.cluster.objects {
            let is_it = |new: &&ClusterObject| {
                let (one, other) = (&old.object, &new.object);
                let is_kind = one.kind == other.kind && one.group() == other.group();
                let is_name = one.name == other.name && one.namespace == other.namespace;
                old.pool == new.pool && is_kind && is_name
            };
            let Some(new) = is.view.cluster.objects.iter().find(is_it) else {
                found.is_kept = true;
                let pool = old.pool.as_ref().filter(|_| old.owns_machines());
                if let Some((pool, keeper)) = pool.zip(self.find_keeper(&old.object)) {
                    found.kept.insert(pool.clone(), keeper);
                }
                continue;
            };
            let (old, new) = (&old.object, &new.object);
            let both = Deliverers {
                before: self.before.find_for_object(old),
                after: self.after.find_for_object(new),
            };
            if let Some(force) = find_force([old, new], &both.after) {
                let title = format!("{}/{}", new.kind, new.name);
                found.forced.insert(title, force);
            }
            let is_left = old.text.is_build() && !new.text.is_build();
            self.compare_deliverers(&both, is_left, is_kept(old), &mut found);
            if old.unknown.is_some() || new.unknown.is_some() {
                let change = self.compare_inputs(old, new)?;
                change.into_iter().for_each(|change| found.add(change));
            }
        }
        // What values make is no object yet; the folder is deployed that composes them.
        if let (Some(old), Some(new)) = (was.entry.layers.last(), is.entry.layers.last()) {
            let (old, new) = (self.before.path(old), self.after.path(new));
            let both = Deliverers {
                before: self.before.find_for_path(&old),
                after: self.after.find_for_path(&new),
            };
            self.compare_deliverers(&both, false, false, &mut found);
            let declared = self.before.find_declared(&old);
            self.compare_fields(declared, &mut found);
        }
        let Found {
            changes,
            deleted,
            is_kept,
            kept,
            forced,
            ..
        } = found;
        Ok(DeliveryChange {
            is_deleted: deleted > 0 && !is_kept,
            changes,
            kept,
            forced,
        })
    }

    /// What leaves an object as it is whose file has it no longer; none where that deletes it, as where nothing deployed it.
    pub(super) fn find_keeper(&self, object: &ManifestObject) -> Option<FieldChange> {
        let deployed = self.before.find_for_object(object);
        let is_deleted = !is_kept(object) && self.deletes(&deployed, &[]);
        let titles: BTreeSet<String> = deployed.iter().map(|one| one.title.clone()).collect();
        (!titles.is_empty() && !is_deleted)
            .then(|| FieldChange::not_known("deployed by", &names(&titles), NOTHING))
    }

    /// The titles of those that deploy something and are deployed themselves.
    fn titles(&self, both: &Deliverers<'_>) -> Titles {
        Titles {
            before: live(&self.before, &self.after, &both.before, &[]),
            after: live(&self.after, &self.before, &both.after, &[]),
        }
    }

    /// Adds what becomes of one thing. `is_left` means that no kustomization names it any more, and `is_kept` that it is not deleted.
    fn compare_deliverers<'d>(
        &'d self,
        both: &Deliverers<'d>,
        is_left: bool,
        is_kept: bool,
        found: &mut Found,
    ) {
        let titles = self.titles(both);
        let mut is_deleted = false;
        if titles.are_others() {
            is_deleted = titles.after.is_empty() && !is_kept && self.deletes(&both.before, &[]);
            found.add_move(&names(&titles.before), &names(&titles.after));
        } else if titles.before.is_empty() && is_left {
            found.add_move("a kustomization", NOTHING);
        }
        if is_deleted {
            found.deleted += 1;
        } else {
            found.is_kept = true;
        }
        self.compare_fields(both.before.clone(), found);
    }

    /// Adds what changes of those that deploy something on both sides, and of what deploys them.
    fn compare_fields<'d>(&'d self, mut open: Vec<&'d Deliverer>, found: &mut Found) {
        while let Some(old) = open.pop() {
            if !found.known.insert(old.title.clone()) {
                continue;
            }
            open.extend(self.before.find_above(old));
            let Some(new) = self.after.find(&old.title) else {
                continue;
            };
            let titles = self.titles(&Deliverers {
                before: self.before.find_above(old),
                after: self.after.find_above(new),
            });
            if titles.are_others() {
                found.add_move(&names(&titles.before), &names(&titles.after));
            }
            add_fields(&old.title, [&old.object, &new.object], found);
            let sources = [self.before.source(old), self.after.source(new)];
            match sources {
                [Some(was), Some(is)] => {
                    add_fields(&format!("{}/{}", is.kind, is.name), [was, is], found);
                }
                [None, None] => {}
                [was, _] => {
                    let [from, to] = match was {
                        Some(_) => ["a source", NOTHING],
                        None => [NOTHING, "a source"],
                    };
                    found.add(FieldChange::not_known(&old.title, from, to));
                }
            }
        }
    }

    /// Whether all of these delete what they deployed: those that are left by themselves, the others with what they deploy. `below` are
    /// those that these deploy.
    fn deletes(&self, deliverers: &[&Deliverer], below: &[&str]) -> bool {
        let deletes = |one: &&Deliverer| match self.after.find(&one.title) {
            Some(now) if !live(&self.after, &self.before, &[now], &[]).is_empty() => {
                let is_left = || self.after.has_objects(now);
                let is_seen = !self.after.unseen().contains_key(&now.title);
                now.prunes && !now.is_held() && is_seen && (now.empties || is_left())
            }
            _ if below.contains(&&*one.title) => false,
            _ => {
                let below = [below, &[&*one.title]].concat();
                one.cascades && self.deletes(&self.before.find_above(one), &below)
            }
        };
        !deliverers.is_empty() && deliverers.iter().all(deletes)
    }

    /// What changes of an object that is not known on one of both sides.
    fn compare_inputs(
        &self,
        old: &ManifestObject,
        new: &ManifestObject,
    ) -> Result<Option<FieldChange>, Error> {
        let change = FieldChange::from_files(old.unknown, new.unknown);
        if old.unknown != new.unknown {
            return Ok(Some(change));
        }
        let (was, is) = (self.inputs(old, false)?, self.inputs(new, true)?);
        let mut paths = was.keys().chain(is.keys());
        let other = paths.find(|path| was.get(*path) != is.get(*path));
        Ok(other.map(|path| FieldChange {
            to: Some(format!("another `{}`", path.display())),
            ..change
        }))
    }

    fn inputs(&self, object: &ManifestObject, is_after: bool) -> Result<Arc<Inputs>, Error> {
        let key = (is_after, Arc::clone(&object.file().path));
        if let Some(known) = self.inputs.lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let side = if is_after { &self.after } else { &self.before };
        let read = Arc::new(side.inputs(object)?);
        self.inputs.lock().insert(key, Arc::clone(&read));
        Ok(read)
    }
}

/// What deploys nothing.
const NOTHING: &str = "nothing";

/// What is found of a cluster until now.
#[derive(Default)]
struct Found {
    changes: Vec<FieldChange>,
    /// The titles of those whose fields are compared.
    known: BTreeSet<String>,
    /// How many things are deleted.
    deleted: usize,
    /// Whether anything is not.
    is_kept: bool,
    kept: BTreeMap<PoolName, FieldChange>,
    forced: BTreeMap<String, Force>,
}

impl Found {
    /// Adds a change, once.
    fn add(&mut self, change: FieldChange) {
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn add_move(&mut self, from: &str, to: &str) {
        self.add(FieldChange::not_known("deployed by", from, to));
    }
}

/// The titles of those that are deployed themselves, as far as the other side says that they were to be. `below` are those that these
/// deploy.
fn live(
    own: &Delivery,
    other: &Delivery,
    deliverers: &[&Deliverer],
    below: &[&str],
) -> BTreeSet<String> {
    let is_live = |one: &&&Deliverer| {
        let was = other.find(&one.title).map(|was| other.find_above(was));
        let below_it = [below, &[&*one.title]].concat();
        below.contains(&&*one.title)
            || was.is_none_or(|was| was.is_empty())
            || !live(own, other, &own.find_above(one), &below_it).is_empty()
    };
    let live = deliverers.iter().filter(is_live);
    live.map(|one| one.title.clone()).collect()
}

fn names(titles: &BTreeSet<String>) -> String {
    if titles.is_empty() {
        return NOTHING.to_owned();
    }
    titles.iter().cloned().collect::<Vec<String>>().join(", ")
}

/// Adds what changes of an object that deploys others, but for what it deploys: that is compared as it is built.
fn add_fields(title: &str, both: [&ManifestObject; 2], found: &mut Found) {
    let [old, new] = both;
    for difference in differences(Some(&old.node), Some(&new.node)) {
        let path: Vec<&str> = difference.path.iter().map(String::as_str).collect();
        let rollout = match changes::answer(new, &path).effect {
            Effect::NoEffect | Effect::Contents => continue,
            Effect::Hold if is_held(old) == is_held(new) => continue,
            Effect::Hold if is_held(new) => None,
            _ => Some(Rollout::Unknown),
        };
        let change = FieldChange::from_difference(title, &difference, rollout);
        found.add(change);
    }
}

/// Which changes delete an object and make it again. Flux finds its mark in any case, on the object as it is in the cluster too
/// (<https://fluxcd.io/flux/components/kustomize/kustomizations/#force>); Argo CD replaces by deleting where both options are there
/// (<https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#force-sync>).
fn find_force(both: [&ManifestObject; 2], deliverers: &[&Deliverer]) -> Option<Force> {
    let marks = both.into_iter().flat_map(marks).filter_map(|mark| {
        let text = mark.node.text(&[]).unwrap_or_default();
        match &*mark.key {
            "kustomize.toolkit.fluxcd.io/force" if text.eq_ignore_ascii_case("enabled") => {
                Some(Force::WhatIsRefused)
            }
            "argocd.argoproj.io/sync-options" if text.contains("Force=true") => {
                Some(if text.contains("Replace=true") {
                    Force::EachChange
                } else {
                    Force::WhatIsRefused
                })
            }
            _ => None,
        }
    });
    let mut deliverers = deliverers.iter();
    let is_of_all = deliverers.any(|one| one.object.node.flag(&["spec", "force"]));
    marks.max().max(is_of_all.then_some(Force::WhatIsRefused))
}

/// The labels and annotations of an object.
fn marks(object: &ManifestObject) -> impl Iterator<Item = &Entry> {
    let fields = ["labels", "annotations"].into_iter();
    fields.flat_map(|field| object.node.entries(&["metadata", field]))
}

/// Whether an object says that it is not deleted.
fn is_kept(object: &ManifestObject) -> bool {
    marks(object).any(|mark| {
        let text = mark.node.text(&[]).unwrap_or_default();
        match &*mark.key {
            "kustomize.toolkit.fluxcd.io/prune" => text.eq_ignore_ascii_case("disabled"),
            "argocd.argoproj.io/sync-options" => {
                text.contains("Prune=") || text.contains("Delete=")
            }
            "helm.sh/resource-policy" => text == "keep",
            _ => false,
        }
    })
}
