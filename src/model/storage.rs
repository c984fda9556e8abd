//! How large a volume must be to serve an image.
//!
//! Source: sylva-library's `os-image-pv-size` (docs/sylva.md#the-image-server).

use capi::image::{Facts, fact};
use yaml_tree::integer;

const MEBIBYTE: i128 = 1 << 20;

/// The size of the volume in Mi of an image server that serves archives: the archive, the image where it is not an archive, 100 Mi
/// of room, and 3 % for the file system, rounded up.
///
/// Anything but `gz` counts as not compressed, so that the image is held beside the archive. A size that is missing, or
/// that Go does not read as an integer, counts as 0, as it does upstream; `None` says that neither size is known.
pub fn volume_size(facts: &Facts) -> Option<i128> {
    let size = facts.text(fact::SIZE).map(integer::cast);
    let archive = facts.text(fact::ARCHIVE_SIZE).map(integer::cast);
    if size.is_none() && archive.is_none() {
        return None;
    }
    let (size, archive) = (
        i128::from(size.unwrap_or(0)),
        i128::from(archive.unwrap_or(0)),
    );
    let compressed = facts.text(fact::COMPRESSION) == Some("gz");
    let unpacked = if compressed { 0 } else { size };
    let needed = unpacked + archive + 100 * MEBIBYTE;
    Some(ceiling(needed * 100, 97 * MEBIBYTE))
}

/// The Mi of `os_images_default_download_storage_space`, which is written in whole Gi without a leading zero: `30Gi`.
pub fn default_volume_size(text: &str) -> Option<i128> {
    let gibibytes = text.strip_suffix("Gi")?;
    let digits = gibibytes.bytes().all(|byte| byte.is_ascii_digit());
    let legal = digits && !gibibytes.starts_with('0');
    let number = gibibytes.parse::<u32>().ok().filter(|_| legal)?;
    Some(i128::from(number) * 1024)
}

fn ceiling(numerator: i128, denominator: i128) -> i128 {
    numerator.div_euclid(denominator) + i128::from(numerator.rem_euclid(denominator) != 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{default_volume_size, volume_size};
    use capi::image::{Facts, Origin};
    use yaml_tree::place::Place;

    fn facts(list: &[(&str, &str)]) -> Facts {
        let facts = list
            .iter()
            .map(|(name, value)| (*name, *value, Place::NONE));
        Facts::new(Origin::Annotation, facts)
    }

    fn sized(compression: &str) -> Facts {
        facts(&[
            ("archive-size", "2067967998"),
            ("size", "22000000000"),
            ("compression", compression),
        ])
    }

    #[test]
    fn an_archive_that_is_served_packed_needs_room_for_itself_only() {
        assert_eq!(volume_size(&sized("gz")), Some(2137));
    }

    #[test]
    fn everything_but_gz_counts_as_not_compressed() {
        for compression in ["none", "zst", ""] {
            let size = volume_size(&sized(compression));
            assert_eq!(size, Some(23766), "{compression}");
        }
        let bare = facts(&[("archive-size", "2067967998"), ("size", "22000000000")]);
        assert_eq!(volume_size(&bare), Some(23766));
    }

    #[test]
    fn without_any_size_nothing_is_known() {
        let bare = facts(&[("compression", "gz")]);
        assert_eq!(volume_size(&bare), None);
        let unreadable = facts(&[("size", "22G")]);
        assert_eq!(volume_size(&unreadable), Some(104));
    }

    #[test]
    fn the_default_is_whole_gibibytes() {
        assert_eq!(default_volume_size("30Gi"), Some(30720));
        for text in ["", "Gi", "030Gi", "0Gi", "30", "30Mi", "+3Gi", "1.5Gi"] {
            assert_eq!(default_volume_size(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn sizes_agree_with_the_formula_in_floats(size in 0_i64..1 << 45, archive in 0_i64..1 << 40) {
            let facts = facts(&[("size", &size.to_string()), ("archive-size", &archive.to_string())]);
            let need = (size + archive + 100 * (1 << 20)) as f64;
            let expected = (need / 0.97 / 1_048_576.0).ceil() as i128;
            let computed = volume_size(&facts).unwrap_or_default();
            // Upstream divides decimals, not floats: where the quotient is all but whole, the two may round apart.
            prop_assert_eq!((computed - expected).abs() <= 1, true);
        }
    }
}
