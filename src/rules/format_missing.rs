//! An image would be stamped without its format.

use capi::image::fact;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::input::ChosenImage;
use crate::rules::{ClusterInput, fact_missing};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    if input.infra() != "capm3" {
        return;
    }
    for ChosenImage { pool, image } in input.pool_images() {
        let format = image.facts.text(fact::IMAGE_FORMAT);
        if format.is_some_and(|format| !format.is_empty()) {
            continue;
        }
        let message = format!("the format of image `{}` is not known", image.key);
        let finding = Finding::new(RuleId::FormatMissing, message);
        let name = fact::IMAGE_FORMAT;
        let lacks = format!("the catalog's entry has no `{name}`");
        let written = format!("{name}: raw");
        findings.push(fact_missing(
            input,
            ChosenImage { pool, image },
            finding,
            lacks,
            &written,
        ));
    }
    for (pool, url) in input.explicit() {
        let format = pool.choice.format.as_ref();
        if format.is_some_and(|format| !format.value.is_empty()) {
            continue;
        }
        let path = input.path(pool, "machine_image_format", |choice| choice.url.is_some());
        let message = "`machine_image_url` has no `machine_image_format`";
        findings.push(
            Finding::new(RuleId::FormatMissing, message)
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(url.place), "this image")
                .help(format!("`{path}: raw`")),
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
