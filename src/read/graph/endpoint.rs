//! How a Cluster's API server is reached, as manifests say it, and what their Metal3 takes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use capi::objects::{ManifestObject, Reference};
use capi::providers::{self, BlankEndpoint, PROVIDERS, image_fields};
use yaml_tree::edit::Step;
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::Located;

use crate::model::endpoint::{
    ADDRESS_CLASSES, ControlPlaneEndpoint, Host, Range, Way, is_host, lowest_host,
};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};

use super::TEMPLATE_KEYS;
use super::pools::{PoolReader, is_variable_text, wrong_type};
use crate::read::host_objects::host;

/// The group of Cluster API's operator, which installs providers.
const OPERATOR: &str = "operator.cluster.x-k8s.io";
/// The annotation of an infrastructure cluster that another controller than its provider's completes, its endpoint included.
/// (<https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-cluster>, "externally managed infrastructure")
const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";

/// Whether an object installs CAPM3.
pub(super) fn is_capm3(object: &&ManifestObject) -> bool {
    let is_provider = &*object.kind == "InfrastructureProvider" && &*object.name == "metal3";
    is_provider && object.group() == OPERATOR
}

/// That neither a Cluster nor its infrastructure cluster names an endpoint, of a kind whose controller is not known to make one.
fn find_blank(infrastructure: &ManifestObject, cluster: &ManifestObject) -> Option<Finding> {
    let mut kinds = PROVIDERS.iter().map(|it| it.data().infra_cluster);
    let kind =
        kinds.find(|it| it.kind == &*infrastructure.kind && it.group == infrastructure.group())?;
    let managed_by = ["metadata", "annotations", MANAGED_BY];
    let what = match kind.blank_endpoint? {
        BlankEndpoint::Refused => "its webhook refuses that",
        BlankEndpoint::Left if infrastructure.node.get_path(&managed_by).is_some() => return None,
        BlankEndpoint::Left => "no release of its controller is known to fill it in",
    };
    if ![infrastructure, cluster].into_iter().all(is_blank) {
        return None;
    }
    let title = infrastructure.title();
    let message = format!("{title} has no control plane endpoint: {what}");
    let finding = Finding::new(RuleId::EndpointMissing, message)
        .with_subject(Subject::cluster(&cluster.name))
        .with_label(infrastructure.name_spot(), "")
        .help("write the address that is to answer for the control plane: `spec.controlPlaneEndpoint: {host: …, port: 6443}`");
    Some(finding.unless_set(Level::Warning))
}

/// Whether it is known that an object names no host of an endpoint, and no other program fills it in.
fn is_blank(object: &ManifestObject) -> bool {
    if object.unknown.is_some() {
        return false;
    }
    let endpoint = object.node.get_path(&["spec", "controlPlaneEndpoint"]);
    let Some(endpoint) = endpoint.filter(|endpoint| !endpoint.value.is_null()) else {
        return true;
    };
    let host = endpoint.get_path(&["host"]);
    let is_empty = host.is_none_or(|host| {
        host.value.is_null() || host.value.as_str().is_some_and(|text| text.is_empty())
    });
    is_empty && endpoint.value.as_map().is_some()
}

