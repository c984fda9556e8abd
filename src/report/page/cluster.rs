//! A cluster of the page.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use capi::labels::Labels;
use serde::Serialize;
use yaml_tree::place::Located;

use super::findings::FindingRow;
use super::image::{self, Catalog, Identity};
use super::pool::{PoolPart, PoolRow, Reason, number};
use super::site::Sites;
use super::tables::{Ids, Site, Tables};
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::ClusterView;
use crate::model::judgment::Grade;
use crate::model::rule::Level;
use crate::model::version::Version;

/// A cluster as it was gathered.
pub struct ClusterPart {
    name: Arc<str>,
    object: Arc<str>,
    namespace: Arc<str>,
    origin: ClusterOrigin,
    labels: Labels,
    version: Option<(String, Site)>,
    provider: Option<(String, Site)>,
    bootstrap: Option<(String, Site)>,
    folder: String,
    files: Vec<Arc<str>>,
    pools: Vec<PoolPart>,
    served: Vec<Identity>,
}

impl ClusterPart {
    pub(super) fn new(view: &ClusterView, pools: Vec<PoolPart>, mut sites: Sites<'_>) -> Self {
        let cluster = &view.cluster;
        let mut placed = |value: &Option<Located<Arc<str>>>| {
            let value = value.as_ref()?;
            let shown = &*value.value;
            Some((shown.to_owned(), sites.place(value.place)))
        };
        let version = placed(&cluster.k8s_version);
        let provider = placed(&cluster.infra_provider);
        let bootstrap = placed(&cluster.bootstrap_provider);
        let served = view.served.iter().filter_map(|key| view.images.get(key));
        let files = sites.into_files();
        let folder = files.first().and_then(|file| Path::new(&**file).parent());
        Self {
            name: Arc::clone(&cluster.name),
            object: Arc::clone(&cluster.object_name),
            namespace: Arc::clone(&cluster.namespace),
            origin: cluster.origin,
            labels: cluster.labels.clone(),
            version,
            provider,
            bootstrap,
            folder: folder.map_or(String::new(), |path| {
                path.to_string_lossy().replace('\\', "/")
            }),
            pools,
            served: served.map(image::identity).collect(),
            files,
        }
    }

    /// The images that are served for it.
    pub(super) fn images(&self) -> &[Identity] {
        &self.served
    }

    pub(super) fn row(
        &self,
        tables: &mut Tables,
        reasons: &mut Ids<Arc<Reason>>,
        images: &Catalog,
    ) -> ClusterRow {
        let pools = self.pools.iter();
        let pools: Vec<PoolRow> = pools
            .map(|pool| pool.row(tables, reasons, images))
            .collect();
        let mut placed = |value: &Option<(String, Site)>| match value {
            Some((value, at)) => (tables.text(value), tables.site(*at)),
            None => (0, 0),
        };
        let version = placed(&self.version);
        let provider = placed(&self.provider);
        let bootstrap = placed(&self.bootstrap);
        let labels = self.labels.iter();
        let worst = pools.iter().map(|pool| pool.grade);
        let labels = labels.map(|(name, value)| (tables.text(name), tables.text(value)));
        ClusterRow {
            labels: labels.collect(),
            name: tables.text(&self.name),
            object: tables.text(&self.object),
            namespace: tables.text(&self.namespace),
            is_of_manifests: u8::from(self.origin == ClusterOrigin::Manifests),
            version,
            provider,
            bootstrap,
            folder: tables.text(&self.folder),
            files: self.files.iter().map(|file| tables.text(file)).collect(),
            grade: worst.max().unwrap_or(Grade::Unknown),
            errors: 0,
            warnings: 0,
            pools,
        }
    }
}

/// A cluster as a row of numbers; values come with their places.
#[derive(Serialize)]
pub(super) struct ClusterRow {
    #[serde(rename = "n")]
    pub(super) name: u32,
    #[serde(rename = "o")]
    object: u32,
    #[serde(rename = "ns")]
    namespace: u32,
    #[serde(rename = "m")]
    is_of_manifests: u8,
    #[serde(rename = "l", skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(u32, u32)>,
    #[serde(rename = "v")]
    pub(super) version: (u32, u32),
    #[serde(rename = "i")]
    provider: (u32, u32),
    #[serde(rename = "b")]
    bootstrap: (u32, u32),
    #[serde(rename = "d")]
    folder: u32,
    #[serde(rename = "f")]
    files: Vec<u32>,
    #[serde(rename = "s", serialize_with = "number")]
    grade: Grade,
    #[serde(rename = "e")]
    errors: u32,
    #[serde(rename = "w")]
    warnings: u32,
    #[serde(rename = "p")]
    pub(super) pools: Vec<PoolRow>,
}

/// Counts the findings of each cluster. An error makes it wrong, whatever its pools boot.
pub(super) fn judge(clusters: &mut [ClusterRow], findings: &[FindingRow]) {
    for finding in findings {
        for index in &finding.clusters {
            let Some(cluster) = clusters.get_mut(*index as usize) else {
                continue;
            };
            match finding.level {
                Level::Error => {
                    cluster.errors += 1;
                    cluster.grade = Grade::Mismatched;
                }
                Level::Warning => cluster.warnings += 1,
                Level::Off => {}
            }
        }
    }
}

/// The index of each cluster by its name.
pub(super) fn indexes(clusters: &[ClusterPart]) -> HashMap<Arc<str>, u32> {
    let names = clusters.iter().map(|cluster| Arc::clone(&cluster.name));
    names.zip(0..).collect()
}

/// The Kubernetes versions of all pools with their minors, the oldest first; what is no version comes before them.
pub(super) fn versions(clusters: &[ClusterRow], tables: &mut Tables) -> Vec<(u32, u32)> {
    let pools = clusters.iter().flat_map(|cluster| &cluster.pools);
    let own = clusters.iter().map(|cluster| cluster.version.0);
    let ids: BTreeSet<u32> = pools.map(|pool| pool.version).chain(own).collect();
    let texts = tables.texts();
    let known = ids.into_iter().filter(|id| *id > 0);
    let known = known.filter_map(|id| Some((id, (*texts.get(id as usize)?).to_owned())));
    let mut known: Vec<(Option<Version>, String, u32)> = known
        .map(|(id, text)| (Version::parse(&text), text, id))
        .collect();
    known.sort();
    let versions = known.into_iter().map(|(version, text, id)| {
        let minor = version.map_or(text, |version| {
            format!("{}.{}", version.major, version.minor)
        });
        (id, tables.text(&minor))
    });
    versions.collect()
}
