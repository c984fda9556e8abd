//! Facts as files write them: the names that they had at other times become today's.

use std::sync::Arc;

use super::checksum::{KINDS, Kind, is_url};
use super::image::{Fact, Facts, Origin, fact};
use super::place::{Located, Place};

/// The facts of one entry of `os_images`, of an info file or of the proposal's `os_images_info`.
///
/// Every property is a fact under its own name (S16), and under today's where it has an old one: `checksum` is a digest of
/// the kind that `checksumType` or its length says (`sha256` until it was called that, 2024-03), `format` is `image-format`.
/// What only tells the chart how to build the list, or who is served, is no fact.
pub fn facts(properties: &[(Arc<str>, Located<Arc<str>>)], origin: Origin) -> Facts {
    let mut facts = Facts::default();
    for (name, written) in properties {
        if !CONTROL.contains(&&**name) {
            learn(&mut facts, name, &written.value, written.place, origin);
        }
    }
    for (name, written) in properties {
        let today = match &**name {
            "format" => fact::IMAGE_FORMAT,
            "checksum" if !is_url(&written.value) => digest_kind(properties, &written.value),
            _ => continue,
        };
        learn(&mut facts, today, &written.value, written.place, origin);
    }
    facts
}

/// Properties of an entry that say nothing of the image.
const CONTROL: [&str; 4] = [
    "sylva_dib_image",
    "enabled",
    "default_enabled",
    "os_images_oci_registry",
];

fn learn(facts: &mut Facts, name: &str, value: &Arc<str>, place: Place, origin: Origin) {
    let fact = Fact {
        value: Arc::clone(value),
        origin,
        place,
    };
    // An old name never overrides today's: the first that is learnt of equally strong facts stays.
    facts.learn(name, fact);
}

fn digest_kind(properties: &[(Arc<str>, Located<Arc<str>>)], digest: &str) -> &'static str {
    let stated = properties
        .iter()
        .find(|(name, _)| matches!(&**name, "checksumType" | "checksum_type"))
        .and_then(|(_, written)| Kind::named(&written.value));
    let by_length = || KINDS.into_iter().find(|kind| kind.digits == digest.len());
    stated
        .or_else(by_length)
        .map_or(fact::SHA256, |kind| kind.name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::facts;
    use crate::model::image::{Facts, Origin};
    use crate::model::place::{Located, Place};

    fn written(list: &[(&str, &str)]) -> Facts {
        let properties: Vec<(Arc<str>, Located<Arc<str>>)> = list
            .iter()
            .map(|(name, value)| ((*name).into(), Located::new((*value).into(), Place::NONE)))
            .collect();
        facts(&properties, Origin::InfoFile)
    }

    #[test]
    fn old_names_become_todays() {
        let sha256 = "a".repeat(64);
        let facts = written(&[("checksum", &sha256), ("format", "qcow2")]);
        assert_eq!(facts.text("sha256"), Some(&*sha256));
        assert_eq!(facts.text("image-format"), Some("qcow2"));
        assert_eq!(facts.text("checksum"), Some(&*sha256));
    }

    #[test]
    fn the_stated_kind_counts_before_the_length() {
        let facts = written(&[("checksum", "abc"), ("checksumType", "md5")]);
        assert_eq!(facts.text("md5"), Some("abc"));
        let facts = written(&[("checksum", &"b".repeat(128))]);
        assert!(facts.text("sha512").is_some());
        let facts = written(&[("checksum", "abc")]);
        assert_eq!(facts.text("sha256"), Some("abc"));
    }

    #[test]
    fn the_address_of_a_checksum_is_no_digest() {
        let facts = written(&[("checksum", "http://server/image.sha256sum")]);
        assert_eq!(facts.text("sha256"), None);
    }

    #[test]
    fn an_old_name_never_overrides_todays() {
        let facts = written(&[("format", "qcow2"), ("image-format", "raw")]);
        assert_eq!(facts.text("image-format"), Some("raw"));
    }

    #[test]
    fn what_steers_the_chart_is_no_fact() {
        let facts = written(&[("sylva_dib_image", "true"), ("enabled", "true")]);
        assert_eq!(facts.iter().count(), 0);
    }
}
