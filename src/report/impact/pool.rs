//! Computes the impact of a change on the machines of one node pool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::changes::{Effect, is_hosted};
use capi::image::{Fact, Image, Origin, fact};
use capi::objects::ManifestObject;
use capi::providers::{self, Kind, NamedBy, Stamp, Template, image_fields};
use capi::unknown::Unknown;
use serde::Serialize;
use yaml_tree::json::{Html, to_json};
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::Located;
use yaml_tree::value::{Entry, Map, Node};

use super::ImpactKind;
use super::field::{FieldChange, Rollout, shorten};
use crate::decide::object_changes::{ObjectChange, differences, object_changes};
use crate::model::cluster::{Choice, Cluster, ClusterOrigin, Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::judgment::Grade;
use crate::model::version::Version;
use crate::rules::{ChangeInput, Side};

/// An object whose machines are those of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// `Kind/name`.
    pub(super) title: String,
    namespace: Arc<str>,
}

impl Owner {
    fn new(object: &ManifestObject) -> Self {
        Self {
            title: format!("{}/{}", object.kind, object.name),
            namespace: Arc::clone(&object.namespace),
        }
    }

    /// Those of a cluster.
    pub fn all(cluster: &Cluster) -> impl Iterator<Item = Self> {
        let objects = { cluster.objects.iter() }.filter(|one| one.pool.is_some());
        let owners = objects.filter(|one| one.owns_machines());
        owners.map(|one| Self::new(&one.object))
    }
}

/// Which changes of an object delete it, and make it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Force {
    /// Those that a webhook refuses.
    WhatIsRefused,
    /// Each one.
    EachChange,
}

/// What happens to one node pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolChange {
    /// `control-plane` or the machine deployment; [`WHOLE`] of what no single pool has.
    pub pool: String,
    /// What happens.
    pub change: ImpactKind,
    /// The image that its machines boot, where that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Edit<Booted>>,
    /// Its Kubernetes version, where that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Edit<Arc<str>>>,
    /// The provider's API that its machine template is of, where that changes: `Metal3MachineTemplate v1beta1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Edit<String>>,
    /// How many machines it has, where that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Edit<u32>>,
    /// The machines that are replaced; those of a pool that is new or gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<Machines>,
    /// How its existing machines get the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// Whether the image fits after the change; none of a pool that is gone.
    pub judgment: Option<Grade>,
    /// Why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Cause>,
    /// The Kubernetes minors that an upgrade of the control plane leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The fields of its objects that change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FieldChange>,
    /// Of a pool that comes or goes, the object whose machines these are.
    #[serde(skip)]
    pub(super) owner: Option<Owner>,
    /// Of a pool that goes, what leaves that object as it is, if it is nowhere else.
    #[serde(skip)]
    pub(super) keeper: Option<FieldChange>,
}

/// The name instead of a node pool's where a change concerns all of them, or none alone.
pub const WHOLE: &str = "whole cluster";

impl PoolChange {
    fn new(pool: String, change: ImpactKind) -> Self {
        Self {
            pool,
            change,
            image: None,
            kubernetes: None,
            provider: None,
            replicas: None,
            machines: None,
            rollout: None,
            judgment: None,
            because: Vec::new(),
            skipped: Vec::new(),
            changes: Vec::new(),
            owner: None,
            keeper: None,
        }
    }

    /// Where objects, as `Kind/name`, are deleted and made again, nobody knows what becomes of their machines.
    pub fn doubt_forced(&mut self, forced: &BTreeMap<String, Force>) {
        for field in &mut self.changes {
            let is_remade = match forced.get(&field.object) {
                Some(Force::EachChange) => true,
                Some(Force::WhatIsRefused) => field.rollout == Some(Rollout::Refused),
                None => false,
            };
            if is_remade {
                field.rollout = field.rollout.max(Some(Rollout::Unknown));
                self.rollout = self.rollout.max(field.rollout);
            }
        }
    }

    /// The existing machines that are replaced; none where none is.
    pub fn machines_to_roll(&self) -> Option<Machines> {
        let rolls = self.change == ImpactKind::Changed && self.rollout == Some(Rollout::Roll);
        rolls.then(|| self.machines.unwrap_or(Machines::All))
    }

