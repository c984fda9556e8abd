//! The images that may follow those of a cluster in one minor: what a step of a plan chooses from, and what is to be built where
//! nothing can be chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use capi::image::{Fact, Facts, Image, ImageKey, fact};
use serde::Serialize;

use super::replacement::{Obstacle, VersionObstacle, obstacles};
use crate::model::cluster::PoolName;
use crate::model::date::{Date, build_day};
use crate::model::version::Version;

/// The most near misses of one image.
pub(super) const MOST_NEAR: usize = 3;

/// An image of a minor version that is to be built for a cluster.
#[derive(Debug)]
pub struct LackingImage {
    /// The major and the minor.
    pub minor: (u32, u32),
    /// The version, where other node pools of the cluster have images of it; else any patch of the minor will do.
    pub version: Option<Version>,
    /// The image that the node pools boot before.
    pub follows: ImageKey,
    /// The node pools.
    pub pools: Vec<String>,
    /// The images that differ in one thing from what is lacking.
    pub nearest: Vec<NearMiss>,
}

/// An image that would do, were it not for one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// The image.
    pub image: ImageKey,
    /// What is against it, in words that follow its name.
    pub difference: String,
}

/// The image of each pool.
pub(super) type PoolImages<'v> = BTreeMap<&'v PoolName, &'v Image>;

/// An image, with its version.
pub(super) type Versioned<'v> = (Version, &'v Image);

/// The images that the selector of a pool lets in by their registry, for pools whose selectors require one.
pub(super) type LetIn<'v> = BTreeMap<&'v PoolName, BTreeSet<ImageKey>>;

/// Whether a pool's selector lets an image in.
pub(super) fn is_let_in(let_in: &LetIn<'_>, pool: &PoolName, image: &Image) -> bool {
    let of_pool = let_in.get(pool);
    of_pool.is_none_or(|keys| keys.contains(&image.key))
}

/// What may follow the images of a cluster in a minor.
pub(super) struct Followers<'v> {
    minor: (u32, u32),
    /// By the image that they follow, and those that are let in: pools of a cluster often have one of each.
    of_images: BTreeMap<(&'v ImageKey, Option<&'v BTreeSet<ImageKey>>), ImageFollowers<'v>>,
}

/// What may follow one image in a minor.
#[derive(Default)]
struct ImageFollowers<'v> {
    pools: Vec<&'v PoolName>,
    /// By version; of several images of one the first by key.
    images: BTreeMap<&'v Version, &'v Image>,
    near: Vec<(&'v ImageKey, Difference)>,
}

impl<'v> Followers<'v> {
    /// Those that are let in and were built on a day or later, if one is given.
    pub(super) fn find(
        images: &'v [Versioned<'v>],
        booted: &PoolImages<'v>,
        let_in: &'v LetIn<'_>,
        minor: (u32, u32),
        since: Option<Date>,
    ) -> Self {
        let is_of_minor = |it: &&Versioned<'_>| (it.0.major, it.0.minor) == minor;
        let candidates: Vec<&'v Versioned<'v>> = images.iter().filter(is_of_minor).collect();
        let mut of_images: BTreeMap<_, ImageFollowers<'v>> = BTreeMap::new();
        for (pool, image) in booted {
            let own = let_in.get(*pool);
            let is_own = |it: &&&Versioned<'_>| own.is_none_or(|own| own.contains(&it.1.key));
            let find = || {
                let candidates: Vec<_> = candidates.iter().filter(is_own).copied().collect();
                ImageFollowers::find(&candidates, image, since)
            };
            let followers = of_images.entry((&image.key, own)).or_insert_with(find);
            followers.pools.push(pool);
        }
        Self { minor, of_images }
    }

    /// The newest version that every pool has an image for, and these images.
    pub(super) fn newest(&self) -> Option<(&'v Version, PoolImages<'v>)> {
        let first = self.of_images.values().next()?;
        let is_common = |version: &&&Version| {
            let mut all = self.of_images.values();
            all.all(|it| it.images.contains_key(**version))
        };
        let version = first.images.keys().rfind(is_common)?;
        let images = self.of_images.values().flat_map(|it| {
            let image = it.images[version];
            it.pools.iter().map(move |pool| (*pool, image))
        });
        Some((version, images.collect()))
    }

    /// The images that none follows, by pool.
    pub(super) fn ends(&self) -> BTreeMap<String, ImageKey> {
        let ends = self.of_images.iter().filter(|it| it.1.images.is_empty());
        let ends = ends.flat_map(|((key, _), it)| {
            let pools = it.pools.iter();
            pools.map(|pool| (pool.to_string(), Arc::clone(key)))
        });
        ends.collect()
    }

    /// What is to be built, so that all pools can go to one version of the minor: the newest that any of them has an image for.
    fn to_build(&self) -> Vec<LackingImage> {
        if self.newest().is_some() {
            return Vec::new();
        }
        let all = self.of_images.values().flat_map(|it| it.images.keys());
        let version = all.max().copied();
        let lacks = |it: &ImageFollowers<'_>| {
            version.is_none_or(|version| !it.images.contains_key(version))
        };
        let lacking = self.of_images.iter().filter(|(_, it)| lacks(it));
        let lacking = lacking.map(|((follows, _), it)| LackingImage {
            minor: self.minor,
            version: version.cloned(),
            follows: Arc::clone(follows),
            pools: it.pools.iter().map(ToString::to_string).collect(),
            nearest: it.near.iter().map(NearMiss::from).collect(),
        });
        lacking.collect()
    }
}

