//! vSphere (`capv`): a template of the inventory, or in supervisor mode the name of a content library's image.
//!
//! Two kinds of one name in two groups. Source: CAPV's CRDs and webhooks.

use super::kind::MACHINE;
use super::{Change, Edit, Kind, Provider, Stamp};

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

#[cfg(test)]
mod tests {
    use super::{Capv, KINDS};
    use crate::providers::stamp::tests::with;
    use crate::providers::{Edit, Provider};

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
