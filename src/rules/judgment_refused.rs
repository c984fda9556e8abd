//! A node pool is judged worse than the project accepts.

use crate::decide::proof;
use crate::model::finding::Finding;
use crate::model::judgment::Grade;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let Some(worst) = input.settings.policy.fail_on else {
        return;
    };
    let is_refused = |grade: Grade| worst <= grade && grade < Grade::Mismatched;
    for it in input.pools().filter(|it| is_refused(it.judgment.grade())) {
        let name = proof::image_name(it.pool, it.selection);
        let image = name.map_or("the image".to_owned(), |name| format!("image `{name}`"));
        let message = format!("{image} of node pool `{}` is {}", it.pool.name, it.judgment);
        let choice = Some(it.pool.choice.place()).filter(|place| place.is_known());
        findings.push(
            Finding::new(RuleId::JudgmentRefused, message)
                .with_subject(input.subject(Some(it.pool)))
                .with_label(input.spot(choice.unwrap_or(it.pool.place)), "")
                .help(format!(
                    "`fail_on: {}` refuses it; `metalmark explain {}/{}` says what is known",
                    worst.name(),
                    input.view.cluster.name,
                    it.pool.name
                )),
        );
    }
}