impl<'v> ImageFollowers<'v> {
    fn find(candidates: &[&'v Versioned<'v>], old: &Image, since: Option<Date>) -> Self {
        let mut found = Self::default();
        for (version, new) in candidates.iter().copied() {
            let mut differences = differences(old, version, new, since);
            match (differences.pop(), differences.is_empty()) {
                (None, _) => {
                    found.images.entry(version).or_insert(new);
                }
                (Some(difference), true) if new.key != old.key && found.near.len() < MOST_NEAR => {
                    found.near.push((&new.key, difference));
                }
                _ => {}
            }
        }
        found
    }
}

/// What is to be built for each of some minors that follow one another, where a cluster stops before the first. The images of each
/// follow those that are built for the one before it.
pub(super) fn images_to_build(
    images: &[Versioned<'_>],
    booted: &PoolImages<'_>,
    major: u32,
    minors: RangeInclusive<u32>,
    since: Option<Date>,
) -> Vec<LackingImage> {
    let all = LetIn::new();
    let of_minor = |minor: u32| {
        let before = booted.iter();
        let before = before.map(|(pool, image)| (*pool, raise_before(image, minor)));
        let before: BTreeMap<&PoolName, Image> = before.collect();
        let before = before.iter().map(|(pool, image)| (*pool, image)).collect();
        Followers::find(images, &before, &all, (major, minor), since).to_build()
    };
    minors.flat_map(of_minor).collect()
}

/// An image as its line has it in the minor before one, where it is older.
fn raise_before(image: &Image, minor: u32) -> Image {
    let mut facts = Facts::default();
    for (name, known) in image.facts.iter() {
        let held = Version::parse(&known.value);
        let older = held.filter(|it| **name == *fact::K8S_VERSION && it.minor + 1 < minor);
        let value = older.map_or_else(
            || Arc::clone(&known.value),
            |older| {
                let minor = minor - 1;
                Version { minor, ..older }.to_string().into()
            },
        );
        facts.learn(name, Fact::new(value, known.origin, known.place));
    }
    Image {
        facts,
        ..image.clone()
    }
}

/// What is against an image that may follow another one.
enum Difference {
    Obstacle(Obstacle),
    BuiltEarly(Date),
    BuiltUnknown,
}

/// In words that follow the image's name.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Obstacle(obstacle) => write!(f, "{obstacle}"),
            Self::BuiltEarly(day) => write!(f, "was built on {day}"),
            Self::BuiltUnknown => f.write_str("does not say when it was built"),
        }
    }
}

impl From<&(&ImageKey, Difference)> for NearMiss {
    fn from((image, difference): &(&ImageKey, Difference)) -> Self {
        Self {
            image: Arc::clone(image),
            difference: difference.to_string(),
        }
    }
}

fn differences(
    old: &Image,
    version: &Version,
    new: &Image,
    since: Option<Date>,
) -> Vec<Difference> {
    let mut found = obstacles(old, new);
    // A plan goes to none of these, whatever the cluster runs.
    let own = [
        (version.is_partial(), VersionObstacle::Partial),
        (version.prerelease.is_some(), VersionObstacle::Prerelease),
    ];
    for (is, obstacle) in own {
        let obstacle = Obstacle::Version(obstacle);
        if is && !found.contains(&obstacle) {
            found.push(obstacle);
        }
    }
    let age = since.and_then(|since| match build_day(new) {
        None => Some(Difference::BuiltUnknown),
        Some(built) => (built < since).then_some(Difference::BuiltEarly(built)),
    });
    let found = found.into_iter().map(Difference::Obstacle);
    found.chain(age).collect()
}
