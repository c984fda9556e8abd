//! Google (`capg`): an image by its full reference, or the newest of a family.
//!
//! Source: CAPG's CRDs and webhooks: `image` wins over `imageFamily`, and the webhook refuses every change of a template.

use super::images::{ImageNames, Way};
use super::{Edit, InPlaceChange, InfraCluster, Kind, Provider, ProviderData, Stamp};
use crate::location::gce_path;

/// See the module documentation.
pub(super) struct Capg;

const FORMATS: &[&str] = &["raw"];

const POOL: &[&str] = &["spec"];

const KINDS: &[Kind] = &[
    Kind::new("GCPMachineTemplate", &["v1beta1"], FORMATS).refuses_all(),
    Kind {
        machine: POOL,
        change: InPlaceChange::Rolls,
        ..Kind::new("GCPMachinePool", &["v1beta1"], FORMATS)
    },
];

const SETTINGS: &[&str] = &[
    "additionalDisks",
    "additionalLabels",
    "additionalMetadata",
    "additionalNetworkTags",
    "aliasIPRanges",
    "confidentialCompute",
    "guestAccelerators",
    "instanceType",
    "ipForwarding",
    "onHostMaintenance",
    "preemptible",
    "provisioningModel",
    "publicIP",
    "resourceManagerTags",
    "rootDeviceSize",
    "rootDeviceType",
    "rootDiskEncryptionKey",
    "serviceAccounts",
    "shieldedInstanceConfig",
    "subnet",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "GCP",
    &[
        Way::name("image", &["locations.gce.image"]),
        Way::name("imageFamily", &["locations.gce.family"]),
    ],
)
.or_lookup()
.with_pool(POOL)];

const CLUSTER: InfraCluster = InfraCluster::new("GCPCluster", &["v1beta1"], &["project", "region"]);

const DATA: ProviderData = ProviderData::new("capg", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS);

impl Provider for Capg {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let project = stamp.location("gce.project");
        if let Some(image) = stamp.location("gce.image") {
            return Ok(vec![
                Edit::set(&["image"], gce_path(project, false, image)),
                Edit::remove(&["imageFamily"]),
            ]);
        }
        let family = stamp
            .location("gce.family")
            .ok_or_else(|| stamp.no_location("capg", "gce"))?;
        Ok(vec![
            Edit::remove(&["image"]),
            Edit::set(&["imageFamily"], gce_path(project, true, family)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::{Capg, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider};

    #[test]
    fn a_name_gets_its_project_and_sets_one_of_two_fields() {
        let image = |facts: &[(&str, &str)]| {
            let edits = Capg.image(&KINDS[0], "v1beta1", &stamp_with("https://h/f", facts));
            let set = |edits: Vec<Edit>| edits.into_iter().find(|edit| edit.value.is_some());
            edits.ok().and_then(set)
        };
        let project = ("locations.gce.project", "p");
        assert_eq!(
            image(&[project, ("locations.gce.image", "i")]),
            Some(Edit::set(&["image"], "projects/p/global/images/i"))
        );
        assert_eq!(
            image(&[project, ("locations.gce.family", "f")]),
            Some(Edit::set(
                &["imageFamily"],
                "projects/p/global/images/family/f"
            ))
        );
        assert_eq!(image(&[project]), None);
    }
}
