//! Stage 2: catalog + [`ImageSource`]s → images with their references and facts; then what each pool selects of them.
//!
//! Pure: sources are given to it. Never derives a checksum or a file name from an image's name (docs/sylva.md#facts).

mod bundles;
mod facts;
mod problem;
mod reference;

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::sync::{Arc, OnceLock};

use capi::image::{Image, ImageKey, Images, RECORDS, fact};
use capi::providers::{self, Provider};
use oci_artifacts::Address;
use parking_lot::Mutex;
use yaml_tree::place::Located;

use crate::catalog::sources::{ImageFacts, ImageSource, Wanted};
use crate::decide::matching::{PatternCache, Selectable};
use crate::decide::proof::judge_pools;
use crate::decide::selected::{Selected, resolve_choices};
use crate::error::Error;
use crate::model::catalog::{Catalog, CatalogEntry, Described, Registry};
use crate::model::cluster::{Choice, Cluster};
use crate::model::cluster_view::{ClusterRead, ClusterView};
use crate::model::finding::Finding;
use crate::model::judgment::Disagreement;
use crate::model::lock::SignedEntries;
use crate::model::name::{NameSchemes, key_of};
use crate::model::settings::Settings;
use crate::render::ImageUrls;
pub use problem::Problem;
use reference::Reference;

/// A resolved catalog. Clusters that do not touch the shared catalog share one.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The images.
    pub images: Selectable,
    /// The component bundles by key.
    pub bundles: Arc<Images>,
    /// The registries that the catalog knows, by name.
    pub registries: Arc<BTreeMap<Arc<str>, Registry>>,
    /// What is wrong with the catalog, in its order.
    pub problems: Vec<Problem>,
}

/// The address below which the registry of an entry of the builder's list has its image; none of an entry that gives its own
/// reference, or whose registry is switched off or not known.
pub fn registry_prefix(entry: &CatalogEntry, catalog: &Catalog) -> Option<String> {
    reference::prefix(entry, catalog)
}

/// Expands a catalog: `os_images` first, then the builder's list (docs/sylva.md#the-catalog), each entry with its reference
/// (docs/sylva.md#the-catalog) and with all that values, sources and its name say of it.
///
/// Images of a disabled registry are left out silently (docs/sylva.md#the-catalog). Where the catalog has no builder's list,
/// the images that sources list by themselves are images too: an exported `os-images-info` is all that a workload cluster has.
/// What the project file records is always one, and so is what is exported of a registry of an older generation.
///
/// What is said of the file at one location counts for machines of the provider that boots from there.
///
/// # Errors
/// A source cannot be read.
pub fn images(
    catalog: &Catalog,
    sources: &[Box<dyn ImageSource>],
    provider: Option<&dyn Provider>,
    schemes: &NameSchemes,
) -> Result<Resolved, Error> {
    let mut images = Images::new();
    let mut problems = Vec::new();
    for entry in &catalog.entries {
        if let Some(image) = expand(entry, catalog, &mut problems) {
            add(image, &mut images, &mut problems);
        }
    }
    let has_list = catalog.has_list();
    for source in sources {
        let is_whole = !has_list || source.declares();
        for (key, described) in source.list() {
            let uri = described.facts.text(fact::URI);
            if is_whole || catalog.is_of_older(&described.name, uri) {
                images
                    .entry(Arc::clone(&key))
                    .or_insert_with(|| image_of_listing(key, &described, catalog));
            }
        }
    }
    for source in sources {
        learn_from(&**source, &mut images, &mut problems)?;
    }
    let locations = provider.map(|provider| providers::locations_of(provider.data()));
    for image in images.values_mut() {
        facts::learn_name(image, schemes, &mut problems);
        if let Some(locations) = &locations {
            image.facts = image.facts.select_location(locations.iter().copied());
        }
    }
    let bundles = bundles::bundles(catalog, sources, &mut problems)?;
    Ok(Resolved {
        images: Selectable::new(Arc::new(images)),
        bundles: Arc::new(bundles),
        registries: Arc::new(catalog.registries.clone()),
        problems,
    })
}

