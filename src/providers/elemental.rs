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
        let references = [Some(&*stamp.url), stamp.facts.text(fact::URI)];
        let uri = references.into_iter().flatten().find(|url| is_oci(url));
        let uri = uri.ok_or_else(|| stamp.nowhere("elemental", "oci"))?;
        let path = ["osVersionManagement", "osVersion", "imageUri"];
        Ok(vec![Edit::set(&path, uri)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Elemental, KINDS};
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
}
