//! More than one image matches a selector.

use capi::image::{Image, ImageKey, fact};

use crate::decide::matching::REGISTRY_KEY;
use crate::model::cluster::{Choice, Pool};
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::proposal::Proposal;
use crate::model::rule::RuleId;
use crate::model::selection::Outcome;
use crate::rules::ClusterInput;

/// How many of the images are worth a line of help.
const SHOWN: usize = 4;

/// The facts that distinguish images, the most usual ones first.
const DISTINCTIVE: [&str; 8] = [
    fact::HARDENED,
    fact::FLAVOR,
    fact::OS,
    fact::OS_RELEASE,
    REGISTRY_KEY,
    fact::K8S_VERSION,
    fact::COMMIT_TAG,
    fact::K8S_FLAVOR,
];

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool {
        pool, selection, ..
    } in input.pools()
    {
        let Outcome::Several(keys) = &selection.outcome else {
            continue;
        };
        let named: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let message = format!(
            "{} images match the selector: {}",
            keys.len(),
            named.join(", ")
        );
        let mut finding = Finding::new(RuleId::SeveralImagesMatch, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(input.spot(pool.choice.place()), "one image is needed");
        for key in keys.iter().take(SHOWN) {
            finding = finding.propose(Some(narrow(input, pool, key, keys)));
        }
        findings.push(finding);
    }
}

/// The one line that makes the selector mean this image alone.
fn narrow(input: &ClusterInput<'_>, pool: &Pool, key: &ImageKey, keys: &[ImageKey]) -> Proposal {
    let images: Vec<&Image> = keys
        .iter()
        .filter_map(|key| input.view.images.get(key))
        .collect();
    let value = |name: &str| {
        let own = input.view.images.get(key)?.facts.text(name)?;
        let alike = images
            .iter()
            .filter(|image| image.facts.text(name) == Some(own))
            .count();
        (alike == 1).then_some(own)
    };
    let distinctive = DISTINCTIVE
        .iter()
        .find_map(|name| Some((*name, value(name)?)));
    let (name, value) = distinctive.unwrap_or(("_os_images_key_", key));
    let selects = |choice: &Choice| choice.selector.is_some();
    let proposal = input.propose_term(pool, name, value, selects);
    Proposal {
        text: format!("to boot `{key}`: {}", proposal.text),
        ..proposal
    }
}

#[cfg(test)]
mod tests {
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;

    const ID: RuleId = RuleId::SeveralImagesMatch;

    #[test]
    fn each_image_comes_with_the_term_that_means_it_alone() {
        let mut given = Given::new();
        given.image("noble-a", &[("os", "ubuntu"), ("hardened", "true")]);
        given.image("noble-b", &[("os", "ubuntu"), ("hardened", "false")]);
        let outcome = Outcome::Several(vec!["noble-a".into(), "noble-b".into()]);
        given.selects(&[("os", "ubuntu")], &outcome);
        assert_eq!(
            given.found(ID),
            "2 images match the selector: `noble-a`, `noble-b`\n  \
             os_image_selector: : one image is needed\n  \
             help: to boot `noble-a`: `cluster.capm3.os_image_selector.hardened: true`\n  \
             help: to boot `noble-b`: `cluster.capm3.os_image_selector.hardened: false`\n"
        );
    }

    #[test]
    fn images_alike_in_every_fact_are_distinguished_by_their_keys() {
        let mut given = Given::new();
        given.image("noble-a", &[("os", "ubuntu")]);
        given.image("noble-b", &[("os", "ubuntu")]);
        let outcome = Outcome::Several(vec!["noble-a".into(), "noble-b".into()]);
        given.selects(&[("os", "ubuntu")], &outcome);
        assert!(
            given
                .found(ID)
                .contains("os_image_selector._os_images_key_: noble-a`")
        );
    }
}
