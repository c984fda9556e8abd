//! The lock holds an image that no cluster asks for.

use std::collections::HashSet;

use crate::model::finding::{Finding, Level, Subject};
use crate::model::rule::RuleId;
use crate::rules::{Reach, Rule, WorkspaceInput};

/// Looks at what all clusters came to.
pub(super) struct LockUnused;

impl Rule for LockUnused {
    fn id(&self) -> RuleId {
        RuleId::LockUnused
    }

    fn summary(&self) -> &'static str {
        "the lock holds an image that no cluster asks for"
    }

    fn explanation(&self) -> &'static str {
        "\
The image has left the catalog, or a version was raised and the entry of the old one stayed behind. It does no harm but to
those who read the lock. `metalmark lock` drops it.

Wrong, with no such image in any catalog:

    - key: ubuntu-jammy-plain-rke2-1-28-9
      reference: oci://registry.example.org/os/ubuntu-jammy-plain-rke2-1-28-9:0.3.0

Right:

    # the entry is gone"
    }

    fn level(&self) -> Level {
        Level::Warning
    }

    fn workspace(&self, input: &WorkspaceInput<'_>, report: &mut dyn FnMut(Finding)) {
        let Some((lock, sources)) = input.lock else {
            return;
        };
        if input.reach == Reach::Shard {
            return;
        }
        let asked: HashSet<u32> = input
            .uses
            .iter()
            .flat_map(|cluster| &cluster.locked)
            .copied()
            .collect();
        // Of a key that is asked for by another reference, `lock-stale` tells already.
        let stale: HashSet<&str> = input
            .uses
            .iter()
            .flat_map(|cluster| &cluster.unlocked)
            .map(|key| &**key)
            .collect();
        let unused = lock.images().iter().filter(|image| {
            !asked.contains(&image.place().start) && !stale.contains(image.identity().0)
        });
        for image in unused {
            let (key, reference) = image.identity();
            let subject = Subject {
                image: Some(key.to_owned()),
                ..Subject::default()
            };
            let message = format!("the lock holds `{reference}`, which no cluster asks for");
            report(
                Finding::new(self.id(), message)
                    .about(subject)
                    .at(sources.resolve(image.key.place), "")
                    .help("run `metalmark lock`"),
            );
        }
    }
}