/// An entry with its key, its reference and what it says itself. A name that can be no key stays as it is, for
/// `image-name-invalid` to show.
fn expand(entry: &CatalogEntry, catalog: &Catalog, problems: &mut Vec<Problem>) -> Option<Image> {
    let name = &entry.name.value;
    let key = key_of(name).unwrap_or_else(|_| Arc::clone(name));
    let uri = match reference::compose(entry, catalog) {
        Reference::Known(uri) => Some(Located::new(uri, entry.place)),
        Reference::Disabled => return None,
        Reference::UnknownRegistry => None,
        Reference::Incomplete(reason) => {
            let place = entry
                .registry
                .as_ref()
                .map_or(entry.place, |registry| registry.place);
            problems.push(Problem::NoReference {
                key: Arc::clone(&key),
                place,
                reason,
            });
            None
        }
    };
    problems.extend(reference::other_registry(entry, catalog));
    let artifact = match &uri {
        Some(uri) if !entry.built => reference::artifact(&uri.value).map(Arc::from),
        _ => None,
    };
    Some(Image {
        facts: facts::from_entry(entry, uri.as_ref()),
        name: Arc::clone(name),
        artifact: artifact.unwrap_or_else(|| Arc::clone(name)),
        place: entry.place,
        uri: uri.map(|uri| uri.map(Address::new)),
        digest: None,
        pulled: None,
        enabled: entry.enabled.clone(),
        built: entry.built,
        list: entry.list,
        registry: catalog.registry_of(entry).cloned(),
        key,
    })
}

/// One key, one image. Upstream writes both lists into one map, where the later one, the builder's, wins
/// (docs/sylva.md#the-catalog).
fn add(image: Image, images: &mut Images, problems: &mut Vec<Problem>) {
    match images.entry(Arc::clone(&image.key)) {
        btree_map::Entry::Vacant(vacant) => {
            vacant.insert(image);
        }
        btree_map::Entry::Occupied(mut occupied) => {
            let replaced = occupied.insert(image);
            let kept = occupied.get();
            problems.push(Problem::Collision {
                key: Arc::clone(&kept.key),
                kept: (Arc::clone(&kept.artifact), kept.place),
                dropped: (Arc::clone(&replaced.artifact), replaced.place),
                across_lists: kept.built != replaced.built,
            });
        }
    }
}

/// An image that only a source knows.
fn image_of_listing(key: ImageKey, described: &Described, catalog: &Catalog) -> Image {
    let uri = described.facts.get(fact::URI);
    let registry = catalog.find_registry(
        &described.name,
        described.facts.text(fact::OCI_REGISTRY),
        uri.map(|uri| &*uri.value),
    );
    let artifact = uri
        .and_then(|uri| reference::artifact(&uri.value))
        .map_or_else(|| Arc::clone(&described.name), Arc::from);
    Image {
        key,
        name: Arc::clone(&described.name),
        artifact,
        place: described.place,
        uri: uri.map(|uri| Located::new(Address::new(Arc::clone(&uri.value)), uri.place)),
        digest: None,
        pulled: None,
        facts: described.facts.clone(),
        enabled: None,
        built: false,
        list: RECORDS,
        registry: registry.cloned(),
    }
}

fn learn_from(
    source: &dyn ImageSource,
    images: &mut Images,
    problems: &mut Vec<Problem>,
) -> Result<(), Error> {
    let wanted: Vec<Wanted<'_>> = images
        .values()
        .map(|image| Wanted {
            key: &image.key,
            uri: image.uri.as_ref().map(|uri| &uri.value),
            registry: image.registry.as_deref(),
        })
        .collect();
    let described: Vec<Option<Arc<Described>>> = source
        .describe(&wanted)
        .into_iter()
        .collect::<Result<_, _>>()?;
    for (image, described) in images.values_mut().zip(described) {
        if let Some(described) = described {
            facts::learn_described(image, &described, problems);
        }
    }
    Ok(())
}

/// The catalogs that were expanded already. Clusters that share a catalog share its images.
pub struct Catalogs {
    facts: ImageFacts,
    schemes: NameSchemes,
    expanded: Mutex<Vec<Expanded>>,
    urls: OnceLock<ImageUrls>,
}

/// A catalog that was expanded for a provider.
struct Expanded {
    catalog: Arc<Catalog>,
    provider: Option<&'static str>,
    resolved: Arc<Resolved>,
}

/// How many catalogs are kept: the shared one and a few more, so that memory does not grow with the fleet.
const KEPT: usize = 16;

impl Catalogs {
    /// None yet; all will learn from these sources, and from names by these schemes.
    pub fn new(facts: ImageFacts, schemes: NameSchemes) -> Self {
        Self {
            facts,
            schemes,
            expanded: Mutex::default(),
            urls: OnceLock::new(),
        }
    }

