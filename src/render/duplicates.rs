//! Finds objects that a run renders more than once, over all files.
//!
//! Two files with one object are one object to the API server. The last one applied wins, so a cluster may boot the image of
//! another one; and a GitOps tool that prunes deletes the object when either file is removed. It only matters which objects can
//! meet on one API server, not whether their text differs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::finding::{Finding, Subject};
use crate::model::manifest::ManifestFile;
use crate::model::rule::{Level, RuleId};
use crate::model::settings::{Output, Settings};

/// How many files a finding names.
const NAMED: usize = 2;

/// The cluster of a file, with what determines its API server.
#[derive(Clone, Debug)]
pub struct Home {
    /// The cluster's name in the project.
    pub cluster: Arc<str>,
    /// The namespace and name of its Cluster object. Two clusters in which both are equal are on two API servers.
    pub object: (Arc<str>, Arc<str>),
    /// The management cluster that its objects are applied to, if known.
    pub management: Option<Arc<str>>,
}

/// The objects of one rendered file, without its text.
#[derive(Clone, Debug)]
pub struct FileObjects {
    path: String,
    output: usize,
    root: Arc<str>,
    home: Option<Arc<Home>>,
    objects: Vec<Box<str>>,
}

impl FileObjects {
    /// The cluster that the file is for.
    pub fn cluster(&self) -> Option<&Arc<str>> {
        self.home.as_ref().map(|home| &home.cluster)
    }

    /// The objects: `KIND.GROUP NAMESPACE/NAME`.
    pub fn identities(&self) -> impl Iterator<Item = &str> {
        self.objects.iter().map(|object| &**object)
    }
}

/// Takes the objects out of files.
pub fn objects(files: &mut [ManifestFile], home: Option<&Arc<Home>>) -> Vec<FileObjects> {
    let with_objects = files.iter_mut().filter(|file| !file.objects.is_empty());
    let objects = with_objects.map(|file| FileObjects {
        path: file.path.clone(),
        output: file.output,
        root: Arc::clone(&file.root),
        home: home.cloned(),
        objects: std::mem::take(&mut file.objects),
    });
    let mut objects: Vec<FileObjects> = objects.collect();
    // Most clusters have one file with objects, and room for four would be kept for each of thousands.
    objects.shrink_to_fit();
    objects
}

/// The findings, and the clusters that errors affect.
#[derive(Default)]
pub struct Duplicates {
    /// One finding for each object that is rendered more than once.
    pub findings: Vec<Finding>,
    /// The clusters that render an object of another one.
    pub clusters: BTreeSet<Arc<str>>,
}

/// Finds objects of clusters with the same kind, namespace and name as another one. If `shared` is not empty, only those that
/// also occur in a shared file.
pub fn duplicates(
    clusters: &[FileObjects],
    shared: &[FileObjects],
    settings: &Settings,
) -> Duplicates {
    let mut all: Vec<(&str, &FileObjects)> = Vec::new();
    for file in clusters.iter().chain(shared) {
        all.extend(file.identities().map(|object| (object, file)));
    }
    all.sort_by_key(|(object, _)| *object);
    // Two files with one path are reported as a collision of paths.
    all.dedup_by(|later, earlier| later.0 == earlier.0 && later.1.path == earlier.1.path);
    let mut found = Duplicates::default();
    let is_relevant = |same: &&[(&str, &FileObjects)]| {
        let has_shared = || same.iter().any(|(_, file)| file.home.is_none());
        same.len() > 1 && (shared.is_empty() || has_shared())
    };
    for same in all.chunk_by(|a, b| a.0 == b.0).filter(is_relevant) {
        let object = same[0].0;
        let files = same.iter().map(|(_, file)| *file).collect();
        let group = Group {
            object,
            files,
            outputs: &settings.outputs,
        };
        if let Some(pair) = group.clash() {
            found.findings.push(group.finding(pair, None));
            let homes = group.files.iter().filter_map(|file| file.home.as_ref());
            found
                .clusters
                .extend(homes.map(|home| Arc::clone(&home.cluster)));
        } else if let Some(pair) = group.overlap() {
            found
                .findings
                .push(group.finding(pair, Some(Level::Warning)));
        }
    }
    found
}

type Pair<'a> = (&'a FileObjects, &'a FileObjects);

/// The files with one object.
struct Group<'a> {
    object: &'a str,
    files: Vec<&'a FileObjects>,
    outputs: &'a [Output],
}

