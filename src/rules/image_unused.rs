//! An image is enabled or declared, and no cluster uses it.

use std::collections::HashSet;

use crate::model::finding::{Finding, Level, Subject};
use crate::rules::{Rule, WorkspaceInput, entry_path};

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
                        Some(_) => format!("`{}.enabled: false`", entry_path(image)),
                        None => format!("remove `{}`", entry_path(image)),
                    }),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use crate::model::finding::Finding;
    use crate::model::image::Images;
    use crate::model::place::{Located, Place, Sources};
    use crate::rules::{ImageUse, Rule, WorkspaceInput};
    use crate::testing::{Given, settings};

    fn messages(images: &Images, serve_all: bool) -> Vec<String> {
        let mut settings = settings();
        settings.images.serve_all = serve_all;
        let input = WorkspaceInput {
            uses: &[ImageUse {
                cluster: "edge-1".into(),
                pools: vec![("control-plane".into(), "booted".into())],
                served: vec!["booted".into(), "extra".into(), "enabled".into()],
            }],
            images,
            sources: &Sources::default(),
            settings: &settings,
        };
        let mut messages = Vec::new();
        let mut report = |finding: Finding| messages.push(finding.message);
        super::ImageUnused.workspace(&input, &mut report);
        messages
    }

    fn images() -> Images {
        let mut given = Given::new();
        let flag = |value| Some(Located::new(value, Place::NONE));
        given.image("listed", &[]);
        given.image("enabled", &[]).enabled = flag(true);
        given.image("disabled", &[]).enabled = flag(false);
        given.image("booted", &[]).enabled = flag(true);
        given.image("declared", &[]).built = false;
        given.image("extra", &[]).built = false;
        Arc::unwrap_or_clone(given.finished().images)
    }

    #[test]
    fn only_what_is_enabled_or_declared_in_vain_is_told() {
        assert_eq!(
            messages(&images(), false),
            [
                "no cluster uses image `declared`",
                "no cluster uses image `enabled`"
            ]
        );
        assert_eq!(messages(&images(), true), Vec::<String>::new());
        assert_eq!(messages(&BTreeMap::new(), false), Vec::<String>::new());
    }
}
