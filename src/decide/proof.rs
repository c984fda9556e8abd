//! Judges, from the facts of an image, whether it contains the Kubernetes version that a node pool is to run.

use std::borrow::Cow;

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use capi::location::file_name;
use capi::unknown::Unknown;

use super::identity::disagreements;
use super::replacement::{self, Obstacle};
use crate::model::cluster::{ClusterOrigin, Installed, Pool, SeenText};
use crate::model::cluster_view::ClusterView;
use crate::model::judgment::{Disagreement, Doubt, Grade, Judgment};
use crate::model::name::Means;
use crate::model::selection::{Outcome, PoolImage, Selection};
use crate::model::selector::Matching;
use crate::model::version::{K0S, Version, distribution_of};

/// Weighs a fact against a version, as `cluster.k8s_version` writes it. Under [`Matching::Exact`] only the same text
/// without its `v` is the same version, as in Sylva's library (docs/sylva.md#what-is-added-to-a-selector).
pub fn judge_version(wanted: &str, fact: Option<&Fact>, matching: Matching) -> Judgment {
    let Some(fact) = fact else {
        return Judgment::Unproven(Doubt::Nothing);
    };
    let refuted = || Judgment::Mismatched(fact.clone());
    let wanted_text = wanted.strip_prefix('v').unwrap_or(wanted);
    let equal = *wanted_text == *fact.value;
    if equal && has_patch(wanted_text) {
        return agreement(fact);
    }
    if matching == Matching::Exact && !equal && fact.origin > Origin::Name {
        return refuted();
    }
    let Some(wanted) = Version::parse(wanted) else {
        // What is no version is not another one.
        return if equal {
            agreement(fact)
        } else {
            Judgment::Unproven(Doubt::Nothing)
        };
    };
    let Some(held) = Version::parse(&fact.value) else {
        return refuted();
    };
    if !held.admits(&wanted) && !wanted.admits(&held) {
        refuted()
    } else if held.is_partial() || wanted.is_partial() {
        Judgment::Unproven(Doubt::NoPatch(fact.clone()))
    } else if fact.origin <= Origin::Name || held == wanted {
        agreement(fact)
    } else {
        Judgment::Unproven(Doubt::NoBuild(fact.clone()))
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
    let name = image_name(pool, selection)?;
    let facts = match view.described_image(selection) {
        Some(image) => Cow::Borrowed(&image.facts),
        None => Cow::Owned(view.schemes.facts(name).unwrap_or_default()),
    };
    Some(BootedImage { name, facts })
}

/// The key or name of the image of a pool; none where the pool selects none.
pub fn image_name<'a>(pool: &'a Pool, selection: &'a Selection) -> Option<&'a str> {
    match selection.image() {
        PoolImage::Selected(key) | PoolImage::Recognized(key) => Some(key),
        PoolImage::Foreign => Some(match &pool.choice.url {
            Some(url) => file_name(&url.value),
            None => &pool.choice.name.as_ref()?.value,
        }),
        PoolImage::None => None,
    }
}

/// Judges every pool of a cluster whose choices are resolved.
pub fn judge_pools(view: ClusterView, matching: Matching) -> ClusterView {
    let pools = || view.cluster.pools.iter().zip(&view.selections);
    let said = pools().map(|(pool, selection)| disagreements(&view, pool, selection));
    let disagreements: Vec<Vec<Disagreement>> = said.collect();
    let judged = pools().zip(&disagreements);
    let judge = |((pool, selection), said): ((_, _), &Vec<_>)| {
        judge_pool(&view, pool, selection, said, matching)
    };
    ClusterView {
        judgments: judged.map(judge).collect(),
        disagreements,
        ..view
    }
}

/// The judgment of one pool: of its image, and of what its machines install when they boot, which runs whatever the image holds.
fn judge_pool(
    view: &ClusterView,
    pool: &Pool,
    selection: &Selection,
    disagreements: &[Disagreement],
    matching: Matching,
) -> Judgment {
    let judgment = judge_image(view, pool, selection, disagreements, matching);
    if judgment.grade() == Grade::Mismatched {
        return judgment;
    }
    if let Some(other) = other_installs(view, pool).next() {
        return Judgment::Mismatched(install_fact(other));
    }
    let is_open = matches!(
        judgment,
        Judgment::Unproven(Doubt::Nothing | Doubt::Seen(_)) | Judgment::Unknown(Unknown::Bare)
    );
    let wanted = view.cluster.k8s_version_of(pool).filter(|_| is_open);
    let right = wanted.and_then(|wanted| {
        let version = Version::parse(&wanted.value)?;
        let right = installs(view, pool).find(|it| it.version.agrees(&version))?;
        let fact = install_fact(right);
        Some(judge_version(&wanted.value, Some(&fact), matching))
    });
    right.unwrap_or(judgment)
}

/// The versions of the pool's own distribution that its machines install when they boot.
fn installs<'a>(
    view: &ClusterView,
    pool: &'a Pool,
) -> impl Iterator<Item = &'a Installed> + use<'a> {
    let bootstrap = view.cluster.bootstrap_provider_of(pool);
    let runs = bootstrap.and_then(|bootstrap| distribution_of(&bootstrap.value));
    let is_of = move |installed: &&Installed| match (installed.version.distribution, runs) {
        (_, None) => true,
        (Some(own), Some(runs)) => own == runs,
        // Others than these run the programs of Kubernetes itself.
        (None, Some(runs)) => !["rke2", "k3s", K0S].contains(&runs),
    };
    pool.installed.iter().filter(is_of)
}

