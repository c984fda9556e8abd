//! A Metal3 node pool selects no image.

use std::sync::Arc;

use yaml_tree::place::Located;

use crate::model::cluster::Pool;
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use crate::model::selection::{Outcome, Selection};
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    let written =
        |provider: &&Located<Arc<str>>| &*provider.value == "capm3" && provider.place.is_known();
    let Some(provider) = cluster.infra_provider.as_ref().filter(written) else {
        return;
    };
    let empty: Vec<&Pool> = input
        .pools()
        .filter(|it| boots_nothing(it.pool, it.selection))
        .map(|it| it.pool)
        .collect();
    if empty.is_empty() || input.view.findings.iter().any(hides_values) {
        return;
    }
    if empty.len() == cluster.pools.len() {
        let finding = Finding::new(RuleId::ImageNotChosen, "no node pool selects an image");
        findings.push(
            finding
                .with_subject(input.subject(None))
                .with_label(input.spot(provider.place), "Metal3 needs an image")
                .help("`cluster.capm3.image_key: …`"),
        );
        return;
    }
    for pool in empty {
        let emptied = pool.choice.key.as_ref().map(|key| key.place);
        let place = emptied.unwrap_or(pool.place);
        let finding = Finding::new(
            RuleId::ImageNotChosen,
            format!("node pool `{}` selects no image", pool.name),
        );
        findings.push(
            finding
                .with_subject(input.subject(Some(pool)))
                .with_label(input.spot(place), "this pool")
                .with_label(input.spot(provider.place), "Metal3 needs an image")
                .help("`cluster.capm3.image_key: …`"),
        );
    }
}

fn boots_nothing(pool: &Pool, selection: &Selection) -> bool {
    let deploys = pool.settings.get_path(&["customDeploy"]);
    pool.unknown.is_none()
        && selection.outcome == Outcome::Nothing
        && deploys.is_none_or(|node| node.value.is_null())
}

/// Whether a choice may be there that could not be read.
fn hides_values(finding: &Finding) -> bool {
    matches!(
        finding.rule,
        RuleId::ExpressionError | RuleId::ValueMissing | RuleId::ValueType | RuleId::YamlSyntax
    )
}

#[cfg(test)]
mod tests {
    use crate::model::finding::Finding;
    use crate::model::rule::RuleId;
    use crate::model::selection::Outcome;
    use crate::testing::Given;
    use yaml_tree::value::{Entry, Map, Node};

    const ID: RuleId = RuleId::ImageNotChosen;

    #[test]
    fn only_metal3_needs_an_image() {
        let mut given = Given::new();
        assert_eq!(given.found(ID), "");
        given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
        assert_eq!(
            given.found(ID),
            "no node pool selects an image\n  infra_provider: capm3: Metal3 needs an image\n  \
             help: `cluster.capm3.image_key: …`\n"
        );
        given.machine_deployment("md0");
        given.view.selections[0].outcome = Outcome::Explicit(None);
        assert_eq!(
            given.found(ID),
            "node pool `md0` selects no image\n  pool: md0: this pool\n  \
             infra_provider: capm3: Metal3 needs an image\n  help: `cluster.capm3.image_key: …`\n"
        );
        given.view.selections[1].outcome = Outcome::Explicit(None);
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_choice_that_could_not_be_read_is_not_missed_twice() {
        let mut given = Given::new();
        given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
        given.view.findings = vec![Finding::new(RuleId::ExpressionError, "no function")];
        assert_eq!(given.found(ID), "");
    }

    #[test]
    fn a_custom_deploy_boots_none() {
        let mut given = Given::new();
        given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
        let deploy = Map::from_iter([Entry::from_value("customDeploy", "install_coreos")]);
        given.view.cluster.pools[0].settings = Node::from_value(deploy);
        assert_eq!(given.found(ID), "");
    }
}
