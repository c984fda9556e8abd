//! Proves, from the facts of an image, that it contains the Kubernetes version that a node pool is to run.

use std::borrow::Cow;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use capi::location::file_name;
use yaml_tree::place::Located;

use super::replacement::{self, Obstacle};
use crate::model::cluster::{ClusterOrigin, Pool};
use crate::model::cluster_view::ClusterView;
use crate::model::name::facts_of;
use crate::model::selection::{PoolImage, Selection};
use crate::model::selector::Matching;
use crate::model::version::{Version, distribution_of};

/// What a `k8s-version` fact says of the version that a pool wants. A name may narrow a choice; it never proves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The image holds that version, says a source stronger than its name.
    Proven,
    /// The image's name holds the whole version, and nothing stronger is known.
    NameOnly,
    /// All numbers agree, and one side leaves out the distribution's build (`+rke2r1`).
    BuildUnknown,
    /// What is known agrees, but one side has no patch level.
    Partial,
    /// Nothing is known.
    Unknown,
    /// The image holds another version.
    Refuted,
}

/// Weighs a fact against a version, as `cluster.k8s_version` writes it. Under [`Matching::Exact`] only the same text
/// without its `v` is the same version, as in Sylva's library (docs/sylva.md#what-is-added-to-a-selector).
pub fn weigh_version(wanted: &str, fact: Option<&Fact>, matching: Matching) -> Proof {
    let Some(fact) = fact else {
        return Proof::Unknown;
    };
    let wanted_text = wanted.strip_prefix('v').unwrap_or(wanted);
    let equal = *wanted_text == *fact.value;
    if equal && has_patch(wanted_text) {
        return agreement(fact);
    }
    if matching == Matching::Exact && !equal && fact.origin != Origin::Name {
        return Proof::Refuted;
    }
    let (Some(wanted), Some(held)) = (Version::parse(wanted), Version::parse(&fact.value)) else {
        return if equal {
            agreement(fact)
        } else {
            Proof::Refuted
        };
    };
    if !held.admits(&wanted) && !wanted.admits(&held) {
        Proof::Refuted
    } else if held.is_partial() || wanted.is_partial() {
        Proof::Partial
    } else if fact.origin == Origin::Name {
        Proof::NameOnly
    } else if held == wanted {
        Proof::Proven
    } else {
        Proof::BuildUnknown
    }
}

/// The image that a node pool boots.
#[derive(Debug)]
pub struct BootedImage<'a> {
    /// Its key; the name or the file's name where the pool gives a name or a URL.
    pub name: &'a str,
    /// Its facts; for an image outside the catalog, those in its name.
    pub facts: Cow<'a, Facts>,
}

/// The image of a pool, in the catalog or not; none where the pool selects none.
pub fn booted_image<'a>(
    view: &'a ClusterView,
    pool: &'a Pool,
    selection: &'a Selection,
) -> Option<BootedImage<'a>> {
    match selection.image() {
        PoolImage::Selected(_) | PoolImage::Recognized(_) => {
            let image = view.described_image(selection)?;
            Some(BootedImage {
                name: &image.key,
                facts: Cow::Borrowed(&image.facts),
            })
        }
        PoolImage::Foreign => {
            let choice = &pool.choice;
            let name = match &choice.url {
                Some(url) => file_name(&url.value),
                None => &choice.name.as_ref()?.value,
            };
            Some(BootedImage {
                name,
                facts: Cow::Owned(facts_of(name).unwrap_or_default()),
            })
        }
        PoolImage::None => None,
    }
}

/// What a node pool's image is known to hold, beside what the pool runs.
#[derive(Debug)]
pub struct PoolProof<'a> {
    /// The version that the pool's nodes are to run.
    pub wanted: &'a Located<Arc<str>>,
    /// The image's key or name.
    pub image: &'a str,
    /// The image's version; none of another distribution than the pool's.
    pub held: Option<Fact>,
    /// What one says of the other.
    pub proof: Proof,
}

/// Weighs the image of a pool; none where the pool selects no image, where no version is required, or where the image brings
/// no Kubernetes.
pub fn weigh_pool<'a>(
    view: &'a ClusterView,
    pool: &'a Pool,
    selection: &'a Selection,
    matching: Matching,
) -> Option<PoolProof<'a>> {
    let wanted = view.cluster.k8s_version_of(pool)?;
    let BootedImage { name, facts } = booted_image(view, pool, selection)?;
    if facts.is_bare() {
        return None;
    }
    let held = facts.get(fact::K8S_VERSION);
    let held = held
        .filter(|held| is_what_runs(view, pool, &facts, held))
        .cloned();
    let proof = match (weigh_version(&wanted.value, held.as_ref(), matching), &held) {
        // EKS Anywhere requires a minor with any patch level. Cluster API itself refuses such a version.
        (Proof::Partial, Some(held))
            if view.cluster.origin == ClusterOrigin::Manifests && has_patch(&held.value) =>
        {
            agreement(held)
        }
        (proof, _) => proof,
    };
    Some(PoolProof {
        proof,
        wanted,
        image: name,
        held,
    })
}

