//! A checksum comes from the server whose image it should verify.

use capi::image::fact;

use crate::model::checksum::{self, ChecksumKind};
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
        let digest = |kind: &str| image.and_then(|image| image.facts.text(kind));
        let said = pool.choice.checksum_type.as_ref();
        let said = said.and_then(|it| ChecksumKind::from_name(&it.value));
        let kind = said.map_or(fact::SHA256, |kind| kind.name);
        findings.push(match (digest(kind), digest(fact::SHA256)) {
            (Some(digest), _) => finding.help(format!("`{path}: {digest}`")),
            (None, Some(digest)) => {
                let setting = input.field_name("machine_image_checksum_type", "checksumType");
                finding.help(format!("`{path}: {digest}` and `{setting}: sha256`"))
            }
            (None, None) => finding.help(format!("`{path}: …`, as `{kind}sum` prints it")),
        });
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
    fn the_offered_digest_is_of_the_type_that_stays_beside_it() {
        let further = [
            ("checksum", "https://a.b/c.raw.sha512sum"),
            ("checksum_type", "sha512"),
        ];
        for (facts, help) in [
            (
                &[("filename", "c.raw"), ("sha256", "00ff")][..],
                "`cluster.capm3.machine_image_checksum: 00ff` and `machine_image_checksum_type: sha256`",
            ),
            (
                &[
                    ("filename", "c.raw"),
                    ("sha256", "00ff"),
                    ("sha512", "11ee"),
                ],
                "`cluster.capm3.machine_image_checksum: 11ee`",
            ),
            (
                &[],
                "`cluster.capm3.machine_image_checksum: …`, as `sha512sum` prints it",
            ),
        ] {
            let mut given = Given::new();
            given.image("noble-a", facts);
            given.boots_url("https://a.b/c.raw", &further);
            let found = given.found(ID);
            assert!(found.ends_with(&format!("help: {help}\n")), "{found}");
        }
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
