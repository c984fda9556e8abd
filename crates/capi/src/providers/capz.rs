//! Azure (`capz`): exactly one of an image's ID, an image of a compute gallery and a marketplace offer.
//!
//! Source: CAPZ's CRDs and webhook. The version of a gallery's image is the Kubernetes version; its name does not contain it.

use super::images::{Field, ImageNames, Way};
use super::{Edit, InPlaceChange, InfraCluster, Kind, Provider, ProviderData, Stamp};

/// See the module documentation.
pub(super) struct Capz;

const FORMATS: &[&str] = &["vhd"];

const KINDS: &[Kind] = &[
    Kind::new("AzureMachineTemplate", &["v1beta1"], FORMATS),
    Kind {
        machine: &["spec", "template"],
        change: InPlaceChange::Rolls,
        ..Kind::new("AzureMachinePool", &["v1beta1"], FORMATS)
    },
];

const SETTINGS: &[&str] = &[
    "acceleratedNetworking",
    "additionalCapabilities",
    "additionalTags",
    "allocatePublicIP",
    "dataDisks",
    "diagnostics",
    "disableExtensionOperations",
    "dnsServers",
    "enableIPForwarding",
    "failureDomain",
    "identity",
    "networkInterfaces",
    "osDisk",
    "roleAssignmentName",
    "securityProfile",
    "spotVMOptions",
    "sshPublicKey",
    "subnetName",
    "systemAssignedIdentityRole",
    "userAssignedIdentities",
    "vmExtensions",
    "vmSize",
];

/// A place that images are taken from.
struct ImageStore {
    /// The field below `image`.
    field: &'static str,
    /// The fields below it, with their names in the image's facts. An image that has the first one is there.
    fields: &'static [(&'static str, &'static str)],
    /// How many of them are required.
    required: usize,
}

const STORES: [ImageStore; 2] = [
    ImageStore {
        field: "computeGallery",
        fields: &[
            ("gallery", "azure.gallery"),
            ("name", "azure.definition"),
            ("version", "azure.version"),
            ("subscriptionID", "azure.subscription"),
            ("resourceGroup", "azure.resource-group"),
        ],
        required: 3,
    },
    ImageStore {
        field: "marketplace",
        fields: &[
            ("publisher", "azure.publisher"),
            ("offer", "azure.offer"),
            ("sku", "azure.sku"),
            ("version", "azure.version"),
        ],
        required: 4,
    },
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Azure",
    &[
        Way::name("image.id", &["locations.azure.id"]),
        Way::name("image.computeGallery.name", &["locations.azure.definition"]).with_fields(&[
            Field::mandatory("image.computeGallery.gallery", &["locations.azure.gallery"]),
            Field::mandatory("image.computeGallery.version", &["locations.azure.version"]),
            Field::optional(
                "image.computeGallery.subscriptionID",
                &["locations.azure.subscription"],
            ),
            Field::optional(
                "image.computeGallery.resourceGroup",
                &["locations.azure.resource-group"],
            ),
        ]),
        Way::name("image.sharedGallery.name", &["locations.azure.definition"]).with_fields(&[
            Field::mandatory("image.sharedGallery.gallery", &["locations.azure.gallery"]),
            Field::mandatory("image.sharedGallery.version", &["locations.azure.version"]),
            Field::optional(
                "image.sharedGallery.subscriptionID",
                &["locations.azure.subscription"],
            ),
            Field::optional(
                "image.sharedGallery.resourceGroup",
                &["locations.azure.resource-group"],
            ),
        ]),
        Way::name("image.marketplace.sku", &["locations.azure.sku"]).with_fields(&[
            Field::mandatory(
                "image.marketplace.publisher",
                &["locations.azure.publisher"],
            ),
            Field::mandatory("image.marketplace.offer", &["locations.azure.offer"]),
            Field::mandatory("image.marketplace.version", &["locations.azure.version"]),
        ]),
    ],
)
.or_lookup()];

/// Its template leaves the endpoint to the load balancer.
const CLUSTER: InfraCluster = InfraCluster {
    has_template: false,
    ..InfraCluster::new("AzureCluster", &["v1beta1"], &["location"])
};

const DATA: ProviderData = ProviderData::new("capz", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS);

impl Provider for Capz {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let id = stamp.location("azure.id");
        let store = STORES
            .iter()
            .filter(|_| id.is_none())
            .find(|store| stamp.location(store.fields[0].1).is_some());
        let mut edits = Vec::new();
        match (id, store) {
            (Some(id), _) => edits.push(Edit::set(&["image", "id"], id)),
            (None, Some(store)) => {
                for (index, (field, word)) in store.fields.iter().enumerate() {
                    let text = stamp.location(word);
                    if text.is_none() && index < store.required {
                        return Err(stamp.no_location("capz", word));
                    }
                    edits.push(Edit::text(&["image", store.field, field], text));
                }
            }
            (None, None) => return Err(stamp.no_location("capz", "azure")),
        }
        let used = store.map_or("id", |store| store.field);
        let all = ["id", "computeGallery", "marketplace", "sharedGallery"];
        let others = all.into_iter().filter(|field| *field != used);
        edits.extend(others.map(|field| Edit::remove(&["image", field])));
        Ok(edits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Capz, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Provider, apply_edits};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Value};

    fn stamped(facts: &[(&str, &str)]) -> Result<String, String> {
        let existing = Map::from_iter([Entry::from_value("sharedGallery", Map::default())]);
        let existing = Map::from_iter([Entry::from_value("image", existing)]);
        let edits = Capz.image(&KINDS[0], "v1beta1", &stamp_with("https://h/f", facts))?;
        let map = apply_edits(existing, &edits)?;
        Ok(to_json(&Value::from(map), Html::Plain))
    }

    #[test]
    fn exactly_one_field_remains() {
        let gallery = [
            ("locations.azure.gallery", "g"),
            ("locations.azure.definition", "capi-ubuntu-2404"),
            ("locations.azure.version", "1.34.1"),
        ];
        assert_eq!(
            stamped(&gallery).as_deref(),
            Ok(
                r#"{"image":{"computeGallery":{"gallery":"g","name":"capi-ubuntu-2404","version":"1.34.1"}}}"#
            )
        );
        assert_eq!(
            stamped(&[("locations.azure.id", "/i")]).as_deref(),
            Ok(r#"{"image":{"id":"/i"}}"#)
        );
    }

    #[test]
    fn an_incomplete_location_is_an_error() {
        let found = stamped(&[("locations.azure.gallery", "g")]);
        assert!(found.is_err_and(|problem| problem.ends_with("no `locations.azure.definition`")));
        assert!(stamped(&[]).is_err());
    }
}
