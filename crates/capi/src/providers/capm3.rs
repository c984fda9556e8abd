//! Metal3 (`capm3`): bare-metal machines whose Ironic agent writes the image to disk.
//!
//! Source: CAPM3's CRDs and webhook (`api/v1beta1` and `api/v1beta2`, `Image.Validate`, v1.14.0-rc.0) and the Metal3 user guide.
//! The format is always written: a v1beta2 template without `diskFormat` reaches the BareMetalHost as `format: ""`, which
//! its enum does not contain. `checksumType: auto` exists in BareMetalHost only and is omitted in other kinds.

use yaml_tree::value::{Entry, Node};

use super::images::{ImageNames, Way};
use super::{
    BlankEndpoint, Edit, InPlaceChange, InfraCluster, Kind, Provider, ProviderData, Stamp,
    TemplateFields, set,
};
use crate::image::fact;

/// See the module documentation.
pub(super) struct Capm3;

const V1BETA2: &str = "v1beta2";
const VERSIONS: &[&str] = &["v1beta1", V1BETA2];
const HOST: &str = "BareMetalHost";
/// Length limits of v1beta2's CRD, to which v1beta1 objects are converted.
const LONGEST_URL: usize = 512;
const LONGEST_CHECKSUM: usize = 512;
const FORMATS: &[&str] = &["raw", "qcow2", "live-iso"];

/// The settings of a pool that a template contains: the machine's fields, and fields outside the machine's spec.
const SETTINGS: &[&str] = &[
    "automatedCleaningMode",
    "customDeploy",
    "dataTemplate",
    "failureDomain",
    "hostSelector",
    "metaData",
    "networkData",
    "nodeReuse",
    "template",
    "userData",
];

/// The webhook accepts changes of a template or a machine, but they reprovision no host: a host's image is written once, while
/// it has none. Only a change of the host's own URL reprovisions it.
const KINDS: &[Kind] = &[
    Kind {
        change: InPlaceChange::Ignored,
        ..Kind::new("Metal3MachineTemplate", VERSIONS, FORMATS)
    },
    Kind {
        machine: &["spec"],
        change: InPlaceChange::Ignored,
        ..Kind::new("Metal3Machine", VERSIONS, FORMATS)
    },
    Kind {
        group: "metal3.io",
        machine: &["spec"],
        change: InPlaceChange::Rolls,
        ..Kind::new(HOST, &["v1alpha1"], FORMATS)
    },
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Metal3",
    &[Way::url(
        "image.url",
        &[fact::URI, "locations.https", "locations.oci"],
    )],
)];

/// Its webhook requires the host of an endpoint (metal3-io/cluster-api-provider-metal3, `Metal3Cluster.validate`).
const CLUSTER: InfraCluster = InfraCluster {
    blank_endpoint: Some(BlankEndpoint::Refused),
    ..InfraCluster::new("Metal3Cluster", VERSIONS, &[])
};

const DATA: ProviderData = ProviderData {
    host_selector: Some("hostSelector"),
    host_kinds: &[HOST],
    other_settings: &["nodeReuse", "template"],
    ..ProviderData::new("capm3", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Capm3 {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, kind: &Kind, version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        validate(stamp)?;
        let format_field = if version == V1BETA2 {
            ["diskFormat", "format"]
        } else {
            ["format", "diskFormat"]
        };
        let checksum = stamp.checksum.as_deref().filter(|_| !stamp.is_oci());
        let is_accepted = |name: &&str| !name.is_empty() && (*name != "auto" || kind.kind == HOST);
        let checksum_type = stamp.checksum_type.as_deref().filter(is_accepted);
        Ok(vec![
            Edit::set(&["image", "url"], &*stamp.url),
            Edit::text(&["image", "checksum"], checksum),
            Edit::text(
                &["image", "checksumType"],
                checksum_type.filter(|_| checksum.is_some()),
            ),
            Edit::text(&["image", format_field[0]], stamp.format.as_deref()),
            Edit::remove(&["image", format_field[1]]),
        ])
    }

    fn template_fields(&self, settings: &Node, version: &str) -> TemplateFields {
        let metadata = settings
            .get_path(&["template", "metadata"])
            .filter(|node| version == V1BETA2 && !node.value.is_null());
        let template = metadata.map(|node| Entry::holding("metadata", node.clone()));
        TemplateFields {
            template: template.into_iter().collect(),
            spec: set(settings, &["nodeReuse"]),
        }
    }

    fn problems(&self, settings: &Node, version: &str) -> Vec<String> {
        let has_metadata = settings.get_path(&["template", "metadata"]).is_some();
        let problem = format!(
            "`template.metadata` exists only in {V1BETA2} of Metal3MachineTemplate, not in {version}"
        );
        (version != V1BETA2 && has_metadata)
            .then_some(problem)
            .into_iter()
            .collect()
    }

    fn needs_no_image(&self, settings: &Node) -> bool {
        settings.get_path(&["customDeploy", "method"]).is_some()
    }
}

/// Refuses what the webhook and the CRD's length limits refuse.
fn validate(stamp: &Stamp) -> Result<(), String> {
    if !is_request_uri(&stamp.url) {
        return Err(format!("`{}` is not a URL", stamp.url));
    }
    let length = stamp.url.chars().count();
    if length > LONGEST_URL {
        return Err(format!(
            "the image URL has {length} characters and may have {LONGEST_URL}"
        ));
    }
    let checksum = stamp.checksum.as_deref().unwrap_or_default();
    let length = checksum.chars().count();
    if length > LONGEST_CHECKSUM && !stamp.is_oci() {
        return Err(format!(
            "the checksum has {length} characters and may have {LONGEST_CHECKSUM}"
        ));
    }
    Ok(())
}

/// Go's `url.ParseRequestURI`, as far as it matters for images: `scheme://host/…`, no spaces, no control characters.
fn is_request_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let mut letters = scheme.bytes();
    letters
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic())
        && letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty()
        && !rest.starts_with('/')
        && !text.contains(|letter: char| letter.is_control() || letter == ' ')
}

