//! An image would be stamped without its format.

use capi::image::fact;

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules::input::ChosenImage;
use crate::rules::{ClusterInput, fact_missing};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    // What is stamped into manifests is checked where it is made.
    let chosen = input.pool_images().filter(|_| input.is_of_values());
    for ChosenImage { pool, image } in chosen.filter(|it| input.is_metal3(it.pool)) {
        let format = image.facts.text(fact::IMAGE_FORMAT);
        if format.is_some_and(|format| !format.is_empty()) {
            continue;
        }
        let message = format!("the format of image `{}` is not known", image.key);
        let finding = Finding::new(RuleId::FormatMissing, message);
        let name = fact::IMAGE_FORMAT;
        let lacks = format!("the catalog's entry has no `{name}`");
        findings.push(fact_missing(
            input,
            ChosenImage { pool, image },
            finding,
            lacks,
            (name, "raw"),
        ));
    }
    let explicit = input.explicit();
    for (pool, url) in explicit.filter(|(pool, _)| input.is_metal3(pool)) {
        let format = pool.choice.format.as_ref();
        let is_given = format.is_some_and(|format| !format.value.is_empty());
        // Of an older one, CAPM3's release decides what becomes of it.
        let template = pool.template.as_ref();
        let is_needed = template.map_or_else(
            || input.is_of_values(),
            |it| it.api_version.ends_with("/v1beta2"),
        );
        if is_given || !is_needed || pool.choice.is_open {
            continue;
        }
        let finding = if input.is_of_values() {
            let path = input.path(pool, "machine_image_format", |choice| choice.url.is_some());
            let message = "`machine_image_url` has no `machine_image_format`";
            Finding::new(RuleId::FormatMissing, message).help(format!("`{path}: raw`"))
        } else {
            Finding::new(
                RuleId::FormatMissing,
                "`image.url` has no `image.diskFormat`",
            )
            .unless_set(Level::Warning)
            .help("`image.diskFormat: raw`, or `qcow2`")
        };
        findings.push(
            finding
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(url.place), "this image"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    const ID: RuleId = RuleId::FormatMissing;

    #[test]
    fn every_image_needs_a_format() {
        let mut given = Given::new();
        given.declared("noble-a", &[]);
        given.image("noble-b", &[("image-format", "raw")]);
        given.boots("noble-a");
        let found = given.found(ID);
        assert!(
            found.contains("help: run `metalmark lock` to query its registry"),
            "{found}"
        );
        assert!(
            found.contains("help: `os_images.noble-a.image-format: raw`"),
            "{found}"
        );
        given.boots("noble-b");
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn so_does_a_url() {
        let mut given = Given::new();
        for further in [&[][..], &[("format", "")]] {
            given.boots_url("https://a.b/c.raw", further);
            assert!(
                given
                    .found(ID)
                    .contains("help: `cluster.capm3.machine_image_format: raw`")
            );
        }
        given.boots_url("https://a.b/c.raw", &[("format", "raw")]);
        assert_eq!(given.found(ID), "");
    }
}
