//! vSphere (`capv`): a template of the inventory, or in supervisor mode the name of a content library's image.
//!
//! One kind exists in two groups. Source: CAPV's CRDs and webhooks.

use yaml_tree::value::{Entry, Map, Node};

use super::images::{Field, ImageNames, Way};
use super::{Edit, IMAGE_NAME, InfraCluster, Kind, Provider, ProviderData, Stamp, image_name};

/// See the module documentation.
pub(super) struct Capv;

const SUPERVISOR: &str = "vmware.infrastructure.cluster.x-k8s.io";
const FORMATS: &[&str] = &["ova", "ovf", "vmdk"];
const VERSIONS: &[&str] = &["v1beta1", "v1beta2"];

const KINDS: &[Kind] = &[
    Kind::new("VSphereMachineTemplate", VERSIONS, FORMATS),
    Kind {
        group: SUPERVISOR,
        ..Kind::new("VSphereMachineTemplate", VERSIONS, FORMATS)
    },
];

const SETTINGS: &[&str] = &[
    "additionalDisksGiB",
    "className",
    "cloneMode",
    "customVMXKeys",
    "dataCenter",
    "dataDisks",
    "dataStore",
    "datacenter",
    "datastore",
    "diskGiB",
    "failureDomain",
    "folder",
    "hardwareVersion",
    "image_name",
    "memoryMiB",
    "minHardwareVersion",
    "naming",
    "namingStrategy",
    "network",
    "networks",
    "numCPUs",
    "numCoresPerSocket",
    "os",
    "pciDevices",
    "powerOffMode",
    "resourcePool",
    "resources",
    "server",
    "storageClass",
    "storagePolicyName",
    "tagIDs",
    "thumbprint",
    "tlsThumbprint",
    "volumes",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "VSphere",
    &[
        Way::name("template", &["locations.vsphere.template"])
            .with_fields(&[Field::optional("snapshot", &["locations.vsphere.snapshot"])]),
        Way::name(
            "imageName",
            &["locations.vsphere.image-name", "locations.vsphere.template"],
        ),
    ],
)];

const CLUSTER: InfraCluster = InfraCluster::new("VSphereCluster", VERSIONS, &["server"]);
const SUPERVISOR_CLUSTER: InfraCluster = InfraCluster {
    group: SUPERVISOR,
    ..InfraCluster::new("VSphereCluster", VERSIONS, &[])
};

