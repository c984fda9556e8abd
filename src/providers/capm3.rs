//! Metal3 (`capm3`): bare-metal machines whose Ironic agent writes the image to disk.
//!
//! Source: CAPM3's CRDs and webhook (`api/v1beta1` and `api/v1beta2`, `Image.Validate`, v1.14.0-rc.0) and the Metal3 user guide.
//! The format is always stamped: a v1beta2 template without `diskFormat` reaches the BareMetalHost as `format: ""`, which
//! its enum does not hold. `checksumType: auto` is a BareMetalHost's word only and is left out here.

use super::{Provider, Stamp};
use crate::model::value::{Entry, Map, Node};

/// See the module's text.
pub(super) struct Capm3;

const V1BETA2: &str = "v1beta2";
/// Length limits of v1beta2's CRD; v1beta1 objects are converted to it.
const LONGEST_URL: usize = 512;
const LONGEST_CHECKSUM: usize = 512;
/// The fields of `spec.template.spec` that values may set, the image apart.
const MACHINE_FIELDS: &[&str] = &[
    "automatedCleaningMode",
    "customDeploy",
    "dataTemplate",
    "failureDomain",
    "hostSelector",
    "metaData",
    "networkData",
    "userData",
];

/// What a template takes from a pool's values: the machine's fields, and those beside them.
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

impl Provider for Capm3 {
    fn name(&self) -> &'static str {
        "capm3"
    }

    fn formats(&self) -> &'static [&'static str] {
        &["raw", "qcow2", "live-iso"]
    }

    fn kind(&self) -> &'static str {
        "Metal3MachineTemplate"
    }

    fn group(&self) -> &'static str {
        "infrastructure.cluster.x-k8s.io"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["v1beta1", V1BETA2]
    }

    fn settings(&self) -> &'static [&'static str] {
        SETTINGS
    }

    fn image_fields(&self, stamp: &Stamp, version: &str) -> Map {
        let format_field = if version == V1BETA2 {
            "diskFormat"
        } else {
            "format"
        };
        let checked = !stamp.is_oci();
        let checksum = stamp.checksum.as_ref().filter(|_| checked);
        let checksum_type = stamp
            .checksum_type
            .as_ref()
            .filter(|name| checked && checksum.is_some() && !name.is_empty() && &***name != "auto");
        [
            Some(("url", &stamp.url)),
            checksum.map(|text| ("checksum", text)),
            checksum_type.map(|text| ("checksumType", text)),
            stamp.format.as_ref().map(|text| (format_field, text)),
        ]
        .into_iter()
        .flatten()
        .map(|(key, text)| Entry::computed(key, &**text))
        .collect()
    }

    fn template_spec(&self, stamp: Option<&Stamp>, settings: &Node, version: &str) -> Map {
        let set = |key: &'static str| {
            settings
                .at(&[key])
                .filter(|node| !node.value.is_null())
                .map(|node| Entry::holding(key, node.clone()))
        };
        let image = stamp.map(|stamp| Entry::computed("image", self.image_fields(stamp, version)));
        let machine: Map = image
            .into_iter()
            .chain(MACHINE_FIELDS.iter().filter_map(|key| set(key)))
            .collect();
        let metadata = settings
            .at(&["template", "metadata"])
            .filter(|node| version == V1BETA2 && !node.value.is_null());
        let template: Map = metadata
            .map(|node| Entry::holding("metadata", node.clone()))
            .into_iter()
            .chain([Entry::computed("spec", machine)])
            .collect();
        set("nodeReuse")
            .into_iter()
            .chain([Entry::computed("template", template)])
            .collect()
    }

    fn problems(&self, stamp: Option<&Stamp>, settings: &Node, version: &str) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(stamp) = stamp {
            image_problems(stamp, &mut problems);
        }
        if version != V1BETA2 && settings.at(&["template", "metadata"]).is_some() {
            problems.push(format!(
                "`template.metadata` stands only in {V1BETA2} of Metal3MachineTemplate, not in {version}"
            ));
        }
        problems
    }
}

