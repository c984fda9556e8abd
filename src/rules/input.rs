//! What rules see: one cluster, all of them, a cluster before and after a change.

use std::sync::Arc;

use crate::model::cluster::{Choice, ClusterOrigin, LevelName, Pool};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::endpoint::{ControlPlaneEndpoint, Endpoint};
use crate::model::finding::Subject;
use crate::model::fix::Fix;
use crate::model::image::{Fact, Image, ImageKey, Images, Origin, is_oci};
use crate::model::labels::LabelSelector;
use crate::model::lock::{Lock, SignedEntries, is_lockable};
use crate::model::matching::Outcome;
use crate::model::place::{Located, Place, Source, Sources, Spot};
use crate::model::proposal::{Change, Proposal};
use crate::model::replacement;
use crate::model::rule::{RuleId, RuleOption};
use crate::model::settings::Settings;
use crate::model::version::Version;
use crate::providers::{self, Provider, Stamp};

use super::{exact_pattern, exact_term};

/// What a rule sees of a cluster before and after a change.
pub struct ChangeInput<'a> {
    /// As it was.
    pub before: Side<'a>,
    /// As it will be.
    pub after: Side<'a>,
    /// The commit that the change starts from, as people quote it.
    pub revision: &'a str,
}

/// One side of a change to a cluster.
pub struct Side<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// What is stamped of each pool's image, in the order of the pools.
    pub stamps: &'a [Option<Stamp>],
    /// The version of the machine templates that the project requires.
    pub api_version: Option<&'a str>,
}

impl<'a> ChangeInput<'a> {
    /// The pools that are on both sides, by their index before and after.
    pub fn pools(&self) -> Vec<(usize, usize)> {
        let (before, after) = (&self.before.view.cluster, &self.after.view.cluster);
        let was = |pool: &Pool| before.pools.iter().position(|old| old.name == pool.name);
        let after = after.pools.iter().enumerate();
        after
            .filter_map(|(index, pool)| Some((was(pool)?, index)))
            .collect()
    }

    /// The Kubernetes versions of a pool before and after, where both are known.
    pub fn versions(&self, (was, is): (usize, usize)) -> Option<[&'a Located<Arc<str>>; 2]> {
        let (before, after) = (&self.before.view.cluster, &self.after.view.cluster);
        Some([
            before.k8s_version_of(&before.pools[was])?,
            after.k8s_version_of(&after.pools[is])?,
        ])
    }

    /// A place after the change, with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.after.view.sources.resolve(place)
    }

    /// A place before the change, with its file as `REVISION:path`.
    pub fn spot_before(&self, place: Place) -> Option<Spot> {
        let spot = self.before.view.sources.resolve(place)?;
        let path = format!("{}:{}", self.revision, spot.source.path);
        let source = Source {
            secrets: spot.source.secrets.clone(),
            is_hidden: spot.source.is_hidden,
            ..Source::new(path, spot.source.text.as_str())
        };
        Some(Spot {
            source: Arc::new(source),
            ..spot
        })
    }

    /// The subject of a finding about a pool after the change.
    pub fn subject(&self, pool: usize) -> Subject {
        let cluster = &self.after.view.cluster;
        Subject::pool(&cluster.name, &cluster.pools[pool].name)
    }
}

/// What a rule sees of one cluster.
pub struct ClusterInput<'a> {
    /// The cluster, read and resolved.
    pub view: &'a ClusterView,
    /// The project's settings.
    pub settings: &'a Settings,
    /// The pools that resolve to an image of the catalog, with that image: looked up once for all rules.
    chosen: Vec<(&'a Pool, &'a Image)>,
}

/// Which clusters a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunScope {
    /// All of them.
    Fleet,
    /// A part: what none of them does, others may do.
    Shard,
}

