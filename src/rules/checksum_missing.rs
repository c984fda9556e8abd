//! An image would be stamped without a checksum.

use capi::image::{Image, fact};
use capi::providers::is_searched_by_md5;
use oci_artifacts::is_oci;

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::settings::ChecksumStyle;
use crate::rules::input::ChosenImage;
use crate::rules::{ClusterInput, fact_missing};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let needed = match input.infra() {
        "capm3" => Some(fact::SHA256),
        "capo" => Some(fact::MD5),
        _ => None,
    };
    // What is stamped into manifests is checked where it is made.
    if let Some(needed) = needed.filter(|_| input.is_of_values()) {
        for ChosenImage { pool, image } in input.pool_images() {
            if lacks(input, image, needed) {
                findings.push(missing_checksum(input, pool, image, needed));
            }
        }
    }
    let explicit = input.explicit();
    for (pool, url) in explicit.filter(|(pool, _)| input.is_metal3(pool)) {
        let choice = &pool.choice;
        let has = |text: &str| !text.is_empty();
        let given = choice.checksum.as_ref().is_some_and(|sum| has(&sum.value));
        let live = choice
            .format
            .as_ref()
            .is_some_and(|it| &*it.value == "live-iso");
        if given || live || is_oci(&url.value) || choice.is_open {
            continue;
        }
        let path = input.checksum_path(pool, |choice| choice.url.is_some());
        let url_field = input.field_name("machine_image_url", "image.url");
        let field = input.field_name("machine_image_checksum", "image.checksum");
        let message = format!("`{url_field}` has no `{field}`");
        findings.push(
            Finding::new(RuleId::ChecksumMissing, message)
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(url.place), "this image")
                .help(format!(
                    "`{path}: …`, as `sha256sum` prints it for the image"
                )),
        );
    }
}

/// Whether the checksum that the provider needs would be stamped and is not known. Of images for OpenStack only those of
/// `os_images` are checked (docs/sylva.md#the-catalog): the builder's are pushed with their md5.
fn lacks(input: &ClusterInput<'_>, image: &Image, needed: &str) -> bool {
    let stamped = match needed {
        fact::SHA256 => {
            input.settings.images.checksum == ChecksumStyle::Literal && !input.is_pulled(image)
        }
        _ => !image.built && is_searched_by_md5(&image.facts),
    };
    let known = match needed {
        fact::SHA256 => &fact::CHECKSUMS[..],
        _ => &[fact::MD5],
    };
    let is_known = |name: &&str| {
        image
            .facts
            .text(name)
            .is_some_and(|digest| !digest.is_empty())
    };
    stamped && !known.iter().any(is_known)
}

fn missing_checksum(input: &ClusterInput<'_>, pool: &Pool, image: &Image, needed: &str) -> Finding {
    let message = format!("the {needed} of image `{}` is not known", image.key);
    let finding = Finding::new(RuleId::ChecksumMissing, message);
    let lacks = "the catalog's entry has no checksum";
    let finding = fact_missing(
        input,
        ChosenImage { pool, image },
        finding,
        lacks,
        (needed, "…"),
    );
    match needed {
        fact::SHA256 => {
            finding.help("or stamp the image server's: `images: {checksum: url}` in metalmark.yaml")
        }
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::settings::ChecksumStyle;
    use crate::testing::Given;

    const ID: RuleId = RuleId::ChecksumMissing;

    #[test]
    fn an_image_without_a_sha256_cannot_be_stamped() {
        let mut given = Given::new();
        given.image("noble-a", &[]);
        given.boots("noble-a");
        assert_eq!(
            given.found(ID),
            "the sha256 of image `noble-a` is not known\n  \
             image_key: noble-a: this image is selected here\n  \
             image: noble-a: the catalog's entry has no checksum\n  \
             help: run `metalmark lock` to query its registry, and commit the lock\n  \
             help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write \
             `images: {facts: [os-images-info.yaml]}` in metalmark.yaml\n  \
             help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml\n"
        );
        given.settings.images.checksum = ChecksumStyle::Url;
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_known_checksum_or_an_oci_url_is_enough() {
        let mut given = Given::new();
        for digest in ["sha256", "sha512", "md5"] {
            let mut given = Given::new();
            given.image("noble-a", &[(digest, "00")]);
            given.boots("noble-a");
            assert_eq!(given.found(ID), "", "{digest}");
        }
        given.image("noble-b", &[]);
        given.boots("noble-b");
        given.settings.images.url = "{{ image.uri }}".into();
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_url_needs_its_checksum_unless_it_is_an_artifact_or_a_live_image() {
        let mut given = Given::new();
        given.boots_url("https://a.b/c.raw", &[("format", "raw")]);
        assert!(
            given
                .found(ID)
                .contains("help: `cluster.capm3.machine_image_checksum: …`")
        );
        given.boots_url("OCI://a.b/c:1", &[]);
        assert_eq!(given.found(ID), "");
        given.boots_url("https://a.b/c.iso", &[("format", "live-iso")]);
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn openstack_needs_the_md5_of_declared_images_that_are_searched_by_it() {
        for (fact, is_needed) in [
            ("sha256", true),
            ("md5", false),
            ("locations.glance.id", false),
            ("openstack_glance_uuid", false),
            ("locations.glance.name", false),
            ("locations.glance.image-ref", false),
            ("locations.glance.tags", false),
            ("locations.glance.other", true),
            ("locations.glance.id!", true),
        ] {
            let mut given = Given::new();
            given.view.cluster.infra_provider = Some(given.line("infra_provider", "capo"));
            let value = if fact.ends_with('!') { "" } else { "8f1b2c3d" };
            given.declared("noble-a", &[(fact.trim_end_matches('!'), value)]);
            given.boots("noble-a");
            let found = given.found(ID);
            let is_reported = found.contains("help: `os_images.noble-a.md5: …`");
            assert_eq!(
                (is_reported, found.is_empty()),
                (is_needed, !is_needed),
                "{fact}: {found}"
            );
        }
    }
}