impl PoolReader<'_, '_> {
    /// The endpoint of a Cluster: its infrastructure cluster's, which Cluster API copies, and its own.
    pub(super) fn endpoint(&mut self, index: usize) -> ControlPlaneEndpoint {
        let object = &self.graph.objects[index];
        let is_infrastructure = |reference: &Reference<'_>| {
            let key = reference.steps.iter().rev().nth(1);
            key == Some(&Step::from("infrastructureRef"))
        };
        let infrastructure = self.graph.reference(index, is_infrastructure);
        let infrastructure = infrastructure.and_then(|reference| reference.to);
        let mut found = ControlPlaneEndpoint::unsaid(self.place(object, object.name_place()));
        for index in infrastructure.into_iter().chain([index]) {
            let object = &self.graph.objects[index];
            let path = ["spec", "controlPlaneEndpoint", "host"];
            let host = self.read_known(object, &path);
            let is_lost = |host: &str| host.parse::<IpAddr>().is_ok() && !is_host(host);
            if let Some(node) = object.node.get_path(&path)
                && let Some(Located { value, .. }) = host.as_ref().filter(|it| is_lost(&it.value))
            {
                let problem = format!(
                    "the control plane endpoint `{value}`, which no other machine can reach"
                );
                let finding = wrong_type(object, node.place, &problem);
                self.findings.push(finding.unless_set(Level::Warning));
            }
            let port = object
                .node
                .get_path(&["spec", "controlPlaneEndpoint", "port"]);
            let port = port.and_then(|node| self.count(object, node));
            let port = port.and_then(|port| {
                let value = u16::try_from(port.value).ok().filter(|port| *port > 0)?;
                Some(Located::new(value, port.place))
            });
            found.add(Way::Explicit, "spec.controlPlaneEndpoint", host, port, None);
        }
        let infrastructure = infrastructure.map(|index| &self.graph.objects[index]);
        let finding = infrastructure.and_then(|infrastructure| find_blank(infrastructure, object));
        self.findings.extend(finding.map(|finding| {
            let host = self.control_plane_host(index);
            finding.helps(host.map(|(host, address)| {
                format!("host `{host}` of the control plane's has the address `{address}`")
            }))
        }));
        for (of, key) in [("pod", "pods"), ("service", "services")] {
            let blocks = object
                .node
                .items(&["spec", "clusterNetwork", key, "cidrBlocks"]);
            for block in blocks {
                let network = block.value.as_str().and_then(|text| text.parse().ok());
                found.ranges.extend(network.map(|network| Range {
                    of,
                    network: Located::new(network, self.place(object, block.place)),
                }));
            }
        }
        found
    }

    /// The host that values would take for a Cluster's endpoint: the first with an address of those that its control plane claims.
    fn control_plane_host(&self, cluster: usize) -> Option<(Arc<str>, Arc<str>)> {
        let graph = self.graph;
        let hosts = graph.hosts.get_or_init(|| {
            let mut hosts: BTreeMap<_, Vec<Host>> = BTreeMap::new();
            for object in graph.objects {
                if let Some(host) = host(&object.node) {
                    hosts.entry(&*object.namespace).or_default().push(host);
                }
            }
            hosts
        });
        let hosts = hosts.get(&*graph.objects[cluster].namespace)?;
        let refers = |reference: &Reference<'_>, keys: &[&str]| {
            let key = reference.steps.iter().rev().nth(1);
            matches!(key, Some(Step::Key(key)) if keys.contains(&&**key))
        };
        let leader = graph
            .reference(cluster, |it| refers(it, &["controlPlaneRef"]))?
            .to?;
        let reference = graph.reference(leader, |it| refers(it, &TEMPLATE_KEYS));
        let template = &graph.objects[graph.template(leader, reference).index()?];
        let spec = image_fields(&template.kind)?.spec(&template.node)?;
        let provider = providers::find_by_kind(&template.kind)?;
        let selector = provider.hosts_of(spec)?;
        let is_claimed = |host: &Host| {
            let mut kind = host.kind.iter();
            kind.all(|kind| provider.data().claims(kind)) && selector.matches(&host.labels)
        };
        // Nobody says which network is meant: the cards count where nothing else is known.
        let cards = hosts.iter().flat_map(|host| &host.addresses);
        let cards: BTreeSet<_> = cards.map(|(class, _)| Arc::clone(class)).collect();
        let classes: Vec<_> = ADDRESS_CLASSES
            .map(Arc::from)
            .into_iter()
            .chain(cards)
            .collect();
        let (host, address) = lowest_host(hosts, is_claimed, &classes)?;
        Some((Arc::clone(&host.name), Arc::clone(&address.value)))
    }

    /// The version of CAPM3 that is installed, where all that install it name one.
    pub(super) fn capm3(&mut self) -> Option<Located<Arc<str>>> {
        let mut installed = self.graph.capm3.iter();
        let first = installed.next()?;
        let version =
            |object: &ManifestObject| object.node.text(&["spec", "version"]).map(str::to_owned);
        let is_one = installed.all(|other| version(other) == version(first));
        let found = self.read_known(first, &["spec", "version"]);
        found.filter(|_| is_one)
    }

    /// The text of a field that no other program fills in.
    fn read_known(&mut self, object: &ManifestObject, path: &[&str]) -> Option<Located<Arc<str>>> {
        let found = self.text(object, object.node.get_path(path)?)?;
        let text = &found.value;
        let is_known = !text.is_empty() && !is_variable_text(text) && !is_opaque(text);
        Some(found).filter(|_| is_known)
    }
}