/// What a rule sees of the whole.
pub struct WorkspaceInput<'a> {
    /// Whether the uses are those of all clusters.
    pub run_scope: RunScope,
    /// Every cluster's image use, in cluster order: small, so that memory does not grow with the values.
    pub uses: &'a [ImageUse],
    /// The catalog that all clusters share, resolved once with the shared layers alone.
    pub images: &'a Images,
    /// The files that the shared catalog's places point into.
    pub sources: &'a Sources,
    /// The project's settings.
    pub settings: &'a Settings,
    /// Whether any source of image facts is named.
    pub facts_given: bool,
    /// The lock and the files that its places point into, where the project has one.
    pub lock: Option<(&'a Lock, &'a Sources)>,
}

/// What one cluster uses.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ImageUse {
    /// The cluster.
    pub cluster: Arc<str>,
    /// The images of its pools, each once.
    pub booted: Vec<ImageKey>,
    /// The images served for it.
    pub served: Vec<ImageKey>,
    /// Where the digests of its catalog's images start in the lock.
    pub locked: Vec<u32>,
    /// The images of its catalog that the lock does not hold, where there is one.
    pub unlocked: Vec<ImageKey>,
    /// The entries of the lock that its keys apply to.
    pub signed: SignedEntries,
}

impl<'a> ClusterInput<'a> {
    /// A cluster, as it was read and resolved.
    pub fn new(view: &'a ClusterView, settings: &'a Settings) -> Self {
        let chosen = view
            .pools()
            .filter_map(|it| Some((it.pool, view.images.get(it.selection.image_key()?)?)));
        Self {
            view,
            settings,
            chosen: chosen.collect(),
        }
    }

    /// The pools with the results of their selections.
    pub fn pools(&self) -> impl Iterator<Item = SelectedPool<'a>> + use<'a> {
        self.view.pools()
    }

    /// The pools that resolve to an image of the catalog, with that image.
    pub fn chosen(&self) -> impl Iterator<Item = (&'a Pool, &'a Image)> + use<'a, '_> {
        self.chosen.iter().copied()
    }

