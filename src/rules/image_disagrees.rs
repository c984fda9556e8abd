//! Two sources disagree about the image that a node pool boots.

use crate::model::cluster::Pool;
use crate::model::cluster_view::SelectedPool;
use crate::model::finding::Finding;
use crate::model::judgment::Disagreement;
use crate::model::rule::RuleId;
use crate::rules::ClusterInput;

/// Looks at every node pool.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    for SelectedPool {
        pool,
        disagreements,
        ..
    } in input.pools()
    {
        findings.extend(disagreements.iter().map(|it| finding(input, pool, it)));
    }
}

fn finding(input: &ClusterInput<'_>, pool: &Pool, disagreement: &Disagreement) -> Finding {
    let Disagreement {
        image, one, other, ..
    } = disagreement;
    let finding = Finding::new(RuleId::ImageDisagrees, disagreement.to_string())
        .with_subject(input.subject_with(pool, image))
        .with_label(input.spot(one.place), format!("`{}` here", one.value))
        .with_label(input.spot(other.place), format!("`{}` here", other.value));
    let booted = input.spot(pool.choice.place());
    let finding = if disagreement.is_of_pool {
        finding
    } else {
        finding.with_label(booted, "this image is selected here")
    };
    finding.help("correct the one that is wrong, or describe the other file by itself: a record, or a location with a format and digests of its own")
}
