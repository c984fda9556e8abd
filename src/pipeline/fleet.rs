//! The stages over all clusters: each is read, resolved and checked on its own, both cores busy, the answers in the clusters'
//! order. What the caller does not request is dropped with its cluster, so that memory does not grow with the fleet's values.

use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::catalog::locking::{self, Keyring};
use crate::catalog::resolve::{self, Catalogs};
use crate::catalog::sources;
use crate::error::Error;
use crate::evaluate::TemplateCache;
use crate::files::for_all;
use crate::model::catalog::ReadCatalog;
use crate::model::cluster_view::{ClusterRead, ClusterView};
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged};
use crate::model::lock::{Lock, is_lockable};
use crate::model::matching::{PatternCache, Selection};
use crate::model::pool_counts::PoolCounts;
use crate::model::rule::{Level, RuleId};
use crate::pipeline::Verdict;
use crate::pipeline::cache::{Cache, Keeper};
use crate::pipeline::check::{self, Checked};
use crate::read::{self, ClusterEntry, SharedCatalog, Stamped, Workspace};
use crate::rules::{self, ImageUse, RunScope, WorkspaceInput};
use capi::objects::ManifestObject;
use yaml_tree::place::Sources;

/// What a run keeps of a cluster, made of its view and the check of it. What is found in making it is added to the list.
pub(crate) trait Keep<T>:
    Fn(&ClusterView, &Checked, &mut Vec<Finding>) -> Result<T, Error> + Sync
{
}

impl<T, F> Keep<T> for F where
    F: Fn(&ClusterView, &Checked, &mut Vec<Finding>) -> Result<T, Error> + Sync
{
}

