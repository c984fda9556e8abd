//! A checksum comes from the server whose image it should verify.

use capi::image::fact;

use crate::model::checksum;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selection::Outcome;
use crate::model::settings::ChecksumStyle;
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let is_meant = |it: &SelectedPool<'_>| {
        matches!(it.selection.outcome, Outcome::Explicit(_)) && input.is_metal3(it.pool)
    };
    for SelectedPool {
        pool, selection, ..
    } in input.pools().filter(is_meant)
    {
        let sum = pool.choice.checksum.as_ref();
        let Some(sum) = sum.filter(|sum| checksum::is_url(&sum.value)) else {
            continue;
        };
        let finding = Finding::new(RuleId::ChecksumByUrl, "the checksum is a URL")
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(sum.place), "fetched when a node is provisioned");
        let path = input.checksum_path(pool, |it| it.checksum.is_some());
        let image = { selection.file.as_ref() }.and_then(|key| input.view.images.get(key));
        findings.push(
            match image.and_then(|image| image.facts.text(fact::SHA256)) {
                Some(digest) => finding.help(format!("`{path}: {digest}`")),
                None => finding.help(format!("`{path}: …`, as `sha256sum` prints it")),
            },
        );
    }
    if input.settings.images.checksum == ChecksumStyle::Literal {
        return;
    }
    let is_stamped = |it: &ChosenImage<'_>| input.is_metal3(it.pool) && !input.is_pulled(it.image);
    for ChosenImage { pool, image } in input.pool_images().filter(is_stamped) {
        findings.push(
            Finding::new(RuleId::ChecksumByUrl, "checksums are stamped as URLs")
                .with_subject(input.subject_with(pool, &image.key))
                .help("`images: {checksum: literal}` in metalmark.yaml"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::settings::ChecksumStyle;
    use crate::testing::Given;

    const ID: RuleId = RuleId::ChecksumByUrl;

    #[test]
    fn the_digest_is_offered_where_the_file_is_known() {
        let mut given = Given::new();
        given.image("noble-a", &[("filename", "c.raw"), ("sha256", "00ff")]);
        let sum = "https://a.b/c.raw.sha256sum";
        given.boots_url("https://a.b/c.raw", &[("checksum", sum)]);
        assert_eq!(
            given.found(ID),
            format!(
                "the checksum is a URL\n  machine_image_checksum: {sum}: \
                 fetched when a node is provisioned\n  \
                 help: `cluster.capm3.machine_image_checksum: 00ff`\n"
            )
        );
        given.boots_url("https://a.b/c.raw", &[("checksum", "00ff")]);
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn the_setting_of_the_project_is_reported_too() {
        let mut given = Given::new();
        given.image("noble-a", &[]);
        given.boots("noble-a");
        assert_eq!(given.found(ID), "");
        given.settings.images.checksum = ChecksumStyle::Url;
        assert!(
            given
                .found(ID)
                .starts_with("checksums are stamped as URLs\n")
        );
    }
}
