//! What the files of a project say of clusters, pools and images, by place: what an editor shows at a position.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use capi::image::{ImageKey, Images};
use parking_lot::Mutex;
use yaml_tree::place::{Place, Source, Spot};

use crate::decide::proof;
use crate::model::cluster::Choice;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Judgment;

/// What is at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The name of a pool, by its number.
    Pool(usize),
    /// What decides the image of a pool: its key, its URL, its name, or a term of its selector.
    Choice(usize),
    /// The Kubernetes version of a pool.
    Version(usize),
    /// A pool's machine template: its name, or the reference to it.
    Template(usize),
    /// An image in the catalog.
    Image(ImageKey),
}

impl Mark {
    /// The pool that it is about.
    pub(super) fn pool(&self) -> Option<usize> {
        match self {
            Self::Pool(pool) | Self::Choice(pool) | Self::Version(pool) | Self::Template(pool) => {
                Some(*pool)
            }
            Self::Image(_) => None,
        }
    }
}

/// A pool, and what it boots.
#[derive(Debug)]
pub(super) struct PoolMark {
    /// The number of its cluster, which is known once it is in an [`Index`].
    pub(super) cluster: usize,
    /// `cluster/pool`.
    pub(super) name: String,
    /// The key of its image in the catalog, where it has one.
    pub(super) key: Option<ImageKey>,
    /// What it boots, in a few words: `ubuntu-noble (1.31.8, proven)`.
    pub(super) boots: String,
    /// The places that decide its image, the most direct one first.
    pub(super) choices: Vec<Spot>,
    /// The name of its machine template, where that is.
    pub(super) template: Option<Spot>,
}

/// What one cluster adds.
pub(super) struct ClusterMarks {
    /// Its pools, not numbered yet.
    pools: Vec<PoolMark>,
    /// Its marks; pools by their index.
    marks: Vec<(Spot, Mark)>,
    /// The files that it alone has.
    own: Vec<Arc<str>>,
    /// The images that are served for it.
    served: Vec<ImageKey>,
}

/// A file with its marks.
pub(super) struct FileMarks {
    /// As it was read.
    pub(super) source: Arc<Source>,
    /// In the order of their places.
    marks: BTreeSet<(u32, u32, Mark)>,
}

/// Everything, by file.
#[derive(Default)]
pub(super) struct Index {
    /// The pools of all clusters.
    pub(super) pools: Vec<PoolMark>,
    /// The files, by their path as the project names it.
    pub(super) files: BTreeMap<Arc<str>, FileMarks>,
    /// The clusters that alone have a file.
    owners: BTreeMap<Arc<str>, usize>,
    /// The images that are served, and for which clusters.
    served: BTreeMap<ImageKey, Vec<usize>>,
}

/// Collects marks while clusters are checked in parallel.
#[derive(Default)]
pub(super) struct Gatherer {
    /// The places of images that are known already: clusters share catalogs.
    images: Mutex<HashSet<(Arc<str>, u32)>>,
    /// The last catalog whose places are known: most clusters have the same one.
    last: Mutex<Option<Arc<Images>>>,
}

impl Gatherer {
    /// The marks of one cluster.
    pub(super) fn cluster(&self, view: &ClusterView) -> ClusterMarks {
        let mut found = ClusterMarks {
            pools: Vec::new(),
            marks: Vec::new(),
            own: view
                .sources
                .own()
                .iter()
                .map(|source| Arc::clone(&source.path))
                .collect(),
            served: view.served.clone(),
        };
        for pool in view.pools() {
            add_pool(view, pool, &mut found);
        }
        self.images(view, &mut found);
        found
    }

    fn images(&self, view: &ClusterView, to: &mut ClusterMarks) {
        let mut last = self.last.lock();
        if last
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, &view.images))
        {
            return;
        }
        *last = Some(Arc::clone(&view.images));
        drop(last);
        let mut known = self.images.lock();
        for image in view.images.values() {
            let Some(source) = view.sources.get(image.place.file) else {
                continue;
            };
            if known.insert((Arc::clone(&source.path), image.place.start)) {
                let mark = Mark::Image(Arc::clone(&image.key));
                to.marks.push((Spot::new(source, image.place), mark));
            }
        }
    }
}

