//! An image does not fit into the storage that is set aside for it.

use crate::rules::Rule;

/// Looks at every image that is served.
pub(super) struct StorageTooSmall;

impl Rule for StorageTooSmall {
    fn id(&self) -> &'static str {
        "storage-too-small"
    }

    fn summary(&self) -> &'static str {
        "an image does not fit into the storage that is set aside for it"
    }

    fn explanation(&self) -> &'static str {
        "\
The image server downloads each image into a volume. One that is too small fails after the merge, when the download fills it. The need is
computed from the image's own `archive-size` and `size`.

Wrong, for an image of 22 GB that is not compressed:

    os_images_default_download_storage_space: 10Gi

Right:

    os_images_default_download_storage_space: 30Gi"
    }
}
