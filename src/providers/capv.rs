//! vSphere (`capv`): a template of the inventory, or in supervisor mode the name of a content library's image.
//!
//! Two kinds of one name in two groups. Source: CAPV's CRDs and webhooks.

use super::kind::MACHINE;
use super::{Change, Edit, Kind, Provider, Stamp, set};
use crate::model::value::{Entry, Map, Node};

/// See the module's text.
pub(super) struct Capv;

const SUPERVISOR: &str = "vmware.infrastructure.cluster.x-k8s.io";
const FORMATS: &[&str] = &["ova", "ovf", "vmdk"];
const VERSIONS: &[&str] = &["v1beta1", "v1beta2"];

const KINDS: &[Kind] = &[
    Kind::template(
        "VSphereMachineTemplate",
        VERSIONS,
        FORMATS,
        Change::Refused(MACHINE),
    ),
    Kind {
        kind: "VSphereMachineTemplate",
        group: SUPERVISOR,
        versions: VERSIONS,
        machine: &["spec", "template", "spec"],
        formats: FORMATS,
        change: Change::Refused(MACHINE),
    },
];

const SETTINGS: &[&str] = &[
    "additionalDisksGiB",
    "className",
    "cloneMode",
    "customVMXKeys",
    "dataDisks",
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
    "volumes",
];

impl Provider for Capv {
    fn name(&self) -> &'static str {
        "capv"
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn settings(&self) -> &'static [&'static str] {
        SETTINGS
    }

    /// Sylva's word for a template of the inventory.
    fn deploys_itself(&self, settings: &Node) -> bool {
        image_name(settings).is_some()
    }

    fn machine(&self, settings: &Node, _version: &str) -> Map {
        let mut machine = set(settings, self.settings());
        machine.remove(IMAGE_NAME);
        if let Some(name) = image_name(settings) {
            machine.insert(Entry::holding("template", name.clone()));
        }
        machine
    }

    fn image(&self, kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let template = stamp.location("vsphere.template");
        if kind.group == SUPERVISOR {
            let name = stamp.location("vsphere.image-name").or(template);
            let name = name.ok_or_else(|| stamp.nowhere("capv", "vsphere.image-name"))?;
            return Ok(vec![Edit::set(&["imageName"], name)]);
        }
        let template = template.ok_or_else(|| stamp.nowhere("capv", "vsphere.template"))?;
        let snapshot = stamp.location("vsphere.snapshot");
        Ok(vec![
            Edit::set(&["template"], template),
            // A snapshot is one of its template: the old one's means nothing to the new one.
            Edit::text(&["snapshot"], snapshot),
        ])
    }
}

const IMAGE_NAME: &str = "image_name";

fn image_name(settings: &Node) -> Option<&Node> {
    let name = settings.at(&[IMAGE_NAME])?;
    let text = name.value.as_str()?;
    (!text.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Capv, KINDS};
    use crate::model::json::{Html, to_json};
    use crate::model::value::{Entry, Map, Node, Value};
    use crate::providers::stamp::tests::with;
    use crate::providers::{Edit, Provider};

    #[test]
    fn a_template_may_be_named_as_sylva_does() {
        let settings = Map::from_iter([Entry::computed("image_name", "tpl-ubuntu")]);
        let settings = Node::computed(settings);
        let machine = Capv.machine(&settings, "v1beta1");
        assert_eq!(
            to_json(&Value::from(machine), Html::Plain),
            r#"{"template":"tpl-ubuntu"}"#
        );
        assert!(Capv.deploys_itself(&settings));
    }

    #[test]
    fn the_two_modes_have_a_field_each() {
        let stamp = with("https://h/f", &[("locations.vsphere.template", "dc/vm/t")]);
        let govmomi = Capv.image(&KINDS[0], "v1beta1", &stamp);
        let expected = vec![
            Edit::set(&["template"], "dc/vm/t"),
            Edit::remove(&["snapshot"]),
        ];
        assert_eq!(govmomi, Ok(expected));
        let supervisor = Capv.image(&KINDS[1], "v1beta2", &stamp);
        assert_eq!(supervisor, Ok(vec![Edit::set(&["imageName"], "dc/vm/t")]));
        let nowhere = Capv.image(&KINDS[0], "v1beta1", &with("https://h/f", &[]));
        assert_eq!(
            nowhere,
            Err("nothing says where `capv` finds image `img`: its record has no `locations.vsphere.template`".to_owned())
        );
    }
}
