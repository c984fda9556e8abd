//! An image is enabled or declared, and no cluster uses it.

use capi::image::{Fact, Image, Origin};
use yaml_tree::place::Place;

use crate::decide::matching::REGISTRY_KEY;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;
use crate::rules::{ImageUse, RunScope, WorkspaceInput, entry_path};

/// Looks at the results of all clusters.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let ImageUse {
        booted,
        served,
        is_partial,
        ..
    } = input.uses;
    // A pool of which no image is known may boot any.
    if input.settings.images.serve_all || input.run_scope != RunScope::Fleet || *is_partial {
        return;
    }
    for (key, image) in input.images {
        match &image.enabled {
            Some(flag) if flag.value && !booted.contains(key) => {
                let edit = format!("`{}.enabled: false`", entry_path(image));
                findings.push(image_unused(input, image, flag.place, "enabled here", edit));
            }
            None if is_declared(image) && !served.contains(key) && !booted.contains(key) => {
                let edit = format!("remove `{}`", entry_path(image));
                findings.push(image_unused(
                    input,
                    image,
                    image.place,
                    "declared here",
                    edit,
                ));
            }
            _ => {}
        }
    }
}

/// Whether the user's own `os_images` has it; a list that merely says what exists is the builder's, an info file's, or that of a
/// chart, which names the registry of each image.
fn is_declared(image: &Image) -> bool {
    let by_user = |(_, fact): (_, &Fact)| fact.origin == Origin::Values;
    let is_listed =
        image.built || image.registry.is_some() || image.facts.get(REGISTRY_KEY).is_some();
    !is_listed && image.facts.iter().any(by_user)
}

fn image_unused(
    input: &WorkspaceInput<'_>,
    image: &Image,
    place: Place,
    label: &str,
    edit: String,
) -> Finding {
    let subject = Subject::image(&image.key);
    Finding::new(
        RuleId::ImageUnused,
        format!("no cluster uses image `{}`", image.key),
    )
    .with_subject(subject)
    .with_label(input.sources.resolve(place), label)
    .help(edit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use crate::rules::{ImageUse, RunScope, WorkspaceInput};
    use crate::testing::{Given, settings};
    use capi::image::Images;
    use yaml_tree::place::{Located, Place, Sources};

    fn messages(images: &Images, serve_all: bool) -> Vec<String> {
        let mut settings = settings();
        settings.images.serve_all = serve_all;
        let input = WorkspaceInput {
            run_scope: RunScope::Fleet,
            uses: &ImageUse {
                booted: ["booted".into()].into(),
                served: ["booted".into(), "extra".into(), "enabled".into()].into(),
                ..ImageUse::default()
            },
            images,
            sources: &Sources::default(),
            settings: &settings,
            facts_given: true,
            lock: None,
        };
        let mut findings = Vec::new();
        super::workspace(&input, &mut findings);
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    fn images() -> Images {
        let mut given = Given::new();
        let flag = |value| Some(Located::new(value, Place::NONE));
        given.image("listed", &[]);
        given.image("enabled", &[]).enabled = flag(true);
        given.image("disabled", &[]).enabled = flag(false);
        given.image("booted", &[]).enabled = flag(true);
        given.declared("declared", &[("values!uri", "oci://r/a:1")]);
        given.declared("extra", &[("values!uri", "oci://r/b:1")]);
        given.declared("exported", &[("uri", "oci://r/c:1")]);
        Arc::unwrap_or_clone(given.finished().images)
    }

    #[test]
    fn only_what_is_enabled_or_declared_in_vain_is_reported() {
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
