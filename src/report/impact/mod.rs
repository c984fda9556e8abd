//! Computes the impact of a change on a cluster's machines from both sides, compared by meaning.
//!
//! Of manifests, whole objects are compared, and [`capi::changes`] knows what each difference does. Of values, what is rendered of
//! them is: another machine template or version rolls a pool, and a template that is changed under its name does not. What their
//! charts make of other values is not known.

mod field;
mod markdown;
mod pool;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use capi::image::{Image, ImageKey, fact};
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use crate::model::cluster::PoolName;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Judged;
use crate::model::manifest::ManifestFile;
use crate::printer::Printer;
use crate::rules::ChangeInput;

pub use field::{FieldChange, Rollout};
pub use pool::{Booted, Cause, Edit, Force, Machines, Owner, PoolChange, WHOLE};

pub(in crate::report) mod words;

/// What a change does to all clusters.
#[derive(Debug, Serialize)]
pub struct Impact {
    /// The commit that it starts from, in full.
    pub against: String,
    /// How that was found.
    pub base: String,
    /// The clusters that it touches: existing ones in the project's order, then those that are gone.
    pub clusters: Vec<ClusterChange>,
    /// The number of clusters without changes.
    pub unchanged: usize,
    /// What is deployed, perhaps, and not read.
    pub unread: UnreadChange,
    /// The images that are served.
    pub served: ServedChange,
    /// What could not be compared.
    pub notes: Vec<String>,
}

impl Impact {
    /// Prints it for people.
    pub fn text(&self, out: &mut Printer) -> io::Result<()> {
        write(self, out)
    }

    /// Prints it as a comment on a merge request, with the findings of both sides.
    pub fn markdown(
        &self,
        before: &[Judged],
        after: &[Judged],
        out: &mut Printer,
    ) -> io::Result<()> {
        markdown::write(self, before, after, out)
    }
}

/// How much is not read, so that nobody knows what it deploys.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct UnreadChange {
    /// What changes, comes or goes.
    pub changed: usize,
    /// What stays as it is.
    pub unchanged: usize,
}

/// What happens to one cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterChange {
    /// Its name in the project, or the one that it had.
    pub cluster: Arc<str>,
    /// What happens.
    pub change: ImpactKind,
    /// The name that it had in the project, or, of another object, that one as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its node pools that change; of a cluster that comes or goes, all of them.
    pub pools: Vec<PoolChange>,
}

/// What happens to a cluster or a node pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ImpactKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is the same and has changed.
    Changed,
    /// It is the same object under another name in the project.
    Renamed,
    /// It keeps its name in the project and is another object: one cluster goes, another one comes.
    Replaced,
}

/// What a change does to a cluster that is on both sides; none where it does nothing. `in_place` says that the machine
/// templates keep their names, `rest` what changes beside objects, and `kept` what leaves the objects of pools that go as they are.
pub fn cluster(
    input: &ChangeInput<'_>,
    in_place: bool,
    rest: Vec<FieldChange>,
    kept: &BTreeMap<PoolName, FieldChange>,
) -> Option<ClusterChange> {
    let (before, after) = (&input.before.view.cluster, &input.after.view.cluster);
    let cluster = Arc::clone(&after.name);
    let object = |cluster: &crate::model::cluster::Cluster| {
        (
            Arc::clone(&cluster.namespace),
            Arc::clone(&cluster.object_name),
        )
    };
    let (was, is) = (object(before), object(after));
    if was != is {
        let [unknown_before, unknown_after] = [before, after].map(|cluster| cluster.unbuilt(None));
        if unknown_before.or(unknown_after).is_some() {
            let why = FieldChange::from_files(unknown_before, unknown_after);
            return Some(cluster_change(&cluster, why));
        }
        let gone = pool::all(&input.before, ImpactKind::Removed);
        let come = pool::all(&input.after, ImpactKind::Added);
        return Some(ClusterChange {
            cluster,
            change: ImpactKind::Replaced,
            from: Some(format!("{}/{}", was.0, was.1)),
            pools: gone.into_iter().chain(come).collect(),
        });
    }
    let pools = pool::changes(input, in_place, rest, kept);
    let is_renamed = before.name != after.name;
    if pools.is_empty() && !is_renamed {
        return None;
    }
    Some(ClusterChange {
        cluster,
        change: if is_renamed {
            ImpactKind::Renamed
        } else {
            ImpactKind::Changed
        },
        from: is_renamed.then(|| before.name.to_string()),
        pools,
    })
}

/// A cluster that comes or goes, with all of its pools.
pub fn whole(side: &crate::rules::Side<'_>, change: ImpactKind) -> ClusterChange {
    ClusterChange {
        cluster: Arc::clone(&side.view.cluster.name),
        change,
        from: None,
        pools: pool::all(side, change),
    }
}

