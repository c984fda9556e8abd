//! Tinkerbell (`tinkerbell`): a template of an image's reference, in which nothing is left to fill in.
//!
//! `imageLookupFormat` knows BaseRegistry, OSDistro, OSVersion and KubernetesVersion; a plain reference is one too.
//! Source: CAPT's CRD and webhook.

use super::{Change, Edit, Kind, Provider, Stamp};

/// See the module's text.
pub(super) struct Tinkerbell;

const KINDS: &[Kind] = &[Kind::template(
    "TinkerbellMachineTemplate",
    &["v1beta1"],
    &["raw", "qcow2"],
    Change::Refused("spec"),
)];

const SETTINGS: &[&str] = &["bootOptions", "hardwareAffinity", "templateOverride"];

impl Provider for Tinkerbell {
    fn name(&self) -> &'static str {
        "tinkerbell"
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn settings(&self) -> &'static [&'static str] {
        SETTINGS
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let declared = stamp.location("tinkerbell.image");
        let image = declared.or_else(|| {
            if stamp.is_oci() {
                stamp.container()
            } else {
                Some(&stamp.url)
            }
        });
        let image = image.filter(|image| !image.is_empty());
        let image = image.ok_or_else(|| stamp.nowhere("tinkerbell", "tinkerbell.image"))?;
        if image.contains("{{") && stamp.location("tinkerbell.base-registry").is_none() {
            return Err(format!("`{image}` still has something to fill in"));
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
    use crate::providers::stamp::tests::with;
    use crate::providers::{Edit, Provider};

    #[test]
    fn a_reference_is_written_without_its_scheme() {
        let format = |url: &str, facts: &[(&str, &str)]| {
            let edits = Tinkerbell.image(&KINDS[0], "v1beta1", &with(url, facts));
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
