//! A node pool's image is some Kubernetes minors behind the newest image of its line.

use capi::image::{Image, fact};

use crate::decide::replacement::is_one_line;
use crate::model::finding::Finding;
use crate::model::rule::{RuleId, RuleOption};
use crate::model::version::Version;
use crate::rules::ClusterInput;
use crate::rules::input::ChosenImage;

/// How far behind an image may be.
pub(super) const MINORS: RuleOption = RuleOption {
    name: "minors",
    default: 1,
    meaning: "how many Kubernetes minors an image may be behind",
};

/// Looks at the image of each node pool, and at the images of its line in the catalog.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for ChosenImage { pool, image } in input.pool_images() {
        let Some(version) = version_of(image) else {
            continue;
        };
        let newer = newer(input, image, &version);
        let Some((newest, last)) = newer.last() else {
            continue;
        };
        let behind = newest.minors_ahead_of(&version).unwrap_or(0);
        if behind <= i64::from(input.option(RuleId::ImageOutdated, &MINORS, pool)) {
            continue;
        }
        let minors = if behind == 1 { "minor" } else { "minors" };
        let message = format!(
            "image `{}` holds Kubernetes `{version}`, {behind} {minors} behind `{}` of its line",
            image.key, last.key
        );
        let finding = Finding::new(RuleId::ImageOutdated, message)
            .with_subject(input.subject_with(pool, &image.key))
            .with_label(
                input.spot(pool.choice.place()),
                "this image is selected here",
            )
            .with_label(input.spot(last.place), "the newest of its line");
        let mut of_next = newer.iter().rev();
        let next = of_next.find(|(it, _)| it.minors_ahead_of(&version) == Some(1));
        let help = match next {
            Some((next, image)) => format!(
                "go up one minor at a time: image `{}` holds Kubernetes `{next}`",
                image.key
            ),
            None => {
                "add an image of the next minor: a control plane goes up one at a time".to_owned()
            }
        };
        findings.push(finding.help(help));
    }
}

/// The images of the same line with a newer minor, the newest last.
fn newer<'a>(
    input: &ClusterInput<'a>,
    image: &Image,
    version: &Version,
) -> Vec<(Version, &'a Image)> {
    // What says neither its system nor its distribution is of no line.
    let is_known = |name| image.facts.text(name).is_some();
    if !is_known(fact::OS) || !is_known(fact::K8S_FLAVOR) {
        return Vec::new();
    }
    let line = input.view.images.values();
    let line = line.filter(|other| is_one_line(&image.facts, &other.facts));
    let mut newer: Vec<(Version, &Image)> = line
        .filter_map(|other| Some((version_of(other)?, other)))
        .filter(|(other, _)| other.minors_ahead_of(version) > Some(0))
        .collect();
    newer.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.key.cmp(&other.key)));
    newer
}

/// The Kubernetes version of an image; none where it is not known, or a prerelease.
fn version_of(image: &Image) -> Option<Version> {
    let version = Version::parse(image.facts.text(fact::K8S_VERSION)?)?;
    version.prerelease.is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::model::policy::RuleSettings;
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    /// A cluster that boots 1.29, and images of the same line and of others.
    fn given(images: &[(&str, &str, &str)]) -> Given {
        let mut given = Given::new();
        for (key, os, version) in [("old", "ubuntu", "1.29.15+rke2r1")].iter().chain(images) {
            given.image(
                key,
                &[("os", os), ("k8s-flavor", "rke2"), ("k8s-version", version)],
            );
        }
        given.boots("old");
        given
    }

    fn found(given: &Given) -> String {
        given.found(RuleId::ImageOutdated)
    }

    #[test]
    fn two_minors_behind_is_found_and_the_next_minor_is_named() {
        let images = [
            ("next", "ubuntu", "1.30.2+rke2r1"),
            ("next-newer", "ubuntu", "1.30.12+rke2r1"),
            ("newest", "ubuntu", "1.31.8+rke2r1"),
        ];
        assert_eq!(
            found(&given(&images)),
            "image `old` holds Kubernetes `1.29.15+rke2r1`, 2 minors behind `newest` of its line\n  \
             image_key: old: this image is selected here\n  \
             image: newest: the newest of its line\n  \
             help: go up one minor at a time: image `next-newer` holds Kubernetes `1.30.12+rke2r1`\n"
        );
    }

    #[test]
    fn no_minor_is_skipped_where_the_catalog_lacks_the_next() {
        let found = found(&given(&[("newest", "ubuntu", "1.31.8+rke2r1")]));
        assert!(
            found.contains("help: add an image of the next minor: "),
            "{found}"
        );
    }

    #[test]
    fn one_minor_another_line_and_a_prerelease_are_none() {
        for image in [
            ("next", "ubuntu", "1.30.12+rke2r1"),
            ("other", "opensuse", "1.31.8+rke2r1"),
            ("early", "ubuntu", "1.32.0-rc1+rke2r1"),
        ] {
            assert_eq!(found(&given(&[image])), "", "{image:?}");
        }
    }

    #[test]
    fn an_image_of_an_unknown_system_is_of_no_line() {
        let mut given = Given::new();
        for (key, version) in [("old", "1.29.15"), ("newest", "1.32.1")] {
            given.image(key, &[("k8s-version", version)]);
        }
        given.boots("old");
        assert_eq!(found(&given), "");
    }

    #[test]
    fn the_project_says_how_many_minors() {
        let set = |given: &mut Given, minors| {
            let options = BTreeMap::from([("minors".to_owned(), minors)]);
            let settings = RuleSettings {
                options,
                ..RuleSettings::default()
            };
            let rules = &mut given.settings.policy.rules;
            rules.insert(RuleId::ImageOutdated, settings);
        };
        let mut given = given(&[("newest", "ubuntu", "1.31.8+rke2r1")]);
        set(&mut given, 2);
        assert_eq!(found(&given), "");
        set(&mut given, 0);
        assert!(!found(&given).is_empty());
    }
}