    /// The sources that they learn from.
    pub fn facts(&self) -> &ImageFacts {
        &self.facts
    }

    fn resolve(
        &self,
        catalog: &Arc<Catalog>,
        provider: Option<&'static dyn Provider>,
    ) -> Result<Arc<Resolved>, Error> {
        let lock = || self.expanded.lock();
        let name = provider.map(|provider| provider.data().name);
        let known = |expanded: &[Expanded]| {
            let mut same = expanded.iter();
            let same =
                same.find(|known| Arc::ptr_eq(&known.catalog, catalog) && known.provider == name);
            same.map(|known| Arc::clone(&known.resolved))
        };
        if let Some(resolved) = known(&lock()) {
            return Ok(resolved);
        }
        // Not under the lock: two threads that expand one catalog at once get the same result.
        let resolved = images(catalog, &self.facts.sources, provider, &self.schemes)?;
        let resolved = Arc::new(resolved);
        let mut expanded = lock();
        if expanded.len() < KEPT && known(&expanded).is_none() {
            expanded.push(Expanded {
                catalog: Arc::clone(catalog),
                provider: name,
                resolved: Arc::clone(&resolved),
            });
        }
        Ok(resolved)
    }
}

/// Forgets the images of pools that name one of which something depends on a secret, or may select it.
fn forget_unknown(cluster: &mut Cluster, catalog: &Catalog) {
    if catalog.unknown.is_empty() {
        return;
    }
    for pool in &mut cluster.pools {
        let Choice {
            key,
            other_key,
            selector,
            ..
        } = &pool.choice;
        let keys = [key, other_key].into_iter().flatten();
        let named = { keys }
            .find(|key| catalog.unknown.contains(&key.value))
            .map(|key| {
                let clause = format!("image `{}` depends on a secret", key.value);
                Located::new(clause.into(), key.place)
            });
        let selector = selector.as_ref().filter(|_| key.is_none());
        let selected = selector.map(|it| it.place);
        let clause = "an image that the selector may take depends on a secret";
        let selected = selected.map(|place| Located::new(clause.into(), place));
        let unknown = named.or(selected);
        if let Some(unknown) = unknown {
            cluster.unknown_values.push(unknown);
            pool.forget_image();
        }
    }
}

/// Joins a cluster and the images of its catalog: each pool's selection, what is served, and all that was found.
///
/// # Errors
/// A source of facts cannot be read.
pub fn cluster(
    mut read: ClusterRead,
    catalogs: &Catalogs,
    settings: &Settings,
    patterns: &PatternCache,
) -> Result<ClusterView, Error> {
    forget_unknown(&mut read.cluster, &read.catalog);
    let provider = read.cluster.infra_provider.as_ref();
    let provider = provider.and_then(|provider| providers::find(&provider.value));
    let resolved = catalogs.resolve(&read.catalog, provider)?;
    let mut problems = resolved.problems.clone();
    let bundles = bundles::add_referenced(
        &resolved.bundles,
        &read.cluster,
        &catalogs.facts.sources,
        &mut problems,
    )?;
    let urls = catalogs.urls.get_or_init(|| ImageUrls::new(settings));
    urls.find_served(&mut read.cluster, &resolved.images.images());
    let sources = read.sources.with_facts(&catalogs.facts.files);
    let Selected {
        selections,
        bundle_outcomes,
        served,
    } = resolve_choices(
        &read.cluster,
        &resolved.images,
        &bundles,
        settings,
        patterns,
    );
    let view = ClusterView {
        images: resolved.images.images(),
        known_names: resolved.images.names(),
        bundles,
        selections,
        bundle_outcomes,
        judgments: Vec::new(),
        disagreements: Vec::new(),
        schemes: settings.schemes.clone(),
        registries: Arc::clone(&resolved.registries),
        served,
        lock: catalogs.facts.lock.clone(),
        signing: read.signing,
        signed: SignedEntries::default(),
        sources,
        findings: read.findings,
        cluster: read.cluster,
    };
    let mut view = judge_pools(view, settings.matching);
    // What two sides say of an image that a pool boots is a finding about the pool.
    let of_pools: Vec<&Disagreement> = view.disagreements.iter().flatten().collect();
    let problems = problems
        .iter()
        .filter(|problem| !of_pools.iter().any(|it| problem.is_same(it)));
    let findings: Vec<Finding> = problems
        .map(|problem| problem.finding(&view.sources))
        .collect();
    view.findings.extend(findings);
    Ok(view)
}
