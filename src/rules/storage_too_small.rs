//! An image does not fit into the storage that is set aside for it.

use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::model::storage::{default_volume_size, volume_size};
use crate::rules::{ClusterInput, entry_path};
use capi::image::{Image, fact};
use yaml_tree::place::Place;

/// Looks at every image that is served.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let served = input.view.served.iter();
    for image in served.filter_map(|key| input.view.images.get(key)) {
        let Some(set) = set_aside(input, image) else {
            continue;
        };
        let Some(needed) = volume_size(&image.facts) else {
            continue;
        };
        if needed <= set.mebibytes {
            continue;
        }
        let (key, gibibytes) = (&image.key, (needed + 1023) / 1024);
        let message = format!("image `{key}` needs {needed}Mi of storage");
        let subject = Subject {
            image: Some(key.to_string()),
            ..input.subject(None)
        };
        let finding = Finding::new(RuleId::StorageTooSmall, message)
            .with_subject(subject)
            .with_label(
                input.spot(set.place),
                format!("{}Mi are set aside", set.mebibytes),
            )
            .help(format!("`{}: {gibibytes}Gi`", set.path));
        findings.push(match set.level {
            Some(level) => finding.unless_set(level),
            None => finding,
        });
    }
}

/// A declared size.
struct SetAside {
    mebibytes: i128,
    place: Place,
    path: String,
    level: Option<Level>,
}

/// What the image's own entry sets aside, else what is set aside for every image.
fn set_aside(input: &ClusterInput<'_>, image: &Image) -> Option<SetAside> {
    for name in [PERSISTENCE, fact::SIZE] {
        if let Some(fact) = image.facts.get(name)
            && let Some(mebibytes) = mebibytes(&fact.value)
        {
            return Some(SetAside {
                mebibytes,
                place: fact.place,
                path: format!("{}.{name}", entry_path(image)),
                level: None,
            });
        }
    }
    let default = input.view.cluster.default_storage.as_ref()?;
    Some(SetAside {
        mebibytes: default_volume_size(&default.value)?,
        place: default.place,
        path: "os_images_default_download_storage_space".to_string(),
        level: Some(Level::Warning),
    })
}

/// The old name of a volume's size; the first releases called it `size`, which is a number of bytes today.
const PERSISTENCE: &str = "persistence.size";

/// A Kubernetes quantity with a unit, in Mi; a bare number is the image's size in bytes and no quantity here.
fn mebibytes(text: &str) -> Option<i128> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number = i128::from(number.parse::<u32>().ok()?);
    match unit {
        "Mi" => Some(number),
        "Gi" => Some(number * 1024),
        "Ti" => Some(number * 1024 * 1024),
        "M" => Some(number * 1_000_000 / (1 << 20)),
        "G" => Some(number * 1_000_000_000 / (1 << 20)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mebibytes;
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    const ID: RuleId = RuleId::StorageTooSmall;

    fn given(space: &str, facts: &[(&str, &str)]) -> Given {
        let mut given = Given::new();
        given.view.cluster.default_storage = Some(given.line("space", space));
        given.image("noble-a", facts);
        given
    }

    #[test]
    fn an_archive_that_does_not_fit_is_reported_with_the_size_that_would() {
        let facts = [
            ("archive-size", "12000000000"),
            ("size", "22000000000"),
            ("compression", "gz"),
        ];
        assert_eq!(
            given("10Gi", &facts).found(ID),
            "image `noble-a` needs 11902Mi of storage\n  space: 10Gi: 10240Mi are set aside\n  \
             help: `os_images_default_download_storage_space: 12Gi`\n"
        );
        assert_eq!(given("30Gi", &facts).found(ID), "");
    }

    #[test]
    fn an_entrys_own_size_counts_before_the_default() {
        let facts = [
            ("archive-size", "2067967998"),
            ("compression", "gz"),
            ("size", "1Gi"),
        ];
        let found = given("30Gi", &facts).found(ID);
        assert!(found.starts_with("image `noble-a` needs 2137Mi of storage\n"));
        assert!(found.contains("help: `sylva_diskimagebuilder_images.noble-a.size: 3Gi`"));
    }

    #[test]
    fn unknown_sizes_need_nothing() {
        assert_eq!(given("1Gi", &[]).found(ID), "");
        assert_eq!(mebibytes("22000000000"), None);
        assert_eq!(mebibytes("2Gi"), Some(2048));
        assert_eq!(mebibytes("5G"), Some(4768));
        assert_eq!(mebibytes(""), None);
    }
}
