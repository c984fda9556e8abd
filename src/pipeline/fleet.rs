//! The stages over all clusters: each is read, resolved and checked on its own, both cores busy, the answers in the clusters'
//! order. What the caller does not request is dropped with its cluster, so that memory does not grow with the fleet's values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Images, fact};
use capi::location::is_same_artifact;
use capi::objects::ManifestObject;
use parking_lot::Mutex;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use yaml_tree::place::{Located, Place, Sources};
use yaml_tree::suggest::did_you_mean;

use crate::budget;
use crate::catalog::locking::{self, Keyring, Provenances, check_provenance};
use crate::catalog::resolve::{self, Catalogs};
use crate::catalog::sources;
use crate::decide::bound_content::other_image;
use crate::decide::identity::find_image;
use crate::decide::image_server::{Artifact, Boots, server_plan};
use crate::decide::matching::PatternCache;
use crate::decide::pool_counts::PoolCounts;
use crate::decide::proof;
use crate::error::Error;
use crate::evaluate::TemplateCache;
use crate::model::catalog::{Catalog, ReadCatalog};
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::{ClusterRead, ClusterView, SelectedPool};
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged, Subject};
use crate::model::lock::{Lock, is_lockable};
use crate::model::part::Part;
use crate::model::policy::Policy;
use crate::model::rule::{Level, RuleId};
use crate::model::selection::{Outcome, Selection};
use crate::model::version::{BOOTSTRAP_PROVIDERS, flavor_of};
use crate::pipeline::Verdict;
use crate::pipeline::check::{self, Checked};
use crate::pipeline::reporting::CheckReport;
use crate::read::{self, ClusterEntry, SharedCatalog, Stamped, Workspace};
use crate::rules::{self, EndpointUser, ImageUse, RunScope, WorkspaceInput};

/// A workspace, with what its clusters are read and resolved by.
pub struct Fleet {
    /// What was read of the project.
    pub workspace: Workspace,
    /// Patterns, each compiled once.
    pub(crate) patterns: PatternCache,
    /// Expressions, each parsed once.
    pub(super) templates: TemplateCache,
    /// The catalog of the shared layers alone: of every cluster that does not touch it.
    shared_catalog: SharedCatalog,
    /// Catalogs, each expanded once.
    expanded: Catalogs,
    /// Public keys, and what they prove of the lock's evidence, each once.
    pub(crate) keyring: Keyring,
    /// The day that waivers are compared with.
    pub(crate) today: Date,
}

impl Fleet {
    /// The images that records and other sources describe, without any values.
    pub(crate) fn source_images(&self) -> Result<Arc<Images>, Error> {
        let sources = &self.expanded.facts().sources;
        let schemes = &self.workspace.settings.schemes;
        let found = resolve::images(&Catalog::default(), sources, None, schemes)?;
        Ok(found.images.images())
    }

