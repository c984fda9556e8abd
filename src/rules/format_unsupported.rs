//! The infrastructure provider cannot boot an image of that format.

use std::collections::BTreeSet;

use capi::image::fact;
use capi::providers::{Provider, is_refused_later};
use yaml_tree::place::Place;
use yaml_tree::suggest::did_you_mean;

use crate::model::cluster::Pool;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for ChosenImage { pool, image } in input.pool_images() {
        if let Some(format) = image.facts.get(fact::IMAGE_FORMAT) {
            let place = if format.place.is_known() {
                format.place
            } else {
                pool.choice.place()
            };
            let subject = || input.subject_with(pool, &image.key);
            findings.extend(check_format(input, pool, &format.value, place, subject));
        }
    }
    for (pool, _) in input.explicit() {
        if let Some(format) = &pool.choice.format {
            let subject = || input.subject(Some(pool));
            findings.extend(check_format(
                input,
                pool,
                &format.value,
                format.place,
                subject,
            ));
        }
    }
}

fn check_format(
    input: &ClusterInput<'_>,
    pool: &Pool,
    format: &str,
    place: Place,
    subject: impl Fn() -> Subject,
) -> Option<Finding> {
    let provider = input.provider(pool)?;
    // Of a provider with several kinds of templates, any kind will do.
    let all = provider.data().kinds;
    let kinds = || all.iter().filter(|kind| kind.is_template());
    if kinds().any(|kind| kind.formats.is_empty()) {
        return None;
    }
    let bootable = kinds().flat_map(|kind| kind.formats.iter().copied());
    let mut bootable: Vec<&str> = bootable.collect();
    let mut seen = BTreeSet::new();
    bootable.retain(|format| seen.insert(*format));
    let finding = unbootable(provider, format, &bootable)?.with_subject(subject());
    Some(finding.with_label(input.spot(place), format!("one of {}", bootable.join(", "))))
}

/// That a format is none of those that machines boot.
pub fn unbootable(provider: &dyn Provider, format: &str, bootable: &[&str]) -> Option<Finding> {
    if format.is_empty() || bootable.is_empty() || bootable.contains(&format) {
        return None;
    }
    let provider = provider.data().name;
    let message = format!("`{provider}` does not boot images of format `{format}`");
    let near = did_you_mean(format, bootable.iter().copied());
    let finding = Finding::new(RuleId::FormatUnsupported, message).help(match (near, bootable) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, ["container", ..]) => "select an image whose `format` is `container`".to_owned(),
        (None, [first, ..]) => {
            format!("build or convert the image: `qemu-img convert -O {first}`")
        }
        (None, []) => String::new(),
    });
    Some(if is_refused_later(provider, format) {
        finding.unless_set(Level::Warning)
    } else {
        finding
    })
}

#[cfg(test)]
mod tests {
    use crate::model::rule::{Level, RuleId};
    use crate::rules::ClusterInput;
    use crate::testing::Given;

    fn levels(format: &str) -> Vec<Option<Level>> {
        let mut given = Given::new();
        given.boots_url("https://a.b/c.raw", &[("format", format)]);
        let view = given.finished();
        let input = ClusterInput::new(&view, &given.settings);
        let mut findings = Vec::new();
        super::cluster(&input, &mut findings);
        let levels: Vec<_> = findings.iter().map(|finding| finding.unless_set).collect();
        levels
    }

    #[test]
    fn what_metal3_boots_passes_and_what_ironic_refuses_is_milder() {
        for format in ["raw", "qcow2", "live-iso", ""] {
            assert_eq!(levels(format), [], "{format}");
        }
        assert_eq!(levels("vmdk"), [Some(Level::Warning)]);
        assert_eq!(levels("raw.gz"), [None]);
    }

    #[test]
    fn facts_are_judged_too() {
        let mut given = Given::new();
        given.image("noble-a", &[("image-format", "ova")]);
        given.boots("noble-a");
        let found = given.found(RuleId::FormatUnsupported);
        assert!(
            found.starts_with("`capm3` does not boot images of format `ova`\n  image_key: noble-a")
        );
    }
}
