//! Elemental (`elemental`): the OS image that the plugin upgrades a host to, by its OCI reference.
//!
//! The whole of `osVersionManagement` is hashed into a correlation id, and any change of it is an upgrade: nothing but
//! `imageUri` is stamped, and what stands beside it stays. The CRD has no schema for it, so nothing checks it.
//! Source: rancher-sandbox/cluster-api-provider-elemental, doc/PLUGIN_ELEMENTAL.md.

use super::{Change, Edit, Kind, Provider, Stamp, set};
use crate::model::image::{fact, is_oci};
use crate::model::value::{Map, Node};

/// See the module's text.
pub(super) struct Elemental;

const KINDS: &[Kind] = &[Kind::template(
    "ElementalMachineTemplate",
    &["v1beta1"],
    &["container"],
    Change::Ignored,
)];

/// What goes into the machine's spec.
const MACHINE: &[&str] = &["osVersionManagement", "selector"];
/// The same, and what the pool's registration is made of.
const SETTINGS: &[&str] = &["osVersionManagement", "registration", "selector"];

impl Provider for Elemental {
    fn name(&self) -> &'static str {
        "elemental"
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn host_selector(&self) -> Option<&'static str> {
        Some("selector")
    }

    fn settings(&self) -> &'static [&'static str] {
        SETTINGS
    }

    fn machine(&self, settings: &Node, _version: &str) -> Map {
        set(settings, MACHINE)
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let own = stamp.facts.text(fact::URI);
        // Another address than the image's own is a mirror's, whose bytes nobody has asked for.
        let is_own = !is_oci(&stamp.url) || own == Some(&*stamp.url);
        let pinned = stamp.pinned().filter(|_| is_own);
        let artifact = stamp.location("oci");
        let references = [pinned.as_deref(), Some(&*stamp.url), own, artifact];
        let uri = references.into_iter().flatten().find(|url| is_oci(url));
        let uri = uri.ok_or_else(|| stamp.nowhere("elemental", "oci"))?;
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        Ok(vec![Edit::set(&path, uri)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Elemental, KINDS};
    use crate::oci::Digest;
    use crate::providers::stamp::tests::with;
    use crate::providers::{Edit, Provider};

    #[test]
    fn only_an_artifact_will_do() {
        let image = |url: &str, facts: &[(&str, &str)]| {
            Elemental.image(&KINDS[0], "v1beta1", &with(url, facts))
        };
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        let set = Ok(vec![Edit::set(&path, "oci://r/os@sha256:0")]);
        assert_eq!(image("oci://r/os@sha256:0", &[]), set);
        assert_eq!(image("https://h/f", &[("uri", "oci://r/os@sha256:0")]), set);
        assert!(image("https://h/f", &[]).is_err());
    }

    #[test]
    fn the_lock_pins_the_image_and_its_tag_is_left_out() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let locked = |uri: &str, url: &str| {
            let mut stamp = with(url, &[("uri", uri)]);
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