    /// Opens the image sources; what is wrong in them joins the workspace's findings.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn open(mut workspace: Workspace, today: Date) -> Result<Self, Error> {
        let mut facts = sources::facts(
            &workspace.settings.root,
            &*workspace.files,
            &workspace.facts,
            &workspace.settings.registries.platform,
            &mut workspace.findings,
        )?;
        let files = Sources::default().with_facts(&facts.files);
        let entries = facts.lock.iter().flat_map(|lock| lock.images());
        let settings = &workspace.settings;
        let other = entries.filter_map(|entry| {
            let finding = other_image(
                entry,
                &settings.schemes,
                settings.policy.demands_signer(&entry.reference.value),
            )?;
            Some(finding.with_label(files.resolve(entry.reference.place), "locked here"))
        });
        workspace.findings.extend(other);
        let tree = Arc::clone(&workspace.files);
        let registries = workspace.settings.registries.clone();
        let provenances = Provenances::load(
            &workspace.settings.policy,
            |named| read::key_text(&*workspace.files, named),
            &mut workspace.findings,
        );
        let keyring = Keyring::new(
            move |named| read::key_text(&*tree, named),
            move |of| registries.find_signing_name(of),
        )
        .with_provenances(provenances);
        let is_wrong = |finding: &Finding| finding.rule == RuleId::ProjectFile;
        // What the project demands is not known then.
        if !workspace.findings.iter().any(is_wrong) {
            let lock = facts.lock.iter();
            let unproven = lock.flat_map(|lock| check_provenance(lock, &keyring, &files));
            workspace.findings.extend(unproven);
        }
        if let Some((records, file)) = &workspace.records {
            facts.add_records(records, file);
        }
        let templates = TemplateCache::default();
        Ok(Self {
            keyring,
            shared_catalog: read::read_shared_catalog(&workspace, &templates),
            expanded: Catalogs::new(facts, workspace.settings.schemes.clone()),
            patterns: PatternCache::default(),
            templates,
            today,
            workspace,
        })
    }

    /// The lock; empty where there is none.
    pub(crate) fn lock(&self) -> &Lock {
        static NONE: Lock = Lock::EMPTY;
        self.expanded.facts().lock.as_deref().unwrap_or(&NONE)
    }

    /// The files that the lock's places point into.
    pub(crate) fn lock_sources(&self) -> Sources {
        Sources::default().with_facts(&self.expanded.facts().files)
    }

    /// One cluster, read and resolved, its lock entries compared with the keys of its values.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn view(&self, entry: &ClusterEntry) -> Result<ClusterView, Error> {
        let mut view = self.view_without_lock(entry)?;
        let settings = &self.workspace.settings;
        let required = &settings.policy.signatures;
        let trust = locking::trust(&view, required, settings.locking, &self.keyring);
        view.findings.extend(trust.findings);
        view.signed = trust.signed;
        Ok(view)
    }

    /// One cluster, read and resolved, whatever its lock says.
    pub(crate) fn view_without_lock(&self, entry: &ClusterEntry) -> Result<ClusterView, Error> {
        let settings = &self.workspace.settings;
        resolve::cluster(self.read(entry)?, &self.expanded, settings, &self.patterns)
    }

    fn read(&self, entry: &ClusterEntry) -> Result<ClusterRead, Error> {
        let (shared, templates) = (&self.shared_catalog, &self.templates);
        read::cluster(&self.workspace, entry, shared, templates)
    }

    /// The clusters that objects make once they are stamped; the objects' dangling references are findings, and what was wrong with the
    /// objects before. What is wrong with the catalog that they share is reported of [`Self::resolve_shared`].
    pub(crate) fn clusters_after_stamp(
        &self,
        objects: &[ManifestObject],
        stamped: &Stamped,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<ClusterView>, Error> {
        let shared = read::cluster_without_nodes(&self.workspace, &self.shared_catalog);
        let clusters = read::clusters_of_objects(objects, Some(stamped), &shared, findings);
        findings.extend(self.workspace.object_findings().cloned());
        let (settings, patterns) = (&self.workspace.settings, &self.patterns);
        let view = |cluster| {
            let view = resolve::cluster(cluster, &self.expanded, settings, patterns)?;
            let is_dangling = |finding: &&Finding| finding.rule == RuleId::ReferenceDangling;
            findings.extend(view.findings.iter().filter(is_dangling).cloned());
            Ok(ClusterView {
                findings: Vec::new(),
                ..view
            })
        };
        clusters.into_iter().map(view).collect()
    }

    /// What the shared layers, and then each cluster's, say of images; each catalog once.
    pub(crate) fn catalogs(&self) -> Result<Vec<ReadCatalog>, Error> {
        let shared = read::cluster_without_nodes(&self.workspace, &self.shared_catalog);
        let mut all = vec![ReadCatalog {
            catalog: shared.catalog,
            sources: shared.sources,
        }];
        for entry in &self.workspace.clusters {
            let read = self.read(entry)?;
            let is_it = |known: &ReadCatalog| Arc::ptr_eq(&known.catalog, &read.catalog);
            if !all.iter().any(is_it) {
                all.push(ReadCatalog {
                    catalog: read.catalog,
                    sources: read.sources,
                });
            }
        }
        Ok(all)
    }

    /// Every cluster that this run looks at through the stages, and what `keep` makes of each. What is found in making it is
    /// added to the list.
    ///
    /// # Errors
    /// A file cannot be read, or `keep` fails.
    pub fn check<T: Send>(
        &self,
        keep: impl Fn(&ClusterView, &Checked, &mut Vec<Finding>) -> Result<T, Error> + Sync,
    ) -> Result<FleetCheck<T>, Error> {
        let entries: Vec<&ClusterEntry> = self.workspace.entries().collect();
        let shared = self.resolve_shared()?;
        let clusters = self.check_clusters(&entries, keep)?;
        let input = WorkspaceInput {
            run_scope: match self.workspace.part {
                Part::Named(_) => RunScope::Part,
                Part::Whole if entries.is_empty() => RunScope::NoCluster,
                Part::Whole => RunScope::Fleet,
            },
            uses: &clusters.uses,
            images: &shared.images,
            sources: &shared.sources,
            settings: &self.workspace.settings,
            facts_given: !self.workspace.facts.is_empty() || self.workspace.records.is_some(),
            lock: shared.lock.as_deref().map(|lock| (lock, &shared.sources)),
        };
        let mut found = self.workspace.findings.clone();
        found.extend(self.endpoint_collisions(&clusters.uses)?);
        if input.run_scope == RunScope::Fleet {
            found.extend(self.workspace.state_findings());
            found.extend(self.find_unused_scopes(&clusters.uses, &shared.images));
            found.extend(self.compare_other_flavors(&clusters.uses)?);
            found.extend(self.find_idle_demands(&shared)?);
        }
        self.check_servers(&clusters.uses, &mut found)?;
        let _work = budget::enter("the rules over all clusters")?;
        let whole = check::workspace(&input, found, &clusters.waivers_used, self.today);
        let mut fleet_check = clusters.fleet_check;
        fleet_check.judged.extend(whole.findings);
        check::fold_consequences(&mut fleet_check.judged);
        let findings = fleet_check.judged.iter_mut();
        self.keep_common_edits(findings.map(|judged| &mut judged.finding))?;
        let unread_files = &mut fleet_check.counts.unread_files;
        for why in self.workspace.unread_files.values() {
            *unread_files.entry(why).or_default() += 1;
        }
        Ok(fleet_check)
    }

    /// The patterns of `policy.clusters` that match no name in the project: their levels apply to nothing.
    fn find_unused_scopes(&self, uses: &ImageUse, images: &Images) -> Vec<Finding> {
        let scopes = self.workspace.settings.policy.scoped.iter().enumerate();
        let unused = scopes.filter(|(number, scope)| {
            let mut keys = images.keys();
            !uses.scopes.contains(number) && !keys.any(|key| scope.pattern.is_match(&**key))
        });
        let unused = unused.map(|(_, scope)| {
            let text = scope.pattern.text();
            let message = format!("`policy.clusters` has `{text}`, which matches no cluster and no node pool");
            let names = self.workspace.entries().map(|entry| &*entry.name);
            let finding = Finding::new(RuleId::ProjectFile, message)
                .with_label(scope.spot.clone(), "")
                .help(match did_you_mean(text, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`metalmark clusters` lists the names: write `CLUSTER`, `CLUSTER/POOL`, or a pattern of either".to_owned(),
                });
            finding.unless_set(Level::Warning)
        });
        unused.collect()
    }

    /// The infrastructure provider of the first cluster that has one. Clusters are read once more for it.
    fn first_provider(&self) -> Option<Arc<str>> {
        let views = { self.workspace.entries() }.filter_map(|entry| self.view(entry).ok());
        let mut providers = views.filter_map(|view| view.cluster.infra_provider);
        Some(providers.next()?.value)
    }

    /// The endpoints that several clusters have. The first two are read once more, for the places.
    fn endpoint_collisions(&self, uses: &ImageUse) -> Result<Vec<Finding>, Error> {
        let view = |user: &EndpointUser| {
            let mut entries = self.workspace.entries();
            let entry = entries.find(|entry| entry.name == user.cluster);
            entry.map(|entry| self.view(entry)).transpose()
        };
        let mut found = Vec::new();
        for (endpoint, users) in &uses.endpoints {
            let pair = users.first().and_then(|first| {
                let other = users.iter().find(|user| user.object != first.object)?;
                Some([first, other])
            });
            if let Some([first, other]) = pair
                && let (Some(first), Some(other)) = (view(first)?, view(other)?)
            {
                found.push(rules::endpoint_collision(endpoint, &[first, other]));
            }
        }
        Ok(found)
    }

    /// Compares each map of Kubernetes versions with the builders' images of flavors that no cluster runs: as it evaluates for their
    /// bootstrap providers.
    fn compare_other_flavors(&self, uses: &ImageUse) -> Result<Vec<Finding>, Error> {
        let mut found = Vec::new();
        for name in uses.maps.values() {
            let Some(entry) = self.workspace.find_cluster(name) else {
                continue;
            };
            let view = self.view_without_lock(entry)?;
            let built = view.images.values().filter(|image| image.built);
            let flavors = built.filter_map(|image| image.facts.text(fact::K8S_FLAVOR));
            let flavors: BTreeSet<&str> = flavors
                .filter(|flavor| !uses.flavors.contains(flavor))
                .collect();
            let others = BOOTSTRAP_PROVIDERS.iter();
            for (provider, _) in others.filter(|(_, flavor)| flavors.contains(flavor)) {
                let mut other = view.clone();
                let located = Located::new((*provider).into(), Place::NONE);
                other.cluster.bootstrap_provider = Some(located);
                other.cluster.k8s_versions =
                    read::version_map(&self.workspace, entry, &self.templates, provider)?;
                let own = &view.cluster.k8s_versions;
                let behind = rules::compare_version_map(&other, own, &self.workspace.settings);
                let behind = behind.into_iter();
                found.extend(behind.map(|it| it.with_subject(Subject::default())));
            }
        }
        Ok(found)
    }

    /// Compares what management clusters serve with what machines of their clusters boot.
    fn check_servers(&self, uses: &ImageUse, findings: &mut Vec<Finding>) -> Result<(), Error> {
        for (name, artifacts) in &uses.fetched {
            let Some(entry) = self.workspace.find_cluster(name) else {
                continue;
            };
            let view = self.view(entry)?;
            let of_clusters = artifacts.iter().map(|(artifact, cluster)| Boots {
                cluster: Arc::clone(cluster),
                now: vec![artifact.clone()],
                ..Boots::default()
            });
            let own = Boots::from_view(&view);
            let clusters: Vec<Boots> = of_clusters.chain([own]).collect();
            let clusters: Vec<&Boots> = clusters.iter().collect();
            let plan = server_plan(&view, &clusters, &self.workspace.settings);
            findings.extend(rules::find_unserved_images(&view, &plan));
        }
        Ok(())
    }

    /// One cluster through the stages, as [`Self::check`] runs all of them. Reports nothing that requires the whole fleet, such
    /// as an image that nobody uses.
    pub(crate) fn check_one<T: Send>(
        &self,
        entry: &ClusterEntry,
        keep: impl Fn(&ClusterView, &Checked, &mut Vec<Finding>) -> Result<T, Error> + Sync,
    ) -> Result<FleetCheck<T>, Error> {
        let clusters = self.check_clusters(&[entry], keep)?;
        let mut found = self.workspace.findings.clone();
        let settings = &self.workspace.settings;
        let unproven = &clusters.uses.signed.unproven;
        let (lock, sources) = (self.lock(), self.lock_sources());
        found.extend(rules::missing_evidence(lock, &sources, settings, unproven));
        // Another cluster may name the key of an entry that this one names none for.
        if self.workspace.clusters.len() == 1 {
            found.extend(rules::entries_without_key(lock, &sources, &clusters.uses));
        }
        let mut fleet_check = clusters.fleet_check;
        fleet_check.add(found, self);
        let findings = fleet_check.judged.iter_mut();
        self.keep_common_edits(findings.map(|judged| &mut judged.finding))?;
        Ok(fleet_check)
    }

    /// Reads, resolves and checks each cluster on its own, and joins the results in the clusters' order.
    fn check_clusters<T: Send>(
        &self,
        entries: &[&ClusterEntry],
        keep: impl Fn(&ClusterView, &Checked, &mut Vec<Finding>) -> Result<T, Error> + Sync,
    ) -> Result<CheckedClusters<T>, Error> {
        let settings = &self.workspace.settings;
        let uses: Mutex<ImageUse> = Mutex::default();
        let check_cluster = |entry: &&ClusterEntry| {
            let _work = budget::enter(format!("the cluster `{}`", entry.name))?;
            let view = self.view(entry)?;
            let mut checked = check::cluster(&view, settings, self.today);
            let mut found = Vec::new();
            let result = keep(&view, &checked, &mut found)?;
            if !found.is_empty() {
                checked.join(check::findings(found, settings, self.today));
            }
            let used = image_use(&view, entry, &settings.policy);
            uses.lock().add(used);
            Ok(CheckedCluster {
                counts: PoolCounts::count_pools(&view),
                checked,
                result,
            })
        };
        // In a list of its size: one that grows is in memory twice, and results hold the rendered texts.
        let clusters: Vec<Result<_, Error>> = entries.par_iter().map(check_cluster).collect();
        let mut checked = CheckedClusters::with_capacity(entries.len());
        for (entry, cluster) in entries.iter().zip(clusters) {
            checked.add(entry, cluster?);
        }
        checked.uses = std::mem::take(&mut *uses.lock());
        let left_out = self.workspace.absence_finding();
        checked
            .fleet_check
            .add(left_out.into_iter().collect(), self);
        Ok(checked)
    }

    /// The result of the layers that every cluster shares, alone.
    pub(crate) fn resolve_shared(&self) -> Result<ClusterView, Error> {
        resolve::cluster(
            read::cluster_without_nodes(&self.workspace, &self.shared_catalog),
            &self.expanded,
            &self.workspace.settings,
            &self.patterns,
        )
    }
}

