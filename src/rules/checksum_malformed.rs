//! A checksum is not a valid digest of its type.

use capi::image::fact;

use crate::model::checksum::{self, ChecksumKind};
use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for ChosenImage { pool, image } in input.pool_images() {
        for name in fact::CHECKSUMS {
            findings.extend(fact(input, ChosenImage { pool, image }, name));
        }
    }
    for (pool, _) in input.explicit() {
        findings.extend(kind(input, pool));
        findings.extend(literal(input, pool));
    }
}

fn fact(input: &ClusterInput<'_>, chosen: ChosenImage<'_>, name: &str) -> Option<Finding> {
    let ChosenImage { pool, image } = chosen;
    let fact = image
        .facts
        .get(name)
        .filter(|fact| !fact.value.is_empty())?;
    let fault = checksum::fault(&fact.value, ChecksumKind::from_name(name))?;
    let message = format!("the {name} of image `{}` is not a digest", image.key);
    let place = if fact.place.is_known() {
        fact.place
    } else {
        image.place
    };
    let finding = Finding::new(RuleId::ChecksumMalformed, message)
        .with_subject(input.subject_with(pool, &image.key))
        .with_label(input.spot(place), fault);
    Some(finding.help(edit(name, &fact.value, ChecksumKind::from_name(name))))
}

fn kind(input: &ClusterInput<'_>, pool: &Pool) -> Option<Finding> {
    let kind = pool.choice.checksum_type.as_ref()?;
    if ChecksumKind::from_name(&kind.value).is_some() || !input.is_metal3(pool) {
        return None;
    }
    let setting = input.field_name("machine_image_checksum_type", "checksumType");
    let message = format!("machine templates know no checksum type `{}`", kind.value);
    let finding = Finding::new(RuleId::ChecksumMalformed, message)
        .with_subject(input.subject(Some(pool)))
        .with_label(input.spot(kind.place), "one of md5, sha256, sha512");
    Some(finding.help(format!("`{setting}: sha256`")))
}

fn literal(input: &ClusterInput<'_>, pool: &Pool) -> Option<Finding> {
    let given = pool.choice.checksum.as_ref();
    let sum = given.filter(|it| !it.value.is_empty() && !checksum::is_url(&it.value))?;
    let kind = pool.choice.checksum_type.as_ref();
    let kind = kind.and_then(|kind| ChecksumKind::from_name(&kind.value));
    let setting = input.field_name("machine_image_checksum", "checksum");
    let fault = checksum::fault(&sum.value, kind)?;
    let message = format!("`{setting}` is not a digest");
    let finding = Finding::new(RuleId::ChecksumMalformed, message)
        .with_subject(input.subject(Some(pool)))
        .with_label(input.spot(sum.place), fault);
    Some(finding.help(edit(setting, &sum.value, kind)))
}

/// The digest without what should not be there, if that leaves one.
fn edit(setting: &str, text: &str, kind: Option<ChecksumKind>) -> String {
    let bare = text
        .rsplit(':')
        .next()
        .unwrap_or(text)
        .trim()
        .to_ascii_lowercase();
    if bare != text && checksum::fault(&bare, kind).is_none() {
        format!("`{setting}: {bare}`")
    } else {
        let tool = kind.map_or("sha256", |kind| kind.name);
        format!("`{setting}: …`, as `{tool}sum` prints it for the image")
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    const ID: RuleId = RuleId::ChecksumMalformed;

    #[test]
    fn a_prefix_and_upper_case_are_fixed() {
        let digest = "9f86d081884c7d65".repeat(4);
        let mut given = Given::new();
        let written = format!("sha256:{}", digest.to_uppercase());
        given.boots_url("https://a.b/c.raw", &[("checksum", &written)]);
        assert_eq!(
            given.found(ID),
            format!(
                "`machine_image_checksum` is not a digest\n  machine_image_checksum: {written}: \
                 it starts with `sha256:`\n  help: `machine_image_checksum: {digest}`\n"
            )
        );
    }

    #[test]
    fn a_digest_has_the_length_of_its_type() {
        let digest = "9f86d081884c7d65".repeat(4);
        let mut given = Given::new();
        let with = |given: &mut Given, kind: &str| {
            let further = [("checksum", &*digest), ("checksum_type", kind)];
            given.boots_url("https://a.b/c.raw", &further);
            given.found(ID)
        };
        assert_eq!(with(&mut given, "sha256"), "");
        let found = with(&mut given, "sha512");
        assert!(
            found.contains("it has 64 digits, sha512 has 128"),
            "{found}"
        );
        assert!(found.contains("as `sha512sum` prints it"), "{found}");
        assert!(
            with(&mut given, "auto").starts_with("machine templates know no checksum type `auto`")
        );
    }

    #[test]
    fn facts_are_held_to_the_same() {
        let mut given = Given::new();
        given.image("noble-a", &[("sha256", "abc")]);
        given.boots("noble-a");
        let expected = "the sha256 of image `noble-a` is not a digest\n  image: noble-a: ";
        assert!(given.found(ID).starts_with(expected), "{}", given.found(ID));
    }
}
