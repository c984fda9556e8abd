//! A layer of values that consists of objects of hosts: the inventory that they make. ElementalHosts have no address; a
//! BareMetalHost has those that its inspection found, a MachineInventory that of its registration, and each the ones that its
//! annotations say.
//!
//! <https://github.com/metal3-io/baremetal-operator>, `apis/metal3.io/v1alpha1`; <https://elemental.docs.rancher.com/machineinventory-reference>.

use std::sync::{Arc, LazyLock};

use capi::providers::PROVIDERS;
use capi::secrets;
use yaml_tree::engine::Engine;
use yaml_tree::json::scalar_text;
use yaml_tree::place::{FileId, Located, Place, Source};
use yaml_tree::value::{Entry, Map, Node};

use crate::model::endpoint::{Host, is_host};

/// The kinds of hosts of all providers.
static KINDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let kinds = PROVIDERS.iter().flat_map(|it| it.data().host_kinds);
    kinds.copied().collect()
});

/// The annotation that says an address of a class: `metalmark.dev/address.internal: 192.0.2.11`.
const ADDRESS: &str = "metalmark.dev/address.";

/// Where Elemental's operator notes the address that a host registered from, and the class that it is here.
const REGISTRATION: [&str; 2] = ["elemental.cattle.io/registration-ip", "registration"];

/// The values that a file is where each of its documents is an object, and some are hosts: `cluster.inventory`. None of another file.
/// What lies beside the hosts, such as the Secrets of their BMCs, says nothing of them.
pub(super) fn inventory(source: &Source, file: FileId) -> Option<Node> {
    KINDS.iter().find(|kind| source.text.contains(**kind))?;
    // As objects are read, whatever Helm makes of values.
    let read = secrets::documents(source, file, Engine::Kubectl).ok()?;
    let mut hosts = Vec::new();
    for document in &read.documents {
        let is_list = document
            .text(&["kind"])
            .is_some_and(|kind| kind.ends_with("List"));
        let items = document.items(&["items"]);
        hosts.extend(if is_list {
            items
        } else {
            std::slice::from_ref(document)
        });
    }
    let is_object =
        |node: &&Node| { ["apiVersion", "kind"].iter() }.all(|key| node.text(&[key]).is_some());
    hosts.retain(|node| !node.value.is_null());
    if !hosts.iter().all(is_object) {
        return None;
    }
    let of_namespace = |host: &Node| {
        let mut entry = entry(host)?;
        if let Some(namespace) = host.text(&["metadata", "namespace"]) {
            entry.key = format!("{namespace}/{}", entry.key).into();
        }
        Some(entry)
    };
    let inventory: Map = hosts.into_iter().filter_map(of_namespace).collect();
    inventory.iter().next()?;
    let inventory = Entry::from_value("inventory", inventory);
    let cluster = Entry::from_value("cluster", Map::from_iter([inventory]));
    Some(Node::from_value(Map::from_iter([cluster])))
}

/// The host that an object is.
pub(super) fn host(object: &Node) -> Option<Host> {
    let Entry { key, node, .. } = entry(object)?;
    let texts = |key| {
        let entries = node.entries(&[key]);
        entries.filter_map(|entry| Some((Arc::clone(&entry.key), scalar_text(&entry.node.value)?)))
    };
    let addresses = texts("addresses").filter(|(_, address)| is_host(address));
    Some(Host {
        name: key,
        kind: object.text(&["kind"]).map(Arc::from),
        place: object.place,
        labels: texts("labels").collect(),
        addresses: addresses
            .map(|(class, address)| (class, Located::new(address, Place::NONE)))
            .collect(),
    })
}

/// A host by its name, with its labels and addresses; none of one that is being deleted.
fn entry(host: &Node) -> Option<Entry> {
    let kind = host.text(&["kind"]).filter(|kind| KINDS.contains(kind))?;
    if host.get_path(&["metadata", "deletionTimestamp"]).is_some() {
        return None;
    }
    let name = host.get_path(&["metadata", "name"])?;
    let labels = host.get_path(&["metadata", "labels"]).cloned();
    let labels = labels.map(|labels| Entry::holding("labels", labels));
    // What a program found is no slip of a person's: an address that serves nobody is left out.
    let is_of_use = |node: &&Node| node.value.as_str().is_some_and(|text| is_host(text));
    let of_card = |card: &Node| {
        let address = card.get_path(&["ip"]).filter(is_of_use)?.clone();
        Some(Entry::holding(card.text(&["name"])?, address))
    };
    // A card with two addresses is there twice; the first counts.
    let cards = host.items(&["status", "hardware", "nics"]).iter().rev();
    let annotations = host.entries(&["metadata", "annotations"]);
    let said = annotations.filter_map(|entry| {
        let [key, registration] = REGISTRATION;
        let class = if *entry.key == *key {
            is_of_use(&&entry.node).then_some(registration)
        } else {
            entry.key.strip_prefix(ADDRESS)
        };
        Some(Entry::holding(class?, entry.node.clone()))
    });
    let addresses: Map = cards.filter_map(of_card).chain(said).collect();
    let own = [
        Entry::from_value("kind", kind),
        Entry::from_value("addresses", addresses),
    ];
    let fields = labels.into_iter().chain(own);
    Some(Entry {
        key: name.value.as_str()?.clone(),
        key_place: name.place,
        node: Node::new(fields.collect::<Map>(), host.place),
    })
}