/// What a check of the fleet keeps of each cluster, and its result for all of them.
pub struct FleetCheck<T> {
    /// What the caller made of each cluster, in the workspace's order.
    pub(crate) results: Vec<T>,
    /// The clusters with a finding at error level.
    pub(crate) faulty: BTreeSet<Arc<str>>,
    /// What was checked of the node pools.
    pub(crate) counts: PoolCounts,
    /// All findings.
    pub judged: Vec<Judged>,
}

impl<T> FleetCheck<T> {
    /// What reports print of it.
    pub(crate) fn report(&self) -> CheckReport<'_> {
        CheckReport {
            judged: &self.judged,
            pools: &self.counts,
            pool_list: None,
        }
    }

    /// Whether a finding at error level exists.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// The result of a run that finds no more than this.
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::from_errors(self.has_errors())
    }

    /// How many findings are at error level.
    pub(crate) fn errors(&self) -> usize {
        let judged = self.judged.iter();
        judged.filter(|judged| judged.level == Level::Error).count()
    }

    /// The check without the results of each cluster.
    pub(crate) fn drop_results(self) -> FleetCheck<()> {
        self.with_results(Vec::new())
    }

    fn with_results<U>(self, results: Vec<U>) -> FleetCheck<U> {
        FleetCheck {
            results,
            faulty: self.faulty,
            counts: self.counts,
            judged: self.judged,
        }
    }

    /// Adds a finding where no node pool was checked and no error says why.
    pub(crate) fn require_pools(&mut self, fleet: &Fleet) {
        if let Some(finding) = self.absence_of_pools(fleet) {
            self.add(vec![finding.help("or type `--allow-empty`")], fleet);
        }
    }

    /// Why no node pool was checked; none where one was, or an error says it.
    pub(crate) fn absence_of_pools(&mut self, fleet: &Fleet) -> Option<Finding> {
        let workspace = &fleet.workspace;
        if self.counts.checked > 0 || self.has_errors() {
            return None;
        }
        let is_known = |judged: &Judged| judged.finding.rule == RuleId::NothingChecked;
        let unused = &workspace.unused_template;
        let unused = unused.as_ref().filter(|_| workspace.clusters.is_empty());
        Some(match (self.judged.iter().position(is_known), unused) {
            (Some(known), _) => Finding {
                unless_set: None,
                ..self.judged.remove(known).finding
            },
            (None, Some(unused)) => unused.clone(),
            (None, None) => {
                let counts = self.counts.text();
                let message = match &*counts {
                    "" => "no node pool was checked",
                    text => text,
                };
                let provider = fleet.first_provider();
                let mut unread = workspace.unread_files.keys();
                let help = match (provider.as_deref().unwrap_or("capm3"), unread.next()) {
                    (own, _) if workspace.has_values() => {
                        format!("select images in the values, `cluster.{own}.image_key: …`")
                    }
                    _ if !self.counts.skipped.is_empty() => {
                        "`metalmark clusters` says of each node pool why it is not known".to_owned()
                    }
                    (_, Some(path)) => {
                        format!("commit the manifests of `{}` as plain YAML", path.display())
                    }
                    (_, None) => {
                        "add manifests with a control plane, MachineDeployment or MachinePool, \
                                  or name their folders: `manifests: [FOLDER]`"
                            .to_owned()
                    }
                };
                Finding::new(RuleId::NothingChecked, message).help(help)
            }
        })
    }

    /// Adds what was found behind the rules.
    pub(crate) fn add(&mut self, found: Vec<Finding>, fleet: &Fleet) {
        let checked = check::findings(found, &fleet.workspace.settings, fleet.today);
        self.judged.extend(checked.findings);
    }
}

