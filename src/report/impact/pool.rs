//! Computes the impact of a change on the machines of one node pool.

use std::sync::Arc;

use capi::providers::{self, Stamp, Template};
use capi::unknown::Unknown;
use serde::Serialize;
use yaml_tree::json::{Html, to_json};
use yaml_tree::opaque::is_opaque;

use super::ImpactKind;
use crate::model::cluster::{ClusterOrigin, Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::model::judgement::Grade;
use crate::model::version::Version;
use crate::rules::{ChangeInput, Side};

/// What happens to one node pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolChange {
    /// `control-plane` or the machine deployment.
    pub pool: String,
    /// What happens.
    pub change: ImpactKind,
    /// The image that its machines boot, where that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Edit<Booted>>,
    /// Its Kubernetes version, where that changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Edit<Arc<str>>>,
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
}

impl PoolChange {
    /// The existing machines that are replaced; none where none is.
    pub fn machines_to_roll(&self) -> Option<Machines> {
        let rolls = self.change == ImpactKind::Changed && self.rollout == Some(Rollout::Roll);
        rolls.then(|| self.machines.unwrap_or(Machines::All))
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
}

/// An image as a machine boots it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Booted {
    /// Its key; none where the values give the URL themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Arc<str>>,
    /// The artifact's reference, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<Arc<str>>,
    /// Where machines fetch it.
    pub url: Arc<str>,
    /// The checksum that is stamped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Arc<str>>,
}

impl Booted {
    /// What the stamp of a pool makes its machines boot.
    pub fn from_stamp(view: &ClusterView, stamp: &Stamp) -> Self {
        let image = stamp.key.as_ref().and_then(|key| view.images.get(key));
        let uri = image.and_then(|image| image.uri.as_ref());
        Self {
            key: stamp.key.clone(),
            uri: uri.map(|uri| Arc::clone(uri.value.text())),
            url: Arc::clone(&stamp.url),
            checksum: stamp.checksum.clone(),
        }
    }

    /// Whether machines fetch another image: what is stamped differs. The key alone moves nothing, and neither does the reference.
    pub fn is_other(&self, before: &Self) -> bool {
        (&before.url, &before.checksum) != (&self.url, &self.checksum)
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

/// How existing machines get a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollout {
    /// They are replaced one after the other.
    Roll,
    /// They do not change; only later machines have it.
    InPlace,
    /// It is not known whether they do.
    Unknown,
}

/// What makes machines be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another image, or the same one from elsewhere.
    Image,
    /// Another Kubernetes version.
    Kubernetes,
    /// Another setting of the machine template.
    MachineTemplate,
    /// Another text of a secret that decides one of these, perhaps.
    Secret,
}

/// The pools of a cluster on both sides that change, in their order; those that are gone come last.
pub(super) fn changes(input: &ChangeInput<'_>, in_place: bool) -> Vec<PoolChange> {
    let (before, after) = (&input.before, &input.after);
    let mut changes = Vec::new();
    for new in pools(after) {
        match pools(before).find(|old| old.pool().name == new.pool().name) {
            Some(old) => changes.extend(pool_change(old, new, in_place)),
            None => changes.push(one_sided_change(new, ImpactKind::Added)),
        }
    }
    for old in pools(before) {
        if pools(after).all(|new| new.pool().name != old.pool().name) {
            changes.push(one_sided_change(old, ImpactKind::Removed));
        }
    }
    changes
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
        pool: pool.pool().name.to_string(),
        change,
        image: Some(image).filter(|image| image.from != image.to),
        kubernetes: Some(kubernetes).filter(|kubernetes| kubernetes.from != kubernetes.to),
        replicas: None,
        machines: Some(pool.machines()),
        rollout: None,
        judgment: (change == ImpactKind::Added).then(|| pool.grade()),
        because: Vec::new(),
        skipped: Vec::new(),
    }
}