    /// Whether a field of what is called `object` is among those that change.
    pub(super) fn has_field(&self, object: &str) -> bool {
        self.changes.iter().any(|field| field.object == object)
    }

    /// How many machines another number of replicas deletes, and how many it adds.
    pub(super) fn scaling(&self) -> [u32; 2] {
        match self.replicas {
            Some(Edit {
                from: Some(from),
                to: Some(to),
            }) => [from.saturating_sub(to), to.saturating_sub(from)],
            _ => [0, 0],
        }
    }
}

/// From one value to another; none where there is or was none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit<T> {
    /// Before.
    pub from: Option<T>,
    /// After.
    pub to: Option<T>,
}

impl<T> Edit<T> {
    fn new(from: Option<T>, to: Option<T>) -> Self {
        Self { from, to }
    }

    /// From what one says to what another says; none where that is the same, or one side is not known.
    pub(super) fn join(from: Option<&Self>, to: Option<&Self>) -> Option<Self>
    where
        T: Clone + PartialEq,
    {
        let edit = Self::new(from?.from.clone(), to?.to.clone());
        (edit.from != edit.to).then_some(edit)
    }

    fn map<U>(&self, value: impl Fn(&T) -> U) -> Edit<U> {
        Edit::new(self.from.as_ref().map(&value), self.to.as_ref().map(&value))
    }
}

/// An image as a machine boots it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Booted {
    /// Its key; none where the values give the URL themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Arc<str>>,
    /// The artifact's reference, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<Arc<str>>,
    /// Where machines fetch it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Arc<str>>,
    /// The name that its provider knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// The checksum that is stamped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Arc<str>>,
    /// Its record says where the provider's own store has it, so that no machine fetches the artifact.
    #[serde(skip)]
    pub is_stored: bool,
}

impl Booted {
    /// What the stamp of a pool makes its machines boot: what its machine template says of it, or the stamp where none is made.
    pub fn from_stamp(view: &ClusterView, pool: &Pool, stamp: &Stamp) -> Self {
        let template = MadeTemplate::make(&view.cluster, pool, Some(stamp), None);
        let image = stamp.key.as_ref().and_then(|key| view.images.get(key));
        let uri = image.and_then(|image| image.uri.as_ref());
        let is_stored = template.as_ref().zip(image);
        let is_stored = is_stored.is_some_and(|(template, image)| template.is_stored(image));
        let booted = template.and_then(|template| template.image());
        let booted = booted.unwrap_or_else(|| Self {
            url: Some(Arc::clone(&stamp.url)),
            checksum: stamp.checksum.clone(),
            ..Self::default()
        });
        Self {
            key: stamp.key.clone(),
            uri: uri.map(|uri| Arc::clone(uri.value.text())),
            is_stored,
            ..booted
        }
    }

    /// What a machine template names itself; none where it names nothing.
    fn from_choice(choice: &Choice) -> Option<Self> {
        let text =
            |text: &Option<Located<Arc<str>>>| text.as_ref().map(|text| Arc::clone(&text.value));
        let booted = Self {
            key: None,
            uri: None,
            url: text(&choice.url),
            name: text(&choice.name),
            checksum: text(&choice.checksum),
            is_stored: false,
        };
        (booted.url.is_some() || booted.name.is_some()).then_some(booted)
    }

    /// What the catalog says of the image that a pool selects.
    fn from_catalog(image: &Image) -> Self {
        let uri = image.uri.as_ref().map(|uri| Arc::clone(uri.value.text()));
        let pinned = image.digest_reference();
        Self {
            key: Some(Arc::clone(&image.key)),
            uri: pinned.map(Arc::from).or(uri),
            checksum: image.facts.checksum().map(|(_, sum)| sum),
            ..Self::default()
        }
    }

    /// Whether machines fetch another image: what is stamped differs. The key alone moves nothing, and neither does the reference.
    pub fn is_other(&self, before: &Self) -> bool {
        let fetched = |booted: &Self| {
            let Self {
                url,
                name,
                checksum,
                ..
            } = booted.clone();
            [url, name, checksum]
        };
        fetched(before) != fetched(self)
    }
}

/// A number of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Machines {
    /// A known number.
    Number(u32),
    /// All, however many: the values do not say it.
    #[serde(serialize_with = "all_machines")]
    All,
}

