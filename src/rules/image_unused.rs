//! An image is enabled or declared, and no cluster uses it.

use std::collections::HashSet;

use crate::model::finding::{Finding, Level, Subject};
use crate::rules::{Rule, WorkspaceInput};

/// Looks at what all clusters came to.
pub(super) struct ImageUnused;

impl Rule for ImageUnused {
    fn id(&self) -> &'static str {
        "image-unused"
    }

    fn summary(&self) -> &'static str {
        "an image is enabled or declared, and no cluster uses it"
    }

    fn explanation(&self) -> &'static str {
        "\
It is downloaded, stored and served for nobody, and it hides a cluster that was meant to use it. The builder's own list, which
merely says what exists, is not looked at.

Wrong, with no cluster that boots it:

    sylva_diskimagebuilder_images:
      opensuse-15-6-plain-rke2-1-30-12: {enabled: true}

Right:

    sylva_diskimagebuilder_images:
      opensuse-15-6-plain-rke2-1-30-12: {enabled: false}"
    }

    fn level(&self) -> Level {
        Level::Warning
    }

    fn workspace(&self, input: &WorkspaceInput<'_>, report: &mut dyn FnMut(Finding)) {
        if input.settings.images.serve_all || input.uses.is_empty() {
            return;
        }
        let booted: HashSet<&str> = input
            .uses
            .iter()
            .flat_map(|cluster| cluster.pools.iter().map(|(_, key)| &**key))
            .collect();
        let served: HashSet<&str> = input
            .uses
            .iter()
            .flat_map(|cluster| cluster.served.iter().map(|key| &**key))
            .collect();
        for (key, image) in input.images {
            let enabled = image.enabled.as_ref();
            let place = match enabled {
                Some(flag) if flag.value && !booted.contains(&**key) => flag.place,
                None if !image.built && !served.contains(&**key) => image.place,
                _ => continue,
            };
            let what = if enabled.is_some() {
                "enabled"
            } else {
                "declared"
            };
            let subject = Subject {
                image: Some(key.to_string()),
                ..Subject::default()
            };
            report(
                Finding::new(self.id(), format!("no cluster uses image `{key}`"))
                    .about(subject)
                    .at(input.sources.resolve(place), format!("{what} here"))
                    .help(match enabled {
                        Some(_) => format!("`{}: {{enabled: false}}`", image.artifact),
                        None => format!("remove `os_images.{}`", image.artifact),
                    }),
            );
        }
    }
}
