//! An image is locked for another reference than the catalogue gives it.

use crate::model::finding::{Finding, Level};
use crate::model::lock::{Gap, Locking, gaps};
use crate::rules::{ClusterInput, Rule, not_locked};

/// Looks at the catalogue of each cluster, where the project has a lock.
pub(super) struct LockStale;

impl Rule for LockStale {
    fn id(&self) -> &'static str {
        "lock-stale"
    }

    fn summary(&self) -> &'static str {
        "an image is locked for another reference than the catalogue gives it"
    }

    fn explanation(&self) -> &'static str {
        "\
The version was raised, or the registry moved, and the lock was not brought after it. What it says holds for the old reference,
so nothing of it is used. It is an error for an image that a pool boots or that is served, and for every image with `--frozen`; a
warning for the others.

Wrong:

    sylva_diskimagebuilder_version: 0.4.12        # values.yaml

    - key: ubuntu-noble-plain-rke2-1-31-8         # metalmark.lock
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.11

Right, after `metalmark lock`:

    - key: ubuntu-noble-plain-rke2-1-31-8
      reference: oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12"
    }

    fn cluster(&self, input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
        let frozen = input.settings.locking == Locking::Frozen;
        let stale = gaps(input.view, input.settings.locking).stale;
        let (used, idle): (Vec<Gap<'_>>, Vec<Gap<'_>>) =
            stale.into_iter().partition(|gap| gap.is_used || frozen);
        let what = "the lock holds another reference of";
        for (gaps, level) in [(used, None), (idle, Some(Level::Warning))] {
            let Some(finding) = not_locked(input, self.id(), what, "asked for here", &gaps) else {
                continue;
            };
            report(match level {
                Some(level) => finding.unless_set(level),
                None => finding,
            });
        }
    }
}