/// What a pool's machines install when they boot that is another version than they are to run. Of repositories and of images
/// there may be several, one of which is the right one.
pub fn other_installs<'a>(
    view: &'a ClusterView,
    pool: &'a Pool,
) -> impl Iterator<Item = &'a Installed> {
    let wanted = view.cluster.k8s_version_of(pool);
    let wanted = wanted.and_then(|wanted| Version::parse(&wanted.value));
    installs(view, pool).filter(move |installed| {
        let Some(wanted) = &wanted else {
            return false;
        };
        let mut beside = installs(view, pool).filter(|other| other.means == installed.means);
        let is_beside_right =
            installed.means != Means::Program && beside.any(|other| other.version.agrees(wanted));
        installed.version.contradicts(wanted) && !is_beside_right
    })
}

fn install_fact(installed: &Installed) -> Fact {
    let version = installed.version.version.to_string();
    Fact::new(version, Origin::Boot, installed.text.place)
}

/// The judgment of the image of one pool.
fn judge_image(
    view: &ClusterView,
    pool: &Pool,
    selection: &Selection,
    disagreements: &[Disagreement],
    matching: Matching,
) -> Judgment {
    let facts = match booted_image(view, pool, selection) {
        _ if let Some(why) = pool.unknown => return Judgment::Unknown(why),
        Some(booted) => booted.facts,
        // A host may have its system already, and a bundle brings Kubernetes.
        None => match selection_fault(&selection.outcome) {
            Unknown::NotSelected if view.bundle(pool).is_some() => Cow::default(),
            why => return Judgment::Unknown(why),
        },
    };
    let bundle = view.bringing_bundle(pool, &facts);
    if facts.is_bare() && bundle.is_none() {
        return Judgment::Unknown(Unknown::Bare);
    }
    let Some(wanted) = view.cluster.k8s_version_of(pool) else {
        return Judgment::Unknown(Unknown::NoVersion);
    };
    let held = match bundle {
        Some(bundle) => bundle.facts.get(fact::K8S_VERSION).cloned(),
        None => { facts.get(fact::K8S_VERSION) }
            .filter(|held| is_what_runs(view, pool, &facts, held))
            .cloned()
            .or_else(|| name_fact(view, pool, &wanted.value)),
    };
    let judgment = match judge_version(&wanted.value, held.as_ref(), matching) {
        // EKS Anywhere requires a minor with any patch level. Cluster API itself refuses such a version.
        Judgment::Unproven(Doubt::NoPatch(held))
            if view.cluster.origin == ClusterOrigin::Manifests && has_patch(&held.value) =>
        {
            agreement(&held)
        }
        Judgment::Unproven(Doubt::Nothing) => {
            let seen = doubt_fact(view, pool, &wanted.value);
            Judgment::Unproven(seen.map_or(Doubt::Nothing, Doubt::Seen))
        }
        judgment => judgment,
    };
    if judgment.grade() == Grade::Mismatched {
        return judgment;
    }
    match disagreements.first() {
        None => judgment,
        Some(dispute) => Judgment::Disputed {
            held,
            dispute: Box::new(dispute.clone()),
        },
    }
}