#[cfg(test)]
mod tests {
    use super::{Capm3, KINDS, is_request_uri};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Provider, Stamp, Template, apply_edits, template_spec};
    use yaml_tree::value::{Entry, Map, Node};

    fn image(stamp: &Stamp, kind: usize, version: &str) -> Node {
        let edits = Capm3
            .image(&KINDS[kind], version, stamp)
            .expect("a good image");
        Node::from_value(apply_edits(Map::default(), &edits).expect("no lists"))
    }

    fn text(node: &Node, key: &str) -> Option<String> {
        Some(node.get_path(&["image", key])?.value.as_str()?.to_string())
    }

    #[test]
    fn the_format_field_has_another_name_in_v1beta2() {
        let stamp = stamp_with("https://h/f", &[]);
        let old = image(&stamp, 0, "v1beta1");
        let new = image(&stamp, 0, "v1beta2");
        assert_eq!(
            (text(&old, "format"), text(&old, "diskFormat")),
            (Some("raw".into()), None)
        );
        assert_eq!(
            (text(&new, "format"), text(&new, "diskFormat")),
            (None, Some("raw".into()))
        );
    }

    #[test]
    fn an_oci_image_keeps_its_format_and_gets_no_checksum() {
        let image = image(&stamp_with("OCI://r/i@sha256:0", &[]), 0, "v1beta1");
        assert_eq!(text(&image, "checksum"), None);
        assert_eq!(text(&image, "checksumType"), None);
        assert_eq!(text(&image, "format").as_deref(), Some("raw"));
    }

    #[test]
    fn the_checksum_type_auto_is_written_into_hosts_only() {
        let stamp = Stamp {
            checksum_type: Some("auto".into()),
            ..stamp_with("https://h/f", &[])
        };
        let template = image(&stamp, 0, "v1beta1");
        assert_eq!(text(&template, "checksum").as_deref(), Some("ab"));
        assert_eq!(text(&template, "checksumType"), None);
        let host = image(&stamp, 2, "v1alpha1");
        assert_eq!(text(&host, "checksumType").as_deref(), Some("auto"));
    }

    #[test]
    fn settings_are_written_to_the_fields_of_the_crd() {
        let labels = Map::from_iter([Entry::from_value("matchLabels", Map::default())]);
        let settings = Node::from_value(Map::from_iter([
            Entry::from_value("nodeReuse", true),
            Entry::from_value("hostSelector", labels),
            Entry::from_value("networks", Map::default()),
            Entry::from_value("dataTemplate", yaml_tree::value::Value::Null),
        ]));
        let stamp = stamp_with("https://h/f", &[]);
        let template = Template {
            provider: &Capm3,
            kind: &KINDS[0],
            version: "v1beta1",
        };
        let spec = template_spec(template, Some(&stamp), &settings);
        let spec = Node::from_value(spec.expect("a good image"));
        assert!(spec.get_path(&["nodeReuse"]).is_some());
        let selector = ["template", "spec", "hostSelector", "matchLabels"];
        assert!(spec.get_path(&selector).is_some());
        assert!(spec.get_path(&["template", "spec", "networks"]).is_none());
        assert!(
            spec.get_path(&["template", "spec", "dataTemplate"])
                .is_none()
        );
    }

    #[test]
    fn urls_are_checked_as_in_the_webhook() {
        for good in ["http://h:8080/f.raw", "oci://r/i:1", "file:///x"] {
            assert_eq!(is_request_uri(good), !good.starts_with("file"), "{good}");
        }
        for bad in ["", "f.raw", "/f", "http://", "1http://h/f", "http://h/a b"] {
            assert!(!is_request_uri(bad), "{bad}");
        }
        let long = stamp_with(&format!("https://h/{}", "a".repeat(600)), &[]);
        assert!(Capm3.image(&KINDS[0], "v1beta1", &long).is_err());
    }
}
