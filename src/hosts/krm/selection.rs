//! Selects the image of each machine template among the items, or says why there is none.

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::objects::CLUSTER_LABEL;
use capi::providers::Stamp;
use yaml_tree::suggest::did_you_mean;
use yaml_tree::value::Node;

use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Judged;
use crate::model::rule::RuleId;
use crate::pipeline::check;
use crate::pipeline::fleet::Fleet;
use crate::render::Renderer;

use super::config::{Config, IMAGE_ANNOTATION};
use super::result::{FunctionResult, Severity};

/// The project as far as items require it.
pub(super) struct Project<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) renderer: &'a Renderer<'a>,
    pub(super) config: &'a Config,
    /// The clusters that items belong to, by name.
    pub(super) clusters: BTreeMap<Arc<str>, Cluster>,
    /// What the shared layers alone hold.
    pub(super) shared: Option<ClusterView>,
}

/// A cluster with its stamps.
pub(super) struct Cluster {
    view: ClusterView,
    stamps: Vec<Option<Stamp>>,
    pub(super) judged: Vec<Judged>,
    has_errors: bool,
}

/// What an item gets.
pub(super) enum ItemSelection {
    Stamp(Stamp),
    /// Its cluster has errors, which are reported as such.
    Faulty,
    Refused(FunctionResult),
}

impl Project<'_> {
    /// The item's annotation, else the configuration, else the pool of the cluster that the item belongs to.
    pub(super) fn selection(&mut self, item: &Node) -> Result<ItemSelection, Error> {
        let text = |path: &[&str]| {
            item.get_path(path)
                .and_then(|node| node.value.as_str())
                .cloned()
        };
        let own = text(&["metadata", "annotations", IMAGE_ANNOTATION]);
        let key = own.or_else(|| self.config.image.as_deref().map(Arc::from));
        let name = match &self.config.cluster {
            Some(name) => Some(Arc::from(name.as_str())),
            None => text(&["metadata", "labels", CLUSTER_LABEL]),
        };
        let name = name.or_else(|| text(&["metadata", "namespace"]));
        let cluster = match &name {
            Some(name) => self.cluster(name)?,
            None => None,
        };
        if let Some(key) = key {
            return self.select_by_key(&key, cluster.as_ref());
        }
        let Some(cluster) = cluster.and_then(|name| self.clusters.get(&name)) else {
            let message = format!(
                "no image is named, and no cluster of the project has this machine template: \
                 annotate it with `{IMAGE_ANNOTATION}`, or label it with `{CLUSTER_LABEL}`"
            );
            return Ok(ItemSelection::Refused(stamp_warning(message)));
        };
        Ok(select_by_pool(
            cluster,
            &text(&["metadata", "name"]).unwrap_or_default(),
        ))
    }

    /// Reads a cluster once, known by its name or by its objects'; its name if there is one.
    fn cluster(&mut self, name: &str) -> Result<Option<Arc<str>>, Error> {
        let known = |cluster: &Cluster| {
            [
                &cluster.view.cluster.name,
                &cluster.view.cluster.object_name,
            ]
            .iter()
            .any(|known| ***known == *name)
        };
        if let Some((name, _)) = self.clusters.iter().find(|(_, cluster)| known(cluster)) {
            return Ok(Some(Arc::clone(name)));
        }
        let mut entries = self.fleet.workspace.clusters.iter();
        let Some(entry) = entries.find(|entry| *entry.name == *name) else {
            return Ok(None);
        };
        let view = self.fleet.view(entry)?;
        let settings = &self.fleet.workspace.settings;
        let mut checked = check::cluster(&view, settings, self.fleet.today);
        let mut found = Vec::new();
        let stamps = self.renderer.stamps(&view, &mut found);
        for finding in &mut found {
            finding.subject.cluster = Some(entry.name.to_string());
        }
        checked.join(check::findings(found, settings, self.fleet.today));
        let cluster = Cluster {
            has_errors: checked.has_errors(),
            judged: checked.findings,
            stamps,
            view,
        };
        self.clusters.insert(Arc::clone(&entry.name), cluster);
        Ok(Some(Arc::clone(&entry.name)))
    }

    /// An image by its key: of the item's cluster, else of the layers that all clusters share.
    fn select_by_key(
        &mut self,
        key: &Arc<str>,
        cluster: Option<&Arc<str>>,
    ) -> Result<ItemSelection, Error> {
        let known = cluster.and_then(|name| self.clusters.get(name));
        let view = match known {
            Some(cluster) if cluster.has_errors => return Ok(ItemSelection::Faulty),
            Some(cluster) => &cluster.view,
            None => {
                if self.shared.is_none() {
                    self.shared = Some(self.fleet.resolve_shared()?);
                }
                match &self.shared {
                    Some(view) => view,
                    None => return Ok(ItemSelection::Faulty),
                }
            }
        };
        let Some(image) = view.images.get(key) else {
            let help = did_you_mean(key, view.images.keys().map(|known| &**known));
            let help = help.map_or(String::new(), |meant| format!(": did you mean `{meant}`?"));
            let message = format!("the catalog has no image `{key}`{help}");
            return Ok(ItemSelection::Refused(FunctionResult::new(
                Severity::Error,
                message,
            )));
        };
        let whose = known.map(|cluster| &cluster.view.cluster);
        Ok(match self.renderer.stamp_of(&view.images, image, whose) {
            Some(Ok(stamp)) => ItemSelection::Stamp(stamp),
            Some(Err(finding)) => {
                let fault = FunctionResult::new(Severity::Error, finding.message.as_str());
                ItemSelection::Refused(fault)
            }
            None => ItemSelection::Faulty,
        })
    }
}

/// The stamp of the pool that a template's name begins with: `<cluster>-<pool>`, the longest of them.
fn select_by_pool(cluster: &Cluster, name: &str) -> ItemSelection {
    if cluster.has_errors {
        return ItemSelection::Faulty;
    }
    let of = &cluster.view.cluster;
    let pools = of.pools.iter().zip(&cluster.stamps);
    let named = pools.filter_map(|(pool, stamp)| {
        let prefix = format!("{}-{}", of.object_name, pool.name);
        let rest = name.strip_prefix(&prefix)?;
        (rest.is_empty() || rest.starts_with('-')).then_some((prefix.len(), stamp))
    });
    match named.max_by_key(|(length, _)| *length) {
        Some((_, Some(stamp))) => ItemSelection::Stamp(stamp.clone()),
        Some((_, None)) => ItemSelection::Faulty,
        None => {
            let pools: Vec<String> = of.pools.iter().map(|pool| pool.name.to_string()).collect();
            let message = format!(
                "the name says none of the pools of cluster `{}` ({}): `{}-POOL`, or annotate it with `{IMAGE_ANNOTATION}`",
                of.name,
                pools.join(", "),
                of.object_name
            );
            ItemSelection::Refused(stamp_warning(message))
        }
    }
}

/// A machine template that keeps its image, whatever that is.
fn stamp_warning(message: String) -> FunctionResult {
    let mut result = FunctionResult::new(Severity::Warning, message);
    result
        .tags
        .push(("rule", RuleId::ImageUnstamped.to_string()));
    result
}
