//! A node pool boots an image that is not served.

use crate::model::finding::Finding;
use crate::model::image::Image;
use crate::rules::{ClusterInput, Rule};

/// Looks at every node pool.
pub(super) struct ImageNotEnabled;

impl Rule for ImageNotEnabled {
    fn id(&self) -> &'static str {
        "image-not-enabled"
    }

    fn summary(&self) -> &'static str {
        "a node pool boots an image that is not served"
    }

    fn explanation(&self) -> &'static str {
        "\
Where entries of the catalogue carry `enabled`, only those with `true` are served, and a registry with `enabled: false` serves
none of its images. A node of this pool would find no file at its image's URL.

Wrong:

    sylva_diskimagebuilder_images:
      ubuntu-noble-plain-rke2-1-31-8: {enabled: false}
    cluster:
      capm3:
        image_key: ubuntu-noble-plain-rke2-1-31-8

Right:

    sylva_diskimagebuilder_images:
      ubuntu-noble-plain-rke2-1-31-8: {enabled: true}"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        for (pool, image) in input.chosen() {
            if input.view.served.binary_search(&image.key).is_ok() {
                continue;
            }
            let key = &image.key;
            let finding = Finding::new(self.id(), format!("image `{key}` is not served"))
                .about(input.subject_with(pool, key))
                .at(input.spot(pool.choice.place()), "chosen here");
            report(explain(input, image, finding));
        }
    }
}

/// Adds what keeps the image from being served, and the edit that changes it.
fn explain(input: &ClusterInput<'_>, image: &Image, finding: Finding) -> Finding {
    let registry = image.registry.as_deref();
    let off = registry
        .and_then(|name| input.view.registries.get(name))
        .filter(|registry| !registry.enabled);
    let list = if image.built {
        "sylva_diskimagebuilder_images"
    } else {
        "os_images"
    };
    match (off, &image.enabled) {
        (Some(off), _) => finding
            .at(input.spot(off.place), "its registry is not enabled")
            .help(format!(
                "`os_images_oci_registries.{}.enabled: true`",
                registry.unwrap_or_default()
            )),
        (None, Some(enabled)) => finding
            .at(input.spot(enabled.place), "not enabled here")
            .help(format!("`{list}.{}.enabled: true`", image.artifact)),
        (None, None) => finding
            .at(
                input.spot(image.place),
                "other entries are enabled, this one is not",
            )
            .help(format!("`{list}.{}.enabled: true`", image.artifact)),
    }
}