fn image_problems(stamp: &Stamp, problems: &mut Vec<String>) {
    if !is_request_uri(&stamp.url) {
        problems.push(format!("`{}` is not a URL", stamp.url));
    }
    let length = stamp.url.chars().count();
    if length > LONGEST_URL {
        problems.push(format!(
            "the image URL has {length} characters and may have {LONGEST_URL}"
        ));
    }
    let checksum = stamp.checksum.as_deref().unwrap_or_default();
    let length = checksum.chars().count();
    if length > LONGEST_CHECKSUM && !stamp.is_oci() {
        problems.push(format!(
            "the checksum has {length} characters and may have {LONGEST_CHECKSUM}"
        ));
    }
}

/// Go's `url.ParseRequestURI` as far as it matters for an image: `scheme://host/…`, no spaces, no control characters.
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
    use super::{Capm3, is_request_uri};
    use crate::model::value::{Entry, Map, Node};
    use crate::providers::{Provider, Stamp};

    fn stamp(url: &str) -> Stamp {
        Stamp {
            key: Some("img".into()),
            url: url.into(),
            format: Some("raw".into()),
            checksum: Some("ab".into()),
            checksum_type: Some("sha256".into()),
        }
    }

    fn text(map: &Map, key: &str) -> Option<String> {
        Some(map.get(key)?.value.as_str()?.to_string())
    }

    #[test]
    fn the_format_field_has_another_name_in_v1beta2() {
        let stamp = stamp("https://h/f");
        let old = Capm3.image_fields(&stamp, "v1beta1");
        let new = Capm3.image_fields(&stamp, "v1beta2");
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
    fn an_oci_image_has_no_checksum_and_keeps_its_format() {
        let image = Capm3.image_fields(&stamp("OCI://r/i@sha256:0"), "v1beta1");
        assert_eq!(text(&image, "checksum"), None);
        assert_eq!(text(&image, "checksumType"), None);
        assert_eq!(text(&image, "format").as_deref(), Some("raw"));
    }

    #[test]
    fn auto_is_no_checksum_type_of_a_machine_template() {
        let stamp = Stamp {
            checksum_type: Some("auto".into()),
            ..stamp("https://h/f")
        };
        let image = Capm3.image_fields(&stamp, "v1beta1");
        assert_eq!(text(&image, "checksum").as_deref(), Some("ab"));
        assert_eq!(text(&image, "checksumType"), None);
    }

    #[test]
    fn settings_stand_where_the_crd_has_them() {
        let settings = Node::computed(Map::from_iter([
            Entry::computed("nodeReuse", true),
            Entry::computed(
                "hostSelector",
                Map::from_iter([Entry::computed("matchLabels", Map::default())]),
            ),
            Entry::computed("networks", Map::default()),
            Entry::computed("dataTemplate", crate::model::value::Value::Null),
        ]));
        let spec =
            Node::computed(Capm3.template_spec(Some(&stamp("https://h/f")), &settings, "v1beta1"));
        assert!(spec.at(&["nodeReuse"]).is_some());
        assert!(
            spec.at(&["template", "spec", "hostSelector", "matchLabels"])
                .is_some()
        );
        assert!(spec.at(&["template", "spec", "networks"]).is_none());
        assert!(spec.at(&["template", "spec", "dataTemplate"]).is_none());
    }

    #[test]
    fn urls_are_what_the_webhook_takes() {
        for good in ["http://h:8080/f.raw", "oci://r/i:1", "file:///x"] {
            assert_eq!(is_request_uri(good), !good.starts_with("file"), "{good}");
        }
        for bad in ["", "f.raw", "/f", "http://", "1http://h/f", "http://h/a b"] {
            assert!(!is_request_uri(bad), "{bad}");
        }
        let long = format!("https://h/{}", "a".repeat(600));
        assert_eq!(
            Capm3
                .problems(
                    Some(&stamp(&long)),
                    &Node::computed(Map::default()),
                    "v1beta1"
                )
                .len(),
            1
        );
    }
}