    /// The pools that give `machine_image_url` and the rest themselves, with that URL.
    pub fn explicit(&self) -> impl Iterator<Item = (&'a Pool, &'a Located<Arc<str>>)> + use<'a> {
        self.pools()
            .filter(|it| it.selection.outcome == Outcome::Explicit)
            .filter_map(|it| it.pool.choice.url.as_ref().map(|url| (it.pool, url)))
    }

    /// The Kubernetes version that a pool's nodes are to run: its own, else the cluster's.
    pub fn k8s_version(&self, pool: &'a Pool) -> Option<&'a Located<Arc<str>>> {
        self.view.cluster.k8s_version_of(pool)
    }

    /// The infrastructure provider's key in the values; Metal3's where none is set.
    pub fn infra(&self) -> &'a str {
        self.view
            .cluster
            .infra_provider
            .as_ref()
            .map_or("capm3", |provider| &provider.value)
    }

    /// The infrastructure provider of a pool's machines; none of a template that metalmark does not know.
    pub fn provider(&self, pool: &Pool) -> Option<&'static dyn Provider> {
        if let Some(template) = &pool.template {
            return providers::of_kind(&template.kind);
        }
        match self.is_of_values() {
            true => providers::find(self.infra()),
            false => providers::find(&self.view.cluster.infra_provider.as_ref()?.value),
        }
    }

    /// A field of a pool's image as the cluster's files spell it: in values, or in a machine template.
    pub fn spelled(&self, in_values: &'static str, in_template: &'static str) -> &'static str {
        match self.is_of_values() {
            true => in_values,
            false => in_template,
        }
    }

    /// Whether values describe the cluster, and not manifests.
    fn is_of_values(&self) -> bool {
        self.view.cluster.origin == ClusterOrigin::Values
    }

    /// The values' path of a setting: at the strongest level of the pool that wrote it, else where the pool would write it.
    pub fn path(&self, pool: &Pool, setting: &str, wrote: impl Fn(&Choice) -> bool) -> String {
        let level = self.view.cluster.writer(pool, wrote);
        format!("{}.{setting}", level.path(self.infra()).join("."))
    }

    /// The level where a pool's image is to be named: where it is named now, unless pools that run another version inherit that.
    fn key_level(&self, pool: &Pool) -> LevelName {
        let cluster = &self.view.cluster;
        let level = cluster.writer(pool, |choice| choice.key.is_some());
        let version = |pool| cluster.k8s_version_of(pool).map(|version| &version.value);
        let runs_another = |other: &usize| version(&cluster.pools[*other]) != version(pool);
        let key = |choice: &Choice| choice.key.is_some();
        match cluster.inheriting(&level, key).iter().any(runs_another) {
            true => pool.name.level(),
            false => level,
        }
    }

    /// The line that names the image of a pool.
    pub fn key_line(&self, pool: &Pool, key: &str) -> String {
        let path = self.key_level(pool).path(self.infra()).join(".");
        format!("{path}.{}: {key}", pool.choice.key_name)
    }

    /// That a pool takes the image of a key. `is_fix` makes it an edit of the file, where the line is the one that is there and
    /// no other cluster shares it.
    pub fn propose_key(&self, pool: &Pool, key: &ImageKey, is_fix: bool) -> Proposal {
        let image = self
            .view
            .images
            .get(key)
            .filter(|_| self.view.lock.is_some());
        let then = match image.is_some_and(|image| self.could_lock(image)) {
            true => ", then run `metalmark lock`",
            false => "",
        };
        let (line, level) = (self.key_line(pool, key), self.key_level(pool));
        let is_there = level
            == self
                .view
                .cluster
                .writer(pool, |choice| choice.key.is_some());
        let current = pool.choice.key.as_ref().filter(|_| is_fix && is_there);
        Proposal {
            text: format!("`{line}`{then}"),
            fix: current.and_then(|current| {
                Fix::replace(self.spot(current.place), &current.value, &**key, line)
            }),
            change: Change::ImageKey {
                level,
                key: Arc::clone(key),
            },
        }
    }

    /// That a pool's selector requires a value of a fact: at the level that `at` accepts, else at
    /// the pool's own.
    pub fn propose_term(
        &self,
        pool: &Pool,
        (fact, value): (&str, &str),
        at: impl Fn(&Choice) -> bool,
    ) -> Proposal {
        let level = self.view.cluster.writer(pool, at);
        let path = level.path(self.infra()).join(".");
        Proposal {
            text: format!("`{path}.os_image_selector.{}`", exact_term(fact, value)),
            change: Change::Term {
                level,
                fact: fact.into(),
                pattern: Some(exact_pattern(value).into()),
            },
            fix: None,
        }
    }

    /// That the cluster runs the Kubernetes version of a fact, where the law of replacements allows it and more than a name
    /// gives the version.
    pub fn propose_version(&self, pool: &Pool, held: &Fact) -> Option<Proposal> {
        let current = self.view.cluster.k8s_version.as_ref()?;
        let is_allowed = pool.k8s_version.is_none()
            && held.origin != Origin::Name
            && replacement::version_obstacle(&current.value, &held.value).is_none();
        if !is_allowed {
            return None;
        }
        let v = match current.value.starts_with('v') {
            true => "v",
            false => "",
        };
        let version = format!("{v}{}", Version::parse(&held.value)?);
        (*version != *current.value).then(|| Proposal {
            text: format!("`cluster.k8s_version: {version}`"),
            change: Change::K8sVersion(version.into()),
            fix: None,
        })
    }

    /// Whether nodes pull an image from its registry themselves, so that no checksum is stamped
    /// (docs/sylva.md#machine-templates).
    pub fn is_pulled(&self, image: &Image) -> bool {
        let template = self.settings.images.url.trim_start();
        let uri = image.uri.as_ref().map_or("", |uri| &uri.value);
        let served = image.facts.text("locations.https").is_some();
        let by_template = is_oci(template) || (template.starts_with("{{ image.uri") && is_oci(uri));
        by_template && !served
    }

    /// The component bundle that a pool resolves to.
    pub fn bundle(&self, pool: &Pool) -> Option<&'a Image> {
        let mut chosen = self.view.chosen_bundles();
        chosen.find_map(|(known, bundle)| (known.name == pool.name).then_some(bundle))
    }

    /// The control plane endpoint, where there is one.
    pub fn endpoint(&self) -> Option<(&'a ControlPlaneEndpoint, &'a Endpoint)> {
        let found = self.view.cluster.endpoint.as_deref()?;
        Some((found, found.endpoint.as_ref()?))
    }

    /// The labels by which a pool's machines claim hosts; none where the provider makes its machines.
    pub fn host_selector(&self, pool: &Pool) -> Option<LabelSelector> {
        providers::find(self.infra())?.hosts_of(&pool.settings)
    }

    /// Whether `metalmark lock` would learn an image's facts: it has a reference into a registry, and is not locked for it.
    pub fn could_lock(&self, image: &Image) -> bool {
        let holds = |lock: &Lock, uri: &str| lock.get(&image.key, uri).is_some();
        let locked = self.view.lock.as_ref().zip(image.uri.as_ref());
        is_lockable(image) && !locked.is_some_and(|(lock, uri)| holds(lock, &uri.value))
    }

    /// A place with its file.
    pub fn spot(&self, place: Place) -> Option<Spot> {
        self.view.sources.resolve(place)
    }

    /// The value of a rule's option for a pool.
    pub fn option(&self, rule: RuleId, option: &RuleOption, pool: &Pool) -> u32 {
        let policy = &self.settings.policy;
        policy.option(rule, option, &self.subject(Some(pool)))
    }

    /// The subject of a finding about the cluster, or one of its pools.
    pub fn subject(&self, pool: Option<&Pool>) -> Subject {
        Subject {
            pool: pool.map(|pool| pool.name.to_string()),
            ..Subject::cluster(&self.view.cluster.name)
        }
    }

    /// The subject of a finding about a pool and the image it boots.
    pub fn subject_with(&self, pool: &Pool, image: &str) -> Subject {
        Subject {
            image: Some(image.to_string()),
            ..self.subject(Some(pool))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    /// The help for an image of another version.
    const ID: RuleId = RuleId::K8sVersionMismatch;

    #[test]
    fn an_image_that_is_not_locked_yet_is_to_be_locked() {
        let mut given = Given::new();
        for (key, version) in [("old", "1.30.12+rke2r1"), ("new", "1.31.8+rke2r1")] {
            given.image(key, &[("k8s-version", version), ("k8s-flavor", "rke2")]);
        }
        given.boots("old");
        given.view.lock = Some(Default::default());
        let help = "help: `cluster.capm3.image_key: new`, then run `metalmark lock`\n";
        let found = given.found(ID);
        assert!(found.contains(help), "{found}");
    }

    #[test]
    fn a_clusters_version_follows_no_pools_own_and_no_mere_name() {
        let proposed = |fact: &str, own: Option<&str>| {
            let mut given = Given::new();
            let facts = [(fact, "1.32.1+rke2r1"), ("k8s-flavor", "rke2")];
            given.image("noble", &facts);
            let own = own.map(|own| given.line("k8s_version", own));
            given.view.cluster.pools[0].k8s_version = own;
            given.boots("noble");
            let found = given.found(ID);
            assert!(found.contains("`noble` holds Kubernetes"), "{found}");
            found.contains("`cluster.k8s_version: v1.32.1+rke2r1`")
        };
        assert!(proposed("k8s-version", None));
        assert!(!proposed("k8s-version", Some("v1.31.9+rke2r1")));
        assert!(!proposed("name!k8s-version", None));
    }
}