impl<A, B> FleetCheck<(A, B)> {
    /// The first results of all clusters, and the check with the second ones.
    pub(crate) fn split(mut self) -> (Vec<A>, FleetCheck<B>) {
        let results = std::mem::take(&mut self.results);
        let (first, second) = results.into_iter().unzip();
        (first, self.with_results(second))
    }
}

/// One cluster on its way.
struct CheckedCluster<T> {
    checked: Checked,
    counts: PoolCounts,
    result: T,
}

/// Clusters without what only a look at all of them finds.
struct CheckedClusters<T> {
    fleet_check: FleetCheck<T>,
    /// What they use.
    uses: ImageUse,
    /// The waivers that accepted something.
    waivers_used: BTreeSet<usize>,
}

impl<T> CheckedClusters<T> {
    fn with_capacity(clusters: usize) -> Self {
        Self {
            fleet_check: FleetCheck {
                results: Vec::with_capacity(clusters),
                faulty: BTreeSet::new(),
                counts: PoolCounts::default(),
                judged: Vec::new(),
            },
            uses: ImageUse::default(),
            waivers_used: BTreeSet::new(),
        }
    }

    fn add(&mut self, entry: &ClusterEntry, cluster: CheckedCluster<T>) {
        let CheckedCluster {
            checked,
            counts,
            result,
        } = cluster;
        if checked.has_errors() {
            self.fleet_check.faulty.insert(Arc::clone(&entry.name));
        }
        self.waivers_used.extend(checked.waivers_used);
        self.fleet_check.judged.extend(checked.findings);
        self.fleet_check.counts.add(&counts);
        self.fleet_check.results.push(result);
    }
}

