//! An archive holds something that is not unpacked.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while reading.
pub(super) struct ArchiveRefused;

impl Rule for ArchiveRefused {
    fn id(&self) -> RuleId {
        RuleId::ArchiveRefused
    }

    fn summary(&self) -> &'static str {
        "an archive holds something that is not unpacked"
    }

    fn explanation(&self) -> &'static str {
        "Archives come from elsewhere. A path that leads out of its folder, a link, a device, a file that stands twice, or a small
archive that unpacks to a huge one are ways to overwrite files or to stop a build; nothing of such an archive is taken.

Wrong:

    $ tar tvzf app.tgz
    lrwxrwxrwx  manifests/app.yaml -> /etc/passwd

Right:

    $ tar tvzf app.tgz
    -rw-r--r--  manifests/app.yaml"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