/// Why a pool boots no image of the catalog.
fn selection_fault(outcome: &Outcome) -> Unknown {
    match outcome {
        Outcome::Unknown(_) => Unknown::KeyMissing,
        Outcome::NoMatch => Unknown::NoMatch,
        Outcome::Several(_) => Unknown::SeveralMatch,
        Outcome::Disagree { .. } => Unknown::Disagree,
        Outcome::Invalid(_) => Unknown::SelectorInvalid,
        Outcome::Nothing | Outcome::Image(_) | Outcome::Explicit(_) | Outcome::Named(_) => {
            Unknown::NotSelected
        }
    }
}

/// Whether the Kubernetes that an image holds is of the distribution that a pool runs. In manifests RKE2, K3s and others may be
/// installed when a machine boots, beside what kubeadm would run; a name that says no distribution is that of kubeadm's.
fn is_what_runs(view: &ClusterView, pool: &Pool, facts: &Facts, held: &Fact) -> bool {
    let Some(runs) = distribution(view, pool) else {
        return true;
    };
    match facts.text(fact::K8S_FLAVOR) {
        Some(flavor) => flavor == runs,
        None => runs == "kubeadm" || held.origin != Origin::Name || held.value.contains(runs),
    }
}

/// The distribution that the machines of a pool of manifests run.
fn distribution(view: &ClusterView, pool: &Pool) -> Option<&'static str> {
    let bootstrap = view.cluster.bootstrap_provider_of(pool);
    let runs = bootstrap.and_then(|bootstrap| distribution_of(&bootstrap.value));
    runs.filter(|_| view.cluster.origin == ClusterOrigin::Manifests)
}

/// The texts of a pool's machine template that seem to name a version of the distribution that the pool runs.
pub fn version_texts<'a>(
    view: &ClusterView,
    pool: &'a Pool,
) -> impl Iterator<Item = &'a SeenText> + use<'a> {
    let runs = distribution(view, pool);
    let is_of = move |seen: &&SeenText| {
        let distribution = seen.version.distribution.unwrap_or("kubeadm");
        runs.is_none_or(|runs| runs == distribution)
    };
    pool.seen.iter().filter(is_of)
}

/// The version that what names a pool's image seems to say, where it is the wanted one. It proves no more than a name does.
fn name_fact(view: &ClusterView, pool: &Pool, wanted: &str) -> Option<Fact> {
    let wanted = Version::parse(wanted)?;
    let mut seen = version_texts(view, pool).filter(|seen| seen.is_image);
    let seen = seen.find(|seen| seen.version.agrees(&wanted))?;
    Some(text_fact(seen))
}

/// The version that a text of a pool's machine template seems to name, one that is not the wanted one before others.
fn doubt_fact(view: &ClusterView, pool: &Pool, wanted: &str) -> Option<Fact> {
    let wanted = Version::parse(wanted)?;
    let seen = version_texts(view, pool);
    let first = seen.min_by_key(|seen| !seen.version.contradicts(&wanted))?;
    Some(text_fact(first))
}

