//! Amazon (`capa`): an AMI of the cluster's region, or a lookup by name.
//!
//! Without `ami.id` CAPA selects the newest image whose name matches `capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*`; the lookup
//! needs `Machine.spec.version`. Source: CAPA's CRDs and pkg/cloud/services/ec2/ami.go.

use super::images::{Field, ImageNames, Way};
use super::{Edit, InPlaceChange, InfraCluster, Kind, Provider, ProviderData, Stamp};

/// See the module documentation.
pub(super) struct Capa;

/// The formats that VM Import accepts, and AMIs themselves.
const FORMATS: &[&str] = &["raw", "ami", "vmdk", "vhd", "vhdx", "ova"];

const POOL: &[&str] = &["spec", "awsLaunchTemplate"];

const KINDS: &[Kind] = &[
    Kind::new("AWSMachineTemplate", &["v1beta2"], FORMATS),
    Kind {
        machine: POOL,
        change: InPlaceChange::Rolls,
        ..Kind::new("AWSMachinePool", &["v1beta2"], FORMATS)
    },
];

const SETTINGS: &[&str] = &[
    "additionalSecurityGroups",
    "additionalTags",
    "capacityReservationId",
    "cloudInit",
    "cpuOptions",
    "hostAffinity",
    "hostID",
    "iamInstanceProfile",
    "ignition",
    "instanceMetadataOptions",
    "instanceType",
    "marketType",
    "networkInterfaces",
    "nonRootVolumes",
    "placementGroupName",
    "privateDnsName",
    "publicIP",
    "region",
    "rootVolume",
    "securityGroupOverrides",
    "spotMarketOptions",
    "sshKeyName",
    "subnet",
    "tenancy",
    "uncompressedUserData",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "AWS",
    &[
        Way::name("ami.id", &["locations.ami."]),
        Way::name("imageLookupFormat", &["locations.ami.name"]).with_fields(&[
            // Without it CAPA looks among its own images.
            Field::mandatory("imageLookupOrg", &["locations.ami.org"]),
            Field::optional("imageLookupBaseOS", &["locations.ami.base-os"]),
        ]),
    ],
)
.or_lookup()
.with_pool(POOL)];

const CLUSTER: InfraCluster = InfraCluster::new("AWSCluster", &["v1beta2"], &[]);

const DATA: ProviderData = ProviderData {
    // It belongs to the cluster: here it only selects the image.
    other_settings: &["region"],
    ..ProviderData::new("capa", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Capa {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        if ids(stamp).next().is_none() {
            let format = stamp
                .location("ami.name")
                .ok_or_else(|| stamp.no_location("capa", "ami"))?;
            return Ok(vec![
                Edit::remove(&["ami", "id"]),
                Edit::set(&["imageLookupFormat"], format),
                Edit::text(&["imageLookupOrg"], stamp.location("ami.org")),
                Edit::text(&["imageLookupBaseOS"], stamp.location("ami.base-os")),
            ]);
        }
        Ok(vec![
            Edit::set(&["ami", "id"], id(stamp)?),
            Edit::remove(&["imageLookupFormat"]),
            Edit::remove(&["imageLookupOrg"]),
            Edit::remove(&["imageLookupBaseOS"]),
        ])
    }
}

/// The AMIs, by region.
fn ids(stamp: &Stamp) -> impl Iterator<Item = (&str, &str)> {
    let all = stamp.locations("ami.");
    all.filter(|(_, id)| id.starts_with("ami-"))
}

fn id(stamp: &Stamp) -> Result<&str, String> {
    let mut all = ids(stamp);
    let (first, second) = (all.next(), all.next());
    let regions = || {
        let names: Vec<&str> = ids(stamp).map(|(region, _)| region).collect();
        names.join(", ")
    };
    match (&stamp.region, first, second) {
        (Some(region), _, _) => {
            let found = ids(stamp).find(|(name, _)| **name == **region);
            let missing = || {
                format!(
                    "the image is not in region `{region}`, only in {}",
                    regions()
                )
            };
            Ok(found.ok_or_else(missing)?.1)
        }
        (None, Some((_, id)), None) => Ok(id),
        _ => Err(format!(
            "no `region` selects one of the image's: {}",
            regions()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Capa, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider, Stamp};

    const TWO: &[(&str, &str)] = &[
        ("locations.ami.eu-west-1", "ami-1"),
        ("locations.ami.us-east-1", "ami-2"),
    ];

    fn id(facts: &[(&str, &str)], region: Option<&str>) -> Result<Edit, String> {
        let stamp = Stamp {
            region: region.map(Into::into),
            ..stamp_with("https://h/f", facts)
        };
        let edits = Capa.image(&KINDS[0], "v1beta2", &stamp)?;
        Ok(edits
            .into_iter()
            .find(|edit| edit.value.is_some())
            .expect("a field"))
    }

    #[test]
    fn the_image_of_the_region_is_selected() {
        let set = |id: &str| Ok(Edit::set(&["ami", "id"], id));
        assert_eq!(id(TWO, Some("us-east-1")), set("ami-2"));
        assert_eq!(id(&TWO[..1], None), set("ami-1"));
        assert_eq!(
            id(TWO, Some("eu-west-3")),
            Err("the image is not in region `eu-west-3`, only in eu-west-1, us-east-1".to_owned())
        );
        assert!(id(TWO, None).is_err());
    }

    #[test]
    fn an_image_without_an_id_is_looked_up_by_name() {
        let name = [("locations.ami.name", "capa-ami-ubuntu-24.04-v1.34.1-1")];
        let lookup = Edit::set(&["imageLookupFormat"], name[0].1);
        assert_eq!(id(&name, Some("eu-west-1")), Ok(lookup));
        assert!(id(&[], None).is_err());
    }
}
