//! What the image server of a management cluster has to serve while its clusters make the steps of a plan.
//!
//! Machines of Metal3 fetch their images from the management cluster, whatever release of Sylva their own cluster has: both sides
//! are joined by content (docs/sylva.md#the-image-server). An image stays needed until the machines that run it are replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, ImageKey, fact};
use capi::location::last_part;
use go_template::regexp::quote_meta;
use serde::Serialize;
use yaml_tree::place::Place;

use super::matching::{IMAGE_KEY, PatternCache, REGISTRY_KEY, ServerImages};
use super::selected::{additional_images, images_to_serve};
use crate::model::cluster::{ClusterOrigin, PoolName};
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::selector::{Library, Selector, Term, Wanted};
use crate::model::settings::Settings;
use crate::model::version::Version;

/// An image as machines fetch it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Artifact {
    /// Its name and tag, for people.
    pub name: Arc<str>,
    uri: Option<Arc<str>>,
    sha256: Option<Arc<str>>,
}

impl Artifact {
    /// The artifact of an image.
    pub fn from_image(image: &Image) -> Self {
        let uri = image.uri.as_ref().map(|uri| Arc::clone(uri.value.text()));
        Self {
            name: last_part(uri.as_deref().unwrap_or(&image.key)).into(),
            sha256: image.facts.text(fact::SHA256).map(Arc::from),
            uri,
        }
    }

    /// Whether two are one file.
    fn is_same(&self, other: &Self) -> bool {
        let same = |one: &Option<Arc<str>>, other: &Option<Arc<str>>| one.is_some() && one == other;
        same(&self.sha256, &other.sha256) || same(&self.uri, &other.uri)
    }
}

/// What the machines of a cluster boot from an image server, now and after each step of its plan.
#[derive(Clone, Debug, Default)]
pub struct Boots {
    /// The cluster.
    pub cluster: Arc<str>,
    /// What they boot now.
    pub now: Vec<Artifact>,
    /// What machines boot now that are in no control plane: they may be paused until the last step.
    pub workers: Vec<Artifact>,
    /// The minors of the steps, and what they boot after each.
    pub steps: Vec<BootsAfter>,
}

/// What machines boot after a step.
#[derive(Clone, Debug)]
pub struct BootsAfter {
    /// The minor version of the step.
    pub minor: (u32, u32),
    /// What they boot.
    pub artifacts: Vec<Artifact>,
}

impl Boots {
    /// What the machines of a cluster boot now. Only Metal3's fetch images from a server.
    pub fn from_view(view: &ClusterView) -> Self {
        let mut boots = Self {
            cluster: Arc::clone(&view.cluster.name),
            ..Self::default()
        };
        let provider = view.cluster.infra_provider.as_ref();
        let is_fetched = provider.is_some_and(|provider| &*provider.value == "capm3")
            && view.cluster.origin == ClusterOrigin::Values;
        for SelectedPool {
            pool, selection, ..
        } in view.pools().filter(|_| is_fetched)
        {
            let artifact = view.selected_image(selection).map(Artifact::from_image);
            if pool.name != PoolName::ControlPlane {
                boots.workers.extend(artifact.clone());
            }
            boots.now.extend(artifact);
        }
        boots
    }

    /// What the cluster's values select once it went to a minor; none is now.
    fn find_selected(&self, to: Option<(u32, u32)>) -> &[Artifact] {
        let step = self.steps.iter().rfind(|step| Some(step.minor) <= to);
        step.map_or(&self.now, |step| &step.artifacts)
    }

    /// What is needed while clusters go to a minor; none is now.
    fn needs(&self, to: Option<(u32, u32)>) -> Vec<Need> {
        let need = |artifact: &Artifact, is_before, is_after| Need {
            artifact: artifact.clone(),
            is_before,
            is_after,
            clusters: BTreeSet::from([Arc::clone(&self.cluster)]),
        };
        let earlier = self.steps.iter().rfind(|step| Some(step.minor) < to);
        let before = earlier.map_or(&self.now, |step| &step.artifacts);
        let after = self.find_selected(to);
        let is_last = self.steps.last().map(|step| step.minor) == to;
        let is_underway = self.steps.last().map(|step| step.minor) >= to && to.is_some();
        let paused = self.workers.iter().filter(|_| is_underway);
        let before = before.iter().map(|artifact| need(artifact, true, false));
        let after = after.iter().map(|artifact| need(artifact, false, true));
        let paused = paused.map(|artifact| need(artifact, true, !is_last));
        before.chain(after).chain(paused).collect()
    }
}

/// An image that is needed before or after a step, or all the time.
struct Need {
    artifact: Artifact,
    is_before: bool,
    is_after: bool,
    clusters: BTreeSet<Arc<str>>,
}

/// What a management cluster has to serve.
#[derive(Debug, Serialize)]
pub struct ServerPlan {
    /// The management cluster.
    pub management: Arc<str>,
    /// Now, and while clusters go to each minor.
    pub stages: Vec<ServerStage>,
    /// The additional selectors that it lacks, with their terms.
    pub selectors: BTreeMap<String, BTreeMap<&'static str, String>>,
}

