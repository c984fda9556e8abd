//! KubeVirt (`kubevirt`): a container disk among the virtual machine's volumes, or a data volume that imports the image.
//!
//! Items of both lists are found by a key or by the name in the image's facts, never by index.
//! Source: CAPK's CRD and webhook; CDI's import sources.

use super::field::FieldStep;
use super::images::{ImageNames, Way};
use super::{Edit, InfraCluster, Kind, Provider, ProviderData, Stamp};
use crate::image::fact;

/// See the module documentation.
pub(super) struct Kubevirt;

const KINDS: &[Kind] = &[Kind::new(
    "KubevirtMachineTemplate",
    &["v1alpha1"],
    &["raw", "qcow2", "iso"],
)
.refuses_all()];

const SETTINGS: &[&str] = &[
    "infraClusterSecretRef",
    "virtualMachineBootstrapCheck",
    "virtualMachineTemplate",
];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "Kubevirt",
    &[
        Way::name(
            "virtualMachineTemplate.spec.template.spec.volumes[].containerDisk.image",
            &[
                "locations.kubevirt.container-disk",
                fact::URI,
                "locations.oci",
            ],
        ),
        Way::name(
            "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.registry.url",
            &["locations.kubevirt.registry", fact::URI, "locations.oci"],
        ),
        Way::url(
            "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.http.url",
            &["locations.kubevirt.http", fact::URI, "locations.https"],
        ),
        // A disk that is copied; no image is described as one.
        Way::name(
            "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.source.pvc.name",
            &[],
        ),
        Way::name(
            "virtualMachineTemplate.spec.dataVolumeTemplates[].spec.sourceRef.name",
            &[],
        ),
    ],
)];

const CLUSTER: InfraCluster = InfraCluster::new("KubevirtCluster", &["v1alpha1"], &[]);

const DATA: ProviderData = ProviderData::new("kubevirt", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS);

impl Provider for Kubevirt {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        if let Some(image) = stamp.location("kubevirt.container-disk") {
            let item = item(stamp, FieldStep::Having("containerDisk"));
            let before = [
                "virtualMachineTemplate",
                "spec",
                "template",
                "spec",
                "volumes",
            ];
            return Ok(vec![item_edit(
                &before,
                item,
                &["containerDisk", "image"],
                image,
            )]);
        }
        let source = if let Some(registry) = stamp.location("kubevirt.registry") {
            ("registry", registry)
        } else if let Some(http) = stamp.location("kubevirt.http") {
            ("http", http)
        } else if stamp.url.starts_with("http") {
            ("http", &*stamp.url)
        } else {
            return Err(stamp.no_location("kubevirt", "kubevirt"));
        };
        let item = item(stamp, FieldStep::Having("spec"));
        let before = ["virtualMachineTemplate", "spec", "dataVolumeTemplates"];
        let url = ["spec", "source", source.0, "url"];
        Ok(vec![item_edit(&before, item, &url, source.1)])
    }
}

/// The step to the item: by the name in the image's facts, else by a key.
fn item(stamp: &Stamp, otherwise: FieldStep) -> FieldStep {
    let named = stamp.location("kubevirt.volume");
    named.map_or(otherwise, |name| FieldStep::Named(name.into()))
}

fn item_edit(before: &[&'static str], item: FieldStep, after: &[&'static str], text: &str) -> Edit {
    let key = |key: &&'static str| FieldStep::Key(key);
    let path = before.iter().map(key).chain([item]);
    Edit {
        path: path.chain(after.iter().map(key)).collect(),
        value: Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Kubevirt};
    use crate::providers::Provider;
    use crate::providers::stamp::tests::stamp_with;

    #[test]
    fn the_path_names_a_container_disk_or_a_data_volume() {
        let path = |facts: &[(&str, &str)], url: &str| {
            let edits = Kubevirt.image(&KINDS[0], "v1alpha1", &stamp_with(url, facts));
            edits.map(|edits| edits[0].to_string())
        };
        assert_eq!(
            path(&[("locations.kubevirt.container-disk", "r/i:1")], "").as_deref(),
            Ok(
                "virtualMachineTemplate.spec.template.spec.volumes[containerDisk].containerDisk.image"
            )
        );
        assert_eq!(
            path(&[("locations.kubevirt.volume", "root")], "https://h/f").as_deref(),
            Ok("virtualMachineTemplate.spec.dataVolumeTemplates[name=root].spec.source.http.url")
        );
        assert!(path(&[], "oci://r/i:1").is_err());
    }
}