const DATA: ProviderData = ProviderData {
    other_settings: &[IMAGE_NAME, NETWORKS],
    ..ProviderData::new("capv", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Capv {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn infra_cluster(&self, template: &Kind) -> &'static InfraCluster {
        if template.group == SUPERVISOR {
            &SUPERVISOR_CLUSTER
        } else {
            &CLUSTER
        }
    }

    /// `image_name` is Sylva's setting for a template of the inventory.
    fn needs_no_image(&self, settings: &Node) -> bool {
        image_name(settings).is_some()
    }

    fn machine(&self, settings: &Node, _version: &str) -> Map {
        let mut machine = DATA.machine(settings);
        for (name, field) in RENAMED {
            if let Some(entry) = machine.remove(name)
                && machine.get(field).is_none()
            {
                machine.insert(Entry::holding(field, entry.node));
            }
        }
        if let (None, Some(network)) = (machine.get("network"), network(settings)) {
            machine.insert(Entry::from_value("network", network));
        }
        if let Some(name) = image_name(settings) {
            machine.insert(Entry::holding("template", name.clone()));
        }
        machine
    }

    fn image(&self, kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let template = stamp.location("vsphere.template");
        if kind.group == SUPERVISOR {
            let name = stamp.location("vsphere.image-name").or(template);
            let name = name.ok_or_else(|| stamp.no_location("capv", "vsphere.image-name"))?;
            return Ok(vec![Edit::set(&["imageName"], name)]);
        }
        let template = template.ok_or_else(|| stamp.no_location("capv", "vsphere.template"))?;
        let snapshot = stamp.location("vsphere.snapshot");
        Ok(vec![
            Edit::set(&["template"], template),
            // The snapshot of another template means nothing for this one.
            Edit::text(&["snapshot"], snapshot),
        ])
    }
}

/// The names in Sylva's chart, and the fields of a machine.
const RENAMED: [(&str, &str); 3] = [
    ("dataCenter", "datacenter"),
    ("dataStore", "datastore"),
    ("tlsThumbprint", "thumbprint"),
];

/// Sylva's chart has networks by name; machines use the default one.
const NETWORKS: &str = "networks";

/// The network of a machine: one device in the default network. It uses DHCP unless the settings define where its addresses
/// come from.
fn network(settings: &Node) -> Option<Map> {
    let default = settings.get_path(&[NETWORKS, "default"])?.value.as_map()?;
    let name = default.get("networkName")?.value.as_str()?;
    let mut device = (**default).clone();
    let sources = ["dhcp4", "dhcp6", "ipAddrs", "addressesFromPools"];
    if name.is_empty() {
        return None;
    }
    if sources.iter().all(|source| device.get(source).is_none()) {
        device.insert(Entry::from_value("dhcp4", true));
    }
    let devices = vec![Node::from_value(device)];
    Some(Map::from_iter([Entry::from_value("devices", devices)]))
}

#[cfg(test)]
mod tests {
    use super::{Capv, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Node, Value};

    #[test]
    fn a_template_may_be_selected_by_sylvas_setting() {
        let settings = Map::from_iter([Entry::from_value("image_name", "tpl-ubuntu")]);
        let settings = Node::from_value(settings);
        let machine = Capv.machine(&settings, "v1beta1");
        assert_eq!(
            to_json(&Value::from(machine), Html::Plain),
            r#"{"template":"tpl-ubuntu"}"#
        );
        assert!(Capv.needs_no_image(&settings));
    }

    #[test]
    fn settings_of_sylvas_chart_become_fields_of_the_machine() {
        let machine = |network: Map| {
            let networks = Map::from_iter([Entry::from_value("default", network)]);
            let settings = Map::from_iter([
                Entry::from_value("dataCenter", "dc"),
                Entry::from_value("dataStore", "ds"),
                Entry::from_value("tlsThumbprint", "AA:BB"),
                Entry::from_value("networks", networks),
            ]);
            let machine = Capv.machine(&Node::from_value(settings), "v1beta1");
            to_json(&Value::from(machine), Html::Plain)
        };
        let named = || Map::from_iter([Entry::from_value("networkName", "vms")]);
        let written = |network: &str| {
            format!(r#"{{"datacenter":"dc","datastore":"ds",{network}"thumbprint":"AA:BB"}}"#)
        };
        let device = |more: &str| {
            written(&format!(
                r#""network":{{"devices":[{{{more},"networkName":"vms"}}]}},"#
            ))
        };
        assert_eq!(machine(named()), device(r#""dhcp4":true"#));
        let mut six = named();
        six.insert(Entry::from_value("dhcp6", true));
        assert_eq!(machine(six), device(r#""dhcp6":true"#));
        let blank = Map::from_iter([Entry::from_value("networkName", Value::Null)]);
        assert_eq!(machine(blank), written(""));
    }

    #[test]
    fn each_mode_has_its_own_field() {
        let stamp = stamp_with("https://h/f", &[("locations.vsphere.template", "dc/vm/t")]);
        let govmomi = Capv.image(&KINDS[0], "v1beta1", &stamp);
        let expected = vec![
            Edit::set(&["template"], "dc/vm/t"),
            Edit::remove(&["snapshot"]),
        ];
        assert_eq!(govmomi, Ok(expected));
        let supervisor = Capv.image(&KINDS[1], "v1beta2", &stamp);
        assert_eq!(supervisor, Ok(vec![Edit::set(&["imageName"], "dc/vm/t")]));
        let nowhere = Capv.image(&KINDS[0], "v1beta1", &stamp_with("https://h/f", &[]));
        assert_eq!(
            nowhere,
            Err("nothing says where `capv` finds image `img`: its record has no `locations.vsphere.template`".to_owned())
        );
    }
}
