//! An image is not in the lock.

use crate::model::finding::{Finding, Level};
use crate::model::lock::{Gap, Locking, gaps};
use crate::model::rule::RuleId;
use crate::rules::{ClusterInput, Rule, not_locked};

/// Looks at the catalog of each cluster, where the project has a lock.
pub(super) struct LockMissingImage;

impl Rule for LockMissingImage {
    fn id(&self) -> RuleId {
        RuleId::LockMissingImage
    }

    fn summary(&self) -> &'static str {
        "an image is not in the lock"
    }

    fn explanation(&self) -> &'static str {
        "\
Only a locked image has a digest: of any other one nobody knows which bytes its tag stands for when the nodes boot. The rule
applies where the project has a lock. There it is an error for an image that a pool boots or that is served, and a warning for
one that merely could be chosen, because a selector cannot see facts that are not locked. With `--frozen` every image must be
locked, facts from other files excuse none, and it is an error for all. Images without an `oci://` reference cannot be locked.

Wrong, with `metalmark.lock` holding another image only:

    sylva_diskimagebuilder_images:
      ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}

Right, after `metalmark lock`:

    - key: ubuntu-noble-plain-rke2-1-31-8
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12
      digest: sha256:31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        let frozen = input.settings.locking == Locking::Frozen;
        let missing = gaps(input.view, input.settings.locking).missing;
        let (used, idle): (Vec<Gap<'_>>, Vec<Gap<'_>>) =
            missing.into_iter().partition(|gap| gap.is_used || frozen);
        let what = match input.view.lock {
            Some(_) => "the lock does not hold",
            None => "there is no lock, and so none of",
        };
        for (gaps, level) in [(used, None), (idle, Some(Level::Warning))] {
            let Some(finding) = not_locked(input, self.id(), what, "is not locked", &gaps) else {
                continue;
            };
            report(match level {
                Some(level) => finding.unless_set(level),
                None => finding,
            });
        }
    }
}
