//! What changes of a cluster's values beside what is rendered of them: what their charts make of it is not known.

use std::collections::BTreeSet;

use capi::image::fact;
use capi::providers::{self, Stamp};
use yaml_tree::value::Node;

use crate::decide::object_changes::{Difference, differences};
use crate::error::Error;
use crate::evaluate::{Evaluator, TemplateCache};
use crate::model::cluster::{Pool, PoolName};
use crate::model::cluster_view::ClusterView;
use crate::read::{
    self, BUNDLE, ClusterEntry, ClusterValues, OwnEffect, Workspace, is_choice, own_effect,
};
use crate::report::impact::{FieldChange, Rollout};
use crate::report::values::{ValuePath, ValueQuery};

/// The key of everything that describes a cluster.
const CLUSTER: &str = "cluster";

/// What else the chart of sylva-core makes a cluster of: values that its own `cluster` reads, and what deploys the chart of the machines.
const BESIDE: [&[&str]; 15] = [
    &["_internal"],
    &["calico_helm_values"],
    &["cluster_domain"],
    &["cluster_virtual_ip"],
    &["display_external_ip"],
    &["metallb"],
    &["metallb_helm_values"],
    &["ntp"],
    &["openstack"],
    &["proxies"],
    &["registry_mirrors"],
    &["source_templates"],
    &["unit_definition_defaults"],
    &["unit_templates"],
    &["units", "cluster"],
];

/// A cluster on one side.
pub(super) struct ValuesSide<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) entry: &'a ClusterEntry,
    pub(super) view: &'a ClusterView,
    /// What is rendered of the image of each node pool.
    pub(super) stamps: &'a [Option<Stamp>],
}

impl ValuesSide<'_> {
    /// The node pools of whose images nothing is rendered.
    fn open_pools(&self) -> BTreeSet<&PoolName> {
        let pools = self.view.cluster.pools.iter().zip(self.stamps);
        let open = pools.filter(|(_, stamp)| stamp.is_none());
        open.map(|(pool, _)| &pool.name).collect()
    }

    /// The node pools that select a component bundle, of which it is not known.
    fn pools_without_bundle(&self) -> BTreeSet<&PoolName> {
        let is_open = |pool: &&Pool| {
            let choice = &pool.bundle;
            let is_chosen = choice.explicit_key().is_some() || choice.selector.is_some();
            is_chosen && self.view.bundle(pool).is_none()
        };
        let pools = self.view.cluster.pools.iter().filter(is_open);
        pools.map(|pool| &pool.name).collect()
    }

    /// Whether it is known what machine templates are made of its settings.
    fn has_templates(&self) -> bool {
        self.view.cluster.find_unknown_provider().is_none()
    }
}

/// The values of a cluster that change, but for those that are compared otherwise.
///
/// # Errors
/// A layer cannot be read.
pub(super) fn changes(
    before: &ValuesSide<'_>,
    after: &ValuesSide<'_>,
) -> Result<Vec<FieldChange>, Error> {
    let read = |side: &ValuesSide<'_>| read::values(side.workspace, side.entry);
    let (old, new) = (read(before)?, read(after)?);
    let has_same_secrets = old.sources.has_same_secrets(&new.sources);
    let bundles = bundle_changes(before, after);
    if has_same_secrets && old.tree.value.same(&new.tree.value) {
        return Ok(bundles);
    }
    let (was, is) = (evaluate(before, &old)?, evaluate(after, &new)?);
    let has_pool = |name: &str| {
        let name = PoolName::MachineDeployment(name.into());
        let mut sides = [before, after].into_iter();
        sides.all(|side| side.view.cluster.pools.iter().any(|pool| pool.name == name))
    };
    let (open_before, open_after) = (before.open_pools(), after.open_pools());
    let (bundles_before, bundles_after) =
        (before.pools_without_bundle(), after.pools_without_bundle());
    let open = OpenPools {
        images: open_before.intersection(&open_after).copied().collect(),
        bundles: bundles_before.union(&bundles_after).copied().collect(),
    };
    let found = differences(was.node.as_ref(), is.node.as_ref()).into_iter();
    let has_templates = before.has_templates() && after.has_templates();
    let is_same_secret = |found: &Difference<'_>| found.is_secret && has_same_secrets;
    let own = found.filter(|found| !is_same_secret(found));
    let own = own.filter_map(|found| {
        let path: Vec<&str> = found.path.iter().map(String::as_str).collect();
        let rollout = match path.as_slice() {
            ["machine_deployments", name, ..] if !has_pool(name) => None,
            path => rollout(path, &open, has_templates),
        };
        let found = rollout.is_some().then(|| found.nest(&[CLUSTER]))?;
        Some(FieldChange::from_difference("values", &found, rollout))
    });
    // What an expression reads that fails is not known, and neither is what the charts of a provider read that nobody knows.
    let is_whole = was.is_whole && is.is_whole && has_templates;
    let paths = if is_whole { &BESIDE[..] } else { &[&[][..]] };
    let beside = paths.iter().flat_map(|path| {
        let found = differences(old.tree.get_path(path), new.tree.get_path(path));
        let found = found.into_iter().map(|found| found.nest(path));
        found.filter(|found| found.path.first().is_some_and(|key| key != CLUSTER))
    });
    let beside = beside.filter(|found| !is_same_secret(found));
    let beside = beside.map(|found| FieldChange::from_values(&found));
    let changes = own.chain(beside).chain(bundles);
    Ok(changes.chain(endpoint_change(before, after)).collect())
}