/// What happens to a pool that is on both sides; none where nothing does.
fn pool_change(old: PoolSide<'_>, new: PoolSide<'_>, in_place: bool) -> Option<PoolChange> {
    let mut because = causes(old, new);
    let is_open = [old, new].iter().any(|side| side.depends_on_secret());
    let is_open = is_open && !old.has_same_secrets(new);
    if is_open {
        because.push(Cause::Secret);
    }
    let replicas = Edit::new(old.replicas(), new.replicas());
    if because.is_empty() && replicas.from == replicas.to {
        return None;
    }
    // A version is the control plane's own: no template can keep it from rolling.
    let named = old
        .pool()
        .template
        .as_ref()
        .zip(new.pool().template.as_ref());
    let keeps_name = named.is_some_and(|(old, new)| old.name.value == new.name.value);
    let stays = (in_place || keeps_name) && !because.contains(&Cause::Kubernetes);
    let rollout = match (because.as_slice(), stays) {
        ([], _) => None,
        ([Cause::Secret], _) => Some(Rollout::Unknown),
        (_, true) if !is_open => Some(Rollout::InPlace),
        _ => Some(Rollout::Roll),
    };
    let image = Edit::new(old.image(), new.image());
    let kubernetes = Edit::new(old.version(), new.version());
    let skipped = match new.pool().name {
        PoolName::ControlPlane => minors_between(&kubernetes),
        PoolName::MachineDeployment(_) => Vec::new(),
    };
    Some(PoolChange {
        pool: new.pool().name.to_string(),
        change: ImpactKind::Changed,
        image: because.contains(&Cause::Image).then_some(image),
        kubernetes: because.contains(&Cause::Kubernetes).then_some(kubernetes),
        replicas: Some(replicas).filter(|replicas| replicas.from != replicas.to),
        machines: (rollout == Some(Rollout::Roll)).then(|| old.machines()),
        rollout,
        judgment: Some(new.grade()),
        because,
        skipped,
    })
}

/// What makes the machines of a pool another kind of machines.
fn causes(old: PoolSide<'_>, new: PoolSide<'_>) -> Vec<Cause> {
    let mut because = Vec::new();
    let is_another_image = is_another_image(&Edit::new(old.image(), new.image()));
    if is_another_image {
        because.push(Cause::Image);
    }
    if is_another_version(&Edit::new(old.version(), new.version())) {
        because.push(Cause::Kubernetes);
    }
    let named = old
        .pool()
        .template
        .as_ref()
        .zip(new.pool().template.as_ref());
    let is_edited = named.is_some_and(|(old, new)| {
        old.name.value != new.name.value || !old.spec.value.same(&new.spec.value)
    });
    if !is_another_image && (is_edited || old.template() != new.template()) {
        because.push(Cause::MachineTemplate);
    }
    because
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
        self.side.view.judgements[self.index].grade()
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
        let stamp = self.side.stamps.get(self.index)?.as_ref()?;
        Some(Booted::from_stamp(self.side.view, stamp))
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
        let spec = pool.template.as_ref().map(|template| &template.spec);
        let mut trees = [&pool.settings].into_iter().chain(spec);
        pool.unknown == Some(Unknown::Secret)
            || trees.any(|tree| is_opaque(&to_json(&tree.value, Html::Plain)))
    }

    /// The machine template's content as it would be rendered; none of a provider that is not known.
    fn template(self) -> Option<String> {
        let side = self.side;
        let cluster = &side.view.cluster;
        let infra = cluster.infra_provider.as_ref();
        let provider = providers::find(infra.map_or("capm3", |provider| &provider.value))?;
        let kind = provider.data().kinds.first()?;
        let known = |version: &&str| kind.versions.contains(version);
        let version = side.api_version.filter(known);
        let version = version.or(kind.versions.first().copied())?;
        let stamp = side.stamps.get(self.index)?.as_ref();
        let settings = &self.pool().settings;
        let template = Template {
            provider,
            kind,
            version,
        };
        let spec = providers::template_spec(template, stamp, settings).ok()?;
        Some(to_json(&spec.into(), Html::Plain))
    }
}