/// Whether the Kubernetes that an image holds is of the distribution that a pool runs. In manifests RKE2, K3s and others may be
/// installed when a machine boots, beside what kubeadm would run; a name that says no distribution is that of kubeadm's.
fn is_what_runs(view: &ClusterView, pool: &Pool, facts: &Facts, held: &Fact) -> bool {
    let cluster = &view.cluster;
    let bootstrap = cluster.bootstrap_provider_of(pool);
    let runs = bootstrap.and_then(|bootstrap| distribution_of(&bootstrap.value));
    let Some(runs) = runs.filter(|_| cluster.origin == ClusterOrigin::Manifests) else {
        return true;
    };
    match facts.text(fact::K8S_FLAVOR) {
        Some(flavor) => flavor == runs,
        None => runs == "kubeadm" || held.origin != Origin::Name || held.value.contains(runs),
    }
}

/// The images that contain a version, proven or by their name, each with the obstacles to replacing the image `like` by it.
/// Sorted by the number of obstacles.
pub fn holding<'a>(
    images: &'a Images,
    like: &Image,
    wanted: &str,
    matching: Matching,
) -> Vec<(&'a Image, Vec<Obstacle>)> {
    let holds = |image: &&Image| {
        let proof = weigh_version(wanted, image.facts.get(fact::K8S_VERSION), matching);
        matches!(proof, Proof::Proven | Proof::NameOnly)
    };
    let others = images.values().filter(|image| image.key != like.key);
    let obstacles = |image| (image, replacement::obstacles(like, image));
    let mut found: Vec<_> = others.filter(holds).map(obstacles).collect();
    found.sort_by_key(|(_, obstacles)| obstacles.len());
    found
}

fn agreement(fact: &Fact) -> Proof {
    if fact.origin == Origin::Name {
        Proof::NameOnly
    } else {
        Proof::Proven
    }
}

/// Whether a text begins with three numbers, so that equal texts need no parsing. Dots of a prerelease or build do not count.
fn has_patch(text: &str) -> bool {
    let numbers = text
        .bytes()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.'));
    numbers.filter(|byte| *byte == b'.').count() >= 2
}

#[cfg(test)]
mod tests {
    use super::{Proof, holding, weigh_version};
    use crate::model::selector::Matching;
    use crate::testing::Given;
    use capi::image::{Fact, Origin};
    use yaml_tree::place::Place;

    fn weigh(wanted: &str, held: &str, origin: Origin) -> [Proof; 2] {
        let fact = Fact {
            value: held.into(),
            origin,
            place: Place::NONE,
        };
        [Matching::Normalized, Matching::Exact]
            .map(|matching| weigh_version(wanted, Some(&fact), matching))
    }

    #[test]
    fn the_same_version_from_a_strong_source_is_proof() {
        let strong = Origin::InfoFile;
        assert_eq!(
            weigh("v1.31.8+rke2r1", "1.31.8+rke2r1", strong),
            [Proof::Proven; 2]
        );
        assert_eq!(weigh("1.31.6", "1.31.6", strong), [Proof::Proven; 2]);
    }

    #[test]
    fn another_spelling_is_proof_only_when_normalized() {
        assert_eq!(
            weigh("v1.29.8+rke2r1", "1.29.8-rke2r1", Origin::Annotation),
            [Proof::Proven, Proof::Refuted]
        );
    }

    #[test]
    fn another_patch_or_build_refutes_whatever_the_source() {
        for held in ["1.31.7+rke2r1", "1.31.8+rke2r2", "1.30", "garbage"] {
            for origin in [Origin::Name, Origin::InfoFile] {
                assert_eq!(
                    weigh("v1.31.8+rke2r1", held, origin),
                    [Proof::Refuted; 2],
                    "{held}"
                );
            }
        }
    }

    #[test]
    fn a_name_never_proves() {
        let weigh = |held| weigh("v1.31.8+rke2r1", held, Origin::Name);
        assert_eq!(weigh("1.31.8"), [Proof::NameOnly; 2]);
        assert_eq!(weigh("1.31.8+rke2r1"), [Proof::NameOnly; 2]);
        assert_eq!(weigh("1.31"), [Proof::Partial; 2]);
    }

    #[test]
    fn a_missing_build_or_patch_leaves_a_doubt() {
        let normalized = |wanted, held| weigh(wanted, held, Origin::InfoFile)[0];
        assert_eq!(normalized("v1.26.9+rke2r1", "1.26.9"), Proof::BuildUnknown);
        assert_eq!(normalized("v1.26.9", "1.26.9+rke2r1"), Proof::BuildUnknown);
        assert_eq!(normalized("v1.26", "1.26.9+rke2r1"), Proof::Partial);
        assert_eq!(normalized("1.26", "1.26"), Proof::Partial);
        assert_eq!(
            weigh_version("v1.26.9", None, Matching::Normalized),
            Proof::Unknown
        );
    }

    #[test]
    fn the_image_with_the_fewest_obstacles_comes_first() {
        let mut given = Given::new();
        for (key, version, hardened, arch) in [
            ("a", "1.31.8+rke2r1", "false", "arm64"),
            ("b", "1.31.8+rke2r1", "false", "amd64"),
            ("c", "1.30.12+rke2r1", "true", "amd64"),
        ] {
            let facts = [
                ("k8s-version", version),
                ("hardened", hardened),
                ("arch", arch),
            ];
            given.image(key, &facts);
        }
        let images = given.finished().images;
        let found = holding(
            &images,
            &images["c"],
            "v1.31.8+rke2r1",
            Matching::Normalized,
        );
        let keys: Vec<&str> = found.iter().map(|(image, _)| &*image.key).collect();
        assert_eq!(keys, ["b", "a"]);
    }
}