fn text_fact(seen: &SeenText) -> Fact {
    let version = seen.version.version.to_string();
    Fact::new(version, Origin::Name, seen.text.place)
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
        let judgment = judge_version(wanted, image.facts.get(fact::K8S_VERSION), matching);
        judgment.grade() <= Grade::ByName
    };
    let others = images.values().filter(|image| image.key != like.key);
    let obstacles = |image| (image, replacement::obstacles(like, image));
    let mut found: Vec<_> = others.filter(holds).map(obstacles).collect();
    found.sort_by_key(|(_, obstacles)| obstacles.len());
    found
}

fn agreement(fact: &Fact) -> Judgment {
    if fact.origin <= Origin::Name {
        Judgment::ByName(fact.clone())
    } else {
        Judgment::Proven(fact.clone())
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
    use super::{holding, judge_version};
    use crate::model::judgment::{Doubt, Grade, Judgment};
    use crate::model::selector::Matching;
    use crate::testing::Given;
    use capi::image::{Fact, Origin};
    use yaml_tree::place::Place;

    fn fact(held: &str, origin: Origin) -> Fact {
        Fact {
            value: held.into(),
            origin,
            place: Place::NONE,
        }
    }

    fn grades(wanted: &str, held: &str, origin: Origin) -> [Grade; 2] {
        [Matching::Normalized, Matching::Exact]
            .map(|matching| judge_version(wanted, Some(&fact(held, origin)), matching).grade())
    }

    #[test]
    fn the_same_version_from_a_strong_source_is_proof() {
        let strong = Origin::InfoFile;
        for (wanted, held) in [("v1.31.8+rke2r1", "1.31.8+rke2r1"), ("1.31.6", "1.31.6")] {
            assert_eq!(grades(wanted, held, strong), [Grade::Proven; 2]);
        }
    }

    #[test]
    fn another_spelling_is_proof_only_when_normalized() {
        assert_eq!(
            grades("v1.29.8+rke2r1", "1.29.8-rke2r1", Origin::Annotation),
            [Grade::Proven, Grade::Mismatched]
        );
    }

    #[test]
    fn another_patch_or_build_refutes_whatever_the_source() {
        for held in ["1.31.7+rke2r1", "1.31.8+rke2r2", "1.30", "garbage"] {
            for origin in [Origin::Name, Origin::InfoFile] {
                assert_eq!(
                    grades("v1.31.8+rke2r1", held, origin),
                    [Grade::Mismatched; 2],
                    "{held}"
                );
            }
        }
    }

    #[test]
    fn a_name_never_proves() {
        let grades = |held| grades("v1.31.8+rke2r1", held, Origin::Name);
        assert_eq!(grades("1.31.8"), [Grade::ByName; 2]);
        assert_eq!(grades("1.31.8+rke2r1"), [Grade::ByName; 2]);
        assert_eq!(grades("1.31"), [Grade::Unproven; 2]);
    }

    #[test]
    fn a_missing_build_or_patch_leaves_a_doubt() {
        let doubt = |wanted, held| {
            let fact = fact(held, Origin::InfoFile);
            judge_version(wanted, Some(&fact), Matching::Normalized)
        };
        let fact = |held| fact(held, Origin::InfoFile);
        for (wanted, held) in [("v1.26.9+rke2r1", "1.26.9"), ("v1.26.9", "1.26.9+rke2r1")] {
            let no_build = Judgment::Unproven(Doubt::NoBuild(fact(held)));
            assert_eq!(doubt(wanted, held), no_build);
        }
        for (wanted, held) in [("v1.26", "1.26.9+rke2r1"), ("1.26", "1.26")] {
            let no_patch = Judgment::Unproven(Doubt::NoPatch(fact(held)));
            assert_eq!(doubt(wanted, held), no_patch);
        }
        assert_eq!(
            judge_version("v1.26.9", None, Matching::Normalized),
            Judgment::Unproven(Doubt::Nothing)
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