/// Where a cluster's map of Kubernetes versions is, if it has one: the files and offsets of its entries.
fn places_of_map(view: &ClusterView) -> Option<String> {
    let entries = view.cluster.k8s_versions.iter();
    let spots = entries.filter_map(|entry| view.sources.resolve(entry.version.place));
    let places = spots.map(|spot| format!("{}:{} ", spot.source.path, spot.start));
    Some(places.collect()).filter(|places: &String| !places.is_empty())
}

fn image_use(view: &ClusterView, entry: &ClusterEntry, policy: &Policy) -> ImageUse {
    let selections = view.selections.iter();
    let installed = view.cluster.install_image.as_ref();
    let installed = installed.and_then(|named| find_image(&named.value, &view.images));
    let files = selections.clone().filter_map(|it| it.file.as_ref());
    let booted = { selections.flat_map(Selection::all_images) }
        .chain(installed)
        .chain(files);
    let artifacts = || view.images.values().chain(view.bundles.values());
    ImageUse {
        booted: booted.cloned().collect(),
        served: view.served.iter().cloned().collect(),
        // Nobody knows what a broken file says, nor which keys select the images of an unknown provider.
        is_partial: { view.findings.iter() }.any(|one| one.rule == RuleId::YamlSyntax)
            || view.cluster.find_unknown_provider().is_some()
            || view.selections.iter().any(is_unknown),
        locked: artifacts()
            .filter_map(|image| Some(image.digest.as_ref()?.place.start))
            .chain(entries_of_pools(view))
            .collect(),
        unlocked: artifacts()
            .filter(|image| view.lock.is_some() && image.digest.is_none() && is_lockable(image))
            .map(|image| Arc::clone(&image.key))
            .collect(),
        signed: view.signed.clone(),
        flavors: { view.cluster.bootstrap_provider.iter() }
            .filter_map(|provider| flavor_of(&provider.value))
            .collect(),
        maps: { places_of_map(view).into_iter() }
            .map(|places| (places, Arc::clone(&entry.name)))
            .collect(),
        scopes: find_scopes(view, policy),
        endpoints: endpoint_user(view).into_iter().collect(),
        fetched: { entry.management.iter() }
            .map(|management| (Arc::clone(management), collect_artifacts(view)))
            .collect(),
    }
}

