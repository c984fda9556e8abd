//! Nothing proves that a node pool's image holds the Kubernetes version that the pool must run.

use capi::image::{Fact, Image, RECORDS, fact};

use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::judgment::{Doubt, Judgment};
use crate::model::rule::{Level, RuleId};
use crate::model::selection::Outcome;
use crate::rules::input::Comparison;
use crate::rules::proposals::fact_edit;
use crate::rules::{ClusterInput, GIVE_FACTS, LOCK_IT};

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    findings.extend(secret_findings(input));
    for it in input.pools() {
        let (says, is_whole) = match it.judgment {
            Judgment::ByName(held) => {
                let says = format!("only {} says `{}`", held.origin, held.value);
                (says, true)
            }
            Judgment::Unproven(doubt) => (doubt.to_string(), matches!(doubt, Doubt::NoBuild(_))),
            _ => continue,
        };
        if !input.is_brought(it) && !is_outside(input, it) {
            let found = input.comparison(it).map(|of| doubt(input, it, &of, says));
            findings.extend(found.map(|found| {
                if is_whole {
                    found.unless_set(Level::Warning)
                } else {
                    found
                }
            }));
        }
    }
}

/// That a secret decides what boots, so that nothing can be proven.
fn secret_findings(input: &ClusterInput<'_>) -> impl Iterator<Item = Finding> {
    let unknown = input.view.cluster.unknown_values.iter();
    unknown.map(|value| {
        let message = format!("{}: which image boots is not known", value.value);
        Finding::new(RuleId::K8sVersionUnproven, message)
            .with_subject(input.subject(None))
            .with_label(input.spot(value.place), "this value")
            .help("name images and versions in a file that is not secret")
            .unless_set(Level::Warning)
    })
}

/// Whether manifests name an image that no record describes, or one with another distribution. It may install Kubernetes when it
/// boots, so that the pool is only counted.
fn is_outside(input: &ClusterInput<'_>, it: SelectedPool<'_>) -> bool {
    let is_other = |image: &Image| {
        it.judgment.fact().is_none() && image.facts.get(fact::K8S_VERSION).is_some()
    };
    let described = input.view.described_image(it.selection);
    input.view.cluster.origin == ClusterOrigin::Manifests && described.is_none_or(is_other)
}

fn doubt(
    input: &ClusterInput<'_>,
    it: SelectedPool<'_>,
    of: &Comparison<'_>,
    says: String,
) -> Finding {
    let (image, wanted) = (of.image, &of.wanted.value);
    let message = format!("nothing proves that image `{image}` holds Kubernetes `{wanted}`");
    let finding = Finding::new(RuleId::K8sVersionUnproven, message)
        .with_subject(input.subject_with(of.pool, image))
        .with_label(input.spot(of.pool.choice.place()), says)
        .with_label(input.spot(of.wanted.place), "this version is required");
    let is_explicit = matches!(
        it.selection.outcome,
        Outcome::Explicit(_) | Outcome::Named(None)
    );
    if input.view.cluster.origin == ClusterOrigin::Manifests {
        let record = input.view.images.get(image);
        let whole = it
            .judgment
            .fact()
            .and_then(|fact| with_build(&fact.value, wanted));
        let version = whole.unwrap_or("…");
        let edit = record.map(|record| fact_edit(record, fact::K8S_VERSION, version));
        let edit = edit.unwrap_or_else(|| format!("a record `{image}` with `k8s: {{version: …}}`"));
        let finding = finding.help(format!(
            "{edit}, or a file with its facts under `images.facts`"
        ));
        match record.filter(|_| it.judgment.fact().is_none()) {
            Some(record) => finding.help(format!(
                "{}, if the image holds no Kubernetes, as those of Talos",
                fact_edit(record, fact::K8S_FLAVOR, "none")
            )),
            None => finding,
        }
    } else if is_explicit {
        finding.help("select the image by `image_key`, so that its facts are known")
    } else {
        with_ways_to_prove(finding, input, it.judgment.fact(), of)
    }
}