fn all_machines<S: serde::Serializer>(to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str("all")
}

/// What makes machines be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another image, or the same one from elsewhere.
    Image,
    /// Another Kubernetes version.
    Kubernetes,
    /// Another provider, or another version of its API.
    Provider,
    /// Another setting of the machine template.
    MachineTemplate,
    /// Another setting of another object.
    Field,
    /// Another text of a secret that decides one of these, perhaps.
    Secret,
}

/// The pools of a cluster on both sides that change, in their order; those that are gone come last, and then what no single pool
/// has. `rest` is what changes of that, beside objects, and `kept` what leaves the objects of pools as they are that are not there any
/// more.
pub(super) fn changes(
    input: &ChangeInput<'_>,
    in_place: bool,
    mut rest: Vec<FieldChange>,
    kept: &BTreeMap<PoolName, FieldChange>,
) -> Vec<PoolChange> {
    let (before, after) = (&input.before, &input.after);
    let mut of_objects = object_changes(&before.view.cluster, &after.view.cluster);
    let mut changes = Vec::new();
    let matches = input.match_pools();
    let mut counts: BTreeMap<&PoolName, usize> = BTreeMap::new();
    for pool in pools(after) {
        *counts.entry(&pool.pool().name).or_default() += 1;
    }
    for (new, old) in pools(after).zip(&matches) {
        let name = &new.pool().name;
        let is_one_of_several = counts[name] > 1;
        let file = after.view.sources.get(new.pool().place.file);
        // Of pools of one name each has the machines of its own file's object.
        let is_own = |change: &ObjectChange<'_>| {
            let object = &change.object.object;
            !is_one_of_several
                || !change.object.owns_machines()
                || file.is_some_and(|file| file.path == object.file().path)
        };
        let is_its = |change: &ObjectChange<'_>| match &change.pool {
            Some(pool) => pool == name && is_own(change),
            None => change.answer.effect == Effect::Rolls,
        };
        let old = old.map(|index| PoolSide {
            side: before,
            index,
        });
        if let Some(change) = unbuilt_change(input, name) {
            rest.extend(change);
            continue;
        }
        match old {
            Some(old) => {
                let own = of_objects.iter().filter(|change| is_its(change));
                let own: Vec<&ObjectChange<'_>> = own.collect();
                changes.extend(pool_change(old, new, in_place, &own));
            }
            None => changes.push(
                staying_change(new, before, &of_objects)
                    .unwrap_or_else(|| one_sided_change(new, ImpactKind::Added)),
            ),
        }
    }
    for old in pools(before) {
        let name = &old.pool().name;
        if matches.contains(&Some(old.index)) {
            continue;
        }
        // What is not built may be the pool that is not seen any more.
        let [was, is] = [before, after].map(|side| side.view.cluster.unbuilt(None));
        let hidden = is.map(|_| Some(FieldChange::from_files(was, is)));
        match unbuilt_change(input, name).or(hidden) {
            Some(change) => rest.extend(change),
            None => changes.push(staying_change(old, after, &of_objects).unwrap_or_else(|| {
                PoolChange {
                    keeper: kept.get(name).cloned(),
                    ..one_sided_change(old, ImpactKind::Removed)
                }
            })),
        }
    }
    let all_roll = { changes.iter() }.filter(|pool| pool.machines_to_roll().is_some());
    let all_roll = all_roll.count() == pools(after).count();
    let is_of_pool = |name: &PoolName| {
        let mut pools = pools(before).chain(pools(after));
        pools.any(|pool| pool.pool().name == *name)
    };
    of_objects.retain(|change| match &change.pool {
        Some(pool) => !is_of_pool(pool),
        None => change.answer.effect != Effect::Rolls,
    });
    let of_objects = of_objects.iter().map(|change| {
        let field = FieldChange::from_object(change);
        match change.pool {
            // Those of a hosted control plane are no machines of ours.
            Some(_) if is_hosted(&change.object.object) => FieldChange {
                rollout: None,
                ..field
            },
            Some(_) => FieldChange {
                rollout: field.rollout.min(Some(Rollout::Unknown)),
                ..field
            },
            None => field,
        }
    });
    let mut listed: Vec<FieldChange> = of_objects.collect();
    for change in rest {
        if !listed.contains(&change) {
            listed.push(change);
        }
    }
    let rest = listed;
    let rollout = rest.iter().filter_map(|change| change.rollout).max();
    let is_said = match rollout {
        // What is nothing to machines is listed where nothing else is.
        None => rest.is_empty() || !changes.is_empty(),
        Some(rollout) => all_roll && rollout == Rollout::Unknown,
    };
    if !is_said {
        changes.push(whole_cluster(rest));
    }
    changes
}