/// A workspace, with what its clusters are read and resolved by.
pub(crate) struct Fleet {
    /// What was read of the project.
    pub(crate) workspace: Workspace,
    /// Patterns, each compiled once.
    pub(crate) patterns: PatternCache,
    /// Expressions, each parsed once.
    templates: TemplateCache,
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
    /// Opens the image sources; what is wrong in them joins the workspace's findings.
    pub(crate) fn open(mut workspace: Workspace, today: Date) -> Result<Self, Error> {
        let mut facts = sources::facts(
            &workspace.settings.root,
            &*workspace.files,
            &workspace.facts,
            &workspace.settings.registries.architecture,
            &mut workspace.findings,
        )?;
        if let Some((records, file)) = &workspace.records {
            facts.add_records(records, file);
        }
        let templates = TemplateCache::default();
        let files = Arc::clone(&workspace.files);
        Ok(Self {
            keyring: Keyring::new(move |named| for_all(|| read::key_text(&*files, named))),
            shared_catalog: read::shared_catalog(&workspace, &templates),
            expanded: Catalogs::new(facts),
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
    pub(crate) fn view(&self, entry: &ClusterEntry) -> Result<ClusterView, Error> {
        let mut view = self.unlocked_view(entry)?;
        let required = &self.workspace.settings.policy.signatures;
        let trust = locking::trust(&view, required, &self.keyring);
        view.findings.extend(trust.findings);
        view.signed = trust.signed;
        Ok(view)
    }

    /// One cluster, read and resolved, whatever its lock says.
    pub(crate) fn unlocked_view(&self, entry: &ClusterEntry) -> Result<ClusterView, Error> {
        let settings = &self.workspace.settings;
        resolve::cluster(self.read(entry)?, &self.expanded, settings, &self.patterns)
    }

    fn read(&self, entry: &ClusterEntry) -> Result<ClusterRead, Error> {
        let (shared, templates) = (&self.shared_catalog, &self.templates);
        read::cluster(&self.workspace, entry, shared, templates)
    }

    /// The clusters that objects make once they are stamped; the objects' dangling references are findings. What is wrong with
    /// the catalog that they share is reported of [`Self::shared`].
    pub(crate) fn stamped(
        &self,
        objects: &[ManifestObject],
        stamped: &Stamped,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<ClusterView>, Error> {
        let shared = read::shared(&self.workspace, &self.shared_catalog);
        let clusters = read::clusters_of_objects(objects, Some(stamped), &shared, findings);
        let (settings, patterns) = (&self.workspace.settings, &self.patterns);
        let view = |cluster| {
            let view = resolve::cluster(cluster, &self.expanded, settings, patterns)?;
            Ok(ClusterView {
                findings: Vec::new(),
                ..view
            })
        };
        clusters.into_iter().map(view).collect()
    }

    /// What the shared layers, and then each cluster's, say of images; each catalog once.
    pub(crate) fn catalogs(&self) -> Result<Vec<ReadCatalog>, Error> {
        let shared = read::shared(&self.workspace, &self.shared_catalog);
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

    /// Every cluster that this run looks at through the stages, and what `keep` makes of each.
    pub(crate) fn check<T: Send>(&self, keep: impl Keep<T>) -> Result<FleetCheck<T>, Error> {
        let entries: Vec<&ClusterEntry> = self.workspace.entries().collect();
        let shared = self.shared()?;
        let uses: Mutex<ImageUse> = Mutex::default();
        let parts = self.parts(&entries, &uses, keep)?;
        Ok(self.conclude(&shared, &entries, parts, &uses.lock()))
    }

    /// The same, without the clusters that the cache knows to be clean and unchanged.
    pub(crate) fn check_changed<T: Send, K: Keeper<T> + Send>(
        &self,
        cache: Option<Cache<K>>,
        keep: impl Keep<T>,
    ) -> Result<FleetCheck<T>, Error> {
        let Some(cache) = cache else {
            return self.check(keep);
        };
        let entries: Vec<&ClusterEntry> = self.workspace.entries().collect();
        let shared = self.shared()?;
        let uses: Mutex<ImageUse> = Mutex::default();
        let of_entry = |(number, entry): (usize, &&ClusterEntry)| {
            let (mut part, line) = cache.part(number, || self.part(entry, &keep))?;
            uses.lock().add(std::mem::take(&mut part.uses));
            Ok((part, line))
        };
        let parts: Vec<Result<_, Error>> = entries.par_iter().enumerate().map(of_entry).collect();
        let parts: Result<Vec<_>, Error> = parts.into_iter().collect();
        let (parts, lines): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
        cache.keep(&lines);
        Ok(self.conclude(&shared, &entries, parts, &uses.lock()))
    }

    /// One cluster through the stages, as [`Self::check`] runs all of them. Reports nothing that requires the whole fleet, such
    /// as an image that nobody uses.
    pub(crate) fn check_one<T: Send>(
        &self,
        entry: &ClusterEntry,
        keep: impl Keep<T>,
    ) -> Result<FleetCheck<T>, Error> {
        let uses: Mutex<ImageUse> = Mutex::default();
        let parts = self.parts(&[entry], &uses, keep)?;
        let (mut fleet_check, _) = gather(&[entry], parts);
        let mut found = self.workspace.findings.clone();
        // Another cluster may name the key of an entry that this one names none for.
        if self.workspace.clusters.len() == 1 {
            found.extend(rules::unchecked(
                self.lock(),
                &self.lock_sources(),
                &uses.lock(),
            ));
        }
        fleet_check.add(found, self);
        Ok(fleet_check)
    }

    fn parts<T: Send>(
        &self,
        entries: &[&ClusterEntry],
        uses: &Mutex<ImageUse>,
        keep: impl Keep<T>,
    ) -> Result<Vec<Part<T>>, Error> {
        let of_entry = |entry: &&ClusterEntry| {
            let mut part = self.part(entry, &keep)?;
            uses.lock().add(std::mem::take(&mut part.uses));
            Ok(part)
        };
        // In a list of its size: one that grows is in memory twice, and parts hold the rendered texts.
        let parts: Vec<_> = entries.par_iter().map(of_entry).collect();
        parts.into_iter().collect()
    }

    fn part<T>(&self, entry: &ClusterEntry, keep: &impl Keep<T>) -> Result<Part<T>, Error> {
        let view = self.view(entry)?;
        let mut checked = check::cluster(&view, &self.workspace.settings, self.today);
        let mut found = Vec::new();
        let result = keep(&view, &checked, &mut found)?;
        if !found.is_empty() {
            checked.join(check::findings(found, &self.workspace.settings, self.today));
        }
        Ok(Part {
            uses: uses(&view),
            counts: PoolCounts::of(&view, self.workspace.settings.matching),
            checked,
            result,
        })
    }

    /// The result for all clusters together.
    fn conclude<T>(
        &self,
        shared: &ClusterView,
        entries: &[&ClusterEntry],
        parts: Vec<Part<T>>,
        uses: &ImageUse,
    ) -> FleetCheck<T> {
        let (mut fleet_check, waivers_used) = gather(entries, parts);
        let input = WorkspaceInput {
            run_scope: match self.workspace.shard {
                Some(_) => RunScope::Shard,
                None if entries.is_empty() => RunScope::NoCluster,
                None => RunScope::Fleet,
            },
            uses,
            images: &shared.images,
            sources: &shared.sources,
            settings: &self.workspace.settings,
            facts_given: !self.workspace.facts.is_empty() || self.workspace.records.is_some(),
            lock: shared.lock.as_deref().map(|lock| (lock, &shared.sources)),
        };
        let whole = check::workspace(
            &input,
            self.workspace.findings.clone(),
            &waivers_used,
            self.today,
        );
        fleet_check.judged.extend(whole.findings);
        fleet_check
    }

    /// The result of the layers that every cluster shares, alone.
    pub(crate) fn shared(&self) -> Result<ClusterView, Error> {
        resolve::cluster(
            read::shared(&self.workspace, &self.shared_catalog),
            &self.expanded,
            &self.workspace.settings,
            &self.patterns,
        )
    }
}

/// What a check of the fleet keeps of each cluster, and its result for all of them.
pub(crate) struct FleetCheck<T> {
    /// What the caller made of each cluster, in the workspace's order.
    pub(crate) results: Vec<T>,
    /// The clusters with a finding at error level.
    pub(crate) faulty: BTreeSet<Arc<str>>,
    /// What was checked of the node pools.
    pub(crate) counts: PoolCounts,
    /// All findings.
    pub(crate) judged: Vec<Judged>,
}

impl<T> FleetCheck<T> {
    /// Whether a finding at error level exists.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors() > 0
    }

    /// The result of a run that finds no more than this.
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::of(self.has_errors())
    }

    /// How many findings are at error level.
    pub(crate) fn errors(&self) -> usize {
        let judged = self.judged.iter();
        judged.filter(|judged| judged.level == Level::Error).count()
    }

    /// The check without the results of each cluster.
    pub(crate) fn without_results(self) -> FleetCheck<()> {
        self.with(Vec::new())
    }

    fn with<U>(self, results: Vec<U>) -> FleetCheck<U> {
        FleetCheck {
            results,
            faulty: self.faulty,
            counts: self.counts,
            judged: self.judged,
        }
    }

    /// Adds a finding where no node pool was checked and no error says why. Other shards may have checked some.
    pub(crate) fn require_pools(&mut self, fleet: &Fleet) {
        let workspace = &fleet.workspace;
        if self.counts.checked > 0 || workspace.shard.is_some() || self.has_errors() {
            return;
        }
        let is_known = |judged: &Judged| judged.finding.rule == RuleId::NothingChecked;
        let finding = match self.judged.iter().position(is_known) {
            Some(known) => Finding {
                unless_set: None,
                ..self.judged.remove(known).finding
            },
            None => {
                let counts = self.counts.text();
                let message = match &*counts {
                    "" => "no node pool was checked",
                    text => text,
                };
                let help = match workspace.has_values() {
                    true => "select images in the values, `cluster.capm3.image_key: …`",
                    false => "docs/manifests.md says what is read of manifests",
                };
                Finding::new(RuleId::NothingChecked, message).help(help)
            }
        };
        let finding = finding.help("or type `--allow-empty`");
        self.add(vec![finding], fleet);
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
        (first, self.with(second))
    }
}

/// One cluster's part on its way.
pub(super) struct Part<T> {
    pub(super) checked: Checked,
    pub(super) counts: PoolCounts,
    pub(super) uses: ImageUse,
    pub(super) result: T,
}

/// The clusters' parts joined, and the waivers that accepted something.
fn gather<T>(entries: &[&ClusterEntry], parts: Vec<Part<T>>) -> (FleetCheck<T>, BTreeSet<usize>) {
    let mut fleet_check = FleetCheck {
        results: Vec::with_capacity(parts.len()),
        faulty: BTreeSet::new(),
        counts: PoolCounts::default(),
        judged: Vec::new(),
    };
    let mut waivers_used = BTreeSet::new();
    for (entry, part) in entries.iter().zip(parts) {
        if part.checked.has_errors() {
            fleet_check.faulty.insert(Arc::clone(&entry.name));
        }
        waivers_used.extend(part.checked.waivers_used);
        fleet_check.judged.extend(part.checked.findings);
        fleet_check.counts.add(&part.counts);
        fleet_check.results.push(part.result);
    }
    (fleet_check, waivers_used)
}

fn uses(view: &ClusterView) -> ImageUse {
    let booted = view.selections.iter().filter_map(Selection::image_key);
    let artifacts = || view.images.values().chain(view.bundles.values());
    ImageUse {
        booted: booted.cloned().collect(),
        served: view.served.iter().cloned().collect(),
        locked: artifacts()
            .filter_map(|image| Some(image.digest.as_ref()?.place.start))
            .collect(),
        unlocked: artifacts()
            .filter(|image| view.lock.is_some() && image.digest.is_none() && is_lockable(image))
            .map(|image| Arc::clone(&image.key))
            .collect(),
        signed: view.signed.clone(),
    }
}