/// What it has to serve at a time.
#[derive(Debug, Serialize)]
pub struct ServerStage {
    /// The minor that clusters go to; none is now.
    pub to: Option<String>,
    /// The images, by name.
    pub images: Vec<NeededImage>,
}

/// An image that machines fetch.
#[derive(Debug, Serialize)]
pub struct NeededImage {
    /// Its name and tag.
    pub image: Arc<str>,
    /// Its key in the catalog of the management cluster; none where that has no such image.
    pub key: Option<ImageKey>,
    /// Whether that cluster's own selectors serve it.
    pub served: bool,
    /// Whether they may, by a version that only the image's name says.
    pub by_name: bool,
    /// Whose machines it is for.
    pub need: NeedTime,
    /// The clusters.
    pub clusters: BTreeSet<Arc<str>>,
}

/// When an image is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NeedTime {
    /// Before the step and after it.
    Stays,
    /// From the step on.
    Begins,
    /// Until machines are replaced.
    Ends,
}

/// What a management cluster has to serve for clusters, itself among them.
pub fn server_plan(server: &ClusterView, clusters: &[&Boots], settings: &Settings) -> ServerPlan {
    let minors = clusters.iter().flat_map(|boots| &boots.steps);
    let minors: BTreeSet<_> = minors.map(|step| Some(step.minor)).collect();
    let mode = settings.matching;
    let patterns = PatternCache::default();
    let found = additional_images(&server.cluster, &server.images, mode, &patterns);
    let (mut proven, mut possible) = (Vec::new(), Vec::new());
    for found in found {
        proven.extend(found.proven);
        possible.extend(found.possible);
    }
    let additional = if settings.images.serve_all {
        server.images.keys().cloned().collect()
    } else {
        images_to_serve(&server.cluster, &[], &server.images, mode, &patterns)
    };
    possible.retain(|key| !settings.images.serve_all && !proven.contains(key));
    let catalog = server.images.values();
    let catalog: Vec<_> = catalog.map(|it| (Artifact::from_image(it), it)).collect();
    let (mut needed, mut lacking) = (BTreeSet::new(), BTreeSet::new());
    let stages = [None].into_iter().chain(minors).map(|to| {
        // Two registries may have files of one name.
        let mut needs: BTreeMap<Arc<str>, Vec<Need>> = BTreeMap::new();
        let mut own = Vec::new();
        for boots in clusters {
            // Machines that are paused run what its selectors do not match any more.
            if boots.cluster == server.cluster.name {
                own.extend(boots.find_selected(to));
            }
            for need in boots.needs(to) {
                let known = needs.entry(Arc::clone(&need.artifact.name)).or_default();
                let is_it = |it: &&mut Need| {
                    it.artifact == need.artifact || it.artifact.is_same(&need.artifact)
                };
                match known.iter_mut().find(is_it) {
                    Some(known) => {
                        known.is_before |= need.is_before;
                        known.is_after |= need.is_after;
                        known.clusters.extend(need.clusters);
                    }
                    None => known.push(need),
                }
            }
        }
        let images = needs.into_values().flatten().map(|need| {
            let listed = catalog.iter().find(|(it, _)| it.is_same(&need.artifact));
            let key = listed.map(|(_, image)| Arc::clone(&image.key));
            let is_own = own.iter().any(|own| own.is_same(&need.artifact));
            let is_among = |keys: &[ImageKey]| key.as_ref().is_some_and(|key| keys.contains(key));
            let by_name = !is_own && is_among(&possible);
            let served = is_own || is_among(&additional) && !by_name;
            needed.extend(key.clone());
            lacking.extend(key.clone().filter(|_| !served && !by_name));
            NeededImage {
                image: need.artifact.name,
                key,
                served,
                by_name,
                need: match (need.is_before, need.is_after) {
                    (true, true) => NeedTime::Stays,
                    (false, _) => NeedTime::Begins,
                    (true, false) => NeedTime::Ends,
                },
                clusters: need.clusters,
            }
        });
        ServerStage {
            to: to.map(|(major, minor)| format!("{major}.{minor}")),
            images: images.collect(),
        }
    });
    let stages = stages.collect();
    ServerPlan {
        management: Arc::clone(&server.cluster.name),
        stages,
        selectors: selectors(server, &needed, &lacking, settings),
    }
}

