//! A machine pulls an image by a tag.

use oci_artifacts::{Reference, is_oci};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::input::ChosenImage;
use crate::rules::{ClusterInput, LOCK_IT};

/// Looks at what is rendered for node pools, and at the references that they give themselves.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    // What is stamped into manifests is looked at where it is made.
    let rendered = input.pool_images().filter(|_| input.is_of_values());
    for ChosenImage { pool, image } in rendered.filter(|it| input.is_pulled(it.image)) {
        if image.digest_reference().is_some() {
            continue;
        }
        let message = format!(
            "image `{}` is not locked, so that its tag is rendered",
            image.key
        );
        let finding = Finding::new(RuleId::ReferenceUnpinned, message)
            .with_subject(input.subject_with(pool, &image.key))
            .with_label(input.spot(pool.choice.place()), "machines pull this image")
            .with_label(input.spot(image.place), "by this reference");
        findings.push(finding.help(LOCK_IT));
    }
    for (pool, url) in input.explicit().filter(|(_, url)| is_by_tag(&url.value)) {
        let has_checksum = { pool.choice.checksum.as_ref() }.is_some_and(|it| !it.value.is_empty());
        if has_checksum || pool.choice.is_open {
            continue;
        }
        let message = format!("`{}` names a tag, which may move", url.value);
        let finding = Finding::new(RuleId::ReferenceUnpinned, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(url.place), "machines pull this image");
        findings.push(finding.help("name it by its digest: `oci://…@sha256:…`"));
    }
}

fn is_by_tag(url: &str) -> bool {
    is_oci(url) && Reference::parse(url).is_ok_and(|reference| reference.digest.is_none())
}
