//! The images that a cluster lacks for a step, and those that nearly fit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capi::image::{Image, ImageKey, Images, fact};
use serde::Serialize;

use super::replacement::{Obstacle, VersionObstacle, obstacles};
use crate::model::cluster::PoolName;
use crate::model::date::{Date, build_day};
use crate::model::version::Version;

/// The most near misses of one image.
pub(super) const MOST_NEAR: usize = 3;

/// The image of each pool.
pub(super) type PoolImages<'v> = BTreeMap<&'v PoolName, &'v Image>;

/// An image of a minor version that a cluster lacks.
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

/// What a cluster lacks to take all of its node pools to a version of a minor.
pub(super) fn lacking_images(
    images: &Images,
    booted: &PoolImages<'_>,
    minor: (u32, u32),
    since: Option<Date>,
) -> Vec<LackingImage> {
    let images = images.values().filter_map(|image| {
        let version = Version::parse(image.facts.text(fact::K8S_VERSION)?)?;
        ((version.major, version.minor) == minor).then_some((version, image))
    });
    let images: Vec<(Version, &Image)> = images.collect();
    let mut lines: BTreeMap<&ImageKey, Line<'_>> = BTreeMap::new();
    for (pool, image) in booted {
        let line = lines
            .entry(&image.key)
            .or_insert_with(|| Line::new(image, &images, since));
        line.pools.push(pool.to_string());
    }
    let newest = lines.values().flat_map(|line| &line.versions).max();
    let version = newest.copied().cloned();
    let lacks = |line: &Line<'_>| {
        version
            .as_ref()
            .is_none_or(|it| !line.versions.contains(it))
    };
    let lacking = lines.into_iter().filter(|(_, line)| lacks(line));
    let lacking = lacking.map(|(follows, line)| LackingImage {
        minor,
        version: version.clone(),
        follows: Arc::clone(follows),
        pools: line.pools,
        nearest: line.nearest,
    });
    lacking.collect()
}

/// The images of a minor that may follow one image, and those that nearly may.
struct Line<'v> {
    pools: Vec<String>,
    versions: BTreeSet<&'v Version>,
    nearest: Vec<NearMiss>,
}

impl<'v> Line<'v> {
    fn new(booted: &Image, images: &'v [(Version, &Image)], since: Option<Date>) -> Self {
        let mut line = Self {
            pools: Vec::new(),
            versions: BTreeSet::new(),
            nearest: Vec::new(),
        };
        for (version, image) in images.iter().filter(|(_, it)| it.key != booted.key) {
            match &*differences(booted, version, image, since) {
                [] => {
                    line.versions.insert(version);
                }
                [difference] if line.nearest.len() < MOST_NEAR => line.nearest.push(NearMiss {
                    image: Arc::clone(&image.key),
                    difference: difference.clone(),
                }),
                _ => {}
            }
        }
        line
    }
}

/// What is against an image of a later minor, in words that follow its name.
fn differences(old: &Image, version: &Version, new: &Image, since: Option<Date>) -> Vec<String> {
    // The minors between are steps of their own.
    let skips = Obstacle::Version(VersionObstacle::Skips);
    let mut found = obstacles(old, new);
    found.retain(|it| *it != skips);
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
    let mut words: Vec<String> = found.iter().map(Obstacle::to_string).collect();
    words.extend(match (since, build_day(new)) {
        (Some(_), None) => Some("does not say when it was built".to_owned()),
        (Some(since), Some(built)) if built < since => Some(format!("was built on {built}")),
        _ => None,
    });
    words
}
