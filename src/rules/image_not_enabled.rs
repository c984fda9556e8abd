//! A node pool boots an image that is not served.

use capi::image::Image;

use crate::decide::image_server::{NeededImage, ServerPlan};
use crate::model::cluster_view::ClusterView;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::rules::input::ChosenImage;
use crate::rules::{ClusterInput, entry_path};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for ChosenImage { pool, image } in input.pool_images() {
        if input.view.served.binary_search(&image.key).is_ok() {
            continue;
        }
        let key = &image.key;
        let finding = Finding::new(
            RuleId::ImageNotEnabled,
            format!("image `{key}` is not served"),
        )
        .with_subject(input.subject_with(pool, key))
        .with_label(input.spot(pool.choice.place()), "selected here");
        findings.push(explain(input, image, finding));
    }
}

/// That a management cluster does not serve what machines of its clusters boot. Whether they fetch it from its image server, no
/// value says for sure.
pub fn find_unserved_images(view: &ClusterView, plan: &ServerPlan) -> Option<Finding> {
    let now = plan.stages.first()?.images.iter();
    let unserved: Vec<&NeededImage> = now.filter(|needed| !needed.served).collect();
    if unserved.is_empty() {
        return None;
    }
    let by_name = unserved.iter().any(|needed| needed.by_name);
    let names: Vec<String> = unserved
        .iter()
        .map(|it| format!("`{}`", it.image))
        .collect();
    let message = format!(
        "management cluster `{}` {} {}, which machines of other clusters boot",
        plan.management,
        if unserved.iter().all(|needed| needed.by_name) {
            "is not proven to serve"
        } else {
            "does not serve"
        },
        names.join(", ")
    );
    let mut finding = Finding::new(RuleId::ImageNotEnabled, message)
        .with_subject(Subject::cluster(&plan.management))
        .unless_set(Level::Warning);
    for needed in unserved {
        let by: Vec<&str> = needed.clusters.iter().map(|cluster| &**cluster).collect();
        let image = needed.key.as_ref().and_then(|key| view.images.get(key));
        finding = match image {
            Some(image) => {
                let why = if needed.by_name {
                    "only its name says that a selector serves it"
                } else {
                    "no selector serves it"
                };
                let label = format!("booted by `{}`, and {why}", by.join("`, `"));
                finding.with_label(view.sources.resolve(image.place), label)
            }
            None => finding.help(format!(
                "list `{}` in the catalog of `{}`: `{}` boots it",
                needed.image,
                plan.management,
                by.join("`, `")
            )),
        };
    }
    let edits = plan.edits().map(|edit| format!("`{edit}`"));
    let lock =
        by_name.then(|| "run `metalmark lock`: the chart reads facts, never names".to_owned());
    Some(finding.helps(edits.chain(lock)))
}

/// Adds what keeps the image from being served, and the edit that changes it.
fn explain(input: &ClusterInput<'_>, image: &Image, finding: Finding) -> Finding {
    let registry = image.registry.as_deref();
    let off = registry
        .and_then(|name| input.view.registries.get(name))
        .filter(|registry| !registry.enabled);
    match (off, &image.enabled) {
        (Some(off), _) => finding
            .with_label(input.spot(off.place), "its registry is not enabled")
            .help(format!(
                "`os_images_oci_registries.{}.enabled: true`",
                registry.unwrap_or_default()
            )),
        (None, Some(enabled)) => finding
            .with_label(input.spot(enabled.place), "not enabled here")
            .help(format!("`{}.enabled: true`", entry_path(image))),
        (None, None) => finding
            .with_label(
                input.spot(image.place),
                "other entries are enabled, this one is not",
            )
            .help(format!("`{}.enabled: true`", entry_path(image))),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};

    const ID: RuleId = RuleId::ImageNotEnabled;

    #[test]
    fn the_flag_that_keeps_it_from_being_served_is_shown() {
        let mut given = Given::new();
        let place = given.line("enabled", "false").place;
        given.image("noble-a", &[]).enabled = Some(Located::new(false, place));
        given.boots("noble-a");
        given.view.served = vec!["other".into()];
        assert_eq!(
            given.found(ID),
            "image `noble-a` is not served\n  image_key: noble-a: selected here\n  \
             enabled: false: not enabled here\n  \
             help: `sylva_diskimagebuilder_images.noble-a.enabled: true`\n"
        );
    }

    #[test]
    fn a_registry_that_is_off_serves_none_of_its_images() {
        let mut given = Given::new();
        given.registry("sylva", false);
        given.image("noble-a", &[]).registry = Some("sylva".into());
        given.boots("noble-a");
        given.view.served = vec!["other".into()];
        assert!(
            given
                .found(ID)
                .contains("help: `os_images_oci_registries.sylva.enabled: true`")
        );
    }

    #[test]
    fn an_image_that_is_served_is_fine() {
        let mut given = Given::new();
        given.image("noble-a", &[]).enabled = Some(Located::new(true, Place::NONE));
        given.boots("noble-a");
        assert_eq!(given.found(ID), "");
    }
}