/// What patterns of a pool are matched against: its cluster, itself and its image.
pub(crate) fn pool_names(view: &ClusterView, it: SelectedPool<'_>) -> Vec<String> {
    let subject = Subject {
        image: proof::image_name(it.pool, it.selection).map(str::to_owned),
        ..Subject::pool(&view.cluster.name, &it.pool.name)
    };
    subject.names()
}

/// The numbers of the entries of `policy.clusters` that match a cluster or one of its pools.
fn find_scopes(view: &ClusterView, policy: &Policy) -> BTreeSet<usize> {
    if policy.scoped.is_empty() {
        return BTreeSet::new();
    }
    let names = view.pools().flat_map(|it| pool_names(view, it));
    let own = Subject::cluster(&view.cluster.name).names();
    let names: Vec<String> = own.into_iter().chain(names).collect();
    policy.scoped.matches(&names).collect()
}

/// Whether a pool selects an image of the catalog, and it is not known which one is meant.
fn is_unknown(selection: &Selection) -> bool {
    matches!(
        selection.outcome,
        Outcome::Unknown(_) | Outcome::NoMatch | Outcome::Invalid(_)
    )
}

/// What the machines of a cluster fetch from its management cluster, and the cluster.
fn collect_artifacts(view: &ClusterView) -> BTreeMap<Artifact, Arc<str>> {
    let boots = Boots::from_view(view);
    let artifacts = boots.now.into_iter();
    artifacts
        .map(|artifact| (artifact, Arc::clone(&boots.cluster)))
        .collect()
}

/// The endpoint of a cluster, and the cluster.
fn endpoint_user(view: &ClusterView) -> Option<(String, BTreeSet<EndpointUser>)> {
    let cluster = &view.cluster;
    let endpoint = cluster.endpoint.as_ref()?.endpoint.as_ref()?;
    let object = match cluster.origin {
        ClusterOrigin::Values => &cluster.name,
        ClusterOrigin::Manifests => &cluster.object_name,
    };
    let user = EndpointUser {
        object: Arc::clone(object),
        cluster: Arc::clone(&cluster.name),
    };
    Some((endpoint.authority(), BTreeSet::from([user])))
}

/// Where the digests start of the entries whose reference a pool names itself.
fn entries_of_pools(view: &ClusterView) -> impl Iterator<Item = u32> {
    let urls = || { view.cluster.pools.iter() }.filter_map(|pool| pool.choice.url.as_ref());
    let entries = view.lock.iter().flat_map(|lock| lock.images());
    let named = entries.filter(move |entry| {
        let reference = entry.reference.value.text();
        urls().any(|url| is_same_artifact(reference, &url.value))
    });
    named.map(|entry| entry.place().start)
}
