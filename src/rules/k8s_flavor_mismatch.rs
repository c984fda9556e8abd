//! A node pool's image is made for another Kubernetes distribution.

use crate::model::finding::Finding;
use crate::model::image::{Image, Images, fact};
use crate::model::matching::Matching;
use crate::model::proof;
use crate::model::replacement;
use crate::model::rule::RuleId;
use crate::model::version::flavor_of;
use crate::objects::Manifests;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, report: &mut dyn FnMut(Finding)) {
    let Some(bootstrap) = &input.view.cluster.bootstrap_provider else {
        return;
    };
    let Some(needed) = flavor_of(&bootstrap.value) else {
        return;
    };
    for (pool, selection) in input.pools() {
        let Some(booted) = proof::booted(input.view, pool, selection) else {
            continue;
        };
        let Some(held) = booted.facts.get(fact::K8S_FLAVOR) else {
            continue;
        };
        if *held.value == *needed || booted.facts.is_bare() {
            continue;
        }
        let (key, value) = (booted.name, &held.value);
        let message = format!("image `{key}` is made for {value}, not for {needed}");
        let needs = format!("`{}` boots {needed}", bootstrap.value);
        let mut finding = Finding::new(RuleId::K8sFlavorMismatch, message)
            .about(input.subject_with(pool, key))
            .at(input.spot(pool.choice.place()), "this image is chosen here")
            .at(input.spot(bootstrap.place), needs);
        let image = input.view.images.get(key);
        let image = image.filter(|_| pool.choice.key.is_some());
        if let Some((version, image)) = input.k8s_version(pool).zip(image) {
            let (images, matching) = (&input.view.images, input.settings.matching);
            let other = fitting(images, image, needed, &version.value, matching);
            let proposal = other.map(|other| input.propose_key(pool, &other.key, false));
            finding = finding.propose(proposal);
        }
        report(finding);
    }
}

/// Looks at the machines of manifests.
pub(super) fn manifests(input: &Manifests<'_>, report: &mut dyn FnMut(Finding)) {
    let pairs = input.pairs().into_iter();
    let told = |pair| in_manifests(input, pair);
    pairs.filter_map(told).for_each(report);
}

/// That a template's image is made for another distribution than what bootstraps its machines.
fn in_manifests(
    input: &Manifests<'_>,
    (image, chosen, runner): (&Image, usize, usize),
) -> Option<Finding> {
    let held = image.facts.get(fact::K8S_FLAVOR)?;
    let (needed, spot) = input.flavor(runner)?;
    if *held.value == *needed || image.facts.is_bare() {
        return None;
    }
    let message = format!(
        "image `{}` is made for {}, not for {needed}",
        image.key, held.value
    );
    let finding = Finding::new(RuleId::K8sFlavorMismatch, message)
        .about(input.subject(chosen))
        .at(
            input.choices[chosen].spot.clone(),
            "this image is chosen here",
        )
        .at(spot, format!("this boots {needed}"));
    let version = input.version(runner);
    let version = version.as_ref().map_or("", |(version, _)| version);
    let other = fitting(input.images, image, needed, version, input.matching);
    let help = other.map(|other| format!("choose `{}`", other.key));
    Some(help.into_iter().fold(finding, Finding::help))
}

/// An image of that distribution that holds a Kubernetes version and otherwise may replace the chosen one.
fn fitting<'a>(
    images: &'a Images,
    chosen: &Image,
    flavor: &str,
    version: &str,
    matching: Matching,
) -> Option<&'a Image> {
    let like = Image {
        facts: replacement::required(&chosen.facts, Some(flavor)),
        ..chosen.clone()
    };
    let holding = proof::holding(images, &like, version, matching);
    let mut fitting = holding
        .into_iter()
        .filter(|(_, obstacles)| obstacles.is_empty());
    fitting.next().map(|(image, _)| image)
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    #[test]
    fn an_image_for_kubeadm_does_not_boot_rke2() {
        let mut given = Given::new();
        for flavor in ["kubeadm", "rke2"] {
            let facts = [("k8s-flavor", flavor), ("k8s-version", "1.31.8+rke2r1")];
            given.image(&format!("noble-{flavor}"), &facts);
        }
        given.boots("noble-kubeadm");
        assert_eq!(
            given.found(RuleId::K8sFlavorMismatch),
            "image `noble-kubeadm` is made for kubeadm, not for rke2\n  \
             image_key: noble-kubeadm: this image is chosen here\n  \
             bootstrap_provider: cabpr: `cabpr` boots rke2\n  \
             help: `cluster.capm3.image_key: noble-rke2`\n"
        );
        given.boots("noble-rke2");
        assert_eq!(given.found(RuleId::K8sFlavorMismatch), "");
    }
}
