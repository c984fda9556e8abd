//! Proxmox (`proxmox`): a template by its ID and node, or by its tags.
//!
//! Source: CAPMOX's CRDs: the ID wins over the tags, so only one of them is written.

use yaml_tree::value::{Node, Value};

use super::images::{Field, ImageNames, Way};
use super::{Edit, InfraCluster, Kind, Provider, ProviderData, Stamp};

/// See the module documentation.
pub(super) struct Proxmox;

const KINDS: &[Kind] = &[Kind::new(
    "ProxmoxMachineTemplate",
    &["v1alpha2", "v1alpha1"],
    &["raw", "qcow2", "vmdk"],
)
.refuses_all()];

const SETTINGS: &[&str] = &[
    "allowedNodes",
    "checks",
    "description",
    "disks",
    "format",
    "full",
    "memoryMiB",
    "metadataSettings",
    "network",
    "numCores",
    "numSockets",
    "pool",
    "snapName",
    "storage",
    "tags",
    "target",
    "vmIDRange",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Proxmox",
    &[
        Way::name("templateID", &["locations.proxmox.template-id"])
            .with_fields(&[Field::optional("sourceNode", &["locations.proxmox.node"])]),
        Way::name("templateSelector.matchTags", &["locations.proxmox.tags"]),
    ],
)];

const CLUSTER: InfraCluster =
    InfraCluster::new("ProxmoxCluster", &["v1alpha2", "v1alpha1"], &["dnsServers"]);

const DATA: ProviderData = ProviderData::new("proxmox", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS);

impl Provider for Proxmox {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        if let Some(id) = stamp.location("proxmox.template-id") {
            let number: i32 = id
                .parse()
                .map_err(|_| format!("`locations.proxmox.template-id: {id}` is not a number"))?;
            let node = stamp
                .location("proxmox.node")
                .ok_or_else(|| stamp.no_location("proxmox", "proxmox.node"))?;
            return Ok(vec![
                Edit::set(&["templateID"], i64::from(number)),
                Edit::set(&["sourceNode"], node),
                Edit::remove(&["templateSelector"]),
            ]);
        }
        let tags = stamp
            .location("proxmox.tags")
            .ok_or_else(|| stamp.no_location("proxmox", "proxmox"))?;
        let tags: Vec<Node> = tags
            .split(',')
            .map(|tag| Node::from_value(tag.trim()))
            .collect();
        Ok(vec![
            Edit::remove(&["templateID"]),
            Edit::remove(&["sourceNode"]),
            Edit::set(&["templateSelector", "matchTags"], Value::from(tags)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Proxmox};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Provider, apply_edits};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Map, Value};

    #[test]
    fn an_id_requires_a_node_and_excludes_tags() {
        let stamped = |facts: &[(&str, &str)]| {
            let edits = Proxmox.image(&KINDS[0], "v1alpha2", &stamp_with("https://h/f", facts))?;
            apply_edits(Map::default(), &edits).map(|map| to_json(&Value::from(map), Html::Plain))
        };
        let id = ("locations.proxmox.template-id", "100");
        assert_eq!(
            stamped(&[id, ("locations.proxmox.node", "pve1")]).as_deref(),
            Ok(r#"{"sourceNode":"pve1","templateID":100}"#)
        );
        assert_eq!(
            stamped(&[("locations.proxmox.tags", "ubuntu, k8s-1.34")]).as_deref(),
            Ok(r#"{"templateSelector":{"matchTags":["ubuntu","k8s-1.34"]}}"#)
        );
        assert!(stamped(&[id]).is_err());
        assert!(stamped(&[("locations.proxmox.template-id", "x")]).is_err());
    }
}