impl<'a> Group<'a> {
    /// Two files that overwrite each other: in one folder, of one output, or of different clusters on one API server.
    fn clash(&self) -> Option<Pair<'a>> {
        self.first(|file| folder(&file.path))
            .or_else(|| self.first(|file| (file.output, file.cluster())))
            .or_else(|| self.pair_of_clusters())
    }

    /// Two files that two outputs render for the same clusters.
    fn overlap(&self) -> Option<Pair<'a>> {
        let shared = self.files.iter().find(|file| file.home.is_none());
        let other = |shared: &&FileObjects| {
            let others = self
                .files
                .iter()
                .find(|file| !std::ptr::eq(**file, *shared));
            others.copied()
        };
        let with_shared = shared.and_then(|shared| Some((*shared, other(shared)?)));
        with_shared.or_else(|| self.first(FileObjects::cluster))
    }

    /// The first two files with the same key.
    fn first<K: Ord>(&self, key: impl Fn(&'a FileObjects) -> K) -> Option<Pair<'a>> {
        let mut known = BTreeMap::new();
        self.files.iter().find_map(|file| {
            let before = known.insert(key(file), *file)?;
            Some((before, *file))
        })
    }

    /// Two clusters that may be on one API server: the project declares it, or does not rule it out.
    fn pair_of_clusters(&self) -> Option<Pair<'a>> {
        let of_clusters = || {
            let files = self.files.iter();
            files.filter_map(|file| Some((*file, file.home.as_deref()?)))
        };
        let mut servers: BTreeMap<&str, &FileObjects> = BTreeMap::new();
        for (file, home) in of_clusters() {
            let Some(server) = &home.management else {
                continue;
            };
            match servers.insert(server, file) {
                Some(before) if before.cluster() != file.cluster() => return Some((before, file)),
                _ => {}
            }
        }
        // Where nothing is known, a cluster may meet all others, except those with an equal Cluster object in another root folder:
        // they would be on two API servers.
        let mut unknown = of_clusters().filter(|(_, home)| home.management.is_none());
        let (first, own) = unknown.next()?;
        of_clusters().find_map(|(file, home)| {
            let is_apart = home.object == own.object && first.root != file.root;
            (home.cluster != own.cluster && !is_apart).then_some((first, file))
        })
    }

    fn finding(&self, (one, other): Pair<'a>, level: Option<Level>) -> Finding {
        let (kind, name) = self.object.split_once(' ').unwrap_or_default();
        let kind = kind.split('.').next().unwrap_or(kind);
        let mut others: Vec<&str> = [one, other].map(|file| &*file.path).to_vec();
        others.sort_unstable();
        let more = match self.files.len() - NAMED {
            0 => String::new(),
            1 => " and one more file".to_owned(),
            more => format!(" and {more} more files"),
        };
        let and = if more.is_empty() { " and " } else { ", " };
        let message = format!(
            "{kind} `{name}` is rendered {}: `{}`{more}",
            match self.files.len() {
                2 => "twice".to_owned(),
                times => format!("{times} times"),
            },
            others.join(&format!("`{and}`")),
        );
        let subject = Subject {
            cluster: other.home.as_ref().map(|home| home.cluster.to_string()),
            ..Subject::default()
        };
        let spot = |file: &FileObjects| self.outputs.get(file.output)?.spot.clone();
        let mut finding = Finding::new(RuleId::ObjectDuplicate, message)
            .with_subject(subject)
            .with_label(spot(one), "this output renders it");
        if one.output != other.output {
            finding = finding.with_label(spot(other), "and so does this one");
        }
        for help in self.helps(kind, one, other) {
            finding = finding.help(help);
        }
        match level {
            Some(level) => finding.unless_set(level),
            None => finding,
        }
    }

    fn helps(&self, kind: &str, one: &FileObjects, other: &FileObjects) -> Vec<String> {
        let Some((here, there)) = one.home.as_deref().zip(other.home.as_deref()) else {
            return vec![
                "apply only one of the two folders, or give one of the outputs another `namespace`"
                    .to_owned(),
            ];
        };
        if here.cluster == there.cluster {
            return vec![
                "apply only one of the two folders, or remove one of the outputs".to_owned(),
            ];
        }
        let mut helps = Vec::new();
        if here.object == there.object && one.root == other.root {
            let path = self
                .outputs
                .get(one.output)
                .map_or("", |output| &output.path);
            let path = path.trim_end_matches('/');
            helps.push(format!(
                "they are on different API servers if both are called `{}`: then write `path: \"{path}/{{{{ cluster.name }}}}\"`",
                there.object.1
            ));
        }
        match kind {
            "HelmRelease" => helps.push("write `release: \"{{ cluster.name }}\"` in the output".to_owned()),
            "ConfigMap" => helps.push("write `config-map: \"{{ cluster.name }}-os-images\"` in the output, if its target has that option".to_owned()),
            _ => {}
        }
        helps.push(
            "give each cluster a `namespace` of its own, or name its API server with `management`"
                .to_owned(),
        );
        helps
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
