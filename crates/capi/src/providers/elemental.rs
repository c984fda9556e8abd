//! Elemental (`elemental`): the OS image that the plugin upgrades a host to, as an OCI reference.
//!
//! A hash of the whole `osVersionManagement` is the correlation ID of an upgrade, so any change of it is an upgrade: only
//! `imageUri` is written, and the fields beside it are kept. The CRD has no schema for it, so nothing validates it.
//! Source: rancher-sandbox/cluster-api-provider-elemental, doc/PLUGIN_ELEMENTAL.md.

use yaml_tree::value::Node;

use super::images::{ImageNames, Way};
use super::{
    BlankEndpoint, Edit, InPlaceChange, InfraCluster, Kind, Provider, ProviderData, Stamp,
};
use oci_artifacts::is_oci;

use crate::image::fact;

/// See the module documentation.
pub(super) struct Elemental;

const KINDS: &[Kind] = &[Kind {
    change: InPlaceChange::Ignored,
    ..Kind::new("ElementalMachineTemplate", &["v1beta1"], &["container"])
}];

const SETTINGS: &[&str] = &["osVersionManagement", "registration", "selector"];

/// The settings that choose a component bundle.
const BUNDLE: [&str; 3] = [
    "component_bundle_key",
    "component_bundle_selector",
    "componentsBundle",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Elemental",
    &[Way::url(
        "osVersionManagement.osVersion.imageUri",
        &[fact::URI, "locations.oci"],
    )],
)];

/// The controller leaves the endpoint as it is (rancher-sandbox/cluster-api-provider-elemental,
/// internal/controller/elementalcluster_controller.go, step 5).
const CLUSTER: InfraCluster = InfraCluster {
    blank_endpoint: Some(BlankEndpoint::Left),
    ..InfraCluster::new("ElementalCluster", &["v1beta1"], &[])
};

const DATA: ProviderData = ProviderData {
    host_selector: Some("selector"),
    host_kinds: &["ElementalHost", "MachineInventory"],
    other_settings: &["registration"],
    ..ProviderData::new("elemental", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Elemental {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    /// Its hosts have a system already, and a component bundle may bring all else.
    fn needs_no_image(&self, settings: &Node) -> bool {
        let is_set = |key: &&str| {
            let node = settings.get_path(&[key]);
            node.is_some_and(|node| !node.value.is_null())
        };
        BUNDLE.iter().any(is_set)
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let own = stamp.facts.text(fact::URI);
        // Another address than the image's own is that of a mirror, whose content was not locked.
        let is_own = !is_oci(&stamp.url) || own == Some(&*stamp.url);
        let pinned = stamp.digest_reference().filter(|_| is_own);
        let artifact = stamp.location("oci");
        let references = [pinned.as_deref(), Some(&*stamp.url), own, artifact];
        let uri = references.into_iter().flatten().find(|url| is_oci(url));
        let uri = uri.ok_or_else(|| stamp.no_location("elemental", "oci"))?;
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        Ok(vec![Edit::set(&path, uri)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Elemental, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider};
    use oci_artifacts::Digest;

    #[test]
    fn only_an_oci_reference_is_accepted() {
        let image = |url: &str, facts: &[(&str, &str)]| {
            Elemental.image(&KINDS[0], "v1beta1", &stamp_with(url, facts))
        };
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        let set = Ok(vec![Edit::set(&path, "oci://r/os@sha256:0")]);
        assert_eq!(image("oci://r/os@sha256:0", &[]), set);
        assert_eq!(image("https://h/f", &[("uri", "oci://r/os@sha256:0")]), set);
        assert!(image("https://h/f", &[]).is_err());
    }

    #[test]
    fn a_locked_image_is_written_by_digest_without_its_tag() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let locked = |uri: &str, url: &str| {
            let mut stamp = stamp_with(url, &[("uri", uri)]);
            stamp.digest = Digest::parse(&digest).ok();
            Elemental.image(&KINDS[0], "v1beta1", &stamp)
        };
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        let set = Ok(vec![Edit::set(
            &path,
            format!("oci://r.example/os@{digest}"),
        )]);
        for uri in ["oci://r.example/os:1", "oci://r.example/os:renamed"] {
            assert_eq!(locked(uri, uri), set);
            assert_eq!(locked(uri, "https://h/f"), set);
        }
        let mirror = Ok(vec![Edit::set(&path, "oci://mirror.example/os:1")]);
        assert_eq!(
            locked("oci://r.example/os:1", "oci://mirror.example/os:1"),
            mirror
        );
    }
}
