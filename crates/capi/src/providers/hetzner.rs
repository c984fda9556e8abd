//! Hetzner (`hetzner`): in the cloud a snapshot, or a URL with its command; on bare metal an archive for installimage.
//!
//! Source: CAPH's CRDs and webhooks: exactly one of `imageName` and `imageURL`, and `imageURLCommand` only with the latter.

use yaml_tree::value::Node;

use super::images::{Field, ImageNames, Way};
use super::{Edit, InfraCluster, Kind, Provider, ProviderData, Stamp};
use crate::image::fact;
use crate::labels::LabelSelector;
use crate::location::file_name;

/// See the module documentation.
pub(super) struct Hetzner;

const BARE_METAL: &str = "HetznerBareMetalMachineTemplate";
const VERSIONS: &[&str] = &["v1beta1", "v1beta2"];
/// The archive formats that installimage unpacks.
const ARCHIVES: [&str; 8] = [
    ".tar", ".tar.gz", ".tar.bz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz", ".txz",
];

const KINDS: &[Kind] = &[
    // The format of a snapshot is not known.
    Kind::new("HCloudMachineTemplate", VERSIONS, &[]).refuses_all(),
    Kind::new(BARE_METAL, VERSIONS, &["tar"]).refuses_all(),
];

/// The setting with which bare-metal pools select hosts.
const SELECTOR: &str = "hostSelector";

const SETTINGS: &[&str] = &[
    SELECTOR,
    "installImage",
    "placementGroupName",
    "publicNetwork",
    "skipCheckDisk",
    "sshKeys",
    "sshSpec",
    "type",
];

const IMAGE_NAMES: &[ImageNames] = &[
    ImageNames::new(
        "HCloud",
        &[
            Way::name("imageName", &["locations.hcloud.image"]),
            Way::url("imageURL", &["locations.hcloud.url"]).with_fields(&[Field::optional(
                "imageURLCommand",
                &["locations.hcloud.command"],
            )]),
        ],
    ),
    ImageNames::new(
        "HetznerBareMetal",
        &[
            Way::url(
                "installImage.image.url",
                &["locations.hetzner.url", fact::URI, "locations.https"],
            ),
            Way::url("installImage.image.path", &["locations.hetzner.path"]),
        ],
    ),
];

const CLUSTER: InfraCluster = InfraCluster::new(
    "HetznerCluster",
    VERSIONS,
    &["controlPlaneRegions", "hetznerSecretRef", "sshKeys"],
);

const DATA: ProviderData = ProviderData {
    host_selector: Some(SELECTOR),
    host_kinds: &["HetznerBareMetalHost"],
    ..ProviderData::new("hetzner", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Hetzner {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    /// Cloud machines claim no host: a pool is on bare metal if it sets how its hosts are selected or installed.
    fn hosts_of(&self, settings: &Node) -> Option<LabelSelector> {
        let setting = |name: &str| {
            settings
                .get_path(&[name])
                .filter(|node| !node.value.is_null())
        };
        match (setting(SELECTOR), setting("installImage")) {
            (Some(selector), _) => LabelSelector::read(selector),
            (None, Some(_)) => Some(LabelSelector::default()),
            (None, None) => None,
        }
    }

    fn image(&self, kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        if kind.kind == BARE_METAL {
            return archive(stamp);
        }
        if let Some(image) = stamp.location("hcloud.image") {
            return Ok(vec![
                Edit::set(&["imageName"], image),
                Edit::remove(&["imageURL"]),
                Edit::remove(&["imageURLCommand"]),
            ]);
        }
        let url = stamp.location("hcloud.url");
        let url = url.ok_or_else(|| stamp.no_location("hetzner", "hcloud.image"))?;
        let command = stamp.location("hcloud.command");
        let command = command.ok_or_else(|| stamp.no_location("hetzner", "hcloud.command"))?;
        Ok(vec![
            Edit::remove(&["imageName"]),
            Edit::set(&["imageURL"], url),
            Edit::set(&["imageURLCommand"], command),
        ])
    }
}

fn archive(stamp: &Stamp) -> Result<Vec<Edit>, String> {
    let image = |field: &'static str| ["installImage", "image", field];
    if let Some(path) = stamp.location("hetzner.path") {
        return Ok(vec![
            Edit::set(&image("path"), path),
            Edit::remove(&image("url")),
            Edit::remove(&image("name")),
        ]);
    }
    let url = stamp.location("hetzner.url").unwrap_or(&stamp.url);
    let file = file_name(url);
    if !ARCHIVES.iter().any(|ending| file.ends_with(ending)) {
        return Err(format!(
            "`{url}` is not an archive that installimage unpacks: {}",
            ARCHIVES.map(|ending| &ending[1..]).join(", ")
        ));
    }
    Ok(vec![
        Edit::remove(&image("path")),
        Edit::set(&image("url"), url),
        Edit::set(
            &image("name"),
            stamp.location("hetzner.name").unwrap_or(file),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::{Hetzner, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Provider, apply_edits};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Map, Node, Value};

    fn stamped(kind: usize, url: &str, facts: &[(&str, &str)]) -> Result<String, String> {
        let edits = Hetzner.image(&KINDS[kind], "v1beta1", &stamp_with(url, facts))?;
        apply_edits(Map::default(), &edits).map(|map| to_json(&Value::from(map), Html::Plain))
    }

    #[test]
    fn cloud_pools_claim_no_hosts() {
        let settings = |json: serde_json::Value| Node::from_value(Value::from(json));
        let of = |json| Hetzner.hosts_of(&settings(json));
        assert_eq!(of(serde_json::json!({"type": "cx32"})), None);
        let any = of(serde_json::json!({"installImage": {}}));
        assert!(any.is_some_and(|selector| selector.is_empty()));
        let some = of(serde_json::json!({"hostSelector": {"matchLabels": {"a": "b"}}}));
        assert!(some.is_some_and(|selector| !selector.is_empty()));
    }

    #[test]
    fn a_command_is_written_only_with_a_url() {
        let url = ("locations.hcloud.url", "oci://r/i");
        let command = ("locations.hcloud.command", "/install");
        assert_eq!(
            stamped(0, "", &[("locations.hcloud.image", "snap")]).as_deref(),
            Ok(r#"{"imageName":"snap"}"#)
        );
        assert_eq!(
            stamped(0, "", &[url, command]).as_deref(),
            Ok(r#"{"imageURL":"oci://r/i","imageURLCommand":"/install"}"#)
        );
        assert!(stamped(0, "", &[url]).is_err());
    }

    #[test]
    fn bare_metal_requires_an_archive() {
        assert_eq!(
            stamped(1, "https://h/ubuntu.tar.gz?x", &[]).as_deref(),
            Ok(
                r#"{"installImage":{"image":{"name":"ubuntu.tar.gz","url":"https://h/ubuntu.tar.gz?x"}}}"#
            )
        );
        assert!(stamped(1, "https://h/ubuntu.raw", &[]).is_err());
        let path = [("locations.hetzner.path", "/root/.oldroot/i.tar.gz")];
        assert_eq!(
            stamped(1, "", &path).as_deref(),
            Ok(r#"{"installImage":{"image":{"path":"/root/.oldroot/i.tar.gz"}}}"#)
        );
    }
}