/// Where the build of a pool is not known on one side, nobody knows what its machines are: then, whether that changes.
fn unbuilt_change(input: &ChangeInput<'_>, pool: &PoolName) -> Option<Option<FieldChange>> {
    let sides = [&input.before, &input.after];
    let [was, is] = sides.map(|side| side.view.cluster.unbuilt(Some(pool)));
    was.or(is)?;
    Some((was != is).then(|| FieldChange::from_files(was, is)))
}

/// Of a pool that is on one side only, and whose object is on the other side too, nobody knows what becomes of its machines.
fn staying_change(
    pool: PoolSide<'_>,
    other: &Side<'_>,
    of_objects: &[ObjectChange<'_>],
) -> Option<PoolChange> {
    let owner = pool.owner()?;
    let mut objects = other.view.cluster.objects.iter();
    objects.find(|one| Owner::new(&one.object) == owner)?;
    let name = &pool.pool().name;
    let own = { of_objects.iter() }.filter(|change| change.pool.as_ref() == Some(name));
    let own = own.map(|change| FieldChange {
        rollout: Some(Rollout::Unknown),
        ..FieldChange::from_object(change)
    });
    Some(PoolChange {
        pool: name.to_string(),
        ..whole_cluster(own.collect())
    })
}

/// What changes of a cluster that no single pool has.
pub(super) fn whole_cluster(changes: Vec<FieldChange>) -> PoolChange {
    let is_secret = changes.iter().any(|change| change.is_secret);
    PoolChange {
        rollout: changes.iter().filter_map(|change| change.rollout).max(),
        because: vec![if is_secret {
            Cause::Secret
        } else {
            Cause::Field
        }],
        changes,
        ..PoolChange::new(WHOLE.to_owned(), ImpactKind::Changed)
    }
}

/// All pools of a cluster that comes or goes.
pub(super) fn all(side: &Side<'_>, change: ImpactKind) -> Vec<PoolChange> {
    pools(side)
        .map(|pool| one_sided_change(pool, change))
        .collect()
}

fn pools<'a>(side: &'a Side<'a>) -> impl Iterator<Item = PoolSide<'a>> {
    (0..side.view.cluster.pools.len()).map(move |index| PoolSide { side, index })
}

fn one_sided_change(pool: PoolSide<'_>, change: ImpactKind) -> PoolChange {
    let image = pool.image();
    let version = pool.version();
    let (image, kubernetes) = match change {
        ImpactKind::Removed => (Edit::new(image, None), Edit::new(version, None)),
        _ => (Edit::new(None, image), Edit::new(None, version)),
    };
    PoolChange {
        image: Some(image).filter(|image| image.from != image.to),
        kubernetes: Some(kubernetes).filter(|kubernetes| kubernetes.from != kubernetes.to),
        machines: Some(pool.machines()),
        judgment: (change == ImpactKind::Added).then(|| pool.grade()),
        owner: pool.owner(),
        ..PoolChange::new(pool.pool().name.to_string(), change)
    }
}

/// What happens to a pool that is on both sides; none where nothing does. `fields` is what changes of its objects.
fn pool_change(
    old: PoolSide<'_>,
    new: PoolSide<'_>,
    in_place: bool,
    fields: &[&ObjectChange<'_>],
) -> Option<PoolChange> {
    let mut image = Edit::new(old.image(), new.image());
    let kubernetes = Edit::new(old.version(), new.version());
    let replicas = Edit::new(old.replicas(), new.replicas());
    let mut because = Vec::new();
    if is_another_image(&image) {
        because.push(Cause::Image);
    }
    if is_another_version(&kubernetes) {
        because.push(Cause::Kubernetes);
    }
    // What is made of its choices rolls it, where no object says so itself. A version is the control plane's own: no template
    // can keep it from rolling.
    let templates = Edit::new(old.template(), new.template());
    let provider = templates.map(MadeTemplate::api);
    let is_other_api = { provider.from.iter().zip(&provider.to) }.any(|(from, to)| from != to);
    let mut moved = Vec::new();
    if templates.from != templates.to && !new.has_own_objects() {
        if is_other_api {
            because.push(Cause::Provider);
        } else if !because.contains(&Cause::Image) {
            because.push(Cause::MachineTemplate);
            let [was, is] =
                [&templates.from, &templates.to].map(|it| it.as_ref()?.object.get_path(&["spec"]));
            moved = differences(was, is);
            moved.retain(|field| !field.is_secret);
        }
    }
    // What is stamped stays, but for what lies there. Without a checksum nobody knows what else is made of it.
    let replaced = content_change(old, new, &image).filter(|_| because.is_empty());
    let has_sum = |it: &MadeTemplate| it.image().is_some_and(|image| image.checksum.is_some());
    let made = match because.as_slice() {
        [] if replaced.is_none() => Effect::NoEffect,
        [] if templates.to.as_ref().is_some_and(has_sum) => Effect::InPlace,
        [] => Effect::NotKnown,
        _ if new.has_own_objects() => Effect::NoEffect,
        // A control plane that goes takes its machines with it, or stays where nothing prunes it.
        _ if old.has_own_objects() => Effect::NotKnown,
        because if in_place && !because.contains(&Cause::Kubernetes) => Effect::InPlace,
        _ => Effect::Rolls,
    };
    if let Some(described) = replaced {
        image = described;
        because.push(Cause::Image);
    }
    because.extend(causes(fields, &because));
    let is_open = [old, new].iter().any(|side| side.depends_on_secret());
    let is_open = is_open && !old.has_same_secrets(new);
    if is_open || fields.iter().any(|field| field.is_secret) {
        because.push(Cause::Secret);
    }
    let candidates = candidate_changes(old, new);
    let is_scaled = replicas.from != replicas.to;
    if because.is_empty() && fields.is_empty() && candidates.is_empty() && !is_scaled {
        return None;
    }
    // Without a number a webhook writes one, or an autoscaler has.
    let has_number = replicas.from.is_some() == replicas.to.is_some();
    let open = if has_number && candidates.is_empty() {
        Effect::NoEffect
    } else {
        Effect::NotKnown
    };
    let effects = fields.iter().map(|field| field.answer.effect);
    let rollout = match effects.fold(made.max(open), Effect::max) {
        Effect::NoEffect if is_open => Some(Rollout::Unknown),
        Effect::InPlace if is_open => Some(Rollout::Roll),
        effect => Rollout::from_effect(effect),
    };
    let skipped = match new.pool().name {
        PoolName::ControlPlane => minors_between(&kubernetes),
        PoolName::MachineDeployment(_) => Vec::new(),
    };
    let fields = fields.iter().map(|field| FieldChange::from_object(field));
    let effect = Rollout::from_effect(made);
    let moved = moved
        .iter()
        .map(|moved| FieldChange::from_difference("machine template", moved, effect));
    Some(PoolChange {
        image: because.contains(&Cause::Image).then_some(image),
        kubernetes: because.contains(&Cause::Kubernetes).then_some(kubernetes),
        provider: because.contains(&Cause::Provider).then_some(provider),
        replicas: is_scaled.then_some(replicas),
        machines: (rollout == Some(Rollout::Roll)).then(|| old.machines()),
        rollout,
        judgment: Some(new.grade()),
        because,
        skipped,
        changes: fields.chain(moved).chain(candidates).collect(),
        ..PoolChange::new(new.pool().name.to_string(), ImpactKind::Changed)
    })
}

/// What else makes the machines of a pool another kind of machines, beside what is known.
fn causes(fields: &[&ObjectChange<'_>], known: &[Cause]) -> Option<Cause> {
    let mut cause = None;
    for field in fields {
        let is_version = field.path.last().is_some_and(|key| key == "version");
        if field.answer.effect == Effect::NoEffect || field.is_secret || is_version {
            continue;
        }
        let is_key = |key: &String| key.starts_with("infrastructure");
        let kind = &field.object.object.kind;
        if !kind.ends_with("MachineTemplate") && !field.path.iter().any(is_key) {
            return Some(Cause::Field);
        }
        cause = Some(Cause::MachineTemplate).filter(|_| !known.contains(&Cause::Image));
    }
    cause
}

/// What changes of the images that a pool may select, where its choice selects none by what is known: facts that nobody has fetched may
/// say more. Of each image, what differs first.
fn candidate_changes(old: PoolSide<'_>, new: PoolSide<'_>) -> Vec<FieldChange> {
    if ![old, new].iter().any(|side| side.is_open()) {
        return Vec::new();
    }
    let describe = |image: &Image| {
        let uri = image.uri.as_ref().map(|uri| uri.value.text().to_string());
        let facts = image.facts.iter();
        let facts = facts.map(|(name, fact)| (name.to_string(), fact.value.to_string()));
        let own = uri.into_iter().map(|uri| ("uri".to_owned(), uri));
        own.chain(facts).collect::<BTreeMap<String, String>>()
    };
    let [was, is] = [old, new].map(|side| &side.side.view.images);
    let keys: BTreeSet<&Arc<str>> = was.keys().chain(is.keys()).collect();
    let change = |key: &Arc<str>| {
        let [was, is] = [was, is].map(|images| images.get(key).map(describe).unwrap_or_default());
        let mut fields = was.keys().chain(is.keys());
        let field = fields.find(|field| was.get(*field) != is.get(*field))?;
        let [from, to] = [&was, &is].map(|image| image.get(field).map(|text| shorten(text)));
        Some(FieldChange {
            object: format!("image {key}"),
            field: field.clone(),
            from,
            to,
            rollout: Some(Rollout::Unknown),
            is_secret: false,
        })
    };
    keys.into_iter().filter_map(change).collect()
}

/// From one image to another as the catalog describes them, where it describes another content on each side.
fn content_change(
    old: PoolSide<'_>,
    new: PoolSide<'_>,
    booted: &Edit<Booted>,
) -> Option<Edit<Booted>> {
    let (was, is) = (old.described_image()?, new.described_image()?);
    let [from, to] = [was, is].map(|image| Some(Booted::from_catalog(image)));
    let mut sides = [&booted.from, &booted.to].into_iter();
    let is_stored = sides.all(|side| side.as_ref().is_some_and(|it| it.is_stored));
    is_other_content(was, is, is_stored).then(|| Edit::new(from, to))
}

/// Whether a catalog describes other content of one image than of the other, by what most surely says so of both: a checksum of one
/// kind, wherever the file lies, then the digest that is locked, then the reference. Of an image in a provider's own store the
/// artifact says nothing.
fn is_other_content(was: &Image, is: &Image, is_stored: bool) -> bool {
    let describe = |image: &Image| {
        let is_own = |fact: &&Fact| !(is_stored && fact.origin >= Origin::Annotation);
        let sums = fact::CHECKSUMS.map(|kind| image.facts.get(kind).filter(is_own));
        let uri = image.uri.as_ref().map(|uri| uri.value.text().to_string());
        let artifact = [image.pulled.as_ref().map(ToString::to_string), uri];
        let artifact = artifact.map(|it| it.filter(|_| !is_stored));
        sums.map(|sum| sum.map(|sum| sum.value.to_string()))
            .into_iter()
            .chain(artifact)
    };
    let mut both = describe(was).zip(describe(is));
    both.find_map(|(was, is)| was.zip(is))
        .is_some_and(|(was, is)| was != is)
}

/// Whether machines get another image, or one where they had none.
fn is_another_image(image: &Edit<Booted>) -> bool {
    match (&image.from, &image.to) {
        (Some(from), Some(to)) => to.is_other(from),
        (from, to) => from.is_some() != to.is_some(),
    }
}

/// Whether two spellings are two versions.
fn is_another_version(kubernetes: &Edit<Arc<str>>) -> bool {
    let read = |text: &Option<Arc<str>>| text.as_deref().and_then(Version::parse);
    match (read(&kubernetes.from), read(&kubernetes.to)) {
        (Some(from), Some(to)) => from != to,
        _ => kubernetes.from != kubernetes.to,
    }
}

/// The minors between two versions, as `1.31`.
fn minors_between(kubernetes: &Edit<Arc<str>>) -> Vec<String> {
    let read = |text: &Option<Arc<str>>| text.as_deref().and_then(Version::parse);
    match (read(&kubernetes.from), read(&kubernetes.to)) {
        (Some(from), Some(to)) => to.minors_passed_from(&from),
        _ => Vec::new(),
    }
}

/// A pool on one side of a change.
#[derive(Clone, Copy)]
struct PoolSide<'a> {
    side: &'a Side<'a>,
    index: usize,
}

impl<'a> PoolSide<'a> {
    fn pool(self) -> &'a Pool {
        &self.side.view.cluster.pools[self.index]
    }

    fn grade(self) -> Grade {
        self.side.view.judgments[self.index].grade()
    }

    /// The object whose machines these are.
    fn owner(self) -> Option<Owner> {
        let pool = Some(&self.pool().name);
        let mut objects = self.side.view.cluster.objects.iter();
        let owner = objects.find(|one| one.pool.as_ref() == pool && one.owns_machines())?;
        Some(Owner::new(&owner.object))
    }

    fn replicas(self) -> Option<u32> {
        self.pool().replicas.as_ref().map(|replicas| replicas.value)
    }

    fn machines(self) -> Machines {
        self.replicas().map_or(Machines::All, Machines::Number)
    }

    fn version(self) -> Option<Arc<str>> {
        let version = self.side.view.cluster.k8s_version_of(self.pool())?;
        Some(Arc::clone(&version.value))
    }

    fn image(self) -> Option<Booted> {
        match self.side.stamps.get(self.index)? {
            Some(stamp) => Some(Booted::from_stamp(self.side.view, self.pool(), stamp)),
            None => Booted::from_choice(&self.pool().choice),
        }
    }

    /// The image of the catalog that it selects.
    fn described_image(self) -> Option<&'a Image> {
        let view = self.side.view;
        view.selected_image(&view.selections[self.index])
    }

    /// Whether it chooses an image, and none is known that it selects.
    fn is_open(self) -> bool {
        self.pool().choice.is_made() && self.image().is_none() && self.described_image().is_none()
    }

    /// Whether objects of its own say what becomes of its machines.
    fn has_own_objects(self) -> bool {
        let pool = Some(&self.pool().name);
        let mut objects = self.side.view.cluster.objects.iter();
        objects.any(|object| object.pool.as_ref() == pool && !object.is_copied)
    }

    /// Whether both have the same secrets. Of what manifests build it is not known which were read.
    fn has_same_secrets(self, other: Self) -> bool {
        let (one, other) = (self.side.view, other.side.view);
        let is_built = one.cluster.origin == ClusterOrigin::Manifests;
        !is_built && one.sources.has_same_secrets(&other.sources)
    }

    /// Whether a secret decides a part of what its machines are.
    fn depends_on_secret(self) -> bool {
        let pool = self.pool();
        pool.unknown == Some(Unknown::Secret)
            || is_opaque(&to_json(&pool.settings.value, Html::Plain))
    }

    /// Its machine template; none of a provider that is not known.
    fn template(self) -> Option<MadeTemplate> {
        let side = self.side;
        let stamp = side.stamps.get(self.index)?.as_ref();
        MadeTemplate::make(&side.view.cluster, self.pool(), stamp, side.api_version)
    }
}

