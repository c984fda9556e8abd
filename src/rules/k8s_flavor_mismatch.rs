//! A node pool's image is made for another Kubernetes distribution.

use capi::image::{Image, Images, fact};

use crate::decide::proof;
use crate::decide::replacement;
use crate::model::cluster::{ClusterOrigin, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selection::Selection;
use crate::model::selector::Matching;
use crate::model::version::{K0S, distribution_of};
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        let found = mismatch(input, pool, selection);
        findings.extend(found);
    }
}

fn mismatch(input: &ClusterInput<'_>, pool: &Pool, selection: &Selection) -> Option<Finding> {
    let bootstrap = input.view.cluster.bootstrap_provider_of(pool)?;
    let needed = distribution_of(&bootstrap.value).filter(|needed| *needed != K0S)?;
    let booted = proof::booted_image(input.view, pool, selection)?;
    let held = booted.facts.get(fact::K8S_FLAVOR)?;
    if *held.value == *needed || booted.facts.is_bare() {
        return None;
    }
    let (key, value) = (booted.name, &held.value);
    let is_of_values = input.view.cluster.origin == ClusterOrigin::Values;
    let needs = if is_of_values {
        format!("`{}` boots {needed}", bootstrap.value)
    } else {
        format!("this boots {needed}")
    };
    let finding = Finding::new(
        RuleId::K8sFlavorMismatch,
        format!("image `{key}` is made for {value}, not for {needed}"),
    )
    .with_subject(input.subject_with(pool, key))
    .with_label(
        input.spot(pool.choice.place()),
        "this image is selected here",
    )
    .with_label(input.spot(bootstrap.place), needs);
    let chosen = input.view.images.get(key);
    let chosen = chosen.filter(|_| pool.choice.key.is_some());
    let other = chosen.and_then(|chosen| {
        let version = &input.view.cluster.k8s_version_of(pool)?.value;
        let (images, matching) = (&input.view.images, input.settings.matching);
        fitting(images, chosen, needed, version, matching)
    });
    Some(match other {
        Some(other) if is_of_values => {
            finding.propose(Some(input.propose_key(pool, &other.key, false)))
        }
        Some(other) => finding.help(format!("select `{}`", other.key)),
        None => finding,
    })
}

/// An image of that distribution that holds a Kubernetes version and otherwise may replace the selected one.
fn fitting<'a>(
    images: &'a Images,
    chosen: &Image,
    flavor: &str,
    version: &str,
    matching: Matching,
) -> Option<&'a Image> {
    let like = Image {
        facts: replacement::facts_to_keep(&chosen.facts, Some(flavor)),
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
             image_key: noble-kubeadm: this image is selected here\n  \
             bootstrap_provider: cabpr: `cabpr` boots rke2\n  \
             help: `cluster.capm3.image_key: noble-rke2`\n"
        );
        given.boots("noble-rke2");
        assert_eq!(given.found(RuleId::K8sFlavorMismatch), "");
    }
}