/// The objects that own machines, with the clusters that these are in.
pub type Owners = BTreeMap<Owner, Arc<str>>;

/// Of a pool whose object is in another cluster on the other side, or stays as nothing deletes it, nobody knows what becomes of it: no
/// machines are deleted, and none made. `before` has no cluster that goes, for its machines go with it.
pub fn keep_moved(clusters: &mut [ClusterChange], before: &Owners, after: &Owners) {
    let all = clusters.iter().flat_map(|cluster| &cluster.pools);
    let all = all.filter_map(|pool| Some(((pool.change, pool.owner.clone()?), pool.clone())));
    let sides: BTreeMap<(ImpactKind, Owner), PoolChange> = all.collect();
    for cluster in clusters {
        let is_gone = matches!(cluster.change, ImpactKind::Removed | ImpactKind::Replaced);
        for pool in &mut cluster.pools {
            let Some(owner) = pool.owner.take() else {
                continue;
            };
            let both = match pool.change {
                ImpactKind::Added => before.get(&owner).map(|from| (from, &cluster.cluster)),
                _ if is_gone => None,
                _ => after.get(&owner).map(|to| (&cluster.cluster, to)),
            };
            let moved = both.map(|(from, to)| FieldChange::not_known(&owner.title, from, to));
            let Some(why) = moved.or_else(|| pool.keeper.take()) else {
                continue;
            };
            let side = |change| sides.get(&(change, owner.clone()));
            let [was, is] = [ImpactKind::Removed, ImpactKind::Added].map(side);
            let [was_image, is_image] = [was, is].map(|side| side?.image.as_ref());
            let [was_version, is_version] = [was, is].map(|side| side?.kubernetes.as_ref());
            *pool = PoolChange {
                pool: pool.pool.clone(),
                judgment: pool.judgment,
                image: Edit::join(was_image, is_image),
                kubernetes: Edit::join(was_version, is_version),
                ..pool::whole_cluster(vec![why])
            };
        }
    }
}

/// A cluster of which nobody knows what happens to it, and why.
pub fn cluster_change(name: &Arc<str>, why: FieldChange) -> ClusterChange {
    ClusterChange {
        cluster: Arc::clone(name),
        change: ImpactKind::Changed,
        from: None,
        pools: vec![pool::whole_cluster(vec![why])],
    }
}

/// Whether a template changes under its name, and none comes under a new one.
pub fn keeps_names(before: &[ManifestFile], after: &[ManifestFile]) -> bool {
    let (before, after) = (templates(before), templates(after));
    let is_known = |id: &String| before.contains_key(id);
    let changes = |(id, content): (&String, &String)| before.get(id) != Some(content);
    after.keys().all(is_known) && after.iter().any(changes)
}

/// The content of every machine template, by kind, namespace and name.
fn templates(files: &[ManifestFile]) -> BTreeMap<String, String> {
    let mut templates = BTreeMap::new();
    for file in files {
        // A file that is not YAML has been reported where it was rendered.
        let Ok(read) = yaml_tree::read(&file.text, FileId(0), Engine::Kubectl) else {
            continue;
        };
        for document in &read.documents {
            let text = |path: &[&str]| {
                let node = document.get_path(path);
                node.and_then(|node| node.value.as_str().map(|text| text.to_string()))
                    .unwrap_or_default()
            };
            let kind = text(&["kind"]);
            if let (true, Some(spec)) = (
                kind.ends_with("MachineTemplate"),
                document.get_path(&["spec"]),
            ) {
                let (space, name) = (
                    text(&["metadata", "namespace"]),
                    text(&["metadata", "name"]),
                );
                let content = to_json(&spec.value, Html::Plain);
                templates.insert(format!("{kind}/{space}/{name}"), content);
            }
        }
    }
    templates
}

/// Writes clusters and pools, images, and the sum.
fn write(impact: &Impact, out: &mut dyn Write) -> io::Result<()> {
    let short = impact.against.get(..10).unwrap_or(&impact.against);
    writeln!(out, "Against {short}, {}", impact.base)?;
    for note in &impact.notes {
        writeln!(out, "note: {note}")?;
    }
    for group in words::groups(impact) {
        writeln!(out, "\n{}", words::head(&group))?;
        let pools = group.first().map_or(&[][..], |change| &change.pools);
        let width = pools.iter().map(|pool| pool.pool.chars().count()).max();
        for pool in pools {
            write_pool(pool, width.unwrap_or(0), out)?;
        }
    }
    let head = match impact.served.download {
        0 => "newly served".to_owned(),
        bytes => format!("newly served, {} to download", words::bytes(bytes)),
    };
    images(&head, '+', &impact.served.added, out)?;
    images("no longer served", '-', &impact.served.removed, out)?;
    let sum = words::sum(impact);
    writeln!(out, "\n{sum}")
}