/// A machine template. Two are the same by their content alone, as it makes the name, and another name replaces machines.
struct MadeTemplate {
    kind: &'static Kind,
    version: String,
    object: Node,
}

impl PartialEq for MadeTemplate {
    fn eq(&self, other: &Self) -> bool {
        let text = |it: &Self| to_json(&it.object.value, Html::Plain);
        text(self) == text(other)
    }
}

impl MadeTemplate {
    /// The template as it would be rendered, in this version of the provider's API where it has that; none of a provider that is not
    /// known.
    fn make(
        cluster: &Cluster,
        pool: &Pool,
        stamp: Option<&Stamp>,
        api_version: Option<&str>,
    ) -> Option<Self> {
        let infra = cluster.infra_provider.as_ref();
        let provider = providers::find(infra.map_or("capm3", |provider| &provider.value))?;
        let kind = provider.data().kinds.first()?;
        let known = |version: &&str| kind.versions.contains(version);
        let version = api_version.filter(known);
        let version = version.or(kind.versions.first().copied())?;
        let template = Template {
            provider,
            kind,
            version,
        };
        let settings = &pool.settings;
        // Where the provider cannot place the image, its settings still make another template.
        let spec = providers::template_spec(template, stamp, settings).or_else(|_| {
            let mut spec = providers::template_spec(template, None, settings)?;
            // It says only which image that is.
            if let Some(region) = settings.get_path(&["region"]) {
                spec.insert(Entry::holding("region", region.clone()));
            }
            Ok::<_, String>(spec)
        });
        let spec = spec.ok()?;
        let object = Map::from_iter([Entry::holding("spec", Node::from_value(spec))]);
        Some(Self {
            kind,
            version: version.to_owned(),
            object: Node::from_value(object),
        })
    }