/// The pools on both sides whose component bundle installs other files, by what the catalog and the lock say: later machines get them.
fn bundle_changes(before: &ValuesSide<'_>, after: &ValuesSide<'_>) -> Vec<FieldChange> {
    let describe = |side: &ValuesSide<'_>, pool: &Pool| {
        let bundle = side.view.bundle(pool)?;
        let uri = bundle.uri.as_ref().map(|uri| uri.value.text().to_string());
        let digest = bundle.digest.as_ref();
        let digest = digest.map(|digest| digest.value.to_string());
        let sum = bundle.facts.text(fact::SHA256).map(str::to_owned);
        Some([Some(bundle.key.to_string()), uri, digest.or(sum)])
    };
    let change = |pool: &Pool| {
        let [was, is] = [before, after].map(|side| describe(side, pool).unwrap_or_default());
        // Another key alone installs nothing else, where both say what they install.
        let is_same = was[1..] == is[1..] && was[1..].iter().any(Option::is_some);
        if is_same {
            return None;
        }
        let mut said = was.into_iter().zip(is);
        let (from, to) = said.find(|(was, is)| was != is)?;
        Some(FieldChange {
            object: "component bundle".to_owned(),
            field: pool.name.to_string(),
            from,
            to,
            rollout: Some(Rollout::InPlace),
            is_secret: false,
        })
    };
    let old_pools = &before.view.cluster.pools;
    let is_old = |pool: &&Pool| old_pools.iter().any(|old| old.name == pool.name);
    let pools = after.view.cluster.pools.iter();
    pools.filter(is_old).filter_map(change).collect()
}

/// The control plane endpoint, as it is resolved from the hosts and settings: only later machines have another one.
fn endpoint_change(before: &ValuesSide<'_>, after: &ValuesSide<'_>) -> Option<FieldChange> {
    let endpoint = |side: &ValuesSide<'_>| {
        let endpoint = side.view.cluster.endpoint.as_ref()?.endpoint.as_ref()?;
        Some(endpoint.to_string())
    };
    let (from, to) = (endpoint(before), endpoint(after));
    (from != to).then(|| FieldChange {
        object: "endpoint".to_owned(),
        field: "spec.controlPlaneEndpoint".to_owned(),
        from,
        to,
        rollout: Some(Rollout::InPlace),
        is_secret: false,
    })
}

/// The node pools of which it is not known what their choices select.
struct OpenPools<'a> {
    images: BTreeSet<&'a PoolName>,
    bundles: BTreeSet<&'a PoolName>,
}

/// What describes the cluster.
struct Evaluated {
    node: Option<Node>,
    /// Whether all of it is evaluated; else it is as it is written.
    is_whole: bool,
}

/// What describes the cluster, evaluated as far as that is possible.
fn evaluate(side: &ValuesSide<'_>, values: &ClusterValues) -> Result<Evaluated, Error> {
    let path = ValuePath::parse(CLUSTER)?;
    let templates = TemplateCache::default();
    let evaluator = Evaluator::new(&values.tree, &values.options, &templates);
    let query = ValueQuery::new(&side.entry.name, &path, values, &evaluator);
    let mut failures = Vec::new();
    let found = query.evaluate(&mut failures).ok().flatten();
    let is_whole = failures.is_empty();
    let node = if is_whole {
        found
    } else {
        values.tree.get_path(&[CLUSTER]).cloned()
    };
    Ok(Evaluated { node, is_whole })
}

/// What a change of a value below `cluster` does; none of one that is compared by what it makes of the node pools and the endpoint.
/// Nobody knows what a choice for an `open` one selects, and settings make no template of a provider that nobody knows.
fn rollout(path: &[&str], open: &OpenPools<'_>, has_templates: bool) -> Option<Rollout> {
    match own_effect(path) {
        Some(OwnEffect::Endpoint) => return None,
        Some(OwnEffect::InPlace) => return Some(Rollout::InPlace),
        None => {}
    }
    let (pool, below) = match path {
        ["control_plane", below @ ..] => (Some(PoolName::ControlPlane), below),
        ["machine_deployments", name, below @ ..] => {
            (Some(PoolName::MachineDeployment((*name).into())), below)
        }
        ["machine_deployment_default", below @ ..] => (None, below),
        path => (None, path),
    };
    let is_known = |open: &BTreeSet<&PoolName>| match &pool {
        Some(pool) => !open.contains(pool),
        None => open.is_empty(),
    };
    let is_compared = match (path, below) {
        (["name" | "namespace" | "k8s_version" | "control_plane_replicas"], _)
        | (["machine_deployments", _, "replicas"], _) => true,
        (_, [infra, key, ..]) => providers::find(infra).is_some_and(|provider| {
            let is_setting = provider.data().settings.contains(key);
            is_choice(key) && is_known(&open.images)
                || BUNDLE.contains(key) && is_known(&open.bundles)
                || is_setting && has_templates
        }),
        _ => false,
    };
    (!is_compared).then_some(Rollout::Unknown)
}