/// The required version, if the known one is the same without a build: `1.33.4` of `v1.33.4+rke2r1`.
fn with_build<'w>(known: &str, wanted: &'w str) -> Option<&'w str> {
    let wanted = wanted.trim_start_matches('v');
    let (version, _) = wanted.split_once('+')?;
    (version == known.trim_start_matches('v')).then_some(wanted)
}

/// The edits that give the fact that is missing.
fn with_ways_to_prove(
    mut finding: Finding,
    input: &ClusterInput<'_>,
    held: Option<&Fact>,
    of: &Comparison<'_>,
) -> Finding {
    let entry = input.view.images.get(of.image);
    if entry.is_some_and(|image| input.could_lock(image)) {
        finding = finding.help(LOCK_IT);
    }
    let is_sylvas = entry.is_none_or(|image| image.list != RECORDS);
    if is_sylvas && held.is_none_or(|held| held.origin.is_name()) {
        finding = finding.help(GIVE_FACTS);
    }
    let Some(entry) = entry.filter(|image| !image.built) else {
        return finding;
    };
    let wanted = &of.wanted.value;
    let version = wanted.strip_prefix('v').unwrap_or(wanted);
    let edit = fact_edit(entry, fact::K8S_VERSION, &format!("\"{version}\""));
    finding.help(if is_sylvas {
        format!("or {edit}")
    } else {
        edit
    })
}

#[cfg(test)]
mod tests {
    use crate::model::rule::{Level, RuleId};
    use crate::rules::ClusterInput;
    use crate::testing::Given;

    const ID: RuleId = RuleId::K8sVersionUnproven;

    fn levels(given: &Given) -> Vec<Option<Level>> {
        let view = given.finished();
        let input = ClusterInput::new(&view, &given.settings);
        let mut findings = Vec::new();
        super::cluster(&input, &mut findings);
        let levels: Vec<_> = findings.iter().map(|finding| finding.unless_set).collect();
        levels
    }

    #[test]
    fn a_minor_in_the_name_proves_nothing() {
        let mut given = Given::new();
        given.declared("noble-1-31", &[("name!k8s-version", "1.31")]);
        given.boots("noble-1-31");
        assert_eq!(
            given.found(ID),
            "nothing proves that image `noble-1-31` holds Kubernetes `v1.31.8+rke2r1`\n  \
             image_key: noble-1-31: the image's name says only `1.31`, no patch level\n  \
             k8s_version: v1.31.8+rke2r1: this version is required\n  \
             help: run `metalmark lock` to query its registry, and commit the lock\n  \
             help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write \
             `images: {facts: [os-images-info.yaml]}` in metalmark.yaml\n  \
             help: or `os_images.noble-1-31.k8s-version: \"1.31.8+rke2r1\"`\n"
        );
        assert_eq!(levels(&given), [None]);
    }

    #[test]
    fn a_whole_version_in_the_name_is_milder() {
        let mut given = Given::new();
        given.image("noble-1-31-8", &[("name!k8s-version", "1.31.8")]);
        given.boots("noble-1-31-8");
        assert_eq!(levels(&given), [Some(Level::Warning)]);
    }

    #[test]
    fn nothing_known_is_as_bad_as_half_a_version() {
        let mut given = Given::new();
        given.image("mystery", &[]);
        given.boots("mystery");
        assert!(
            given
                .found(ID)
                .contains("no source says which version it holds")
        );
        assert_eq!(levels(&given), [None]);
        given.boots_url("https://a.b/ubuntu-22.04-plain.qcow2", &[]);
        assert!(given.found(ID).contains("image `ubuntu-22.04-plain.qcow2`"));
    }

    #[test]
    fn facts_prove_and_contradictions_are_another_rules() {
        let mut given = Given::new();
        given.image("a-image", &[("k8s-version", "1.31.8-rke2r1")]);
        given.boots("a-image");
        assert_eq!(given.found(ID), "");
        given.image("b-image", &[("k8s-version", "1.30.1")]);
        given.boots("b-image");
        assert_eq!(given.found(ID), "");
    }
}