    /// Its kind, and the version of its API.
    fn api(&self) -> String {
        format!("{} {}", self.kind.kind, self.version)
    }

    /// Whether it names where an image is in its provider's own store.
    fn is_stored(&self, image: &Image) -> bool {
        let location = image_fields(self.kind.kind)
            .and_then(|fields| fields.location(fields.spec(&self.object)?));
        let name = location.as_ref().and_then(|it| it.name(image));
        name.is_some_and(|name| !matches!(name, "https" | "oci"))
    }

    /// The image that it names, as it is read of manifests.
    fn image(&self) -> Option<Booted> {
        let fields = image_fields(self.kind.kind)?;
        let spec = fields.spec(&self.object)?;
        let named = fields.image(spec)?;
        let location = fields.location(spec)?.to_string().into();
        Some(match named.by {
            NamedBy::Name => Booted {
                name: Some(location),
                ..Booted::default()
            },
            NamedBy::Url => Booted {
                url: Some(location),
                checksum: spec
                    .get_path(&["image", "checksum"])
                    .and_then(|node| node.value.as_str().cloned()),
                ..Booted::default()
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use capi::image::{Facts, Image, Origin, fact};
    use oci_artifacts::{Address, Digest};
    use yaml_tree::place::{Located, Place};

    use super::is_other_content;

    /// An image with a reference, the digest that is pulled and a checksum, as far as they are there.
    fn image(uri: &str, digest: &str, checksum: Option<(&'static str, &str)>) -> Image {
        let there = |text: &str| !text.is_empty();
        let facts = checksum.map(|(kind, sum)| (kind, sum, Place::NONE));
        Image {
            key: "noble".into(),
            name: "noble".into(),
            artifact: "noble".into(),
            place: Place::NONE,
            uri: there(uri).then(|| Located::new(Address::new(uri), Place::NONE)),
            digest: None,
            pulled: there(digest).then(|| Digest::compute(digest.as_bytes())),
            facts: Facts::new(Origin::Record, facts),
            enabled: None,
            built: false,
            list: "os_images",
            registry: None,
        }
    }

    #[test]
    fn another_digest_under_one_reference_is_another_content_and_what_one_side_lacks_is_not() {
        let [a, b] = [Some((fact::SHA256, "a")), Some((fact::SHA256, "b"))];
        let md5 = Some((fact::MD5, "b"));
        for (was, is, is_other) in [
            (image("x:1", "", None), image("x:1", "", None), false),
            (image("x:1", "", None), image("x:2", "", None), true),
            (image("x:1", "", None), image("", "", None), false),
            (image("", "", a), image("x:1", "", None), false),
            (image("x:1", "a", None), image("x:1", "b", None), true),
            (image("x:1", "a", None), image("x:2", "a", None), false),
            (image("x:1", "", None), image("x:1", "b", None), false),
            (image("x:1", "a", a), image("x:1", "b", a), false),
            (image("x:1", "a", a), image("x:1", "a", b), true),
            (image("x:1", "", a), image("x:1", "", md5), false),
            (image("x:1", "a", a), image("x:1", "b", md5), true),
        ] {
            for (was, is) in [(&was, &is), (&is, &was)] {
                assert_eq!(is_other_content(was, is, false), is_other, "{was:?} {is:?}");
                // What a provider's store has is no artifact, and its record's checksum is of the file there.
                let [one, other] = [was, is].map(|image| image.facts.text(fact::SHA256));
                let is_other = one.zip(other).is_some_and(|(one, other)| one != other);
                assert_eq!(is_other_content(was, is, true), is_other, "{was:?} {is:?}");
            }
        }
    }
}