/// Selectors that serve what is lacking, and nothing that no machine needs: by system, distribution, minors and registry, else by
/// the images' keys.
fn selectors(
    server: &ClusterView,
    needed: &BTreeSet<ImageKey>,
    lacking: &BTreeSet<ImageKey>,
    settings: &Settings,
) -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let has_registries = server.cluster.library == Library::WithRegistries;
    let facts = [fact::OS, fact::K8S_FLAVOR, REGISTRY_KEY];
    // The library reads no name.
    fn fact_text<'i>(image: &'i Image, name: &str) -> Option<&'i str> {
        let fact = image.facts.get(name).filter(|fact| !fact.origin.is_name());
        fact.map(|fact| &*fact.value)
    }
    let mut groups: BTreeMap<[Option<&str>; 3], Vec<&Image>> = BTreeMap::new();
    for image in lacking.iter().filter_map(|key| server.images.get(key)) {
        let group = groups.entry(facts.map(|name| fact_text(image, name)));
        group.or_default().push(image);
    }
    let named = groups.into_iter().map(|(group, images)| {
        let words: Vec<&str> = group.into_iter().flatten().collect();
        let all = facts.into_iter().zip(group);
        let all = all.filter(|(name, _)| has_registries || *name != REGISTRY_KEY);
        let mut terms: BTreeMap<&'static str, String> = all
            .filter_map(|(name, value)| Some((name, quote_meta(value?))))
            .collect();
        let minors = images.iter().map(|image| {
            let version = Version::parse(fact_text(image, fact::K8S_VERSION)?)?;
            Some(format!("{}\\.{}", version.major, version.minor))
        });
        if let Some(minors) = minors.collect::<Option<BTreeSet<String>>>() {
            let minors: Vec<String> = minors.into_iter().collect();
            let pattern = match &minors[..] {
                [minor] => format!("{minor}\\..*"),
                several => format!("({})\\..*", several.join("|")),
            };
            terms.insert(fact::K8S_VERSION, pattern);
        }
        let served = ServerImages::find(
            &selector(&terms),
            server.cluster.library,
            &server.images,
            settings.matching,
            &PatternCache::default(),
        );
        let is_exact = |served: Vec<ImageKey>| {
            served.iter().all(|key| needed.contains(key))
                && images.iter().all(|it| served.contains(&it.key))
        };
        // Without a term all images are served, whatever comes.
        let served = served.map(ServerImages::into_all);
        if terms.is_empty() || !served.is_ok_and(is_exact) {
            let keys = images.iter().map(|it| key_pattern(it));
            let keys: Vec<String> = keys.collect();
            terms = BTreeMap::from([(IMAGE_KEY, keys.join("|"))]);
        }
        let name = match words[..] {
            [] => images[0].key.to_string(),
            _ => words.join("-"),
        };
        (name, terms)
    });
    named.collect()
}

/// What an image is called, here and by the chart where it gathers facts (docs/sylva.md#the-catalog).
fn key_pattern(image: &Image) -> String {
    let name = quote_meta(&image.name);
    match image.registry.as_ref().filter(|_| image.built) {
        Some(registry) => format!("({}--)?{name}", quote_meta(registry)),
        None => name,
    }
}

fn selector(terms: &BTreeMap<&'static str, String>) -> Selector {
    let terms = terms.iter().map(|(fact, pattern)| Term {
        fact: (*fact).into(),
        wanted: Wanted::Pattern(pattern.as_str().into()),
        place: Place::NONE,
        key_place: Place::NONE,
    });
    Selector {
        terms: terms.collect(),
    }
}

impl ServerPlan {
    /// Each image at each time.
    pub fn needs(&self) -> impl Iterator<Item = (&ServerStage, &NeededImage)> {
        let stages = self.stages.iter();
        stages.flat_map(|stage| stage.images.iter().map(move |needed| (stage, needed)))
    }

    /// The selectors that the management cluster lacks, to be pasted into its values.
    pub fn edits(&self) -> impl Iterator<Item = String> {
        self.selectors.iter().map(|(name, terms)| {
            let terms = terms.iter().map(|(fact, pattern)| {
                let quoted = pattern.replace('\'', "''");
                format!("{fact}: '{quoted}'")
            });
            let terms: Vec<String> = terms.collect();
            format!(
                "os_image_server_additional_selectors.{name}: {{{}}}",
                terms.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use oci_artifacts::Address;
    use yaml_tree::place::{Located, Place};

    use super::{Artifact, Boots, server_plan};
    use crate::testing::Given;

    #[test]
    fn files_of_one_name_in_two_registries_are_two() {
        let mut given = Given::new();
        let mut boots = Vec::new();
        for (cluster, key, registry) in [("a", "own", "r.example"), ("b", "older", "o.example")] {
            let image = given.image(key, &[]);
            let uri = Address::new(format!("oci://{registry}/noble:0.5"));
            image.uri = Some(Located::new(uri, Place::NONE));
            for cluster in [cluster.to_owned(), format!("{cluster}-2")] {
                boots.push(Boots {
                    cluster: cluster.into(),
                    now: vec![Artifact::from_image(image)],
                    ..Boots::default()
                });
            }
        }
        let boots: Vec<&Boots> = boots.iter().collect();
        let plan = server_plan(&given.finished(), &boots, &given.settings);
        let needs = plan.needs().map(|(_, needed)| {
            let clusters: Vec<&str> = needed.clusters.iter().map(Arc::as_ref).collect();
            format!("{} {:?} {}", needed.image, needed.key, clusters.join(" "))
        });
        assert_eq!(
            needs.collect::<Vec<_>>(),
            [
                "noble:0.5 Some(\"own\") a a-2",
                "noble:0.5 Some(\"older\") b b-2"
            ]
        );
    }
}
