//! Docker and the development provider (`docker`): a container image that plays a machine.
//!
//! Source: CAPD's CRDs and webhooks; DockerMachineTemplate is gone after Cluster API v1.14, DevMachineTemplate stays.

use super::kind::MACHINE;
use super::{Change, Edit, Kind, Provider, Stamp};

/// See the module's text.
pub(super) struct Docker;

const DEV: &str = "DevMachineTemplate";
const VERSIONS: &[&str] = &["v1beta1", "v1beta2"];
const FORMATS: &[&str] = &["container"];

const KINDS: &[Kind] = &[
    Kind::template(
        "DockerMachineTemplate",
        VERSIONS,
        FORMATS,
        Change::Refused(MACHINE),
    ),
    Kind::template(DEV, VERSIONS, FORMATS, Change::Refused(MACHINE)),
];

const SETTINGS: &[&str] = &[
    "backend",
    "bootstrapTimeout",
    "extraMounts",
    "preLoadImages",
];

impl Provider for Docker {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn kinds(&self) -> &'static [Kind] {
        KINDS
    }

    fn settings(&self) -> &'static [&'static str] {
        SETTINGS
    }

    fn image(&self, kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let image = stamp.location("docker.image").or_else(|| stamp.container());
        let image = image.ok_or_else(|| stamp.nowhere("docker", "docker.image"))?;
        let field: &[&'static str] = match kind.kind {
            DEV => &["backend", "docker", "customImage"],
            _ => &["customImage"],
        };
        Ok(vec![Edit::set(field, image)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Docker, KINDS};
    use crate::providers::stamp::tests::with;
    use crate::providers::{Edit, Provider};

    #[test]
    fn the_two_kinds_have_a_field_each() {
        let stamp = with("oci://kindest/node:v1.34.0", &[]);
        let image = |kind: usize| Docker.image(&KINDS[kind], "v1beta2", &stamp);
        let name = "kindest/node:v1.34.0";
        assert_eq!(image(0), Ok(vec![Edit::set(&["customImage"], name)]));
        let dev = Edit::set(&["backend", "docker", "customImage"], name);
        assert_eq!(image(1), Ok(vec![dev]));
        let file = Docker.image(&KINDS[0], "v1beta1", &with("https://h/f", &[]));
        assert!(file.is_err());
    }
}