fn write_pool(pool: &PoolChange, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {:width$}  {}", pool.pool, words::machines(pool))?;
    for words::Line { what, from, to } in words::edits(pool) {
        writeln!(out, "  {:width$}    {what:<10}  {from} → {to}", "")?;
    }
    if let Some(further) = words::further(pool) {
        writeln!(out, "  {:width$}    {further}", "")?;
    }
    if !pool.skipped.is_empty() {
        let skipped = pool.skipped.join(", ");
        writeln!(out, "  {:width$}    {:<10}  {skipped}", "", "skips")?;
    }
    Ok(())
}

fn images(head: &str, sign: char, images: &[ServedImage], out: &mut dyn Write) -> io::Result<()> {
    if images.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nimages {head}")?;
    for image in images {
        let size = image
            .download
            .map_or("size unknown".to_owned(), words::bytes);
        let from = image.uri.as_deref().unwrap_or("–");
        writeln!(out, "  {sign} {}  {size}  {from}", image.key)?;
    }
    Ok(())
}

/// An image that an image server holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedImage {
    /// Its key.
    pub key: ImageKey,
    /// The artifact's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<Arc<str>>,
    /// The bytes that are fetched to serve it: its archive's, else its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<u64>,
}

/// The images of one side, by what makes them one: key, reference and digest.
pub type Served = BTreeMap<Identity, ServedImage>;

/// Key, reference and digest.
type Identity = (ImageKey, Option<Arc<str>>, Option<Arc<str>>);

/// What changes of the images that are served to any cluster.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ServedChange {
    /// Newly served.
    pub added: Vec<ServedImage>,
    /// No longer served.
    pub removed: Vec<ServedImage>,
    /// The bytes of all that are newly served, as far as their sizes are known.
    pub download: u64,
}

impl ServedChange {
    /// What is served after that was not before, and the other way round. A digest that only one side knows makes no other image.
    pub fn compare(before: &Served, after: &Served) -> Self {
        let is_served = |identity: &Identity, by: &Served| {
            let (key, uri, digest) = identity;
            let unknown = (Arc::clone(key), uri.clone(), None);
            let like = by.range(unknown.clone()..).next();
            let is_like = like.is_some_and(|((k, u, _), _)| k == key && u == uri);
            by.contains_key(identity) || by.contains_key(&unknown) || digest.is_none() && is_like
        };
        let without = |these: &Served, those: &Served| {
            let rest = these.iter().filter(|(key, _)| !is_served(key, those));
            rest.map(|(_, image)| image.clone()).collect::<Vec<_>>()
        };
        let added = without(after, before);
        Self {
            download: added
                .iter()
                .filter_map(|image| image.download)
                .fold(0, u64::saturating_add),
            removed: without(before, after),
            added,
        }
    }
}

/// Adds the images that are served to a cluster.
pub fn add_served(view: &ClusterView, served: &mut Served) {
    for image in view.served.iter().filter_map(|key| view.images.get(key)) {
        let uri = image.uri.as_ref();
        let uri = uri.map(|uri| Arc::clone(uri.value.text()));
        let digest = image.facts.get(fact::SHA256);
        let digest = digest.map(|digest| Arc::clone(&digest.value));
        let identity = (Arc::clone(&image.key), uri.clone(), digest);
        served.entry(identity).or_insert_with(|| ServedImage {
            key: Arc::clone(&image.key),
            uri,
            download: download(image),
        });
    }
}

fn download(image: &Image) -> Option<u64> {
    let size = |name| image.facts.text(name)?.parse().ok();
    size(fact::ARCHIVE_SIZE).or_else(|| size(fact::SIZE))
}

#[cfg(test)]
mod tests {
    use crate::model::manifest::ManifestFile;

    use super::keeps_names;

    fn template(name: &str, url: &str) -> Vec<ManifestFile> {
        let text = format!(
            "kind: Metal3MachineTemplate\nmetadata: {{name: {name}}}\nspec: {{url: {url}}}\n"
        );
        vec![ManifestFile::new("a.yaml", &text, "manifests/a")]
    }

    #[test]
    fn only_a_template_that_changes_under_its_name_is_in_place() {
        let was = template("a", "one");
        assert!(keeps_names(&was, &template("a", "two")));
        assert!(!keeps_names(&was, &template("b", "two")));
        assert!(!keeps_names(&was, &was));
    }
}
