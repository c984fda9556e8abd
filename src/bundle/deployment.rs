//! The BundleDeployment by which RukPak installs a bundle.
//!
//! DeploymentSource: operator-framework/rukpak, api/v1alpha1 (up to v0.16) and api/v1alpha2 (from v0.17).

use clap::ValueEnum;
use serde_json::{Value, json};

/// The name of RukPak's provisioner of plain bundles.
const PLAIN: &str = "core-rukpak-io-plain";

/// Where RukPak reads the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentSource {
    /// An image, pinned: `registry/repository@sha256:…`.
    Image(String),
    /// ConfigMaps, by name, and their namespace.
    ConfigMaps(Vec<String>, String),
}

/// The version of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeploymentVersion {
    /// RukPak up to v0.16.
    #[value(name = "v1alpha1")]
    V1Alpha1,
    /// RukPak from v0.17 on.
    #[value(name = "v1alpha2")]
    V1Alpha2,
}

/// A BundleDeployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The version of the resource.
    pub version: DeploymentVersion,
    /// The name of the resource.
    pub name: String,
    /// The namespace that objects without one land in; it must exist. Version v1alpha1 knows none.
    pub install_namespace: String,
}

impl Deployment {
    /// Its manifest.
    ///
    /// # Errors
    /// That version cannot name the source, with the reason.
    pub fn manifest(&self, source: &DeploymentSource) -> Result<String, String> {
        let manifest = match self.version {
            DeploymentVersion::V1Alpha2 => json!({
                "apiVersion": "core.rukpak.io/v1alpha2",
                "kind": "BundleDeployment",
                "metadata": {"name": self.name},
                "spec": {
                    "installNamespace": self.install_namespace,
                    "provisionerClassName": PLAIN,
                    "source": self.source_v1alpha2(source),
                },
            }),
            DeploymentVersion::V1Alpha1 => json!({
                "apiVersion": "core.rukpak.io/v1alpha1",
                "kind": "BundleDeployment",
                "metadata": {"name": self.name},
                "spec": {
                    "provisionerClassName": PLAIN,
                    "template": {
                        "metadata": {"labels": {"app": self.name}},
                        "spec": {"provisionerClassName": PLAIN, "source": self.source_v1alpha1(source)?},
                    },
                },
            }),
        };
        yaml_tree::emit_data(&manifest).map_err(|error| error.to_string())
    }

    fn source_v1alpha2(&self, source: &DeploymentSource) -> Value {
        match source {
            DeploymentSource::Image(reference) => {
                json!({"type": "image", "image": {"ref": reference}})
            }
            DeploymentSource::ConfigMaps(names, _) => {
                let list = names
                    .iter()
                    .map(|name| json!({"configMap": {"name": name}, "path": "manifests"}));
                json!({"type": "configMaps", "configMaps": list.collect::<Vec<_>>()})
            }
        }
    }

    fn source_v1alpha1(&self, source: &DeploymentSource) -> Result<Value, String> {
        match source {
            DeploymentSource::Image(reference) => {
                Ok(json!({"type": "image", "image": {"ref": reference}}))
            }
            DeploymentSource::ConfigMaps(names, namespace) => match names.as_slice() {
                [name] => Ok(json!({
                    "type": "local",
                    "local": {"configMap": {"name": name, "namespace": namespace}},
                })),
                several => Err(format!(
                    "a BundleDeployment of v1alpha1 names one ConfigMap, and the bundle needs {}",
                    several.len()
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Deployment, DeploymentSource, DeploymentVersion};

    fn deployment(version: DeploymentVersion) -> Deployment {
        Deployment {
            version,
            name: "app".into(),
            install_namespace: "apps".into(),
        }
    }

    #[test]
    fn the_newer_version_lists_config_maps() {
        let source = DeploymentSource::ConfigMaps(
            vec!["app-1".into(), "app-2".into()],
            "rukpak-system".into(),
        );
        let text = deployment(DeploymentVersion::V1Alpha2)
            .manifest(&source)
            .expect("a manifest");
        let expected = "apiVersion: core.rukpak.io/v1alpha2\nkind: BundleDeployment\nmetadata:\n  name: app\nspec:\n  \
            installNamespace: apps\n  provisionerClassName: core-rukpak-io-plain\n  source:\n    configMaps:\n    - configMap:\n        \
            name: app-1\n      path: manifests\n    - configMap:\n        name: app-2\n      path: manifests\n    type: configMaps\n";
        assert_eq!(text, expected);
        assert!(
            deployment(DeploymentVersion::V1Alpha1)
                .manifest(&source)
                .is_err()
        );
    }

    #[test]
    fn the_older_version_wraps_a_bundle() {
        let source = DeploymentSource::Image("r.example/a@sha256:00".into());
        let text = deployment(DeploymentVersion::V1Alpha1)
            .manifest(&source)
            .expect("a manifest");
        assert!(text.contains(
            "    spec:\n      provisionerClassName: core-rukpak-io-plain\n      source:\n"
        ));
        assert!(!text.contains("installNamespace"));
    }
}
