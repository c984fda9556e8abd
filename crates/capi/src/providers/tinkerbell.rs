//! Tinkerbell (`tinkerbell`): a Go template of an image's reference, without unresolved variables.
//!
//! `imageLookupFormat` supports BaseRegistry, OSDistro, OSVersion and KubernetesVersion; a plain reference is valid too.
//! Source: CAPT's CRD and webhook.

use yaml_tree::value::{Node, Value};

use super::images::{Field, ImageNames, Way};
use super::{Edit, InfraCluster, Kind, Provider, ProviderData, Stamp};
use crate::image::fact;
use crate::labels::LabelSelector;

/// See the module documentation.
pub(super) struct Tinkerbell;

const KINDS: &[Kind] =
    &[Kind::new("TinkerbellMachineTemplate", &["v1beta1"], &["raw", "qcow2"]).refuses_all()];

/// The setting that selects hardware for pools.
const AFFINITY: &str = "hardwareAffinity";

const SETTINGS: &[&str] = &["bootOptions", AFFINITY, "templateOverride"];

const IMAGE: &[&str] = &[
    "locations.tinkerbell.image",
    fact::URI,
    "locations.https",
    "locations.oci",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Tinkerbell",
    &[
        Way::name("imageLookupFormat", IMAGE).with_fields(&[
            Field::optional(
                "imageLookupBaseRegistry",
                &["locations.tinkerbell.base-registry"],
            ),
            Field::optional("imageLookupOSDistro", &["locations.tinkerbell.os-distro"]),
            Field::optional("imageLookupOSVersion", &["locations.tinkerbell.os-version"]),
        ]),
        // Of EKS Anywhere.
        Way::url("osImageURL", IMAGE),
    ],
)
.or_lookup()];

/// There is no template of it.
const CLUSTER: InfraCluster = InfraCluster {
    has_template: false,
    ..InfraCluster::new("TinkerbellCluster", &["v1beta1"], &[])
};

const DATA: ProviderData = ProviderData {
    host_selector: Some(AFFINITY),
    host_kinds: &["Hardware"],
    ..ProviderData::new("tinkerbell", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Tinkerbell {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    /// Preferred terms exclude no hardware. Several required terms are alternatives, which one selector cannot express.
    fn hosts_of(&self, settings: &Node) -> Option<LabelSelector> {
        let required = settings.get_path(&[AFFINITY, "required"]);
        match required.map(|node| &node.value) {
            None | Some(Value::Null) => Some(LabelSelector::default()),
            Some(Value::List(terms)) => match terms.as_slice() {
                [] => Some(LabelSelector::default()),
                [only] => LabelSelector::read(only.get_path(&["labelSelector"])?),
                _ => None,
            },
            Some(_) => None,
        }
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let declared = stamp.location("tinkerbell.image").map(str::to_owned);
        let image = declared.or_else(|| {
            if stamp.is_oci() {
                stamp.container()
            } else {
                Some(stamp.url.to_string())
            }
        });
        let image = image
            .filter(|image| !image.is_empty())
            .ok_or_else(|| stamp.no_location("tinkerbell", "tinkerbell.image"))?;
        if image.contains("{{") && stamp.location("tinkerbell.base-registry").is_none() {
            return Err(format!("`{image}` still contains variables"));
        }
        let lookup = |name: &str| stamp.location(name);
        Ok(vec![
            Edit::set(&["imageLookupFormat"], image),
            Edit::text(
                &["imageLookupBaseRegistry"],
                lookup("tinkerbell.base-registry"),
            ),
            Edit::text(&["imageLookupOSDistro"], lookup("tinkerbell.os-distro")),
            Edit::text(&["imageLookupOSVersion"], lookup("tinkerbell.os-version")),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Tinkerbell};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider};
    use yaml_tree::value::{Node, Value};

    #[test]
    fn one_required_term_selects_hardware() {
        let of = |json: serde_json::Value| {
            let affinity = serde_json::json!({"hardwareAffinity": json});
            Tinkerbell.hosts_of(&Node::from_value(Value::from(affinity)))
        };
        let term = serde_json::json!({"labelSelector": {"matchLabels": {"a": "b"}}});
        let one = of(serde_json::json!({"required": [term]}));
        assert!(one.is_some_and(|selector| !selector.is_empty()));
        assert_eq!(of(serde_json::json!({"required": [term, term]})), None);
        let any =
            of(serde_json::json!({"preferred": [{"weight": 1, "hardwareAffinityTerm": term}]}));
        assert!(any.is_some_and(|selector| selector.is_empty()));
    }

    #[test]
    fn a_reference_is_written_without_its_scheme() {
        let format = |url: &str, facts: &[(&str, &str)]| {
            let edits = Tinkerbell.image(&KINDS[0], "v1beta1", &stamp_with(url, facts));
            edits.map(|edits| edits[0].clone())
        };
        let set = |text: &str| Ok(Edit::set(&["imageLookupFormat"], text));
        assert_eq!(format("oci://r/i@sha256:0", &[]), set("r/i@sha256:0"));
        assert_eq!(format("https://h/i.gz", &[]), set("https://h/i.gz"));
        let declared = [("locations.tinkerbell.image", "r/own:1")];
        assert_eq!(format("https://h/i.gz", &declared), set("r/own:1"));
        assert!(format("https://h/{{.OSVersion}}", &[]).is_err());
    }
}
