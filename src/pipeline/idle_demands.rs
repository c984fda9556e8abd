//! Prefixes of the policy below which no image is: what they demand protects nothing, perhaps because of a slip.

use oci_artifacts::{Address, Reference};
use yaml_tree::place::Spot;

use crate::error::Error;
use crate::model::cluster_view::ClusterView;
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::pipeline::fleet::Fleet;

/// A prefix of images, with the list that has it.
struct Demand<'s> {
    below: &'s Reference,
    list: &'static str,
    spot: &'s Option<Spot>,
}

impl Fleet {
    /// The demands on images that no cluster has. Clusters are read once more for those that the shared catalog and the lock leave open.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn find_idle_demands(&self, shared: &ClusterView) -> Result<Vec<Finding>, Error> {
        let policy = &self.workspace.settings.policy;
        let signed = policy.signatures.below.iter().map(|it| Demand {
            below: &it.below,
            list: "policy.signatures",
            spot: &it.spot,
        });
        let proven = policy.provenance.iter().map(|it| Demand {
            below: &it.below,
            list: "policy.provenance",
            spot: &it.spot,
        });
        let mut open: Vec<Demand<'_>> = signed.chain(proven).collect();
        let locked = self.lock().images().iter();
        retain_idle(&mut open, locked.map(|entry| &entry.reference.value));
        retain_idle(&mut open, addresses(shared));
        for entry in &self.workspace.clusters {
            if open.is_empty() {
                break;
            }
            let view = self.view_without_lock(entry)?;
            retain_idle(&mut open, addresses(&view));
            let urls = view.cluster.pools.iter();
            let urls = urls.filter_map(|pool| pool.choice.url.as_ref());
            let urls: Vec<Address> = urls.map(|url| Address::new(&*url.value)).collect();
            retain_idle(&mut open, urls.iter());
        }
        let finding = |demand: Demand<'_>| {
            let Demand { below, list, spot } = demand;
            let message = format!("no image is below `{}` of `{list}`", below.name());
            Finding::new(RuleId::ProjectFile, message)
                .with_label(spot.clone(), "this demands nothing")
                .help("correct the prefix, or remove it")
                .unless_set(Level::Warning)
        };
        Ok(open.into_iter().map(finding).collect())
    }
}

/// Keeps the demands that none of these addresses meets.
fn retain_idle<'a>(open: &mut Vec<Demand<'_>>, addresses: impl Iterator<Item = &'a Address>) {
    for address in addresses {
        open.retain(|demand| !address.is_below(std::slice::from_ref(demand.below)));
    }
}

/// The addresses of a catalog.
fn addresses(view: &ClusterView) -> impl Iterator<Item = &Address> {
    let all = view.images.values().chain(view.bundles.values());
    all.filter_map(|image| image.uri.as_ref().map(|uri| &uri.value))
}
