//! Docker and the development provider (`docker`, in Sylva's charts `capd`): a container image that runs as a machine.
//!
//! Source: CAPD's CRDs and webhooks. DockerMachineTemplate is removed after Cluster API v1.14; DevMachineTemplate remains.

use yaml_tree::value::{Entry, Map, Node};

use super::images::{ImageNames, Way};
use super::{Edit, IMAGE_NAME, InfraCluster, Kind, Provider, ProviderData, Stamp, image_name};
use crate::image::fact;

/// See the module documentation.
pub(super) struct Docker;

const DEV: &str = "DevMachineTemplate";
const VERSIONS: &[&str] = &["v1beta1", "v1beta2"];
const FORMATS: &[&str] = &["container"];

const KINDS: &[Kind] = &[
    Kind::new("DockerMachineTemplate", VERSIONS, FORMATS),
    Kind::new(DEV, VERSIONS, FORMATS),
];

const SETTINGS: &[&str] = &[
    "backend",
    "bootstrapTimeout",
    "extraMounts",
    "image_name",
    "preLoadImages",
];

const CONTAINER: &[&str] = &["locations.docker.image", fact::URI, "locations.oci"];

const IMAGE_NAMES: &[ImageNames] = &[
    ImageNames::new(
        "Dev",
        &[
            Way::name("backend.docker.customImage", CONTAINER),
            // Of the first DevMachinePool.
            Way::name("template.docker.customImage", CONTAINER),
        ],
    )
    .or_lookup()
    .with_pool(&["spec"]),
    ImageNames::new("Docker", &[Way::name("customImage", CONTAINER)]).or_lookup(),
];

const DEV_CLUSTER: InfraCluster = InfraCluster::new("DevCluster", VERSIONS, &["backend"]);
const DOCKER_CLUSTER: InfraCluster = InfraCluster::new("DockerCluster", VERSIONS, &[]);

const DATA: ProviderData = ProviderData {
    alias: Some("capd"),
    other_settings: &[IMAGE_NAME],
    ..ProviderData::new("docker", KINDS, DOCKER_CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Docker {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn infra_cluster(&self, template: &Kind) -> &'static InfraCluster {
        if template.kind == DEV {
            &DEV_CLUSTER
        } else {
            &DOCKER_CLUSTER
        }
    }

    fn needs_no_image(&self, settings: &Node) -> bool {
        image_name(settings).is_some()
    }

    fn machine(&self, settings: &Node, _version: &str) -> Map {
        let mut machine = DATA.machine(settings);
        if let Some(name) = image_name(settings) {
            machine.insert(Entry::holding("customImage", name.clone()));
        }
        machine
    }

    fn image(&self, kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let declared = stamp.location("docker.image").map(str::to_owned);
        let image = declared.or_else(|| stamp.container());
        let image = image.ok_or_else(|| stamp.no_location("docker", "docker.image"))?;
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
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Edit, Provider};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Node};

    #[test]
    fn sylvas_alias_and_its_setting_for_the_image_are_supported() {
        let found = crate::providers::find("capd").expect("Sylva's name");
        assert_eq!(found.data().name, "docker");
        let settings = Map::from_iter([Entry::from_value("image_name", "kindest/node:v1.31.6")]);
        let settings = Node::from_value(settings);
        let machine = Docker.machine(&settings, "v1beta1");
        assert_eq!(
            to_json(&machine.into(), Html::Plain),
            r#"{"customImage":"kindest/node:v1.31.6"}"#
        );
        assert!(Docker.needs_no_image(&settings));
    }

    #[test]
    fn each_kind_has_its_own_field() {
        let stamp = stamp_with("oci://kindest/node:v1.34.0", &[]);
        let image = |kind: usize| Docker.image(&KINDS[kind], "v1beta2", &stamp);
        let name = "kindest/node:v1.34.0";
        assert_eq!(image(0), Ok(vec![Edit::set(&["customImage"], name)]));
        let dev = Edit::set(&["backend", "docker", "customImage"], name);
        assert_eq!(image(1), Ok(vec![dev]));
        let file = Docker.image(&KINDS[0], "v1beta1", &stamp_with("https://h/f", &[]));
        assert!(file.is_err());
    }
}