/// Adds the marks of a pool.
fn add_pool(view: &ClusterView, of: SelectedPool<'_>, to: &mut ClusterMarks) {
    let pool = of.pool;
    let index = to.pools.len();
    let spot = |place: Place| view.sources.resolve(place);
    let terms = |choice: &Choice| -> Vec<Place> {
        let selector = choice.selector.iter();
        let terms = selector.flat_map(|selector| &selector.value.terms);
        terms
            .flat_map(|term| [term.place, term.key_place])
            .collect()
    };
    let mut places = vec![pool.choice.place()];
    places.extend(terms(&pool.choice));
    let choices: Vec<Spot> = places.into_iter().filter_map(spot).collect();
    to.marks
        .extend(spot(pool.place).map(|spot| (spot, Mark::Pool(index))));
    let version = view.cluster.k8s_version_of(pool);
    let version = version.and_then(|version| spot(version.place));
    to.marks
        .extend(version.map(|spot| (spot, Mark::Version(index))));
    let template = pool.template.as_ref();
    let places = template.map(|template| [template.reference, template.name.place]);
    for spot in places.into_iter().flatten().filter_map(spot) {
        to.marks.push((spot, Mark::Template(index)));
    }
    for choice in &choices {
        to.marks.push((choice.clone(), Mark::Choice(index)));
    }
    let known = view.described_image(of.selection);
    to.pools.push(PoolMark {
        cluster: 0,
        name: format!("{}/{}", view.cluster.name, pool.name),
        key: known.map(|image| Arc::clone(&image.key)),
        boots: boots(view, of),
        choices,
        template: template.and_then(|template| spot(template.name.place)),
    });
}

/// What a pool boots, in a few words.
fn boots(view: &ClusterView, of: SelectedPool<'_>) -> String {
    let Some(booted) = proof::booted_image(view, of.pool, of.selection) else {
        return "no image".to_owned();
    };
    let name = booted.name;
    let grade = of.judgment.grade().words();
    match (of.judgment, of.judgment.fact()) {
        (Judgment::Unknown(reason), _) => format!("{name} ({reason})"),
        (_, Some(held)) => format!("{name} ({}, {grade})", held.value),
        (_, None) => format!("{name} ({grade})"),
    }
}

impl Index {
    /// The marks of all clusters, in the clusters' order.
    pub(super) fn new(clusters: Vec<ClusterMarks>) -> Self {
        let mut index = Self::default();
        for (number, cluster) in clusters.into_iter().enumerate() {
            index.add(number, cluster);
        }
        index
    }

    fn add(&mut self, number: usize, cluster: ClusterMarks) {
        let first = self.pools.len();
        let pools = cluster.pools.into_iter();
        self.pools.extend(pools.map(|pool| PoolMark {
            cluster: number,
            ..pool
        }));
        for path in cluster.own {
            self.owners.entry(path).or_insert(number);
        }
        for key in cluster.served {
            self.served.entry(key).or_default().push(number);
        }
        for (spot, mark) in cluster.marks {
            let mark = match mark {
                Mark::Pool(pool) => Mark::Pool(first + pool),
                Mark::Choice(pool) => Mark::Choice(first + pool),
                Mark::Version(pool) => Mark::Version(first + pool),
                Mark::Template(pool) => Mark::Template(first + pool),
                image @ Mark::Image(_) => image,
            };
            let path = Arc::clone(&spot.source.path);
            let file = self.files.entry(path).or_insert_with(|| FileMarks {
                source: Arc::clone(&spot.source),
                marks: BTreeSet::new(),
            });
            file.marks.insert((spot.start, spot.end, mark));
        }
    }

    /// The cluster that alone has a file.
    pub(super) fn owner(&self, path: &str) -> Option<usize> {
        self.owners.get(path).copied()
    }

    /// The names of clusters that are served an image, by their number.
    pub(super) fn clusters_using(&self, key: &str) -> &[usize] {
        self.served.get(key).map_or(&[], Vec::as_slice)
    }

    /// The pools that boot an image.
    pub(super) fn booting<'i>(&'i self, key: &'i str) -> impl Iterator<Item = &'i PoolMark> {
        let boots = move |pool: &&PoolMark| pool.key.as_deref() == Some(key);
        self.pools.iter().filter(boots)
    }

    /// Where images of a key are in catalogs.
    pub(super) fn images<'i>(&'i self, key: &'i str) -> impl Iterator<Item = Spot> + 'i {
        self.files.values().flat_map(move |file| {
            let is_wanted = move |mark: &&(u32, u32, Mark)| matches!(&mark.2, Mark::Image(known) if **known == *key);
            let marks = file.marks.iter().filter(is_wanted);
            marks.map(|(start, end, _)| Spot::from_range(&file.source, *start, *end))
        })
    }
}

impl FileMarks {
    /// All marks with their bytes.
    pub(super) fn all(&self) -> impl Iterator<Item = (Range<usize>, &Mark)> {
        let marks = self.marks.iter();
        marks.map(|(start, end, mark)| (*start as usize..*end as usize, mark))
    }

    /// The marks at a byte; of those around it, the narrowest.
    pub(super) fn marks_at(&self, offset: usize) -> Vec<(Range<usize>, &Mark)> {
        let around = |bytes: &Range<usize>| bytes.start <= offset && offset <= bytes.end;
        let found: Vec<_> = self.all().filter(|(bytes, _)| around(bytes)).collect();
        let narrowest = found.iter().map(|(bytes, _)| bytes.len()).min();
        let is_narrowest = |bytes: &Range<usize>| Some(bytes.len()) == narrowest;
        found
            .into_iter()
            .filter(|(bytes, _)| is_narrowest(bytes))
            .collect()
    }
}
